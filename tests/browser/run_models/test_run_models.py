"""The page Run models in a real browser, with real runs that ask a scripted server over HTTP."""

import json
import os
import re
import signal
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect
from support import model_server
from support.browser.sets_of_tests import SetsOfTests
from support.browser.waiting import calm, until
from support.runs.killed_run import write_cases

pytestmark = pytest.mark.browser
KEY = "sk-secret-of-the-tests-0001"
MODEL = "gpt-5-mini"


@pytest.fixture
def server():
    with model_server.started() as running:
        yield running


@pytest.fixture(scope="module")
def sets(start_app, tmp_path_factory):
    return SetsOfTests(start_app, tmp_path_factory.mktemp("runs"), OPENAI_API_KEY=KEY)


@pytest.fixture
def own(sets):
    """The address of an app that has the key, a set of this test, and the set's id."""
    return sets.next(lambda folder: write_cases(folder, 6))


@pytest.fixture
def folder(own):
    return own[1]


@pytest.fixture
def another(start_app, folder, tmp_path):
    """Return a function that starts one more app on the set of this test."""
    return lambda key=KEY: start_app(folder, data=tmp_path / "home", OPENAI_API_KEY=key)


@pytest.fixture
def open_page(own, new_page, server):
    """Return a function that opens the page, of another app where its address is given."""

    def open_at(address=None, *, size=(1440, 900), **query):
        asked = {"run_model": MODEL, "run_at": "server", "run_url": server.base_url, **query}
        if address in (None, own[0]):
            address, asked["set"] = own[0], own[2]
        page = new_page(*size)
        page.goto(f"{address}run?{urlencode(asked)}")
        page.get_by_role("heading", name="Runs").wait_for()
        calm(page)
        return page, address

    return open_at


def press(page, name):
    words = {"Start": "Allow sending these", "Resume": "Allow sending to"}.get(name, name)
    leave = page.get_by_test_id("stCheckbox").filter(has_text=words)
    if leave.count():  # once for each address: then it is confirmed
        leave.first.click()
        calm(page)
    page.get_by_role("button", name=name, exact=False).click()


def runs(folder):
    return sorted((folder / "runs").glob("*"))


def progress(folder):
    try:
        return json.loads((runs(folder)[-1] / "progress.json").read_text())
    except (IndexError, OSError, ValueError):
        return {}


def rows(folder):
    return [
        json.loads(line)
        for path in folder.glob("answers/*.jsonl")
        for line in path.read_text().splitlines()
    ]


def told(page, words):
    expect(page.locator(".rx-run").first).to_contain_text(words)


def test_the_exact_request_is_shown_and_nothing_is_sent(open_page, server, folder):
    page, _ = open_page(run_limit="77")
    page.get_by_text("The exact request").click()
    page.get_by_text("Question of case c0001?").wait_for()
    picture = page.locator("[data-testid=stImage] img")
    expect(picture).to_have_count(1)
    page.wait_for_function("document.querySelector('[data-testid=stImage] img').naturalWidth > 0")
    assert picture.evaluate("one => [one.naturalWidth, one.naturalHeight]") == [100, 120]
    expect(page.get_by_text(re.compile(r"100 x 120 pixels .* SHA-256"))).to_be_visible()
    expect(page.get_by_text("max_output_tokens: 77")).to_be_visible()
    page.get_by_label("Case, 1 to 6").fill("3")
    page.get_by_label("Case, 1 to 6").press("Enter")
    page.get_by_text("Question of case c0003?").wait_for()
    assert page.get_by_text("Question of case c0001?").count() == 0
    page.get_by_text("As JSON").click()
    expect(page.get_by_text('"prompt_hash"')).to_be_visible()
    assert server.requests() == []
    assert not (folder / "runs").exists()


def test_a_run_is_started_watched_paused_and_goes_on(open_page, server, folder):
    server.options(delay_s=1.0)
    page, address = open_page(run_at_once="1")
    press(page, "Start")
    told(page, re.compile("[1-5] of 6 answered"))
    press(page, "Pause")
    until(page, lambda: progress(folder).get("state"), "paused".__eq__)
    page.get_by_role("button", name="Continue").wait_for()
    again, _ = open_page(address)  # another tab shows the same
    expect(again.get_by_text("Paused")).to_be_visible()
    expect(again.get_by_role("button", name="Start")).to_be_disabled()
    server.options()
    press(again, "Continue")
    told(again, "6 of 6 answered")
    expect(again.get_by_text("Finished")).to_be_visible()
    assert len(rows(folder)) == len(server.requests()) == 6
    files = [path for path in folder.rglob("*") if path.is_file()]
    kept = b"".join(path.read_bytes() for path in files)
    assert KEY.encode() not in kept
    assert KEY not in again.content()
    again.get_by_text("Answers, errors and log").click()
    expect(again.locator("a[data-rx-page]", has_text="c0004")).to_have_attribute(
        "href", re.compile("case.*case=c0004")
    )
    with again.expect_download() as download:
        press(again, "Log")
    assert '"event":"replied"' in download.value.path().read_text()


def test_a_cancelled_run_is_resumed(open_page, server, folder):
    server.options(delay_s=1.0)
    page, _ = open_page(run_at_once="1")
    press(page, "Start")
    told(page, re.compile("[1-5] of 6 answered"))
    press(page, "Cancel")
    expect(page.get_by_text("Stopped")).to_be_visible()
    assert len(rows(folder)) < 6
    server.options()
    press(page, "Resume")
    told(page, "6 of 6 answered")
    assert sorted(row["case"] for row in rows(folder)) == [f"c{n:04}" for n in range(1, 7)]
    assert len(server.requests()) == 6
    assert len(runs(folder)) == 1


def test_a_killed_run_says_so_and_is_resumed_after_a_restart_of_the_server(
    open_page, server, folder, another
):
    server.options(delay_s=1.0)
    page, _ = open_page(run_at_once="1")
    press(page, "Start")
    told(page, re.compile("[1-5] of 6 answered"))
    os.kill(progress(folder)["pid"], signal.SIGKILL)
    expect(page.get_by_text("Interrupted")).to_be_visible()
    told(page, "ended without a message")
    server.options()
    again, _ = open_page(another())
    told(again, "ended without a message")
    press(again, "Resume")
    told(again, "6 of 6 answered")
    assert sorted(row["case"] for row in rows(folder)) == [f"c{n:04}" for n in range(1, 7)]
    assert len(server.requests()) <= 7


def test_a_run_goes_on_when_the_server_ends(folder, server, tmp_path, open_page, another):
    from bench.serving import ROOT, serve

    server.options(delay_s=1.5)
    environment = {
        "PYTHONPATH": str(ROOT),
        "REXVIEW_CACHE": str(tmp_path / "cache"),
        "XDG_DATA_HOME": str(tmp_path / "home"),
    }
    with serve(ROOT / "app.py", folder, environment=environment, log=tmp_path / "log") as address:
        page, _ = open_page(f"{address}/", run_at_once="1")
        press(page, "Start")
        told(page, re.compile("[1-4] of 6 answered"))
        page.close()
    assert progress(folder)["done"] < 6
    again, _ = open_page(another())
    told(again, re.compile("[2-6] of 6 answered"))
    server.options()
    told(again, "6 of 6 answered")
    assert len(server.requests()) == 6


def test_a_wrong_key_stops_the_run_in_one_line(open_page, server, folder):
    server.options(keys=["another"])
    page, _ = open_page()
    press(page, "Start")
    expect(page.get_by_text("Interrupted")).to_be_visible()
    told(page, "OPENAI_API_KEY")
    assert KEY not in page.content()
    assert rows(folder) == []
    server.options(keys=[KEY])
    press(page, "Resume")
    told(page, "6 of 6 answered")


def test_no_network_is_told_and_failed_cases_are_listed_and_asked_again(open_page, server, folder):
    refused = {"error": {"status": 400, "message": "No <b>such</b> picture."}}
    server.script([{"match": "c0002", "turns": [{**refused, "times": 2}, {}]}])
    page, _ = open_page()
    press(page, "Start")
    told(page, "5 of 6 answered · 1 failed")
    page.get_by_text("Answers, errors and log").click()
    errors = page.locator(".rx-run-errors")
    expect(errors).to_contain_text("c0002")
    expect(errors).to_contain_text("did not accept the request")
    assert errors.locator("b").count() == 0
    server.script([])
    press(page, "Ask the failed ones again")
    told(page, "6 of 6 answered")
    assert len(rows(folder)) == 6


def test_another_computer_needs_a_tick(open_page, server, folder):
    page, _ = open_page(run_url="https://models.example/v1")
    expect(page.get_by_text("are sent to models.example")).to_be_visible()
    start = page.get_by_role("button", name="Start")
    expect(start).to_be_disabled()
    page.get_by_text("Allow sending these").click()
    expect(start).to_be_enabled()
    assert not (folder / "runs").exists()


def test_no_key_and_no_server_are_said(open_page, another):
    page, address = open_page(another(key=""), run_at="openai")
    expect(page.get_by_text("There is no key for api.openai.com")).to_be_visible()
    expect(page.get_by_role("button", name="Start")).to_be_disabled()
    page, _ = open_page(address, run_url="http://127.0.0.1:9/v1", run_ids="c0001", run_cases="ids")
    press(page, "Start")
    told(page, re.compile("No connection|connect|reach"))


def test_an_edited_wording_is_what_is_asked(open_page, server, folder):
    page, _ = open_page(run_ids="c0001", run_cases="ids")
    page.get_by_text("Edit a copy").click()
    field = page.get_by_role("textbox", name="YAML")
    field.wait_for()
    words = field.input_value()
    field.fill(words.replace("{question}", ""))
    field.press("Control+Enter")
    calm(page)
    press(page, "Save")
    expect(page.get_by_text("is missing. Write where it goes.").first).to_be_visible()
    assert not (folder / "prompts").exists()
    field.fill(words.replace("You are an experienced", "You are a very careful"))
    field.press("Control+Enter")
    calm(page)
    press(page, "Save")
    page.wait_for_url(re.compile("run_prompt=expert-1-boxes-mine"))
    calm(page)
    press(page, "Start")
    told(page, "1 of 1 answered")
    [asked] = server.requests()
    assert "You are a very careful" in asked["text"]
    assert rows(folder)[0]["prompt_id"] == "expert-1-boxes-mine"


@pytest.mark.parametrize("width", [390])
def test_on_a_phone_nothing_is_wider_than_the_screen(open_page, width, folder):
    page, _ = open_page(size=(width, 844))
    press(page, "Start")
    told(page, "6 of 6 answered")
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0


HOSTILE = '../../x"><img src=x onerror="window.hacked=1">'


def test_hostile_words_in_a_link_are_only_words(open_page, server, folder):
    before = sorted(folder.parent.rglob("*"))
    hostile = {"run_ids": f"c0001,{HOSTILE}", "run_cases": "ids"}
    for query in (
        {"run_model": HOSTILE},
        {"run_prompt": HOSTILE},
        {"run_prompt": "../../../etc/passwd"},
        {"run_prompt": "/etc/passwd"},
        {"run_url": HOSTILE},
        {"run_budget": HOSTILE, "run_repeats": HOSTILE, "run_limit": "-1"},
        hostile,
    ):
        page, _ = open_page(**query)
        assert "root:" not in page.inner_text("body")
        expect(page.get_by_text("Traceback")).to_have_count(0)
        expect(page.get_by_test_id("stException")).to_have_count(0)
        assert page.evaluate("window.hacked === undefined"), query
    start = page.get_by_role("button", name="Start")
    assert start.count() == 0 or start.is_disabled(), "not all of these cases are there"
    assert server.requests() == []
    made = {path for path in folder.parent.rglob("*") if "sqlite" not in path.name} - set(before)
    assert made == set()


def test_a_copy_of_a_wording_is_saved_nowhere_else(open_page, folder):
    page, _ = open_page(run_ids="c0001", run_cases="ids")
    page.get_by_text("Edit a copy").click()
    name = page.get_by_role("textbox", name="Name of the copy")
    for given in ("../../outside", "/tmp/outside", "failures/outside", HOSTILE):
        name.fill(given)
        name.press("Enter")
        calm(page)
        press(page, "Save")
        expect(page.get_by_text("Letters, digits").first).to_be_visible()
        calm(page)
        assert page.evaluate("window.hacked === undefined")
    assert not (folder / "prompts").exists()
    assert not list(folder.parent.parent.rglob("outside*"))


def test_runs_of_other_names_are_not_gone_on_with(open_page, server, folder, tmp_path):
    page, _ = open_page(run_ids="c0001", run_cases="ids")
    press(page, "Start")
    told(page, "1 of 1 answered")
    [run] = runs(folder)
    spec = json.loads((run / "run.json").read_text())
    outside = tmp_path / "outside"
    outside.mkdir()
    for name, values in {
        "..%2F..%2Fx": spec,
        "<img src=x onerror=window.hacked=1>": spec,
        "20260101-000000-000-other-aaaa": {**spec, "id": "../../x"},
        "20260101-000000-000-model-bbbb": {**spec, "id": "20260101-000000-000-model-bbbb"},
    }.items():
        made = run.parent / name
        if name.endswith("bbbb"):  # a link to somewhere else
            made.symlink_to(outside)
            made = outside
        else:
            made.mkdir()
        (made / "run.json").write_text(json.dumps(values))
    page, _ = open_page(run_ids="c0001", run_cases="ids")
    expect(page.locator(".rx-run")).not_to_have_count(0)
    assert page.evaluate("window.hacked === undefined")
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_role("button", name="Resume")).to_have_count(0)
    assert [path.name for path in outside.iterdir()] == ["run.json"]
    assert len(server.requests()) == 1


def test_what_was_agreed_for_one_address_is_not_agreed_for_another(open_page, server):
    page, _ = open_page(run_url="https://models.example/v1")
    agreed = page.get_by_test_id("stCheckbox").filter(has_text="Allow sending these")
    start = page.get_by_role("button", name="Start")
    expect(start).to_be_disabled()
    agreed.click()
    expect(start).to_be_enabled()
    address = page.get_by_role("textbox", name="Address")
    address.fill("https://models.example.evil/v1")
    address.press("Enter")
    page.wait_for_url("**models.example.evil**")
    expect(agreed.get_by_role("checkbox")).not_to_be_checked()
    expect(start).to_be_disabled()
