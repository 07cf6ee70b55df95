"""One check at a time, on real folders, packages, servers and storages."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib.metadata import version
from threading import Thread

import pytest
import uvicorn
from packaging.requirements import Requirement
from starlette.applications import Starlette
from support import ROOT
from support.opened_app import server_for
from support.review_folder import write_review_set
from support.small_disk import mounted
from support.small_set import CASES, write_set

from bench.serving import free_port
from rexview.addresses import parse_address
from rexview.cli import main
from rexview.doctor import server_checks
from rexview.doctor.examination import CHECKS, run_checks
from rexview.doctor.finding import CheckContext, ok_finding
from rexview.settings import Settings
from rexview.ui.web.app.routes import AppRoutes


def test_packages_are_those_of_the_requirements(look):
    found = look("packages")
    assert found["rexview"].state == "ok"
    files = {path.stem.removeprefix("requirements-") for path in ROOT.glob("requirements-*.txt")}
    assert files - {"dev", "dev-all"} <= set(found)
    assert {one.state for one in found.values()} <= {"ok", "note"}


def test_what_is_missing_or_of_another_version_is_told_with_the_remedy(tmp_path):
    file = tmp_path / "requirements-more.txt"
    polars = version("polars")
    file.write_text(f"# More of it.\n#   pip\nno-such-package>=1,<2\npolars!={polars}\n")
    assert list(server_checks.read_requirements(file)) == [
        Requirement("no-such-package>=1,<2"),
        Requirement(f"polars!={polars}"),
    ]
    missing = server_checks._optional(file)
    assert missing[1] == "note"
    assert "More of it: no-such-package not installed" in missing[2]
    assert missing[3].endswith("-m pip install -r requirements-more.txt")
    assert server_checks._check_requirements(file, "more")[1] == "wrong"
    file.write_text(f"# More.\npolars!={polars}\n")
    assert f"polars {polars}" in server_checks._check_requirements(file, "more")[2]


def test_the_image_has_no_pip_and_is_built_anew(tmp_path, monkeypatch):
    file = tmp_path / "requirements-more.txt"
    file.write_text("# More.\nno-such-package>=1\n")
    monkeypatch.setattr(server_checks, "find_spec", lambda name: None)
    *_, remedy = server_checks._optional(file)
    assert "WITH=more" in remedy
    assert "pip install" not in remedy


def test_folders_that_can_be_written_to_stay_as_they_are(look, folder, tmp_path):
    before = sorted(path for path in tmp_path.rglob("*"))
    found = look("folders", review_set=folder)
    assert {one.state for one in found.values()} <= {"ok", "note"}
    assert str(folder) in found["set"].said
    assert sorted(path for path in tmp_path.rglob("*")) == before


@contextmanager
def read_only(folder):
    if os.geteuid() == 0:  # may write everywhere but on a disk that takes nothing
        with mounted(folder, "1m,ro"):
            yield folder
    else:
        folder.mkdir(mode=0o500)
        yield folder


def test_a_read_only_folder_is_told(tmp_path, monkeypatch):
    with read_only(tmp_path / "disk") as disk:
        monkeypatch.setenv("XDG_DATA_HOME", str(disk / "data"))
        known = CheckContext(Settings(review_set=disk, cache_folder=disk / "cache"))
        found, ended = run_checks(known, 30, {"folders": CHECKS["folders"]})
    states = {one.about: one.state for one in found}
    assert ended
    assert states["cache"] == states["exports"] == states["data of users"] == "wrong"
    assert states["set"] == "note"


def test_a_disk_without_room_is_told(tmp_path):
    with mounted(tmp_path / "disk", "2m") as disk:
        known = CheckContext(Settings(cache_folder=disk / "cache"))
        found, _ = run_checks(known, 30, {"folders": CHECKS["folders"]})
    cache = next(one for one in found if one.about == "cache")
    assert (cache.state, cache.remedy) == ("wrong", "Make room on this disk.")


def test_a_set_is_read_as_check_reads_it(look, folder, tmp_path):
    assert "3 cases, 1 warning" in look("review set", review_set=folder)["set"].said
    wrong = write_set(tmp_path / "x", cases=[{**one, "question_type": "?"} for one in CASES])
    found = look("review set", review_set=wrong)["set"]
    assert found.state == "wrong"
    assert "3 errors" in found.said
    gone = look("review set", review_set=tmp_path / "gone")["set"]
    assert (gone.state, gone.said[:7]) == ("wrong", "1 error")
    assert not (tmp_path / "cache").exists()


@pytest.fixture(scope="module")
def clickhouse(tmp_path_factory):
    """The tables in a process of their own, since there is one chDB in a process."""
    pytest.importorskip("chdb")
    pytest.importorskip("clickhouse_connect")
    port = free_port()
    command = [sys.executable, "-m", "support.clickhouse.server", str(port)]
    paths = os.pathsep.join((str(ROOT), str(ROOT / "tests")))
    place = tmp_path_factory.mktemp("tables")
    with subprocess.Popen([*command, str(place)], env={**os.environ, "PYTHONPATH": paths}) as one:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert one.poll() is None
            time.sleep(0.1)
        yield f"clickhouse://default@127.0.0.1:{port}/rexview"
        one.terminate()


def test_tables_without_the_set_with_it_and_with_an_older_state(look, folder, clickhouse, capsys):
    unloaded = look("engine", review_set=folder, engine=clickhouse)
    (found,) = unloaded.values()
    assert found.state == "wrong"
    assert "load the set first" in found.said
    assert main(["load", str(folder), "--engine", clickhouse]) == 0
    capsys.readouterr()
    loaded = look("engine", review_set=folder, engine=clickhouse)["tables"]
    assert (loaded.state, loaded.said) == ("ok", "reached; the set is loaded: 3 cases, 3 answers")
    with (folder / "scores.csv").open("a") as file:
        file.write("c2,m,ra,process,4\n")
    assert look("engine", review_set=folder, engine=clickhouse)["tables"].state == "note"


def test_chdb_is_not_made_to_look_at_it(look, folder, tmp_path):
    found = look("engine", review_set=folder, engine=f"chdb://{tmp_path / 'tables'}")["tables"]
    assert found.state == "wrong"
    assert not (tmp_path / "tables").exists()


@contextmanager
def serving(app):
    """Serve an app at a port of this computer."""
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="critical", lifespan="off"))
    thread = Thread(target=asyncio.run, args=(server.serve(),), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


def test_a_running_server_is_asked(look, folder, tmp_path, monkeypatch):
    with server_for(folder, tmp_path, monkeypatch), serving(Starlette(routes=[AppRoutes()])) as at:
        found = look("server", ask=f"{at}/")
        assert found[f"{at}/rexview/ready"].state == "ok"
        assert found["the server's clock"].state == "ok"
        assert found["listens on"].state == "ok"
        other = look("server", ask=f"{at}/elsewhere")
        assert other[f"{at}/elsewhere/rexview/ready"].state == "wrong"
    assert look("server", ask=at)[f"{at}/rexview/ready"].said == "Nothing answers there."
    assert look("server", ask="nowhere")["server"].state == "wrong"


def pictures_at(base, folder, *, name="one.png"):
    case = {**CASES[0], "images": [{"id": "i", "path": f"{base}{name}", "view": "PA"}]}
    return write_review_set(folder, info={"name": "Elsewhere"}, cases=[case])


def test_storage_is_asked_for_one_picture_where_it_may_be(look, tmp_path, s3_server, monkeypatch):
    from bench.remote import S3_VARIABLES
    from rexview.remote import remote_pictures as fetching
    from rexview.remote import s3

    for key, value in {**S3_VARIABLES, "AWS_ENDPOINT_URL": s3_server.url}.items():
        monkeypatch.setenv(key, value)
    write_set(s3_server.folder / "doctors" / "set")
    given = {
        "there": pictures_at("s3://doctors/set/images/", tmp_path / "there"),
        "gone": pictures_at("s3://doctors/set/images/", tmp_path / "gone", name="none.png"),
    }
    s3._client.cache_clear()
    fetching._AWAY.clear()
    hosts = (parse_address("s3://doctors/"),)
    try:
        there = look("storage", review_set=given["there"], remote_hosts=hosts)["s3://doctors"]
        assert there.state == "ok"
        gone = look("storage", review_set=given["gone"], remote_hosts=hosts)["s3://doctors"]
        assert gone.state == "wrong"
        refused = look("storage", review_set=given["there"])["s3://doctors"]
        assert "remote_hosts" in refused.said
        own = look("storage", review_set=tmp_path / "remote-sets" / "s3%3A%2F%2Fdoctors%2Fset")
        assert own["s3://doctors"].said.startswith("reached")
    finally:
        s3._client().close()
        s3._client.cache_clear()
    assert not (tmp_path / "cache").exists()


def test_a_fault_of_ours_and_what_hangs_are_findings():
    def hangs(_known):
        yield ok_finding("first", "seen")
        time.sleep(600)

    def breaks(_known):
        raise ZeroDivisionError("of what a patient is called")
        yield

    found, ended = run_checks(CheckContext(Settings()), 0.5, {"slow": hangs, "broken": breaks})
    assert not ended
    assert [(one.part, one.state) for one in found] == [
        ("slow", "ok"),
        ("slow", "wrong"),
        ("broken", "wrong"),
    ]
    assert "patient" not in f"{found}"
