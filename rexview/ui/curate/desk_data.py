"""What the desk of the Curate page shows of one study, and what it counts over all."""

from __future__ import annotations

from typing import Any, Final

from rexview.analysis.curation import AlikeQuestion, CandidateView, CurationStudy
from rexview.curation.candidates import CandidateRating, Considered
from rexview.curation.coverage import CATEGORY, Coverage
from rexview.schema import Case
from rexview.ui.answers import html as answers_html
from rexview.ui.curate.history import history_json
from rexview.ui.curate.round import Round
from rexview.ui.link import keys as link_keys
from rexview.ui.link.in_app import href
from rexview.ui.link.pages import PAGE_CURATE
from rexview.ui.saving.curation_entries import is_scored, written_json
from rexview.vocab import CATEGORIES, CRITERIA, QUESTION_TAGS
from rexview.words import tr

_MOST_ALIKE: Final = 2
_MOST_VALUES: Final = 60
"""Values of one tag that are offered while it is typed."""
_READER: Final = "reader"


def study_json(now: Round, study: CurationStudy) -> dict[str, Any]:
    """Return one study as the desk shows it to whoever curates."""
    case, position = now.review_set.case(study.case), now.position(study.case)
    own = written_json(now.state, now.person, study.case)
    seen = frozenset(str(own["solved"]).split())
    history = history_json(now, study.case, seen)
    return {
        "case": study.case,
        "place": position.number or "–",
        "previous": position.before,
        "next": position.after,
        "own": own,
        "report": {"state": "shown", "html": _report_html(case) if case else "", "always": True},
        "content": {
            "candidates": [
                candidate_json(now, view, seen, history.get(view.candidate.id, []))
                for view in now.in_order(study)
            ],
        },
    }


def candidate_json(
    now: Round, view: CandidateView, seen: frozenset[str], history: list[dict[str, str]]
) -> dict[str, Any]:
    """Return one candidate; scores that are to stay hidden from the person are not in it."""
    one = view.candidate
    mine = one.people.get(now.person.id)
    others = [rating for key, rating in one.people.items() if key != now.person.id]
    model = one.model_rating
    hidden = (
        now.score_first
        and (model is not None or bool(others))
        and one.id not in seen
        and not is_scored(_rate(mine))
    )
    return {
        "id": one.id,
        "question": one.proposed,
        "category": one.proposed_category,
        "source": one.source,
        "by": now.reader_name(one.by) if one.source == _READER else one.by,
        "given": {"select": _select(one), "rate": _rate(mine), "tag": _own_tags(one, now)},
        "tags": {name: list(values) for name, values in one.tags.items() if values},
        "model": None if hidden or model is None else _model_json(model),
        "hidden": hidden,
        "others": [] if hidden else [_other_json(now, rating) for rating in others],
        "blocked": view.blocked,
        "judged": one.question,
        "alike": [_alike_json(now, one, like) for like in view.alike[:_MOST_ALIKE]],
        "alike_count": len(view.alike),
        "history": history,
    }


def _select(one: Considered) -> dict[str, Any] | None:
    names = ("decision", "question", "boxes_question", "category", "comment")
    return {name: getattr(one.selection, name) for name in names} if one.selection else None


def _rate(rating: CandidateRating | None) -> dict[str, Any] | None:
    if rating is None:
        return None
    more = {name: getattr(rating, name) for name in ("risk", "comment", "after_model")}
    return {**rating.scores, **more}


def _own_tags(one: Considered, now: Round) -> dict[str, Any] | None:
    if one.tagged_by != now.person.id:
        return None
    return {"tags": {name: list(values) for name, values in one.tags.items()}}


def _model_json(rating: CandidateRating) -> dict[str, Any]:
    return {
        "scores": dict(rating.scores),
        "sum": rating.total,
        "stated": rating.stated_total,
        "risk": rating.risk,
        "comment": rating.comment or "",
    }


def _other_json(now: Round, rating: CandidateRating) -> dict[str, str]:
    given = [f"{CRITERIA[name]} {score or '–'}" for name, score in rating.scores.items()]
    if rating.total is not None:
        given.append(tr("sum {n}").format(n=rating.total))
    if rating.risk:
        given.append(tr("risk"))
    return {"name": now.reader_name(rating.by), "words": " · ".join(given)}


def _alike_json(now: Round, one: Considered, like: AlikeQuestion) -> dict[str, Any]:
    other, there = now.curation.view(like.case, like.candidate), now.curation.study(like.case)
    same_study = like.case == one.case
    title = there.study_id or there.case if there else like.case
    return {
        "words": f"{like.similarity:.0%}, {tr('in this study') if same_study else title}",
        "question": other.candidate.question if other else "",
        "href": None if same_study else href(PAGE_CURATE, link_keys.link_query(case=like.case)),
    }


def _report_html(case: Case) -> str:
    said = answers_html.request_html(case) + answers_html.report_sections_html(case.report)
    return said or f"<p>{tr('This study has neither report nor indication.')}</p>"


def counts_json(covered: Coverage) -> dict[str, Any]:
    """Return the chosen questions by category and by every value of their tags."""
    chosen = {
        name: {one.value or "": one.chosen for one in parts if one.chosen}
        for name, parts in covered.parts.items()
    }
    tags = {name: chosen[name] for name in QUESTION_TAGS}
    for values in tags.values():
        values.pop("", None)  # not tagged
    return {"chosen": covered.chosen, "categories": chosen[CATEGORY], "tags": tags}


def words_json(covered: Coverage) -> dict[str, Any]:
    """Return the words of the desk: names, and the values that tags have had so far."""
    values = {
        name: [one.value for one in covered.parts[name] if one.value][:_MOST_VALUES]
        for name in QUESTION_TAGS
    }
    return {
        "criteria": CRITERIA,
        "categories": CATEGORIES["open"],
        "tags": QUESTION_TAGS,
        "values": values,
    }


def targets_json(wanted: int | None) -> dict[str, Any]:
    """Return how many questions are wanted in all, and as many of each category."""
    each = -(-wanted // len(CATEGORIES["open"])) if wanted else None
    return {"all": wanted, "categories": dict.fromkeys(CATEGORIES["open"], each) if each else {}}
