"""Settings: command line first, then environment, then ``rexview.yaml``, then defaults.

:data:`SETTING_SPECS` has every setting with its environment variable and its default; a test
compares it with the table in docs/settings.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import platformdirs

from rexview.addresses import RemoteAddress, is_address, parse_address, remote_set_folder
from rexview.errors import AddressRefused, FileRefused, SettingsError
from rexview.people import Member, Role, read_members, read_role
from rexview.untrusted_input import parse_untrusted_yaml, read_typed_path, read_untrusted_yaml
from rexview.words.catalogue import ENGLISH

DEMO_FOLDER: Final = Path(__file__).resolve().parent.parent / "assets" / "demo"
CONFIG_NAME: Final = "rexview.yaml"
_MAX_SHOWN: Final = 200
MEMORY: Final = "memory"
_DATABASES: Final = ("postgresql", "postgres", "sqlite")


def _folder(value: Any) -> Path:
    text = str(value).strip()
    if not text:
        raise ValueError("it is empty")
    return read_typed_path(text).resolve()


def _set_folder_or_address(value: Any) -> Path | RemoteAddress:
    """Read the folder of a set, or the address of a remote one."""
    text = str(value).strip()
    return parse_address(text) if is_address(text) else _folder(text)


def _addresses(value: Any) -> tuple[RemoteAddress, ...]:
    """Read addresses from a list, or from a text that separates them by commas or blanks."""
    parts = value.replace(",", " ").split() if isinstance(value, str) else value
    return tuple(parse_address(str(part)) for part in parts)


def _number(kind: Callable[[Any], float], most: float | None = None) -> Callable[[Any], float]:
    """Return a reader of numbers above 0 and up to ``most``."""

    def read(value: Any) -> float:
        number = kind(value)
        if not (number > 0 and (most is None or number <= most)):
            raise ValueError("it must be above 0" + (f" and at most {most:g}" if most else ""))
        return number

    return read


def _database_url(value: Any) -> str:
    text = str(value).strip()
    scheme, separator, rest = text.partition("://")
    if not separator or not rest or scheme.partition("+")[0] not in _DATABASES:
        raise ValueError("it must begin with postgresql:// or sqlite:///")
    return text


def _engine(value: Any) -> str:
    text = str(value).strip()
    parts = urlsplit(text)
    if text == MEMORY or (parts.scheme == "chdb" and parts.path.strip("/")):
        return text
    if parts.scheme != "clickhouse" or not parts.hostname or not parts.path.strip("/"):
        raise ValueError("it must be memory or clickhouse://user@host:port/database")
    if parts.password is not None:
        raise ValueError("the password must stand in REXVIEW_CLICKHOUSE_PASSWORD")
    return text


def engine_address(text: str) -> str:
    """Read the address of an engine as typed by a user.

    Raises
    ------
    SettingsError
    """
    try:
        return _engine(text)
    except ValueError as error:
        raise SettingsError(f"--engine cannot be used: {error}.") from None


def _folders(value: Any) -> tuple[Path, ...]:
    parts = value.split(os.pathsep) if isinstance(value, str) else value
    return tuple(_folder(part) for part in parts)


def _public_address(value: Any) -> str:
    """Read ``https://review.example.org``, with a port if it is not the usual one."""
    parts = urlsplit(str(value).strip().rstrip("/"))
    usual = {"http": 80, "https": 443}
    if parts.scheme not in usual or not parts.hostname or parts.path or parts.query:
        raise ValueError("it must be like https://review.example.org, without a path")
    if parts.username is not None or parts.fragment:
        raise ValueError("it must be like https://review.example.org, and nothing else")
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = "" if parts.port in (None, usual[parts.scheme]) else f":{parts.port}"
    return f"{parts.scheme}://{name}{port}"


def _people(value: Any) -> tuple[Member, ...]:
    if isinstance(value, str):  # from the environment
        try:
            value = parse_untrusted_yaml(value)[0]
        except FileRefused:
            raise ValueError("it is no YAML or JSON list") from None
    return read_members(value)


def _default_role(value: Any) -> Role | None:
    return None if value in (None, "none") else read_role(value)


def _language(value: Any) -> str:
    """Read the language of the pages, and check that its translation is valid."""
    text = str(value).strip()
    if text != ENGLISH:
        from rexview.words.translations import read_catalogue

        read_catalogue(text)
    return text


@dataclass(frozen=True)
class SettingSpec:
    """One setting: its name in ``rexview.yaml``, its variable, its reader, its meaning.

    The value of a ``private`` setting is never shown.
    """

    name: str
    variable: str
    read: Callable[[Any], Any]
    meaning: str
    private: bool = False


SETTING_SPECS: Final = (
    SettingSpec(
        "review_set",
        "REXVIEW_SET",
        _set_folder_or_address,
        "folder of the review set that opens at start",
    ),
    SettingSpec(
        "open_under", "REXVIEW_OPEN_UNDER", _folders, "folders that the Data page may open from"
    ),
    SettingSpec("cache_folder", "REXVIEW_CACHE", _folder, "where is kept what takes long to make"),
    SettingSpec(
        "cache_mb", "REXVIEW_CACHE_MB", _number(int), "size limit of decoded images in it, MB"
    ),
    SettingSpec(
        "kept_mb",
        "REXVIEW_KEPT_MB",
        _number(int),
        "size limit of large sets in it, and of what detectors found, MB each",
    ),
    SettingSpec(
        "remote_cache_mb",
        "REXVIEW_REMOTE_CACHE_MB",
        _number(int),
        "size limit of pictures fetched from elsewhere in it, MB",
    ),
    SettingSpec(
        "remote_hosts",
        "REXVIEW_REMOTE_HOSTS",
        _addresses,
        "addresses that pictures may be fetched from, such as s3://bucket/ or https://host/folder/",
    ),
    SettingSpec(
        "max_megapixels", "REXVIEW_MAX_MEGAPIXELS", _number(int), "larger images are refused"
    ),
    SettingSpec(
        "gap_threshold",
        "REXVIEW_GAP",
        _number(float, 4),
        "process - execution from which a gap is flagged",
    ),
    SettingSpec(
        "disagreement_threshold",
        "REXVIEW_DISAGREEMENT",
        _number(float, 4),
        "difference between two readers from which they disagree",
    ),
    SettingSpec(
        "database_url",
        "REXVIEW_DATABASE_URL",
        _database_url,
        "where reviews are kept: a database for a team",
        private=True,
    ),
    SettingSpec(
        "engine",
        "REXVIEW_ENGINE",
        _engine,
        "where the answers are: memory, or clickhouse://user@host:port/database",
        private=True,
    ),
    SettingSpec(
        "secret",
        "REXVIEW_SECRET",
        str,
        "signs image links; set it when several servers share",
        private=True,
    ),
    SettingSpec(
        "public_address",
        "REXVIEW_PUBLIC_ADDRESS",
        _public_address,
        "where browsers find this server, such as https://review.example.org",
    ),
    SettingSpec(
        "people", "REXVIEW_PEOPLE", _people, "who may sign in, with which role", private=True
    ),
    SettingSpec(
        "default_role", "REXVIEW_DEFAULT_ROLE", _default_role, "role of others who sign in"
    ),
    SettingSpec("language", "REXVIEW_LANGUAGE", _language, "language of the pages, such as de"),
    SettingSpec(
        "sign_in_hours", "REXVIEW_SIGN_IN_HOURS", _number(float, 720), "how long a sign-in holds"
    ),
)


@dataclass(frozen=True)
class Settings:
    """All settings. Folders are absolute."""

    review_set: Path = DEMO_FOLDER
    open_under: tuple[Path, ...] | None = None
    cache_folder: Path = Path(platformdirs.user_cache_dir("rexview"))
    cache_mb: int = 2048
    kept_mb: int = 8192
    remote_cache_mb: int = 4096
    remote_hosts: tuple[RemoteAddress, ...] = ()
    max_megapixels: int = 64
    gap_threshold: float = 2.0
    disagreement_threshold: float = 2.0
    database_url: str | None = field(default=None, repr=False)  # may contain a password
    engine: str = MEMORY
    secret: str | None = None
    public_address: str | None = None
    people: tuple[Member, ...] = ()
    default_role: Role | None = None
    language: str = ENGLISH
    sign_in_hours: float = 12.0


def load_settings(
    arguments: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
    config: Path | None = None,
) -> Settings:
    """Return the settings from all sources.

    ``arguments`` are those after ``--`` on the command line: at most one folder. By default
    ``environ`` is ``os.environ``, and ``config`` is ``rexview.yaml`` in the working directory.

    Raises
    ------
    SettingsError
        Lists every invalid value, its source, and the reason.
    """
    values: dict[str, Any] = {}
    wrong: list[str] = []
    given = _raw_settings(arguments, environ, config, wrong)
    specs = {spec.name: spec for spec in SETTING_SPECS}
    for name, (where, value) in given.items():
        if name not in specs:
            wrong.append(f"{where}: there is no such setting; there are {', '.join(specs)}.")
            continue
        try:
            values[name] = specs[name].read(value)
        except (TypeError, ValueError, OverflowError, FileRefused, AddressRefused) as error:
            hidden = specs[name].private or isinstance(error, AddressRefused)
            shown = "the value" if hidden else repr(value)
            shown = f"{shown[:_MAX_SHOWN]}…" if len(shown) > _MAX_SHOWN else shown
            wrong.append(f"{where}: {shown} cannot be used: {str(error).rstrip('.')}.")
    if wrong:
        raise SettingsError("\n".join(wrong))
    return _with_set_folder(Settings(**values))


def setting_sources(
    arguments: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
    config: Path | None = None,
) -> dict[str, str]:
    """Return the source of each given setting, by name; all others are defaults.

    Parameters as for :func:`load_settings`. The values need not be valid.
    """
    found = _raw_settings(arguments, environ, config, [])
    return {name: where for name, (where, _) in found.items()}


def _raw_settings(
    arguments: Sequence[str],
    environ: Mapping[str, str] | None,
    config: Path | None,
    wrong: list[str],
) -> dict[str, tuple[str, Any]]:
    """Return the source and the raw value of each given setting."""
    environ = os.environ if environ is None else environ
    config = Path(CONFIG_NAME) if config is None else config
    given: dict[str, tuple[str, Any]] = {}
    for name, value in _read_config(config, wrong).items():
        given[name] = (f"{config.name}, {name}", value)
    for spec in SETTING_SPECS:
        if environ.get(spec.variable, "").strip():
            given[spec.name] = (spec.variable, environ[spec.variable])
    folders = [argument for argument in arguments if not argument.startswith("-")]
    if len(folders) > 1:
        wrong.append(f"Give one review set after --, not {len(folders)}.")
    if folders:
        given["review_set"] = ("the folder after --", folders[0])
    return given


def _with_set_folder(settings: Settings) -> Settings:
    """Fill in the folder of the tables if the set is remote."""
    given: Path | RemoteAddress = settings.review_set
    if isinstance(given, Path):
        return settings
    try:
        return replace(settings, review_set=remote_set_folder(given.text, settings.cache_folder))
    except AddressRefused as error:
        raise SettingsError(f"The review set cannot be used: {error}") from None


def _read_config(config: Path, wrong: list[str]) -> dict[str, Any]:
    try:
        content = read_untrusted_yaml(config) or {}
    except FileNotFoundError:
        return {}
    except (FileRefused, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        wrong.append(f"{config.name} cannot be read: {reason}")
        return {}
    if not isinstance(content, dict):
        wrong.append(f"{config.name} must be a list of settings, one `name: value` a line.")
        return {}
    return {str(name): value for name, value in content.items()}
