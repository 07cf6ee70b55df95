"""Get vectors of texts from a server's ``/v1/embeddings``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rexview.models.backend import AttemptFailed, Card
from rexview.models.endpoints.endpoint import MAX_BODY_BYTES, make_openai_client
from rexview.models.endpoints.server_addresses import check_base_url, check_server_confirmed

_AT_ONCE: Final = 256
_TIMEOUT_S: Final = 120.0


class Embeddings:
    """An embedding model on a server with OpenAI's protocol.

    Parameters
    ----------
    model : str
        Its name on the server.
    card : Card
        Names the environment variable of the key.
    base_url : str or None
        URL of the server; None is OpenAI's own.

    Raises
    ------
    AttemptFailed
        The address or the key cannot be used.
    """

    def __init__(self, model: str, card: Card, base_url: str | None) -> None:
        self.name = model
        self._address = check_base_url(base_url)
        self._key = os.environ.get(card.key_variable, "").strip() or None
        if self._key is None and not self._address.is_this_machine:
            words = f"There is no key for {self._address.host}: set the environment variable "
            raise AttemptFailed("key", f"{words}{card.key_variable}.", stops_all=True)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return one vector for each text, shape (n, k).

        Raises
        ------
        AttemptFailed
            The server did not answer, or did not return a vector for each text.
        """
        check_server_confirmed(self._address)
        client = make_openai_client(self._address, self._key, 1, _TIMEOUT_S, MAX_BODY_BYTES)
        try:
            rows = [
                row
                for start in range(0, len(texts), _AT_ONCE)
                for row in self._ask(client, list(texts[start : start + _AT_ONCE]))
            ]
        finally:
            client.close()
        if len({len(row) for row in rows}) > 1:
            raise AttemptFailed("server", f"{self.name} gave vectors of several lengths.")
        return np.array(rows, dtype=np.float64).reshape(len(texts), -1)

    def _ask(self, client: Any, texts: list[str]) -> list[list[float]]:
        import openai

        host = self._address.host
        try:
            came = client.embeddings.create(
                model=self.name, input=texts, encoding_format="float"
            ).data
            rows = [one.embedding for one in sorted(came, key=lambda one: one.index)]
        except openai.APIStatusError as error:
            message = f"{host} answered {self.name} with status {error.status_code}."
            raise AttemptFailed("request", message) from None
        except Exception as error:  # the package raises many kinds; none says more
            message = f"{host} gave no embeddings ({type(error).__name__})."
            raise AttemptFailed("network", message) from None
        if len(rows) != len(texts) or not all(map(_is_vector, rows)):
            raise AttemptFailed(
                "server", f"{host} gave something else than a vector for each text."
            )
        return rows


def _is_vector(row: Any) -> bool:
    """Whether a row is a non-zero vector of numbers; the package does not check this."""
    if not isinstance(row, list) or not all(isinstance(one, int | float) for one in row):
        return False
    try:
        with np.errstate(over="ignore"):
            length = float(np.linalg.norm(np.array(row, dtype=np.float64)))
    except OverflowError:
        return False
    return bool(np.isfinite(length)) and length > 0
