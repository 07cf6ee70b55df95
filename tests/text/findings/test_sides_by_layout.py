"""Sides that fields, lines and neighbouring sentences give a finding, and such that they do not."""

from __future__ import annotations

from support.rows import each_row

from rexview.text.findings import find_mentions, find_sides, finding_info
from rexview.text.side_contradictions import join_sides, sided_by_family

SIDES = [  # text, family, side (None: on no side)
    # columns that blanks alone hold in line
    (
        "Structure      Right      Left\nCP angle       free       blunted",
        "pleural_fluid",
        "left",
    ),
    (
        "Structure      Right      Left\nCP angle       blunted    free",
        "pleural_fluid",
        "right",
    ),
    # round boxes to tick; where none is ticked they say nothing
    ("[x] Pneumothorax  ( ) right (x) left", "pneumothorax", "left"),
    ("[x] Pneumothorax  (x) right ( ) left", "pneumothorax", "right"),
    # a sentence on a lung is not about the finding of the line before, a place alone is
    ("- Pleural fluid\n- The right lung shows little change", "pleural_fluid", None),
    ("- Pleural fluid\n- Right base", "pleural_fluid", "right"),
    ("- Pleural fluid\n- It lies in the right base", "pleural_fluid", "right"),
    # where something moved, told as the patient's side
    (
        "On the right the lung has shrunk. It pushes the heart and the windpipe over to the "
        "patient's left.",
        "tracheal_deviation",
        "left",
    ),
    ("Left effusion. It pushes the heart over to the patient's right.", "pleural_fluid", "left"),
    # what is pulled down is not pulled out
    ("LLL: collapsed, hilum pulled down", "atelectasis", "left"),
    ("Left chest tube pulled.", "chest_tube", None),
    # a "no" to a question, and then what there is instead
    ("Pneumothorax? No - left effusion.", "pleural_fluid", "left"),
    ("No - left effusion.", "pleural_fluid", None),
    ("Surg emph L chest wall + neck", "subcutaneous_emphysema", "left"),
    # a field of any name gives the one finding of its record a side, the tip of a device does not
    (
        "| Check | Result | Comment |\n|---|---|---|\n| Pneumothorax | YES | right apical |",
        "pneumothorax",
        "right",
    ),
    ("| Device | Tip |\n|---|---|\n| PICC | right atrium |", "picc", None),
    (
        "| A | B | C |\n|---|---|---|\n| Effusion | right | and nodule, left |",
        "pleural_fluid",
        "right",
    ),
    ('{"what": "pneumothorax", "hemithorax": "left"}', "pneumothorax", "left"),
    # words of two fields mean a finding together
    ("| Line | Tip |\n|---|---|\n| ETT | right main bronchus |", "bronchial_tube", "right"),
    ("| Line | Tip |\n|---|---|\n| ETT | 4 cm above the carina |", "bronchial_tube", None),
    # a "none" under "Action" denies nothing
    ("| Tube | Side | Action |\n|---|---|---|\n| Drain | left | none |", "chest_tube", "left"),
    # a table without headings
    ("Drain | L | basal\nNodule | R | 9 mm", "chest_tube", "left"),
    ("| | Right | Left |\n|---|---|---|\n| Effusion | none | small |", "pleural_fluid", "left"),
    # YAML, names in camel case, Latin sides
    ("```yaml\nhila:\n  right: normal\n  left: prominent\n```", "hilar_enlargement", "left"),
    ("lungs:\n  left: cavity\n  right: no change", "cavity", "left"),
    ('{"rightLowerLobe": "consolidation"}', "airspace_opacity", "right"),
    ('{"pleura": {"D": {"fluid": "much"}, "S": {"fluid": "none"}}}', "pleural_fluid", "right"),
    ("Contusion: dexter", "contusion", "right"),
    # boxes to tick
    ("- [ ] Nodule, left\n- [x] Effusion, right", "nodule", None),
    ("- [ ] Nodule, left\n- [x] Effusion, right", "pleural_fluid", "right"),
    ("☒ Effusion  ☐ R  ☒ L", "pleural_fluid", "left"),
    # a line leads those further in, or all below where it is in capitals
    ("1. Right side\n   a. Effusion\n   b. Atelectasis\n2. Left side", "atelectasis", "right"),
    ("RIGHT LUNG\nConsolidation.\nLEFT LUNG\nClear.", "airspace_opacity", "right"),
    # what was said last, on another side
    ("Effusion on the left; same on the right.", "pleural_fluid", "bilateral"),
    ("Effusion on the left. Right side same as before.", "pleural_fluid", "left"),
    ("The effusion on the right has resolved. A new one is on the left.", "pleural_fluid", "left"),
    ("Mod L eff, tiny R.", "pleural_fluid", "bilateral"),
    # where something was, or is said to be by others
    ("The effusion had been on the right, it is now on the left.", "pleural_fluid", "left"),
    # the only side of a sentence
    ("It hides the heart border, so lingular. An opacity.", "airspace_opacity", None),
    ("Opacity that hides the left heart border.", "airspace_opacity", "left"),
    ("Opacity. The left heart border is sharp.", "airspace_opacity", None),
    # each of several parts of one kind
    ("Fractures of the right third rib and the left fifth rib.", "rib_fracture", "bilateral"),
    ("Fractures of the right third rib and the left clavicle.", "rib_fracture", "right"),
    ("Fluid in each pleural space.", "pleural_fluid", "bilateral"),
    ("Each of the effusions is small.", "pleural_fluid", None),
    # shared with what goes along
    ("Effusion on the right with adjacent atelectasis.", "pleural_fluid", "right"),
    ("Effusion on the right with adjacent atelectasis.", "atelectasis", "right"),
    # short words that end with a full stop, and a sign that is a fracture
    ("R shoulder ant. dislocated.", "humerus_fracture", "right"),
    ("# L 7-9 ribs lat. No PTX.", "rib_fracture", "left"),
    ("# Left ribs\nNormal.", "rib_fracture", None),
    ("PTX R 2 cm.", "pneumothorax", "right"),
    # lay words
    ("Some fluid has built up around your left lung.", "pleural_fluid", "left"),
    ("The lungs are full of air on the left.", "pneumothorax", None),
    ("Air has leaked into the space around the right lung.", "pneumothorax", "right"),
    ("A spot is seen in the top of the right lung.", "nodule", "right"),
    ("The right lung has gone down.", "atelectasis", "right"),
    # of two sides one is denser
    ("The right base is hazier than the left.", "airspace_opacity", "right"),
    ("The effusion is larger on the right than on the left.", "pleural_fluid", "bilateral"),
]


@each_row(("text", "family", "side"), SIDES)
def test_the_side_of_a_family(text, family, side):
    assert join_sides(sided_by_family(find_mentions(text)).get(family, ())) == side


STATUS = [  # text, finding, status
    ("None of the nodules has cavitated.", "cavity", "negated"),
    ("None of the nodules has cavitated.", "nodule", "positive"),
    ("None has cavitated.", "cavity", "negated"),
    ("Two nodules, none has cavitated.", "nodule", "positive"),
    ("Effusion: none is seen.", "pleural_effusion", "negated"),
    ("Nodule, not seen on the 2019 film.", "nodule", "positive"),
    ("Nodule, not seen on two views.", "nodule", "negated"),
    ("Left consolidation, bulging fissure not seen.", "consolidation", "positive"),
    ("Left port removed since the prior study.", "port", "negated"),
    ("Azygos lobe (normal variant).", "azygos_fissure", "positive"),
    ("Reasoning:\nThere is an effusion.", "pleural_effusion", "positive"),
    ("Reason: effusion?", "pleural_effusion", "hypothetical"),
    ("Calcified pleura on the right, asbestos?", "pleural_thickening", "positive"),
    ("Is there an effusion, a nodule?", "pleural_effusion", "hypothetical"),
    ("Raised left hemidiaphragm (palsy?).", "hemidiaphragm_elevation", "positive"),
    ('{"prior_surgery": "left lobectomy"}', "pneumonectomy", "positive"),
    ('{"prior_findings": "left effusion"}', "pleural_effusion", "prior"),
]


@each_row(("text", "finding", "status"), STATUS)
def test_whether_a_finding_is_there(text, finding, status):
    assert [m.status for m in find_mentions(text) if m.finding == finding] == [status]


def test_an_addendum_corrects_the_report_below_it():
    text = (
        'Addendum: "nodule in the right apex" should read "nodule in the left apex".\n\n'
        "Original report: nodule in the right apex."
    )
    assert {m.side for m in find_mentions(text) if not m.superseded} == {"left"}
    plain = find_mentions("Nodule in the left apex.\n\nOriginal report: nodule in the right apex.")
    assert {m.side for m in plain if not m.superseded} == {"left", "right"}


def test_mentions_of_tables_and_objects_say_so():
    prose, field = find_mentions('Right effusion.\n{"effusion": "left"}')
    assert (prose.structured, field.structured) == (False, True)
    assert finding_info(field.finding).family == finding_info(prose.finding).family


def test_the_sides_that_a_text_names_but_for_normal_ones():
    assert [side for side, _, _ in find_sides("Over the right fifth rib.")] == ["right"]
    assert find_sides("The left lung is clear.") == []
