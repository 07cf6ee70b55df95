"""Run all checks in parallel, within a time limit; none blocks the others."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final, TypeVar

from rexview.doctor.data_checks import check_engine, check_reviews, check_set, check_storage
from rexview.doctor.finding import (
    CheckContext,
    CheckFields,
    CheckFinding,
    DoctorCheck,
    wrong_finding,
)
from rexview.doctor.server_checks import (
    check_folders,
    check_packages,
    check_server,
    check_settings,
    check_sign_in,
)
from rexview.errors import EngineError, RexviewError, StoreError

WITHOUT_SETTINGS: Final[Mapping[str, DoctorCheck]] = {"packages": check_packages}
CHECKS: Final[Mapping[str, DoctorCheck]] = {
    **WITHOUT_SETTINGS,
    "settings": check_settings,
    "review set": check_set,
    "reviews": check_reviews,
    "folders": check_folders,
    "engine": check_engine,
    "storage": check_storage,
    "sign-in": check_sign_in,
    "server": check_server,
}
"""Every check by the part of its findings, in the order of printing."""
_LOG: Final = logging.getLogger(__name__)
_Result = TypeVar("_Result")


@dataclass
class _RunningCheck:
    """One check in a thread, which can be abandoned at the time limit."""

    part: str
    check: DoctorCheck
    known: CheckContext
    said: list[CheckFields] = field(default_factory=list)

    def __post_init__(self) -> None:
        name = f"doctor: {self.part}"
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            for one in self.check(self.known):
                self.said.append(one)
        except (EngineError, StoreError) as error:
            self.said.append(wrong_finding(self.part, error.message, error.remedy))
        except RexviewError as error:
            self.said.append(wrong_finding(self.part, str(error)))
        except ModuleNotFoundError as error:
            said = f"The package {error.name} is not installed."
            self.said.append(wrong_finding(self.part, said, "See packages above."))
        except Exception as error:
            _LOG.debug("A check failed.", exc_info=True)
            said = f"It could not be looked at ({type(error).__name__})."
            self.said.append(
                wrong_finding(self.part, said, "Please report this as a defect of rexview.")
            )


def run_within(limit_s: float, work: Callable[[], _Result]) -> _Result:
    """Return the result of ``work``.

    Raises
    ------
    TimeoutError
        It takes longer than the limit; its thread is abandoned.
    """
    found: Future[_Result] = Future()

    def run() -> None:
        try:
            found.set_result(work())
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=run, name="doctor: settings", daemon=True).start()
    return found.result(limit_s)


def run_checks(
    known: CheckContext, limit_s: float, checks: Mapping[str, DoctorCheck] = CHECKS
) -> tuple[list[CheckFinding], bool]:
    """Return the findings of checks, and whether all ended within ``limit_s`` seconds.

    A check that did not end is a finding, after its findings so far; its thread is abandoned.
    """
    until = time.monotonic() + limit_s
    all_asked = [_RunningCheck(part, check, known) for part, check in checks.items()]
    findings: list[CheckFinding] = []
    ended = True
    for asked in all_asked:
        asked.thread.join(max(0.0, until - time.monotonic()))
        said = list(asked.said)
        if asked.thread.is_alive():
            ended = False
            words = f"It did not answer within {limit_s:g} s."
            remedy = (
                "See what it waits for: a network drive, a server; or give --limit more seconds."
            )
            said.append(wrong_finding(asked.part, words, remedy))
        findings += [CheckFinding(asked.part, *one) for one in said]
    return findings, ended
