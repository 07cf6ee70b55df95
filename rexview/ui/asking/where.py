"""Where what is asked goes: what is missing for it, and whether a person lets it go there."""

from __future__ import annotations

import streamlit as st

from rexview.analysis.run_models.jobs import missing_requirements
from rexview.analysis.run_models.local_needs import needs_here
from rexview.errors import RexviewError, RunError
from rexview.models.backend import AttemptFailed
from rexview.models.endpoints.servers import Address, confirm, is_confirmed, read_address
from rexview.models.running.run import disk_words
from rexview.models.running.spec import RunSpec
from rexview.schema import ReviewSet
from rexview.ui.asking.edit import can_write
from rexview.ui.asking.key_values import keys_known
from rexview.ui.html.safe_text import as_markdown
from rexview.words import tr


def may_begin(review_set: ReviewSet, spec: RunSpec, what: str) -> tuple[bool, bool]:
    """Say where a model is asked, and what is missing.

    ``what`` is sent to it: ``Images and questions of 3 cases``. Returns whether it may begin, and
    whether a local model is loaded although it takes more memory than is free.
    """
    local = spec.parameters.api == "transformers"
    address = None if local else read_address(spec.parameters.base_url)
    missing = missing_requirements(spec, keys_known(spec.card.key_variable))
    if missing:
        st.warning(as_markdown(missing), icon=":material/key:")
    if address and address.warning:
        st.warning(as_markdown(address.warning), icon=":material/lock_open:")
    writable = can_write(review_set)
    if not writable:
        st.warning(tr("The review set's folder cannot be written, so no run can begin in it."))
    agreed = True
    insists = False
    if address is None:
        st.markdown(tr("{what} stay on this computer.").format(what=as_markdown(what)))
        if not missing:
            agreed, insists = _room_for(spec)
    elif address.is_this_machine:
        st.markdown(
            tr("{what} go to {host}, which is this computer.").format(
                what=as_markdown(what), host=as_markdown(address.host)
            )
        )
        agreed = is_confirmed(address) or _agreed(address, what)
    else:
        st.markdown(
            tr("**{what} are sent to {host}**, with the key in {variable}.").format(
                what=as_markdown(what),
                host=as_markdown(address.host),
                variable=as_markdown(spec.card.key_variable),
            )
        )
        agreed = _agreed(address, what)
    return agreed and writable and not missing, insists


def may_go_on(name: str, api: str | None, base_url: str | None) -> bool:
    """Ask whether a run or job of the set's folder may send to another computer, or a new port.

    That folder can come from somebody else, and with it the address. ``name`` tells one run or job
    from another.
    """
    if api == "transformers":
        return True
    try:
        address = read_address(base_url)
    except AttemptFailed:
        return True  # going on says what is wrong with it, and sends nothing
    if address.is_this_machine and is_confirmed(address):
        return True
    words = tr("It may send to {host}").format(host=as_markdown(address.host))
    return st.checkbox(words, key=f"run_may_go_on_{name}_{address.url}")


def confirm_address(api: str | None, base_url: str | None) -> None:
    """Note that whoever pressed the button let what is asked go to this address.

    Raises
    ------
    RunError
        It cannot be noted, so the run would not be let go there.
    """
    if api == "transformers":
        return
    try:
        confirm(read_address(base_url))
    except AttemptFailed as failure:
        raise RunError(str(failure)) from None
    except OSError as error:
        raise RunError(disk_words(error)) from None


def _agreed(address: Address, what: str) -> bool:
    return st.checkbox(tr("These may be sent there"), key=f"run_agreed_{address.url}_{what}")


def _room_for(spec: RunSpec) -> tuple[bool, bool]:
    """Say what a model takes of memory; return whether it may begin, and against that advice."""
    try:
        with st.spinner(tr("Looking at what the model takes…")):
            found = needs_here(spec)
    except RexviewError as error:
        st.warning(as_markdown(str(error)), icon=":material/memory:")
        return False, False
    st.caption(as_markdown(str(found)))
    if found.fits:
        return True, False
    st.warning(
        tr(
            "That is more than is free, and this computer may stand still: close "
            "other programs, ask fewer at once, allow shorter answers, or choose a "
            "smaller model."
        ),
        icon=":material/memory:",
    )
    insists = st.checkbox(tr("Load it all the same"), key=f"run_insists_{spec.parameters.model}")
    return insists, insists
