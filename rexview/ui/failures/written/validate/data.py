"""What the page shows of one answer of the sample: nothing of what the judge said."""

from __future__ import annotations

from typing import Any

from rexview.judge.written import name_of
from rexview.ui.answers import html as answers_html
from rexview.ui.html.safe_text import inline_html, markdown_html
from rexview.ui.written.round import WrittenRound, own_json


def item_json(now: WrittenRound, item: str) -> dict[str, Any]:
    """Return one item for the person's pad: the answer as the judge was given it."""
    position, subject = now.position(item), now.subject(item)
    given = now.review_set.case(subject.about.case)
    report = answers_html.report_sections_html(given.report) if given else ""
    told = answers_html.request_html(given) if given else ""
    return {
        "case": item,
        "place": position.number,
        "previous": position.before,
        "next": position.after,
        "own": own_json(now, item),
        "report": {"state": "shown", "html": told + report, "always": True},
        "content": {
            "question": f"<p>{inline_html(subject.case.question)}</p>",
            "options": list(subject.case.options),
            "answer": markdown_html(subject.text),
        },
    }


def round_json(now: WrittenRound) -> dict[str, str]:
    """Return what names the round in entries."""
    return {
        "failure": name_of(now.found.prompt),
        "version": now.found.version,
        "judge": now.found.judge,
    }
