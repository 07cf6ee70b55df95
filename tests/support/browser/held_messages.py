"""What the server tells a page, held back: a slow connection at a moment that a test chooses."""

from collections.abc import Callable
from typing import Any


class HeldMessages:
    """Messages to a page: passed on, or kept while ``holding``, from the first that ``begins``."""

    def __init__(
        self, page: Any, *, holding: bool = False, begins: Callable[[Any], bool] = lambda _: True
    ) -> None:
        self.holding, self._begins = holding, begins
        self.late: list[Any] = []
        self._sockets: list[Any] = []
        page.route_web_socket("**/_stcore/stream", self._between)

    def _between(self, socket: Any) -> None:
        server = socket.connect_to_server()
        self._sockets.append(socket)
        socket.on_message(server.send)
        server.on_message(lambda message: self._arrived(socket, message))

    def _arrived(self, socket: Any, message: Any) -> None:
        if self.holding and (self.late or self._begins(message)):
            self.late.append(message)
        else:
            socket.send(message)

    def release(self) -> None:
        """Pass on what was kept, and from now on everything."""
        self.holding = False
        for message in self.late:
            self._sockets[-1].send(message)
