"""Structured reports of a case (PS3.3 A.35.3, PS3.16 TID 1500): one an answer, one of the case."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from highdicom.sr import (
    CodedConcept,
    ComprehensiveSR,
    MeasurementReport,
    ObservationContext,
    ObserverContext,
    TextContentItem,
)
from pydicom import Dataset
from pydicom.uid import SecondaryCaptureImageStorage

from rexview import __version__
from rexview.export.dicom_sr.boxes import PlacedBox
from rexview.export.dicom_sr.codes import private
from rexview.export.dicom_sr.groups import (
    COUNT,
    NO_UNIT,
    ONE_TO_FIVE,
    SECONDS,
    ZERO_TO_FOUR,
    Group,
    algorithm,
    box_group,
    by_device,
    by_person,
    comment,
    group,
    number,
    text,
    word,
)
from rexview.export.dicom_sr.images import DicomImage
from rexview.export.dicom_sr.objects import CaseObjects, coding_scheme
from rexview.export.records import (
    ExportAnswer,
    ExportBox,
    ExportCase,
    ExportComment,
    ExportDecision,
    ExportFlag,
    ExportModel,
    ExportScore,
)
from rexview.stats import STATUSES
from rexview.vocab import DIMENSION_NAMES, lettered

_CHEST_X_RAY: Final = CodedConcept("399208008", "SCT", "Plain X-ray of chest")
_GAP: Final = "Gap (Process minus Execution)"
OffImage = Sequence[tuple[ExportBox, str]]


class Reports:
    """Makes the reports of one case.

    Parameters
    ----------
    people : mapping
        How each reader is named, by id.
    harm_levels : mapping
        The words of the review set for each level of harm, 0 to 4.
    """

    def __init__(
        self,
        objects: CaseObjects,
        study: str,
        people: Mapping[str, str],
        harm_levels: Mapping[int, str],
    ) -> None:
        self._objects, self._case = objects, objects.case
        self._study, self._people = study, people
        self._harm_levels = harm_levels
        self._made = 0

    def of_answer(
        self,
        answer: ExportAnswer,
        model: ExportModel,
        images: Sequence[DicomImage],
        boxes: Sequence[PlacedBox],
        off_image: OffImage,
    ) -> Dataset:
        """Make the report of an answer: its boxes, its text, and all that was said of it."""
        source = algorithm(
            model.name,
            answer.run,
            f"model: {model.id}",
            f"prompt: {answer.prompt}" if answer.prompt else "",
        )
        groups: list[Group] = [box_group(box, source) for box in boxes]
        groups.append(self._answer(answer, source, off_image))
        groups += self._final(answer)
        groups += self._scores(one for one in self._case.scores if one.model == answer.model)
        groups += self._flags(one for one in self._case.flags if one.model == answer.model)
        groups += self._said(answer.model)
        observer = by_device(self._objects.uid("model", model.id), model.name, model.id)
        return self._report(groups, observer, images)

    def of_case(
        self,
        images: Sequence[DicomImage],
        boxes: Sequence[PlacedBox],
        off_image: OffImage,
    ) -> Dataset:
        """Make the report of a case: question, reference and what was said of it as a whole."""
        case = self._case
        groups: list[Group] = [box_group(box, None) for box in boxes]
        groups.append(self._asked(off_image))
        groups += self._said(None)
        if case.vote:
            right = ", ".join(f"{who}: {n}" for who, n in case.vote.right.items() if n)
            harm = ", ".join(f"{grade}: {n}" for grade, n in case.vote.harm.items() if n)
            groups.append(
                group(
                    self._objects,
                    "Vote of the meeting",
                    ["vote"],
                    items=[
                        *text(private("vote_right", "Who is right, votes"), right),
                        *text(private("vote_harm", "Harm 0 to 4, votes"), harm),
                    ],
                    measurements=number(private("votes", "Votes"), case.vote.count, COUNT),
                )
            )
        program = by_device(self._objects.uid("rexview"), "rexview", "rexview")
        return self._report(groups, program, images)

    def _report(
        self,
        groups: Sequence[Group],
        observer: ObserverContext,
        images: Sequence[DicomImage],
    ) -> ComprehensiveSR:
        self._made += 1
        references = [image.reference for image in images]
        of_study = [one for one in references if one.StudyInstanceUID == self._study]
        subject = of_study[0] if of_study else self._nothing()
        made = ComprehensiveSR(
            evidence=[subject, *references],
            content=MeasurementReport(
                observation_context=ObservationContext(observer_device_context=observer),
                procedure_reported=_CHEST_X_RAY,
                imaging_measurements=groups,
                referenced_images=references or None,
            ),
            is_complete=True,
            coding_schemes=coding_scheme(),
            series_description="Review of answers",
            **self._objects.numbered("SR", self._study, self._made),
        )
        if not of_study:
            del made.CurrentRequestedProcedureEvidenceSequence
        return made

    def _nothing(self) -> Dataset:
        """Return what stands for patient and study where the study has no image."""
        made = self._objects.header(self._study)
        made.SeriesInstanceUID = made.SOPInstanceUID = self._objects.uid("nothing")
        made.SOPClassUID = SecondaryCaptureImageStorage
        return made

    def _asked(self, off_image: OffImage) -> Group:
        case = self._case
        items = [
            *text(private("case", "Case"), case.id),
            *text(private("question", "Question"), case.question),
            *_options(case),
            *text(private("explanation", "Explanation of the reference"), case.explanation),
            *text(private("indication", "Indication"), case.context.indication),
            *text(private("findings", "Reference report: findings"), case.report.findings),
            *text(private("impression", "Reference report: impression"), case.report.impression),
            *self._undrawn(off_image),
            *self._notice(),
        ]
        shown = number(private("shown", "Shown in the meeting"), case.seconds, SECONDS)
        return group(
            self._objects, "Question and reference", ["case"], items=items, measurements=shown
        )

    def _answer(self, answer: ExportAnswer, source: Any, off_image: OffImage) -> Group:
        case = self._case
        chosen = ""
        if answer.choice is not None and 0 <= answer.choice < len(case.options):
            chosen = lettered(case.options[answer.choice], answer.choice)
        items = [
            *text(private("case", "Case"), case.id),
            *text(private("question", "Question"), case.question),
            *text(private("answer", "Answer"), answer.text),
            *text(private("chosen", "Chosen option"), chosen),
            *text(private("answer_reason", "Explanation by the model"), answer.explanation),
            *text(private("status", "What became of the answer"), _status(answer)),
            *self._undrawn(off_image),
            *self._notice(),
        ]
        parts: dict[str, Any] = {"algorithm_id": source}
        if answer.choice_correct is not None:
            yes_no = ("373066001", "Yes") if answer.choice_correct else ("373067005", "No")
            is_right = CodedConcept(yes_no[0], "SCT", yes_no[1])
            parts["qualitative_evaluations"] = [
                word(private("choice_right", "The chosen option is right"), is_right)
            ]
        return group(self._objects, "Answer", ["answer", answer.model], items=items, **parts)

    def _notice(self) -> list[TextContentItem]:
        return text(private("notice", "Notice"), self._objects.notice)

    @staticmethod
    def _undrawn(off_image: OffImage) -> list[TextContentItem]:
        """Name the boxes that lie on no image of the export."""
        found = []
        for box, problem in off_image:
            where = ", ".join(f"{part:g}" for part in box.box)
            said = f"{box.label} ({box.image}: x, y, width, height {where}). {problem}"
            found += text(private("undrawn", "Box that could not be placed"), said)
        return found

    def _final(self, answer: ExportAnswer) -> Iterator[Group]:
        if not answer.final:
            return
        numbers = []
        for name, value in answer.final.items():
            unit = NO_UNIT if name == "gap" else ONE_TO_FIVE
            named = private(name, _GAP if name == "gap" else DIMENSION_NAMES.get(name, name))
            numbers += number(named, value, unit)
        numbers += number(private("n_readers", "Readers"), answer.n_readers, COUNT)
        yield group(
            self._objects,
            "Final scores",
            ["final", answer.model],
            algorithm_id=algorithm("rexview final scores", __version__),
            measurements=numbers,
        )

    def _scores(self, scores: Iterable[ExportScore]) -> Iterator[Group]:
        by_reader: dict[tuple[str, str], list[ExportScore]] = defaultdict(list)
        for score in scores:
            by_reader[(score.model, score.reader)].append(score)
        for (model, reader), given in by_reader.items():
            numbers, items = [], []
            for one in given:
                name = DIMENSION_NAMES.get(one.dimension, one.dimension)
                named = f"{name}, picture {one.image}" if one.image else name
                key = f"{one.dimension}_{one.image}" if one.image else one.dimension
                numbers += number(private(key, named), one.score, ONE_TO_FIVE)
                items += comment(f"{named}: {one.comment}" if one.comment else None)
            yield group(
                self._objects,
                f"Scores by {self._person(reader)}",
                ["scores", model, reader],
                items=items,
                observer=by_person(self._person(reader)),
                measurements=numbers,
            )

    def _flags(self, flags: Iterable[ExportFlag]) -> Iterator[Group]:
        for place, flag in enumerate(flags):
            of_reader = flag.source == "reader"
            kind = "Possible failure" if flag.hint else "Failure"
            named = private("possible_failure" if flag.hint else "failure", kind)
            evaluations = [
                word(named, private(flag.failure, flag.name)),
                *self._harm_in_words(flag.severity),
            ]
            if flag.verdict:
                said = private(flag.verdict, flag.verdict.capitalize())
                evaluations.append(word(private("verdict", "Verdict"), said))
            person = self._person(flag.reader or "") if of_reader else ""
            yield group(
                self._objects,
                f"{kind}: {flag.name}",
                ["flag", flag.model, flag.failure, flag.source, flag.reader, place],
                items=comment(flag.message),
                observer=by_person(person) if of_reader else None,
                algorithm_id=None if of_reader else algorithm("rexview rules", __version__),
                measurements=_harm(flag.severity),
                qualitative_evaluations=evaluations,
            )

    def _said(self, model: str | None) -> Iterator[Group]:
        for place, decided in enumerate(self._case.decisions):
            if decided.model == model:
                yield self._decision(decided, place)
        for one in self._case.comments:
            if one.model == model:
                yield self._comment(one)

    def _decision(self, one: ExportDecision, place: int) -> Group:
        evaluations = self._harm_in_words(one.severity)
        if one.failure:
            agreed = private(one.failure, one.failure_name)
            evaluations.append(word(private("failure", "Failure"), agreed))
        if one.decision:
            decided = private(one.decision, one.decision_name)
            evaluations.append(word(private("decision", "Decision"), decided))
        held = f" ({one.held:%Y-%m-%d})" if one.held else ""
        items = [
            *text(private("meeting", "Meeting"), f"{one.meeting_name}{held}"),
            *text(private("owner", "Who sees to it"), self._person(one.owner or "")),
            *text(private("due", "Until"), f"{one.due:%Y-%m-%d}" if one.due else ""),
            *text(private("done", "Done"), "yes" if one.done else "no"),
            *comment(one.comment),
        ]
        if one.stale:
            items += comment("The answer has been replaced since.")
        return group(
            self._objects,
            f"Decision of {one.meeting_name}",
            ["decision", one.model, one.meeting, place],
            items=items,
            observer=by_person(self._person(one.reader)),
            measurements=_harm(one.severity),
            qualitative_evaluations=evaluations or None,
        )

    def _comment(self, one: ExportComment) -> Group:
        items = [
            *text(private("on", "On"), one.on),
            *comment(one.text),
            *text(private("reply_to", "Reply to comment"), one.reply_to),
            *text(private("resolved", "Settled"), "yes" if one.resolved else ""),
            *text(private("written", "Written"), f"{one.at:%Y-%m-%d %H:%M}" if one.at else ""),
        ]
        person = self._person(one.person)
        return group(
            self._objects,
            f"Comment by {person} ({one.id})",
            ["comment", one.id],
            items=items,
            observer=by_person(person),
        )

    def _person(self, who: str) -> str:
        return self._people.get(who, who)

    def _harm_in_words(self, severity: int | None) -> list[Any]:
        if severity is None or severity not in self._harm_levels:
            return []
        said = self._harm_levels[severity].partition(".")[0]
        grade = private(f"harm_{severity}", said)
        return [word(private("harm_grade", "Harm in words"), grade)]


def _harm(severity: int | None) -> list[Any]:
    return number(private("harm", "Harm to the patient"), severity, ZERO_TO_FOUR)


def _options(case: ExportCase) -> Iterator[TextContentItem]:
    for at, option in enumerate(case.options):
        yield from text(private("option", "Option"), lettered(option, at))
    if case.correct is not None and 0 <= case.correct < len(case.options):
        right = lettered(case.options[case.correct], case.correct)
        yield from text(private("right_option", "Right option"), right)


def _status(answer: ExportAnswer) -> str:
    said = STATUSES.get(answer.status, answer.status)
    return f"{said} (finish reason: {answer.finish_reason})"
