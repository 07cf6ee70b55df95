"""Run image-text models on this machine with transformers, by name or folder.

:mod:`.files` finds a model's files and refuses files that could run code. :mod:`.model` estimates
the memory, loads the model, fills in its chat template and reads its output.
"""
