"""The bench of exports, on two cases."""

from bench import export_costs


def test_formats_with_films_are_timed_and_weighed():
    measured = export_costs.measure_films(cases=2, rounds=1)
    rows = {row.what: row for row in measured.rows}
    timed, weighed = rows["PowerPoint, 2 cases"], rows["PowerPoint, 2 cases, size"]
    assert (timed.unit, timed.goal) == ("s", "ours <= 20")
    assert timed.ours > 0
    assert timed.alternative > 0
    assert (weighed.unit, weighed.goal, weighed.met) == ("MB", "ours <= 60", True)
    assert "PDF, 2 cases, processor" in rows
