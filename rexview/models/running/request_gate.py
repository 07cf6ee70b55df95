"""Decide when the next request may go: one gate for all threads of a run.

It is shut while the run is paused, while the server needs a rest, while the most allowed requests
are under way, and when the budget is used up. A rest holds for the whole run, never for one
request.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import Final, Literal

from rexview.models.backend import AttemptFailed, RateLimits
from rexview.models.running.run_spec import RunBudget, RunCost

FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
_LONGEST_GUESS_S: Final = 15.0
"""Longest wait on an estimate of the server's limit; after it one request tries."""
_MAX_FAILURES_IN_A_ROW: Final = 3
"""Failures in a row without a reply from which the server counts as being in trouble."""
_MIN_REPLIES_FOR_MEAN: Final = 5
"""Replies from which their mean length replaces the estimate."""
MAX_PAUSES: Final = 6
"""Rests in a row without a reply, with several cases failing, after which the run stops."""
_JITTER: Final = random.Random()  # noqa: S311  # spreads requests, keeps no secret

StoppedState = Literal["finished", "cancelled", "broken"]


@dataclass(frozen=True)
class StopReason:
    """Why nothing new is sent any more, and the state that the run ends in.

    ``withdraw`` cancels the batches at the server.
    """

    state: StoppedState
    message: str
    withdraw: bool = False


@dataclass(frozen=True)
class SendingPause:
    """A pause in sending until a time (of :func:`time.time`), and its reason."""

    until: float
    why: str


@dataclass(eq=False)
class SendPermit:
    """Permission to send; ``expected`` is reserved in the budget until the pass is returned."""

    expected: RunCost
    since: float
    requests: int = 1


@dataclass
class _RateWindow:
    """Remaining limit by the server's headers, reduced with each request sent.

    ``until`` is when it is full again, ``most`` the largest value seen.
    """

    left: float
    until: float
    most: float

    def wait(self, need: float, now: float) -> float:
        """Return the seconds until there is probably room; most servers refill steadily."""
        if self.left >= need or now >= self.until:
            return 0.0
        to_fill = self.until - now
        steady = to_fill * (need - self.left) / max(self.most - self.left, need)
        return min(steady, to_fill, _LONGEST_GUESS_S)


@dataclass
class _RateWindows:
    requests: _RateWindow | None = None
    tokens: _RateWindow | None = None


class RequestGate:
    """Lets requests out; all methods are thread-safe.

    Parameters
    ----------
    concurrency
        The most requests under way at once; fewer while the server is in trouble.
    budget, spent, unsure
        Spending limit, earlier spending, and earlier spending that is uncertain.
    """

    def __init__(
        self,
        concurrency: int,
        budget: RunBudget | None = None,
        spent: RunCost = RunCost(),  # noqa: B008  # frozen
        unsure: RunCost = RunCost(),  # noqa: B008
    ) -> None:
        self._turn = threading.Condition()
        self._most = concurrency
        self._allowed = float(concurrency)
        self._budget = budget
        self._under_way: set[SendPermit] = set()
        self._windows = _RateWindows()
        self._shut_until = 0.0
        self._why = ""
        self._rested = 0.0
        self._level = self._troubles = 0
        self._in_a_row: Counter[str] = Counter()
        self._counted = self._output = 0
        self._paused = False
        self.spent, self.unsure = spent, unsure
        self.stopped: StopReason | None = None

    def enter(self, expected: RunCost) -> SendPermit | None:
        """Wait until a request may go; None if the gate has stopped."""
        with self._turn:
            while not self.is_stopped():
                wait = self._wait(expected, time.monotonic())
                if self.is_stopped():
                    break
                if wait == 0.0:
                    return self._let_out(expected)
                self._turn.wait(wait)
        return None

    def _wait(self, expected: RunCost, now: float) -> float | None:
        """Return the seconds to wait: 0 for none, None until something changes."""
        if self._paused or len(self._under_way) >= max(1, int(self._allowed)):
            return None
        if now < self._shut_until:
            return self._shut_until - now
        rest = self._window_wait(expected, now)
        if rest > 0:
            self._shut(now + rest, "The server's limit is used up")
            return rest
        if not self._fits(expected):
            if not self._under_way:
                self.stopped = StopReason("cancelled", f"Budget reached ({self._budget}).")
                self._turn.notify_all()
            return None
        return 0.0

    def _fits(self, expected: RunCost) -> bool:
        if self._budget is None:
            return True
        unit = self._budget.unit
        aside = sum(one.expected.of(unit) for one in self._under_way)
        used = self.spent.of(unit) + self.unsure.of(unit) + aside
        return used + expected.of(unit) <= self._budget.amount

    def has_room(self, expected: RunCost) -> bool:
        """Whether the budget allows this on top of everything under way."""
        with self._turn:
            return self._fits(expected)

    def sent_off(self, expected: RunCost, requests: int) -> SendPermit:
        """Return a pass for many requests at once, without waiting."""
        with self._turn:
            leave = SendPermit(expected, time.monotonic(), requests)
            self._under_way.add(leave)
            return leave

    def given_back(self, leave: SendPermit) -> None:
        """Take a pass back whose results have all been counted."""
        with self._turn:
            self._under_way.discard(leave)
            self._turn.notify_all()

    def _window_wait(self, expected: RunCost, now: float) -> float:
        """Return the seconds that the server's own limits require for this request."""
        wait = 0.0
        needs = ((self._windows.requests, 1.0), (self._windows.tokens, expected.of("tokens")))
        for window, need in needs:
            if window and (seconds := window.wait(need, now)) > 0:
                wait = max(wait, seconds)
                window.left = need  # then one request goes; its reply shows the limit
        return wait

    def _let_out(self, expected: RunCost) -> SendPermit:
        leave = SendPermit(expected, time.monotonic())
        self._under_way.add(leave)
        if self._windows.requests:
            self._windows.requests.left -= 1
        if self._windows.tokens:
            self._windows.tokens.left -= expected.of("tokens")
        return leave

    def replied(
        self, leave: SendPermit, spent: RunCost | None, limits: RateLimits | None, replies: int = 1
    ) -> None:
        """Take a pass back after replies; without counts its expected cost counts as uncertain."""
        with self._turn:
            self._under_way.discard(leave)
            if spent is None:
                self.unsure += leave.expected
            else:
                self.spent += spent
                self._counted += replies
                self._output += spent.output
            self._level = self._troubles = 0
            self._in_a_row.clear()
            self._allowed = min(self._most, self._allowed + 0.5)
            self._learn(leave, limits)
            self._turn.notify_all()

    def failed(self, leave: SendPermit, failure: AttemptFailed, case: str) -> None:
        """Take a pass back after a failed attempt, and start a rest if needed."""
        with self._turn:
            self._under_way.discard(leave)
            if failure.maybe_paid:
                self.unsure += leave.expected
            self._learn(leave, failure.limits)
            busy = failure.kind == "rate_limit"
            if failure.again and not busy:
                self._in_a_row[case] += 1
            if failure.stops_all:
                self._stop(StopReason("broken", str(failure)))
            elif busy:
                self._rest(leave, failure)
            elif failure.again and self._in_a_row.total() >= _MAX_FAILURES_IN_A_ROW:
                self._troubles += self._rest(leave, failure)
                if self._troubles > MAX_PAUSES and len(self._in_a_row) >= _MAX_FAILURES_IN_A_ROW:
                    words = "Nothing came in several tries. Resume it later (--resume)."
                    self._stop(StopReason("broken", f"{failure} {words}"))
            self._turn.notify_all()

    def _rest(self, leave: SendPermit, failure: AttemptFailed) -> bool:
        """Shut the gate for a while; return whether this is a new rest."""
        now = time.monotonic()
        new = leave.since >= self._rested  # requests sent before the last rest tell nothing new
        if new:
            self._level += 1
            self._rested = now
            self._allowed = max(1.0, self._allowed / 2)
        if failure.retry_after_s is not None:
            wait = failure.retry_after_s
        else:
            wait = backoff_s(self._level)
        self._shut(now + wait, str(failure))
        return new

    def _shut(self, until: float, why: str) -> None:
        if until > self._shut_until:
            self._shut_until, self._why = until, why

    def _learn(self, leave: SendPermit, limits: RateLimits | None) -> None:
        """Store the server's remaining limits, less what was sent since that request."""
        if limits is None:
            return
        now = time.monotonic()
        since = [one for one in self._under_way if one.since > leave.since]
        if limits.requests is not None and limits.requests_reset_s is not None:
            left, until = limits.requests - len(since), now + limits.requests_reset_s
            self._windows.requests = _updated_window(self._windows.requests, left, until)
        if limits.tokens is not None and limits.tokens_reset_s is not None:
            aside = sum(one.expected.of("tokens") for one in since)
            left_tokens, until = limits.tokens - aside, now + limits.tokens_reset_s
            self._windows.tokens = _updated_window(self._windows.tokens, left_tokens, until)

    def mean_output(self) -> int | None:
        """Return the mean tokens of an answer in this run, None while there are too few."""
        with self._turn:
            known = self._counted >= _MIN_REPLIES_FOR_MEAN
            return round(self._output / self._counted) if known else None

    def pause(self, paused: bool) -> None:
        """Pause or continue."""
        with self._turn:
            self._paused = paused
            self._turn.notify_all()

    def stop(self, why: StopReason) -> None:
        """Stop for good; the first reason is kept."""
        with self._turn:
            self._stop(why)
            self._turn.notify_all()

    def _stop(self, why: StopReason) -> None:
        self.stopped = self.stopped or why

    def is_stopped(self) -> bool:
        """Whether the gate has stopped."""
        return self.stopped is not None

    @property
    def under_way(self) -> int:
        """Number of requests under way."""
        with self._turn:
            return sum(one.requests for one in self._under_way)

    @property
    def paused(self) -> bool:
        """Whether it is paused."""
        return self._paused

    def rest(self) -> SendingPause | None:
        """Return the current rest, None outside one."""
        with self._turn:
            left = self._shut_until - time.monotonic()
            return SendingPause(time.time() + left, self._why) if left > 0 else None


def _updated_window(before: _RateWindow | None, left: float, until: float) -> _RateWindow:
    return _RateWindow(left, until, max(left, before.most if before else 0.0))


def backoff_s(level: int) -> float:
    """Return the seconds to wait at the n-th trouble in a row, randomised to spread requests."""
    most = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(10, max(0, level - 1)))
    return most * _JITTER.uniform(0.5, 1.0)
