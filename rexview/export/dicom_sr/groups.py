"""Groups of a structured report (PS3.16 TID 1501 and 1410): what somebody or something found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from highdicom.sr import (
    AlgorithmIdentification,
    CodedConcept,
    DeviceObserverIdentifyingAttributes,
    FindingSite,
    ImageRegion,
    Measurement,
    MeasurementsAndQualitativeEvaluations,
    ObserverContext,
    PersonObserverIdentifyingAttributes,
    PlanarROIMeasurementsAndQualitativeEvaluations,
    QualitativeEvaluation,
    SourceImageForRegion,
    TextContentItem,
    TrackingIdentifier,
)
from pydicom.sr.codedict import codes

from rexview.export.dicom_sr.boxes import PlacedBox
from rexview.export.dicom_sr.codes import coded, private
from rexview.export.dicom_sr.objects import CaseObjects, long_string, plain_text

Group = MeasurementsAndQualitativeEvaluations | PlanarROIMeasurementsAndQualitativeEvaluations
ONE_TO_FIVE: Final = CodedConcept("{1:5}", "UCUM", "range: 1:5")
ZERO_TO_FOUR: Final = CodedConcept("{0:4}", "UCUM", "range: 0:4")
NO_UNIT: Final = CodedConcept("1", "UCUM", "no units")
SECONDS: Final = CodedConcept("s", "UCUM", "second")
_TRACKED: Final = 2
"""Items of a group that say which it is (TID 4108); who observed comes after them."""
COUNT: Final = CodedConcept("{count}", "UCUM", "count")


def text(name: CodedConcept, words: str | None) -> list[TextContentItem]:
    """Return a text item, none where nothing is said."""
    said = plain_text(words or "")
    return [TextContentItem(name, said, "CONTAINS")] if said else []


def comment(words: str | None) -> list[TextContentItem]:
    """Return what somebody added in their own words."""
    return text(CodedConcept("121106", "DCM", "Comment"), words)


def number(
    name: CodedConcept, value: float | None, unit: CodedConcept = NO_UNIT
) -> list[Measurement]:
    """Return a number, none where there is none."""
    return [] if value is None else [Measurement(name, float(value), unit)]


def word(name: CodedConcept, value: CodedConcept) -> QualitativeEvaluation:
    """Return a coded word."""
    return QualitativeEvaluation(name, value)


def by_person(name: str) -> ObserverContext:
    """Say that a person observed (PS3.16 TID 1003); the whole name is one part of it."""
    plain = long_string(name.replace("^", " ").replace("=", " "), 60) or "unknown"
    return ObserverContext(codes.DCM.Person, PersonObserverIdentifyingAttributes(name=f"{plain}^"))


def by_device(uid: str, name: str, model_name: str) -> ObserverContext:
    """Say that a program observed (PS3.16 TID 1004)."""
    return ObserverContext(
        codes.DCM.Device,
        DeviceObserverIdentifyingAttributes(
            uid=uid, name=plain_text(name) or model_name, model_name=model_name
        ),
    )


def group(
    objects: CaseObjects,
    title: str,
    of: Sequence[object],
    *,
    items: Sequence[TextContentItem] = (),
    observer: ObserverContext | None = None,
    **parts: Any,
) -> MeasurementsAndQualitativeEvaluations:
    """Make a group that is about the answer or the case as a whole (TID 1501).

    Parameters
    ----------
    title : str
        Its tracking identifier, for people.
    of : sequence
        What it is of: its tracking UID is derived from this.
    items : sequence of TextContentItem
        What stands in it as text.
    observer : ObserverContext, optional
        Whose finding it is, where that is not the document's observer.
    **parts
        Further parts, as the template has them.
    """
    made = MeasurementsAndQualitativeEvaluations(
        tracking_identifier=TrackingIdentifier(objects.uid("group", *of), plain_text(title)),
        **parts,
    )
    _fill(made, observer, items)
    return made


def box_group(
    placed: PlacedBox, algorithm: AlgorithmIdentification | None
) -> PlanarROIMeasurementsAndQualitativeEvaluations:
    """Make the group of one box (TID 1410): its outline, what is there, and where."""
    box, found = placed.box, coded(placed.box.label, placed.box.side)
    reference = placed.image.reference
    region = ImageRegion(
        graphic_type="POLYLINE",
        graphic_data=placed.outline,
        source_image=SourceImageForRegion(reference.SOPClassUID, reference.SOPInstanceUID),
    )
    sites = [FindingSite(found.site, found.side)] if found.site else []
    items = text(private("label", "Label of the box, as given"), box.label)
    if placed.is_cut:
        numbers = ", ".join(f"{part:g}" for part in box.box)
        items += comment(f"Sticks out of the image. As given: x, y, width, height {numbers}.")
    if box.unsure:
        items += comment("It is not known how the model counts: the box may lie elsewhere.")
    if found.side and not found.site:
        items += comment(f"On the {box.side} side of the patient.")
    made = PlanarROIMeasurementsAndQualitativeEvaluations(
        tracking_identifier=TrackingIdentifier(placed.tracking_uid, placed.tracking_id),
        referenced_region=region,
        finding_type=found.finding,
        algorithm_id=algorithm,
        finding_sites=sites or None,
        measurements=number(private("confidence", "Confidence, as given"), box.score) or None,
    )
    _fill(made, None, items)
    return made


def algorithm(name: str, version: str | None, *parameters: str) -> AlgorithmIdentification:
    """Say which program found something (PS3.16 TID 4019)."""
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
