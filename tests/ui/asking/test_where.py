"""Going on with a run of the set's folder, which may be a stranger's, sends nothing unasked."""

import pytest
from support.opened_app import run_page, server_for
from support.small_set import write_set

from rexview.analysis.run_models.run_request import RunRequest, plan_run
from rexview.models.endpoints.server_addresses import check_base_url, is_confirmed_server
from rexview.models.running.model_run import start_run
from rexview.models.running.run_progress import RunProgress, write_progress
from rexview.reviewset import load_review_set


@pytest.mark.parametrize(
    ("base_url", "asks"),
    [("https://models.example/v1", True), (None, True), ("http://127.0.0.1:9/v1", True)],
)
def test_a_run_goes_on_elsewhere_once_somebody_lets_it(tmp_path, monkeypatch, base_url, asks):
    folder = write_set(tmp_path / "set")
    plan = plan_run(load_review_set(folder), RunRequest(model="gpt-5-mini", base_url=base_url))
    start_run(plan).release()
    write_progress(plan.run, RunProgress(plan.run.id, "gpt-5-mini", "cancelled", done=1, total=3))
    with server_for(folder, tmp_path, monkeypatch):
        page = run_page("run_models")
        resume = next(one for one in page.button if one.label == "Resume")
        leave = [one for one in page.checkbox if one.label.startswith("Allow sending to")]
        assert (resume.disabled, len(leave)) == (asks, int(asks))
        if asks:
            leave[0].check().run()
            assert not next(one for one in page.button if one.label == "Resume").disabled


def test_a_port_of_this_computer_is_asked_again_once_it_is_confirmed(tmp_path, monkeypatch):
    folder = write_set(tmp_path / "set")
    address = "http://127.0.0.1:9/v1"
    plan = plan_run(load_review_set(folder), RunRequest(model="gpt-5-mini", base_url=address))
    start_run(plan).release()
    write_progress(plan.run, RunProgress(plan.run.id, "gpt-5-mini", "cancelled", done=1, total=3))
    with server_for(folder, tmp_path, monkeypatch):
        page = run_page("run_models")
        [leave] = [one for one in page.checkbox if one.label.startswith("Allow sending to")]
        leave.check().run()
        begun = []
        monkeypatch.setattr(
            "rexview.ui.asking.run_list.resume_run", lambda *_, **__: begun.append(1)
        )
        next(one for one in page.button if one.label == "Resume").click().run()
        assert begun
        assert is_confirmed_server(check_base_url(address))
        after = run_page("run_models")
        assert not any(one.label.startswith("Allow sending to") for one in after.checkbox)
        assert not next(one for one in after.button if one.label == "Resume").disabled
