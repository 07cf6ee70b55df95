"""A model in memory, with what turns conversations into its numbers and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rexview.models.endpoints.untrusted import one_line
from rexview.models.local.conversation import Conversation, Messages
from rexview.models.local.files import ModelFiles, refusal
from rexview.models.reply import AttemptFailed
from rexview.models.request import Parameters

_OF_MEMORY: Final = ("not enough memory", "can't allocate memory", "out of memory")


@dataclass(frozen=True)
class Loaded:
    """A model that is ready to be asked.

    ``processor`` makes its inputs (of a model of text only, its tokenizer), ``ends`` are the tokens
    that end an answer, ``facts`` say for the log what was loaded and how.
    """

    processor: Any
    tokenizer: Any
    model: Any
    ends: frozenset[int]
    template: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def plain(self) -> bool:
        """Whether it is a model of text only."""
        return self.processor is self.tokenizer

    def render(self, messages: Messages) -> str:
        """Put messages into the chat template."""
        return str(
            self.processor.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True, **self.template
            )
        )

    def inputs(self, conversations: Sequence[Conversation]) -> Any:
        """Return the tensors of several conversations, padded on the left.

        Control words of the model that stand in a question are taken as text: nobody's question
        ends its own turn, or stands for a picture.
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
        return inputs if self.plain else inputs.to(self.model.dtype)  # pictures are numbers, too

    def decode(self, tokens: Sequence[int], without_special: bool) -> str:
        """Return the text of some tokens."""
        return str(
            self.tokenizer.decode(
                list(tokens),
                skip_special_tokens=without_special,
                clean_up_tokenization_spaces=False,
            )
        )


def graphics_card() -> tuple[str, int] | None:
    """Name the memory of the first graphics card that computes in bfloat16, and its free bytes."""
    import torch

    if not torch.cuda.is_available() or not torch.cuda.is_bf16_supported():
        return None
    return f"memory of {torch.cuda.get_device_name(0)}", int(torch.cuda.mem_get_info(0)[0])


def load_model(
    files: ModelFiles, parameters: Parameters, dtype: str, *, on_graphics: bool, images: bool
) -> Loaded:
    """Load a model into memory; nothing is downloaded and none of its own code is run.

    Parameters
    ----------
    dtype
        The numbers that its weights become.
    images
        Whether it is to be shown pictures.

    Raises
    ------
    AttemptFailed
        It cannot be loaded; one line says what to do.
    """
    name = parameters.model
    try:
        return _loaded(files, parameters, dtype, on_graphics=on_graphics, images=images)
    except AttemptFailed:
        raise
    except ImportError as error:
        words = one_line(str(error), None)
        if "torchvision" in words.casefold():
            words = "torchvision, of the same build as torch (pip install torchvision)."
        raise refusal(f"{name} needs another package: {words}") from None
    except Exception as error:  # the model's files are not ours, nor what reads them
        if is_of_memory(error):
            words = "no memory was left: close other programs, or use a smaller model"
        else:
            words = f"{type(error).__name__}: {one_line(str(error), None)}"
        raise refusal(f"{name} cannot be loaded: {words}") from None


def _loaded(
    files: ModelFiles, parameters: Parameters, dtype: str, *, on_graphics: bool, images: bool
) -> Loaded:
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
        raise refusal(f"{parameters.model} takes no images by its config.json ({kind}): {words}.")
    maker: Any = transformers.AutoProcessor if images else transformers.AutoTokenizer
    processor = maker.from_pretrained(files.folder, **own)
    tokenizer = processor.tokenizer if images else processor
    template = processor.chat_template or tokenizer.chat_template
    if not template:
        words = "it was not made to be asked. Take the one for instructions (-it, -Instruct, -chat)"
        raise refusal(f"{parameters.model} has no chat template: {words}.")
    if parameters.reasoning_effort is not None and "reasoning_effort" not in str(template):
        raise refusal(f"{parameters.model} knows no --reasoning-effort: leave it out.")
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
        raise refusal(  # they would be filled with chance
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
    return Loaded(
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
    """Take the likeliest token each time, or draw at a temperature as the model's makers do."""
    settings.do_sample = bool(temperature)
    if temperature:
        settings.temperature = temperature
    else:
        settings.temperature = settings.top_p = settings.top_k = None
        settings.min_p = settings.typical_p = None


def is_of_memory(error: BaseException) -> bool:
    """Whether an error says that no memory was left."""
    if isinstance(error, MemoryError):
        return True
    words = str(error).casefold()
    return isinstance(error, RuntimeError) and any(one in words for one in _OF_MEMORY)
