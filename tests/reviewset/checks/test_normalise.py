import pytest

from rexview.vocab import FINISH_REASONS


def first_answer(small, **changes):
    return small.answer(**changes).load().answers_of("c1")[0]


class TestFinishReason:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [("max_tokens", "length"), ("MAX_TOKENS", "length"), ("end_turn", "stop"), ("eos", "stop")],
    )
    def test_spellings_are_folded_and_kept(self, small, given, expected):
        answer = first_answer(small, finish_reason=given)
        assert (answer.finish_reason, answer.finish_reason_raw) == (expected, given)
        assert small.problems() == []

    def test_an_unknown_word_is_kept_with_a_warning(self, small):
        answer = first_answer(small, finish_reason="tired")
        assert (answer.finish_reason, answer.finish_reason_raw) == ("unknown", "tired")
        problem = small.only_problem()
        assert (problem.severity, problem.field) == ("warning", "finish_reason")
        assert all(word in problem.remedy for word in FINISH_REASONS)

    def test_no_word(self, small):
        answer = first_answer(small)
        assert (answer.finish_reason, answer.finish_reason_raw) == ("unknown", None)


class TestView:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [("Portable AP", "AP"), ("LL", "LATERAL"), ("swimmer's", "UNKNOWN"), (None, "UNKNOWN")],
    )
    def test_words_are_folded_and_kept(self, small, given, expected):
        image = {"id": "i", "path": "a/pa.png", "view": given, "width": 1, "height": 1}
        image = small.case(images=[image]).load().case("c1").images[0]
        assert (image.view, image.view_raw) == (expected, given)
        assert small.problems() == []


class TestTokens:
    def test_usage(self, small):
        answer = first_answer(small, usage={"input_tokens": 9, "output_tokens": 3})
        assert (answer.input_tokens, answer.output_tokens) == (9, 3)

    def test_columns_of_their_own(self, small):
        answer = first_answer(small, output_tokens=3, usage={"input_tokens": 9})
        assert (answer.input_tokens, answer.output_tokens) == (9, 3)

    def test_the_limit_is_the_answers_own_else_the_models(self, small):
        assert first_answer(small).max_output_tokens == 512
        assert first_answer(small, usage={"max_output_tokens": 64}).max_output_tokens == 64
        assert first_answer(small, model="m2").max_output_tokens is None

    def test_negative_counts_are_errors(self, small):
        problem = small.answer(usage={"output_tokens": -1}).only_problem()
        assert (problem.severity, problem.field) == ("error", "usage.output_tokens")


def test_what_is_absent(small):
    small.jsonl("cases", [{"id": "c1", "question": "?"}])
    small.answer()
    small.text("flags.csv", "case,model,reader,failure\nc1,m1,r1,Laterality Error\n")
    review_set = small.load()
    case = review_set.case("c1")
    assert case.question_type == "open"
    assert (case.images, case.options, case.tags, case.normal) == ((), (), {}, None)
    (flag,) = review_set.flags_of("c1")
    assert (flag.failure, flag.verdict) == ("laterality_error", "confirmed")


def test_another_category_is_a_warning_and_kept(small):
    problem = small.case(category="Device Check").only_problem()
    assert (problem.severity, problem.field) == ("warning", "category")
    assert small.load().case("c1").category == "Device Check"


@pytest.mark.parametrize(
    ("table", "line", "field"),
    [
        ("scores", "c1,m1,r1,style,3", "dimension"),
        ("scores", "c1,m1,r1,process,0", "score"),
        ("scores", "c1,m1,r1,process,6", "score"),
        ("scores", "c1,m1,r1,process,2.5", "score"),
        ("scores", "c1,m1,,process,2", "reader"),
    ],
)
def test_scores_that_cannot_be(small, table, line, field):
    small.answer().text("scores.csv", f"case,model,reader,dimension,score\n{line}\n")
    problem = small.only_problem()
    assert (problem.severity, problem.row, problem.field) == ("error", 1, field)


def test_a_missing_score_is_none(small):
    small.answer().text("scores.csv", "case,model,reader,dimension,score\nc1,m1,r1,process,\n")
    assert [score.score for score in small.load().scores_of("c1")] == [None]
