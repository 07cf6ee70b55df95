"""The names that browsers have on servers without sign-in, as if they had been asked before."""

import json
from urllib.parse import quote, urlsplit
from weakref import WeakSet

from rexview.ui.web.access.permissions import NAME_COOKIE

_CONTEXTS = WeakSet()
_SCRIPTS = []


def name_browsers(address, name):
    """Let every browser be somebody on the server at an address.

    A cookie is for all ports of a host, and each test's server has a port of its own: so the cookie
    is set by each document that is loaded from the server.
    """
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(address))
    cookie = json.dumps(f"{NAME_COOKIE}={quote(name, safe='')}; Path=/")
    script = f"if (origin === {json.dumps(origin)}) document.cookie = {cookie};"
    _SCRIPTS.append(script)
    for context in _CONTEXTS:
        context.add_init_script(script)


def name_browsers_of(address, data):
    """The same, of the reader whom the server's data folder knows (``known_reader``), if any."""
    file = data / "rexview" / "person.json"
    if file.exists():
        name_browsers(address, json.loads(file.read_text(encoding="utf-8"))["name"])


def have_names(context):
    """Let a browser have its names, also those that are given later; return it."""
    for script in _SCRIPTS:
        context.add_init_script(script)
    _CONTEXTS.add(context)
    context.on("close", _CONTEXTS.discard)
    return context


def forget_name(context):
    """Let a browser that other tests use have no name any more."""
    context.clear_cookies(name=NAME_COOKIE)
