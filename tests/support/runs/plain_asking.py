"""A run of plain questions: what the runner needs of a set, without pictures and wordings."""

from datetime import UTC, datetime

from rexview.models.backend import Card, Parameters, Price, Prompt, Request
from rexview.models.endpoints.endpoint import Endpoint
from rexview.models.running.attempts import Asking, Unread
from rexview.models.running.folder import new_run_id
from rexview.models.running.journal import lines_of, read_past
from rexview.models.running.run import Run, begin, new_plan, resumed
from rexview.models.running.spec import RunSpec
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
        return Request(
            case.id, repeat, "Answer.", parts, spec.parameters, spec.prompt.id, spec.prompt.hash
        )

    values = {
        "case": cases.get,
        "build": build,
        "read": lambda request, reply, case: Unread(reply.text, reply.outcome, ()),
        "input_tokens": lambda request: 5 + len(request.parts[0]) // 4,
        "output_tokens": 30,
        **changes,
    }
    return Asking(**values)


def work(folder, cases, spec, *, resume=False, given=None, told=lambda progress: None, **asking):
    """Begin a run, or go on with the newest like it, and wait for its end."""
    plan = resumed(folder, spec, None, cases) if resume else None
    plan = plan or new_plan(folder, spec)
    lock = begin(plan)
    endpoint = Endpoint(spec.parameters, key="sk-test-0123456789", connections=spec.concurrency)
    try:
        run = Run(plan.spec, plan.run, asking_of(cases, plan.spec, **asking), endpoint, told=told)
        if given is not None:
            given(run)
        return run.work(), plan.run
    finally:
        endpoint.close()
        lock.release()


def failures_of(run):
    """Return what has no answer as it failed, with the message of its last attempt."""
    return list(read_past(run).failures.values())


def rows_of(run):
    """Return the rows of answers that a run has written."""
    return [line for _, line in lines_of(run.rows)]
