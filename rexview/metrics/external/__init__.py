"""Metrics that other people's packages compute, where these are installed.

:mod:`.calculators` names them and what they are, :mod:`.calls` calls the packages. None of them is
needed by the app, and none is imported before it is asked for.
"""
