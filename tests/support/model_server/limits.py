"""How many requests and tokens a minute the server takes, told in headers as OpenAI tells it."""

from __future__ import annotations

import time


class _Bucket:
    def __init__(self, a_minute: int) -> None:
        self.size = float(a_minute)
        self.left = self.size
        self._seen = time.monotonic()

    def fill(self) -> None:
        now = time.monotonic()
        self.left = min(self.size, self.left + (now - self._seen) * self.size / 60)
        self._seen = now

    def wait(self, count: float) -> float:
        """Return the seconds until so much is there."""
        return max(0.0, min(count, self.size) - self.left) * 60 / self.size

    def headers(self, name: str) -> dict[str, str]:
        return {
            f"x-ratelimit-limit-{name}": f"{self.size:.0f}",
            f"x-ratelimit-remaining-{name}": f"{max(0, int(self.left))}",
            f"x-ratelimit-reset-{name}": duration((self.size - self.left) * 60 / self.size),
        }


def duration(seconds: float) -> str:
    """Return seconds as Go writes them: ``6m0s``, ``1.5s``, ``20ms``."""
    if seconds < 1:
        return f"{round(seconds * 1000)}ms"
    minutes, rest = divmod(round(seconds, 3), 60)
    return f"{minutes:.0f}m{rest:g}s" if minutes else f"{rest:g}s"


class Limits:
    """Two buckets that fill up again."""

    def __init__(self, requests: int | None, tokens: int | None) -> None:
        self._buckets = {
            name: _Bucket(count)
            for name, count in (("requests", requests), ("tokens", tokens))
            if count is not None
        }

    def take(self, tokens: int) -> float | None:
        """Take one request and its tokens, or return the seconds until it would be let in."""
        counts = {"requests": 1.0, "tokens": float(tokens)}
        for bucket in self._buckets.values():
            bucket.fill()
        wait = max((b.wait(counts[name]) for name, b in self._buckets.items()), default=0.0)
        if wait > 0:
            return wait
        for name, bucket in self._buckets.items():
            bucket.left -= counts[name]
        return None

    def headers(self) -> dict[str, str]:
        """Return what is left, as headers; none where there are no limits."""
        return {
            header: value
            for name, bucket in self._buckets.items()
            for header, value in bucket.headers(name).items()
        }
