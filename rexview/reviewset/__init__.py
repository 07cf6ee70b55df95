"""The review set on disk: load, check, write. ``FORMAT.md`` describes the files."""

from rexview.reviewset.images import image_path
from rexview.reviewset.load import fingerprint, load

__all__ = ["fingerprint", "image_path", "load"]
