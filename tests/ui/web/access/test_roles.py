"""Roles are read again when the settings file changes; what cannot be used changes nothing."""

import os

import pytest

from rexview.settings import load_settings
from rexview.ui.web.access import sign_in
from rexview.ui.web.access.sign_in import Roles, RolesFile

TEAM = """\
people:
- {email: lea@clinic.example, role: lead}
- {email: anna@clinic.example, role: reader}
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(sign_in, "CHECK_INTERVAL_S", 0)
    file = tmp_path / "rexview.yaml"
    write(file, TEAM)
    return file


@pytest.fixture
def read(file):
    def read():
        return load_settings((), {}, file)

    return RolesFile(file, Roles.of(read()), read)


def write(file, text):
    """Write a file as it stands a minute later: what was written just now may not be whole."""
    file.write_text(text, encoding="utf-8")
    settled = file.stat().st_mtime - 60
    os.utime(file, (settled, settled))


def who(read):
    return {one.email.partition("@")[0]: one.person.role for one in read.now().people}


def test_a_change_is_in_force_without_a_restart(file, read):
    assert who(read) == {"lea": "lead", "anna": "reader"}
    write(file, TEAM.replace("reader", "adjudicator") + "default_role: viewer\n")
    assert who(read) == {"lea": "lead", "anna": "adjudicator"}
    assert read.now().default_role == "viewer"
    write(file, TEAM.splitlines()[0] + "\n" + TEAM.splitlines()[1] + "\nsign_in_hours: 1\n")
    assert who(read) == {"lea": "lead"}
    assert (read.now().default_role, read.now().sign_in_hours) == (None, 1)
    assert read.problem == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("people: [", "cannot be read"),
        (TEAM.replace("reader", "raeder"), "no role"),
        ("", "no longer names anyone"),
        ("review_set: x\n", "no longer names anyone"),
    ],
)
def test_a_file_that_cannot_be_used_leaves_roles_as_they_were(file, read, text, said, caplog):
    write(file, text)
    assert who(read) == {"lea": "lead", "anna": "reader"}
    assert said in read.problem
    assert "Roles are as they were before" in read.problem
    assert "clinic.example" not in caplog.text
    assert "Roles stay as they were" in caplog.text
    write(file, TEAM.replace("reader", "viewer"))
    assert who(read) == {"lea": "lead", "anna": "viewer"}
    assert read.problem == ""


def test_a_file_that_is_gone_leaves_roles_as_they_were(file, read):
    file.unlink()
    assert who(read) == {"lea": "lead", "anna": "reader"}
    assert "rexview.yaml is missing" in read.problem


def test_a_file_that_is_being_written_is_waited_for(file, read, monkeypatch):
    monkeypatch.setattr(sign_in, "_SETTLED_S", 3600)
    file.write_text(TEAM.splitlines()[0] + "\n" + TEAM.splitlines()[1] + "\n", encoding="utf-8")
    assert who(read) == {"lea": "lead", "anna": "reader"}
    monkeypatch.setattr(sign_in, "_SETTLED_S", 0)
    assert who(read) == {"lea": "lead"}
