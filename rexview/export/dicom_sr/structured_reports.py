"""Make a case's structured reports (PS3.3 A.35.3, PS3.16 TID 1500), for answers and the case."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from highdicom.ko import KeyObjectSelection, KeyObjectSelectionDocument
from highdicom.sr import (
    AlgorithmIdentification,
    CodedConcept,
    ComprehensiveSR,
    DeviceObserverIdentifyingAttributes,
    FindingSite,
    ImageRegion,
    Measurement,
    MeasurementReport,
    MeasurementsAndQualitativeEvaluations,
    ObservationContext,
    ObserverContext,
    PersonObserverIdentifyingAttributes,
    PlanarROIMeasurementsAndQualitativeEvaluations,
    QualitativeEvaluation,
    SourceImageForRegion,
    TextContentItem,
    TrackingIdentifier,
)
from pydicom import Dataset
from pydicom.sr.codedict import codes
from pydicom.uid import SecondaryCaptureImageStorage

from rexview import __version__
from rexview.export.dicom_sr.case_images import DicomImage, PlacedBox
from rexview.export.dicom_sr.dicom_objects import (
    CaseObjects,
    coding_scheme,
    find_label_codes,
    long_string,
    plain_text,
    private_code,
)
from rexview.export.export_records import (
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
from rexview.vocab import DIMENSION_NAMES, option_with_letter

# Groups of a structured report (PS3.16 TID 1501 and 1410): findings of people and programs.

Group = MeasurementsAndQualitativeEvaluations | PlanarROIMeasurementsAndQualitativeEvaluations
ONE_TO_FIVE: Final = CodedConcept("{1:5}", "UCUM", "range: 1:5")
ZERO_TO_FOUR: Final = CodedConcept("{0:4}", "UCUM", "range: 0:4")
NO_UNIT: Final = CodedConcept("1", "UCUM", "no units")
SECONDS: Final = CodedConcept("s", "UCUM", "second")
_TRACKED: Final = 2
"""Items that identify a group (TID 4108); the observer comes after them."""
COUNT: Final = CodedConcept("{count}", "UCUM", "count")


def text_items(name: CodedConcept, words: str | None) -> list[TextContentItem]:
    """Return a text item; none without a text."""
    said = plain_text(words or "")
    return [TextContentItem(name, said, "CONTAINS")] if said else []


def comment_items(words: str | None) -> list[TextContentItem]:
    """Return a comment item; none without words."""
    return text_items(CodedConcept("121106", "DCM", "Comment"), words)


def number_items(
    name: CodedConcept, value: float | None, unit: CodedConcept = NO_UNIT
) -> list[Measurement]:
    """Return a number item; none without a value."""
    return [] if value is None else [Measurement(name, float(value), unit)]


def word_item(name: CodedConcept, value: CodedConcept) -> QualitativeEvaluation:
    """Return a coded word."""
    return QualitativeEvaluation(name, value)


def person_observer(name: str) -> ObserverContext:
    """Return a person as the observer (PS3.16 TID 1003); the whole name is one component."""
    plain = long_string(name.replace("^", " ").replace("=", " "), 60) or "unknown"
    return ObserverContext(codes.DCM.Person, PersonObserverIdentifyingAttributes(name=f"{plain}^"))


def device_observer(uid: str, name: str, model_name: str) -> ObserverContext:
    """Return a program as the observer (PS3.16 TID 1004)."""
    return ObserverContext(
        codes.DCM.Device,
        DeviceObserverIdentifyingAttributes(
            uid=uid, name=plain_text(name) or model_name, model_name=model_name
        ),
    )


def make_group(
    objects: CaseObjects,
    title: str,
    of: Sequence[object],
    *,
    items: Sequence[TextContentItem] = (),
    observer: ObserverContext | None = None,
    **parts: Any,
) -> MeasurementsAndQualitativeEvaluations:
    """Make a group about the answer or the case as a whole (TID 1501).

    Parameters
    ----------
    title : str
        Its tracking identifier, readable for people.
    of : sequence
        Parts from which its tracking UID is derived.
    items : sequence of TextContentItem
        Its text items.
    observer : ObserverContext, optional
        Whose finding it is, if not the document's observer.
    **parts
        Further parts of the template.
    """
    made = MeasurementsAndQualitativeEvaluations(
        tracking_identifier=TrackingIdentifier(objects.uid("group", *of), plain_text(title)),
        **parts,
    )
    _fill(made, observer, items)
    return made


def make_box_group(
    placed: PlacedBox, algorithm: AlgorithmIdentification | None
) -> PlanarROIMeasurementsAndQualitativeEvaluations:
    """Make the group of one box (TID 1410): outline, finding and site."""
    box, found = placed.box, find_label_codes(placed.box.label, placed.box.side)
    reference = placed.image.reference
    region = ImageRegion(
        graphic_type="POLYLINE",
        graphic_data=placed.outline,
        source_image=SourceImageForRegion(reference.SOPClassUID, reference.SOPInstanceUID),
    )
    sites = [FindingSite(found.site, found.side)] if found.site else []
    items = text_items(private_code("label", "Label of the box, as given"), box.label)
    if placed.is_cut:
        numbers = ", ".join(f"{part:g}" for part in box.box)
        items += comment_items(f"Sticks out of the image. As given: x, y, width, height {numbers}.")
    if box.unsure:
        items += comment_items("It is not known how the model counts: the box may lie elsewhere.")
    if found.side and not found.site:
        items += comment_items(f"On the {box.side} side of the patient.")
    made = PlanarROIMeasurementsAndQualitativeEvaluations(
        tracking_identifier=TrackingIdentifier(placed.tracking_uid, placed.tracking_id),
        referenced_region=region,
        finding_type=found.finding,
        algorithm_id=algorithm,
        finding_sites=sites or None,
        measurements=number_items(private_code("confidence", "Confidence, as given"), box.score)
        or None,
    )
    _fill(made, None, items)
    return made


def algorithm(name: str, version: str | None, *parameters: str) -> AlgorithmIdentification:
    """Return the program that found something (PS3.16 TID 4019)."""
    said = [plain_text(one) for one in parameters if plain_text(one)]
    return AlgorithmIdentification(
        name=plain_text(name) or "unnamed",
        version=plain_text(version or "") or "not stated",
        parameters=said or None,
    )


def _fill(made: Group, observer: ObserverContext | None, items: Sequence[TextContentItem]) -> None:
    content = made[0].ContentSequence
    for item in reversed(observer or ()):
        content.insert(_TRACKED, item)
    content.extend(items)


_CHEST_X_RAY: Final = CodedConcept("399208008", "SCT", "Plain X-ray of chest")
_GAP: Final = "Gap (Process minus Execution)"
OffImage = Sequence[tuple[ExportBox, str]]


class CaseReports:
    """Makes the reports of one case.

    Parameters
    ----------
    people : mapping
        Name of each reader, by id.
    harm_levels : mapping
        The review set's words for each level of harm, 0 to 4.
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
        """Make the report of an answer: its boxes, its text, and all remarks on it."""
        source = algorithm(
            model.name,
            answer.run,
            f"model: {model.id}",
            f"prompt: {answer.prompt}" if answer.prompt else "",
        )
        groups: list[Group] = [make_box_group(box, source) for box in boxes]
        groups.append(self._answer(answer, source, off_image))
        groups += self._final(answer)
        groups += self._scores(one for one in self._case.scores if one.model == answer.model)
        groups += self._flags(one for one in self._case.flags if one.model == answer.model)
        groups += self._said(answer.model)
        observer = device_observer(self._objects.uid("model", model.id), model.name, model.id)
        return self._report(groups, observer, images)

    def of_case(
        self,
        images: Sequence[DicomImage],
        boxes: Sequence[PlacedBox],
        off_image: OffImage,
    ) -> Dataset:
        """Make the report of a case: question, reference and all remarks on the whole case."""
        case = self._case
        groups: list[Group] = [make_box_group(box, None) for box in boxes]
        groups.append(self._asked(off_image))
        groups += self._said(None)
        if case.vote:
            right = ", ".join(f"{who}: {n}" for who, n in case.vote.right.items() if n)
            harm = ", ".join(f"{grade}: {n}" for grade, n in case.vote.harm.items() if n)
            groups.append(
                make_group(
                    self._objects,
                    "Vote of the meeting",
                    ["vote"],
                    items=[
                        *text_items(private_code("vote_right", "Who is right, votes"), right),
                        *text_items(private_code("vote_harm", "Harm 0 to 4, votes"), harm),
                    ],
                    measurements=number_items(
                        private_code("votes", "Votes"), case.vote.count, COUNT
                    ),
                )
            )
        program = device_observer(self._objects.uid("rexview"), "rexview", "rexview")
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
        """Return patient and study in place of an image, for a study without images."""
        made = self._objects.header(self._study)
        made.SeriesInstanceUID = made.SOPInstanceUID = self._objects.uid("nothing")
        made.SOPClassUID = SecondaryCaptureImageStorage
        return made

    def _asked(self, off_image: OffImage) -> Group:
        case = self._case
        items = [
            *text_items(private_code("case", "Case"), case.id),
            *text_items(private_code("question", "Question"), case.question),
            *_options(case),
            *text_items(
                private_code("explanation", "Explanation of the reference"), case.explanation
            ),
            *text_items(private_code("indication", "Indication"), case.context.indication),
            *text_items(
                private_code("findings", "Reference report: findings"), case.report.findings
            ),
            *text_items(
                private_code("impression", "Reference report: impression"), case.report.impression
            ),
            *self._undrawn(off_image),
            *self._notice(),
        ]
        shown = number_items(private_code("shown", "Shown in the meeting"), case.seconds, SECONDS)
        return make_group(
            self._objects, "Question and reference", ["case"], items=items, measurements=shown
        )

    def _answer(self, answer: ExportAnswer, source: Any, off_image: OffImage) -> Group:
        case = self._case
        chosen = ""
        if answer.choice is not None and 0 <= answer.choice < len(case.options):
            chosen = option_with_letter(case.options[answer.choice], answer.choice)
        items = [
            *text_items(private_code("case", "Case"), case.id),
            *text_items(private_code("question", "Question"), case.question),
            *text_items(private_code("answer", "Answer"), answer.text),
            *text_items(private_code("chosen", "Chosen option"), chosen),
            *text_items(
                private_code("answer_reason", "Explanation by the model"), answer.explanation
            ),
            *text_items(private_code("status", "What became of the answer"), _status(answer)),
            *self._undrawn(off_image),
            *self._notice(),
        ]
        parts: dict[str, Any] = {"algorithm_id": source}
        if answer.choice_correct is not None:
            yes_no = ("373066001", "Yes") if answer.choice_correct else ("373067005", "No")
            is_right = CodedConcept(yes_no[0], "SCT", yes_no[1])
            parts["qualitative_evaluations"] = [
                word_item(private_code("choice_right", "The chosen option is right"), is_right)
            ]
        return make_group(self._objects, "Answer", ["answer", answer.model], items=items, **parts)

    def _notice(self) -> list[TextContentItem]:
        return text_items(private_code("notice", "Notice"), self._objects.notice)

    @staticmethod
    def _undrawn(off_image: OffImage) -> list[TextContentItem]:
        """Return the boxes that are on no image of the export, as text."""
        found = []
        for box, problem in off_image:
            where = ", ".join(f"{part:g}" for part in box.box)
            said = f"{box.label} ({box.image}: x, y, width, height {where}). {problem}"
            found += text_items(private_code("undrawn", "Box that could not be placed"), said)
        return found

    def _final(self, answer: ExportAnswer) -> Iterator[Group]:
        if not answer.final:
            return
        numbers = []
        for name, value in answer.final.items():
            unit = NO_UNIT if name == "gap" else ONE_TO_FIVE
            named = private_code(name, _GAP if name == "gap" else DIMENSION_NAMES.get(name, name))
            numbers += number_items(named, value, unit)
        numbers += number_items(private_code("n_readers", "Readers"), answer.n_readers, COUNT)
        yield make_group(
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
                numbers += number_items(private_code(key, named), one.score, ONE_TO_FIVE)
                items += comment_items(f"{named}: {one.comment}" if one.comment else None)
            yield make_group(
                self._objects,
                f"Scores by {self._person(reader)}",
                ["scores", model, reader],
                items=items,
                observer=person_observer(self._person(reader)),
                measurements=numbers,
            )

    def _flags(self, flags: Iterable[ExportFlag]) -> Iterator[Group]:
        for place, flag in enumerate(flags):
            of_reader = flag.source == "reader"
            kind = "Possible failure" if flag.hint else "Failure"
            named = private_code("possible_failure" if flag.hint else "failure", kind)
            evaluations = [
                word_item(named, private_code(flag.failure, flag.name)),
                *self._harm_in_words(flag.severity),
            ]
            if flag.verdict:
                said = private_code(flag.verdict, flag.verdict.capitalize())
                evaluations.append(word_item(private_code("verdict", "Verdict"), said))
            person = self._person(flag.reader or "") if of_reader else ""
            yield make_group(
                self._objects,
                f"{kind}: {flag.name}",
                ["flag", flag.model, flag.failure, flag.source, flag.reader, place],
                items=comment_items(flag.message),
                observer=person_observer(person) if of_reader else None,
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
            agreed = private_code(one.failure, one.failure_name)
            evaluations.append(word_item(private_code("failure", "Failure"), agreed))
        if one.decision:
            decided = private_code(one.decision, one.decision_name)
            evaluations.append(word_item(private_code("decision", "Decision"), decided))
        held = f" ({one.held:%Y-%m-%d})" if one.held else ""
        items = [
            *text_items(private_code("meeting", "Meeting"), f"{one.meeting_name}{held}"),
            *text_items(private_code("owner", "Who sees to it"), self._person(one.owner or "")),
            *text_items(private_code("due", "Until"), f"{one.due:%Y-%m-%d}" if one.due else ""),
            *text_items(private_code("done", "Done"), "yes" if one.done else "no"),
            *comment_items(one.comment),
        ]
        if one.stale:
            items += comment_items("The answer has been replaced since.")
        return make_group(
            self._objects,
            f"Decision of {one.meeting_name}",
            ["decision", one.model, one.meeting, place],
            items=items,
            observer=person_observer(self._person(one.reader)),
            measurements=_harm(one.severity),
            qualitative_evaluations=evaluations or None,
        )

    def _comment(self, one: ExportComment) -> Group:
        items = [
            *text_items(private_code("on", "On"), one.on),
            *comment_items(one.text),
            *text_items(private_code("reply_to", "Reply to comment"), one.reply_to),
            *text_items(private_code("resolved", "Settled"), "yes" if one.resolved else ""),
            *text_items(
                private_code("written", "Written"), f"{one.at:%Y-%m-%d %H:%M}" if one.at else ""
            ),
        ]
        person = self._person(one.person)
        return make_group(
            self._objects,
            f"Comment by {person} ({one.id})",
            ["comment", one.id],
            items=items,
            observer=person_observer(person),
        )

    def _person(self, who: str) -> str:
        return self._people.get(who, who)

    def _harm_in_words(self, severity: int | None) -> list[Any]:
        if severity is None or severity not in self._harm_levels:
            return []
        said = self._harm_levels[severity].partition(".")[0]
        grade = private_code(f"harm_{severity}", said)
        return [word_item(private_code("harm_grade", "Harm in words"), grade)]


def _harm(severity: int | None) -> list[Any]:
    return number_items(private_code("harm", "Harm to the patient"), severity, ZERO_TO_FOUR)


def _options(case: ExportCase) -> Iterator[TextContentItem]:
    for at, option in enumerate(case.options):
        yield from text_items(private_code("option", "Option"), option_with_letter(option, at))
    if case.correct is not None and 0 <= case.correct < len(case.options):
        right = option_with_letter(case.options[case.correct], case.correct)
        yield from text_items(private_code("right_option", "Right option"), right)


def _status(answer: ExportAnswer) -> str:
    said = STATUSES.get(answer.status, answer.status)
    return f"{said} (finish reason: {answer.finish_reason})"


# The list of a case's objects (PS3.3 A.35.4, PS3.16 TID 2010), and its purpose.


def key_objects(
    objects: CaseObjects,
    study: str,
    listed: Sequence[Dataset],
    *,
    meeting: str,
    notes: Sequence[str],
) -> Dataset | None:
    """List the images, reports and presentation states of a case.

    Its title is "For Conference" (113005, DCM) if a meeting is exported, otherwise "For Peer
    Review" (113008, DCM).

    Parameters
    ----------
    listed : sequence of Dataset
        Objects to list. Objects of another study than ``study`` are left out, as such a document is
        about one study; the reports have them.
    meeting : str
        Name of the meeting, empty without one.
    notes : sequence of str
        Notes for anyone who passes the export on.

    Returns
    -------
    Dataset or None
        None if nothing is left to list.
    """
    there = [one for one in listed if one.StudyInstanceUID == study]
    if not there:
        return None
    said = [f"Case {objects.case.id}", f"Meeting: {meeting}" if meeting else "", objects.notice]
    said += notes
    title = codes.DCM.ForConference if meeting else codes.DCM.ForPeerReview
    content = KeyObjectSelection(
        document_title=title,
        referenced_objects=there,
        observer_device_context=device_observer(objects.uid("rexview"), "rexview", "rexview"),
        description=plain_text("\n".join(filter(None, said))),
    )
    return KeyObjectSelectionDocument(
        evidence=there, content=content, **objects.numbered("KO", study, 1)
    )
