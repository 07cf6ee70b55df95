"""What passes between the server and a page, held back or lost at a moment that a test chooses."""

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


def lose_first(page: Any, is_it: Callable[[bytes], bool], count: int = 1) -> list[bytes]:
    """Lose the first messages of a page that are such, as one is that another overtakes.

    Call it before the page is opened. What is returned holds the messages once they are lost.
    """
    lost: list[bytes] = []

    def between(socket: Any) -> None:
        server = socket.connect_to_server()

        def sent(message: Any) -> None:
            if len(lost) < count and isinstance(message, bytes) and is_it(message):
                lost.append(message)
            else:
                server.send(message)

        socket.on_message(sent)
        server.on_message(socket.send)

    page.route_web_socket("**/_stcore/stream", between)
    return lost
