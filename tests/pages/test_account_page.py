"""Who may see what, without a browser: alone, and in a team of which nobody is signed in."""

import ast
from functools import cache

import pytest
from streamlit.testing.v1 import AppTest
from support import ROOT
from support.rows import each_row

from rexview.errors import NotAdmitted
from rexview.people import ROLES, Person
from rexview.ui.web.access import permissions, sign_in
from rexview.ui.web.link.pages import ADDRESSES, PAGE_DATA, roles_of_page
from rexview.ui.web.server import server_state

PAGES = sorted(path.name for path in (ROOT / "pages").glob("*.py"))
AUTH = {"redirect_uri": "http://localhost/oauth2callback", "cookie_secret": "a long secret"}
CLIENT = {"client_id": "x", "client_secret": "x", "server_metadata_url": "https://id.example"}


@pytest.fixture
def team(monkeypatch):
    """Return a function that makes the server one for a team, and signs somebody in or nobody."""

    def set_up(role=None, refusal=None):
        def here():
            if refusal:
                raise NotAdmitted(refusal)
            return Person("p@x.example", "Pat [x](y) Person", role) if role else None

        monkeypatch.setattr(server_state, "requires_sign_in", cache(lambda: True))
        monkeypatch.setattr(sign_in, "signed_in_on_page", here)
        monkeypatch.setattr(sign_in, "providers", lambda: ("google", "clinic"))

    return set_up


def text(app):
    return "\n".join(
        [*(str(one.value) for one in [*app.markdown, *app.error, *app.warning, *app.info])]
        + [str(one.proto.body) for one in app.get("html")]
    )


@each_row("name", PAGES)
def test_every_page_checks_the_role_before_anything_else(name):
    if name == "account.py":
        return  # for everybody
    tree = ast.parse((ROOT / "pages" / name).read_text(encoding="utf-8"))
    first = next(
        node
        for node in tree.body[1:]
        if not isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef)
        and not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant))
    )
    assert ast.unparse(first) == f"permissions.guard(PAGE_{name.removesuffix('.py').upper()})"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            decorators = [ast.unparse(one) for one in node.decorator_list]
            if any("fragment" in one for one in decorators):
                assert ast.unparse(node.body[1]) == ast.unparse(first), "a fragment runs alone"


def test_every_page_says_who_sees_it():
    assert {f"pages/{name}" for name in PAGES} == set(ADDRESSES)
    assert roles_of_page(PAGE_DATA) == {"lead"}


NOT_FOR_ALL = [name.removesuffix(".py") for name in PAGES if name != "account.py"]
REFUSED = [
    (page, role)
    for page in NOT_FOR_ALL
    for role in (None, *ROLES)
    if role not in roles_of_page(f"pages/{page}.py")
]


def assert_shows_nothing(app):
    shown = text(app)
    for word in ("Small set", "Model M", "Question 1", "Reader A", "Made for a test"):
        assert word not in shown


@each_row(("page", "role"), REFUSED)
def test_a_page_that_somehow_runs_refuses_by_itself(open_app, team, page, role):
    team(role)
    app = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=60)
    app.query_params["case"] = "c1"
    app.run()
    assert ("not signed in" if role is None else "Your role does not include") in text(app)
    assert_shows_nothing(app)


def test_the_ways_to_sign_in_are_offered(open_app, team):
    team()
    app = open_app()
    assert [button.label for button in app.button] == [
        "Sign in with Google",
        "Sign in with Clinic",
    ]


def test_who_is_not_admitted_is_told_why_and_can_leave(open_app, team):
    team(refusal="You *have* no role here.")
    app = open_app()
    assert "You \\*have\\* no role here" in text(app)
    assert [button.label for button in app.button] == ["Sign out"]


def test_alone_the_name_is_asked_for_once_and_kept(open_app):
    app = open_app("account")
    app.text_input[0].set_value("Anna")
    app.button[0].click().run()
    assert "# Anna" in text(app)
    again = open_app("account")
    assert "# Anna" not in text(again), "another browser takes nobody's name by itself"
    assert again.text_input[0].value == "Anna"
    again.button[0].click().run()
    assert "# Anna" in text(again)
    again.text_input[0].set_value(" ")
    again.button[0].click().run()
    assert "Give a name" in text(again)
    again.text_input[0].set_value("Berta")
    again.button[0].click().run()
    assert "# Berta" in text(again)


def test_alone_but_open_to_others_no_name_is_kept_for_the_next_one(open_app, monkeypatch):
    monkeypatch.setattr(server_state, "on_this_machine_only", lambda: False)
    app = open_app("account")
    app.text_input[0].set_value("Anna")
    app.button[0].click().run()
    assert "# Anna" in text(app)
    assert "# Anna" not in text(open_app("account"))


def test_sign_in_is_what_the_secrets_say(open_app, monkeypatch):
    class Secrets(dict):
        def load_if_toml_exists(self):
            return True

    monkeypatch.setattr("streamlit.secrets", Secrets(auth={**AUTH, **CLIENT}))
    server_state.requires_sign_in.cache_clear()
    assert server_state.requires_sign_in()
    assert sign_in.providers() == ()
    monkeypatch.setattr("streamlit.secrets", Secrets(auth={**AUTH, "clinic": CLIENT}))
    assert sign_in.providers() == ("clinic",)


def test_secrets_that_cannot_be_read_let_nobody_in(open_app, monkeypatch, tmp_path):
    class Unreadable(dict):
        def load_if_toml_exists(self):
            return False

    broken = tmp_path / "secrets.toml"
    broken.write_text("[auth\n")
    monkeypatch.setattr("streamlit.secrets", Unreadable())
    found = permissions.st.get_option
    monkeypatch.setattr(
        "streamlit.get_option",
        lambda name: [str(broken)] if name == "secrets.files" else found(name),
    )
    server_state.requires_sign_in.cache_clear()
    app = open_app(case="c1")
    assert "secrets.toml is there but cannot be read" in text(app)
    assert "Question 1" not in text(app)
