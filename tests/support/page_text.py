"""What a page that AppTest ran shows, and a strict reader of the HTML that we write."""

import json
import re
from html.parser import HTMLParser

VOID = {"br", "hr", "input"}


def shown(app):
    """Return all HTML and text of a page as one string, its Markdown without escapes."""
    parts = [element.proto.body for element in app.get("html")]
    parts += _sent_html(app, "rexview_case_part")
    kinds = (app.markdown, app.warning, app.info, app.caption, app.error, app.success)
    return "\n".join(parts + [read(element.value) for kind in kinds for element in kind])


def read(markdown):
    """Return Markdown as somebody reads it: without its escapes."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown).replace("\u2060", "")


def title(app):
    """Return the title of a page as a reader sees it: without the escapes of its markdown."""
    (heading,) = [e.value for e in app.markdown if e.value.startswith("# ")]
    return read(heading.removeprefix("# "))


def drawn(app):
    """Return the HTML of all linked elements of a page as one string."""
    return "\n".join(_sent_html(app, "rexview_linked"))


def _sent_html(app, component):
    """Return the HTML that each component of a kind is given."""
    return [unlabelled(data["html"]) for data in components(app, component)]


def unlabelled(html):
    """Return HTML without what tables have for phones (``rexview/ui/tables/number_table.py``)."""
    html = re.sub(r' (?:role="(?:table|rowgroup|row|cell|\w+header)"|data-label="[^"]*")', "", html)
    return html.replace("rx-stack ", "").replace(' class="rx-stack"', "")


def components(app, name=None):
    """Return what each component of a page is given, of all kinds or of one."""
    return [
        data_of(element.proto)
        for element in app.get("bidi_component")
        if name in (None, element.proto.component_name)
    ]


def data_of(component):
    """Return what a component is given, from its message to the browser."""
    (data,) = json.loads(component.json)
    return data


class StrictReader(HTMLParser):
    """Reads HTML whose tags all nest and close; ``text`` and ``marked`` are what stands in it.

    Subclasses look at tags and attributes in ``check``.
    """

    def __init__(self):
        super().__init__()
        self.open, self.text, self.marked = [], [], []

    def check(self, tag, attributes):
        raise NotImplementedError

    def handle_starttag(self, tag, attrs):
        self.check(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        if "mark" in self.open:
            self.marked.append(data)

    @classmethod
    def read(cls, rendered):
        reader = cls()
        reader.feed(rendered)
        reader.close()
        assert not reader.open
        return reader
