"""One way to declare a Streamlit component of ours, and the route that serves its JavaScript.

Streamlit takes a component's script as one text, which can import nothing of ours by a path. So it
gets a loader only; every ``.js`` file below ``rexview/ui`` is served as a module by our own route,
and modules import each other by relative paths. The address holds :func:`modules_version`, so that
browsers may keep modules for good.
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
    """Return where a module is served, relative to the app."""
    return f"rexview/assets/{modules_version()}/{module}"


@cache
def with_imports(entry: str) -> frozenset[str]:
    """Return a module and all that it imports, directly or not: paths below ``rexview/ui``."""
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
    """Return the modules compressed: once, since each page load asks for dozens of them."""
    return {name: gzip.compress(content, mtime=0) for name, content in modules().items()}


async def serve_module(request: Request) -> Response:
    """Send the module that the path's ``name`` names, of the version that it names."""
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
    """Declare a component; what is returned puts it on a page.

    Parameters
    ----------
    name : str
        Streamlit's name of it, one for the whole app.
    module : str
        Its module, which exports ``mount``; see :file:`mount.js`. A path below ``rexview/ui``.
    style : str or tuple of str, optional
        Its style sheet, likewise, or several, in their order.
    isolate_styles : bool
        Whether the page's styles and its own are kept apart.
    title : str
        What a reader calls it, for the message when it cannot be loaded; "A part of this page" if
        it is not given.
    """
    loader = _LOADER.read_text(encoding="utf-8")
    failed = tr("{part} could not be loaded. Reload the page.")
    failed = json.dumps(failed.format(part=title or tr("A part of this page")), ensure_ascii=False)
    loader = loader.replace("@MODULE@", module_address(module)).replace('"@FAILED@"', failed)
    styles = (style,) if isinstance(style, str) else style
    css = "\n".join((_UI / one).read_text(encoding="utf-8") for one in styles) or None
    put = st.components.v2.component(name, css=css, js=loader, isolate_styles=isolate_styles)

    def put_with_data(*, data: Mapping[str, Any], **more: Any) -> Any:
        # Of a dictionary Streamlit asks whether each value is a table, for which it loads pandas;
        # a list it sends as it is. The loader takes it out again.
        return put(data=[data], **more)

    return put_with_data
