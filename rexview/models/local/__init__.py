"""Models on this machine, through transformers: image-text models by name or folder.

:mod:`.files` finds a model's files and refuses those that could run code. :mod:`.model` estimates
the memory, loads the model, fills its chat template and reads its reply.
"""
