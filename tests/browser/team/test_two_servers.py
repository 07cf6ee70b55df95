"""Two servers behind nginx on one PostgreSQL: one is killed, people sign out, roles change."""

import time
from contextlib import contextmanager

import httpx
import pytest
from support.browser.score_pad import Watch, wait_for_case, wait_saved
from support.browser.team_sign_in import visit
from support.browser.waiting import PATIENCE_MS, calm, pass_time, until, watch

from bench.reliability.server import SECRET
from bench.serving import free_port
from bench.team_server import Team, nginx
from rexview.people import Person
from rexview.store import open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.meeting.live.admission import ADDRESS, KIND
from rexview.ui.meeting.live.rooms import ELSEWHERE
from rexview.ui.web.access.sign_in import link_owner
from rexview.ui.web.server import review_sets
from rexview.ui.web.server.sealed_tokens import Grant, LinkSigner
from tools.programs import find

pytestmark = pytest.mark.browser
ROLES = ["reader", "lead", "viewer", "viewer"]


class Pair:
    """Two servers and the proxy before them."""

    def __init__(self, team, servers, address):
        self.team, self.servers, self.address = team, servers, address

    def of(self, context):
        """Return the server that a browser's page runs on, and the other one."""
        (name,) = [one["value"] for one in context.cookies() if one["name"] == "rexview_server"]
        first = int(name[1:]) - 1
        return self.servers[first], self.servers[1 - first]

    def scores(self):
        reviews = open_reviews(self.servers[0].review_set, self.servers[0].settings)
        rows = reviews.history(kind="score")[::-1]
        key = reviews.letter_key()
        close_databases()
        return rows, key


@pytest.fixture(scope="module")
def pair(tmp_path_factory, postgres_server):
    if find("nginx") is None:
        pytest.skip("nginx is not there.")
    folder = tmp_path_factory.mktemp("pair")
    ports = [free_port(), free_port(), free_port()]
    address = f"http://localhost:{ports[0]}"
    team = Team(folder, ROLES, postgres_server.new_database("two-servers"), address)
    first, second = (team.server(f"server{port}", port) for port in ports[1:])
    with first, second, nginx(folder / "nginx", ports[0], ports[1:]):
        yield Pair(team, [first, second], address)


@pytest.fixture(autouse=True)
def both_run(pair):
    """Start what a test that failed has left killed: the next one needs both."""
    for server in pair.servers:
        if not server.runs:
            server.start()


def signed_in(visitor, pair, number):
    context = visitor()
    context.add_cookies(pair.team.cookies(number))
    return context


def test_a_killed_server_costs_no_score_and_no_place(pair, visitor):
    context = signed_in(visitor, pair, 0)
    watch = Watch(context)
    page = context.new_page()
    page.goto(f"{pair.address}/score?task=score")
    place = page.locator(".rx-pad .place")
    first = place.get_attribute("title")
    wait_for_case(page, first)
    page.keyboard.press("n")
    case = until(page, lambda: place.get_attribute("title"), lambda found: found != first)
    wait_for_case(page, case)
    until(page, lambda: page.url, lambda url: f"case={case}" in url)
    page.keyboard.press("4")
    wait_saved(page)
    address = page.url

    killed, other = pair.of(context)
    page.keyboard.press("3")
    killed.kill()
    page.keyboard.press("5")
    until(page, lambda: len(watch.confirmed), lambda count: count == len(watch.entries) >= 3)
    until(page, lambda: pair.of(context)[0], lambda server: server is other)
    wait_saved(page)
    wait_for_case(page, case)
    assert page.url == address
    page.keyboard.press("2")
    wait_saved(page)

    rows, key = pair.scores()
    person = Person("person-0", "Person 0", "reader")
    given = watch.given(other.review_set, person.id, key)
    assert [row.token for row in rows] == [one.token for one in given]
    assert [row.value["score"] for row in rows] == [4, 3, 5, 2]

    killed.start()
    page.reload()
    wait_for_case(page, case)
    assert pair.of(context)[0] is other, "people stay where their pages run"


def test_a_filter_is_kept_and_pictures_and_files_come(pair, visitor):
    context = signed_in(visitor, pair, 1)
    page = context.new_page()
    page.goto(f"{pair.address}/case?failure=laterality_error")
    page.locator("[data-painted-case]").wait_for()
    page.keyboard.press("j")
    until(page, lambda: page.url, lambda url: "case=" in url)
    pass_time(page, 1000)
    address = page.url
    case = page.locator("[data-painted-case]").get_attribute("data-painted-case")
    killed, other = pair.of(context)
    killed.kill()
    until(page, lambda: pair.of(context)[0], lambda server: server is other)
    assert page.url == address
    page.keyboard.press("j")
    page.locator(f'[data-painted-case]:not([data-painted-case="{case}"])').wait_for()
    assert "failure=laterality_error" in page.url

    visit(page, pair.address, "/data")  # a download lies in the memory of the page's server
    button = page.locator('[data-testid="stDownloadButton"] button').first
    page.locator("details").filter(has=button).first.locator("summary").click()
    with page.expect_download() as download:
        button.click()
    assert download.value.path().stat().st_size
    killed.start()


def pictures(context, pair):
    """The address of a picture that was shown, without the server."""
    page = context.new_page()
    with page.expect_response(lambda answer: "/rexview/pixels/" in answer.url) as answer:
        page.goto(f"{pair.address}/case")
    return page, answer.value.url.removeprefix(pair.address)


def statuses(context, pair, path):
    return [context.request.get(server.url + path).status for server in pair.servers]


@contextmanager
def following(pair, number, context):
    """Follow a meeting as a person; give what says whether the stream has ended."""
    row = pair.team.people[number]
    who = Person(row["id"], row["name"], row["role"])
    set_id = review_sets.set_id(pair.team.review_set)
    grant = Grant(KIND, set_id, "f", detail=[who.id, who.name, who.role], person=link_owner(who))
    address = f"{pair.address}/{ADDRESS}/{LinkSigner(SECRET).sign(grant)}/events?window={'0' * 32}"
    cookies = {one["name"]: one["value"] for one in context.cookies()}
    with httpx.stream("GET", address, cookies=cookies, timeout=30) as answer:
        assert answer.status_code == 200
        told = answer.iter_lines()
        assert next(told).startswith("retry")

        def ends():
            limit = time.monotonic() + PATIENCE_MS / 1000
            for _ in told:  # a sign of life each second, as long as it goes on
                assert time.monotonic() < limit, "the stream goes on"
            return httpx.get(address, cookies=cookies, timeout=30).status_code

        yield ends


def export(page, pair, form=None):
    """Begin an export of all cases; return the window in which it is."""
    page.goto(f"{pair.address}/browse")
    page.get_by_role("button", name="Export", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Make the file").wait_for()
    if form:
        dialog.get_by_role("combobox").click()
        page.get_by_role("option", name=form, exact=True).click()
        calm(page)
    dialog.get_by_role("button", name="Make the file").click()
    return dialog


def exported(pair):
    """Files of exports on both servers."""
    return [
        file
        for server in pair.servers
        for file in (server.folder / "cache" / "exports").glob("*/*/*")
    ]


def test_signing_out_holds_on_both_servers_and_after_a_restart(pair, visitor):
    context = signed_in(visitor, pair, 2)
    page, picture = pictures(context, pair)
    assert statuses(context, pair, picture) == [200, 200]
    thief = visitor()
    thief.add_cookies(context.cookies())
    with following(pair, 2, context) as ends:
        dialog = export(page, pair)
        with page.expect_download() as download:
            dialog.get_by_role("button", name="Download", exact=True).click()
        file = download.value.url.removeprefix(pair.address)
        assert thief.request.get(pair.address + file).status == 200
        account = context.new_page()
        account.goto(f"{pair.address}/account")
        account.get_by_role("button", name="Sign out").click()
        assert ends() == 401
    until(account, lambda: statuses(thief, pair, picture), lambda found: found == [401, 401])
    assert statuses(thief, pair, file) == [401, 401]
    page.get_by_text("You are not signed in").first.wait_for()
    until(account, lambda: exported(pair), lambda files: not files)
    for server in pair.servers:
        server.kill()
        server.start()
    assert statuses(thief, pair, picture) == [401, 401]
    stolen = thief.new_page()
    stolen.goto(f"{pair.address}/case")
    stolen.get_by_text("You have signed out").first.wait_for()


def test_a_role_that_is_taken_away_ends_on_both_servers_at_once(pair, visitor):
    context = signed_in(visitor, pair, 3)
    page, picture = pictures(context, pair)
    assert statuses(context, pair, picture) == [200, 200]
    people = [dict(one) for one in pair.team.people]
    people[3]["role"] = "reader"
    exporting = context.new_page()
    watch(exporting)
    with following(pair, 3, context) as ends:
        dialog = export(exporting, pair, "Web page, works offline")
        dialog.get_by_role("progressbar").wait_for()
        pair.team.set_people(people)
        assert ends() == 403
    until(page, lambda: statuses(context, pair, picture), lambda found: found == [403, 403])
    exporting.get_by_text("Your role does not include this page").first.wait_for()
    until(page, lambda: exported(pair), lambda files: not files)
    page.keyboard.press("j")
    page.get_by_text("Your role does not include this page").first.wait_for()
    pair.team.set_people(people[:3])
    until(page, lambda: statuses(context, pair, picture), lambda found: found == [401, 401])
    page.reload()
    page.get_by_text("have no role here").first.wait_for()

    (pair.team.settings / "rexview.yaml").write_text("people: [", encoding="utf-8")
    lead = signed_in(visitor, pair, 1).new_page()
    limit = time.monotonic() + PATIENCE_MS / 1000
    while time.monotonic() < limit:
        lead.goto(f"{pair.address}/account")
        lead.get_by_text("Person 1").first.wait_for()
        if lead.get_by_text("Roles are as they were before").count():
            break
    assert lead.get_by_text("Roles are as they were before").count()
    assert statuses(context, pair, picture) == [401, 401], "nobody is let in by a broken file"
    pair.team.set_people(pair.team.people)
    until(page, lambda: statuses(context, pair, picture), lambda found: found == [200, 200])


def test_a_meeting_is_held_on_one_server_and_found_by_everybody(pair, visitor):
    context = signed_in(visitor, pair, 1)
    set_id = review_sets.set_id(pair.team.review_set)
    who = Person("person-1", "Person 1", "lead")
    grant = Grant(KIND, set_id, "m", detail=[who.id, who.name, who.role], person=link_owner(who))
    path = f"/{ADDRESS}/{LinkSigner(SECRET).sign(grant)}/case?case=c"

    def ask(address):
        answer = context.request.get(address + path)
        return answer.status, answer.json()["error"]

    there, elsewhere = (404, "This case has not been shown yet."), (503, ELSEWHERE)
    second, first = pair.servers[1], pair.servers[0]
    assert ask(second.url) == there, "the first that is asked holds it"
    assert ask(first.url) == elsewhere
    assert ask(pair.address) == there, "nginx asks the next one"
    second.kill()
    until(context.new_page(), lambda: ask(pair.address), lambda found: found == there)
    assert ask(first.url) == there
    second.start()
    assert ask(second.url) == elsewhere
    assert ask(pair.address) == there
