"""A meeting that people follow: what is shown, shared live between browsers.

One server holds each room in its memory (:mod:`.room`); browsers hear of it by server-sent events
and tell it by POST (:mod:`.route`). A page gives them a sealed ticket (:mod:`.ticket`).
"""
