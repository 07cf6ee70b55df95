"""From cases to answers: what is sent to a model, how, and what came back.

:mod:`.backend` holds the request, the reply and the one interface of all models. No module here
reads a review set from disk: cases are passed in as records.
"""
