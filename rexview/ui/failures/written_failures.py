"""Written failures on the Failures page: choose, write, search and validate them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st

from rexview.analysis.written_failures import (
    WRITTEN_FAILURE_KIND,
    FailureWording,
    count_marks,
    list_counted_marks,
    list_wordings,
    list_written_failures,
    make_form_value,
    read_wording,
)
from rexview.analysis.written_results import (
    VALIDATION_KIND,
    JudgeResults,
    count_judge_results,
    count_verdicts,
    list_judged_wordings,
    load_judge_results,
)
from rexview.errors import SettingsError, StoreError, StoreOvertaken
from rexview.judge.written import (
    EXAMPLES,
    LONGEST,
    LONGEST_EXAMPLE,
    LONGEST_NAME,
    NEEDED,
    build_written_wording,
    find_unused_name,
)
from rexview.models.running.run_folder import JUDGING_FOLDER
from rexview.schema import ReviewSet
from rexview.store import Entry, may_write_kind
from rexview.ui.answers.flags import version_note
from rexview.ui.asking.model_choice import ModelChoice, choose_model
from rexview.ui.asking.run_forms import choose_cases, choose_models, show_judge_start
from rexview.ui.asking.run_list import is_any_job_running, show_runs
from rexview.ui.failures import written_counts as written_html
from rexview.ui.failures.page_parts import VALIDATE, WORDS, check_written_failures_served, open_part
from rexview.ui.filter_panel import FilteredSet
from rexview.ui.safe_text import as_markdown, lines_as_markdown
from rexview.ui.web.access import permissions
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.link.in_app import linked_html
from rexview.ui.web.link.link_choices import bind_option_to_link, bind_to_link
from rexview.ui.web.link.pages import PAGE_RUN_MODELS
from rexview.ui.web.saving.entries import FAILURES_PAGE
from rexview.ui.web.server import review_sets
from rexview.ui.web.streamlit_adapter.script_run import finish_draft, save_button, typed_fields
from rexview.words import tr

# The written failure that is shown, and its version, from the link.

NEW: Final = "+"
"""In place of a failure's name: a new failure is to be written."""
_FAILURE: Final = link_keys.QUERY_WRITTEN["failure"]
_VERSION: Final = link_keys.QUERY_WRITTEN["version"]


@dataclass(frozen=True)
class WrittenFailureChoice:
    """The failures of a set, and the one shown: its current text, and the version on screen.

    ``now`` is None for a new failure, or if the text was withdrawn.
    """

    every: Sequence[FailureWording]
    failure: str | None
    now: FailureWording | None
    shown: FailureWording | None
    versions: Sequence[FailureWording]


def choose_failure(review_set: ReviewSet, *, may_write: bool) -> WrittenFailureChoice:
    """Show a choice of the written failures; explain and stop if they cannot be read."""
    try:
        reviews = review_sets.reviews(review_set)
        rows, history = (
            reviews.current(WRITTEN_FAILURE_KIND),
            reviews.history(kind=WRITTEN_FAILURE_KIND),
        )
    except StoreError as error:
        st.error(lines_as_markdown(error), icon=":material/cloud_off:")
        st.stop()
    every, problems = list_written_failures(review_set.folder, rows)
    for problem in problems:
        st.warning(as_markdown(problem), icon=":material/error:")
    by_name = {one.failure: one for one in every}
    name = _choose(by_name, may_write=may_write)
    if name is None:
        return WrittenFailureChoice(every, None, None, None, ())
    now = by_name[name]
    versions = [now]
    versions += [
        one
        for one in list_wordings(review_set.folder, history, name)
        if one.prompt.hash != now.prompt.hash
    ]
    return WrittenFailureChoice(every, name, now, _choose_version(versions), versions)


def _choose(by_name: dict[str, FailureWording], *, may_write: bool) -> str | None:
    options = [*by_name, *([NEW] if may_write else [])]
    if not by_name:
        return None
    titles = {name: one.prompt.name for name, one in by_name.items()} | {
        NEW: tr("Write another one")
    }
    kept = bind_option_to_link("written_failure", _FAILURE, options, next(iter(by_name)))

    def changed() -> None:
        kept["on_change"]()
        link_keys.set_query({_VERSION: None, link_keys.QUERY_WRITTEN["edit"]: None})

    chosen = st.selectbox(
        tr("Failure"),
        options,
        format_func=titles.__getitem__,
        **{**kept, "on_change": changed},
    )
    return None if chosen == NEW else str(chosen)


def _choose_version(versions: Sequence[FailureWording]) -> FailureWording:
    """Show a choice of earlier versions if there are any; the newest is shown without one."""
    if len(versions) < 2:
        return versions[0]
    by_version = {one.version: one for one in versions}
    first = versions[0].version
    chosen = st.selectbox(
        tr("Words"),
        list(by_version),
        format_func=lambda version: (
            tr("Now: {words}") if version == first else tr("Earlier: {words}")
        ).format(words=version_note(by_version[version])),
        help=tr("Results and readings of earlier words stay with those words."),
        **bind_option_to_link("written_version", _VERSION, by_version, first),
    )
    return by_version.get(str(chosen), versions[0])


# Querying a language model for a written failure, and its runs on the set.

_SENT: Final = (
    tr("These words, questions, answers, reports and images of up to {cases}"),
    tr("These words, questions, answers, and reports of up to {cases}"),
)


def show_search(filtered: FilteredSet, words: FailureWording) -> None:
    """Show the choice of model and answers, the cost, the start, and the runs."""
    if not permissions.may_see(PAGE_RUN_MODELS):
        st.caption(tr("Your role does not run models: ask the review lead to search for it."))
        return
    review_set = filtered.review_set
    st.markdown(f"### {tr('Find it')}")
    judge = choose_model(review_set)
    if judge is not None:
        _ask(filtered, words, judge)
    st.markdown(f"### {tr('Runs of judges')}")
    show_runs(review_set, (JUDGING_FOLDER,))


def _ask(filtered: FilteredSet, words: FailureWording, judge: ModelChoice) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        models = choose_models(filtered)
    with right:
        cases, total = choose_cases(filtered)
    own = [f"--written={words.failure}@{words.version}", *models, *cases]
    show_judge_start(filtered, judge, own, total, _SENT)


# The form for writing a failure: a clinician needs no file and no command.

_LISTED: Final = EXAMPLES * (LONGEST_EXAMPLE + 1)
_TEXTS: Final = {
    "name": (tr("Name"), LONGEST_NAME, tr("Comparison that does not exist")),
    "counts": (
        tr("What counts"),
        LONGEST,
        tr("The answer compares with an earlier study, and none is mentioned or shown."),
    ),
    "does_not_count": (
        tr("What does not count"),
        LONGEST,
        tr("The question itself asks for a comparison."),
    ),
    "examples": (
        tr("Examples that count, one per line"),
        _LISTED,
        tr("Unchanged from the prior study."),
    ),
    "counterexamples": (
        tr("Examples that do not count, one per line"),
        _LISTED,
        tr("No earlier study is available for comparison."),
    ),
}
_EDITED: Final = link_keys.QUERY_WRITTEN["edit"]
_OPEN: Final = "written_open"
"""The edited version, for a run that a part of the page requests with an older link."""
_SAVED: Final = "written_saved"
_PROBLEM: Final = "written_problem"
_LEFT: Final = "written_left"
_TYPED: Final = "written_typed"
"""Text typed over a version that others changed meanwhile, with their version."""


def choose_edited(versions: Sequence[FailureWording]) -> FailureWording | None:
    """Show a switch to edit the newest text; return the text that is edited.

    The link has its version. So the form remains the same after others have changed the text, and
    after a restart of the server.
    """
    asked = link_keys.query_value(_EDITED) or st.session_state.get(_OPEN)
    edited = next((one for one in versions if one.version == asked), None)
    newest = versions[0].version
    kept = bind_to_link(
        "written_editing", _EDITED, edited is not None, lambda on: newest if on else None
    )

    def changed() -> None:
        kept["on_change"]()
        st.session_state[_OPEN] = link_keys.query_value(_EDITED)

    st.toggle(tr("Edit the words"), **{**kept, "on_change": changed})
    return edited


def show_form(
    review_set: ReviewSet, every: Sequence[FailureWording], now: FailureWording | None
) -> None:
    """Show the form for a new failure, or with the text of ``now``."""
    if permissions.ask_name("written_who") is None:
        return
    key, given = _shown(now)
    _ask_and_save(review_set, every, now, key, given)


def show_withdrawn(review_set: ReviewSet) -> bool:
    """Show the form of a failure that was withdrawn while it was edited, if there is one.

    It is the same form, so that its typed text is sent with the press of its button. That button is
    replaced by one that makes a new failure.
    """
    version = link_keys.query_value(_EDITED)
    reviews = review_sets.reviews(review_set)
    rows = reviews.history(kind=WRITTEN_FAILURE_KIND) if version else ()
    found = ((row.subject, read_wording(row)) for row in rows)
    gone = next((pair for pair in found if pair[1] and pair[1].version == version), None)
    every, _ = list_written_failures(
        review_set.folder, reviews.current(WRITTEN_FAILURE_KIND) if gone else ()
    )
    if gone is None or gone[1] is None or gone[0] in {one.failure for one in every}:
        return False
    st.warning(
        tr(
            "Someone removed this failure while you edited it: nothing was saved. Your "
            "words are still in the form, and can be saved as a new failure."
        ),
        icon=":material/error:",
    )
    key, given = _shown(gone[1])
    fields = _fields(gone[0])
    button = tr("Save as a new failure")
    _ask_and_save(review_set, every, None, key, given, button=button, fields=fields)
    if st.button(tr("Discard"), key="written_discard"):
        finish_draft(fields)
        open_part(WORDS, failure=None, version=None, edit=None)
        st.rerun()
    return True


def _ask_and_save(
    review_set: ReviewSet,
    every: Sequence[FailureWording],
    now: FailureWording | None,
    key: str,
    given: Mapping[str, str],
    *,
    button: str = tr("Save"),
    fields: str | None = None,
) -> None:
    """Show the form; ``fields`` names the failure whose text is typed, ``now``'s by default."""
    name = fields or _fields(now.failure if now else None)
    with typed_fields(name), st.form(f"{key}_form", border=True):
        typed = {part: _form_ask(part, given[part], f"{key}_{part}") for part in _TEXTS}
        st.caption(
            tr(
                "The language model gets these words with question, report, answer and, if "
                "it reads pictures, the images. Changed words are a new version: results "
                "and readings so far stay with the old one."
            )
        )
        if said := st.session_state.pop(_PROBLEM, None):
            st.error(lines_as_markdown(said), icon=":material/error:")
        told = st.container()
        pressed = st.form_submit_button(button, type="primary")
    if not pressed:
        return
    if problem := _save(review_set, every, now, typed):
        told.error(lines_as_markdown(problem), icon=":material/error:")
    else:
        if st.session_state.get(_SAVED):
            finish_draft(name)
        st.rerun()


def _fields(failure: str | None) -> str:
    """Return the browser's name for the fields of a failure, the same for all its versions."""
    return f"words of the failure {failure or ''}"


def _shown(now: FailureWording | None) -> tuple[str, Mapping[str, str]]:
    """Return the key of the form, and its initial texts."""
    if now is None:
        return "written_new", dict.fromkeys(_TEXTS, "")
    version, typed = st.session_state.get(_TYPED, (None, {}))
    if version == now.version:
        return f"written_{now.failure}_{now.version}_again", typed
    value = make_form_value(now.prompt)
    texts = {part: value.get(part) or "" for part in _TEXTS}
    return f"written_{now.failure}_{now.version}", {
        part: "\n".join(text) if isinstance(text, list) else text for part, text in texts.items()
    }


def _form_ask(part: str, text: str, key: str) -> str:
    """Return the content of a field.

    The field itself returns it, without a callback and the session: after a restart of the server
    the press of Save is the new session's first event, and the typed text is sent with it.
    """
    _, longest, example = _TEXTS[part]
    common: dict[str, Any] = {
        "key": key,
        "max_chars": longest,
        "placeholder": tr("For example: {example}").format(example=example),
    }
    if part == "name":
        return st.text_input(_TEXTS[part][0], text, **common) or ""
    return st.text_area(_TEXTS[part][0], text, height=68, **common) or ""


def show_save_result() -> None:
    """Show, once, that a text is in the database, or why it could not be withdrawn."""
    if st.session_state.pop(_SAVED, False):
        st.success(tr("Saved."), icon=":material/check:")
    if said := st.session_state.pop(_LEFT, None):
        st.error(lines_as_markdown(said), icon=":material/error:")


def _save(
    review_set: ReviewSet,
    every: Sequence[FailureWording],
    now: FailureWording | None,
    typed: Mapping[str, str],
) -> str | None:
    """Save a text, and open it; return why it is not saved, None if the page shows it."""
    person = permissions.current_person()
    if person is None:
        return None
    value = _value(typed)
    missing = [_TEXTS[part][0] for part in NEEDED if not value[part]]
    if missing:
        return " ".join(tr("“{field}” is missing.").format(field=label) for label in missing)
    name = (
        now.failure
        if now
        else find_unused_name(value["name"] or "", [one.failure for one in every])
    )
    before = now.value if now else None
    try:
        build_written_wording(
            name, {part: said for part, said in value.items() if said}, "The form"
        )
        reviews = review_sets.reviews(review_set)
        stands = (
            reviews.current_state()
            .of(WRITTEN_FAILURE_KIND, person.id)
            .get((None, None, name, None))
        )
        if stands is not None and stands.value != before:
            raise StoreOvertaken("Another window was quicker.", "Nothing was written.")
        entry = Entry(
            WRITTEN_FAILURE_KIND, subject=name, value=value, via=FAILURES_PAGE, over=(before,)
        )
        reviews.record([entry], person)
    except StoreOvertaken:
        _keep_typed(review_set, name, typed)
    except (SettingsError, StoreError) as error:
        return tr("Not saved: {reason}").format(reason=error)
    else:
        st.session_state[_SAVED] = True
        st.session_state.pop(_TYPED, None)
        st.session_state.pop(_OPEN, None)
        open_part(WORDS, failure=name, version=None, edit=None)
    return None


def _keep_typed(review_set: ReviewSet, name: str, typed: Mapping[str, str]) -> None:
    """Show that others changed it first; the typed text remains in the form for their version."""
    st.session_state[_PROBLEM] = tr(
        "This failure was changed meanwhile, by someone else or in another window: nothing "
        "was saved. Their words are shown above, yours in the form: saving again replaces "
        "theirs."
    )
    rows = review_sets.reviews(review_set).current_state().of(WRITTEN_FAILURE_KIND, "")
    row = rows.get((None, None, name, None))
    words = read_wording(row) if row is not None else None
    if words is not None:
        st.session_state[_TYPED] = words.version, dict(typed)
        st.session_state[_OPEN] = words.version
        open_part(WORDS, failure=name, version=None, edit=words.version)


def _value(typed: Mapping[str, str]) -> dict[str, Any]:
    texts = {part: text.strip() for part, text in typed.items()}
    value: dict[str, Any] = {
        part: texts[part] or None for part in ("name", "counts", "does_not_count")
    }
    if value["name"]:
        value["name"] = " ".join(value["name"].split())
    for part in ("examples", "counterexamples"):
        lines = [line.strip().removeprefix("- ").strip() for line in texts[part].splitlines()]
        value[part] = [line for line in lines if line] or None
    return value


def withdraw_failure(review_set: ReviewSet, now: FailureWording) -> None:
    """Withdraw the text of a failure: it is no longer offered; the history keeps all."""
    person = permissions.current_person()
    if person is None:
        return
    entry = Entry(
        WRITTEN_FAILURE_KIND, subject=now.failure, value=None, via=FAILURES_PAGE, over=(now.value,)
    )
    try:
        review_sets.reviews(review_set).record([entry], person)
    except StoreError as error:
        st.session_state[_LEFT] = str(error)
    else:
        open_part(WORDS, failure=None, version=None, edit=None)


def show_written_failures(filtered: FilteredSet) -> None:
    """Show the written failures: write, search, and see findings and judgments."""
    if not check_written_failures_served():
        return
    review_set = filtered.review_set
    writes = may_write()
    show_save_result()
    if writes and show_withdrawn(review_set):
        return
    chosen = choose_failure(review_set, may_write=writes)
    if chosen.now is None or chosen.shown is None:
        _show_new(review_set, chosen, writes=writes)
        return
    stale = chosen.shown is not chosen.versions[0]
    st.html(written_html.words_html(chosen.shown, stale=stale))
    if writes:
        _show_changes(review_set, chosen, chosen.now)
    _show_found(review_set, chosen.shown, stale=stale, writes=writes)
    show_search(filtered, chosen.shown)


def may_write() -> bool:
    """Return whether the user may write and validate failures; without sign-in everybody may."""
    role, person = permissions.current_role(), permissions.current_person()
    return (
        may_write_kind(person, VALIDATION_KIND)
        if person is not None
        else role in ("lead", "adjudicator")
    )


def _show_new(review_set: ReviewSet, chosen: WrittenFailureChoice, *, writes: bool) -> None:
    st.caption(
        tr(
            "Describe in words what goes wrong, such as a comparison with a study that "
            "does not exist. A language model looks for it in the answers, you read a "
            "random sample of the results, and its precision is shown next to the count. "
            "Without a language model, Add a failure on the Case page offers it, and a "
            "meeting can agree on it."
        )
    )
    if writes:
        show_form(review_set, chosen.every, None)
    elif not chosen.every:
        st.info(tr("No failure has been written in words yet."))


def _show_changes(review_set: ReviewSet, chosen: WrittenFailureChoice, now: FailureWording) -> None:
    with st.container(horizontal=True, gap="small"):
        edited = choose_edited(chosen.versions)
        if now.value is not None:
            with st.popover(tr("Remove")):
                st.markdown(
                    tr(
                        "It is removed from the lists, and answers marked with it are no "
                        "longer shown. Its words, readings and marks stay in the history."
                    )
                )
                save_button(
                    tr("Remove it"),
                    key="written_take_away",
                    on_click=withdraw_failure,
                    args=(review_set, now),
                )
    if edited is not None:
        show_form(review_set, chosen.every, edited)


def _show_found(review_set: ReviewSet, words: FailureWording, *, stale: bool, writes: bool) -> None:
    """Show what each judge found with this text, and what clinicians say of a sample."""
    judges = [
        judge
        for prompt, judge in list_judged_wordings(review_set)
        if prompt.hash == words.prompt.hash
    ]
    if not judges and is_any_job_running(review_set, (JUDGING_FOLDER,)):
        st.info(tr("A search is starting: see below. Its results will appear here."))
    elif not judges:
        st.info(
            tr(
                "These words have not been searched for yet: choose a language model "
                "below. Without one, a meeting can agree on it: its form offers it, and "
                "Browse finds those cases under Meetings."
            )
        )
    for judge in judges:
        with st.spinner(tr("Reading the results…")):
            found = load_judge_results(review_set, words.prompt, judge)
        _show_judge(review_set, found, writes=writes)
    _show_marked(review_set, words, stale=stale)


def _show_marked(review_set: ReviewSet, words: FailureWording, *, stale: bool) -> None:
    """Show which answers people marked with this text; ``stale`` text is offered on no page."""
    written, names = review_sets.with_current_reviews(review_set), review_set.model_names
    found = count_marks(list_counted_marks(written), names, words.failure, words.version)
    if not found.rows:
        nobody = (
            tr("No answer is marked with these words.")
            if stale
            else tr(
                "No answer is marked with these words yet: Add a failure, on the Case "
                "page, offers them."
            )
        )
        st.caption(as_markdown(f"{nobody} {written_html.other_versions_note(found)}".strip()))
        return
    drawn = written_html.marked_html(found, names, review_sets.colours(review_set))
    linked_html(drawn, key="written_marked")


def _show_judge(review_set: ReviewSet, found: JudgeResults, *, writes: bool) -> None:
    rows = count_judge_results(found, review_set.model_names)
    if not rows:
        return
    names, colours = review_set.model_names, review_sets.colours(review_set)
    key = f"{found.version}_{found.judge}"
    try:
        read = count_verdicts(found, review_sets.reviews(review_set).current(VALIDATION_KIND))
    except StoreError as error:
        st.error(lines_as_markdown(error), icon=":material/cloud_off:")
        return
    drawn = written_html.judge_findings_html(found, rows, names, colours, read)
    linked_html(drawn, key=f"written_{key}")
    if read:
        linked_html(written_html.validated_html(read), key=f"written_read_{key}")
    elif found.results.said:
        st.caption(tr("Not validated yet: the share of correct results is unknown."))
    if writes and found.results.said:
        st.button(
            tr("Read a sample"),
            key=f"written_read_{key}_button",
            icon=":material/fact_check:",
            on_click=open_part,
            args=(VALIDATE,),
            kwargs={
                "failure": found.prompt.id.partition(":")[2],
                "version": found.version,
                "judge": found.judge,
            },
        )
