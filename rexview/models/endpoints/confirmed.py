"""The servers that this user has confirmed on this machine: nobody else is asked.

The address of a run stands in the folder of the review set, which may come from somebody else. So
it is asked only if this user has typed it (``--base-url``) or pressed the button below it on a
page. OpenAI's own address needs no confirmation, a port of this machine does: anybody who has an
account here can listen there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import platformdirs

from rexview.bounded import read_file
from rexview.errors import FileRefused
from rexview.models.endpoints.address import Address
from rexview.models.reply import AttemptFailed

_FILE: Final = "model-servers.txt"
_MOST_BYTES: Final = 1_000_000


def is_confirmed(address: Address) -> bool:
    """Whether this user has confirmed a base URL, to its path, on this machine."""
    own = address.is_openai and address.url.startswith("https://")
    return own or address.url in _confirmed()


def confirm(address: Address) -> None:
    """Note that this user has confirmed a base URL.

    Raises
    ------
    OSError
        It cannot be noted: the folder of the user's data cannot be written.
    """
    if is_confirmed(address):
        return
    file = _file()
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        lines.write(f"{address.url}\n")
    file.chmod(0o600)


def check_confirmed(address: Address) -> None:
    """Refuse a server that this user has not confirmed.

    Raises
    ------
    AttemptFailed
        Of kind ``setup``, with what to do.
    """
    if not is_confirmed(address):
        raise AttemptFailed(
            "setup",
            f"The run would send to {address.url}, which you have not confirmed on this computer: "
            f"nothing was sent. If it is the right server, add --base-url {address.url}",
            stops_all=True,
        )


def _confirmed() -> frozenset[str]:
    try:
        return frozenset(read_file(_file(), _MOST_BYTES).decode("utf-8", "replace").splitlines())
    except (OSError, FileRefused):
        return frozenset()


def _file() -> Path:
    return Path(platformdirs.user_data_dir("rexview")) / _FILE
