"""Make requests from cases, and read answers from replies.

:mod:`.cards` describes what models can do, :mod:`.prompts` holds the wordings, :mod:`.pictures`
encodes the images, and :mod:`.build` makes the request. :mod:`.reading` reads the answer,
:mod:`.boxes` its boxes. :mod:`.tokens` estimates the tokens of a request.
"""
