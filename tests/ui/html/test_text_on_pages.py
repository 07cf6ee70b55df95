"""Every text that is handed to Streamlit is ours, or escaped: found by reading the code.

Streamlit takes labels, help, messages and headings for Markdown: a picture in a model's name would
make the browser of whoever looks call another host. What is shown is checked in
``tests/pages/test_hostile_words.py``.
"""

from __future__ import annotations

import ast
import re
from string import Formatter

from support import ROOT

ESCAPES = {"as_markdown", "lines_as_markdown"}
TEXTS = {
    **dict.fromkeys(("markdown", "caption", "title", "header", "subheader"), ("body",)),
    **dict.fromkeys(("error", "warning", "info", "success", "toast"), ("body",)),
    **dict.fromkeys(("button", "form_submit_button", "download_button"), ("label",)),
    **dict.fromkeys(("checkbox", "toggle", "slider", "number_input"), ("label",)),
    **dict.fromkeys(("text_input", "text_area", "chat_input", "file_uploader"), ("label",)),
    **dict.fromkeys(("selectbox", "multiselect", "select_slider"), ("label",)),
    **dict.fromkeys(("radio", "segmented_control", "pills"), ("label", "options")),
    **dict.fromkeys(("expander", "popover", "dialog", "status"), ("label",)),
    **dict.fromkeys(("link_button", "feedback", "menu_button"), ("label",)),
    "tabs": ("labels",),
    "metric": ("label", "value", "delta"),
    "page_link": ("page", "label"),
    "Page": ("page", "title"),
    "badge": ("label",),
    "spinner": ("text",),
    "progress": ("value", "text"),
    "TextColumn": (),
    "NumberColumn": (),
    "SelectboxColumn": (),
    "CheckboxColumn": (),
}
"""Streamlit's calls by name, and their arguments in order as far as they are Markdown (``page`` and
``value`` of progress are none, they only take their place). ``help`` is Markdown in all of them."""
WORDS = {"tr": (0,), "trn": (0, 1), "trc": (0, 1), "counted": (1,), "noun": (1,)}
"""What gives words of ours in the server's language, and which of its arguments have to be ours.

They are checked when they are read (``tests/words/test_checks.py``)."""
LEADING_ON = "show_nothing_yet"
"""A function of ours that hands on its texts: words, then (page, label)s."""
HANDING_ON = {
    "save_button": {"label": 0, "help": None},
    "form_save_button": {"label": 0, "help": None},
    "save_text_input": {"label": 0, "help": None},
    "choices.choose_view": {"views": 1},
    "view_tabs": {"views": 1},
    "begin_judge": {"heading": None},
    "_ask_and_save": {"button": None},
}
"""Functions of ours that hand on texts: the arguments that are texts, and their places."""
NO_TEXT = {("page_link", "page"), ("Page", "page"), ("progress", "value")}
OPTIONS = {"radio", "segmented_control", "pills"}
"""Whose options are Markdown; those of ``selectbox`` and ``multiselect`` are shown as they are."""
NEVER = {"write", "write_stream", "latex", "image", "link_button", "LinkColumn", "ImageColumn"}
"""Calls that guess what a text is, or take an address."""
NUMBERS = (",", "d", "f", "g", "%")
"""Ends of format specifications that no text passes; nor does it pass those of dates (``%d``)."""
FORM = "rexview/ui/data/import_form.py"
IN_THE_CODE = "stands in the code of the importers"
CHECKED_AT_CALLS = "looked at where it is called"
EXCEPTIONS = {
    ("rexview/ui/data/set_forms.py", "_FORMAT_FILE.read_text(encoding='utf-8')"): "our FORMAT.md",
    ("rexview/ui/guide/guides.py", "piece.markdown"): "our guides",
    ("rexview/ui/web/app/shell.py", "words"): CHECKED_AT_CALLS,
    ("rexview/ui/web/app/shell.py", "label"): CHECKED_AT_CALLS,
    ("rexview/ui/web/access/permissions.py", "purpose"): "Markdown of the page that asks",
    ("rexview/ui/run_models.py", "st.image"): "the bytes of a picture that we encoded",
    ("rexview/ui/web/streamlit_adapter/script_run.py", "label"): CHECKED_AT_CALLS,
    ("rexview/ui/web/link/link_choices.py", "list(of_name)"): CHECKED_AT_CALLS,
    ("rexview/ui/web/link/link_choices.py", "views.__getitem__"): CHECKED_AT_CALLS,
    ("rexview/ui/asking/run_forms.py", "heading"): CHECKED_AT_CALLS,
    ("rexview/ui/failures/written_failures.py", "button"): CHECKED_AT_CALLS,
    (FORM, "importer.description"): IN_THE_CODE,
    (FORM, "option.label"): IN_THE_CODE,
    (FORM, "option.help"): IN_THE_CODE,
    (FORM, "tr('{label}, one per line').format(label=option.label)"): IN_THE_CODE,
}
"""(file, expression): why it needs no escaping."""
AS_HTML = {
    "rexview/ui/web/streamlit_adapter/in_app.js": 1,
    "rexview/ui/score_cases/pad/assets/frame.js": 2,
    "rexview/ui/score_cases/pad/assets/answer.js": 1,
}
"""Scripts that put HTML of the server into a page, and how often; all others put in text."""


class Finder(ast.NodeVisitor):
    """Finds texts in one file that are neither ours nor escaped."""

    def __init__(self, file):
        self.file = file
        self.tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        self.functions = {
            node.name: node for node in self.tree.body if isinstance(node, ast.FunctionDef)
        }
        self.inside = []
        self.found = []
        self.called = []
        self.calls = 0

    def visit_FunctionDef(self, node):
        self.inside.append(node)
        self.generic_visit(node)
        self.inside.pop()

    def visit_Attribute(self, node):
        """Find a call of Streamlit's that gets another name, under which it is not seen."""
        self.generic_visit(node)
        if ast.unparse(node.value) == "st" and node.attr in TEXTS and node not in self.called:
            self.found.append((self.file, f"st.{node.attr} under another name"))

    def visit_Call(self, node):
        self.called.append(node.func)
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else None
        if name in NEVER and ast.unparse(node.func.value) == "st":
            self.found.append((self.file, f"st.{name}"))
        if ast.unparse(node.func) == LEADING_ON:
            words, *leads = node.args
            labels = [lead.elts[1] for lead in leads if isinstance(lead, ast.Tuple)]
            for text in (words, *labels):
                if not self.is_safe(text):
                    self.found.append((self.file, ast.unparse(text)))
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        for key, place in HANDING_ON.get(ast.unparse(node.func), {}).items():
            given = node.args[place : place + 1] if place is not None else []
            for value in [*given, *([named[key]] if key in named else [])]:
                if not self.is_safe(value):
                    self.found.append((self.file, ast.unparse(value)))
        if name not in TEXTS or not self.is_streamlits(node.func.value):
            return
        self.calls += 1
        named |= dict(zip(TEXTS[name], node.args, strict=False))
        wanted = {key for key in TEXTS[name] if (name, key) not in NO_TEXT}
        if name in OPTIONS and "format_func" in named:
            wanted = wanted - {"options"} | {"format_func"}
        for key in sorted(wanted | {"help"}):
            value = named.get(key)
            if value is not None and not self.is_safe(value):
                self.found.append((self.file, ast.unparse(value)))

    @staticmethod
    def is_streamlits(value):
        """Whether something is Streamlit or part of a page: all but a text or a module of ours."""
        return not isinstance(value, ast.Constant | ast.JoinedStr)

    def is_safe(self, node, depth=0):
        """Whether an expression is made of our own literals, numbers and escaped parts only."""
        if depth > 12:
            return False
        safe = [
            isinstance(node, ast.Constant),
            isinstance(node, ast.JoinedStr)
            and all(self.is_safe(part, depth + 1) for part in node.values),
            isinstance(node, ast.FormattedValue)
            and (self.is_number(node) or self.is_safe(node.value, depth + 1)),
            isinstance(node, ast.IfExp)
            and self.is_safe(node.body, depth + 1)
            and self.is_safe(node.orelse, depth + 1),
            isinstance(node, ast.BoolOp)
            and all(self.is_safe(value, depth + 1) for value in node.values),
            isinstance(node, ast.BinOp)
            and self.is_safe(node.left, depth + 1)
            and self.is_safe(node.right, depth + 1),
            isinstance(node, ast.List | ast.Tuple | ast.Set)
            and all(self.is_safe(value, depth + 1) for value in node.elts),
            isinstance(node, ast.Starred) and self.is_safe(node.value, depth + 1),
            isinstance(node, ast.ListComp | ast.GeneratorExp) and self.is_safe(node.elt, depth + 1),
            isinstance(node, ast.Lambda) and self.is_safe(node.body, depth + 1),
            isinstance(node, ast.DictComp) and self.is_safe(node.value, depth + 1),
            isinstance(node, ast.Dict)
            and all(self.is_safe(value, depth + 1) for value in node.values),
            isinstance(node, ast.Subscript | ast.Attribute) and self.is_constant(node),
            isinstance(node, ast.Subscript) and self.is_safe(node.value, depth + 1),
            isinstance(node, ast.Attribute)
            and node.attr == "__getitem__"
            and self.is_safe(node.value, depth + 1),
            isinstance(node, ast.Call) and self.is_safe_call(node, depth),
            isinstance(node, ast.Name) and self.is_safe_name(node.id, depth),
        ]
        return any(safe)

    @staticmethod
    def is_number(node):
        spec = node.format_spec
        given = "" if spec is None else ast.unparse(spec).strip("f'\"")
        return given.startswith("%") or given.endswith(NUMBERS)

    @staticmethod
    def is_constant(node):
        """Whether something is a part of a constant of a module, such as ``VIEWS[name]``."""
        while isinstance(node, ast.Subscript | ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id.isupper()

    def is_safe_call(self, node, depth):
        if isinstance(node.func, ast.Attribute):
            joins = node.func.attr in ("join", "strip", "format", "capitalize", "lower")
            numbers = self.numbers_in(node.func.value, depth)
            named = [one.value for one in node.keywords if one.arg not in numbers]
            parts = [node.func.value, *node.args, *named]
            return joins and all(self.is_safe(part, depth + 1) for part in parts)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in ESCAPES | {"len", "range"}:
            return True
        if name in WORDS:
            return all(isinstance(node.args[at], ast.Constant) for at in WORDS[name])
        function = self.functions.get(name)
        if function is None or function in self.inside[1:]:
            return False
        self.inside.append(function)
        answers = [one for one in ast.walk(function) if isinstance(one, ast.Return)]
        safe = all(one.value is None or self.is_safe(one.value, depth + 1) for one in answers)
        self.inside.pop()
        return safe

    def numbers_in(self, node, depth):
        """Return the placeholders of a text of ours that only numbers fit into.

        A translation has none but those of the English (``rexview/words/translations.py``).
        """
        if depth > 12:
            return set()
        if isinstance(node, ast.Name) and self.inside:
            given = [
                one.value
                for one in ast.walk(self.inside[-1])
                if isinstance(one, ast.Assign)
                if [ast.unparse(target) for target in one.targets] == [node.id]
            ]
            found = [self.numbers_in(one, depth + 1) for one in given if not is_format(one)]
            return set.intersection(*found) if found else set()
        if isinstance(node, ast.IfExp):
            return self.numbers_in(node.body, depth + 1) & self.numbers_in(node.orelse, depth + 1)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WORDS:
            texts = [node.args[at] for at in WORDS[node.func.id]]
        else:
            texts = [node]
        texts = [one.value for one in texts if isinstance(one, ast.Constant)]
        fields = [field for one in texts if isinstance(one, str) for field in parts_of(one)]
        return {name for name, spec in fields if spec.endswith(NUMBERS) or spec.startswith("%")} - {
            name for name, spec in fields if not spec.endswith(NUMBERS) and not spec.startswith("%")
        }

    def is_safe_name(self, name, depth):
        """Whether a name is a constant, or all that its function puts into it is safe."""
        if name.isupper():
            return True
        if not self.inside or name in {
            one.arg for one in ast.walk(self.inside[-1].args) if isinstance(one, ast.arg)
        }:
            return False
        given = []
        for node in ast.walk(self.inside[-1]):
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                given += [value for one in targets for value in named_in(one, node.value, name)]
            elif isinstance(node, ast.For | ast.comprehension):
                items = [None]
                if isinstance(node.iter, ast.Tuple | ast.List):
                    items = node.iter.elts
                elif self.is_constant(iterated(node.iter)):
                    items = [ast.Constant("")]
                given += [value for one in items for value in named_in(node.target, one, name)]
            elif isinstance(node, ast.NamedExpr) and node.target.id == name:
                given.append(node.value)
        return bool(given) and all(one and self.is_safe(one, depth + 1) for one in given)


def is_format(node):
    """Whether something is ``….format(…)``: what it gives has no placeholders any more."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "format"
    )


def parts_of(text):
    """Return the placeholders of a text and how each is written."""
    return [(name, spec) for _, name, spec, _ in Formatter().parse(text) if name]


def iterated(node):
    """Return what a loop goes through, without ``.items()``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value if node.func.attr in ("items", "values") else node
    return node


def named_in(target, value, name):
    """Return what a name gets when a value is put into a target; None where that is not read."""
    if isinstance(target, ast.Name):
        return [value] if target.id == name else []
    if not isinstance(target, ast.Tuple):
        return []
    parts = [value if isinstance(value, ast.Constant) else None] * len(target.elts)
    if isinstance(value, ast.Tuple):
        parts = value.elts
    return [
        one
        for part, inner in zip(target.elts, parts, strict=False)
        for one in named_in(part, inner, name)
    ]


FILES = sorted(
    str(path.relative_to(ROOT))
    for path in [*(ROOT / "rexview/ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]
)


def unescaped(file):
    finder = Finder(file)
    finder.visit(finder.tree)
    return finder


def test_every_text_on_a_page_is_ours_or_escaped():
    found = [one for file in FILES for one in unescaped(file).found]
    assert sorted(set(found) - set(EXCEPTIONS)) == []
    assert set(EXCEPTIONS) <= set(found), "an exception that is not needed any more"


def test_scripts_put_in_text_but_for_html_of_the_server():
    found = {}
    for path in (ROOT / "rexview/ui").rglob("*.js"):
        written = re.findall(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function",
            path.read_text(encoding="utf-8"),
        )
        if written:
            found[str(path.relative_to(ROOT))] = len(written)
    assert found == AS_HTML


def test_the_calls_are_found():
    assert sum(unescaped(file).calls for file in FILES) > 120
