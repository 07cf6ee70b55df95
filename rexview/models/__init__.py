"""Ask models: requests made from cases, and answers read from replies.

:mod:`.backend` defines the request, the reply and the interface that all models share. Modules here
read no review set from disk: callers pass cases as records.
"""
