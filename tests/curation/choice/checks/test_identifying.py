"""What identifies a patient, and what only looks so; all names and numbers are invented."""

import pytest
from support.rows import each_row

from rexview.curation.choice.checks import ChoiceQuestion
from rexview.curation.choice.checks.identifying import (
    THRESHOLD,
    check_identifying_signs,
    check_phi_probability,
    find_identifying_signs,
)

IDENTIFIES = [
    *("Dr. Miller saw a nodule.", "Reviewed with Prof. Tanaka", "Mrs. O'Brien has pain.", "Ms Lee"),
    *("Mr. J. Smith, what is seen?", "Maria Gonzalez came with cough.", "Patient: John Carter"),
    *("The patient, Emily Watson, fell.", "Name: Petrov", "Smith, John has a mass."),
    *("Signed by Ralf Kessler, MD", "dictated by Dr. Ames", "J. K. Rowland was examined."),
    *("seen on 12/03/2019", "on 2019-03-12", "on March 12", "on 12 March 2019", "in March 2019"),
    *("on the 3rd of May", "3-12-19", "5.12.2019", "DOB: 1950", "born on a Monday in June"),
    *(
        "MRN 123456",
        "Accession number A-77",
        "patient ID 00932",
        "record number 8",
        "SSN 123-45-6789",
    ),
    *("film 004512337", "Call 555-0134", "(617) 555-0199", "+49 30 1234567", "pager 4411"),
    *(
        "jane@clinic.org",
        "www.clinic.org",
        "http://10.1.1.2/film",
        "12 Oak Street",
        "Boston, MA 02115",
    ),
    *("taken at Mayo Clinic", "St. Mary's Hospital", "Boston Medical Center", "University of Ulm"),
    *("Massachusetts General Hospital", "the Springfield Nursing Home", "VA Hospital"),
    *(
        "a 92-year-old man",
        "aged 95",
        "a 101 year old",
        "94 yo",
        "ninety-two-year-old",
        "90 years old",
    ),
    *("in her nineties", "93F with cough", "a nonagenarian", "age: 91"),
]
IDENTIFIES_NOBODY = [
    *("Swan-Ganz catheter", "Kerley B lines", "Hounsfield units", "a 64-year-old man", "age 89"),
    *("compared with the right side", "none of the lobes", "T4 to T7 vertebrae", "12 French tube"),
    *(
        "pain of 6/10",
        "Fleischner 2017 criteria",
        "Lung-RADS 2022",
        "May be pneumonia",
        "90 degrees",
    ),
    *("the sail sign in the right lung", "S. aureus", "E. coli", "Pancoast tumor", "Port-A-Cath"),
    *("Hampton hump or Westermark sign", "Ghon complex", "hospital-acquired pneumonia", "92 mm"),
    *("Hodgkin lymphoma", "Eisenmenger syndrome", "Hamman-Rich syndrome", "1.5 x 2.3 cm", "3-4 cm"),
    *("The Hospital bed is seen.", "a Bochdalek hernia", "Doppler", "120 kVp", "L1-L2", "95 %"),
    *(
        "the third of the ribs",
        "every 12 hours",
        "March fracture",
        "an August film",
        "Dobhoff tube",
    ),
    *("Which lobe is dense? A. The left one. B. Neither", "Correct: D. The tip has passed it."),
    *("Sjögren syndrome", "Löffler syndrome", "X-ray", "PA and AP views", "Mark the side"),
]


@each_row("text", IDENTIFIES)
def test_what_identifies_is_found(text):
    assert find_identifying_signs(text)


@each_row("text", IDENTIFIES_NOBODY)
def test_what_only_looks_so_is_left_alone(text):
    assert find_identifying_signs(text) == []


def test_nothing_of_it_is_repeated():
    asked = ChoiceQuestion("c1", "m-1", "What did Dr. Miller see?", ("A", "B", "C", "D"), 0)
    check = check_identifying_signs(asked)
    assert (check.passed, check.defect) == (False, "identifies")
    assert "Miller" not in check.reason
    assert check.extra == {"p_phi": 1.0}


@pytest.mark.parametrize(
    ("probability", "passed"), [(0.0, True), (0.49, True), (THRESHOLD, False), (1.0, False)]
)
def test_a_question_passes_below_the_threshold(probability, passed):
    """The sign: the probability is that of identifying somebody."""
    assert check_phi_probability(probability, "").passed is passed
