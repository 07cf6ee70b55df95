"""Batches: every request answered once, whatever the server leaves undone and wherever we end."""

import json
from contextlib import closing

import pytest
from support.model_server import started
from support.model_server.asked import KEY, make_request

from rexview.models.backend import AttemptFailed, Parameters, Reply
from rexview.models.endpoints.batch_api import BatchClient, read_batch_lines, write_shards
from rexview.models.endpoints.endpoint import Endpoint


class Killed(BaseException):
    """The process ends here."""


class Driven:
    """What a run does with batches: a log, answers, and processes that may end."""

    def __init__(self, server, path, api="responses"):
        self.server, self.path, self.api = server, path, api
        self.log, self.answers, self.failures, self.waits = [], {}, [], 0

    def go(self, names, *, kill_at=None, before_written=False, kill_answer=None, **more):
        """Go on until all is answered, or until the event ``kill_at``, or an answer."""
        parameters = Parameters("gpt-5-mini", self.api, self.server.base_url)
        seen = 0

        def note(event, **values):
            nonlocal seen
            seen += 1
            line = json.loads(json.dumps({"event": event, **values}))
            if seen == kill_at and before_written:
                raise Killed
            self.log.append(line)
            if seen == kill_at:
                raise Killed

        def wait(seconds):
            self.waits += 1
            assert self.waits < 200
            return True

        def build(name):
            return make_request(parameters, name)

        with (
            closing(Endpoint(parameters, key=KEY)) as endpoint,
            closing(
                BatchClient(endpoint, build, self.path / "shard.jsonl", note, wait, **more)
            ) as batches,
        ):
            try:
                for name, came in batches.results(names, list(self.log), self.answers):
                    if isinstance(came, AttemptFailed):
                        self.failures.append((name, came))
                        continue
                    assert name not in self.answers
                    if len(self.answers) == kill_answer:
                        raise Killed
                    self.answers[name] = came
            except Killed:
                return False
        assert not (self.path / "shard.jsonl").exists()
        return True

    def left_on_the_server(self):
        files = self.server._call("/v1/files")["data"]
        return [card["id"] for card in files]


NAMES = [f"case-{number:02}" for number in range(25)]


@pytest.fixture(name="server")
def server_fixture():
    with started(batch_polls=1) as server:
        yield server


def test_shards_are_sent_and_merged(server, api, tmp_path):
    driven = Driven(server, tmp_path, api)
    assert driven.go(NAMES, most_requests=10)
    assert sorted(driven.answers) == NAMES
    assert all(isinstance(reply, Reply) for reply in driven.answers.values())
    entries = server.requests()
    assert {entry["text"][-8:-1] for entry in entries} == set(NAMES)
    assert len({entry["batch"] for entry in entries}) == 3
    by_text = {entry["text"][-8:-1]: entry for entry in entries}
    assert all(
        reply.usage.input == by_text[name]["input"] for name, reply in driven.answers.items()
    )
    assert driven.left_on_the_server() == []
    assert [line["event"] for line in driven.log].count("batch_ended") == 3


@pytest.mark.parametrize("before_written", [False, True], ids=["after", "before"])
def test_whatever_event_we_end_at_nothing_is_asked_twice(tmp_path, before_written):
    for kill_at in range(1, 11):  # two shards with five events each
        with started(batch_polls=1) as server:
            driven = Driven(server, tmp_path)
            ended = driven.go(
                NAMES[:10], most_requests=5, kill_at=kill_at, before_written=before_written
            )
            assert not ended
            assert driven.go(NAMES[:10], most_requests=5)
            assert sorted(driven.answers) == NAMES[:10]
            assert len(server.requests()) == 10, f"killed at {kill_at}"
            planned = [line["event"] for line in driven.log].count("batch_planned")
            orphans = planned - 2  # a file whose upload nobody could write down stays
            assert len(driven.left_on_the_server()) <= orphans


def test_results_that_come_again_are_left_aside(server, tmp_path):
    driven = Driven(server, tmp_path)
    assert not driven.go(NAMES[:10], kill_answer=4)
    assert len(driven.answers) == 4
    assert driven.go(NAMES[:10])
    assert sorted(driven.answers) == NAMES[:10]
    assert len(server.requests()) == 10


def test_what_expired_is_sent_again(server, tmp_path):
    server.options(batch_polls=1, batch_done=4)
    driven = Driven(server, tmp_path)
    assert driven.go(NAMES[:10])
    assert sorted(driven.answers) == NAMES[:10]
    assert len(server.requests()) == 10
    statuses = [line["status"] for line in driven.log if line["event"] == "batch_ended"]
    assert statuses == ["expired", "expired", "completed"]


def test_what_stays_undone_is_told(server, tmp_path):
    server.options(batch_polls=1, batch_done=4)
    driven = Driven(server, tmp_path)
    assert driven.go(NAMES[:10], rounds=2)
    assert len(driven.answers) == 8
    assert {failure.kind for _, failure in driven.failures} == {"server"}
    assert all(failure.again for _, failure in driven.failures)
    assert len(driven.failures) == 2


def test_single_requests_that_fail(server, tmp_path):
    broken = {"error": {"status": 400, "code": "invalid_image_format", "message": "No image."}}
    busy = {"error": {"status": 500, "message": "Oh."}}
    blocked = {"error": {"status": 400, "code": "content_filter", "message": "No."}}
    server.script(
        [
            {"match": "case-01", "turns": [broken]},
            {"match": "case-02", "turns": [busy, {}]},
            {"match": "case-03", "turns": [blocked]},
        ]
    )
    driven = Driven(server, tmp_path)
    assert driven.go(NAMES[:5])
    assert [(name, failure.kind) for name, failure in driven.failures] == [("case-01", "image")]
    assert {name: reply.outcome for name, reply in driven.answers.items()} == {
        "case-00": "answered",
        "case-02": "answered",
        "case-03": "filtered",
        "case-04": "answered",
    }


def test_a_batch_that_is_not_taken(server, tmp_path):
    server.options(batch_polls=1, batch_requests=5)
    driven = Driven(server, tmp_path)
    assert driven.go(NAMES[:10])
    assert {(failure.kind, failure.again) for _, failure in driven.failures} == {("request", False)}
    assert len(driven.failures) == 10
    assert "line 6" in str(driven.failures[0][1])


def test_a_cancelled_batch_gives_what_was_done(server, tmp_path):
    driven = Driven(server, tmp_path)
    assert not driven.go(NAMES[:10], kill_at=3)
    parameters = Parameters("gpt-5-mini", "responses", server.base_url)
    batch = driven.log[-1]["batch"]
    with closing(Endpoint(parameters, key=KEY)) as endpoint:
        endpoint.client.batches.cancel(batch)
    assert driven.go(NAMES[:10], rounds=1)
    assert (len(driven.answers), len(driven.failures)) == (5, 5)
    assert driven.go(NAMES[:10])
    assert sorted(driven.answers) == NAMES[:10]
    assert len(server.requests()) == 10


def test_a_request_that_cannot_be_built_or_is_too_large_fails_alone(server, tmp_path):
    driven = Driven(server, tmp_path)
    assert driven.go(["short", "long" * 500], most_bytes=2000)
    assert list(driven.answers) == ["short"]
    assert [(name[:4], failure.kind) for name, failure in driven.failures] == [("long", "request")]


def test_shards_are_bounded_in_bytes(tmp_path):
    bodies = [(f"n{number}", {"text": "é" * (number % 40)}) for number in range(100)]
    sizes, names, lines = [], [], []
    for shard in write_shards(bodies, "/v1/responses", tmp_path / "s", 50, 1000):
        content = shard.path.read_bytes()
        sizes.append(len(content))
        names += shard.names
        lines += [json.loads(line)["body"] for line in content.splitlines()]
        assert len(shard.names) == content.count(b"\n")
    assert max(sizes) <= 1000
    assert names == [name for name, _ in bodies]
    assert lines == [body for _, body in bodies]


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_results_are_read_from_pieces_of_any_size_and_damage_is_counted(size):
    good = {"custom_id": "a", "response": {"status_code": 200, "body": {"x": "é"}}}
    content = (
        json.dumps(good).encode() + b'\nno json\n{"custom_id": 3}\n[]\n' + b'{"custom_id": "b"}'
    )
    damaged = []
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    lines = list(read_batch_lines(pieces, lambda: damaged.append(1)))
    assert [(line.id, line.status) for line in lines] == [("a", 200), ("b", None)]
    assert lines[0].body == {"x": "é"}
    assert len(damaged) == 3


def test_a_server_that_cannot_be_asked_ends_it(tmp_path):
    with started(keys=("right",)) as server:
        driven = Driven(server, tmp_path)
        with pytest.raises(AttemptFailed) as raised:
            driven.go(NAMES[:2])
        assert raised.value.kind == "key"
        assert raised.value.stops_all
