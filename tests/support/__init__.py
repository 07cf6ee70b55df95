"""What tests of several folders share: review sets, an opened app, a browser's pages, servers."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED_DATA = ROOT.parent / "shared" / "data"
"""Real files beside the checkout; tests that need them skip without them."""
