"""A page on which the viewer's modules can be called one by one; nothing else is on it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from rexview.ui.web import components
from rexview.ui.web.components import module_address, modules

ORIGIN = "http://viewer.invalid/"
VIEWER = "viewer/assets/viewer.js"
LOADER = Path(components.__file__).with_name("loader.js")


def serve_modules(page: Any, files: dict[str, bytes] | None = None) -> None:
    """Open a blank page that can import the modules and fetch ``files`` by name."""
    files = {} if files is None else files
    served = {f"{ORIGIN}{module_address(name)}": content for name, content in modules().items()}
    loader = LOADER.read_text(encoding="utf-8").replace("@MODULE@", module_address(VIEWER))

    def serve(route: Any) -> None:
        url = route.request.url
        name = url.rsplit("/", 1)[1]
        if name == "loader.js":
            route.fulfill(body=loader, content_type="text/javascript")
        elif url in served:
            route.fulfill(body=served[url], content_type="text/javascript")
        elif name in files:
            route.fulfill(body=files[name], content_type="application/octet-stream")
        else:
            route.fulfill(body="<!doctype html><title>modules</title>", content_type="text/html")

    page.route("**/*", serve)
    page.goto(ORIGIN)


def address_of(module: str) -> str:
    """Return where one of the viewer's modules, or the loader, is served; by its file name."""
    if module == "loader.js":
        return f"{ORIGIN}{module}"
    (path,) = [one for one in modules() if one.startswith("viewer/") and one.endswith(f"/{module}")]
    return f"{ORIGIN}{module_address(path)}"


def call(page: Any, module: str, body: str, argument: Any = None) -> Any:
    """Run a function body with the module as ``m`` and the argument as ``a``.

    It may import further modules by their file names: ``await import('geometry.js')``.
    """
    body = re.sub(r"import\('(\w+\.js)'\)", lambda found: f"import('{address_of(found[1])}')", body)
    script = f"async (a) => {{ const m = await import('{address_of(module)}'); {body} }}"
    return page.evaluate(script, argument)
