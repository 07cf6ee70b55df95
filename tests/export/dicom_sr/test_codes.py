"""Codes for the labels of boxes."""

from pathlib import Path

import pytest
import yaml
from pydicom.sr._concepts_dict import concepts

from rexview.export import dicom_sr
from rexview.export.dicom_sr.dicom_objects import find_label_codes
from rexview.text.findings.lexicon import lexicon

TABLE = yaml.safe_load(Path(dicom_sr.__file__).with_name("codes.yaml").read_text("utf-8"))
ROWS = [
    *TABLE["findings"],
    *(row for part in ("zones", "sites", "regions", "sides") for row in TABLE[part].values()),
]


def test_codes_are_those_of_dicom_where_a_context_group_is_named():
    for row in ROWS:
        if "cid" not in row:
            continue
        known = [
            (meaning, groups)
            for coding in concepts[row["scheme"]].values()
            for code, (meaning, groups) in coding.items()
            if code == row["code"]
        ]
        assert any(row["meaning"] == name and row["cid"] in ids for name, ids in known), row


def test_every_row_is_of_the_lexicon():
    known = lexicon().findings
    assert {row["finding"] for row in TABLE["findings"]} | set(TABLE["sites"]) <= set(known)
    assert {one.region for one in known.values()} == set(TABLE["regions"])


@pytest.mark.parametrize(
    ("label", "side", "finding", "site", "beside"),
    [
        ("Right pleural effusion", "right", "Pleural effusion", "Pleural structure", "Right"),
        ("LLL consolidation", "left", "Lung consolidation", "Lower lobe of lung", "Left"),
        ("nodule in the right upper zone", "right", "Nodule", "Upper zone of lung", "Right"),
        ("pulmonary_oedema", None, "Pulmonary edema", "Lung", None),
        ("vascular congestion", None, None, "Lung", None),
        ("rib fracture", "left", "Fracture of rib", "Rib", "Left"),
        ("no pneumothorax", "left", None, None, "Left"),
        ("effusion and consolidation", "midline", None, None, None),
        ("something else", None, None, None, None),
        ("", None, None, None, None),
    ],
)
def test_a_label_is_coded_only_where_it_says_so(label, side, finding, site, beside):
    found = find_label_codes(label, side)
    assert (found.finding and found.finding.meaning) == finding
    assert (found.site and found.site.meaning) == site
    assert (found.side and found.side.meaning) == beside
