"""A team signs in: a real provider (OpenID Connect), the real app, a real browser."""

import json
import re
import sqlite3
from contextlib import closing, contextmanager

import pytest
from support import ROOT
from support.browser.axe import Axe
from support.browser.team_sign_in import PEOPLE, put_person, ready, sign_in, visit, write_secrets
from support.browser.team_sign_in import provider as team_provider
from support.browser.traffic import assert_hidden, record
from support.browser.waiting import pass_time
from support.small_set import write_set

from bench.serving import serve
from rexview.ui.web.server.review_sets import set_id

pytestmark = pytest.mark.browser
HIDDEN = ["Model M", "Model N", "Reader A", "Right pleural effusion"]
"""What the review set holds that a reader may not see: models, other readers, the report."""
ALSO_HIDDEN = ["Small set", "Another set", "Made for a test", "Question 1", "one.png"]
"""What the others may not see who are no readers either."""
PATHS = [
    "",
    "browse?as=table&model=m&failure=laterality_error",
    "case",
    "case?case=c1&show=m",
    "failures",
    "scores",
    "readers",
    "data",
    "study",
    "adjudicate?case=c1",
]
"""Every page, as links call it."""


@pytest.fixture(scope="module")
def provider():
    """The address of an identity provider on this machine that knows the team and others."""
    with team_provider() as address:
        put_person(address, "nobody@elsewhere.example", name="Nobody", email_verified=True)
        put_person(address, "mallory", email="lea@clinic.example", email_verified=False)
        yield address


@pytest.fixture(scope="module")
def folders():
    """The folder with everything of each server, by the server's address."""
    return {}


@pytest.fixture(scope="module")
def start_team(provider, folders, tmp_path_factory):
    """Return a context manager that runs the app for the team, and gives its address.

    The server's own set is in ``set``; ``other`` may be opened, ``private`` was opened once when
    somebody worked alone with this server and may not be opened any more.
    """

    @contextmanager
    def start(base_path="", **environment):
        folder = tmp_path_factory.mktemp("team")
        review_set = write_set(folder / "set")
        other = write_set(folder / "other", name="Another set")
        private = write_set(folder / "private", name="A private set")
        recent = folder / "data" / "rexview" / "recent-sets.json"
        recent.parent.mkdir(parents=True)
        recent.write_text(json.dumps([str(private)]), encoding="utf-8")
        secrets = write_secrets(folder / "secrets.toml", provider, base_path)
        server = serve(
            ROOT / "app.py",
            review_set,
            options={
                "server.fileWatcherType": "none",
                "secrets.files": str(secrets),
                **({"server.baseUrlPath": base_path.strip("/")} if base_path else {}),
            },
            environment={
                "REXVIEW_CACHE": str(folder / "cache"),
                "XDG_DATA_HOME": str(folder / "data"),
                "REXVIEW_PEOPLE": json.dumps(PEOPLE),
                "REXVIEW_OPEN_UNDER": str(other),
                **environment,
            },
            log=folder / "log.txt",
        )
        with server as address:
            folders[address + "/"] = folder
            yield address + "/"

    return start


@pytest.fixture(scope="module")
def team(start_team):
    with start_team() as address:
        yield address


def status(context, url):
    return context.request.get(url).status


def test_who_is_not_signed_in_gets_the_sign_in_page_only(team, visitor):
    context = visitor()
    with record(context) as traffic:
        page = context.new_page()
        for path in [*PATHS, "account", "score"]:
            visit(page, team, path)
            page.get_by_role("button", name="Sign in").wait_for()
            assert page.get_by_role("link", name="Browse").count() == 0
            traffic.look(page)
    assert_hidden(traffic, [*HIDDEN, *ALSO_HIDDEN])


def test_a_reader_gets_nothing_of_the_other_pages(team, visitor):
    context = visitor()
    with record(context) as traffic:
        page = sign_in(context, team, "anna@clinic.example")
        page.get_by_role("link", name="Anna Reader").wait_for()
        for title in ("Overview", "Browse", "Case", "Data"):
            assert page.get_by_role("link", name=title, exact=True).count() == 0
        for path in PATHS[1:]:
            text = visit(page, team, path)
            assert "Sign in" not in text
            assert "Your role does not include this page" in text, path
            traffic.look(page)
        visit(page, team, "")
        page.wait_for_url(re.compile("/(account|score)"))
        traffic.look(page)
    assert_hidden(traffic, HIDDEN)


def open_folder(page, address, folder):
    visit(page, address, "data")
    page.get_by_role("textbox", name="Folder of a review set").fill(str(folder))
    page.get_by_role("button", name="Open", exact=True).click()


def test_a_reader_learns_nothing_from_another_set_either(team, folders, visitor):
    page = sign_in(visitor(), team, "lea@clinic.example")
    open_folder(page, team, folders[team] / "other")
    page.wait_for_url(re.compile("set="))
    page.get_by_text("Another set").first.wait_for()
    query = re.search("set=[0-9a-f]+", page.url)[0]
    reader = visitor()
    with record(reader) as traffic:
        page = sign_in(reader, team, "anna@clinic.example")
        for path in (f"case?case=c1&{query}", f"browse?{query}", "case?case=c1&set=0123456789"):
            assert "Your role does not include this page" in visit(page, team, path)
        for path in (f"account?{query}", f"score?{query}", "score?set=0123456789"):
            visit(page, team, path)
            traffic.look(page)
    assert_hidden(traffic, HIDDEN)


def test_a_team_is_shown_only_sets_from_folders_that_are_allowed(team, folders, visitor):
    private = folders[team] / "private"
    context = visitor()
    with record(context) as traffic:
        page = sign_in(context, team, "lea@clinic.example")
        open_folder(page, team, private)
        page.get_by_text("This server does not open that folder").first.wait_for()
        query = f"set={set_id(private)}"
        for path in (f"?{query}", f"case?case=c1&{query}", f"browse?{query}"):
            assert "This server does not open that folder" in visit(page, team, path)
        traffic.look(page)
    assert_hidden(traffic, ["A private set"])


@pytest.mark.parametrize(
    ("sub", "seen", "refused"),
    [
        ("lea@clinic.example", ["", "browse", "case?case=c1", "data"], []),
        ("vera@clinic.example", ["", "browse", "case?case=c1"], ["data"]),
        ("adam@clinic.example", ["", "browse", "case?case=c1"], ["data"]),
    ],
)
def test_others_get_the_pages_of_their_role(team, visitor, sub, seen, refused):
    page = sign_in(visitor(), team, sub)
    for path in seen:
        text = visit(page, team, path)
        assert "Your role does not" not in text
        assert "Made for a test" in text
    for path in refused:
        assert "Your role does not include this page" in visit(page, team, path)


def test_who_has_no_role_is_told_and_gets_nothing(team, visitor):
    context, axe = visitor(), Axe(())
    with record(context) as traffic:
        page = context.new_page()
        visit(page, team, "")
        assert not axe.findings(page), "signing in"
        page.close()
        page = sign_in(context, team, "nobody@elsewhere.example")
        page.get_by_text("@elsewhere.example, but have no role here").first.wait_for()
        assert not axe.findings(page), "refused"
        for path in PATHS:
            visit(page, team, path)
            page.get_by_text("have no role here").first.wait_for()
            traffic.look(page)
    assert_hidden(traffic, [*HIDDEN, *ALSO_HIDDEN])


def test_an_address_that_was_not_verified_opens_nothing(team, visitor):
    page = sign_in(visitor(), team, "mallory")
    page.get_by_text("has not been verified").first.wait_for()
    assert page.get_by_role("link", name="Browse").count() == 0


def test_somebody_elses_links_to_pictures_are_refused(team, visitor):
    lead = visitor()
    page = sign_in(lead, team, "lea@clinic.example")
    with record(lead) as traffic:
        visit(page, team, "case?case=c1")
        page.locator("[data-painted-case]").wait_for()
        visit(page, team, "browse")
        page.locator(".rx-card img").first.wait_for()
        ready(page)
    links = {
        piece.where.split()[2]
        for piece in traffic.pieces
        if re.match(r"request GET \S+/rexview/(pixels|thumbs)/\S+$", piece.where)
    }
    kinds = {re.search("/rexview/(pixels|thumbs)/", link)[1] for link in links}
    assert kinds == {"pixels", "thumbs"}
    good = [link for link in links if status(lead, link) == 200]
    assert {re.search("/rexview/(pixels|thumbs)/", link)[1] for link in good} == kinds
    reader, stranger = visitor(), visitor()
    sign_in(reader, team, "anna@clinic.example")
    for link in good:
        assert status(reader, link) == 403
        assert status(stranger, link) == 401
        assert status(lead, link) == 200
        assert status(lead, link[:-2] + ("AA" if link[-2:] != "AA" else "BB")) == 403
        assert lead.request.get(link).headers["vary"] == "Cookie"


def test_files_of_others_are_refused(team, visitor):
    lead = visitor()
    page = sign_in(lead, team, "lea@clinic.example")
    visit(page, team, "data")
    button = page.locator('[data-testid="stDownloadButton"] button').first
    page.locator("details").filter(has=button).first.locator("summary").click()
    with page.expect_download() as download:
        button.click()
    link = download.value.url
    assert "/media/" in link
    assert status(lead, link) == 200
    reader, viewer, stranger = visitor(), visitor(), visitor()
    sign_in(reader, team, "anna@clinic.example")
    sign_in(viewer, team, "vera@clinic.example")
    assert [status(one, link) for one in (reader, viewer, stranger)] == [403, 200, 401]


def test_signing_out_in_one_tab_ends_the_others_and_the_links(team, visitor):
    context = visitor()
    page = sign_in(context, team, "lea@clinic.example")
    with record(context) as traffic:
        visit(page, team, "case?case=c1")
        page.locator("[data-painted-case]").wait_for()
    link = next(
        piece.where.split()[2] for piece in traffic.pieces if "/rexview/pixels/" in piece.where
    )
    cookies = context.cookies()
    other = context.new_page()
    visit(other, team, "account")
    other.get_by_role("button", name="Sign out").click()
    other.get_by_role("button", name="End session").click()  # the provider's own page
    other.get_by_role("button", name="Sign in").wait_for()
    assert status(context, link) == 401

    page.keyboard.press("j")  # the first tab still has its session
    page.get_by_text("You are not signed in").first.wait_for()
    page.reload()
    page.get_by_role("button", name="Sign in").wait_for()

    thief = visitor()  # with a copy of the cookie
    thief.add_cookies(cookies)
    page = thief.new_page()
    page.goto(team + "case?case=c1")
    page.get_by_text("You have signed out").first.wait_for()
    assert status(thief, link) == 401

    page = sign_in(context, team, "lea@clinic.example")
    visit(page, team, "case?case=c1")
    page.locator("[data-painted-case]").wait_for()


def test_a_sign_in_ends(start_team, visitor):
    with start_team(REXVIEW_SIGN_IN_HOURS="0.0025") as address:
        context = visitor()
        page = sign_in(context, address, "lea@clinic.example")
        visit(page, address, "browse")
        page.wait_for_timeout(9_500)
        page.reload()
        page.get_by_text("Your sign-in has ended").first.wait_for()
        page.get_by_role("button", name="Sign in").wait_for()


def open_score_page(page, address):
    page.goto(address + "score?case=c1")
    page.locator(".rx-pad .place").wait_for()
    page.locator("[data-painted-case]").wait_for()
    pass_time(page, 500)


def test_what_was_given_when_the_sign_in_ended_is_kept_and_sent_after_the_next(
    team, folders, visitor
):
    context = visitor()
    page = sign_in(context, team, "anna@clinic.example")
    open_score_page(page, team)
    context.clear_cookies()
    with page.expect_response(lambda answer: "/rexview/reviews" in answer.url) as answer:
        page.keyboard.press("4")
    assert answer.value.status == 401
    page.locator(".saved", has_text="Not saved yet").wait_for()
    assert written(folders[team]) == []

    page.reload()  # as somebody does who is told to sign in
    page.get_by_role("button", name="Sign in").click()
    page.get_by_placeholder("sub").fill("anna@clinic.example")
    page.get_by_role("button", name="Authorize").click()
    page.wait_for_url(re.compile("/score"))
    page.locator(".saved[data-state=saved]").wait_for()
    (row,) = written(folders[team])
    assert row["person"] == "r-anna"
    assert json.loads(row["value"])["score"] == 4


def test_somebody_else_who_signs_in_on_that_computer_sends_nothing_of_it(team, folders, visitor):
    context = visitor()
    page = sign_in(context, team, "anna@clinic.example")
    open_score_page(page, team)
    context.clear_cookies()
    page.keyboard.press("2")
    page.locator(".saved", has_text="Not saved yet").wait_for()
    before = written(folders[team])
    other = sign_in(context, team, "lea@clinic.example")
    open_score_page(other, team)
    pass_time(other, 3000)
    assert written(folders[team]) == before
    assert other.locator('.level[aria-checked="true"]').count() == 0


def written(folder):
    """The scores in the databases of the server's sets, as dicts.

    A set whose Score page was opened has one, too: it keys the letters.
    """
    found = []
    for file in sorted(folder.rglob("reviews.sqlite")):
        with closing(sqlite3.connect(file)) as connection:
            connection.row_factory = sqlite3.Row
            rows = connection.execute("SELECT * FROM history WHERE kind = 'score' ORDER BY id")
            found += map(dict, rows)
    return found


def test_a_team_under_a_path(start_team, visitor):
    with start_team(base_path="/review") as address:
        assert address.endswith("/review/")
        context = visitor()
        with record(context) as traffic:
            page = sign_in(context, address, "lea@clinic.example")
            visit(page, address, "case?case=c1")
            page.locator("[data-painted-case]").wait_for()
        link = next(
            piece.where.split()[2] for piece in traffic.pieces if "/rexview/pixels/" in piece.where
        )
        assert status(context, link) == 200
        assert status(visitor(), link) == 401
        visit(page, address, "account")
        page.get_by_role("button", name="Sign out").click()
        page.get_by_role("button", name="End session").click()
        page.get_by_role("button", name="Sign in").wait_for()
        assert status(context, link) == 401


def test_settings_that_name_people_without_a_sign_in_let_nobody_in(start_app, new_page, tmp_path):
    address = start_app(write_set(tmp_path / "set"), REXVIEW_PEOPLE=json.dumps(PEOPLE))
    page = new_page()
    page.goto(address + "case?case=c1")
    page.get_by_text("secrets.toml has no").first.wait_for()
    assert "Question 1" not in page.locator("body").inner_text()
