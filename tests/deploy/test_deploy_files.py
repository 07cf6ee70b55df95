"""What the container file, the compose file and nginx.conf name is there, and fits together."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
import yaml
from support import ROOT

from rexview.settings import SETTING_SPECS, load_settings
from rexview.ui.web.server.page_work import READY
from rexview.ui.web.streamlit_adapter.served_routes import HEALTH

DEPLOY = ROOT / "deploy"
CONTAINER = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
COMPOSE_TEXT = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load(COMPOSE_TEXT)
NGINX = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
START = (DEPLOY / "start").read_text(encoding="utf-8")
SERVICES = COMPOSE["services"]
APPS = {name: one for name, one in SERVICES.items() if name.startswith("app-")}
VARIABLES = {spec.variable for spec in SETTING_SPECS}
FROM_FILES = set(re.search(r"for variable in (.*?); do", START, re.DOTALL)[1].split()) - {"\\"}
PORT = re.search(r"^EXPOSE (\d+)$", CONTAINER, re.MULTILINE)[1]


def load_locked():
    spec = importlib.util.spec_from_file_location("locked", DEPLOY / "locked.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_two_app_servers_differ_in_their_volumes_only():
    assert len(APPS) == 2
    first, second = ({**one, "volumes": None} for one in APPS.values())
    assert first == second


def test_files_and_folders_are_there_or_made_as_the_page_says():
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    build = next(iter(APPS.values()))["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).is_file()
    for service in SERVICES.values():
        for one in service.get("volumes", []):
            source = one["source"]
            if one["type"] == "volume":
                assert source in COMPOSE["volumes"]
            else:
                there = re.sub(r"^\$\{[A-Z_]+:-(.*)\}$", r"\1", source)
                assert there.startswith("./")
                assert (DEPLOY / there).exists(), source
        for secret in service.get("secrets", []):
            assert COMPOSE["secrets"][secret] == {"file": f"./secrets/{secret}"}
    for secret in COMPOSE["secrets"]:
        assert f"secrets/{secret}" in page
    for name in re.findall(r"^COPY (?!--from)(.+) \S+$", CONTAINER, re.MULTILINE):
        for path in set(name.split()) - {"."}:
            assert list(ROOT.glob(path)), path


def test_the_image_has_what_the_app_needs_and_nothing_else():
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    kept = [line[1:] for line in lines if line.startswith("!")]
    assert "*" in lines
    assert all(list(ROOT.glob(path)) for path in kept)
    assert {"app.py", "pages", "rexview", "assets", ".streamlit/config.toml", "deploy/start"} <= {
        *kept
    }
    assert not {"tests", ".git", ".streamlit", "deploy"} & {*kept}


def test_the_image_has_what_doctor_reads(tmp_path):
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    app = tmp_path / "app"
    for path in (path for line in lines if line[0] == "!" for path in ROOT.glob(line[1:])):
        place = app / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.name == "rexview":  # it looks for the others beside where it lies itself
            shutil.copytree(path, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            place.symlink_to(path)
    done = subprocess.run(
        [sys.executable, "-m", "rexview", "doctor", "--json"],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        cwd=app,
        capture_output=True,
        text=True,
        timeout=120,
    )
    found = json.loads(done.stdout)["findings"]
    assert [one for one in found if one["state"] == "wrong"] == []
    assert ("packages", "Python") in {(one["part"], one["about"]) for one in found}


def test_settings_that_are_given_are_settings_that_there_are():
    given = set(next(iter(APPS.values()))["environment"])
    given |= set(re.findall(r"\b(REXVIEW_[A-Z_]+)=", CONTAINER))
    files = {name.removesuffix("_FILE") for name in given if name.endswith("_FILE")}
    assert files <= FROM_FILES
    named = {name for name in given if name.startswith("REXVIEW_") and not name.endswith("_FILE")}
    assert named <= VARIABLES
    settings = {name for name in FROM_FILES if name.startswith("REXVIEW_")}
    read_elsewhere = {name for name in settings if name.endswith(("_PASSWORD", "_TOKEN"))}
    assert settings - read_elsewhere <= VARIABLES
    example = yaml.safe_load((DEPLOY / "settings/rexview.example.yaml").read_text("utf-8"))
    assert set(example) <= {spec.name for spec in SETTING_SPECS}
    config = DEPLOY / "settings" / "rexview.example.yaml"
    assert load_settings(environ={}, config=config).people


def test_variables_of_the_compose_file_stand_in_the_example_with_the_same_values():
    used = dict(re.findall(r"\$\{([A-Z_]+)(?::[-?]([^}]*))?\}", COMPOSE_TEXT))
    lines = (DEPLOY / ".env.example").read_text(encoding="utf-8").splitlines()
    example = dict(line.split("=", 1) for line in lines if line and line[0] != "#")
    assert set(example) | {"REXVIEW_IMAGE"} == set(used)
    for name in ("REXVIEW_MEMORY", "REXVIEW_HTTP", "REXVIEW_HTTPS", "REXVIEW_WITH"):
        assert example[name] == used[name]


def test_no_password_stands_in_a_file_that_is_kept():
    for path in [*DEPLOY.glob("*"), *DEPLOY.glob("settings/*")]:
        tracked = ["git", "ls-files", "--error-unmatch", path]
        if path.is_file() and not subprocess.run(tracked, cwd=ROOT, capture_output=True).returncode:
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"://[^/\s:@]+:[^/\s@]+@", text), path
            assert not re.search(r"(?i)\b(password|secret)[:=] *[^\s{]", text), path
    for folder in ("secrets", "sets"):
        ignored = (DEPLOY / folder / ".gitignore").read_text(encoding="utf-8").splitlines()
        assert ignored == ["*", "!.gitignore"]


def test_addresses_and_ports_are_those_that_answer():
    asks = (DEPLOY / "answers").read_text(encoding="utf-8")
    assert f'"http://localhost:{PORT}{{sys.argv[1]}}"' in asks
    assert f'CMD ["/app/deploy/answers", "{HEALTH}"]' in CONTAINER
    for app in APPS.values():
        assert app["healthcheck"]["test"] == ["CMD", "/app/deploy/answers", READY]
        assert app["read_only"]
        assert app["cap_drop"] == ["ALL"]
    assert f"STREAMLIT_SERVER_PORT={PORT}" in CONTAINER
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", CONTAINER, re.MULTILINE)
    behind = re.findall(r"[{;] (?:one|two) ([^\s;]+:\d+)", NGINX)
    assert len(behind) == 4
    assert set(behind) == {f"{name}:{PORT}" for name in APPS}
    published = {port.rsplit(":", 1)[1] for port in SERVICES["nginx"]["ports"]}
    assert published == set(re.findall(r"listen (\d+)", NGINX))
    assert [name for name, one in SERVICES.items() if "ports" in one] == ["nginx"]
    secrets = {path.rsplit("/", 1)[1] for path in re.findall(r"(/run/secrets/\S+?);", NGINX)}
    assert secrets == set(SERVICES["nginx"]["secrets"])
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert f"client_max_body_size {config['server']['maxUploadSize']}m;" in NGINX


def test_the_database_is_reached_by_the_app_servers_only():
    assert SERVICES["database"]["networks"] == ["data"]
    assert COMPOSE["networks"]["data"] == {"internal": True}
    assert [name for name, one in SERVICES.items() if "data" in one["networks"]] == [
        *APPS,
        "database",
    ]


def run_start(tmp_path, *command, **environment):
    return subprocess.run(
        ["sh", DEPLOY / "start", *command],
        env={"PATH": os.environ["PATH"], **environment},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_secrets_come_from_files(tmp_path):
    file = tmp_path / "one"
    file.write_text("of the file $HOME `id`\n")
    shown = ["sh", "-c", 'echo "$PGPASSWORD|${PGPASSWORD_FILE:-}"']
    done = run_start(tmp_path, *shown, PGPASSWORD_FILE=str(file), PGPASSWORD="older")
    assert (done.returncode, done.stdout) == (0, "of the file $HOME `id`|\n")


@pytest.mark.parametrize(("content", "said"), [(None, "cannot be read"), ("\n", "is empty")])
def test_a_secret_that_is_not_there_stops_the_start(tmp_path, content, said):
    file = tmp_path / "none"
    if content is not None:
        file.write_text(content)
    done = run_start(tmp_path, "true", REXVIEW_SECRET_FILE=str(file))
    assert done.returncode == 78
    assert said in done.stderr


@pytest.mark.parametrize("content", [None, "", "# [auth]\n", "[other]\n"])
@pytest.mark.parametrize("address", ["https://review.example.org", "http://localhost.evil.example"])
def test_where_others_come_nobody_gets_in_without_sign_in(tmp_path, content, address):
    file = tmp_path / "sign-in.toml"
    if content is not None:
        file.write_text(content)
    done = run_start(tmp_path, REXVIEW_PUBLIC_ADDRESS=address, REXVIEW_SIGN_IN_FILE=str(file))
    assert done.returncode == 78
    assert "everybody would be let in" in done.stderr


def test_packages_are_those_of_the_lock_with_all_their_digests():
    locked = load_locked()
    lock = (ROOT / "requirements-dev-all.lock").read_text(encoding="utf-8")
    entries = locked.locked(lock, {"streamlit", "numpy", "psycopg-binary"})
    assert [re.split("==", one)[0] for one in entries] == [
        "numpy",
        "numpy",
        "psycopg-binary",
        "streamlit",
    ]
    for entry in entries:
        assert entry in lock
        assert f"{entry}\n    --hash" not in lock
    with pytest.raises(SystemExit, match="no-such-package"):
        locked.locked(lock, {"numpy", "no-such-package"})


def test_optional_packages_that_are_named_have_their_file_and_stand_in_the_lock():
    optional = {
        path.stem.removeprefix("requirements-") for path in ROOT.glob("requirements-*.txt")
    } - {"dev", "dev-all"}
    example = (DEPLOY / ".env.example").read_text(encoding="utf-8")
    for text in (CONTAINER, example):
        listed = re.search(r"^# .*?: ((?:\w+, )+\w+)[;.]", text, re.MULTILINE)[1]
        assert set(listed.split(", ")) == optional
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:REXVIEW_)?WITH=(\w+)", page))
    assert named
    assert named <= optional
    module = load_locked()
    assert set(module._NOT_LOCKED) < optional
    lock = (ROOT / "requirements-dev-all.lock").read_text(encoding="utf-8")
    for name in optional - {*module._NOT_LOCKED}:
        lines = (ROOT / f"requirements-{name}.txt").read_text(encoding="utf-8").splitlines()
        wanted = {re.match(r"[\w-]+", line)[0] for line in lines if line and line[0] != "#"}
        assert wanted
        assert module.locked(lock, wanted)


def test_the_page_says_how_nginx_runs_without_compose():
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    command = re.search(r"^(sed -e .*?) deploy/nginx\.conf >", page, re.MULTILINE | re.DOTALL)[1]
    done = subprocess.run(
        ["sh", "-c", f"{command} deploy/nginx.conf"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    served = re.sub(r"#.*", "", done.stdout)
    for only_in_compose in ("app-1", "app-2", "resolver", "/run/secrets", "/dev/", "8443", "8080"):
        assert only_in_compose not in served
    assert served.count("10.0.0.11:8501") == served.count("10.0.0.12:8501") == 2
