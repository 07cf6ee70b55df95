"""Make the records of an export, one case at a time, with pictures, boxes and comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import PurePath
from typing import Any, Final, TypeVar

import polars as pl

from rexview.analysis.case.case_page import CasePage, build_case_page
from rexview.analysis.case.headline import AnswerFailure, build_case_headline, find_answer_failures
from rexview.analysis.case.key_sentences import select_key_sentences
from rexview.analysis.colours import assign_model_colours
from rexview.analysis.meetings import CaseVote, Decision, Minutes, list_decisions
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.answer_digest import digests_of
from rexview.detect.scan.batch import flag_finding
from rexview.errors import ImageError, PathEscape
from rexview.export.export_records import (
    ExportAnswer,
    ExportBox,
    ExportCase,
    ExportComment,
    ExportContent,
    ExportDecision,
    ExportFlag,
    ExportImage,
    ExportMark,
    ExportModel,
    ExportScore,
    WholeSet,
)
from rexview.export.export_request import ExportedCases, ExportSource
from rexview.export.pseudonyms import NAMES_STAY_NOTE, SHORT_IDS_STAY_NOTE, IdKind, Pseudonyms
from rexview.geometry import UNKNOWN_ORIENTATION, box_problem
from rexview.harm import HarmTable
from rexview.imaging.image_files import read_facts, read_image
from rexview.imaging.radiograph import Radiograph
from rexview.reviewset import find_image_file
from rexview.reviewset.image_checks import ImageWithFacts, image_with_facts
from rexview.schema import Answer, AnswerBox, Case, Flag, ReferenceBox, ReviewSet
from rexview.stats import find_status
from rexview.store import Comment
from rexview.vocab import CATEGORY_NAMES, FAILURES, VIEWS, english_noun

# Pictures and boxes of a case: without paths, decoded only on request.

_NOT_PLAIN: Final = re.compile(r"[^A-Za-z0-9.-]+")
_LONGEST_PART: Final = 60
_NO_IMAGE: Final = "The box is on an image that the case does not have."


def burned_in_warning(
    review_set: ReviewSet, cases: Iterable[str], check: Callable[[], None] = lambda: None
) -> str:
    """Return a warning about burned-in text, from the headers of the cases' files; may be empty.

    ``check`` is called before each case.
    """
    says, silent = 0, 0
    for case_id in cases:
        check()
        case = review_set.case(case_id)
        for image in case.images if case else ():
            try:
                burned_in = read_facts(find_image_file(review_set, image.path)).burned_in
            except (ImageError, PathEscape):
                continue  # it is in no export either
            says += burned_in is True
            silent += burned_in is None
    found = []
    if says:
        found.append(f"{says:,} {english_noun(says, 'picture')} marked as having text burned in")
    if silent:
        found.append(f"{silent:,} {english_noun(silent, 'picture')} not marked either way")
    if not found:
        return ""
    return f"Names and dates may be burned into pictures: {', '.join(found)}. Look at them first."


class CasePictures:
    """The pictures and boxes of one case; with ``is_hidden``, under neutral ids.

    The id of an image is often the name of its file. ``stem`` is the start of file names.
    """

    def __init__(self, review_set: ReviewSet, case: Case, stem: str, *, is_hidden: bool) -> None:
        self._set, self._case, self._stem, self._is_hidden = review_set, case, stem, is_hidden
        self._known = [image_with_facts(review_set, image) for image in case.images]
        self._ids = {
            image.id: f"image-{place}" if is_hidden else image.id
            for place, image in enumerate(case.images, 1)
        }

    def images(self) -> tuple[ExportImage, ...]:
        """Return the images of the study, priors last."""
        every = [self._image(image, place) for place, image in enumerate(self._known, 1)]
        return tuple(sorted(every, key=lambda image: image.prior))

    def returned(self, model: ExportModel, path: str, place: int) -> ExportImage:
        """Return a picture that a model returned, ``place`` from 1."""
        return ExportImage(
            id=f"{model.id}/{place}",
            title=f"{model.name}: picture {place}",
            view="UNKNOWN",
            prior=False,
            key=False,
            width=None,
            height=None,
            orientation=UNKNOWN_ORIENTATION,
            file_stem=self._file_stem(f"returned-{model.id}", place),
            **self._file(path),
            model=model.id,
        )

    def box(self, model: str | None, box: AnswerBox | ReferenceBox) -> ExportBox:
        """Return a box of a model, or of the reference (None)."""
        known = next((one for one in self._known if one.image.id == box.image), None)
        unsure = isinstance(box, AnswerBox) and bool(box.unsure)
        image = known.image if known else None
        problem = box_problem(box.box, image.width, image.height) if image else _NO_IMAGE
        side = known.side(box.box) if known and not unsure and not problem else None
        return ExportBox(
            model=model,
            image=self._ids.get(box.image, "" if self._is_hidden else box.image),
            label=box.label,
            box=box.box,
            side=side,
            score=box.score if isinstance(box, AnswerBox) else None,
            unsure=unsure,
            problem=problem,
        )

    def _image(self, known: ImageWithFacts, place: int) -> ExportImage:
        image = known.image
        title = VIEWS.get(image.view, image.view)
        return ExportImage(
            id=self._ids[image.id],
            title=f"Prior, {title}" if image.prior else title,
            view=image.view,
            prior=image.prior,
            key=self._case.images[place - 1] is self._case.key_image,
            width=image.width,
            height=image.height,
            orientation=known.orientation,
            file_stem=self._file_stem(image.view.lower(), place),
            **self._file(image.path),
        )

    def _file_stem(self, what: str, place: int) -> str:
        parts = (_NOT_PLAIN.sub("-", part)[:_LONGEST_PART] for part in (self._stem, what))
        return f"{'-'.join(parts)}-{place}"

    def _file(self, path: str) -> dict[str, Any]:
        there = self._set

        def read() -> Radiograph:
            return read_image(find_image_file(there, path))

        return {
            "read": read,
            "source": None if self._is_hidden else partial(find_image_file, there, path),
            "file_name": "" if self._is_hidden else PurePath(path.replace("\\", "/")).name,
        }


# Comments and decisions on a case, from the set's files and the reviews.

_ON: Final = {"case": "the case", "answer": "the answer", "box": "a box", "span": "words"}


def failure_name(failure: str) -> str:
    """Return the display name of a failure, including failures defined by the set."""
    return FAILURES[failure].name if failure in FAILURES else failure.replace("_", " ")


class CommentsAndDecisions:
    """Comments and decisions by case; ``models`` has the id of each model in the export."""

    def __init__(self, source: ExportSource, models: Mapping[str, str]) -> None:
        self._models = models
        self._comments: dict[str, list[Comment]] = {}
        for comment in source.reviews.comments():
            self._comments.setdefault(comment.case, []).append(comment)
        self._decisions: dict[str, list[Decision]] = {}
        for decision in list_decisions(source.review_set):
            self._decisions.setdefault(decision.case, []).append(decision)

    def comments(self, case_id: str) -> tuple[ExportComment, ...]:
        """Return the comments on a case, in order of creation."""
        return tuple(
            ExportComment(
                id=one.id,
                model=self._model(one.model),
                person=one.person_name,
                text=one.text,
                on=_comment_target(one.on),
                at=one.at,
                reply_to=one.reply_to,
                resolved=one.resolved,
            )
            for one in self._comments.get(case_id, ())
        )

    def decisions(self, case_id: str) -> tuple[ExportDecision, ...]:
        """Return the decisions of meetings on a case and its answers, the newest meeting first."""
        return tuple(
            ExportDecision(
                model=self._model(one.model),
                meeting=one.meeting,
                meeting_name=one.meeting_name,
                held=one.held,
                reader=one.by,
                failure=one.failure,
                failure_name=one.failure_words,
                severity=one.severity,
                decision=one.decision,
                decision_name=one.decision_words,
                owner=one.owner,
                due=one.due,
                done=one.done,
                is_open=one.is_open,
                comment=one.comment,
                created=one.written,
                stale=one.replaced,
            )
            for one in self._decisions.get(case_id, ())
        )

    def _model(self, model: str | None) -> str | None:
        return self._models.get(model, model) if model else None


def discussed_models(source: ExportSource, cases: Collection[str]) -> list[str]:
    """Return the models that comments and decisions name, including models no longer in the set."""
    there = source.review_set
    rows = pl.concat([table.select("case", "model") for table in (there.comments, there.decisions)])
    named = rows.filter(pl.col("case").is_in(list(cases)))["model"].drop_nulls()
    return named.unique(maintain_order=True).to_list()


def _comment_target(on: Mapping[str, Any]) -> str:
    quote = on.get("text") or on.get("label")
    words = _ON.get(str(on.get("what")), "the case")
    return f"{words}: {quote}" if quote else words


INCOMPLETE_SCAN_NOTE: Final = "Failures are so far: not every answer has been looked at yet."
_T = TypeVar("_T")
_AT_ONCE: Final = 100
"""Cases whose digests are computed together."""
_ID_COLUMNS: Final[dict[IdKind, str]] = {
    "case": "id",
    "study": "study_id",
    "patient": "patient_id",
    "site": "site",
}


def make_content(
    source: ExportSource,
    chosen: ExportedCases,
    *,
    pseudonyms: bool = False,
    has_pictures: bool = True,
    check: Callable[[], None] = lambda: None,
) -> tuple[ExportContent, Pseudonyms | None]:
    """Return the content of an export, and the pseudonyms if they are requested.

    With ``has_pictures`` the headers of all pictures are checked for burned-in text; no picture is
    decoded before its case is exported. ``check`` is called regularly and raises if the export is
    cancelled.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    made = _ContentBuilder(source, chosen, _pseudonyms(source, chosen) if pseudonyms else None)
    notes = []
    if pseudonyms:
        notes += [f"Cases, studies, patients and sites have pseudonyms. {NAMES_STAY_NOTE}"]
        notes += [SHORT_IDS_STAY_NOTE] if made.hidden and made.hidden.has_short else []
    if not source.engine.scanned(CaseFilter()).is_complete:
        notes.append(INCOMPLETE_SCAN_NOTE)
    if has_pictures and (warning := burned_in_warning(source.review_set, chosen.cases, check)):
        notes.append(warning)
    content = ExportContent(
        title=chosen.minutes.meeting.name if chosen.minutes else source.review_set.info.name,
        set_name=source.review_set.info.name,
        notice=source.review_set.info.notice,
        made=datetime.now(UTC),
        models=(*made.models.values(), *made.left),
        readers=source.review_set.reader_names,
        case_ids=tuple(map(made.case_id, chosen.cases)),
        cases=made.cases,
        whole=made.whole,
        harm_levels=source.engine.facts.harm.levels,
        pseudonyms=pseudonyms,
        minutes=made.minutes(),
    )
    if made.hidden:
        told = made.hidden.everywhere(replace(content, case_ids=(), minutes=None))
        content = replace(told, case_ids=content.case_ids, minutes=content.minutes)
    return replace(content, notes=tuple(notes)), made.hidden


def _pseudonyms(source: ExportSource, chosen: ExportedCases) -> Pseudonyms:
    """Return pseudonyms for all ids, as texts may contain any; exported ones are numbered first."""
    cases = source.review_set.cases
    rows = source.review_set.case_rows(pl.Series(chosen.cases, dtype=pl.String()))
    exported = cases[rows]
    return Pseudonyms(
        {
            kind: [*exported[column].drop_nulls(), *cases[column].drop_nulls()]
            for kind, column in _ID_COLUMNS.items()
        }
    )


class _ContentBuilder:
    """Makes the cases of one export."""

    def __init__(
        self, source: ExportSource, chosen: ExportedCases, hidden: Pseudonyms | None
    ) -> None:
        self.source, self.chosen, self.hidden = source, chosen, hidden
        there = source.review_set
        known = [model.id for model in there.models]
        left = [one for one in discussed_models(source, chosen.cases) if one not in known]
        colours = assign_model_colours([*known, *left])
        ids = _plain_ids([*known, *left])
        every = {
            real: ExportModel(
                ids[real],
                _last_path_part(there.model_names.get(real, real).replace(real, ids[real])),
                colours[real],
            )
            for real in ids
        }
        self.models = {real: every[real] for real in known}
        self.left = tuple(every[real] for real in left)
        self._digests = digests_of(there)
        self._said = CommentsAndDecisions(source, ids)

    def case_id(self, case_id: str) -> str:
        return self.hidden.of("case", case_id) if self.hidden else case_id

    def minutes(self) -> Minutes | None:
        """Return the minutes for the exported cases, without the filter that found them."""
        whole, left = self.chosen.minutes, set(self.chosen.cases)
        if whole is None:
            return None
        of_case = {item.case: item for item in whole.items}
        items = [
            replace(
                item,
                number=number,
                case=self.case_id(item.case),
                question=self._shown(item.question),
                section=self._shown(item.section),
                vote=self._vote(item.vote),
                decisions=tuple(map(self._decision, item.decisions)),
            )
            for number, item in enumerate((of_case[one] for one in self.chosen.cases), 1)
        ]
        met = whole.meeting
        meeting = replace(
            self._shown(met),
            agenda=tuple(
                replace(self._shown(one), found_by="", case=self.case_id(one.case))
                for one in met.agenda
                if one.case in left
            ),
            votes={item.case: item.vote for item in items if item.vote},
            seconds={item.case: item.seconds for item in items if item.seconds is not None},
        )
        return Minutes(meeting, tuple(items))

    def _shown(self, value: _T) -> _T:
        """Return a text or record as exported, with pseudonyms if wanted."""
        return self.hidden.everywhere(value) if self.hidden else value

    def _vote(self, vote: CaseVote | None) -> CaseVote | None:
        if vote is None:
            return None
        return replace(vote, right={self._model_id(one): n for one, n in vote.right.items()})

    def _decision(self, one: Decision) -> Decision:
        model = None if one.model is None else self._model_id(one.model)
        return replace(self._shown(one), case=self.case_id(one.case), model=model)

    def _model_id(self, model: str) -> str:
        return self._shown(self.models[model].id if model in self.models else model)

    def whole(self) -> WholeSet:
        """Return the open set itself, for the review-set format."""
        there = self.source
        return WholeSet(there.review_set, there.reviews, self.chosen.cases, self.hidden)

    def cases(self) -> Iterator[ExportCase]:
        """Yield the cases, made one at a time."""
        models = self.source.review_set.index.models
        for number, case_id in enumerate(self.chosen.cases, 1):
            if number % _AT_ONCE == 1:  # one by one would take as long as all the rest
                ahead = self.chosen.cases[number - 1 : number - 1 + _AT_ONCE]
                self._digests.of_all((case, model) for case in ahead for model in models)
            page = build_case_page(self.source.review_set, case_id, self.source.engine)
            if page is None:
                continue
            made = self._case(page, number)
            if self.hidden:
                made = self._hidden(made, page.case, self.hidden)
            yield made

    @staticmethod
    def _hidden(made: ExportCase, case: Case, hidden: Pseudonyms) -> ExportCase:
        def of(kind: IdKind, real: str | None) -> str | None:
            return hidden.of(kind, real) if real is not None else None

        return replace(
            hidden.everywhere(made),
            id=hidden.of("case", case.id),
            study=of("study", case.study_id),
            patient=of("patient", case.patient_id),
            site=of("site", case.site),
        )

    def _case(self, page: CasePage, number: int) -> ExportCase:
        case = page.case
        stem = f"{number:04d}-{self.case_id(case.id)}"
        pictures = CasePictures(self.source.review_set, case, stem, is_hidden=bool(self.hidden))
        met = self.chosen.minutes.meeting if self.chosen.minutes else None
        item = next((one for one in met.agenda if one.case == case.id), None) if met else None
        key = select_key_sentences(page, self.source.engine.facts.harm)
        return ExportCase(
            number=number,
            id=case.id,
            question=case.question,
            question_type=case.question_type,
            category=CATEGORY_NAMES.get(case.category or "", case.category or ""),
            options=case.options,
            correct=case.correct,
            explanation=case.explanation,
            tags=case.tags,
            difficulty=case.difficulty,
            study=case.study_id,
            patient=case.patient_id,
            site=case.site,
            normal=case.normal,
            context=case.context,
            report=case.report,
            images=pictures.images(),
            reference_boxes=tuple(pictures.box(None, box) for box in case.reference_boxes),
            answers=tuple(
                self._answer(page, pictures, answer, key.answers[answer.model])
                for answer in page.answers
            ),
            scores=self._scores(page),
            flags=self._flags(page),
            marks=self._marks(page),
            comments=self._said.comments(case.id),
            decisions=self._said.decisions(case.id),
            section=item.section if item else "",
            minutes=item.minutes if item else None,
            seconds=met.seconds.get(case.id) if met else None,
            vote=self._vote(met.votes.get(case.id)) if met else None,
            headline=self._headline(page),
            key_sentences=key.report,
        )

    def _headline(self, page: CasePage) -> str:
        found = build_case_headline(page, self.source.engine.facts.harm)
        return f"{found.words} · {self.models[found.model].name}" if found else ""

    def _answer(
        self, page: CasePage, pictures: CasePictures, answer: Answer, key: tuple[str, ...]
    ) -> ExportAnswer:
        model = self.models[answer.model]
        final = page.finals.get(answer.model)
        numbers = (
            {**final.by_dimension, "content": final.content, "gap": final.gap} if final else {}
        )
        is_choice = answer.choice is not None and page.case.correct is not None
        return ExportAnswer(
            model=model.id,
            text=answer.text or "",
            status=find_status(answer),
            explanation=answer.explanation,
            choice=answer.choice,
            choice_correct=answer.choice == page.case.correct if is_choice else None,
            finish_reason=answer.finish_reason,
            run=answer.run_id,
            prompt=answer.prompt_id,
            created=answer.created,
            digest=self._digests.of(answer.case, answer.model),
            boxes=tuple(pictures.box(model.id, box) for box in answer.boxes),
            pictures=tuple(
                pictures.returned(model, path, at) for at, path in enumerate(answer.images, 1)
            ),
            final={name: value for name, value in numbers.items() if value is not None},
            n_readers=final.n_readers if final else 0,
            key_sentences=key,
        )

    def _scores(self, page: CasePage) -> tuple[ExportScore, ...]:
        """Return the scores that count: those of readers still working on the case do not."""
        return tuple(
            ExportScore(
                self.models[one.model].id,
                one.reader,
                one.dimension,
                one.score,
                one.image,
                one.comment,
                one.created,
            )
            for one in page.scores
            if one.score is not None and one.model in self.models
            if not (one.origin == "app" and one.reader in page.unfinished)
        )

    def _flags(self, page: CasePage) -> tuple[ExportFlag, ...]:
        table = self.source.engine.facts.harm
        failures = {
            answer.model: find_answer_failures(
                (flag for flag in page.flags if flag.model == answer.model), table
            )
            for answer in page.answers
        }
        return tuple(
            ExportFlag(
                model=self.models[flag.model].id,
                failure=flag.failure,
                name=failure_name(flag.failure),
                source=flag.source,
                message=flag.message,
                hint=flag.is_hint,
                reader=flag.reader,
                verdict=flag.verdict,
                severity=_flag_harm(flag, failures[flag.model], table),
            )
            for flag in page.flags
        )

    def _marks(self, page: CasePage) -> tuple[ExportMark, ...]:
        """Return readers' failures in words on current answers, not on replaced ones."""
        return tuple(
            ExportMark(
                model=self.models[one.mark.model].id,
                failure=one.mark.failure,
                name=one.words.prompt.name,
                version=one.mark.version,
                reader=one.mark.reader,
                comment=one.mark.comment,
                created=one.mark.created,
            )
            for one in page.marks
            if not one.mark.stale and one.mark.model in self.models
        )


def _flag_harm(flag: Flag, failures: Mapping[str, AnswerFailure], table: HarmTable) -> int | None:
    """Return the harm of a flag: that of its failure, as on pages, if the failure counts.

    A rejected flag has the harm of its own finding. A failure missing in the table has none.
    """
    if flag.failure not in FAILURES:
        return None
    if flag.verdict == "rejected":
        return table.of(flag.failure, flag_finding(flag))
    return failures[flag.failure].harm


def _last_path_part(name: str) -> str:
    """Return the last part of a name that is a path, as for a local model."""
    is_path = re.match(r"[/\\~]|\.{1,2}[/\\]|[A-Za-z]:[/\\]|file:", name)
    return re.split(r"[/\\]", name.rstrip("/\\"))[-1] if is_path else name


def _plain_ids(models: Iterable[str]) -> dict[str, str]:
    """Return an id without a path for each model; duplicates get a number."""
    found: dict[str, str] = {}
    for model in models:
        plain, number = _last_path_part(model), 1
        name = plain
        while name in found.values():
            number += 1
            name = f"{plain}-{number}"
        found[model] = name
    return found
