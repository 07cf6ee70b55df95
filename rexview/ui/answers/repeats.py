"""The other answers of a run that asked the same several times, folded away under the one shown."""

from __future__ import annotations

import html
from collections.abc import Sequence

from rexview.detect.findings import finding_info
from rexview.detect.self_contradiction import Differences, differences, is_usable
from rexview.schema import Answer, Case
from rexview.ui.answers.choices import choice_html
from rexview.ui.answers.one_answer import ending_html, facts_html
from rexview.ui.html.safe_text import markdown_html
from rexview.vocab import option_letter
from rexview.words import counted, listed, tr, trn


def repeats_html(case: Case, answer: Answer, repeats: Sequence[Answer]) -> str:
    """List the repeats of an answer, with what differs in side or choice; empty without any.

    Their boxes and pictures are counted, not shown: those in the viewer are of the answer itself.
    """
    if not repeats:
        return ""
    every = (answer, *repeats)
    found = differences(case, every)
    differs = "".join(f" <b>{html.escape(words)}</b>" for words in _summary(found))
    items = "".join(_repeat_html(case, one, found, place) for place, one in enumerate(every))
    kept = html.escape(f"{case.id}/{answer.model}/repeats")
    times = len(every)
    asked = trn("Asked {n:d} time", "Asked {n:d} times", times).format(n=times)
    return (
        f'<details class="rx-repeats" data-rx-keep="{kept}"><summary>{asked}'
        f"{differs}</summary><ul>{items}</ul></details>"
    )


def _summary(found: Differences) -> list[str]:
    """Say what differs, in a few words each."""
    words = []
    if found.sides:
        names = dict.fromkeys(
            finding_info(mention.finding).name
            for mentions in found.sides.values()
            for mention in mentions
            if mention
        )
        words.append(tr("opposite sides: {findings}").format(findings=", ".join(list(names)[:3])))
    if found.choices:
        letters = f" {tr('and')} ".join(option_letter(choice) for choice in found.choices)
        words.append(tr("different choices: {letters}").format(letters=letters))
    return words


def _repeat_html(case: Case, answer: Answer, found: Differences, place: int) -> str:
    """Show one repeat; of the answer that stands above only what differs."""
    marks = [
        f"{mention.side} {finding_info(mention.finding).name}"
        for mentions in found.sides.values()
        if (mention := mentions[place])
    ]
    if found.choices:
        usable = is_usable(case, answer)
        marks.append(
            tr("chose {letter}").format(letter=option_letter(answer.choice or 0))
            if usable
            else tr("no usable choice")
        )
    said = " ".join(f"<mark>{html.escape(mark)}</mark>" for mark in marks)
    number = tr("Answer {n:d}").format(n=answer.repeat)
    if place == 0:
        return f"<li><p><b>{number}</b>, {tr('shown above')} {said}</p></li>"
    text = answer.text or ""
    body = (
        markdown_html(text)
        if text.strip()
        else f'<p class="rx-quiet">{tr("The model returned no text.")}</p>'
    )
    marked = [counted(len(answer.boxes), "box")] if answer.boxes else []
    marked += [counted(len(answer.images), "picture")] if answer.images else []
    not_shown = f" · {tr('{what}, not shown').format(what=listed(marked))}" if marked else ""
    return (
        f"<li><p><b>{number}</b> {said}</p>"
        f'{choice_html(case, answer)}<div class="rx-body" tabindex="0">'
        f'<div class="rx-again">{body}</div>{ending_html(answer)}</div>'
        f"<footer>{facts_html(answer)}{not_shown}</footer></li>"
    )
