"""Metrics that installed packages of other authors compute.

:mod:`.calculators` describes the metrics, and :mod:`.calls` calls the packages. The app needs none
of the packages, and imports each only when it is used.
"""
