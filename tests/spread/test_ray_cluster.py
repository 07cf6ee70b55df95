"""A real Ray with two workers: the same outcome as on one machine, whoever is killed meanwhile."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support import ROOT
from support.models.tiny_model import make_tiny_model
from support.reports.compared_reports import write_reports
from support.reports.metric_packages import standing_in, write_packages
from support.review_folder import named, write_review_set
from support.spread.added_machine import added, others_at_work
from support.spread.fragile import Fragile
from support.spread.own_ray import OwnRay, begun, of_another_version

from rexview.child_process import ProcessUnusable
from rexview.cli import main
from rexview.detect import DETECTORS, iterate_flag_rows
from rexview.detect.scan import kept_scan
from rexview.detect.scan.background_scan import BackgroundScan
from rexview.detect.scan.detector_process import detector_job
from rexview.detect.scan.scan import scan
from rexview.disk_cache import FileCache
from rexview.errors import ClusterError
from rexview.harm import load_harm
from rexview.metrics.blocking_computation import compute_external_values, compute_own_values
from rexview.metrics.blocking_computation import find_metric as metric_named
from rexview.metrics.reference_pairs import pair_with_references
from rexview.models.backend import Card, ModelRequest, Parameters, Reply
from rexview.models.local.spread_model import DistributedModel
from rexview.reviewset import load_review_set
from rexview.schema import ReviewSet
from rexview.spread import ray_actors, ray_cluster
from rexview.spread.workers import LocalProcesses, WorkerJob

pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")
_LONG = 300.0
_PIECE = 100
"""Answers of a piece on disk, so that a small set has several."""


@pytest.fixture(scope="module", name="packages")
def packages_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(write_packages(tmp_path_factory.mktemp("packages")))
    shutil.rmtree(folder / "torch")  # the real one is asked, too
    return folder


@pytest.fixture(scope="module", name="own")
def own_fixture(packages: Path) -> Iterator[OwnRay]:
    with begun(2, ROOT / "tests", packages) as own:
        yield own


@pytest.fixture(scope="module", name="cluster")
def cluster_fixture(own: OwnRay) -> Iterator[Any]:
    from rexview.spread.ray_cluster import RayCluster

    with RayCluster(own.address, 2) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_scan, "_FIRST", _PIECE)


def write_texts(folder: Path, texts: list[str]) -> Path:
    cases = [
        {"id": f"c{n}", "question": "What?", "report": {"findings": "No effusion."}}
        for n in range(len(texts))
    ]
    answers = [
        {"case": f"c{n}", "model": "m", "text": text, "finish_reason": "stop"}
        for n, text in enumerate(texts)
    ]
    info = {"name": "Texts", "models": named(m="Model")}
    return Path(write_review_set(folder, info=info, cases=cases, answers=answers))


def texts(number: int, **at: str) -> list[str]:
    plain = [f"Small left effusion of {n} mm." for n in range(number)]
    for place, word in at.items():
        plain[int(place[1:])] += f" {word}"
    return plain


def scanned(review_set: ReviewSet, detectors: Any, folder: Path, spread: Any) -> BackgroundScan:
    keep = FileCache(folder, 10**9, ".rxf")
    background = BackgroundScan(review_set, detectors, keep=keep, spread=spread)
    background.start()
    try:
        assert background.wait(_LONG)
    finally:
        background.close()
    assert background.progress.state == "finished", background.progress
    return background


def kept(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def numbers_in(folder: Path) -> list[int]:
    parts = [pl.read_parquet(path) for path in folder.rglob("answers.parquet")]
    return [n for part in parts if "number" in part.columns for n in part["number"]]


def test_a_worker_that_is_killed_costs_nothing(
    cluster: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    review_set = load_review_set(
        write_texts(tmp_path / "set", texts(450, n300="once", n400="raise"))
    )
    detectors = (Fragile(str(tmp_path / "killed")), *DETECTORS)
    found = scanned(review_set, detectors, tmp_path / "ray", cluster)
    assert (tmp_path / "killed").exists(), "a worker was killed in the middle of a batch"
    state = found.scan.state.tolist()
    assert [place for place, one in enumerate(state) if one != 1] == [400]
    assert state[400] == 2
    assert sorted(numbers_in(tmp_path / "ray")) == list(range(450)), "nothing lost, nothing twice"
    assert "token_limit fails on answer number 400: ValueError" in caplog.text
    assert "effusion" not in caplog.text
    scanned(review_set, detectors, tmp_path / "local", LocalProcesses(2))
    assert kept(tmp_path / "ray") == kept(tmp_path / "local"), "the same Parquet, byte for byte"
    assert len(list((tmp_path / "ray").rglob("flags.parquet"))) > 3


def test_an_answer_that_kills_every_worker_is_found_and_given_up(
    cluster: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    review_set = load_review_set(write_texts(tmp_path / "set", texts(129, n128="die")))
    found = scanned(review_set, (Fragile(), *DETECTORS), tmp_path / "ray", cluster.with_workers(1))
    assert found.scan.state.tolist() == [1] * 128 + [2]
    assert found.progress.failed == 1
    assert "A process died over answer number [128]." in caplog.text


_DRIVER = """
import os, signal, sys
from rexview.detect.scan import kept_scan
kept_scan._FIRST = int(sys.argv[1])
if sys.argv[2] == "killed":
    flush = kept_scan.KeptScan.flush
    def killed(self):
        flush(self)
        if self._written == 2:
            os.kill(os.getpid(), signal.SIGKILL)
    kept_scan.KeptScan.flush = killed
from rexview.cli import main
sys.exit(main(sys.argv[3:]))
"""


def test_the_command_goes_on_where_it_was_killed(
    own: OwnRay, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    folder = write_texts(tmp_path / "set", texts(350))
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    assert main(["failures", str(folder), "--keep", "--json"]) == 0
    expected = json.loads(capfd.readouterr().out)
    (folder / "failures.kept").rename(tmp_path / "local")
    where = ("--engine", "ray", "--address", own.address, "--workers", "9")
    asked = ("failures", str(folder), "--keep", "--json", *where)

    def run(how: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", _DRIVER, str(_PIECE), how, *asked],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=_LONG,
            check=False,
        )

    assert run("killed").returncode == -signal.SIGKILL
    before = numbers_in(folder / "failures.kept")
    assert before
    assert len(before) < 350
    ended = run("to its end")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout) == expected != [], "and nothing of Ray stands there"
    assert "The cluster has 2 processors: so many workers, not 9." in ended.stderr
    assert kept(folder / "failures.kept") == kept(tmp_path / "local")


def test_a_machine_that_is_lost_costs_nothing(
    own: OwnRay, cluster: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (machines := tmp_path / "machines").mkdir()
    said = [*texts(200), *(f"{text} lost" for text in texts(450)[200:])]
    review_set = load_review_set(write_texts(tmp_path / "set", said))
    detectors = (Fragile(machines=str(machines)), *DETECTORS)
    keep, ray = FileCache(tmp_path / "kept", 10**9, ".rxf"), cluster._ray

    with others_at_work(ray, 2):
        only = BackgroundScan(review_set, detectors, keep=keep, spread=cluster.with_workers(1))
        only.start()
        for _ in range(2):
            with added(ray, own.address, machines):
                while any(machines.iterdir()):
                    assert not only.wait(0.1), "it ends only after its machine"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ray_actors, "_ROOM_S", 1.0)
            assert only.wait(_LONG)
        only.close()
    assert only.progress.message == ray_actors._NO_ROOM
    assert only._deaths == 0, "two machines were lost over the same answers, which are not blamed"
    before = numbers_in(tmp_path / "kept")
    assert before
    assert max(before) < 200

    with added(ray, own.address, machines):
        found = scanned(review_set, detectors, tmp_path / "kept", cluster.with_workers(3))
    assert not any(machines.iterdir()), "another was lost in the middle"
    assert found.scan.state.tolist() == [1] * 450
    assert sorted(numbers_in(tmp_path / "kept")) == list(range(450)), "nothing lost, nothing twice"
    assert "died" not in caplog.text
    here = scan(review_set, detectors)
    assert list(iterate_flag_rows(found.scan)) == list(iterate_flag_rows(here)) != []


def test_our_own_ray_listens_on_loopback_only(own: OwnRay) -> None:
    pids = {int(path.name) for path in Path("/proc").glob("[0-9]*") if _is_of(path, own)}
    assert len(pids) > 3
    inodes = {
        str(entry.readlink())
        for pid in pids
        for entry in Path(f"/proc/{pid}/fd").glob("*")
        if entry.is_symlink()
    }
    heard = []
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            parts = line.split()
            if parts[3] == "0A" and f"socket:[{parts[9]}]" in inodes:
                heard.append(parts[1].partition(":")[0])
    loopback = {"0100007F", "0" * 16 + "FFFF00000100007F", "0" * 24 + "01000000"}
    assert heard
    assert set(heard) <= loopback


def _is_of(process: Path, own: OwnRay) -> bool:
    try:
        environment = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
    except OSError:
        return False
    return str(own.folder).encode() in environment


def test_a_worker_with_other_rules_is_refused(cluster: Any) -> None:
    job = detector_job(DETECTORS)
    other = WorkerJob(job.begin, job.first, lambda: "other rules", job.purpose)
    with pytest.raises(ProcessUnusable, match="runs another rexview") as refused:
        cluster.worker(other).ask(None)
    assert "install the same on every machine" in str(refused.value)


def test_a_worker_without_a_package_is_refused(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "only_here.py").write_text("def begin(first):\n    return 1, first\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import only_here  # type: ignore[import-not-found]

    with pytest.raises(ProcessUnusable, match="has not the package only_here: install"):
        cluster.worker(WorkerJob(only_here.begin, None, lambda: 1, "")).ask(None)


@pytest.fixture(name="stand_ins")
def stand_ins_fixture(packages: Path) -> Iterator[Path]:
    with standing_in(packages) as folder:
        yield folder


@pytest.mark.usefixtures("stand_ins")
def test_metrics_are_those_of_one_machine(cluster: Any, tmp_path: Path) -> None:
    review_set = load_review_set(write_reports(tmp_path / "set"))
    pairs, harm = pair_with_references(review_set, "findings", ("a", "b")), load_harm(None)
    given = ("finding_agreement", pairs, harm, "findings")
    found = compute_own_values(*given, spread=cluster)
    assert found == compute_own_values(*given)
    assert found.values
    radcliq = metric_named("radcliq")
    assert not isinstance(radcliq, str)
    of_all = [(pairs, "findings")]
    spread_out = compute_external_values(radcliq, of_all, download=False, spread=cluster)
    assert spread_out == compute_external_values(radcliq, of_all, download=False)
    assert [one.n for one in spread_out] == [3, 1], "what belongs together is worked out together"
    failing = metric_named("radgraph_radcliq")
    assert not isinstance(failing, str)
    with pytest.raises(Exception, match="radeval failed on radgraph_radcliq"):
        compute_external_values(failing, of_all, download=False, spread=cluster)


def test_a_model_is_held_by_a_worker(cluster: Any, tmp_path: Path) -> None:
    for package in ("torch", "transformers"):
        pytest.importorskip(package)
    from rexview.models.local.local_model import LocalModel

    model = make_tiny_model(tmp_path / "gemma-3-tiny")
    parameters = Parameters(str(model), "transformers", max_output_tokens=8)
    card = Card(("tiny",), images=2)
    requests = [
        ModelRequest(f"c{n}", 1, "", (f"Question {n}?",), parameters, "p", "0") for n in (1, 2)
    ]
    here = LocalModel(parameters, card, 2)
    expected = here.ask(requests)
    # another worker would import torch once more
    held = DistributedModel(parameters, card, 2, cluster.with_workers(1))
    try:
        (needs,) = held.prepare()
        assert needs.batch == 2
        came = held.ask(requests)
    finally:
        held.close()
        here.close()
    assert [str(one) for one in came if not isinstance(one, Reply)] == []
    assert [one.text for one in came] == [one.text for one in expected]
    assert [one.usage for one in came] == [one.usage for one in expected]


def test_what_cannot_be_used_is_told_in_a_sentence(
    own: OwnRay, tmp_path: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_NUM_REDIS_GET_RETRIES", "2")  # Ray would ask 20 times with that token
    folder = write_texts(tmp_path / "set", texts(1))

    def told(address: str) -> str:
        assert main(["failures", str(folder), "--engine", "ray", "--address", address]) == 1
        came = capfd.readouterr()
        assert came.out == ""
        assert "Traceback" not in came.err
        return str(came.err)

    assert "Ray's client (ray://) is not supported" in told("ray://somewhere:10001")
    assert "give HOST:PORT" in told("somewhere")
    with socket.create_server(("127.0.0.1", 0)) as mute, pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            ray_cluster, "_LIMIT_S", 4.0
        )  # it listens, never answers, and Ray goes on asking
        address = f"127.0.0.1:{mute.getsockname()[1]}"
        away = f"the Ray cluster at {address} cannot be reached from here"
        assert away in told(address)
    assert away in told(address)
    monkeypatch.setenv("RAY_AUTH_TOKEN", "f" * 64)
    assert "wants another token" in told(own.address)
    monkeypatch.delenv("RAY_AUTH_TOKEN")
    monkeypatch.delenv("RAY_AUTH_MODE")
    assert "wants another token" in told(own.address)


def test_a_cluster_of_another_version_is_told_in_a_sentence(own: OwnRay, cluster: Any) -> None:
    with (
        of_another_version(cluster),
        pytest.raises(ClusterError, match=r"was started with other versions than Ray \d"),
    ):
        ray_cluster.check_cluster(own.address)
    ray_cluster.check_cluster(own.address)
