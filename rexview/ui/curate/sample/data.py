"""What the page shows of the sampled questions of one study, and of what experts found so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rexview.analysis.published.rexvqa import EXPERTS_READ, expert_defects
from rexview.curation.choice.sample import DefectShare, SampleResult
from rexview.curation.choice.validation import CHECKS, verdict_of
from rexview.store.merged_set import EXPERT
from rexview.ui.answers import html as answers_html
from rexview.ui.curate.sample.round import SampleRound
from rexview.ui.saving.curation_entries import written_json
from rexview.vocab import CATEGORY_NAMES, QUESTION_DEFECTS
from rexview.words import tr

_SAYS: Final = {True: tr("passed"), False: tr("failed"), None: tr("not told")}


def item_json(now: SampleRound, case_id: str) -> dict[str, Any]:
    """Return one study with its sampled questions, for the person's pad."""
    case, position = now.review_set.case(case_id), now.position(case_id)
    told = answers_html.request_html(case) if case else ""
    report = told + answers_html.report_sections_html(case.report) if case else ""
    return {
        "case": case_id,
        "place": position.number or "–",
        "previous": position.before,
        "next": position.after,
        "own": written_json(now.state, now.person, case_id),
        "report": {"state": "shown", "html": report, "always": True},
        "content": {"questions": [_question(now, row) for row in now.rows(case_id)]},
    }


def _question(now: SampleRound, row: Mapping[str, Any]) -> dict[str, Any]:
    rows = now.checks(row["case"], row["candidate"])
    own = next((one for one in rows if one["check"] == EXPERT), None)
    checks = [one for one in rows if one["check"] != EXPERT]
    given = {name: own[name] for name in ("passed", "defect", "comment")} if own else None
    return {
        "id": row["candidate"],
        "question": row["question"],
        "options": list(row["options"] or ()),
        "correct": row["correct"],
        "explanation": row["explanation"] or "",
        "statement": row["statement"] or "",
        "facts": [
            fact
            for fact in (CATEGORY_NAMES.get(row["category"], row["category"]), row["difficulty"])
            if fact
        ],
        "by": row["by"],
        "given": {"validate": given},
        "checks": [_check(one) for one in checks if one["passed"] is not True],
        "passed": sum(one["passed"] is True for one in checks),
        "untold": [CHECKS[one] for one in verdict_of(row["case"], row["candidate"], checks).untold],
    }


def _check(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": CHECKS.get(row["check"], row["check"]),
        "says": _SAYS[row["passed"]],
        "failed": row["passed"] is False,
        "reason": row["comment"] or "",
        "by": tr("rules") if row["source"] == "rule" else row["by"],
    }


def words_json() -> dict[str, Any]:
    """Return the defects by their words, in the order of their keys."""
    return {"defects": dict(QUESTION_DEFECTS)}


def shares_json(result: SampleResult) -> dict[str, Any]:
    """Return the share of each defect with its interval, beside what the paper's experts found."""
    return {
        "sample": len(result.sample),
        "of": result.of,
        "read": len(result.read),
        "unsure": result.unsure,
        "paper": tr("ReXVQA, first {n}").format(n=EXPERTS_READ),
        "rows": _rows(result.defects),
    }


def _rows(shares: Sequence[DefectShare]) -> list[dict[str, str]]:
    return [
        {
            "name": tr("Any defect") if one.defect is None else QUESTION_DEFECTS[one.defect],
            "found": tr("{found} of {read}").format(found=one.found, read=one.read),
            "share": _percent(one),
            "paper": expert_defects().get(one.defect or "", "–"),
        }
        for one in shares
    ]


def _percent(one: DefectShare) -> str:
    low, high = one.interval.low, one.interval.high
    if one.share is None or low is None or high is None:
        return "–"
    return tr("{share:.1%} ({low:.1%} to {high:.1%})").format(share=one.share, low=low, high=high)
