import json

import pytest
from support.rows import each_row

from rexview.errors import ImportSourceError
from rexview.importers import COLUMN_FIELDS, ColumnMapping, propose_mapping
from rexview.importers.table.cells import ColumnName, is_identity
from rexview.importers.table.column_guess import guess_mapping
from rexview.importers.table.sheet import TableSheet

LONG = "The lungs are clear, there is no effusion, and the heart is of normal size."


def table(columns, *rows):
    texts = tuple(tuple(None if cell is None else str(cell) for cell in row) for row in rows)
    return TableSheet("t.csv", tuple(columns), texts, tuple(range(1, len(rows) + 1)))


def mapped(mapping):
    return {one.field: one.column for one in mapping.fields if one.column}


def test_one_row_per_answer_with_scores_of_two_readers():
    columns = [
        *("Case ID", "Question", "Model", "Answer", "Finish Reason", "Output Tokens", "Report"),
        *("Image File", "View", "process_reader1", "process_reader2", "Execution R1"),
        *("image content (reader 2)", "Laterality", "Comment"),
    ]
    row = ["c1", "Is there an effusion on the left?", "GPT-5", LONG, "stop", 120, LONG]
    row += ["a/0.png", "PA", 4, 5, 2, 3, "left", "fine"]
    mapping = guess_mapping(table(columns, row, ["c2", *row[1:]]))
    assert mapped(mapping) == {
        "case": "Case ID",
        "question": "Question",
        "model": "Model",
        "answer": "Answer",
        "finish_reason": "Finish Reason",
        "output_tokens": "Output Tokens",
        "report": "Report",
        "image": "Image File",
        "view": "View",
        "tag_laterality": "Laterality",
        "comment": "Comment",
    }
    judgements = {(one.column, one.judges, one.reader, one.model) for one in mapping.judgements}
    assert judgements == {
        ("process_reader1", "process", "reader1", None),
        ("process_reader2", "process", "reader2", None),
        ("Execution R1", "execution", "R1", None),
        ("image content (reader 2)", "image_content", "reader 2", None),
    }
    assert mapping.answers == ()
    assert mapping.model is None
    assert mapping.extra_columns == ()


@pytest.mark.parametrize(
    ("columns", "models"),
    [
        (["GPT-5 answer", "MedGemma-4B answer"], ["GPT-5", "MedGemma-4B"]),
        (["answer_gpt5", "answer_medgemma"], ["gpt5", "medgemma"]),
        (["Response (Claude 3)", "Response (Gemini)"], ["Claude 3", "Gemini"]),
        (["GPT-5", "MedGemma 4B"], ["GPT-5", "MedGemma 4B"]),
        (["System A", "System B"], ["System A", "System B"]),
        (["Model A output", "Model B output"], ["Model A", "Model B"]),
        (["Model 1 answer", "Model 2 answer"], ["Model 1", "Model 2"]),
    ],
)
def test_one_column_per_model(columns, models):
    mapping = guess_mapping(
        table(["id", "question", *columns], ["c1", "What is wrong here?", LONG, LONG])
    )
    assert [(one.column, one.model, one.field) for one in mapping.answers] == [
        (column, model, "answer") for column, model in zip(columns, models, strict=True)
    ]
    assert "answer" not in mapped(mapping)
    assert mapping.model is None


def test_other_columns_of_a_model_go_with_its_answer():
    columns = [
        *("case", "GPT-5 answer", "GPT-5 finish reason", "GPT-5 output tokens"),
        *("Gemini answer", "gemini_finish_reason", "GPT-5 process R1", "Gemini process R1"),
        "Gemini laterality error R2",
    ]
    mapping = guess_mapping(table(columns, ["c1", LONG, "stop", 5, LONG, "length", 4, 3, "yes"]))
    assert {(one.column, one.model, one.field) for one in mapping.answers} == {
        ("GPT-5 answer", "GPT-5", "answer"),
        ("GPT-5 finish reason", "GPT-5", "finish_reason"),
        ("GPT-5 output tokens", "GPT-5", "output_tokens"),
        ("Gemini answer", "Gemini", "answer"),
        ("gemini_finish_reason", "Gemini", "finish_reason"),
    }
    assert {(one.judges, one.reader, one.model) for one in mapping.judgements} == {
        ("process", "R1", "GPT-5"),
        ("process", "R1", "Gemini"),
        ("laterality_error", "R2", "Gemini"),
    }


@pytest.mark.parametrize(
    "column",
    ["correct answer", "reference_answer", "answer type", "answer length", "question answer id"],
)
def test_columns_that_only_sound_like_a_models_answer(column):
    mapping = guess_mapping(
        table(["case", "question", "answer", column], ["c1", "What?", LONG, LONG])
    )
    assert mapped(mapping)["answer"] == "answer"
    assert column not in [one.column for one in mapping.answers]


def test_contents_overrule_names():
    columns = ["case", "process", "view", "status", "answer", "score"]
    mapping = guess_mapping(table(columns, ["c1", "see text", "nice", "reviewed twice", 4, "good"]))
    assert mapping.judgements == ()
    assert not {"view", "finish_reason", "answer", "score"} & mapped(mapping).keys()


def test_image_column_is_found_by_its_contents():
    mapping = guess_mapping(table(["case", "radiograph", "answer"], ["c1", "p/1.DCM", LONG]))
    assert mapped(mapping)["image"] == "radiograph"


def test_a_row_number_is_not_taken_for_the_case():
    rows = [
        [n, q, m, LONG] for n, (q, m) in enumerate((q, m) for q in ("Q1?", "Q2?") for m in "AB")
    ]
    mapping = guess_mapping(table(["id", "question", "model", "answer"], *rows))
    assert "case" not in mapped(mapping)


def test_a_case_id_stays_when_the_question_repeats_itself():
    rows = [[f"c{n}", "What is wrong?", "A", LONG] for n in range(3)]
    mapping = guess_mapping(table(["id", "question", "model", "answer"], *rows))
    assert mapped(mapping)["case"] == "id"


def test_an_id_with_several_questions_is_a_study():
    rows = [["s1", "First question?", LONG], ["s1", "Second question?", LONG]]
    mapping = guess_mapping(table(["case", "question", "answer"], *rows))
    assert mapped(mapping).get("case") is None
    assert mapped(mapping)["study_id"] == "case"


def test_identity_columns_are_set_apart():
    columns = ["Patient Name", "MRN", "DOB", "Study Date", "StudyInstanceUID", "case", "answer"]
    mapping = guess_mapping(table(columns, ["Doe", "1", "1.1.31", "2.2.24", "1.2.3", "c1", LONG]))
    assert mapping.identity == tuple(columns[:5])
    assert not set(columns[:5]) & set(mapping.extra_columns)


@pytest.mark.parametrize("name", ["model name", "file_name", "date", "Reader Name", "exam id"])
def test_harmless_names_are_not_taken_for_identity(name):
    assert not is_identity(name)


def test_one_score_a_row():
    rows = [["c1", "A", LONG, "R1", dim, 3] for dim in ("Process", "Image Content")]
    mapping = guess_mapping(
        table(["case", "model", "answer", "rater", "dimension", "score"], *rows)
    )
    assert {"reader": "rater", "dimension": "dimension", "score": "score"}.items() <= (
        mapped(mapping).items()
    )


def test_every_field_is_offered_with_confidence_and_samples():
    mapping = guess_mapping(table(["case", "answer"], ["c1", LONG * 5], ["c2", "b"], ["c3", "b"]))
    assert [one.field for one in mapping.fields] == list(COLUMN_FIELDS)
    case = next(one for one in mapping.fields if one.field == "case")
    answer = next(one for one in mapping.fields if one.field == "answer")
    nothing = next(one for one in mapping.fields if one.field == "view")
    assert 0.9 < case.confidence <= 1
    assert case.samples == ("c1", "c2", "c3")
    assert max(map(len, answer.samples)) == 60
    assert (nothing.column, nothing.confidence, nothing.samples) == (None, 0.0, ())


def test_json_round_trip(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"case;GPT-5 answer;process_r1;wärd\nc1;{LONG};4;x\n", encoding="cp1252")
    mapping = propose_mapping(path)
    assert ColumnMapping.from_json(mapping.to_json()) == mapping
    assert ColumnMapping.read(json.loads(mapping.to_json())) == mapping
    saved = tmp_path / "m.json"
    saved.write_text(mapping.to_json(), encoding="utf-8")
    assert ColumnMapping.read(saved) == mapping


def test_a_mapping_may_be_written_by_hand():
    told = {"columns": ["a", "b"], "fields": [{"field": "answer", "column": "b"}]}
    mapping = ColumnMapping.from_dict(told)
    assert mapped(mapping) == {"answer": "b"}
    assert mapping.extra_columns == ("a",)


@pytest.mark.parametrize(
    ("told", "parts"),
    [
        ({"columns": ["a"], "fields": [{"field": "nope", "column": "a"}]}, ["no such field"]),
        ({"columns": ["a"], "fields": [{"field": "answer", "column": "z"}]}, ["no column “z”"]),
        (
            {
                "columns": ["a"],
                "fields": [{"field": "answer", "column": "a"}, {"field": "case", "column": "a"}],
                "marks": [{"column": "a", "mark": "beauty"}],
                "answers": [{"column": "a", "model": "m", "field": "view"}],
            },
            ["already mapped", "no such dimension", "cannot hold this field"],
        ),
        ({"columns": ["a"], "fields": "answer"}, ["not a list"]),
    ],
)
def test_every_mistake_in_a_mapping_is_reported(told, parts):
    with pytest.raises(ImportSourceError) as caught:
        ColumnMapping.from_dict(told)
    messages = " ".join(one.message for one in caught.value.problems)
    assert all(part in messages for part in parts)


@pytest.mark.parametrize("text", ["", "[]", "{", "3", "[" * 100_000])
def test_mappings_that_are_no_json_object(text):
    with pytest.raises(ImportSourceError):
        ColumnMapping.from_json(text)


@pytest.mark.parametrize("name", ["absent.csv", "empty.csv", "t.xls"])
def test_files_without_a_proposal(tmp_path, name):
    if name != "absent.csv":
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(ImportSourceError) as caught:
        propose_mapping(tmp_path / name)
    assert caught.value.problems
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("processReader1", ("process", "reader", "1")),
        ("GPT-5 Answer", ("gpt", "5", "answer")),
        ("patientId", ("patient", "id")),
        ("Größe_cm", ("gr", "öß", "e", "cm")),
        ("", ()),
    ],
)
def test_names_are_taken_apart(written, words):
    assert ColumnName.of(written).words == words


@each_row(
    "name",
    [
        *("Patientenname", "Geburtsdatum", "Geb.-Dat.", "Vorname", "Name, Vorname", "Fallnummer"),
        *("Nombre", "Apellidos", "Fecha de nacimiento", "fecha_nac", "DNI", "Dirección"),
        *("Prénom", "Nom du patient", "Date de naissance", "Cognome", "Data di nascita"),
        *("Sobrenome", "Data de nascimento", "Voornaam", "Geboortedatum"),
    ],
)
def test_identity_is_seen_in_other_languages(name):
    assert is_identity(name)


@pytest.mark.parametrize(
    "name", ["Nom du modèle", "nombre de lésions", "Modellname", "nome del modello", "Bildname"]
)
def test_names_of_other_things_are_no_identity(name):
    assert not is_identity(name)
