"""Streamlit's websocket spoken by hand: what a browser sends, and what it never would.

A session is opened with a sign-in cookie that was made here, with the secret of the test's own
server, so no identity provider and no browser is needed.
"""

import json
import time
from contextlib import suppress
from urllib.request import Request, urlopen

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app_utils import (
    create_signed_value,
    generate_xsrf_token_string,
)
from websockets.sync.client import connect

COOKIE_SECRET = "a long secret of this test only"
_PATIENCE_S = 60


def user_cookie(address, email, **claims):
    """Make the cookie that somebody has who signed in at an app."""
    whole = {
        "origin": address,
        "is_logged_in": True,
        "sub": email,
        "email": email,
        "iat": int(time.time()),
        **claims,
    }
    return create_signed_value(COOKIE_SECRET, "_streamlit_user", json.dumps(whole)).decode()


def _is_over(message):
    return message.WhichOneof("type") == "script_finished"


class Hand:
    """A session; ``frames`` holds all that came, ``last`` what came since the last rerun.

    ``heads`` are the headers of what was fetched.
    """

    def __init__(self, address, cookie=None, *, session=None):
        token = generate_xsrf_token_string()
        cookies = [f"_streamlit_xsrf={token}", *([f"_streamlit_user={cookie}"] if cookie else [])]
        self._opening = connect(
            f"{address.replace('http', 'ws', 1)}/_stcore/stream",
            origin=address,
            subprotocols=["streamlit", token, *([session] if session else [])],
            additional_headers={"Cookie": "; ".join(cookies)},
            max_size=None,
            open_timeout=_PATIENCE_S,
        )
        self._address, self._cookies = address, "; ".join(cookies)
        self.frames = []
        self.heads = []
        self.last = []

    def __enter__(self):
        self._socket = self._opening.__enter__()
        return self

    def __exit__(self, *error):
        self._opening.__exit__(*error)

    def rerun(
        self,
        page="",
        *,
        query="",
        script="",
        fragment="",
        widgets=(),
        patience_s=_PATIENCE_S,
        until=_is_over,
    ):
        """Ask for a run of a page by its name or its script's hash, or of a fragment; read it.

        ``patience_s`` is how long to wait for each message; less where none may come. ``until``
        says of a message whether it is the last to wait for, by default whether the run is over.
        """
        message = BackMsg()
        asked = message.rerun_script
        asked.page_name, asked.page_script_hash = page, script
        asked.query_string, asked.fragment_id = query, fragment
        for widget, field, value in widgets:
            state = asked.widget_states.widgets.add()
            state.id = widget
            setattr(state, field, value)
        self._socket.send(message.SerializeToString())
        return self.read(patience_s, until)

    def read(self, patience_s=_PATIENCE_S, until=_is_over):
        """Read what comes, as :meth:`rerun` does after it has asked."""
        self.last = []
        with suppress(TimeoutError):
            while not self.last or not until(self.last[-1]):
                self.frames.append(self._socket.recv(timeout=patience_s))
                self.last.append(ForwardMsg.FromString(self.frames[-1]))
        return self

    def post(self, outbox, *entries):
        """Send entries as the outbox of a page does, with what the page gave it."""
        body = json.dumps({"ticket": outbox["ticket"], "entries": entries}).encode()
        headers = {"Content-Type": "application/json", "Cookie": self._cookies}
        address = f"{self._address}/{outbox['address']}"
        with urlopen(Request(address, body, headers), timeout=_PATIENCE_S) as response:
            self.frames.append(response.read())
        return json.loads(self.frames[-1])

    def get(self, link):
        """Fetch what a link of a page leads to: its address, headers and body."""
        asked = Request(f"{self._address}/{link}", headers={"Cookie": self._cookies})
        with urlopen(asked, timeout=_PATIENCE_S) as response:
            self.heads.append(str(response.headers))
            return response.read()

    def elements(self, kind):
        """Return the elements of a kind that the last run drew."""
        deltas = [one.delta for one in self.last if one.HasField("delta")]
        drawn = [one.new_element for one in deltas if one.HasField("new_element")]
        return [getattr(one, kind) for one in drawn if one.WhichOneof("type") == kind]

    def component(self, name):
        """Return a component of the last run."""
        return next(one for one in self.elements("bidi_component") if one.component_name == name)

    def session(self):
        """Return the id of this session."""
        return next(
            one.new_session.initialize.session_id
            for one in self.last
            if one.HasField("new_session")
        )

    def scripts(self):
        """Return the hash of each page's script by the page's name in links."""
        pages = next(one.navigation for one in self.last if one.HasField("navigation")).app_pages
        return {page.url_pathname: page.page_script_hash for page in pages}

    def fragments(self):
        """Return the ids of the fragments that the last run drew."""
        return {one.delta.fragment_id for one in self.last if one.HasField("delta")} - {""}

    def words(self):
        """Return all that came as text, for a search."""
        return b"\n".join(self.frames).decode("utf-8", "replace")
