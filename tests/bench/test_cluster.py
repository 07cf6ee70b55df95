"""Ray beside our own processes is measured only where there is a Ray."""

from bench import cluster
from bench.measure import document


def test_without_ray_the_row_says_what_to_install(monkeypatch):
    monkeypatch.setattr(cluster, "missing", lambda name: f"{name} is not installed here")
    (row,) = document("cluster", cluster.run())["rows"]
    assert row["ours"] is None
    assert "ray" in row["note"]
