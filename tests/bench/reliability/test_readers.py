"""Short runs of ``bench reliability``: real servers, readers through the real HTTP route."""

from random import Random

import pytest
from support.small_set import write_set

from bench.reliability import full, held, killed, many_readers, with_fault
from bench.reliability.audit import audit
from bench.reliability.damage import becoming_writable, renamed, set_edited
from bench.reliability.reader import FROM_PAGES, KINDS, Reader, readers
from bench.reliability.server import ScoreServer

WRONG = ("lost", "missing", "doubled", "strange", "altered", "disordered", "refused", "crashes")

SLOW = {
    "Others are writing to the reviews database; nothing was written.",
    "The server cannot be reached.",
}
"""What a reader may be told where the disk or the machine stands still for seconds: it was sent
again and kept."""


def assert_nothing_wrong(row):
    assert {name: row[name] for name in WRONG} == dict.fromkeys(WRONG, 0), row


def test_killed_servers_lose_nothing(tmp_path):
    row = killed(tmp_path / "run", 45, seed=5, longest_up_s=0.5)
    assert row["entries"] == 45
    assert min(row[kind] for kind in KINDS) >= 11
    assert row["kills"] >= 2
    assert_nothing_wrong(row)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_many_readers_at_once_are_all_kept(tmp_path, kind, request):
    address = None
    if kind == "postgresql":
        address = request.getfixturevalue("postgres_server").new_database("many_readers")
    row = many_readers(tmp_path / "run", 10, 8, address)
    assert row["entries"] == 80
    assert set(row["told"]) <= SLOW, row
    assert_nothing_wrong(row)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_comments_verdicts_and_decisions_of_eight_people_at_once_are_all_kept(
    tmp_path, kind, request
):
    address = None
    if kind == "postgresql":
        address = request.getfixturevalue("postgres_server").new_database("eight_people")
    row = many_readers(tmp_path / "run", 8, 9, address, kinds=FROM_PAGES)
    assert (row["comment"], row["verdict"], row["decide"]) == (24, 24, 24)
    assert_nothing_wrong(row)


def test_a_quota_that_is_used_up_is_told_and_outlived(tmp_path):
    row = with_fault(tmp_path / "run", "full", full, entries=5)
    assert row["kept"] == 5
    assert "Make room" in row["told"]
    assert_nothing_wrong(row)


def test_a_folder_that_takes_no_files_for_a_while_costs_no_score(tmp_path):
    row = becoming_writable(tmp_path / "run", 5)
    if "entries" not in row:
        pytest.skip(row["run"])
    assert row["entries"] == 15
    assert (row["vanished"], row["untold"]) == (0, 0)
    assert_nothing_wrong(row)


def test_a_renamed_folder_is_told_and_not_made_anew(tmp_path):
    row = with_fault(tmp_path / "run", "renamed", renamed, entries=5)
    assert row["kept"] == 5
    assert_nothing_wrong(row)


def test_what_a_server_did_that_was_given_up_is_not_done_twice(tmp_path):
    """The server takes a request and answers too late: the reader has sent it again by then."""
    (person,) = readers(1)
    with (
        ScoreServer(tmp_path, review_set=write_set(tmp_path / "set")) as server,
        Reader(server, person, Random(1)) as reader,
    ):
        reader.give()
        assert reader.wait_saved(60)
        reader.patience_s = 0.5
        with held(server, 0):
            for _ in range(5):
                reader.give()
            assert reader.wait(lambda _: len(reader.messages) >= 2, 30)
            assert reader.unsent == 5
            assert set(reader.messages) == {"The server cannot be reached."}
        reader.patience_s = 20
        assert reader.wait_saved(60)
        rows = server.entries()
        assert not audit(reader.given, reader.confirmed, rows)
        assert len(rows) == 6


def test_scores_of_a_pad_on_a_set_that_was_edited_go_under_no_other_model(tmp_path):
    row = set_edited(tmp_path / "run", 56)
    assert row["scores"] == 56
    assert row["wrong_model"] == 0
    assert 8 <= row["not_taken"] <= 48, "what was edited is refused, and only that"
    assert not any(row[name] for name in WRONG if name in row), row
