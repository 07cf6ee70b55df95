"""Read further kinds of addresses through the package fsspec."""

from __future__ import annotations

from typing import Final

from rexview.addresses import RemoteAddress
from rexview.errors import StorageAway, StorageMissing, StorageRefused
from rexview.remote.http_storage import CHUNK, DownloadSink

_FSSPEC_EXTRAS: Final = {
    **{scheme: scheme for scheme in ("gs", "gcs", "abfs", "sftp", "ssh", "smb")},
    "az": "abfs",
}
"""The extra of fsspec that reads addresses of a kind."""
_OF_THIS_COMPUTER: Final = ("local", "memory", "simplecache", "filecache", "blockcache", "dir")


def unreadable_scheme(scheme: str) -> tuple[str, str] | None:
    """Return why addresses of a kind cannot be read, and what to do; None if they can."""
    try:
        import fsspec

        if scheme in _OF_THIS_COMPUTER:
            raise ValueError(scheme)
        fsspec.get_filesystem_class(scheme)
    except ImportError:
        why = f"The images lie at an address ({scheme}://) that this computer cannot read yet."
        part = _FSSPEC_EXTRAS.get(scheme)
        install = f'Run pip install "fsspec[{part}]"' if part else "Install the package for it"
        return why, f"{install}, or copy the images into a folder."
    except ValueError:
        why = f"The images lie at an address of a kind that is not known ({scheme}://)."
        return why, "Name a folder in images (reviewset.yaml), or an address such as https://."
    return None


def fetch_with_fsspec(address: RemoteAddress, out: DownloadSink) -> str:
    """Fetch a file; return an empty tag: the state of such a file is named by its bytes.

    Raises
    ------
    StorageMissing, StorageAway, StorageRefused
    """
    if cannot := unreadable_scheme(address.scheme):
        raise StorageRefused(" ".join(cannot))
    import fsspec

    try:
        with fsspec.open(address.text, "rb") as source:
            while chunk := source.read(CHUNK):
                out.write(chunk)
    except FileNotFoundError:
        raise StorageMissing(f"{address.origin} has nothing at this address.") from None
    except PermissionError:
        raise StorageRefused(f"{address.origin} does not let this computer read it.") from None
    except (StorageRefused, StorageAway):
        raise
    except Exception as error:  # each kind of address has its own errors
        why = type(error).__name__
        raise StorageAway(f"{address.origin} cannot be asked ({why}). Try again later.") from None
    return ""
