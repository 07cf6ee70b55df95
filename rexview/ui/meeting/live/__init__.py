"""Live meetings: the shared view of a meeting that people follow in their browsers.

One server holds each room in its memory (:mod:`.room`). Browsers receive changes by server-sent
events and send theirs by POST (:mod:`.route`). A page gives them a sealed ticket
(:mod:`.admission`).
"""
