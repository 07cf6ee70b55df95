"""Our own Streamlit components: how one is declared, and their shared JavaScript."""

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
