"""Our own Streamlit components: how one is declared, and their shared JavaScript."""

from rexview.ui.web.components.component import (
    collect_imports,
    component,
    module_address,
    modules,
    modules_version,
    serve_module,
)

__all__ = [
    "collect_imports",
    "component",
    "module_address",
    "modules",
    "modules_version",
    "serve_module",
]
