"""The way to ask a model on this machine: several cases at once, each with a reply of its own."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Sequence
from typing import Any, Final

from rexview.models.card import Card
from rexview.models.endpoints.endpoint import NO_SCHEMA
from rexview.models.endpoints.outcome import outcome_of
from rexview.models.endpoints.untrusted import one_line
from rexview.models.local.conversation import Conversation, conversation_of
from rexview.models.local.files import ModelFiles, find_files, refusal, what_is_missing
from rexview.models.local.loading import Loaded, graphics_card, is_of_memory, load_model
from rexview.models.local.memory import MOST_NEW_TOKENS, Needs, context_of, needs
from rexview.models.local.written import read_written
from rexview.models.reply import AttemptFailed, Reply
from rexview.models.request import Parameters, Request

_LOG: Final = logging.getLogger(__name__)


class LocalModel:
    """A model in this process; it is loaded when it is first asked.

    Parameters
    ----------
    parameters : Parameters
        With ``api`` ``transformers``; without a temperature the likeliest token is taken.
    card : Card
        Whether it takes pictures.
    batch : int
        How many cases are asked at once; fewer once memory did not do for them. With a seed and a
        temperature it is one, as what is drawn would depend on the others.

    Raises
    ------
    AttemptFailed
        Of kind ``setup``, when nothing can be asked in this way.
    """

    def __init__(self, parameters: Parameters, card: Card, batch: int) -> None:
        if (missing := what_is_missing()) is not None:
            raise refusal(missing)
        if parameters.base_url is not None:
            raise refusal("A local model has no base URL: leave --base-url out.")
        if parameters.temperature is not None and parameters.temperature < 0:
            raise refusal("The temperature cannot be below 0.")
        self.parameters, self.card = parameters, card
        self._draws_alone = bool(parameters.temperature) and parameters.seed is not None
        self.batch = 1 if self._draws_alone else batch
        self.calls: int | None = 1
        self.new_tokens = parameters.max_output_tokens or MOST_NEW_TOKENS
        self._most = self.batch
        self._turn = threading.Lock()
        self._files: ModelFiles | None = None
        self._needs: Needs | None = None
        self._loaded: Loaded | AttemptFailed | None = None

    def prepare(self, *, download: bool = False) -> Needs:
        """Find its files and say what it takes, before it is loaded.

        Raises
        ------
        AttemptFailed
            It is not there, or not what is loaded here.
        """
        self._files = find_files(self.parameters.model, download=download)
        context = context_of(self._files)
        if context is not None and self.new_tokens >= context:
            raise refusal(
                f"{self.parameters.model} takes {context:,} tokens with the answer: lower "
                f"--max-output-tokens, which is {self.new_tokens:,}."
            )
        self._needs = needs(self._files, self.card, self.new_tokens, self.batch, graphics_card())
        return self._needs

    def ask(self, requests: Sequence[Request]) -> list[Reply | AttemptFailed]:
        """Ask for all at once, as far as memory does; threads take turns."""
        with self._turn:
            return self._ask(requests)

    def _ask(self, requests: Sequence[Request]) -> list[Reply | AttemptFailed]:
        loaded = self._model()
        if isinstance(loaded, AttemptFailed):
            return [loaded] * len(requests)
        came: dict[int, Reply | AttemptFailed] = {}
        talks: dict[int, Conversation] = {}
        for place, request in enumerate(requests):
            try:
                talks[place] = conversation_of(request, loaded.render, plain=loaded.plain)
            except AttemptFailed as failure:
                came[place] = failure
        for pictures in (True, False):  # processors take batches of one kind
            places = [place for place, one in talks.items() if one.pictures is pictures]
            asked = [(requests[place], talks[place]) for place in places]
            came.update(zip(places, self._asked(loaded, asked), strict=True))
        return [came[place] for place in range(len(requests))]

    def close(self) -> None:
        """Give back the memory."""
        self._loaded = None

    def _model(self) -> Loaded | AttemptFailed:
        if self._loaded is None:
            try:
                if self._files is None or self._needs is None:
                    self.prepare()
                assert self._files
                assert self._needs
                self._loaded = load_model(
                    *(self._files, self.parameters, self._needs.dtype),
                    on_graphics=self._needs.on_graphics,
                    images=self.card.images > 0,
                )
            except AttemptFailed as failure:
                self._loaded = failure
        return self._loaded

    def _asked(
        self, loaded: Loaded, asked: Sequence[tuple[Request, Conversation]]
    ) -> list[Reply | AttemptFailed]:
        """Ask for some of one kind; where that fails, for each half of them, down to single ones.

        What memory did not do for is not tried again; what else fails is found, and the others
        have their answers.
        """
        if not asked:
            return []
        if len(asked) <= self._most:
            try:
                return self._generated(loaded, asked)
            except Exception as error:  # the model's own code
                of_memory, words = is_of_memory(error), one_line(str(error), None)
                kind = type(error).__name__
            _free()
            if len(asked) == 1 and of_memory:
                words = "This case does not fit into memory: send fewer or smaller images."
                return [AttemptFailed("setup", words)]
            if len(asked) == 1:
                return [AttemptFailed("request", f"The model failed on it: {kind}: {words}")]
            if of_memory:
                self._most = len(asked) // 2
                _LOG.warning("%s at once do not fit into memory: %s.", len(asked), self._most)
        half = -(-len(asked) // 2)
        return [*self._asked(loaded, asked[:half]), *self._asked(loaded, asked[half:])]

    def _generated(
        self, loaded: Loaded, asked: Sequence[tuple[Request, Conversation]]
    ) -> list[Reply | AttemptFailed]:
        import torch

        begun = time.monotonic()
        inputs = loaded.inputs([talk for _, talk in asked])
        lengths = [int(one) for one in inputs["attention_mask"].sum(1)]
        if failures := self._too_long(lengths):
            rest = [one for place, one in enumerate(asked) if place not in failures]
            replies = iter(self._generated(loaded, rest) if rest else ())
            return [failures.get(place) or next(replies) for place in range(len(asked))]
        if self._draws_alone:
            torch.manual_seed(_seed(self.parameters.seed or 0, asked[0][0]))
        elif self.parameters.seed is not None:
            torch.manual_seed(self.parameters.seed)
        with torch.inference_mode():
            output = loaded.model.generate(**inputs, max_new_tokens=self.new_tokens)
        wide = inputs["input_ids"].shape[1]
        latency = round(time.monotonic() - begun, 4)
        return [
            self._reply(loaded, request, talk, length, row[wide:].tolist(), len(asked), latency)
            for (request, talk), length, row in zip(asked, lengths, output, strict=True)
        ]

    def _too_long(self, lengths: Sequence[int]) -> dict[int, AttemptFailed]:
        """Return the failures of those that leave too little of the context for an answer."""
        context = context_of(self._files) if self._files else None
        if context is None:
            return {}
        return {
            place: AttemptFailed(
                "request",
                f"The question with its images is {length:,} of {context:,} tokens that the "
                f"model takes, and leaves too few for an answer of {self.new_tokens:,}: send fewer "
                "images, or lower --max-output-tokens.",
            )
            for place, length in enumerate(lengths)
            if length + self.new_tokens > context
        }

    def _reply(
        self,
        loaded: Loaded,
        request: Request,
        talk: Conversation,
        length: int,
        tokens: Sequence[int],
        together: int,
        latency: float,
    ) -> Reply:
        written = read_written(tokens, loaded.ends, talk.ending, length, loaded.decode)
        said = written.said
        notes = list(talk.notes)
        if request.schema is not None and self.parameters.structured:
            notes.append(NO_SCHEMA)
        if self._most < self.batch:
            notes.append(f"Asked {self._most} at a time: more did not fit into memory.")
        commit = loaded.facts["commit"]
        served = self.parameters.model
        return Reply(
            outcome=outcome_of(said),
            text=said.text,
            finish_reason=said.word,
            usage=said.usage,
            model_served=f"{served}@{commit}" if commit else served,
            latency_s=latency,
            raw={**written.as_json(), **loaded.facts, "batch": together, **self._limits()},
            notes=tuple(notes),
        )

    def _limits(self) -> dict[str, Any]:
        return {"max_new_tokens": self.new_tokens, "seed": self.parameters.seed}


def _seed(seed: int, request: Request) -> int:
    """Return a seed for one request: the same whenever it is asked, another for each repeat."""
    return int.from_bytes(hashlib.sha256(f"{seed} {request.key}".encode()).digest()[:7])


def _free() -> None:
    """Give back what a failed attempt held of a graphics card's memory."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
