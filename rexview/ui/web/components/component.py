"""Declares our Streamlit components, and serves their JavaScript.

Streamlit takes a component's script as one text, which cannot import our files by path. So it gets
only a loader. Our own route serves every ``.js`` file below ``rexview/ui`` as a module, and modules
import each other by relative paths. The address contains :func:`modules_version`, so that browsers
may cache modules forever.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from posixpath import dirname, join, normpath
from types import MappingProxyType
from typing import Any, Final

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response

from rexview.words import tr

_UI: Final = Path(__file__).parents[2]
_LOADER: Final = Path(__file__).with_name("loader.js")
_YEAR: Final = "private, max-age=31536000, immutable"
_IMPORTED: Final = re.compile(r'^(?:import .*|} )from "(\.[^"]+\.js)"', re.MULTILINE)


@cache
def modules() -> Mapping[str, bytes]:
    """Return all our JavaScript as it is served, by path below ``rexview/ui``."""
    files = sorted(path for path in _UI.rglob("*.js") if path != _LOADER)
    return MappingProxyType({path.relative_to(_UI).as_posix(): path.read_bytes() for path in files})


@cache
def modules_version() -> str:
    """Return a short hash that changes when any module does."""
    digest = hashlib.sha256()
    for name, content in modules().items():
        digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()[:16]


def module_address(module: str) -> str:
    """Return the address of a module, relative to the app."""
    return f"rexview/assets/{modules_version()}/{module}"


@cache
def collect_imports(entry: str) -> frozenset[str]:
    """Return a module and all its direct and indirect imports: paths below ``rexview/ui``."""
    found, waiting = set[str](), [entry]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            imported = _IMPORTED.findall(modules()[name].decode())
            waiting += [normpath(join(dirname(name), path)) for path in imported]
    return frozenset(found)


@cache
def _packed() -> Mapping[str, bytes]:
    """Return the modules compressed: once, because each page load requests dozens of them."""
    return {name: gzip.compress(content, mtime=0) for name, content in modules().items()}


async def serve_module(request: Request) -> Response:
    """Send the module of the path's ``name``, in the version of the path."""
    name = request.path_params["name"]
    if name not in modules() or request.path_params["version"] != modules_version():
        headers = {"Cache-Control": "no-store"}
        message = tr("There is no such file. Reload the page.")
        return Response(message, 404, media_type="text/plain", headers=headers)
    headers = {"Cache-Control": _YEAR, "X-Content-Type-Options": "nosniff"}
    headers["Vary"] = "Accept-Encoding"
    content = modules()[name]
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"], content = "gzip", _packed()[name]
    return Response(content, media_type="text/javascript", headers=headers)


@cache
def component(
    name: str,
    module: str,
    *,
    style: str | tuple[str, ...] = (),
    isolate_styles: bool = False,
    title: str = "",
) -> Callable[..., Any]:
    """Declare a component; the returned function puts it on a page.

    Parameters
    ----------
    name : str
        Its Streamlit name, unique in the app.
    module : str
        Its module, which exports ``mount``; see :file:`mount.js`. A path below ``rexview/ui``.
    style : str or tuple of str, optional
        Its style sheet, or several in order; paths below ``rexview/ui``.
    isolate_styles : bool
        Whether the component's styles and the page's are kept apart.
    title : str
        Its name for readers, in the message when it cannot be loaded; "A part of this page" if it
        is empty.
    """
    loader = _LOADER.read_text(encoding="utf-8")
    failed = tr("{part} could not be loaded. Reload the page.")
    failed = json.dumps(failed.format(part=title or tr("A part of this page")), ensure_ascii=False)
    loader = loader.replace("@MODULE@", module_address(module)).replace('"@FAILED@"', failed)
    styles = (style,) if isinstance(style, str) else style
    css = "\n".join((_UI / one).read_text(encoding="utf-8") for one in styles) or None
    put = st.components.v2.component(name, css=css, js=loader, isolate_styles=isolate_styles)

    def put_with_data(*, data: Mapping[str, Any], **more: Any) -> Any:
        # For a dictionary Streamlit checks whether each value is a table, and loads pandas for
        # that;
        # it sends a list unchanged. The loader unpacks it.
        return put(data=[data], **more)

    return put_with_data
