"""Ask a model on this machine: several cases at once, each with its own reply."""

from __future__ import annotations

import hashlib
import io
import logging
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from PIL import Image

from rexview.models.backend import (
    AttemptFailed,
    Card,
    ModelRequest,
    Parameters,
    Reply,
    SentImage,
    Usage,
)
from rexview.models.endpoints.endpoint import NO_SCHEMA_NOTE
from rexview.models.endpoints.model_output import ModelOutput, outcome_of
from rexview.models.endpoints.request_errors import short_line
from rexview.models.local.model_files import (
    DEFAULT_NEW_TOKENS,
    MemoryNeeds,
    ModelFiles,
    context_length,
    estimate_memory,
    find_model_files,
    missing_packages,
    setup_failure,
)

# A request as a conversation in the model's own chat template.

FOLDED_PARTS: Final = (
    "The model's chat template takes no system message: it stands before the question."
)
Messages = list[dict[str, Any]]
TemplateRenderer = Callable[[Messages], str]
"""Applies the chat template to messages; raises what the template raises."""


@dataclass(frozen=True)
class Conversation:
    """The text for the model, whether it has pictures, and the end of the templated text."""

    messages: Messages
    pictures: bool
    ending: str
    notes: tuple[str, ...] = ()


def make_conversation(
    request: ModelRequest, render: TemplateRenderer, *, plain: bool
) -> Conversation:
    """Make the conversation for a request.

    Templates silently drop what they do not know, so their output is checked.

    Parameters
    ----------
    plain
        Whether texts are joined into one, for text-only models.

    Raises
    ------
    AttemptFailed
        A picture cannot be decoded, or the template drops a part of the question.
    """
    parts = [_part(part) for part in request.parts]
    texts = [part["text"] for part in parts if part["type"] == "text"]
    if plain and len(texts) < len(parts):
        raise AttemptFailed("request", "This model takes no images: write images: 0 in its card.")
    user = _message("user", parts, plain)
    ways: list[tuple[Messages, tuple[str, ...]]] = [([user], ())]
    if request.system:
        system = {"type": "text", "text": request.system}
        before = {"type": "text", "text": f"{request.system}\n\n"}
        ways = [
            ([_message("system", [system], plain), user], ()),
            ([_message("user", [before, *parts], plain)], (FOLDED_PARTS,)),
        ]
    for messages, notes in ways:
        prompt = _rendered(render, messages)
        if all(text.strip() in prompt for text in (request.system, *texts)):
            return Conversation(messages, bool(request.images), prompt[-200:], notes)
    words = "The model's chat template leaves out a part of the question: use another model."
    raise AttemptFailed("request", words, stops_all=True)


def _rendered(render: TemplateRenderer, messages: Messages) -> str:
    try:
        return render(messages)
    except Exception:  # templates may raise anything
        return ""


def _part(part: str | SentImage) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    try:
        with Image.open(io.BytesIO(part.data)) as picture:
            return {"type": "image", "image": picture.convert("RGB")}
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise AttemptFailed("image", f"Image {part.image!r:.80} cannot be decoded.") from None


def _message(role: str, parts: Sequence[Mapping[str, Any]], plain: bool) -> dict[str, Any]:
    content = "\n\n".join(part["text"] for part in parts) if plain else list(parts)
    return {"role": role, "content": content}


# A model in memory, with its tokenizer or processor.

_OF_MEMORY: Final = ("not enough memory", "can't allocate memory", "out of memory")


@dataclass(frozen=True)
class LoadedModel:
    """A model that is loaded and ready.

    ``processor`` makes its inputs (the tokenizer for a text-only model). ``ends`` are the tokens
    that end an answer. ``facts`` describe for the log what was loaded and how.
    """

    processor: Any
    tokenizer: Any
    model: Any
    ends: frozenset[int]
    template: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def plain(self) -> bool:
        """Whether it is a text-only model."""
        return self.processor is self.tokenizer

    def render(self, messages: Messages) -> str:
        """Apply the chat template to messages."""
        return str(
            self.processor.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True, **self.template
            )
        )

    def inputs(self, conversations: Sequence[Conversation]) -> Any:
        """Return the tensors of several conversations, padded on the left.

        Control words of the model in a question are read as text, so that no question can end its
        own turn or stand for a picture.
        """
        padded = {"padding": True}
        how: dict[str, Any] = padded if self.plain else {"processor_kwargs": padded}
        inputs = self.processor.apply_chat_template(
            [one.messages for one in conversations],
            tokenize=True,
            add_generation_prompt=True,
            return_dict=True,
            return_tensors="pt",
            sanitize_control_tokens=True,
            **how,
            **self.template,
        ).to(self.model.device)
        return inputs if self.plain else inputs.to(self.model.dtype)  # pixels, too

    def decode(self, tokens: Sequence[int], without_special: bool) -> str:
        """Return the text of tokens."""
        return str(
            self.tokenizer.decode(
                list(tokens),
                skip_special_tokens=without_special,
                clean_up_tokenization_spaces=False,
            )
        )


def find_graphics_card() -> tuple[str, int] | None:
    """Return name and free bytes of the memory of the first graphics card with bfloat16."""
    import torch

    if not torch.cuda.is_available() or not torch.cuda.is_bf16_supported():
        return None
    return f"memory of {torch.cuda.get_device_name(0)}", int(torch.cuda.mem_get_info(0)[0])


def load_model(
    files: ModelFiles, parameters: Parameters, dtype: str, *, on_graphics: bool, images: bool
) -> LoadedModel:
    """Load a model into memory; nothing is downloaded and none of its own code is run.

    Parameters
    ----------
    dtype
        Type of the numbers that its weights are converted to.
    images
        Whether it must take pictures.

    Raises
    ------
    AttemptFailed
        It cannot be loaded; one line says what to do.
    """
    name = parameters.model
    try:
        return _load_parts(files, parameters, dtype, on_graphics=on_graphics, images=images)
    except AttemptFailed:
        raise
    except ImportError as error:
        words = short_line(str(error), None)
        if "torchvision" in words.casefold():
            words = "torchvision, of the same build as torch (pip install torchvision)."
        raise setup_failure(f"{name} needs another package: {words}") from None
    except Exception as error:  # neither the model's files nor their reader are ours
        if is_out_of_memory(error):
            words = "no memory was left: close other programs, or use a smaller model"
        else:
            words = f"{type(error).__name__}: {short_line(str(error), None)}"
        raise setup_failure(f"{name} cannot be loaded: {words}") from None


def _load_parts(
    files: ModelFiles, parameters: Parameters, dtype: str, *, on_graphics: bool, images: bool
) -> LoadedModel:
    import torch
    import transformers
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    )

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    own: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    kind = transformers.AutoConfig.from_pretrained(files.folder, **own).model_type
    if images and kind not in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES:
        words = "write images: 0 for it in models.yaml (docs/running-models.md)"
        raise setup_failure(
            f"{parameters.model} takes no images by its config.json ({kind}): {words}."
        )
    maker: Any = transformers.AutoProcessor if images else transformers.AutoTokenizer
    processor = maker.from_pretrained(files.folder, **own)
    tokenizer = processor.tokenizer if images else processor
    template = processor.chat_template or tokenizer.chat_template
    if not template:
        words = "it was not made to be asked. Take the one for instructions (-it, -Instruct, -chat)"
        raise setup_failure(f"{parameters.model} has no chat template: {words}.")
    if parameters.reasoning_effort is not None and "reasoning_effort" not in str(template):
        raise setup_failure(f"{parameters.model} knows no --reasoning-effort: leave it out.")
    tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    auto: Any = (
        transformers.AutoModelForImageTextToText if images else transformers.AutoModelForCausalLM
    )
    model, found = auto.from_pretrained(
        files.folder,
        dtype=getattr(torch, dtype),
        use_safetensors=True,
        output_loading_info=True,
        **own,
    )
    if missing := sorted(found["missing_keys"]):
        shown = ", ".join(missing[:3])
        raise setup_failure(  # they would be initialised at random
            f"{parameters.model} lacks {len(missing)} weights that it needs, such as {shown}: get "
            "its files again."
        )
    model = model.to("cuda:0" if on_graphics else "cpu").eval()
    settings = model.generation_config
    ends = settings.eos_token_id if settings.eos_token_id is not None else tokenizer.eos_token_id
    _set_sampling(settings, parameters.temperature)
    if settings.pad_token_id is None:
        settings.pad_token_id = tokenizer.pad_token_id
    effort = parameters.reasoning_effort
    return LoadedModel(
        processor,
        tokenizer,
        model,
        frozenset([ends] if isinstance(ends, int) else ends or ()),
        {} if effort is None else {"reasoning_effort": effort},
        {
            "class": type(model).__name__,
            "folder": files.folder.name,
            "commit": files.commit,
            "dtype": dtype,
            "device": str(model.device),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "generation": settings.to_diff_dict(),
        },
    )


def _set_sampling(settings: Any, temperature: float | None) -> None:
    """Take the likeliest token each time, or sample at a temperature as the model's makers do."""
    settings.do_sample = bool(temperature)
    if temperature:
        settings.temperature = temperature
    else:
        settings.temperature = settings.top_p = settings.top_k = None
        settings.min_p = settings.typical_p = None


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory ran out."""
    if isinstance(error, MemoryError):
        return True
    words = str(error).casefold()
    return isinstance(error, RuntimeError) and any(one in words for one in _OF_MEMORY)


# Read the output of a model: its answer, its thinking, and how it ended.

THINKING_MARKS: Final = (("<think>", "</think>"), ("<unused94>", "<unused95>"))
"""Marks around a model's thinking: of most models, and of MedGemma 27B."""
TokenDecoder = Callable[[Sequence[int], bool], str]
"""Turns tokens into text; the flag leaves out special tokens."""


@dataclass(frozen=True)
class LocalOutput:
    """The output for one request; ``whole`` is all its text, with special tokens."""

    said: ModelOutput
    whole: str

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON for the log."""
        return {"text": self.whole, "finish_reason": self.said.word}


def read_output(
    tokens: Sequence[int],
    ends: Collection[int],
    prompt_ending: str,
    asked: int,
    decode: TokenDecoder,
) -> LocalOutput:
    """Read the output tokens up to the first one that ends an answer.

    Parameters
    ----------
    prompt_ending
        End of the prompt: some templates open the thinking there.
    asked
        Number of tokens in the prompt.
    """
    stop = next((place for place, token in enumerate(tokens) if token in ends), None)
    own = list(tokens if stop is None else tokens[:stop])
    count = len(own) + (stop is not None)
    text, thought = _answer(own, prompt_ending, decode)
    said = ModelOutput(
        text=text,
        ended="limit" if stop is None else "done",
        word="length" if stop is None else "stop",
        usage=Usage(asked, count, thought),
        thought=bool(thought),
    )
    return LocalOutput(said, decode(list(tokens)[:count], False))


def _answer(tokens: list[int], prompt_ending: str, decode: TokenDecoder) -> tuple[str, int | None]:
    """Return the text after the thinking, and the thinking's token count; None if there is none."""
    whole = decode(tokens, False)
    for opens, closes in THINKING_MARKS:
        if not (prompt_ending.rstrip().endswith(opens) or whole.lstrip().startswith(opens)):
            continue
        if closes not in whole:
            return "", len(tokens)  # the answer never started
        # the fewest tokens whose text closes the thinking
        last = 1 + bisect_left(
            range(1, len(tokens) + 1), True, key=lambda n: closes in decode(tokens[:n], False)
        )
        after = decode(tokens[:last], False).partition(closes)[2]
        return (after + decode(tokens[last:], True)).lstrip(), last
    return decode(tokens, True), None


_LOG: Final = logging.getLogger(__name__)


class LocalModel:
    """A model in this process; it is loaded at the first request.

    Parameters
    ----------
    parameters : Parameters
        ``api`` is ``transformers``; without a temperature the likeliest token is taken.
    card : Card
        Decides whether it takes pictures.
    batch : int
        How many cases are asked at once; fewer after memory ran out. With a seed and a temperature
        it is one, because samples would depend on the other cases.

    Raises
    ------
    AttemptFailed
        Of kind ``setup`` if this configuration can ask nothing.
    """

    def __init__(self, parameters: Parameters, card: Card, batch: int) -> None:
        if (missing := missing_packages()) is not None:
            raise setup_failure(missing)
        if parameters.base_url is not None:
            raise setup_failure("A local model has no base URL: leave --base-url out.")
        if parameters.temperature is not None and parameters.temperature < 0:
            raise setup_failure("The temperature cannot be below 0.")
        self.parameters, self.card = parameters, card
        self._draws_alone = bool(parameters.temperature) and parameters.seed is not None
        self.batch = 1 if self._draws_alone else batch
        self.calls: int | None = 1
        self.new_tokens = parameters.max_output_tokens or DEFAULT_NEW_TOKENS
        self._most = self.batch
        self._turn = threading.Lock()
        self._files: ModelFiles | None = None
        self._needs: MemoryNeeds | None = None
        self._loaded: LoadedModel | AttemptFailed | None = None

    def prepare(self, *, download: bool = False) -> MemoryNeeds:
        """Find its files and return the memory that it needs, before it is loaded.

        Raises
        ------
        AttemptFailed
            The files are missing, or cannot be loaded here.
        """
        self._files = find_model_files(self.parameters.model, download=download)
        context = context_length(self._files)
        if context is not None and self.new_tokens >= context:
            raise setup_failure(
                f"{self.parameters.model} takes {context:,} tokens with the answer: lower "
                f"--max-output-tokens, which is {self.new_tokens:,}."
            )
        self._needs = estimate_memory(
            self._files, self.card, self.new_tokens, self.batch, find_graphics_card()
        )
        return self._needs

    def ask(self, requests: Sequence[ModelRequest]) -> list[Reply | AttemptFailed]:
        """Ask for all at once, as far as memory allows; threads take turns."""
        with self._turn:
            return self._ask(requests)

    def _ask(self, requests: Sequence[ModelRequest]) -> list[Reply | AttemptFailed]:
        loaded = self._model()
        if isinstance(loaded, AttemptFailed):
            return [loaded] * len(requests)
        came: dict[int, Reply | AttemptFailed] = {}
        talks: dict[int, Conversation] = {}
        for place, request in enumerate(requests):
            try:
                talks[place] = make_conversation(request, loaded.render, plain=loaded.plain)
            except AttemptFailed as failure:
                came[place] = failure
        for pictures in (True, False):  # processors take batches of one kind
            places = [place for place, one in talks.items() if one.pictures is pictures]
            asked = [(requests[place], talks[place]) for place in places]
            came.update(zip(places, self._asked(loaded, asked), strict=True))
        return [came[place] for place in range(len(requests))]

    def close(self) -> None:
        """Free the memory."""
        self._loaded = None

    def _model(self) -> LoadedModel | AttemptFailed:
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
        self, loaded: LoadedModel, asked: Sequence[tuple[ModelRequest, Conversation]]
    ) -> list[Reply | AttemptFailed]:
        """Ask requests of one kind; after a failure, ask each half again, down to single requests.

        A single request that ran out of memory is not tried again. Any other failure is narrowed
        down to its request, and the others get their answers.
        """
        if not asked:
            return []
        if len(asked) <= self._most:
            try:
                return self._generated(loaded, asked)
            except Exception as error:  # the model's own code
                of_memory, words = is_out_of_memory(error), short_line(str(error), None)
                kind = type(error).__name__
            _free_graphics_memory()
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
        self, loaded: LoadedModel, asked: Sequence[tuple[ModelRequest, Conversation]]
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
            torch.manual_seed(_request_seed(self.parameters.seed or 0, asked[0][0]))
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
        """Return failures for requests that leave too little context for an answer."""
        context = context_length(self._files) if self._files else None
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
        loaded: LoadedModel,
        request: ModelRequest,
        talk: Conversation,
        length: int,
        tokens: Sequence[int],
        together: int,
        latency: float,
    ) -> Reply:
        written = read_output(tokens, loaded.ends, talk.ending, length, loaded.decode)
        said = written.said
        notes = list(talk.notes)
        if request.schema is not None and self.parameters.structured:
            notes.append(NO_SCHEMA_NOTE)
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


def _request_seed(seed: int, request: ModelRequest) -> int:
    """Return a seed for a request: the same each time, another for each repeat."""
    return int.from_bytes(hashlib.sha256(f"{seed} {request.key}".encode()).digest()[:7])


def _free_graphics_memory() -> None:
    """Free graphics memory that a failed attempt used."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
