"""Check the form of a question, without its report or a model."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final

from rexview.curation.choice.checks import Check, ChoiceQuestion, comparable_words, contains_words
from rexview.text.choices.choice_reader import read_choice

# English or not: decided by a text's letters, then by its most frequent function words.

_SMALL_WORDS: Final = {
    "English": (
        "the of and is are which what in on with this that there no not to from by as it be was "
        "were where how most following for or an at has does"
    ),
    "German": (
        "der die das und ist sind welche welcher welches nicht ein eine im mit auf den dem des zu "
        "von kein keine sich bei wo wie oder rechts links"
    ),
    "French": (
        "le la les et est sont quel quelle dans sur avec ce cette il pas un une du des de au aux "
        "par ou droit gauche pour"
    ),
    "Spanish": (
        "el la los las y es son cuál qué en sobre con este esta no un una del de al por o derecho "
        "izquierdo para se"
    ),
    "Italian": (
        "il lo la gli le e è sono quale nel nella con questo questa non un una del della di al per "
        "o destro sinistro che"
    ),
    "Portuguese": (
        "o a os as e é são qual no na com este esta não um uma do da de ao por ou direito esquerdo "
        "que"
    ),
    "Dutch": "de het een en is zijn welke niet in op met van dit dat er geen te door of voor aan",
}
_SETS: Final = {name: frozenset(words.split()) for name, words in _SMALL_WORDS.items()}
_SCRIPTS: Final = ("CYRILLIC", "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "ARABIC", "HEBREW", "GREEK")
_SCRIPTS_MORE: Final = ("DEVANAGARI", "THAI", "BENGALI", "TAMIL")
_FEWEST: Final = 3
"""Minimum number of function words of another language for a text in it."""


def find_other_language(*texts: str) -> str | None:
    """Return the language or script that one of some texts is in; None for English.

    A text with too few function words of any language counts as English, because options are mostly
    names of findings. One Greek letter is a symbol; a word of them is Greek.
    """
    for text in texts:
        words = re.findall(r"[^\W\d_]+", text.casefold())
        for word in words:
            name = unicodedata.name(word[0], "") if len(word) > 1 or ord(word[0]) > 0x2FFF else ""
            script = next(
                (one for one in (*_SCRIPTS, *_SCRIPTS_MORE) if name.startswith(one)), None
            )
            if script:
                return f"{script.capitalize()} script" if script != "CJK" else "Chinese or Japanese"
        counts = {name: sum(word in small for word in words) for name, small in _SETS.items()}
        most = max(counts, key=counts.__getitem__)
        if counts[most] >= _FEWEST and counts[most] > 2 * counts["English"]:
            return most
    return None


OPTIONS: Final = 4
TOO_LONG: Final = "too_long"
LONGEST_OPTION: Final = 40
LONGEST_QUESTION: Final = 120
LONGEST_EXPLANATION: Final = 300
"""Maximum number of words."""
_LONGEST_WORD: Final = 12
"""Characters, as a mean over a text with the maximum number of words."""
_LETTERS: Final = "ABCDEFGH"
_YES_NO: Final = frozenset(("yes", "no"))
_OTHERS: Final = (
    r"(?:above|options?|choices?|answers?|alternatives?|others?|listed|preceding|foregoing|following"
    r"|statements?|given)"
)
_THE_OTHERS: Final = re.compile(
    rf"\b(?:all|none|any|neither|both|some|two|most|more than one|either|no|each|every)"
    rf"(?: of)?(?: the| these| those)?(?: other| given| listed)? {_OTHERS}\b"
    r"|^\W*(?:all|none|any|neither|both|some|each) of (?:these|those|them)"
    r"(?: (?:findings|diagnoses|statements|are (?:correct|true|present|seen)|apply))?\W*$"
    r"|^\W*(?:all|none) (?:apply|applies|listed|are (?:correct|true|right)|is (?:correct|true))\W*$"
    rf"|\b(?:above|other|listed|previous) {_OTHERS}\b|\bnot (?:listed|among)\b",
    re.IGNORECASE,
)
_LETTERS_ONLY: Final = frozenset(
    (
        *("and", "or", "nor", "&", "both", "either", "neither", "only", "option", "options"),
        *("choice", "choices", "answer", "answers", "all", "are", "correct", "right", "true"),
    )
)
"""Further words of an option that only names others by their letters."""
_ASKS: Final = re.compile(
    r"\?"
    r"|(?:^|[.!:;]\s+)(?:(?:in|on|at|based|given|considering|for|from|with|after)\b[^.?!,]*,\s+)?"
    r"(?:(?:in|on|at|to|by|of|from|with|for|along|under|over|into|through)\s+)?"
    r"(?:which|what|where|how|who|whose|why)\b(?!\s*,)"
    r"|(?:^|[.!:;]\s+)(?:is|are|was|were|does|do|did|can|could|has|have|should|would|will)\b"
    r"|(?:^|[.!:;,]\s+|\b(?:please|and|then|to) )"
    r"(?:identify|select|choose|name|describe|determine|indicate|state|classify|grade|pick|mark"
    r"|estimate|locate|specify|assess|give|complete|find|list|characteri[sz]e|rank|decide|tell|say"
    r"|interpret|evaluate)\s+(?:the|which|what|where|how|all|one|an?|its|whether|each|if|between)\b",
    re.IGNORECASE,
)
"""A question mark, a question word at the beginning of a sentence, or an instruction.

A relative clause ("an effusion, which displaces the heart") asks nothing.
"""
_TO_COMPLETE: Final = re.compile(
    r"(?:_{2,}|\.{3}|…|:|\b(?:is|are|as|with|by|of|in|the|a|an|to|be|shows?|suggests?|indicates?"
    r"|represents?|demonstrates?|at|on|from|for|likely|include|includes))\s*$",
    re.IGNORECASE,
)
_REPORT_WORDS: Final = (
    "the|this|that|given|provided|radiology|radiologist'?s|original|source|accompanying|above"
    "|following|attached|written|narrative|clinical|imaging|current|x-?ray|radiograph|radiography"
)
_UNSEEN: Final = re.compile(
    "|".join(
        (
            r"\bfig(?:ure|\.)s? ?(?:\d|[A-H]\b|above|below|shown)",
            r"\b(?:the|this|these|that|see|in) figures?(?! of)(?!-)",
            r"\barrow(?:s|heads?)?\b",
            r"\basterisks?\b",
            r"\btables? \d|\b(?:in|see|from|per|to|the|this) (?:the |this )?tables?\b(?! ?top)",
            rf"\b(?:{_REPORT_WORDS}) reports?\b",
            r"\breports? (?:states?|says?|describes?|mentions?|notes?|indicates?|above|below)\b",
            r"\b(?:in|from|per|to) reports?\b",
            r"\b(?:as|is|are|was|were) (?:reported|documented|dictated|transcribed)\b",
            r"\b(?:passage|paragraph|vignette|excerpt|transcript|diagram|graph|chart|illustration"
            r"|drawing|legend|caption|footnote|schematic|inset)s?\b",
            r"\b(?:findings?|information|details?|data|history|case|options?) (?:above|below|listed"
            r"|given|provided|described)\b",
            r"\baccompanying (?!chest|radiograph|image|film|x-?ray)",
            r"\b(?:labell?ed|shaded|outlined) (?:structure|area|region|finding|lesion|zone)\b",
            r"\b(?:the|this|given|provided|above|following) (?:text|statement|sentence|bullet|note"
            r"|dictation|scenario|description|summary|document|narrative)s?\b",
            r"\b(?:described|mentioned|noted|stated|listed|shown|given|provided|discussed|outlined)"
            r" (?:above|below|earlier|in the (?:report|text|findings|impression))\b",
            r"\babove[- ](?:mentioned|described|noted|stated)|\baforementioned\b",
            r"\b(?:findings|impression) (?:section|paragraph)\b",
            r"\bimpression (?:states|says)\b|\b(?:in|per) the impression\b",
            r"\bradiologist (?:stat|say|said|report|describ|not|wrote|document|dictat)\w*",
            r"\b(?:circled|encircled|highlighted|annotated|bounding box)\b",
            r"\bmarked (?:with|by|as|region|area)\b|\b(?:labell?ed (?:as )?|panels? )[A-H\d]\b",
        )
    ),
    re.IGNORECASE,
)
"""Things that the respondent cannot see: the report, other texts, marks on the picture."""
_UNSEEN_BY_ANYBODY: Final = re.compile(
    r"\bfig(?:ure|\.) ?(?:\d|[A-H]\b)|\b(?:the|this|see) figure(?! of)(?!-)|\btables? \d"
    r"|\b(?:see|in) the tables?\b|\b(?:the|an?|by) arrow(?:s|heads?)?\b|\b(?:the|this) passage\b",
    re.IGNORECASE,
)
_NOTHING: Final = re.compile(
    r"\W*(?:n/?a|null|nan|nil|tbd|empty|blank|(?:option|choice|answer)\s*[A-H\d]?)?\W*",
    re.IGNORECASE,
)
"""An option without content."""
_NO_REASON: Final = re.compile(
    r"\W*(?:n/?a|none|null|not (?:provided|available|given|applicable)|self[- ]explanatory|obvious"
    r"|(?:there is )?no explanation(?: \w+)*|explanation"
    r"|see (?:the )?(?:above|below|report)"
    r"|(?:the )?(?:correct |right )?(?:answer|option|choice)?\s*(?:is|:)?\s*[(\[]?[A-H][)\]]?"
    r"(?: is (?:correct|right|the answer))?)\W*",
    re.IGNORECASE,
)
"""An explanation that gives no reason."""
_MARKUP: Final = re.compile(
    r"</?[a-zA-Z!][^<>]{0,200}>|&(?:[a-z]{2,8}|#\d{2,5});|```|`[^`]+`|\*\*|__\w|\[[^\]]+\]\([^)]+\)"
    r"|\\[a-zA-Z]{2,}\b|\\[nt]\b|\$[^$]+\$|^\s{0,3}#{1,6}\s|^\s*[|].*[|]\s*$|\{\s*[\"']|[\"']\s*:\s*[\"'\[{]"
    r"|\bfunction\s*\(|\b(?:def|import|print)\b[ (].*[:)]\s*$|https?://",
    re.MULTILINE,
)
_UNPRINTABLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffd\u200b-\u200f\u202a-\u202e\u2066-\u2069]"
)
_LABEL: Final = re.compile(
    r"\s*(?:(?:option|choice) )?[(\[]?([A-Ha-h]|\d)\s?[.):\]]+\s?(?=\S)", re.IGNORECASE
)
_PLACEHOLDER: Final = re.compile(
    r"\bX{3,}\b|\[\*\*.*?\*\*\]|\[(?:name|date|redacted|patient|hospital|doctor|age|id|deidentified"
    r"|de-identified|removed|placeholder|insert[^\]]*|finding|option|todo|tbd)\]|<(?:NAME|DATE|ID|PHI)>"
    r"|\b(?:TBD|TODO|lorem ipsum)\b|\{\{?\w+\}?\}",
    re.IGNORECASE,
)
_BLANK: Final = re.compile(r"_{2,}")
_SAID_OF_LETTER: Final = re.compile(
    r"\b(?i:option|choice|answer|alternative|letter)s?\s*:?\s*[(\[\"']?([A-H]|[1-8])\b(?!['’]|\.\d)"
    r"|[(\[]([A-H])[)\]]"
)
_AGAINST: Final = re.compile(
    r"\b(?:not|no|incorrect|wrong|false|exclude[sd]?|excluding|ruled? out|unlike|rather than"
    r"|would|less|unlikely|however|although|though|tempting|distractors?|absent|never|without"
    r"|unsupported|contradict\w*|whereas|instead|inconsistent|implausible|lacks?|fails?|mimics?"
    r"|misinterpret\w*|neither|nor|cannot|could|might|may|opposite|other|another|except|versus|vs"
    r"|differs?)\b|n[’']t\b",
    re.IGNORECASE,
)
"""Words of a sentence that does not support an option that it names."""
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\n+")


def _option_count(asked: ChoiceQuestion) -> str:
    many = len(asked.options)
    return "" if many == OPTIONS else f"There are {many} options, not {OPTIONS}."


def _empty_option(asked: ChoiceQuestion) -> str:
    empty = [at for at, one in enumerate(asked.options) if _NOTHING.fullmatch(one.strip())]
    return f"Option {_letter(empty[0])} is empty." if empty else ""


def _duplicate_options(asked: ChoiceQuestion) -> str:
    met: dict[str, int] = {}
    for at, option in enumerate(asked.options):
        words = "".join(comparable_words(option.replace("&", " and ")))
        if words and words in met:
            return f"Options {_letter(met[words])} and {_letter(at)} say the same."
        met[words] = at
    return ""


def _correct_missing(asked: ChoiceQuestion) -> str:
    return "None of the options is marked as right." if asked.right is None else ""


def _letter_mismatch(asked: ChoiceQuestion) -> str:
    if asked.right is None or not asked.explanation.strip():
        return ""
    named = read_choice(asked.explanation, asked.options, asked.question)
    if named and named.option == asked.correct:
        return ""
    if named and named.method != "mentioned":
        return f"The explanation names option {_letter(named.option)} as right."
    return _named_alone(asked) or _words_alone(asked)


def _named_alone(asked: ChoiceQuestion) -> str:
    """Return a message if the explanation supports only another letter, not the right one."""
    spoken_for: set[int] = set()
    for sentence in _SENTENCE.split(asked.explanation):
        if _AGAINST.search(sentence):
            continue
        for letter, bracketed in _SAID_OF_LETTER.findall(sentence):
            label = letter or bracketed
            spoken_for.add(int(label) - 1 if label.isdigit() else _LETTERS.index(label))
    if not spoken_for or asked.correct in spoken_for or len(spoken_for) > 1:
        return ""
    return f"The explanation speaks for option {_letter(spoken_for.pop())}."


def _words_alone(asked: ChoiceQuestion) -> str:
    """Return a message if the explanation has another option's words, not the right one's."""
    right, wrong = asked.right or "", asked.wrong
    if asked.asks_for_absence or _YES_NO & {
        word for one in asked.options for word in comparable_words(one)
    }:
        return ""
    own = set(comparable_words(right)) - {word for one in wrong for word in comparable_words(one)}
    if not own or own & set(comparable_words(asked.explanation)):
        return ""
    met = set()
    for sentence in _SENTENCE.split(asked.explanation):
        if not _AGAINST.search(sentence):
            words = comparable_words(sentence)
            met |= {
                one
                for one in wrong
                if len(comparable_words(one)) > 1 and contains_words(words, comparable_words(one))
            }
    return f"The explanation speaks for “{met.pop()}”." if len(met) == 1 else ""


def _answer_in_question(asked: ChoiceQuestion) -> str:
    stem, right = comparable_words(asked.question), comparable_words(asked.right or "")
    if not contains_words(stem, right) or any(
        contains_words(stem, comparable_words(one)) for one in asked.wrong
    ):
        return ""
    return "The question has the words of the right option, and of no other."


def _the_others(asked: ChoiceQuestion) -> str:
    for at, option in enumerate(asked.options):
        if _THE_OTHERS.search(option) or _is_letters(option):
            return f"Option {_letter(at)} is about the other options."
    return ""


def _is_letters(option: str) -> bool:
    """True if an option only names others by their letters ("both A and C")."""
    words = re.findall(r"\w+|&", option.casefold())
    letters = [word for word in words if len(word) == 1 and word in "abcdefgh"]
    return len(letters) > 1 and all(word in letters or word in _LETTERS_ONLY for word in words)


def _no_question(asked: ChoiceQuestion) -> str:
    stem = asked.question.strip()
    if not comparable_words(stem):
        return "There is no question."
    asks = _ASKS.search(stem) or _TO_COMPLETE.search(stem) or _BLANK.search(stem)
    return "" if asks else "It asks nothing."


def _missing_explanation(asked: ChoiceQuestion) -> str:
    said = asked.explanation.strip()
    explains = len(comparable_words(said)) > 1 and not _NO_REASON.fullmatch(said)
    return "" if explains else "There is no explanation."


def _refers_to_missing(asked: ChoiceQuestion) -> str:
    for text in (asked.question, *asked.options):
        if found := _UNSEEN.search(text):
            return f"“{found[0].strip()}” is not shown to whoever answers."
    found = _UNSEEN_BY_ANYBODY.search(asked.explanation)
    return f"“{found[0].strip()}” in the explanation is not shown." if found else ""


def _parts(asked: ChoiceQuestion) -> Iterator[tuple[str, str, int]]:
    """Yield each text of a question with its name and its maximum number of words."""
    yield "The question", asked.question, LONGEST_QUESTION
    yield "The explanation", asked.explanation, LONGEST_EXPLANATION
    yield "The statement", asked.statement, LONGEST_EXPLANATION
    for at, option in enumerate(asked.options):
        yield f"Option {_letter(at)}", option, LONGEST_OPTION


def _too_long(asked: ChoiceQuestion) -> str:
    if huge := find_huge_text(asked):
        return huge
    for name, text, most in _parts(asked):
        if (many := len(text.split())) > most:
            return f"{name} has {many} words, more than {most}."
    return ""


def find_huge_text(asked: ChoiceQuestion) -> str:
    """Return which text is longer than its words can be; searching it could take minutes."""
    for name, text, most in _parts(asked):
        if len(text) > _LONGEST_WORD * most:
            return f"{name} has {len(text):,} characters, more than {_LONGEST_WORD * most:,}."
    return ""


def _doubled_letters(asked: ChoiceQuestion) -> str:
    """Find options that start with the letter of their position, which is displayed anyway."""
    own = []
    for at, option in enumerate(asked.options):
        label = _LABEL.match(option)
        if label and label[1].upper() in (_letter(at), str(at + 1)):
            own.append((at, option[label.end() :]))
    # a single one may be the genus of "E. coli", or "1.5 cm"
    if len(own) > 1 or (own and not own[0][1][:1].islower() and not own[0][1][:1].isdigit()):
        return f"Option {_letter(own[0][0])} carries a letter of its own."
    return ""


def _nested_options(asked: ChoiceQuestion) -> str:
    right = comparable_words(asked.right or "")
    for option in asked.wrong:
        words = comparable_words(option)
        more = [word for word in right if word not in words]
        if len(words) < len(right) and contains_words(right, words) and not _turns_round(more):
            return f"Whoever says “{asked.right}” says “{option}”, too."
    return ""


def _turns_round(more: list[str]) -> bool:
    """True if additional words of an option change its meaning."""
    turning = {"no", "not", "without", "absent", "never", "non", "resolved", "former", "no.", "un"}
    return bool(turning & set(more)) or any(word[0].isdigit() for word in more)


def _not_plain_text(asked: ChoiceQuestion) -> str:
    for text in (asked.question, *asked.options, asked.explanation):
        if _UNPRINTABLE.search(text):
            return "It has characters that cannot be shown."
        if found := _MARKUP.search(text):
            return f"“{found[0].strip()[:40]}” is no plain text."
    return ""


def _language(asked: ChoiceQuestion) -> str:
    other = find_other_language(asked.question, *asked.options, asked.explanation)
    return f"It does not seem to be English, but {other}." if other else ""


def _placeholder(asked: ChoiceQuestion) -> str:
    for text in (asked.question, *asked.options, asked.explanation):
        if found := _PLACEHOLDER.search(text):
            return f"“{found[0][:40]}” stands for what was taken away."
    blank = [one for one in asked.options if _BLANK.search(one)]
    if blank or ("?" in asked.question and _BLANK.search(asked.question)):
        return "“___” stands for what was taken away."
    return ""


STRUCTURAL: Final[dict[str, tuple[Callable[[ChoiceQuestion], str], str, str]]] = {
    "option_count": (_option_count, "Four options", "other"),
    "empty_option": (_empty_option, "No option is empty", "other"),
    "duplicate_options": (_duplicate_options, "No option twice", "several_valid"),
    "correct_missing": (_correct_missing, "One option is marked right", "wrong_answer"),
    "letter_mismatch": (_letter_mismatch, "The explanation fits the option", "wrong_answer"),
    "answer_in_question": (_answer_in_question, "The question does not give it away", "other"),
    "all_or_none_of_the_above": (_the_others, "No option about the others", "several_valid"),
    "no_question": (_no_question, "It asks something", "unclear"),
    "missing_explanation": (_missing_explanation, "It is explained", "other"),
    "refers_to_missing": (_refers_to_missing, "All it speaks of is shown", "unclear"),
    TOO_LONG: (_too_long, "Not too long", "unclear"),
    "doubled_letters": (_doubled_letters, "Options without letters of their own", "other"),
    "nested_options": (_nested_options, "No option says another one, too", "several_valid"),
    "not_plain_text": (_not_plain_text, "Plain text", "other"),
    "language": (_language, "English", "unclear"),
    "placeholder": (_placeholder, "Nothing is taken away", "unclear"),
}
"""By id of the check: the function (it returns a fault, or an empty text), name and defect."""


def structural_checks(asked: ChoiceQuestion) -> list[Check]:
    """Check the form of a question; return one result per check, passed or not."""
    found = []
    for check, (find, _, defect) in STRUCTURAL.items():
        fault = find(asked)
        found.append(Check(check, not fault, defect if fault else None, fault))
    return found


def _letter(at: int) -> str:
    return _LETTERS[at] if at < len(_LETTERS) else str(at + 1)
