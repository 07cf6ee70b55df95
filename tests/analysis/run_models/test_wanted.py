"""A run that is gone on with: what of it this machine decides."""

import json

from support.judge.set_to_judge import write_judged

from rexview.analysis.run_models.run_request import RunRequest, plan_run
from rexview.models.running.model_run import start_run
from rexview.reviewset import load_review_set


def test_a_run_of_somebody_else_does_not_say_which_key_is_sent(tmp_path):
    review_set = load_review_set(write_judged(tmp_path / "set"))
    plan = plan_run(review_set, RunRequest(model="gpt-5-mini"))
    start_run(plan).release()
    run = json.loads(plan.run.spec.read_text())
    run["card"]["key_variable"] = "SECRET_OF_ANOTHER_SERVICE"
    run["parameters"]["base_url"] = "https://elsewhere.example/v1"
    plan.run.spec.write_text(json.dumps(run))
    again = plan_run(review_set, RunRequest(resume=True, run=plan.run.id))
    assert again.spec.parameters.base_url == "https://elsewhere.example/v1"
    assert again.spec.card.key_variable == "OPENAI_API_KEY"
