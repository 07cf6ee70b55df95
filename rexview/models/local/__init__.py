"""Models on this machine, through transformers: image-text models by name or folder.

:mod:`.files` finds a model's files and refuses those that could run code, :mod:`.memory` says what
it takes before it is loaded, :mod:`.loading` loads it, :mod:`.conversation` puts a request into the
model's own chat template, :mod:`.written` reads what it wrote, :mod:`.model` is the way to ask it.
"""
