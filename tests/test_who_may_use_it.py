import pytest
from support.rows import each_row

from rexview.errors import NotAdmitted, SettingsError
from rexview.people import ROLES, Member, Person, admit_sign_in, read_members, single_user
from rexview.settings import load_settings
from rexview.store import ENTRY_KINDS, may_write_kind

NOW = 1_000_000.0
ANNA = Member("anna@clinic.example", Person("anna@clinic.example", "Anna", "reader"))
CLAIMS = {"email": "anna@clinic.example", "iat": NOW - 60, "name": "A. N. Other"}


def come(members=(ANNA,), default=None, hours=12, **claims):
    return admit_sign_in({**CLAIMS, **claims}, members, default, hours=hours, now=NOW)


def test_a_member_gets_the_name_and_role_of_the_settings():
    assert come() == ANNA.person
    assert come(email=" Anna@Clinic.Example ") == ANNA.person
    assert come(email_verified=True) == ANNA.person


@each_row(
    ("claims", "said", "again"),
    [
        ({"email": None}, "no e-mail", False),
        ({"email": "anna"}, "no e-mail", False),
        ({"email_verified": False}, "not been verified", False),
        ({"email_verified": "false"}, "not been verified", False),
        ({"email_verified": None}, "not been verified", False),
        ({"iat": None}, "when it was made", True),
        ({"iat": True}, "when it was made", True),
        ({"iat": "1"}, "when it was made", True),
        ({"iat": NOW - 12 * 3600 - 1}, "has ended", True),
        ({"iat": NOW + 3600}, "has ended", True),
        ({"email": "other@clinic.example"}, "no role here", False),
        ({"email": "anna@clinic.example.evil.example"}, "no role here", False),
    ],
)
def test_others_are_told_why_not(claims, said, again):
    with pytest.raises(NotAdmitted, match=said) as caught:
        come(**claims)
    assert caught.value.again is again


def test_others_who_sign_in_get_the_default_role_and_their_own_name():
    found = come(default="viewer", email="other@clinic.example")
    assert found == Person("other@clinic.example", "A. N. Other", "viewer")


def test_people_of_a_team_are_read():
    found = read_members(
        [
            {"email": "Anna@Clinic.example", "role": "reader", "name": " Anna  B ", "id": "r1"},
            {"email": "lea@clinic.example", "role": "lead"},
        ]
    )
    assert found == (
        Member("anna@clinic.example", Person("r1", "Anna B", "reader")),
        Member("lea@clinic.example", Person("lea@clinic.example", "lea@clinic.example", "lead")),
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("lea@clinic.example", "list of people"),
        (["lea@clinic.example"], "person 1"),
        ([{"email": "lea@clinic.example"}], "is no role"),
        ([{"email": "lea@clinic.example", "role": "boss"}], "'boss' is no role"),
        ([{"role": "lead"}], "no e-mail address"),
        ([{"email": "lea", "role": "lead"}], "no e-mail address"),
        ([{"email": "l@x.example", "role": "lead", "rank": 1}], "no rank"),
        ([{"email": "l@x.example", "role": "lead"}] * 2, "given twice"),
        (
            [
                {"email": "a@x.example", "role": "lead", "id": "r"},
                {"email": "b@x.example", "role": "reader", "id": "r"},
            ],
            "r is given twice",
        ),
    ],
)
def test_people_that_cannot_be_read_are_named(given, said):
    with pytest.raises(ValueError, match=said):
        read_members(given)


def test_people_come_from_the_file_or_the_environment(tmp_path):
    config = tmp_path / "rexview.yaml"
    config.write_text("people:\n- {email: lea@x.example, role: lead}\ndefault_role: viewer\n")
    settings = load_settings([], {}, config)
    assert [one.person.role for one in settings.people] == ["lead"]
    assert settings.default_role == "viewer"
    given = '[{"email": "anna@x.example", "role": "reader"}]'
    settings = load_settings([], {"REXVIEW_PEOPLE": given, "REXVIEW_DEFAULT_ROLE": "none"}, config)
    assert [one.email for one in settings.people] == ["anna@x.example"]
    assert settings.default_role is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("REXVIEW_PEOPLE", "a: ["),
        ("REXVIEW_PEOPLE", "lea@x.example"),
        ("REXVIEW_DEFAULT_ROLE", "everybody"),
        ("REXVIEW_SIGN_IN_HOURS", "0"),
        ("REXVIEW_SIGN_IN_HOURS", "nan"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(tmp_path, name, value):
    with pytest.raises(SettingsError, match=name):
        load_settings([], {name: value}, tmp_path / "none.yaml")


def test_who_works_alone_is_a_name():
    assert single_user("  Anna   Müller ") == Person("anna-müller", "Anna Müller", "lead")


@pytest.mark.parametrize("name", ["", "   ", "...", "a" * 81, "a\u202eb", "a\x00b"])
def test_names_that_cannot_stand_beside_a_score_are_refused(name):
    with pytest.raises(ValueError, match="Give a name"):
        single_user(name)


KINDS = {
    "score": {"reader", "lead"},
    "skip": {"reader", "lead"},
    "reveal": {"reader", "lead"},
    "done": {"reader", "lead"},
    "verdict": {"reader", "adjudicator", "lead"},
    "comment": {"reader", "adjudicator", "lead"},
    "resolve": {"reader", "adjudicator", "lead"},
    "adjudicate": {"adjudicator", "lead"},
    "assign": {"lead"},
    "anything else": set(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_who_may_write_what(kind):
    assert {role for role in ROLES if may_write_kind(Person("p", "P", role), kind)} == KINDS[kind]


def test_every_role_is_thought_of():
    may_write = frozenset[str]().union(*(kind.roles for kind in ENTRY_KINDS.values()))
    assert may_write == set(ROLES) - {"viewer"}
