"""``python -m rexview render``: one image as the app shows it."""

from __future__ import annotations

import argparse
from typing import Any

from rexview.cli.arguments import new_command, path


def add_render(commands: Any) -> None:
    """Add the command ``render``."""
    parser = new_command(commands, "render", _render, "write the display picture of one image")
    argument = parser.add_argument
    argument("image", type=path, metavar="IMAGE", help="a DICOM file, PNG, JPEG, ...")
    argument("--out", type=path, required=True, metavar="X.png", help="the picture")
    argument(
        "--window",
        default="file",
        metavar="auto|file|CENTRE,WIDTH",
        help="grey levels: the file's own (default), automatic, or a centre and a width",
    )


def _render(options: argparse.Namespace) -> int:
    from rexview.imaging.rendering import render_file

    render_file(options.image, options.out, options.window)
    return 0
