"""The disk cache: limit, order of forgetting, damage, several threads and processes."""

import os
import subprocess
import sys
import threading
import time

import pytest
from support import ROOT

from rexview.imaging import DiskCache
from rexview.imaging.cache import cache_key, imaging_code_version

HEAD = 16


def key(number):
    return f"{number:064x}"


@pytest.fixture(name="cache")
def cache_fixture(tmp_path):
    return DiskCache(tmp_path / "cache", 10_000)


def entries(cache):
    return sorted(cache.folder.glob("??/*"))


def age(cache, number, seconds):
    place = next(cache.folder.glob(f"??/{key(number)}*"))
    then = time.time() - seconds
    os.utime(place, (then, then))


def test_what_was_put_comes_back(cache):
    assert cache.get(key(1)) is None
    cache.put(key(1), b"pixels")
    assert cache.get(key(1)) == b"pixels"
    assert DiskCache(cache.folder, 10_000).get(key(1)) == b"pixels"
    cache.put(key(1), b"")
    assert cache.get(key(1)) == b""


def test_nothing_is_written_before_it_is_used(tmp_path):
    cache = DiskCache(tmp_path / "cache", 10)
    cache.get(key(1))
    cache.put(key(1), bytes(100))  # larger than the whole cache
    assert not cache.folder.exists()


def test_longest_unused_go_first(cache):
    for number in range(3):
        cache.put(key(number), bytes(2900))
        age(cache, number, 1000 - 100 * number)
    assert cache.get(key(0)) is not None  # used now, so no longer the oldest
    cache.put(key(3), bytes(2900))
    assert [cache.get(key(number)) is not None for number in range(4)] == [
        True,
        False,
        True,
        True,
    ]
    assert cache.size() <= cache.max_bytes


def test_size_stays_below_the_limit(cache):
    for number in range(100):
        cache.put(key(number), bytes(1500))
        assert cache.size() <= cache.max_bytes + 1500 + HEAD
    assert cache.get(key(99)) is not None


def test_entries_of_others_count(cache):
    other = DiskCache(cache.folder, 10**9)
    cache.put(key(0), bytes(100))
    for number in range(1, 50):
        other.put(key(number), bytes(1000))
    for number in range(50, 50 + 64):
        cache.put(key(number), bytes(10))
    assert cache.size() <= cache.max_bytes


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:10],
        lambda content: content[:-1],
        lambda content: content + b"x",
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        lambda content: b"????" + content[4:],
    ],
    ids=["empty", "head cut", "cut", "longer", "one bit", "other magic"],
)
def test_damaged_entry_is_removed_and_made_again(cache, damage):
    cache.put(key(1), b"pixels" * 50)
    (place,) = entries(cache)
    place.write_bytes(damage(place.read_bytes()))
    assert cache.get(key(1)) is None
    assert not place.exists()
    assert cache.get_or_make(key(1), lambda: b"again") == b"again"
    assert cache.get(key(1)) == b"again"


def test_made_once_and_errors_are_not_kept(cache):
    calls = []

    def make():
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("broken")
        return b"made"

    with pytest.raises(ValueError, match="broken"):
        cache.get_or_make(key(1), make)
    assert cache.get_or_make(key(1), make) == b"made"
    assert cache.get_or_make(key(1), make) == b"made"
    assert len(calls) == 2


def test_threads_that_want_the_same_wait_for_one(cache):
    calls, started = [], threading.Barrier(6)

    def make():
        calls.append(1)
        time.sleep(0.05)
        return b"made"

    def want():
        started.wait()
        results.append(cache.get_or_make(key(1), make))

    results: list[bytes] = []
    threads = [threading.Thread(target=want) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [b"made"] * 6
    assert len(calls) == 1


def test_disk_that_cannot_be_written_is_as_no_cache(tmp_path):
    (tmp_path / "file").write_text("in the way")
    cache = DiskCache(tmp_path / "file", 1000)
    assert cache.get_or_make(key(1), lambda: b"made") == b"made"
    assert cache.get(key(1)) is None


def test_unfinished_files_go_after_a_while(cache):
    cache.put(key(1), b"x")
    folder = entries(cache)[0].parent
    old, young = folder / "old.part", folder / "young.part"
    for part in (old, young):
        part.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    assert cache.size() == 1 + HEAD
    assert not old.exists()
    assert young.exists()


def test_foreign_files_are_left_alone(cache):
    cache.put(key(1), bytes(5000))
    foreign = entries(cache)[0].with_name("notes.txt")
    foreign.write_bytes(bytes(50_000))
    cache.put(key(2), bytes(5000))
    assert foreign.exists()


PROCESS = """
import random, sys
from pathlib import Path
from rexview.imaging import DiskCache
seed = int(sys.argv[2])
cache, rng = DiskCache(Path(sys.argv[1]), 60_000), random.Random(seed)
for _ in range(150):
    number = rng.randrange(40)
    expected = bytes([number]) * (1000 + 50 * number)
    assert cache.get_or_make(f"{number:064x}", lambda: expected) == expected
"""


def test_several_processes_share_a_folder(tmp_path):
    """Reading, writing and evicting at the same time: whole entries or none, never an error."""
    folder = tmp_path / "cache"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(folder), str(seed)],
            cwd=ROOT,
            stderr=subprocess.PIPE,
        )
        for seed in range(3)
    ]
    errors = [process.communicate(timeout=120)[1].decode() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], errors
    cache = DiskCache(folder, 60_000)
    cache.put(key(99), b"x")
    assert 0 < cache.size() <= 60_000


def test_key_follows_the_file_and_the_purpose(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"one")
    first = cache_key(path, "viewer")
    assert first == cache_key(path, "viewer")
    assert first != cache_key(path, "thumbnail")
    other = tmp_path / "b.png"
    other.write_bytes(b"one")
    assert first != cache_key(other, "viewer")
    path.write_bytes(b"two!")
    assert first != cache_key(path, "viewer")
    changed = cache_key(path, "viewer")
    os.utime(path, ns=(1, 1))
    assert changed != cache_key(path, "viewer")
    assert len(imaging_code_version()) == 16
