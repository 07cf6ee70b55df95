"""The parts of the Case page: header, paging, choice of answers, and the texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Final

import streamlit as st

from rexview.analysis import CaseFilter
from rexview.analysis.case.case_page import CasePage
from rexview.analysis.case.headline import (
    CaseHeadline,
    build_case_headline,
    find_failing_models,
    sort_failing_first,
)
from rexview.analysis.case.judge_opinions import (
    CaseOpinions,
    CaseWrittenOpinions,
    collect_opinions,
    collect_written_opinions,
)
from rexview.analysis.case.report_comparison import (
    UNNAMED_EDITOR,
    ReportCase,
    build_report_case,
    compare_texts,
)
from rexview.analysis.failures import describe_so_far
from rexview.analysis.query.engine import Engine, Position
from rexview.analysis.query.filter.judge_conditions import format_judge
from rexview.harm import HarmTable
from rexview.schema import Case, ReviewSet
from rexview.stats.judge_agreement import Judge
from rexview.ui import reviews
from rexview.ui.answers import answer_card as answers_html
from rexview.ui.answers import verdicts
from rexview.ui.answers.answer_card import AnswerAdditions
from rexview.ui.answers.choice_question import collect_votes, reason_html
from rexview.ui.answers.flags import ANY_CASE
from rexview.ui.case import reports as report_parts
from rexview.ui.case.reports import aligned_html, differences_html
from rexview.ui.export import show_case_export
from rexview.ui.judge.judge_opinions import find_judge, judge_additions, written_failure_additions
from rexview.ui.meeting import pinning as pins
from rexview.ui.meeting.pinning import show_pins
from rexview.ui.turning.ticket import turning_json
from rexview.ui.viewer.case_payload import ViewerSettings, page_viewer_data
from rexview.ui.web.components import component
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.pages import PAGE_BROWSE, PAGE_CASE
from rexview.ui.web.saving.entries import CASE_PAGE
from rexview.ui.web.server import review_sets, server_state
from rexview.ui.web.server.review_sets import PageView
from rexview.vocab import CATEGORY_NAMES, QUESTION_TYPES, judge_name
from rexview.words import join_words, tr

# The texts next to the image of a case, part by part, for the page and for the browser.
#
# Both are made here, so that a case that the browser turns to looks as on the page.

VIEWER_SETTINGS: Final = ViewerSettings(page_keys=(*verdicts.KEYS, *pins.KEYS))
"""The viewer's settings on the Case page."""
PARTS: Final = ("place", "headline", "question", "report", "answers", "aligned", "scores")
"""The text properties of :class:`CaseTexts`."""


@dataclass(frozen=True)
class CaseTexts:
    """The texts of one case.

    Attributes
    ----------
    review_set : ReviewSet
        With people's entries until now.
    page : CasePage
        With every answer.
    shown : CasePage
        With the answers chosen by the user.
    place : Position
        The case's position in the filter, whose name is ``filter_name``.
    harm : HarmTable
        Weights of findings in reports.
    editors : tuple of str, optional
        Editors whose corrections of reports the user chose to see, all by default.
    opinions : CaseOpinions, optional
        The opinions of the judge chosen by the user; none by default.
    written : tuple of CaseWrittenOpinions, optional
        Judges' findings of the written failures that the filter names.
    case_filter : CaseFilter, optional
        The filter that led to the case: its subject is unfolded.
    """

    review_set: ReviewSet
    page: CasePage
    shown: CasePage
    position: Position
    filter_name: str
    harm: HarmTable
    editors: tuple[str, ...] | None = None
    opinions: CaseOpinions | None = None
    written: tuple[CaseWrittenOpinions, ...] = ()
    case_filter: CaseFilter = ANY_CASE

    @cached_property
    def reports(self) -> ReportCase | None:
        """The comparison of the shown reports; None if the case asks for no report."""
        return build_report_case(self.review_set, self.shown, self.harm, self.editors)

    @property
    def place(self) -> str:
        """The case's position and kind."""
        case = self.page.case
        return answers_html.place_html(case, self.position, self.filter_name, question_kind(case))

    @property
    def headline(self) -> str:
        """The worst failure of the shown answers; empty if there is none."""
        found = self._worst
        if found is None:
            return ""
        names, colours = self.review_set.model_names, review_sets.colours(self.review_set)
        whose = (names[found.model], colours[found.model]) if len(self.page.answers) > 1 else None
        return answers_html.case_headline_html(found, self.harm.meaning_of(found.harm), whose)

    @cached_property
    def _worst(self) -> CaseHeadline | None:
        return build_case_headline(self.shown, self.harm)

    @property
    def question(self) -> str:
        """The question with its options and votes."""
        page, colours = self.page, review_sets.colours(self.review_set)
        votes = collect_votes(page, self.review_set, colours)
        question = answers_html.question_html(page.case, page.keyed_flags(), votes)
        return question + reason_html(page)

    @property
    def report(self) -> str:
        """The request and the report."""
        if self.reports is None:
            return answers_html.report_html(self.shown)
        given = self.page.case.report
        return answers_html.report_html(
            self.shown,
            report_parts.marks_in_reference(self.reports, self.review_set.model_names),
            report_parts.corrected_html(given, self.reports.corrected, self.review_set),
            report_parts.TO_SENTENCES if self.reports.rows else "",
        )

    @property
    def answers(self) -> str:
        """The answers with their flags."""
        return answers_html.answers_html(
            self.shown,
            self.review_set,
            colours=review_sets.colours(self.review_set),
            gap_threshold=server_state.settings().gap_threshold,
            visitor=verdicts.visitor(),
            added=self._added,
            case_filter=self.case_filter,
            worst=self._worst,
            failing=find_failing_models(self.shown, self.harm),
        )

    @property
    def _added(self) -> Mapping[str, AnswerAdditions]:
        """Additions to each answer: metrics of reports, and judges' opinions."""
        found: Mapping[str, AnswerAdditions]
        found = (
            report_parts.report_additions(self.reports, self.page.case.id) if self.reports else {}
        )
        models = [answer.model for answer in self.shown.answers]
        more = [judge_additions(self.opinions, models)] if self.opinions is not None else []
        more += [written_failure_additions(self.written, models)] if self.written else []
        for one in more:
            found = {model: found.get(model, AnswerAdditions()) + one[model] for model in models}
        return found

    @property
    def aligned(self) -> str:
        """Reports sentence by sentence next to the reference; empty if there are none."""
        if self.reports is None:
            return ""
        return aligned_html(
            self.shown,
            self.review_set,
            self.reports,
            colours=review_sets.colours(self.review_set),
            in_reference=report_parts.marks_in_reference(self.reports, self.review_set.model_names),
            in_answers=report_parts.marks_in_answers(self.reports),
        )

    @property
    def scores(self) -> str:
        """The readers' scores and their consensus."""
        return answers_html.scores_html(
            self.shown.scores,
            names=self.review_set.model_names,
            readers=self.review_set.reader_names,
            agreed=reviews.case_consensus(self.review_set, self.page.case.id),
            uncounted=self.shown.uncounted,
            unfinished=self.shown.unfinished,
            stale_scores=self.shown.stale_scores,
            stale_flags=self.shown.stale_reader_flags,
            stale_marks=[one for one in self.shown.marks if one.mark.stale],
        )


def show_part(texts: CaseTexts, part: str) -> None:
    """Mount one part (a property of :class:`CaseTexts`) on the page.

    It is our own component, so that the browser can show another case in it at once.
    """
    shown = component("rexview_case_part", "turning/assets/case_part.js")
    data = {"case": texts.page.case.id, "part": part, "html": getattr(texts, part)}
    shown(key=f"rx_part_{part}", data=data)


@dataclass(frozen=True)
class NeighbouringCases:
    """The cases of the Case page that a browser may turn to.

    Attributes
    ----------
    review_set : ReviewSet
        With people's entries until now.
    case_filter : CaseFilter
        The filter whose cases are turned through.
    models : tuple of str, optional
        Models whose answers the user chose to see, all by default.
    seen : PageView
        The page's view of the set.
    editors : tuple of str, optional
        Editors whose corrections of reports the user chose to see, all by default.
    judge : str, optional
        The judge chosen by the user, as the link names it; none by default.
    """

    review_set: ReviewSet
    case_filter: CaseFilter
    models: tuple[str, ...] | None
    seen: PageView
    editors: tuple[str, ...] | None = None
    judge: str | None = None

    @property
    def _engine(self) -> Engine:
        return review_sets.engine(self.review_set, self.seen)

    def position(self, case_id: str) -> Position:
        """Return the position of a case."""
        return self._engine.position(self.case_filter, case_id)

    def page(self, start: int, size: int) -> Sequence[str]:
        """Return at most ``size`` ids from index ``start``."""
        return self._engine.page(self.case_filter, start, size)

    def case_json(self, case_id: str) -> dict[str, Any] | None:
        """Return all data of a case on the page; None if there is no such case."""
        page = review_sets.case_page(self.review_set, case_id, self.seen)
        if page is None:
            return None
        place, name = self.position(case_id), describe_so_far(self._engine, self.case_filter)
        harm = self._engine.facts.harm
        shown = page.of_models(self.models or ())
        shown = shown if shown.answers else sort_failing_first(page, harm)
        judge = find_judge(self._engine.facts, self.judge)
        opinions = case_opinions(self.review_set, self._engine, page, judge)
        written = collect_written_opinions(self.review_set, self.case_filter, case_id, page.answers)
        around = place, name, harm, self.editors, opinions, written, self.case_filter
        texts = CaseTexts(self.review_set, page, shown, *around)
        viewer = page_viewer_data(self.review_set, shown, lambda _: place, VIEWER_SETTINGS)
        return {
            "case": case_id,
            "viewer": viewer.to_json(VIEWER_SETTINGS.height),
            "texts": {part: getattr(texts, part) for part in PARTS},
            "judged": verdicts.judged_json(self.review_set, shown),
        }


def neighbouring_cases(review_set: ReviewSet, detail: Mapping[str, Any]) -> NeighbouringCases:
    """Return the cases around a page, from :func:`rexview.ui.case.case_page.turning_ticket`."""
    models, editors = detail["models"], detail["editors"]
    return NeighbouringCases(
        review_sets.with_current_reviews(review_set),
        CaseFilter.read(detail["query"])[0],
        None if models is None else tuple(models),
        PageView(**detail["seen"]),
        None if editors is None else tuple(editors),
        detail["judge"],
    )


def case_opinions(
    review_set: ReviewSet, engine: Engine, page: CasePage, judge: Judge | None
) -> CaseOpinions | None:
    """Return a judge's opinions on the answers of a case; None if no judge is shown."""
    if judge is None:
        return None
    return collect_opinions(review_set, engine, page.case.id, page.answers, judge)


def question_kind(case: Case) -> str:
    """Name the kind of question, the category and the first tags; the tag "none" is left out."""
    names = [QUESTION_TYPES.get(case.question_type, case.question_type)]
    if case.category:
        names.append(CATEGORY_NAMES.get(case.category, case.category))
    tags = [value for values in case.tags.values() for value in values]
    names += [tag for tag in tags if tag.strip().lower() != "none"][:3]
    return " · ".join(names)


_REPORT: Final = tr("the report")


def show_no_case(wanted: str | None) -> None:
    """Explain why there is no case to show, and link to other pages."""
    if wanted:
        st.warning(tr("This review set has no such case. It may have been renamed or removed."))
    else:
        st.info(tr("No case matches the filter. Loosen it on the Browse page."))
    st.page_link(PAGE_BROWSE, label=tr("Browse all cases"), query_params=link_keys.link_query())


def show_header(review_set: ReviewSet, texts: CaseTexts, case_filter: CaseFilter) -> None:
    """Show the case's position in the filter, its kind, and its link."""
    place = texts.position
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="rx_header"):
        for name, label, target, key, icon in (
            ("previous", tr("Previous"), place.before, "k", ":material/chevron_left:"),
            ("next", tr("Next"), place.after, "j", ":material/chevron_right:"),
        ):
            st.button(
                label,
                icon=icon,
                key=f"case_{name}",
                shortcut=key,
                disabled=target is None,
                on_click=link_keys.go_to_case,
                args=(target,),
            )
        show_part(texts, "place")
        show_pins(review_set, case_filter, page=CASE_PAGE, case=texts.page.case.id)
        _share_button(review_set)
        st.page_link(
            PAGE_BROWSE,
            label=tr("All in this filter"),
            icon=":material/grid_view:",
            query_params=link_keys.link_query(case_filter),
        )
        show_case_export(review_set, texts.page.case.id)


def _share_button(review_set: ReviewSet) -> None:
    """Show a button that copies the link to this view, with the review set."""
    name = {"key": link_keys.QUERY_SET, "name": review_sets.set_id(review_set.folder)}
    button = component(
        "rexview_share", "case/share.js", style="case/share.css", isolate_styles=True
    )
    button(key="share", width="content", data={"set": name})


def choose_answers(page: CasePage, names: Mapping[str, str], harm: HarmTable) -> CasePage:
    """Show a choice and order of the answers; the link keeps it.

    By default, failing answers come first if not all fit.
    """
    models = [answer.model for answer in page.answers]
    if len(models) < 2:
        return page
    chosen = st.multiselect(
        tr("Answers shown"),
        models,
        default=models,
        format_func=lambda model: names[model],
        key=link_keys.QUERY_MODELS,
        bind="query-params",
        label_visibility="collapsed",
        placeholder=tr("Choose the answers to show"),
    )
    if not chosen or chosen == models:
        return sort_failing_first(page, harm)
    return page.of_models(tuple(chosen))


def choose_editors(review_set: ReviewSet, page: CasePage) -> tuple[str, ...] | None:
    """Show a choice of whose corrections are shown; the link keeps it.

    Return None for everybody's. The choice is shown if several people or judges made corrections.
    """
    named = (
        review_set.edits["reader"].fill_null(UNNAMED_EDITOR).unique(maintain_order=True).to_list()
    )
    if page.case.question_type != "report" or len(named) < 2:
        return None
    names = review_set.reader_names
    chosen = st.multiselect(
        tr("Corrections by"),
        named,
        default=named,
        format_func=lambda one: names.get(one) or judge_name(one) or tr("not named"),
        key=link_keys.QUERY_EDITORS,
        bind="query-params",
        placeholder=tr("Nobody’s corrections are shown"),
    )
    return None if len(chosen) == len(named) else tuple(chosen)


def show_comparison(page: CasePage, names: Mapping[str, str]) -> None:
    """Show the differences of two texts on demand."""
    texts = [(names[answer.model], answer.text or "") for answer in page.answers]
    report = page.case.report
    reference = "\n".join(part for part in (report.findings, report.impression) if part)
    if reference:
        texts.insert(0, (_REPORT, reference))
    pairs = list(combinations(range(len(texts)), 2))
    if not pairs:
        return
    chosen = st.selectbox(
        tr("Differences between"),
        pairs,
        index=None,
        format_func=lambda pair: join_words([texts[place][0] for place in pair]),
        placeholder=tr("Compare two texts word by word"),
        key=f"compare_{page.case.id}",
        label_visibility="collapsed",
    )
    if chosen:
        (first, first_text), (second, second_text) = (texts[place] for place in chosen)
        pieces, whole = compare_texts(first_text, second_text)
        st.html(differences_html(pieces, first, second, whole=whole))


def turning_ticket(
    review_set: ReviewSet, case_filter: CaseFilter, texts: CaseTexts
) -> dict[str, Any]:
    """Return the data with which the browser fetches other cases (:func:`neighbouring_cases`)."""
    usual = sort_failing_first(texts.page, texts.harm)
    chosen = [answer.model for answer in texts.shown.answers]
    detail = {
        "query": case_filter.to_query(),
        "seen": asdict(review_sets.current_page_view(review_set)),
        "editors": texts.editors,
        "judge": format_judge(texts.opinions.judge) if texts.opinions else None,
        "models": None if texts.shown.answers == usual.answers else chosen,
    }
    return turning_json(review_set, PAGE_CASE, detail, state=review_set.fingerprint)
