"""A run of plain questions: what the runner needs of a set, without pictures and wordings."""

from datetime import UTC, datetime

from rexview.models.backend import Card, ModelRequest, Parameters, Price, Prompt
from rexview.models.endpoints.endpoint import Endpoint
from rexview.models.running.attempts import RunTask, UnreadReply
from rexview.models.running.model_run import ModelRun, new_plan, plan_resume, start_run
from rexview.models.running.run_folder import new_run_id
from rexview.models.running.run_journal import read_json_lines, read_run_history
from rexview.models.running.run_spec import RunSpec
from rexview.schema import Case

MODEL = "gpt-5-mini"
PRICE = Price(1.0, 10.0, date="2026-11-01", source="a test")
PROMPT = Prompt("plain-1", "Plain", 1, "Answer.", {"open": "{question}"}, hash="0" * 64)


def questions(n):
    """Return so many cases by id."""
    ids = [f"c{number:04}" for number in range(1, n + 1)]
    return {one: Case(one, f"Question of case {one}: is there an effusion?") for one in ids}


def spec_of(cases, server, **changes):
    """Return a run of some cases on a scripted server."""
    parameters = Parameters(MODEL, "responses", server.base_url, timeout_s=20.0)
    values = {
        "parameters": parameters,
        "card": Card((MODEL,), price=PRICE),
        "prompt": PROMPT,
        "cases": tuple(cases),
        "concurrency": 4,
        **changes,
    }
    return RunSpec(id=new_run_id(MODEL, datetime.now(UTC)), **values)


def asking_of(cases, spec, **changes):
    """Return how the questions are asked: as they are, and answers read as they are."""

    def build(case, repeat):
        parts = (case.question,)
        return ModelRequest(
            case.id, repeat, "Answer.", parts, spec.parameters, spec.prompt.id, spec.prompt.hash
        )

    values = {
        "case": cases.get,
        "build": build,
        "read": lambda request, reply, case: UnreadReply(reply.text, reply.outcome, ()),
        "input_tokens": lambda request: 5 + len(request.parts[0]) // 4,
        "output_tokens": 30,
        **changes,
    }
    return RunTask(**values)


def work(folder, cases, spec, *, resume=False, given=None, told=lambda progress: None, **asking):
    """Begin a run, or go on with the newest like it, and wait for its end."""
    plan = plan_resume(folder, spec, None, cases) if resume else None
    plan = plan or new_plan(folder, spec)
    lock = start_run(plan)
    endpoint = Endpoint(spec.parameters, key="sk-test-0123456789", connections=spec.concurrency)
    try:
        run = ModelRun(
            plan.spec, plan.run, asking_of(cases, plan.spec, **asking), endpoint, told=told
        )
        if given is not None:
            given(run)
        return run.work(), plan.run
    finally:
        endpoint.close()
        lock.release()


def failures_of(run):
    """Return what has no answer as it failed, with the message of its last attempt."""
    return list(read_run_history(run).failures.values())


def rows_of(run):
    """Return the rows of answers that a run has written."""
    return [line for _, line in read_json_lines(run.rows)]
