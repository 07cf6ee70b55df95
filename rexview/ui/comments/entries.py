"""A comment as a browser sends it, made into an entry for the database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from rexview.analysis.case.comments import find_quote
from rexview.people import Person
from rexview.store import Entry, Reviews
from rexview.ui.comments.targets import CommentTargets
from rexview.ui.saving.entries import Refused, SentEntry, whole
from rexview.words import tr

_NO_ANSWER: Final = tr("What the comment is on is not on this page any more.")
_CHANGED: Final = tr("The answers were changed after you began. Look at them as they are now.")


def comment_entry(
    sent: SentEntry, targets: CommentTargets, reviews: Reviews, person: Person
) -> Entry:
    """Make the entry of a comment that is written, changed, resolved, or removed (no value).

    Raises
    ------
    Refused
        It is about something that is not there, or that whoever sent it does not see.
    Overtaken
    """
    known = {one.id: one for one in targets.visible(reviews, person)}
    comment = sent.subject or ""
    if comment not in known:  # those of the set's own files may have any id
        try:
            comment = str(UUID(comment))
        except ValueError:
            raise Refused(tr("The comment has no id.")) from None
    before = known.get(comment)
    content: Mapping[str, Any] = sent.value if isinstance(sent.value, Mapping) else {}
    is_new = sent.kind == "comment" and bool(content)
    if before is None and (not is_new or _is_hidden(reviews, targets, comment)):
        raise Refused(tr("The comment is not there any more."))
    if sent.kind == "resolve":
        resolved = {"resolved": sent.value is True}
        return Entry("resolve", subject=comment, value=resolved, token=sent.token, via=sent.page)
    text, reply_to = _text(content.get("text")) or "", _text(content.get("replyTo"))
    about = known.get(reply_to or "")
    if before is not None:
        rows = reviews.current_state().of("comment", person.id)
        row = rows.get((before.case, before.model, comment, None))
        replace(sent, value=text).check_unseen(row, before.text, {"text": before.text})
        about, reply_to = before, before.reply_to
    elif reply_to is not None and about is None:
        raise Refused(tr("What you reply to is not there any more."))
    if about is not None:
        case, model, on = about.case, about.model, about.on
    else:
        case, (model, on) = targets.case, _target(sent, content, targets)
    if targets.is_blinded and model is not None and targets.key_of(model) is None:
        raise Refused(_NO_ANSWER)  # the database would say which model is not there any more
    value = {"text": text, "on": dict(on), "reply_to": reply_to} if content else None
    return Entry("comment", case, model, comment, value=value, token=sent.token, via=sent.page)


def _is_hidden(reviews: Reviews, targets: CommentTargets, comment: str) -> bool:
    """Whether there is such a comment that a reader who scores does not see.

    If they wrote it anew on an answer, the message of the database would tell whose answer it is.
    """
    if not targets.is_blinded:
        return False
    rows = reviews.history(kind="comment", case=targets.case)
    return any(row.subject == comment for row in rows)


def _target(
    sent: SentEntry, content: Mapping[str, Any], targets: CommentTargets
) -> tuple[str | None, dict[str, Any]]:
    """Return the model and the place that a new comment is on."""
    if sent.slot is None:
        return None, {"what": "case"}
    answer = targets.answers.get(sent.slot)
    if answer is None:
        raise Refused(_NO_ANSWER)
    if targets.shown.get(sent.slot) != sent.shown:
        raise Refused(_CHANGED)
    number, quote = whole(content.get("box")), _text(content.get("quote"))
    if number is not None:
        if not 0 <= number < len(answer.boxes):
            raise Refused(_NO_ANSWER)
        box = answer.boxes[number]
        spot = {"image": box.image, "box": list(box.box), "label": box.label, "index": number}
        return answer.model, {"what": "box", **spot}
    if quote is not None:
        screen = targets.texts[sent.slot]  # what is covered there must not be found by guessing
        found = find_quote(screen.text, quote, whole(content.get("before")) or 0)
        if found is None:
            raise Refused(tr("The words that you chose are not in the answer."))
        start, end = screen.source(found.start, found.end)
        return answer.model, {
            "what": "span",
            "field": "text",
            "start": start,
            "end": end,
            "text": (answer.text or "")[start:end],
        }
    return answer.model, {"what": "answer"}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
