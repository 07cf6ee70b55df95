"""Find the files of a model and check that they are safe to load.

A model is a folder, or a name whose files were downloaded before. Nothing is downloaded without a
request, and no code from a model is run. Weights are read from safetensors only: a pickle can run
any code.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from rexview.errors import FileRefused
from rexview.models.backend import AttemptFailed, Card, FailureCause
from rexview.untrusted_input import printable_text, read_file, read_typed_path

REQUIRED_PACKAGES: Final = ("torch", "transformers")
INSTALL_COMMAND: Final = "pip install -r requirements-models.txt"
_NAME: Final = re.compile(r"[\w][\w.-]*(?:/[\w][\w.-]*)?", re.ASCII)
_WANTED: Final = ("*.json", "*.safetensors", "*.model", "*.txt", "*.jinja")
_PICKLES: Final = ("*.bin", "*.pt", "*.pth", "*.ckpt")
_INDEX: Final = "model.safetensors.index.json"
_SINGLE: Final = "model.safetensors"
_MOST_JSON: Final = 64_000_000
_MOST_HEADER: Final = 100_000_000
_MOST_FILES: Final = 2000
_LENGTH: Final = struct.Struct("<Q")


@dataclass(frozen=True)
class ModelFiles:
    """The files of a model.

    ``config`` is its ``config.json``. ``numbers`` counts its weights by safetensors type;
    ``stored`` is their size in bytes. ``commit`` is the downloaded version, None for a folder.
    """

    folder: Path
    config: Mapping[str, Any] = field(repr=False)
    numbers: Mapping[str, int]
    stored: int
    commit: str | None = None


def setup_failure(message: str, kind: FailureCause = "setup") -> AttemptFailed:
    """Return the failure that ends a run before the first request."""
    return AttemptFailed(kind, message, stops_all=True)


def missing_packages() -> str | None:
    """Return what must be installed to run models on this machine, None if nothing is missing.

    Imports nothing.
    """
    missing = [name for name in REQUIRED_PACKAGES if find_spec(name) is None]
    if not missing:
        return None
    packages = " and ".join(missing)
    return f"Models on this machine need {packages}, not installed here: {INSTALL_COMMAND}"


def find_model_files(model: str, *, download: bool = False) -> ModelFiles:
    """Find and check the files of a model by its folder or name.

    Parameters
    ----------
    download
        Whether missing files may be downloaded from the hub.

    Raises
    ------
    AttemptFailed
        The files are missing, or cannot be loaded here; one line says what to do.
    """
    try:
        path = read_typed_path(model)
    except FileRefused as fault:
        raise setup_failure(f"--model: {fault}", "model") from None
    commit = None
    if not path.is_dir():
        if not _NAME.fullmatch(model) or path.is_absolute():
            raise setup_failure(f"There is no folder {printable_text(model)}.", "model")
        path = _download_files(model) if download else _find_cached(model)
        commit = path.name
    return _check_folder(path, printable_text(model), commit)


def _find_cached(model: str) -> Path:
    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(model, "config.json")
    if not isinstance(config, str):
        raise setup_failure(
            f"{model} is no folder and was not downloaded to this machine: add --download to fetch "
            "it (MedGemma and others first want their licence accepted on huggingface.co, and "
            "`hf auth login` here), or give its folder.",
            "model",
        )
    return Path(config).parent


def _download_files(model: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    try:
        return Path(snapshot_download(model, allow_patterns=list(_WANTED)))
    except GatedRepoError:
        raise setup_failure(
            f"{model} wants its licence accepted: do that on https://huggingface.co/{model}, then "
            "`hf auth login` on this machine, and start again.",
            "key",
        ) from None
    except RepositoryNotFoundError:
        raise setup_failure(
            f"There is no model {model} on huggingface.co, or it is private: check its name, or "
            "`hf auth login`.",
            "model",
        ) from None
    except LocalEntryNotFoundError:
        reason = "its server cannot be reached, or failed (or HF_HUB_OFFLINE is set)"
    except HfHubHTTPError:
        reason = "its server failed"
    except OSError as error:
        reason = error.strerror or "the connection failed"
    except Exception as error:  # the hub sent something unexpected
        reason = type(error).__name__
    raise setup_failure(f"{model} cannot be downloaded: {reason}. Try again.", "network")


def _check_folder(folder: Path, model: str, commit: str | None) -> ModelFiles:
    config = _json(folder / "config.json", model, _missing_config(folder, model))
    shards = _shards(folder, model)
    numbers: dict[str, int] = {}
    stored = 0
    for name in shards:
        for kind, count, size in _tensors(folder / name, model):
            numbers[kind] = numbers.get(kind, 0) + count
            stored += size
    return ModelFiles(folder, config, numbers, stored, commit)


def _missing_config(folder: Path, model: str) -> str:
    if (folder / "adapter_config.json").exists():
        return f"{model} is an adapter: merge it into the model that it was made for."
    if any(folder.glob("*.gguf")):
        return f"{model} is a GGUF file, for llama.cpp's server (docs/running-models.md)."
    return f"{model} is no folder of a model: it has no config.json."


def _json(path: Path, model: str, missing: str) -> Mapping[str, Any]:
    try:
        value = json.loads(read_file(path, _MOST_JSON))
    except FileNotFoundError:
        raise setup_failure(missing) from None
    except (OSError, ValueError, RecursionError, FileRefused):
        raise setup_failure(f"{path.name} of {model} cannot be read: get the file again.") from None
    if not isinstance(value, dict):
        raise setup_failure(f"{path.name} of {model} is not what it should be: get the file again.")
    return value


def _shards(folder: Path, model: str) -> list[str]:
    """Return the names of the weight files; all of them exist."""
    if (folder / _INDEX).exists():
        places = _json(folder / _INDEX, model, "").get("weight_map")
        values = list(places.values()) if isinstance(places, dict) else []
        names = sorted({one for one in values if isinstance(one, str)})
        plain = all(Path(name).name == name and name.endswith(".safetensors") for name in names)
        if not names or not plain or len(names) > _MOST_FILES:
            raise setup_failure(
                f"{_INDEX} of {model} names no files of weights: get the file again."
            )
        missing = [name for name in names if not (folder / name).is_file()]
        if missing:
            shown = ", ".join(missing[:3]) + ("…" if len(missing) > 3 else "")
            raise setup_failure(
                f"{model} is not whole: {shown} missing. Download the rest (--download by name)."
            )
        return names
    if (folder / _SINGLE).is_file():
        return [_SINGLE]
    if any(path for pattern in _PICKLES for path in folder.glob(pattern)):
        raise setup_failure(
            f"The weights of {model} are pickle files, which can run code and are not opened: get "
            "them as safetensors, or have somebody who trusts them save them so "
            "(save_pretrained)."
        )
    raise setup_failure(f"{model} has no weights ({_SINGLE}): get the files again.")


def _tensors(path: Path, model: str) -> list[tuple[str, int, int]]:
    """Return type, count of numbers and bytes of each tensor in a safetensors file's header."""
    broken = setup_failure(f"{path.name} of {model} is cut short or broken: get the file again.")
    try:
        with path.open("rb") as file:
            length = _LENGTH.unpack(file.read(_LENGTH.size))[0]
            if length > _MOST_HEADER:
                raise broken
            header = json.loads(file.read(length))
        found = []
        end = 0
        for name, one in header.items():
            if name == "__metadata__":
                continue
            begin, last = one["data_offsets"]
            found.append((str(one["dtype"]), math.prod(one["shape"]), last - begin))
            end = max(end, last)
        whole = path.stat().st_size >= _LENGTH.size + length + end
    except (OSError, ValueError, TypeError, KeyError, AttributeError, struct.error, RecursionError):
        raise broken from None
    if not whole:
        raise broken
    return found


# Memory that a model needs, estimated before it is loaded.
#
# Weights are counted exactly, from the headers of their files. The space for running cases is an
# allowance: keys and values of every layer for the longest conversation, plus a fifth of the
# weights and half a gigabyte for everything else.

DEFAULT_NEW_TOKENS: Final = 2048
"""Default limit of an answer's tokens: greedy models may repeat themselves for ever."""
_TEXT_TOKENS: Final = 2000
_IMAGE_TOKENS: Final = 1500
_ON_TOP: Final = 500_000_000
_WIDTHS: Final = {"float32": 4, "bfloat16": 2}
_FLOATS: Final = frozenset(("F64", "F32", "F16", "BF16"))
"""Safetensors types that are converted to the wanted width; others keep theirs."""
_STORED: Final = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}
_CGROUP: Final = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class MemoryNeeds:
    """Memory that a model needs, and that is available, in bytes; ``free`` is None if unknown.

    ``place`` names the memory (``on_graphics``: not main memory). ``dtype`` is the type of the
    numbers, ``why`` the reason for it. ``batch`` cases are asked at once, each of up to ``tokens``
    tokens including the answer.
    """

    place: str
    on_graphics: bool
    dtype: str
    why: str
    weights: int
    cases: int
    batch: int
    tokens: int
    free: int | None

    @property
    def total(self) -> int:
        """Bytes of everything."""
        return self.weights + self.cases

    @property
    def fits(self) -> bool:
        """Whether it fits; also true if the free memory is unknown."""
        return self.free is None or self.total <= self.free

    def __str__(self) -> str:
        free = "unknown" if self.free is None else _size(self.free)
        return (
            f"Needs about {_size(self.total)} of {self.place}, free: {free}. Weights "
            f"{_size(self.weights)} as {self.dtype} ({self.why}), {_size(self.cases)} set aside "
            f"for {self.batch} at once of up to {self.tokens:,} tokens."
        )


def estimate_memory(
    files: ModelFiles, card: Card, new_tokens: int, batch: int, graphics: tuple[str, int] | None
) -> MemoryNeeds:
    """Return the memory that a model needs.

    Parameters
    ----------
    new_tokens
        Tokens of the longest answer.
    graphics
        Name and free bytes of a graphics card's memory, None for main memory.
    """
    image = card.image_tokens or {}
    each = int(image["tokens"]) if image.get("rule") == "fixed" else _IMAGE_TOKENS
    tokens = _TEXT_TOKENS + card.images * each + new_tokens
    if context := context_length(files):
        tokens = min(tokens, context)

    def of(place: str, dtype: str, why: str, free: int | None) -> MemoryNeeds:
        weights = weight_bytes(files, dtype)
        cache = batch * tokens * _cache_bytes(files.config, _WIDTHS[dtype])
        cases = cache + weights // 5 + _ON_TOP
        on_graphics = graphics is not None
        return MemoryNeeds(place, on_graphics, dtype, why, weights, cases, batch, tokens, free)

    if graphics is not None:
        return of(graphics[0], "bfloat16", "as graphics cards compute it best", graphics[1])
    free = free_memory()
    wide = of("main memory", "float32", "no graphics card; exact, quick on any processor", free)
    narrow = of("main memory", "bfloat16", "float32 does not fit; slower, rounds more", free)
    return narrow if narrow.fits and not wide.fits else wide


def weight_bytes(files: ModelFiles, dtype: str) -> int:
    """Return the bytes of the weights in memory."""
    loaded = stored = 0
    for kind, count in files.numbers.items():
        if kind in _FLOATS:
            loaded += count * _WIDTHS[dtype]
            stored += count * _STORED[kind]
    return loaded + files.stored - stored


def context_length(files: ModelFiles) -> int | None:
    """Return the most tokens of question, images and answer together, None if unknown."""
    most = _text_config(files.config).get("max_position_embeddings")
    return most if isinstance(most, int) and most > 0 else None


def _text_config(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the configuration of the text model."""
    text = config.get("text_config")
    return text if isinstance(text, Mapping) else config


def _cache_bytes(config: Mapping[str, Any], width: int) -> int:
    """Return the bytes for a token's keys and values over all layers, 0 if unknown."""
    said = _text_config(config)

    def number(name: str, other: int = 0) -> int:
        value = said.get(name)
        return value if isinstance(value, int) and value > 0 else other

    heads = number("num_attention_heads")
    of_keys = number("num_key_value_heads", heads)
    size = number("head_dim", number("hidden_size") // heads if heads else 0)
    return 2 * number("num_hidden_layers") * of_keys * size * width


def free_memory() -> int | None:
    """Return the bytes of main memory available without swapping; None if unknown.

    The smaller of what the system has and what the container may use.
    """
    found = [_meminfo(), _container_limit()]
    known = [one for one in found if one is not None]
    return min(known) if known else None


def _meminfo() -> int | None:
    line = re.search(r"^MemAvailable:\s+(\d+) kB", _read(Path("/proc/meminfo")), re.MULTILINE)
    return int(line[1]) * 1024 if line else None


def _container_limit() -> int | None:
    most, used = _read(_CGROUP / "memory.max").strip(), _read(_CGROUP / "memory.current").strip()
    if not (most.isdigit() and used.isdigit()):
        return None
    kept = re.search(r"^inactive_file (\d+)$", _read(_CGROUP / "memory.stat"), re.MULTILINE)
    return max(0, int(most) - int(used) + (int(kept[1]) if kept else 0))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _size(count: int) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e8 else f"{count / 1e6:,.1f} MB"
