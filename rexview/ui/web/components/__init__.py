"""Streamlit components of our own: how one is declared, and the JavaScript that they share."""

from rexview.ui.web.components.component import (
    component,
    module_address,
    modules,
    modules_version,
    serve_module,
    with_imports,
)

__all__ = [
    "component",
    "module_address",
    "modules",
    "modules_version",
    "serve_module",
    "with_imports",
]
