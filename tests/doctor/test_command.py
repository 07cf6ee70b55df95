"""The whole command as it is typed: what it says, how it ends, and that it leaves nothing."""

import json
import os
import shutil
import socket
import subprocess
import sys
from functools import partial
from threading import Thread

import pytest
from support import ROOT
from support.small_set import write_set

SECRETS = ("Pa55-of-a-test", "k" * 40, "client-secret-of-a-test")
SIGN_IN = f"""[auth]
redirect_uri = "https://other.example.org/oauth2callback"
cookie_secret = "{SECRETS[1]}"
client_id = "rexview"
client_secret = "{SECRETS[2]}"
server_metadata_url = "https://login.example.org/.well-known/openid-configuration"
"""
SETTINGS = """public_address: https://review.example.org
people:
- {email: lea@clinic.example, name: Lea Lindgren, role: lead}
"""


@pytest.fixture(scope="module")
def broken_torch(tmp_path_factory):
    """A folder with a torch that cannot be loaded, which takes more time than all the rest."""
    folder = tmp_path_factory.mktemp("packages")
    (folder / "torch.py").write_text("raise ImportError")
    return folder


@pytest.fixture
def doctor(tmp_path, broken_torch):
    """Return a function that runs the command in a folder of its own, by default without torch."""
    place = tmp_path / "started-here"
    place.mkdir()

    def doctor(*words, torch=False, **environment):
        kept = {key: value for key, value in os.environ.items() if not key.startswith("REXVIEW_")}
        places = [ROOT] if torch else [broken_torch, ROOT]
        own = {"PYTHONPATH": os.pathsep.join(map(str, places))}
        own |= {"XDG_DATA_HOME": str(tmp_path / "data")}
        own |= {"REXVIEW_CACHE": str(tmp_path / "cache"), "HOME": str(tmp_path)}
        command = [sys.executable, "-m", "rexview", "doctor", *words]
        return subprocess.run(
            command,
            cwd=place,
            env=kept | own | environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    doctor.place = place
    return doctor


def test_where_nothing_is_wrong_it_ends_well_and_leaves_nothing(doctor, tmp_path):
    done = doctor("--started-with=--server.port=8749", torch=True, REXVIEW_GAP="1.5")
    assert (done.returncode, done.stderr) == (0, "")
    *lines, counts = done.stdout.splitlines()
    assert counts.endswith(", 0 wrong")
    assert any(
        line.startswith("ok") and "gap_threshold: 1.5 (REXVIEW_GAP)" in line for line in lines
    )
    assert any("localhost, port 8749" in line for line in lines)
    assert {path.name for path in tmp_path.iterdir()} == {"started-here"}
    assert list(doctor.place.iterdir()) == []


@pytest.mark.parametrize(("address", "state"), [("http://localhost:8501", "note"), ("", "wrong")])
def test_a_container_for_this_computer_needs_no_sign_in(doctor, address, state):
    public = {"REXVIEW_PUBLIC_ADDRESS": address} if address else {}
    done = doctor("--json", "--started-with=--server.address=0.0.0.0", **public)
    assert done.returncode == (state == "wrong")
    found = json.loads(done.stdout)["findings"]
    [sign_in] = [one for one in found if one["part"] == "sign-in"]
    assert sign_in["state"] == state
    assert sign_in["remedy"]


def test_a_python_without_packages_is_told_and_another_that_has_them(tmp_path):
    shutil.copytree(ROOT / "rexview", tmp_path / "rexview")
    bare = [sys.executable, "-S", "-m", "rexview", "doctor"]  # -S: no site-packages
    run = partial(subprocess.run, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert "-m pip install -r requirements.txt" in run(bare).stderr
    own = tmp_path / ".venv" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.touch()
    done = run(bare)
    assert done.returncode == 1
    assert f"Run: {own} -m rexview" in done.stderr


def test_a_teams_faults_are_told_without_its_secrets(doctor, tmp_path):
    """A stopped database with a password in its address, a sign-in that leads elsewhere."""
    (doctor.place / "rexview.yaml").write_text(SETTINGS)
    (tmp_path / "sign-in.toml").write_text(SIGN_IN)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        url = f"postgresql://rexview:{SECRETS[0]}@127.0.0.1:{taken.getsockname()[1]}/reviews"
        folder = write_set(tmp_path / "set")
        options = f"--secrets.files={tmp_path / 'sign-in.toml'} --server.baseUrlPath review"
        words = (str(folder), "--json", "--started-with", options)
        done = doctor(*words, REXVIEW_DATABASE_URL=url, REXVIEW_SECRET="short")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert told["nothing_wrong"] is False
    found = {(one["part"], one["about"]): one for one in told["findings"]}
    assert "Nothing answers" in found["reviews", "database"]["said"]
    assert found["settings", "database_url"]["said"] == "set (REXVIEW_DATABASE_URL)"
    assert str(doctor.place / "rexview.yaml") in found["settings", "public_address"]["said"]
    assert found["sign-in", "secrets.toml"]["state"] == "ok"
    assert "/review/oauth2callback" in found["sign-in", "redirect_uri"]["said"]
    assert found["sign-in", "people"]["said"] == "1 listed"
    assert found["sign-in", "secret"]["state"] == "note"
    assert found["review set", "id"]["state"] == "note"
    assert all(one["remedy"] for one in told["findings"] if one["state"] == "wrong")
    for secret in (*SECRETS, "Lindgren", "lea@clinic"):
        assert secret not in done.stdout + done.stderr


def test_it_ends_although_something_hangs(doctor):
    """A port that takes connections and never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        held = []
        Thread(target=_take_all, args=(silent, held), daemon=True).start()
        engine = f"clickhouse://rexview@127.0.0.1:{silent.getsockname()[1]}/rexview"
        done = doctor("--limit", "12", REXVIEW_ENGINE=engine)
    assert done.returncode == 1
    assert "wrong  engine      engine: It did not answer within 12 s." in done.stdout


def _take_all(server, held):
    try:
        while True:
            held.append(server.accept())
    except OSError:
        return


def test_settings_that_cannot_be_used_are_told_each(doctor):
    done = doctor(REXVIEW_GAP="9", REXVIEW_DATABASE_URL="mysql://me:Pa55-of-a-test@host/x")
    assert done.returncode == 1
    wrong = [line for line in done.stdout.splitlines() if line.startswith("wrong")]
    assert len(wrong) == 2
    assert "REXVIEW_GAP" in wrong[1] or "REXVIEW_GAP" in wrong[0]
    assert "Pa55" not in done.stdout + done.stderr
