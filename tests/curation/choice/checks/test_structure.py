"""Checks of form: what each must catch, and what it must leave alone."""

from dataclasses import replace

import pytest
from support.rows import each_row

from rexview.curation.choice.checks import ChoiceQuestion
from rexview.curation.choice.checks.structure import STRUCTURAL, structural_checks

SOUND = ChoiceQuestion(
    "c1",
    "m-1",
    "Which finding is present at the left base?",
    ("Consolidation", "Pneumothorax", "A calcified granuloma", "Bronchiectasis"),
    0,
    "Air bronchograms run through a dense left lower lobe.",
)


def failed(asked):
    """Return the checks that a question fails."""
    return {one.check for one in structural_checks(asked) if not one.passed}


def with_option(text, place=1):
    """Return the sound question with another option."""
    options = list(SOUND.options)
    options[place] = text
    return replace(SOUND, options=tuple(options))


def test_a_sound_question_passes_all_and_each_check_has_a_row():
    rows = structural_checks(SOUND)
    assert [one.check for one in rows] == list(STRUCTURAL)
    assert failed(SOUND) == set()
    assert all(one.defect is None and not one.reason for one in rows)


@pytest.mark.parametrize("many", [0, 1, 2, 3, 5, 9])
def test_another_number_of_options(many):
    options = tuple(f"Finding number {n}" for n in range(many))
    assert "option_count" in failed(replace(SOUND, options=options))


@pytest.mark.parametrize("text", ["", "  ", "-", "...", "N/A", "null", "Option B", "—"])
def test_an_option_that_says_nothing(text):
    assert "empty_option" in failed(with_option(text))


@pytest.mark.parametrize(
    "text",
    [
        *("Consolidation", "consolidation", " CONSOLIDATION. ", "The consolidation"),
        *(
            "a consolidation",
            "“Consolidation”",
            "Consolidation;",
            "consolidation ",
        ),
    ],
)
def test_an_option_twice(text):
    assert "duplicate_options" in failed(with_option(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [("<5 mm", ">5 mm"), ("1.5 cm", "15 cm"), ("T4", "T5"), ("1-5", "15"), ("+2", "2")],
)
def test_options_that_differ_in_a_sign_are_two(one, other):
    asked = replace(SOUND, options=(one, other, "Third", "Fourth"))
    assert "duplicate_options" not in failed(asked)


@pytest.mark.parametrize(
    ("one", "other"), [("10 mm", "10mm"), ("Rib & clavicle", "Rib and clavicle")]
)
def test_options_that_are_written_otherwise_are_one(one, other):
    asked = replace(SOUND, options=(one, other, "Third", "Fourth"))
    assert "duplicate_options" in failed(asked)


@pytest.mark.parametrize("correct", [None, 4, -1])
def test_no_right_option(correct):
    assert "correct_missing" in failed(replace(SOUND, correct=correct))


@each_row(
    "words",
    [
        *("The answer is (C).", "Correct answer: C.", "C is correct, as the lung is dense."),
        *(
            "Therefore, option C is right.",
            "Option C matches the picture.",
            "Correct: D. It is dense.",
        ),
        *("The best choice is B since the lung is gone.", "This corresponds to choice B."),
        *("Answer B is supported by the density.", "Hence, B.", "**B** – a pleural line is seen."),
        *("The correct answer is pneumothorax.", "A pleural line means that (B) is right."),
        *("B. Pneumothorax is seen as a line.", "The right option is B because of the line."),
    ],
)
def test_an_explanation_of_another_option(words):
    assert "letter_mismatch" in failed(replace(SOUND, explanation=words))


@pytest.mark.parametrize(
    "words",
    [
        *("The answer is (A).", "Option A is correct; option B is not, as no line is seen."),
        *("Option B would need a pleural line, which is absent.", "A dense lobe is seen."),
        *("B is incorrect because the lung reaches the wall. The lobe is dense.", "Dense lobe."),
        *("Vitamin B is no matter here; the lobe is dense.", "Kerley B lines are missing; dense."),
        *("Unlike options B and C, consolidation shows air bronchograms.", "See the left base."),
    ],
)
def test_an_explanation_of_the_right_one(words):
    assert "letter_mismatch" not in failed(replace(SOUND, explanation=words))


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Where is the consolidation seen in this radiograph?", True),
        ("The left base shows consolidation. Which finding is present?", True),
        ("Is it a consolidation or a pneumothorax?", False),
        ("What fills the alveoli at the left base?", False),
    ],
)
def test_a_question_that_gives_it_away(question, told):
    assert ("answer_in_question" in failed(replace(SOUND, question=question))) is told


@each_row(
    "text",
    [
        *("All of the above", "None of the above", "all the above.", "Both A and C", "A and B"),
        *("Neither of the above", "None of these", "All of these findings", "Options A and B"),
        *(
            "A, B and C",
            "Any of the above",
            "None of the other options",
            "More than one of the above",
        ),
        *("None of the listed options", "All options are correct", "None apply", "Neither A nor B"),
        *("both a and b", "A & C", "None of the given choices", "No option is correct"),
        *("Both of the above", "Not listed", "All of them", "A or B", "All are correct"),
    ],
)
def test_an_option_about_the_others(text):
    assert "all_or_none_of_the_above" in failed(with_option(text))


@each_row(
    "text",
    [
        *("None of the lobes", "Both lungs", "All four lobes", "Above the carina", "Neither lung"),
        *("All ribs on the left", "Both the hilum and the apex", "Vitamin A and D deficiency"),
        *("Hepatitis B and C", "Above the aortic arch", "All of the left lung", "Group A"),
    ],
)
def test_an_option_of_its_own(text):
    assert "all_or_none_of_the_above" not in failed(with_option(text))


@each_row(
    "question",
    [
        *("", "?", "The heart is enlarged.", "Pleural effusion on the left", "Heart size"),
        *("There is an effusion on the left, which displaces the heart.", "Report of the chest."),
        *(
            "Complete collapse of the left lung.",
            "Note the left effusion.",
            "Consider the left lung.",
        ),
        *("The patient came in when the pain began.", "Name of the finding", "State of the heart."),
        *("A line where the pleura lies, and how it bends.", "The left lung base."),
    ],
)
def test_what_asks_nothing(question):
    assert "no_question" in failed(replace(SOUND, question=question))


@each_row(
    "question",
    [
        *("Which lobe is dense", "On which side is the effusion", "Identify the dense lobe."),
        *("The patient coughs. What is seen at the left base?", "The density is best described as"),
        *("The dense lobe is the ____.", "The most likely cause of the density is:", "Is it dense"),
        *("Look at the left base. Select the finding.", "In this radiograph, which lobe is dense"),
        *("Please choose the best description.", "The finding at the left base represents"),
    ],
)
def test_what_asks_something(question):
    assert "no_question" not in failed(replace(SOUND, question=question))


@pytest.mark.parametrize(
    "words",
    ["", " ", "-", "N/A", "None", "B", "The answer is A.", "See above.", "Self-explanatory"],
)
def test_no_explanation(words):
    assert "missing_explanation" in failed(replace(SOUND, explanation=words))


@each_row(
    "question",
    [
        *("According to the report, what is at the left base?", "What does the arrow point at?"),
        *(
            "What is shown in Figure 2?",
            "Which value stands in the table?",
            "What does table 1 list?",
        ),
        *(
            "Based on the radiologist's report, which lobe is dense?",
            "Which lobe does the text name?",
        ),
        *("As described above, which lobe is dense?", "Which finding does the passage mention?"),
        *(
            "Which finding is reported in the impression section?",
            "What did the radiologist describe?",
        ),
        *("Which of the findings listed fits the dense lobe?", "What is the circled density?"),
        *("What does the diagram show?", "Which lobe, as noted in the findings, is dense?"),
        *("What lies in the labelled area?", "Per report, which lobe is dense?"),
    ],
)
def test_what_is_not_shown(question):
    assert "refers_to_missing" in failed(replace(SOUND, question=question))


@pytest.mark.parametrize(
    "question",
    [
        *("Which finding does the radiograph show?", "What lies above the left hemidiaphragm?"),
        *("The reverse figure-of-3 sign speaks for what?", "Which rib notching is seen?"),
        *(
            "How would you describe the left base?",
            "What impression does the mass make on the trachea?",
        ),
        *("Which device lies above the table top?", "Which finding needs to be told at once?"),
    ],
)
def test_what_is_shown(question):
    assert "refers_to_missing" not in failed(replace(SOUND, question=question))


def test_too_many_words():
    long = "word " * 61
    assert "too_long" in failed(with_option(long))
    assert "too_long" in failed(replace(SOUND, question=f"Which {long} {long}?"))
    assert "too_long" in failed(replace(SOUND, explanation=long * 6))
    assert "too_long" in failed(with_option("x" * 1000))


def test_letters_inside_options():
    lettered = ("A. Consolidation", "B. Mass", "C. Gas", "D. Fluid")
    for options in (lettered, ("(A) One", "(B) Two", "(C) Three", "(D) Four")):
        assert "doubled_letters" in failed(replace(SOUND, options=options))
    assert "doubled_letters" in failed(with_option("B) Mass"))
    for option in ("C. difficile", "E. coli", "A mass", "1.5 cm", "B lines"):
        assert "doubled_letters" not in failed(with_option(option))


@pytest.mark.parametrize(
    ("right", "other", "told"),
    [
        ("Left pleural effusion", "Pleural effusion", True),
        ("Cardiomegaly and edema", "Cardiomegaly", True),
        ("Pleural effusion", "Left pleural effusion", False),
        ("No pleural effusion", "Pleural effusion", False),
        ("11.5 cm", "5 cm", False),
        ("Left lower lobe", "Left upper lobe", False),
    ],
)
def test_an_option_that_says_another_one_too(right, other, told):
    asked = replace(SOUND, options=(right, other, "Mass", "Fracture"), explanation="Dense lobe.")
    assert ("nested_options" in failed(asked)) is told


@pytest.mark.parametrize(
    "text",
    [
        *("<b>Mass</b>", "Mass &amp; fluid", "```Mass```", "**Mass**", r"\frac{1}{2}", "{'a': 1}"),
        *("Mass\x00", "[Mass](http://x.org)", "<script>alert(1)</script>", "$x^2$", "Mass\u202e"),
    ],
)
def test_what_is_no_plain_text(text):
    assert "not_plain_text" in failed(with_option(text))


@pytest.mark.parametrize("text", ["< 5 mm", "> 50 %", "±2 mm", "Mass (3 cm)", "T4/T5", "10–12 mm"])
def test_what_is_plain_text(text):
    assert "not_plain_text" not in failed(with_option(text))


@pytest.mark.parametrize(
    "question",
    [
        "Welcher Befund ist auf der linken Seite zu sehen?",
        "Quel est le diagnostic le plus probable dans ce cas?",
        "¿Cuál es el hallazgo en el lado izquierdo de la imagen?",
        "左肺底有什么异常？",
        "Что видно в левом легком?",
    ],
)
def test_another_language(question):
    assert "language" in failed(replace(SOUND, question=question))


def test_greek_letters_and_foreign_names_are_english():
    asked = replace(SOUND, question="Which lobe has the α sign of Röntgen, en face?")
    assert "language" not in failed(asked)


@pytest.mark.parametrize(
    "text", ["XXXX effusion", "[**Name**] seen", "[NAME] line", "___", "{finding}"]
)
def test_what_was_taken_away(text):
    assert "placeholder" in failed(with_option(text))
    assert "placeholder" not in failed(replace(SOUND, question="The dense lobe is the ____."))


@pytest.mark.parametrize("text", ["(A) " * 400, "Both " * 300 + "A", "N/A no explanation is " * 90])
def test_long_repetitions_are_read_in_a_moment(text):
    assert "too_long" in failed(
        replace(SOUND, question=text, explanation=text, options=(text,) * 4)
    )
