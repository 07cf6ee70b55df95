"""The list of what belongs to a case (PS3.3 A.35.4, PS3.16 TID 2010), and what it is for."""

from __future__ import annotations

from collections.abc import Sequence

from highdicom.ko import KeyObjectSelection, KeyObjectSelectionDocument
from pydicom import Dataset
from pydicom.sr.codedict import codes

from rexview.export.dicom_sr.groups import by_device
from rexview.export.dicom_sr.objects import CaseObjects, plain_text


def key_objects(
    objects: CaseObjects,
    study: str,
    listed: Sequence[Dataset],
    *,
    meeting: str,
    notes: Sequence[str],
) -> Dataset | None:
    """List the images, reports and presentation states of a case.

    Its title is "For Conference" (113005, DCM) where a meeting is exported, else "For Peer Review"
    (113008, DCM).

    Parameters
    ----------
    listed : sequence of Dataset
        What is listed; what lies in another study than ``study`` is left out, as such a document
        is of one study, and stands in the reports.
    meeting : str
        Name of the meeting, empty where none is exported.
    notes : sequence of str
        What whoever passes the export on has to know.

    Returns
    -------
    Dataset or None
        None where nothing is left to list.
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
        observer_device_context=by_device(objects.uid("rexview"), "rexview", "rexview"),
        description=plain_text("\n".join(filter(None, said))),
    )
    return KeyObjectSelectionDocument(
        evidence=there, content=content, **objects.numbered("KO", study, 1)
    )
