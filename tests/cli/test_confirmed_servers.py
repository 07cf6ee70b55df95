"""A key and a picture go only where this user let them go, whatever a set's folder says."""

import json
from pathlib import Path

import platformdirs
import pytest
from support import model_server
from support.judge.set_to_judge import write_judged
from support.reports.compared_reports import write_reports
from support.review_folder import write_review_set
from support.runs.killed_run import write_cases

from rexview.cli import main
from rexview.models.endpoints.server_addresses import (
    check_base_url,
    confirm_server_address,
    is_confirmed_server,
)

pytestmark = pytest.mark.usefixtures("asks_models")

MODEL = "gpt-5-mini"
RULES = [{"turns": [{"error": {"status": 400, "message": "not now"}}]}]


def write_studies(folder):
    report = {"findings": "Effusion of 2 cm on the left."}
    case = {"id": "c1", "study_id": "s1", "question": "What is seen?", "report": report}
    return write_review_set(folder, info={"name": "Curate"}, cases=[case])


COMMANDS = {
    "run": (lambda folder: write_cases(folder, 2), ["run", "{set}", "--model", MODEL]),
    "judge": (write_judged, ["judge", "{set}", "--judge", MODEL]),
    "curate": (write_studies, ["curate", "{set}", "--model", MODEL]),
    "metrics": (
        write_reports,
        ["metrics", "{set}", "--metric", "fineradscore", "--judge", MODEL],
    ),
}


@pytest.fixture
def elsewhere():
    """Another server, on another port of this machine."""
    with model_server.started([{"turns": [{"text": "Thank you."}]}]) as running:
        yield running


@pytest.mark.parametrize("command", COMMANDS)
def test_an_address_that_somebody_edited_gets_nothing(tmp_path, server, elsewhere, capsys, command):
    write, words = COMMANDS[command]
    write(tmp_path / "set")
    words = [word.format(set=tmp_path / "set") for word in words]
    assert main([*words, "--base-url", server.base_url]) != 0
    assert server.requests()
    [spec] = (tmp_path / "set").glob("*/*/run.json")
    told = json.loads(spec.read_text())
    told["parameters"]["base_url"] = elsewhere.base_url
    spec.write_text(json.dumps(told))
    capsys.readouterr()
    assert main([*words, "--resume", spec.parent.name]) == 2
    said = capsys.readouterr().err
    assert f"would send to {elsewhere.base_url}, which you have not confirmed" in said
    assert elsewhere.requests() == []
    main([*words, "--resume", spec.parent.name, "--base-url", elsewhere.base_url])
    assert elsewhere.requests(), "once this user has typed it, it is asked"


def test_embeddings_go_to_a_typed_address_only(tmp_path, server):
    from rexview.models.asking.model_cards import find_card
    from rexview.models.backend import AttemptFailed
    from rexview.models.endpoints.embeddings import Embeddings

    card = find_card(MODEL)
    model = Embeddings(MODEL, card, server.base_url)
    with pytest.raises(AttemptFailed, match="not confirmed"):
        model.vectors(["effusion"])
    assert server.requests() == []
    confirm_server_address(check_base_url(server.base_url))
    assert len(model.vectors(["effusion"])) == 1


def test_a_dry_run_confirms_nothing(tmp_path, server):
    folder = write_cases(tmp_path / "set", 1)
    words = ["run", str(folder), "--model", MODEL, "--base-url", server.base_url, "--dry-run"]
    assert main(words) == 0
    assert not is_confirmed_server(check_base_url(server.base_url))


def test_what_is_confirmed_is_this_address_alone(tmp_path):
    assert is_confirmed_server(check_base_url(None))
    assert not is_confirmed_server(check_base_url("http://api.openai.com/v1"))
    address = check_base_url("https://models.example/a/v1/")
    assert not is_confirmed_server(address)
    confirm_server_address(address)
    confirm_server_address(address)
    assert is_confirmed_server(check_base_url("https://models.example/a/v1"))
    for other in ("http://models.example/a/v1", "https://models.example/b/v1"):
        assert not is_confirmed_server(check_base_url(other))
    assert not is_confirmed_server(check_base_url("https://models.example:8443/a/v1"))
    file = Path(platformdirs.user_data_dir("rexview"), "model-servers.txt")
    assert file.read_text() == "https://models.example/a/v1\n"
    assert file.stat().st_mode & 0o077 == 0
