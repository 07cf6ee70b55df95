"""From a case to a request, and from a reply to an answer.

:mod:`.cards` says what models can do, :mod:`.prompts` how they are asked, :mod:`.pictures` makes
the pictures that are sent, :mod:`.build` the request; :mod:`.reading` reads the answer,
:mod:`.boxes` the boxes in it; :mod:`.tokens` estimates what a request is.
"""
