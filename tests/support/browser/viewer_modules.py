"""A page on which the viewer's modules can be called one by one; nothing else is on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rexview.ui.viewer import component, viewer_assets

ORIGIN = "http://viewer.invalid/"
LOADER = Path(component.__file__).parent / "assets" / "loader.js"


def serve_modules(page: Any, files: dict[str, bytes] | None = None) -> None:
    """Open a blank page that can import the modules and fetch ``files`` by name."""
    files = {} if files is None else files

    def serve(route: Any) -> None:
        name = route.request.url.rsplit("/", 1)[1]
        if name == "loader.js":
            route.fulfill(path=LOADER, content_type="text/javascript")
        elif name in viewer_assets():
            route.fulfill(body=viewer_assets()[name], content_type="text/javascript")
        elif name in files:
            route.fulfill(body=files[name], content_type="application/octet-stream")
        else:
            route.fulfill(body="<!doctype html><title>modules</title>", content_type="text/html")

    page.route("**/*", serve)
    page.goto(ORIGIN)


def call(page: Any, module: str, body: str, argument: Any = None) -> Any:
    """Run a function body with the module as ``m`` and the argument as ``a``."""
    script = f"async (a) => {{ const m = await import('{ORIGIN}{module}'); {body} }}"
    return page.evaluate(script, argument)
