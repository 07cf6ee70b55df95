"""The bench of storage elsewhere, on a film that takes no time."""

from bench import remote


def test_both_kinds_of_storage_are_measured_beside_this_disk(s3_server, archive):
    measured = remote.run(side=96, rounds=1)
    assert [row.what.rpartition(", ")[2] for row in measured.rows] == ["S3"] * 2 + ["DICOMweb"] * 2
    for row in measured.rows:
        assert row.ours > 0
        assert row.alternative > 0
