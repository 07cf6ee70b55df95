"""From cases to answers: what is sent to a model, how, and what came back.

:mod:`.request` is what is sent for one case, :mod:`.reply` what comes back or why nothing did,
:mod:`.backend` the one way to ask, :mod:`.card` what a model can do, :mod:`.prompt` the wording. No
module here reads a review set from disk: cases come as records from above.
"""
