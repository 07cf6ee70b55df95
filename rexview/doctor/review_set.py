"""Whether the review set is there and can be read."""

from __future__ import annotations

from collections.abc import Iterator

from rexview.addresses import address_of_set, shown_set
from rexview.doctor.finding import Known, Said, note, ok, wrong
from rexview.vocab import counted


def look_at_set(known: Known) -> Iterator[Said]:
    """Read the review set as ``check`` does; nothing of it is kept."""
    folder = known.settings.review_set
    about, check = "set", f"Run: python -m rexview check {shown_set(folder)}"
    try:
        if address_of_set(folder) is not None:  # to read it is to copy its tables to this disk
            known.opened.set_result(None)
            yield note(about, "It lies elsewhere and was not read; see storage.", check)
            return
        from rexview.reviewset import checked

        review_set, problems = checked(folder)
        errors = sum(problem.severity == "error" for problem in problems)
        told = counted(errors, "error"), counted(len(problems) - errors, "warning")
        cases = review_set.cases.height if review_set else 0
        known.opened.set_result(review_set)
        if errors:
            yield wrong(about, f"{told[0]}, {told[1]}; it cannot be opened.", check)
        elif cases == 0:
            yield note(about, "It has no cases.", "Import some: docs/importing.md.")
        elif problems:
            yield note(about, f"{counted(cases, 'case')}, {told[1]}", check)
        else:
            yield ok(about, f"{counted(cases, 'case')}, no problems")
        if known.settings.database_url and review_set and not review_set.info.id:
            yield note(
                "id",
                "It has none: reviews in the database go by the path of the set's folder.",
                "Give it an id in reviewset.yaml before anybody scores.",
            )
    finally:
        if not known.opened.done():
            known.opened.set_result(None)
