"""What is read from a text: one mention of a finding, and what a finding is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Side = Literal["right", "left", "bilateral", "midline"]
Status = Literal["positive", "negated", "uncertain", "hypothetical", "prior"]
Group = Literal["finding", "device"]


@dataclass(frozen=True, slots=True)
class Finding:
    """An entry of the lexicon.

    Attributes
    ----------
    id, name : str
        ``pleural_effusion``; ``pleural effusion``.
    group : str
        ``finding`` or ``device``.
    family : str
        Findings of one family stand for each other when two texts are compared.
    region : str
        ``lung``, ``pleura``, ``heart``, ``mediastinum``, ``airway``, ``bone``, ``soft_tissue``,
        ``abdomen`` or ``whole``.
    sided : bool
        Whether the finding lies on a side of the patient; a side beside an unsided one
        (cardiomegaly) is not its own.
    """

    id: str
    name: str
    group: Group
    family: str
    region: str
    sided: bool


class Mention(NamedTuple):
    """One place where a text speaks of a finding.

    Attributes
    ----------
    finding : str
        Id in the lexicon, see :func:`rexview.detect.findings.finding_info`.
    side : str or None
        The patient's side that the text gives it.
    zone : str or None
        ``upper``, ``mid``, ``lower``, ``apex``, ``base``, ``hilum``, ``costophrenic``, ... or a
        lobe: ``RUL``, ``RML``, ``RLL``, ``LUL``, ``LLL``, ``lingula``.
    status : str
        ``positive``, ``negated``, ``uncertain``, ``hypothetical`` or ``prior``.
    start, end : int
        The finding's words: offsets into the text.
    side_start, side_end : int or None
        Where the side was read, which may lie in another sentence, heading, cell or field.
    sentence : tuple of int
        Span of the sentence, list item, cell or field.
    section : str or None
        Heading that it stands under, in lower case (``impression``).
    superseded : bool
        Whether the text takes it back later ("correction: ...").
    refers_back : bool
        Whether it points at something said before ("this left effusion").
    image_side : bool
        Whether the text named a side of the image, which on a standard display is the other side
        of the patient; ``side`` is the patient's.
    definite : bool
        Whether it is spoken of as known ("the right effusion").
    compared : bool
        Whether its sentence sets it beside another one ("the right effusion is larger", "also").
    structured : bool
        Whether it stands in an object or a table.
    """

    finding: str
    side: Side | None
    zone: str | None
    status: Status
    start: int
    end: int
    side_start: int | None
    side_end: int | None
    sentence: tuple[int, int]
    section: str | None = None
    superseded: bool = False
    refers_back: bool = False
    image_side: bool = False
    definite: bool = False
    compared: bool = False
    structured: bool = False
