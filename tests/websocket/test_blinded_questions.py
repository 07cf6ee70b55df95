"""A reader who answers choice questions gets nothing that gives the right one away, on any channel.

Two ways: every message of the Score page and every answer of its routes is searched for words that
stand in hidden places only; and everything hidden is exchanged in the files, after which the same
pages and routes have to say the same.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from google.protobuf.json_format import MessageToDict
from support.browser.traffic import Traffic
from support.page_text import data_of
from support.review_folder import RAMP, named, write_review_set
from support.websocket_session import COOKIE_SECRET, Hand, user_cookie

from bench.reliability.server import ScoreServer

PEOPLE = [
    {"email": "anna@clinic.example", "name": "Anna Reader", "role": "reader", "id": "r-anna"},
    {"email": "lea@clinic.example", "name": "Lea Lead", "role": "lead"},
]
ANNA, LEA = (person["email"] for person in PEOPLE)
MODELS = {"zephyrion": "Zephyrion Large", "quokkanet": "Quokkanet"}
OPTIONS = ["Left sided", "Right sided", "On both sides", "On neither side"]
QUESTIONS = ("q1", "q2", "q3")
WORDS = {
    "explanation": "Explanaword",
    "findings": "Findingsword",
    "impression": "Impressionword",
    "tag": "tagword",
    "difficulty": "difficultyword",
    "site": "Siteword",
    "box": "Boxword",
    "picture": "pictureword",
    "peer": "Rhododendra Peer",
    "peers_comment": "Peercommentword",
}
"""Of everything that is hidden while a question is answered; ``write`` adds which variant it is."""
ANSWER = "Answertextword"
"""Stands in the models' answers, which readers see where they score them."""
SEALED = re.compile(r"[A-Za-z0-9_=-]{80,}")
"""Encrypted links and tickets, which differ with the files."""
TELLS_STATE = ("version", "ticket", "address", "hash", "key")
"""Names under which stands what the server's secret has hashed, files and pictures among it."""


def write(folder: Path, variant: int, *, answers: int = 0) -> Path:
    """Write questions whose hidden parts are those of a variant, the models' answers of another."""
    word = {name: f"{text}-{variant}" for name, text in WORDS.items()}
    cases = [
        {
            "id": case,
            "question": f"Where is the effusion? ({case})",
            "question_type": "choice",
            "category": "location_and_distribution",
            "difficulty": word["difficulty"],
            "site": word["site"],
            "normal": bool(variant),
            "tags": {"kind": [word["tag"]]},
            "images": [{"id": "i", "path": f"{word['picture']}.png", "width": 100, "height": 120}],
            "report": {"findings": word["findings"], "impression": word["impression"]},
            "reference_boxes": [{"image": "i", "label": word["box"], "box": [5, 60, 30, 30]}],
            "options": OPTIONS,
            "correct": (place + 2 * variant) % len(OPTIONS),
            "explanation": word["explanation"],
        }
        for place, case in enumerate(QUESTIONS)
    ]
    given = [
        {
            "case": case,
            "model": model,
            "text": f"{ANSWER}-{answers}: {'ABCD'[(place + answers) % 4]}.",
            "choice": (place + answers) % 4,
            "finish_reason": "stop",
        }
        for case in QUESTIONS
        for place, model in enumerate(MODELS)
    ]
    chosen = "".join(
        f"{case},peer,{(place + variant) % 4},{12 + variant},{word['peers_comment']}\n"
        for place, case in enumerate(QUESTIONS)
    )
    pictures = {f"{word['picture']}.png": np.asarray(RAMP)}
    write_review_set(
        folder,
        info={
            "name": "A study",
            "id": "study",
            "models": named(**MODELS),
            "readers": named(peer=word["peer"]),
            "protocol": {"choice_cases": True},
        },
        cases=cases,
        answers=given,
        pictures=pictures,
    )
    (folder / "choices.csv").write_text(f"case,reader,choice,seconds,comment\n{chosen}", "utf-8")
    return folder


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ScoreServer]:
    secrets = tmp_path / "secrets.toml"
    secrets.write_text(
        '[auth]\nredirect_uri = "http://localhost:{port}/oauth2callback"\n'
        f'cookie_secret = "{COOKIE_SECRET}"\nclient_id = "x"\nclient_secret = "x"\n'
        'server_metadata_url = "http://localhost:9/.well-known/openid-configuration"\n',
        encoding="utf-8",
    )
    with ScoreServer(
        tmp_path,
        review_set=write(tmp_path / "set", 0),
        environment={"REXVIEW_PEOPLE": json.dumps(PEOPLE)},
        options={"secrets.files": str(secrets)},
    ) as running:
        yield running


class Reader:
    """A session of somebody; ``said`` holds what the pages and routes said, what is sealed cut."""

    def __init__(self, server: ScoreServer, email: str, hands: ExitStack) -> None:
        self.hand = hands.enter_context(Hand(server.url, user_cookie(server.url, email)))
        self.traffic = Traffic()
        self.said: list[Any] = []

    def open(self, page: str, query: str) -> None:
        """Open a page, and fetch all that it has links for."""
        self.hand.rerun(page, query=query)
        self.said.append([MessageToDict(one) for one in self.hand.last if one.HasField("delta")])
        for frame in self.hand.frames:
            self.traffic.add("received", frame)
        self.hand.frames.clear()
        for data in map(data_of, self.hand.elements("bidi_component")):
            for link in sorted(set(re.findall(r"rexview/pixels/[\w.=-]+", json.dumps(data)))):
                self.traffic.add(link, self.hand.get(link))

    def turn(self, component: str, case: str) -> None:
        """Fetch the cases before and after one as turning.js does."""
        address = data_of(self.hand.component(component))["turning"]["address"]
        for direction in ("next", "previous"):
            body = self.hand.get(f"{address}?beside={case}&direction={direction}")
            self.traffic.add(direction, body)
            self.said.append(json.loads(body))

    def choose(self, case: str, choice: int) -> dict[str, Any]:
        """Answer a question as questions.js does."""
        data = data_of(self.hand.component("rexview_questions"))
        entry = {
            "token": str(uuid4()),
            "case": case,
            "page": "answer questions",
            "kind": "choose",
            "slot": None,
            "subject": None,
            "value": {"value": choice, "seconds": 3.5},
            "was": None,
            "seen": data["case"]["own"]["revision"],
            "shown": data["case"]["own"]["shown"],
        }
        told = self.hand.post(data["outbox"], entry)
        assert told["saved"] == [entry["token"]], told
        self.traffic.add("told", json.dumps(told))
        return dict(told)


def hidden(variant: int = 0) -> list[str]:
    return [*MODELS, *MODELS.values(), *(f"{text}-{variant}" for text in WORDS.values())]


def unsealed(value: Any) -> Any:
    """Leave out of what was said all that is encrypted or names the state of the files."""
    if isinstance(value, dict):
        return {name: unsealed(one) for name, one in value.items() if name not in TELLS_STATE}
    if isinstance(value, list):
        return [unsealed(one) for one in value]
    if isinstance(value, str) and value[:1] in "{[":
        try:
            return unsealed(json.loads(value))
        except ValueError:
            pass
    return SEALED.sub("sealed", value) if isinstance(value, str) else value


def differing(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Yield where two things that were said differ."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for name, value in one.items():
            yield from differing(value, other[name], f"{path}.{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, pair in enumerate(zip(one, other, strict=True)):
            yield from differing(*pair, f"{path}[{place}]")
    elif one != other:
        yield f"{path}: {str(one)[:200]} / {str(other)[:200]}"


def answer_questions(reader: Reader, *, choose: bool) -> None:
    for place, case in enumerate(QUESTIONS):
        reader.open("score", f"task=answer&case={case}")
        reader.turn("rexview_questions", case)
        if choose:
            reader.choose(case, place)
    reader.open("score", "task=answer")


def score_answers(reader: Reader) -> None:
    for case in QUESTIONS:
        reader.open("score", f"task=score&case={case}")
        reader.turn("rexview_score_pad", case)


def test_nothing_hidden_is_in_any_message(server: ScoreServer) -> None:
    with ExitStack() as hands:
        lead = Reader(server, LEA, hands)
        lead.open("case", "case=q1")
        lead.open("browse", "as=table")
        told = {leak.word for leak in lead.traffic.find(hidden())}
        nowhere = {"difficultyword-0", "Siteword-0", "pictureword-0", "Peercommentword-0"}
        assert told >= set(hidden()) - nowhere, "the search finds what is there"
        assert lead.traffic.find(["(correct)"])
        assert lead.traffic.find([ANSWER])

        anna = Reader(server, ANNA, hands)
        answer_questions(anna, choose=True)
        answer_questions(anna, choose=False)
        assert anna.traffic.find(["On neither side"]), "the questions were read"
        assert any(piece.where.startswith("rexview/pixels/") for piece in anna.traffic.pieces)
        solved = ["(correct)", 'class="rx-right', *(f'"correct": {n}' for n in range(4))]
        solved += [f'"correct":{n}' for n in range(4)]
        assert anna.traffic.find([*hidden(), *solved, ANSWER]) == []

        score_answers(anna)
        assert anna.traffic.find([ANSWER]), "the answers were read"
        assert anna.traffic.find([*hidden(), *solved]) == []


@pytest.mark.parametrize("task", [answer_questions, score_answers])
def test_what_is_hidden_changes_nothing_that_is_sent(server: ScoreServer, task: Any) -> None:
    """Order, counts, colours, failures that are offered: a difference would tell what is hidden."""
    folder, said = server.review_set.folder, []
    both = {"choose": False} if task is answer_questions else {}
    for _ in range(2):
        with ExitStack() as hands:
            # how long the set takes to open is the machine's: a page that waits says so
            Reader(server, ANNA, hands).open("score", "")
            anna = Reader(server, ANNA, hands)
            task(anna, **both)
            said.append(unsealed(anna.said))
        server.kill()
        shutil.rmtree(folder / "images")
        write(folder, 1, answers=1 if task is answer_questions else 0)
        server.start()
    first, second = said
    assert json.dumps(first).count("On neither side") > 3
    assert list(differing(first, second)) == []
