"""Whether the tests notice small faults: ``python -m tools.faults [--modules 40] [--seed 1]``.

Modules of ``rexview`` are drawn by a seed. In a copy of the project each gets, one after another, a
small fault: a comparison reversed, ``and`` for ``or``, a number or a truth value changed. The tests
that the module affects (:mod:`tools.changed`) are run until one fails, the nearest first; it must
pass without the fault. If the normal check finds nothing, the tests of ``tools.check --all`` are
tried too. A person should look at faults that no test noticed: some change nothing visible.
"""

from __future__ import annotations

import argparse
import ast
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools import changed

ROOT = Path(__file__).resolve().parents[1]
_OPPOSITE: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
}
_UNSEEN = {"strict", "maintain_order"}
"""Arguments whose change is invisible while everything else is right."""
_MOST_FILES = 40
"""The most test files run for one fault; for a module that all import, the nearest ones."""
_LIMIT_S = 900
_NO_TESTS = 5
"""pytest's exit status if no test has the marks."""


@dataclass(frozen=True)
class Fault:
    """One small change of a module.

    Attributes
    ----------
    line : int
        Its line, from 1.
    before, after : str
        The original and the changed expression.
    source : str
        The whole module with the change.
    """

    line: int
    before: str
    after: str
    source: str


def faults(source: str) -> Iterator[Fault]:
    """Yield each small fault that can be put into a module's source."""
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    unseen = {
        word.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for word in node.keywords
        if word.arg in _UNSEEN
    }
    for node in ast.walk(tree):
        changed_node = _faulty(node)
        if changed_node is None or not isinstance(node, ast.expr) or node in unseen:
            continue
        before = ast.get_source_segment(source, node)
        if before is None or node.lineno != node.end_lineno:
            continue
        line = lines[node.lineno - 1].encode()
        after = f"({ast.unparse(changed_node)})"
        new = line[: node.col_offset] + after.encode() + line[node.end_col_offset :]
        text = "".join((*lines[: node.lineno - 1], new.decode(), *lines[node.lineno :]))
        try:
            ast.parse(text)
        except SyntaxError:  # inside an f-string
            continue
        yield Fault(node.lineno, before, after, text)


def _faulty(node: ast.AST) -> ast.expr | None:
    """Return a node with a fault, None if none is known for it."""
    match node:
        case ast.Compare(left, [op], right) if type(op) in _OPPOSITE:
            return ast.Compare(left, [_OPPOSITE[type(op)]()], right)  # type: ignore[list-item]
        case ast.BoolOp(op, values):
            return ast.BoolOp(_OPPOSITE[type(op)](), values)  # type: ignore[arg-type]
        case ast.BinOp(left, ast.Add() | ast.Sub() as op, right) if not _joins_texts(node):
            return ast.BinOp(left, _OPPOSITE[type(op)](), right)  # type: ignore[arg-type]
        case ast.IfExp(test, body, orelse):
            return ast.IfExp(test, orelse, body)
        case ast.Constant(bool() as value):
            return ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            return ast.Constant(value + 1)
    return None


def _joins_texts(node: ast.BinOp) -> bool:
    """Whether texts are joined: tests seldom check a word's ending."""
    return any(
        isinstance(side, ast.Constant) and isinstance(side.value, str)
        for side in (node.left, node.right)
    )


def drawn(count: int, seed: int) -> Iterator[tuple[Path, Fault]]:
    """Yield modules with a fault each; the same for a seed and a state of the project."""
    chance = random.Random(seed)
    modules = sorted((ROOT / "rexview").rglob("*.py"))
    chance.shuffle(modules)
    for module in modules:
        found = list(faults(module.read_text(encoding="utf-8")))
        if found and count > 0:
            count -= 1
            yield module, chance.choice(found)


def _nearest(module: Path, tests: list[Path]) -> list[Path]:
    """Sort tests by how near their folders are to the module's, those without a browser first."""
    own = module.relative_to(ROOT / "rexview").parts

    def far(test: Path) -> tuple[bool, int]:
        parts = test.relative_to(changed.TESTS).parts
        same = sum(a == b or a == f"test_{b}" for a, b in zip(parts, own, strict=False))
        return "browser" in parts, -same

    return sorted(tests, key=far)[:_MOST_FILES]


def is_noticed(copy: Path, module: Path, fault: Fault, marked: str) -> bool:
    """Whether a test with these marks fails in a copy with the fault, and passes without it."""
    place = copy / module.relative_to(ROOT)
    near = _nearest(module, changed.touched_tests([module]))
    tests = [str(test.relative_to(ROOT)) for test in near]
    if not tests:
        return False
    before = place.read_bytes()
    place.write_text(fault.source, encoding="utf-8")
    try:
        fails = _fails(copy, "-x", "-m", marked, "--cache-clear", *tests)
    finally:
        place.write_bytes(before)
    return fails and not _fails(copy, "--last-failed", "-m", marked, *tests)


def _fails(copy: Path, *arguments: str) -> bool:
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    try:
        ended = subprocess.run(
            command, cwd=copy, capture_output=True, check=False, timeout=_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return True
    return ended.returncode not in (0, _NO_TESTS)


def main(arguments: list[str]) -> int:
    """Print each fault and the test that noticed it; return 1 if no test noticed one."""
    parser = argparse.ArgumentParser(prog="python -m tools.faults", description=__doc__)
    parser.add_argument("--modules", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    told = parser.parse_args(arguments)
    counts = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "rexview"
        shutil.copytree(
            ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache")
        )
        for module, fault in drawn(told.modules, told.seed):
            if is_noticed(copy, module, fault, "not slow"):
                found = "noticed"
            else:
                found = "only --all" if is_noticed(copy, module, fault, "slow") else "MISSED"
            counts[found] += 1
            place = f"{module.relative_to(ROOT)}:{fault.line}"
            print(f"{found:10}  {place}  {fault.before}  ->  {fault.after}", flush=True)
    both = counts["noticed"] + counts["only --all"]
    print(f"{counts['noticed']} of {told.modules} faults noticed, {both} with --all")
    return 1 if counts["MISSED"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
