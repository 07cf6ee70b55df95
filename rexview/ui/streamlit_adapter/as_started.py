"""Streamlit's options as a server has them, in a process that is none; what its sign-in lacks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from streamlit.errors import StreamlitAuthError

from rexview.errors import SettingsError

_APP: Final = Path(__file__).resolve().parents[3] / "app.py"


def take_options(words: Sequence[str]) -> tuple[str, ...]:
    """Have the options that ``streamlit run app.py WORDS`` has; return what stands after ``--``.

    They come from Streamlit's files, from the environment and from the words.

    Raises
    ------
    SettingsError
        The words are no options of Streamlit, or a value is none.
    """
    import click
    from streamlit import config
    from streamlit.web import bootstrap, cli

    try:
        asked = cli.main_run.make_context("streamlit run", ["app.py", *words])
    except (click.ClickException, click.exceptions.Exit) as error:
        why = error.format_message() if isinstance(error, click.ClickException) else "no options"
        raise SettingsError(f"streamlit run does not take these options: {why}") from None
    given = dict(asked.params)
    given.pop("target")
    arguments = given.pop("args")
    config._main_script_path = str(_APP)  # beside which lies one of Streamlit's files
    bootstrap.load_config_options(given)
    return tuple(arguments)


def why_no_sign_in(provider: str = "default") -> str:
    """Return why nobody can sign in with a provider, in Streamlit's words; empty where they can.

    The words name fields of the file of secrets, and no value.
    """
    from streamlit.auth_util import is_authlib_installed, validate_auth_credentials

    if not is_authlib_installed():
        return "The package authlib is not installed in a version that Streamlit can use."
    try:
        validate_auth_credentials(provider)
    except StreamlitAuthError as error:
        return " ".join(str(error).split())
    return ""
