"""All JavaScript and styles of the HTML file, as one script and one style sheet.

The pictures are shown by the app's own viewer, whose modules lie in ``rexview/ui/viewer/assets``
and are read from there as the files they are. Three of them would ask a server; this package has
others in their place. The modules are joined as they stand: each becomes a function that returns
what it exports, called after those that it imports.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from posixpath import dirname, join, normpath
from typing import Final

_ENTRY: Final = "export/html/assets/page.js"
_VIEWER: Final = "ui/viewer/assets"
_INSTEAD: Final = {
    f"{_VIEWER}/case_turning.js": "export/html/assets/case_turning.js",
    f"{_VIEWER}/image/pixels.js": "export/html/assets/pixels.js",
    f"{_VIEWER}/image/background.js": "export/html/assets/background.js",
}
"""Modules of the viewer that ask the server or the app's page, and what does their work here."""
_STYLES: Final = (f"{_VIEWER}/viewer.css", "export/html/assets/page.css")
_IMPORT: Final = re.compile(r'^import\s+\{([^}]*)\}\s+from\s+"(\.[^"]+\.js)";\n', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\s+(\w+))", re.M)
_LEFT: Final = re.compile(r"^(?:import|export)\b|\bimport\.meta\b|\bimport\(", re.MULTILINE)
_ENDS_SCRIPT: Final = re.compile(r"</script|<!--", re.IGNORECASE)


@cache
def script(entry: str = _ENTRY) -> str:
    """Return the one script of the file: a module, below ``rexview``, with all that it imports.

    Raises
    ------
    ValueError
        If a module uses another form of import or export than those that are joined here, or holds
        what would end the script.
    """
    names: dict[str, str] = {}
    parts: list[str] = []
    _join(entry, names, parts, ())
    whole = '"use strict";\n' + "\n".join(parts)
    if found := _ENDS_SCRIPT.search(whole):
        raise ValueError(f"{found[0]} in the script would end its element")
    return whole


@cache
def style() -> str:
    """Return the one style sheet of the file."""
    return "\n".join(_text(path) for path in _STYLES)


def _join(path: str, names: dict[str, str], parts: list[str], above: tuple[str, ...]) -> str:
    """Add a module after what it imports; return the name of what it exports."""
    if path in above:
        raise ValueError(f"{path} is imported by what it imports")
    if path in names:
        return names[path]
    taken: list[str] = []

    def take(found: re.Match[str]) -> str:
        wanted = normpath(join(dirname(path), found[2]))
        module = _join(_INSTEAD.get(wanted, wanted), names, parts, (*above, path))
        taken.append(f"const {{{found[1].strip().replace(' as ', ': ')}}} = {module};")
        return ""

    text = _IMPORT.sub(take, _text(path))
    exported = [found[1] for found in _EXPORT.finditer(text)]
    text = _EXPORT.sub("", text)
    if found := _LEFT.search(text):
        raise ValueError(f"{path} cannot be joined: {found[0]}")
    names[path] = name = f"module{len(names)}"
    given = f"return {{ {', '.join(exported)} }};"
    head = "\n".join(taken)
    parts.append(f"// {path}\nconst {name} = (() => {{\n{head}\n{text}\n{given}\n}})();")
    return name


def _text(path: str) -> str:
    return files("rexview").joinpath(path).read_text(encoding="utf-8")
