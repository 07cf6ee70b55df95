"""The curated set: chosen questions, agreement of model scores with people's, and the export."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

import polars as pl
import streamlit as st

from rexview.analysis.charts.curation import curation_charts
from rexview.analysis.charts.linked_chart import LinkedChart
from rexview.analysis.curation import build_curated_tables
from rexview.curation.coverage import Coverage
from rexview.curation.curated_set import (
    BOXES,
    Boxes,
    CuratedSet,
    build_curated_set,
    zip_curated_set,
)
from rexview.errors import ReviewSetError
from rexview.schema import ReviewSet
from rexview.stats.criterion_agreement import CriterionAgreement, compare_criteria
from rexview.ui.charts import show_charts_beside
from rexview.ui.curate.curation_round import CurationRound, current_curation
from rexview.ui.safe_text import as_markdown, lines_as_markdown
from rexview.ui.tables.number_table import (
    MissingReasons,
    cells_html,
    format_signed,
    rows_table,
    table_html,
)
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.link_choices import bind_option_to_link
from rexview.vocab import CRITERIA, QUESTION_TAGS
from rexview.words import counted, tr

_MOST: Final = 12
"""Most values listed of a tag, the most frequent first."""
_BOXES: Final[dict[Boxes, str]] = {
    "both": tr("With and without boxes"),
    "with": tr("All ask for boxes"),
    "without": tr("None asks for boxes"),
}


def show_curated(now: CurationRound) -> None:
    """Show the numbers of the curated set, and its export."""
    covered = now.covered
    chosen = as_markdown(counted(covered.chosen, "question"))
    studies = as_markdown(counted(len(now.curation.studies), "study"))
    st.markdown(
        tr("**{questions} chosen** of {offered:,}, in {n:,} of {studies}.").format(
            questions=chosen, offered=covered.offered, n=covered.studies, studies=studies
        )
    )
    _offer(now)
    st.markdown(f"## {tr('What they cover')}")
    show_charts_beside(_charts(now.review_set), key="curated", columns=2)
    st.html(tags_html(covered))
    title = tr("The model's scores beside people's")
    st.markdown(f"## {title}")
    st.html(agreement_html(now, _agreements(now.review_set)))


@lru_cache(maxsize=4)
def _charts(review_set: ReviewSet) -> list[LinkedChart]:
    return curation_charts(build_curated_tables(current_curation(review_set)))


@lru_cache(maxsize=4)
def _agreements(review_set: ReviewSet) -> tuple[CriterionAgreement, ...]:
    every = current_curation(review_set).studies
    studies = pl.DataFrame(
        [(one.case, one.study_id or one.case) for one in every],
        schema={"case": pl.String, "study": pl.String},
        orient="row",
    )
    return compare_criteria(review_set.candidate_ratings, studies)


def _offer(now: CurationRound) -> None:
    """Show the export of the chosen questions as a review set."""
    kept = bind_option_to_link("curated_boxes", link_keys.QUERY_CURATED_BOXES, BOXES, "both")
    boxes = st.selectbox(
        tr("Questions"), BOXES, format_func=lambda boxes: _BOXES[boxes], width=260, **kept
    )
    made = _made(now, boxes)
    if made is None:
        return
    st.download_button(
        tr("Download the set"),
        _archive(made),
        "curated-set.zip",
        "application/zip",
        key="curated_download",
        on_click="ignore",
        icon=":material/download:",
    )
    without = counted(made.without, "study")
    said = [
        tr("{cases}; {studies} without a chosen question.").format(
            cases=counted(made.cases, "case"), studies=without
        )
    ]
    said += [
        tr("Left out, {case}: {why}").format(case=one.case, why=one.why) for one in made.left_out
    ]
    if made.woven_in:
        said.append(
            tr("Questions that still mention boxes, to be rewritten by hand: {cases}.").format(
                cases=", ".join(made.woven_in)
            )
        )
    st.caption(lines_as_markdown("\n".join(said)))
    st.caption(tr("The images are not in the download. To get a folder with the images:"))
    folder = str(now.review_set.folder)
    st.code(f'python -m rexview curated "{folder}" --out FOLDER --boxes {boxes}', language="sh")


def _made(now: CurationRound, boxes: Boxes) -> CuratedSet | None:
    try:
        return build_curated_set(now.review_set, boxes=boxes, history=now.reviews.history())
    except ReviewSetError as error:
        st.info(lines_as_markdown(error))
        return None


def _archive(made: CuratedSet) -> Callable[[], bytes]:
    return lambda: zip_curated_set(made)  # on a click


def tags_html(covered: Coverage) -> str:
    """Return the tag values of the chosen questions, and those that none of them has."""
    rows = []
    for name, label in QUESTION_TAGS.items():
        given = [one for one in covered.parts[name] if one.value is not None]
        chosen = [f"{one.value} {one.chosen}" for one in given if one.chosen]
        missing = [str(one.value) for one in given if not one.chosen]
        rows.append(cells_html(label, _listed(chosen), _listed(missing)))
    caption = tr("A question counts for each of its values of a tag.")
    heads = (tr("Tag"), tr("Chosen"), tr("Proposed, never chosen"))
    # their words wrap, unlike numbers
    table = rows_table("rx-scores rx-table", heads, rows, tr("Tags"))
    return f'{table}<p class="rx-quiet rx-note">{caption}</p>'


def _listed(values: Sequence[str]) -> str:
    more = len(values) - _MOST
    shown = [*values[:_MOST], *([tr("and {n:,} more").format(n=more)] if more > 0 else [])]
    return html.escape(" · ".join(shown)) or "–"


def agreement_html(now: CurationRound, found: Sequence[CriterionAgreement]) -> str:
    """Return agreement by criterion: kappa with its interval, difference, number of questions."""
    if not found:
        none = tr(
            "No question was scored by a model and by a person who had not seen the model's scores."
        )
        return f'<p class="rx-quiet">{none}</p>'
    reasons, rows = MissingReasons(), []
    for one in found:
        person = tr("all together") if one.person is None else now.reader_name(one.person)
        where = f"{one.model}, {person}, {CRITERIA[one.criterion]}"
        rows.append(
            cells_html(
                html.escape(tr("{model} and {person}").format(model=one.model, person=person)),
                html.escape(CRITERIA[one.criterion]),
                reasons.number(one.qwk, one.why, where),
                reasons.interval(one.qwk_interval, where),
                reasons.number(one.mad, one.why, where),
                "–" if one.difference is None else format_signed(one.difference),
                f"{one.n:,}",
                f"{one.studies:,}",
            )
        )
    heads = (
        tr("Between"),
        tr("Criterion"),
        tr("Kappa"),
        "95%",
        tr("Apart"),
        tr("Model − person"),
        "n",
        tr("Studies"),
    )
    caption = tr(
        "Cohen's kappa with quadratic weights; intervals from resampling studies. Apart: "
        "mean absolute difference, points. Scores that a person gave after seeing the "
        "model's are left out."
    )
    return table_html(tr("Agreement"), heads, rows, caption) + reasons.html()
