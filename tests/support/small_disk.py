"""A real file system that is soon full."""

import os
import shutil
import subprocess
from contextlib import contextmanager

import pytest

from rexview.store.database.connection import close_databases


@contextmanager
def mounted(folder, size):
    """Mount a file system of a size such as ``2m`` at a new folder; skip where that is refused."""
    folder.mkdir()
    mount = shutil.which("mount")
    if not mount or os.geteuid() != 0:
        pytest.skip("making a small file system needs root")
    options = ["-t", "tmpfs", "-o", f"size={size}", "tmpfs"]
    if subprocess.run([mount, *options, folder], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    yield folder
    close_databases()
    subprocess.run(["umount", "-l", folder], check=True)
