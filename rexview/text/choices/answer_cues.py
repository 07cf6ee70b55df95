"""Find the words by which a text gives its answer, or takes an answer back."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

_INVERTED: Final = re.compile(
    r"\b(?:not?|cannot|neither|without|except|absent|missing|excluded|ruled out|lacks?|false|least"
    r"|incorrect|untrue|wrong|normal|clear|free|spared|unaffected)\b|n['’]t\b",
    re.IGNORECASE,
)
"""If a question asks for what is absent, its choice does not claim that a finding is present."""
_NOUN: Final = (
    r"(?:\b(?:ans(?:wer)?|choice|option|letter|selection|pick|response|statement|diagnosis"
    r"|finding|exception|conclusion|decision|verdict|antwort|r[ée]ponse|respuesta|risposta"
    r"|resposta|ответ|result"
    r"|(?:correct|right|best) one|(?:correct|final)(?=\s*:))\b|答案|答え|正解)"
)
FIRM_NOUNS: Final = (
    *("ans", "choice", "option", "selection", "pick", "decision", "verdict", "antw"),
    *("result", "correct", "right one", "best one", "final", "rép"),
    *("rep", "respu", "rispo", "respo", "ответ", "答", "正"),
)
"""Nouns after which a statement is the answer itself, also if it uses an option's words."""
_BE: Final = (
    r"(?:\b(?:is|was|(?:would|must|should|could|will|has to|seems to|appears to|to) be|ist|est|es"
    r"|è|é)\b(?:\s*:)?|[\]:=–—-]|[是は은는])"
)
_AS: Final = (
    r"(?:\s*\b(?:clearly|definitely|most likely|probably|therefore|either|both|indeed|thus|la|el"
    r"|number)\b)?"
)
NAMED_AS: Final = re.compile(
    rf"(?=[acdeflopnrsvbо答正])(?P<final>\bfinal\s+)?(?P<noun>{_NOUN})(?P<rest>[^.;\n]{{0,80}})",
    re.IGNORECASE,
)
OTHER_ANSWER_BEFORE: Final = re.compile(
    r"\b(?:second|third|2nd|3rd|next|alternative|runner-up|worst|poorest|least|less|wrong|incorrect"
    r"|false|rejected|eliminated|excluded|discarded)(?:\s+(?:best|likely|probable|good))?\s+\Z",
    re.IGNORECASE,
)
"""Before such a noun: the option named is not the answer."""
COPULA: Final = re.compile(rf"{_BE}{_AS}\s*", re.IGNORECASE)
FOREIGN_NOUNS: Final = re.compile("antw|r[ée]p|respu|rispo|resposta|ответ|答|正")
"""Nouns of other languages; the words after such a label are not English either."""
NOT_THE_ANSWER: Final = re.compile(
    r"\b(?:wrong|incorrect|false|no|not|null|rejected|nicht|pas|non|не)\b", re.IGNORECASE
)
SURELY: Final = re.compile(
    r"(?:definitely|probably|likely|most likely|clearly|absolutely|certainly)\W\s*", re.I
)
CHOSEN: Final = re.compile(
    r"(?=[cpsgolimwhtvn→⇒⟹∴=-])"  # a fast filter: most letters cannot start a match
    r"(?:\b(?:(?:choo?s|pick|select|chose)(?:e|ed|ing)?|go(?:ing)? (?:with|for)"
    r"|(?:opt(?:ing)?|vote) for|lean(?:ing)? towards?|settled? (?:on|for)|stick(?:ing)? with"
    r"|it is|it.s|(?:must|has to) be|makes it|guess|leaves|left with|i['’ ]?d say|i would say"
    r"|chang\w+ my (?:answer|choice|mind) to"
    r"|(?<!less )(?<!least )(?<!as )(?<!un-)(?:most )?(?:likely|probably)(?=[,:]?[ \t])"
    r"|conclusion|so|therefore|thus|hence|not \(?[A-Z]\)?,? but)\b|[→⇒⟹∴]|=\s?|-\s(?=\s))[,:]?\s+",
    re.IGNORECASE,
)
POINTS: Final = re.compile(
    r"\b(?:points? to|match(?:es)?|corresponds? to|supports?|indicates?|consistent with"
    r"|favou?rs?|suggests?)(?:\s+best)?\s+",
    re.IGNORECASE,
)
"""Weaker than a choice: reasoning uses it for options that it then rejects."""
NOT_CHOSEN: Final = re.compile(r"(?:\b(?:not|never|cannot)|n['’ ]t)\s+\Z", re.IGNORECASE)
NOT_POINTED: Final = re.compile(
    r"(?:\b(?:not|never|cannot|would|could|might|may|if)|n['’ ]t)\s+\Z", re.IGNORECASE
)
CONCLUDES: Final = re.compile(
    r"\b(?:so|therefore|thus|hence|conclusion|verdict|select|choose|pick|go with"
    r"|wait,? no)\b[,:]?\s",
    re.IGNORECASE,
)
_ADVERB: Final = r"(?:(?:\w+ly|therefore|thus|hence|then|indeed)\s+)?"
PRAISED: Final = re.compile(
    rf"\s*(?:\b(?:is|seems|appears|would be)\s+{_ADVERB}(?:(?:the|my)\s+)?"
    r"(?:correct|right(?!\s+(?:lung|side|sided|upper|lower|middle))|best|most|more likely|true"
    r"|answer|only)\b|\bfits(?:\s+best)?\b|\bit is\s*[.!\n])"
    r"|[^.\n]{0,60}?,?\s(?:so|thus|hence|therefore)\s+(?:it|this|that)\s+is\s+the\s+"
    r"(?:correct\s+|right\s+)?(?:answer|choice|option)\b",
    re.IGNORECASE,
)
REJECTION: Final = re.compile(
    r"\s*\b(?:is|are|was|seems?|appears?|would be|does|can)\s*(?:n['’ ]t\b|not\b|wrong|incorrect"
    r"|false|unlikely|less|excluded|impossible|implausible|out\b|ruled|too\b)"
    r"|\s*[-–—:]\s*(?:no|not|wrong|incorrect|false)\b",
    re.IGNORECASE,
)
OPTION_SENTENCE: Final = re.compile(
    r"\s+(?:is|are|was|seems?|would|could|might|may|can|cannot|has|does|shows?|fits?)\b",
    re.IGNORECASE,
)
"""After a label: a sentence about the option, which need not be the answer."""
LABEL_FOLLOWER: Final = re.compile(
    r"\s*(?:$|[.,;:!)\]\n–—/&→-]|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"
    r"|(?:because|since|as|due|for|based|given|after all|here|is|seems|would|and|or)\b)",
    re.IGNORECASE,
)
"""May follow a letter that means an option; "A patient" and "I think" do not match."""
CONJUNCTION: Final = re.compile(
    r"\s*(?:,\s*(?:and|or|nor)?|and|or|nor|/|&|\+)\s*(?:option\s+|answer:\s*)?", re.I
)
CHANGED_MIND: Final = re.compile(
    r"\b(?:wait|actually|however|correction|edit|on (?:a )?(?:closer|second|further|reflection)"
    r"|looking again|instead|hmm|reconsider\w*|i was wrong|mistaken?|misread|apologi[sz]e|sorry)\b",
    re.IGNORECASE,
)
AT_FIRST: Final = re.compile(r"\b(?:at first|initially|first thought|not .{1,20} but)\b", re.I)
UNDECIDED: Final = re.compile(
    r"\b(?:(?:not|un)\s?sure|(?:cannot|can['’ ]?t) (?:tell|decide|choose)|hard to say|not settled"
    r"|(?:might|could|may) (?:also )?be \(?[A-Z]\b(?!\w))",
    re.IGNORECASE,
)
LISTED: Final = re.compile(
    r"(?:^[ \t]*(?:[-•|][ \t]*)?(?:\[[ x]\]\s*)?(?:option\s+)?|[.,;)]\s+(?=\(?[A-Z]\)?[.:)]))"
    r"\(?([A-Z]|\d{1,2})\)?\s*[.:)|–✓✔✅☑✗✘❌☒-]",
    re.IGNORECASE | re.MULTILINE,
)
_SURE: Final = r"(?:correct|yes|true|right answer)"
TICKED: Final = re.compile(rf"[✓✔✅☑]|\[x\]|(?:[-–—:→|]|->)\s*{_SURE}\s*\W*$", re.IGNORECASE)
CROSSED: Final = re.compile(r"[✗✘❌☒]|\[ \]|(?:[-–—:→|]|->)\s*(?:no|false|wrong)\b", re.I)
_VALUE: Final = r'"((?:[^"\\]|\\.){0,500})"'
FIELD: Final = re.compile(
    r'"(?:(?:final|correct|selected|predicted)_?)?(?:answer|choice|option|letter|prediction)'
    rf'(?:_letter)?"\s*:\s*(?:{_VALUE}|\[\s*{_VALUE}\s*\])'
    r"|'(?:final_)?(?:answer|choice|option)'\s*:\s*'([^'\n]{0,500})'",
    re.IGNORECASE,
)
AFFIRMED: Final = re.compile(rf"\s*(?:[:→–—-]|->)\s*{_SURE}\b", re.IGNORECASE)
REPEATING_FIELD: Final = re.compile(
    rf'"(?:(?:answer|option|choice|selected)_)?(?:text|label|name|value)"\s*:\s*{_VALUE}',
    re.IGNORECASE,
)
"""A field that repeats the answer's words; if they are another option's, neither field counts."""
PLACES: Final = (
    *("first 1st one", "second 2nd two", "third 3rd three", "fourth 4th four"),
    *("fifth 5th five", "sixth 6th six", "seventh 7th seven", "eighth 8th eight"),
)
_PLACE_WORDS: Final = "|".join(word for words in PLACES for word in words.split()[:2])
_COUNTED: Final = "|".join(words.split()[2] for words in PLACES)
IN_PLACE: Final = re.compile(
    rf"(?:the\s+)?(?P<place>{_PLACE_WORDS}|last)(?:\s+(?:option|choice|answer|statement"
    r"|alternative|possibility|one)\b|\s+(?=is\s+(?:the\s+)?(?:correct|right|true|best|answer)))"
    rf"|(?:option|choice|answer)?\s*number\s+(?P<count>{_COUNTED}|\d)\b",
    re.IGNORECASE,
)
"""An option by its position in the list: "the second option", "number three"."""
SET_APART: Final = re.compile(
    r"\s*(?:[–—(]|-\s|:\s|\n|(?:,\s*)?(?:because|since|given|based)\b)", re.IGNORECASE
)
UNSETTLED: Final = re.compile(r"[^.\n]*?(?:\bor\b|\bvs\b|\bversus\b|\?)", re.IGNORECASE)
NOT_ALONE: Final = re.compile(
    r"\b(?:[A-Z]\s*(?:,|and|or|/|&)|if|whether|not|than)\s*(?:option\s+)?\W?$"
)
ONLY_TICK: Final = re.compile(r"[✓✔✅☑]|\[x\]|\bcorrect\b", re.IGNORECASE)
ALONE_AT_END: Final = re.compile(
    r"(?<=\w\w[.!?])(?<!\b(?i:dr)\.)(?<!\b(?i:prof|figs)\.)(?<!\b(?i:fig|ref)\.)\s+\(?([A-Z]|\d{1,2})\)?\s*\.?\s*\Z"
)
"""A last sentence that is only a label, after a sentence of words."""
BEHIND_REASONS: Final = re.compile(
    r",\s+(?:option|choice|opci[óo]n|op[çc][ãa]o)\s+\(?(\w{1,2})\)?\s*\.?\s*\Z", re.IGNORECASE
)
"""A label after the observations: "the bubble is on the right, option B"."""
MOST_LIKELY: Final = re.compile(
    r"(?=m)\b(?:most|more)\s+(?:likely|probably):?\s+(?:(?:to be|to represent|represents?|reflects?"
    r"|due to|is|are|from)\s+)?(?:(?:an?|the)\s+)?",
    re.IGNORECASE,
)
NONE_OF_THEM: Final = re.compile(
    r"\W*none of (?:these|those|the (?:above|listed|given|other)|them)"
    r"(?:\s+(?:options?|choices?|answers?|findings?|abnormalities|diagnoses|conditions|signs))?"
    r"(?=\s*(?:[.,:;!)\n]|\Z)"
    r"|\s+(?:is|are)\s+(?:seen|present|visible|shown|identified|correct|right|true)\b)",
    re.IGNORECASE,
)
NONE_OPTION: Final = re.compile(r"(?:none|no)\b", re.IGNORECASE)
"""An option that means none of the others."""
NOTHING_FOUND: Final = re.compile(
    r"\bnormal (?:(?:frontal|chest|PA|AP|lateral) )*"
    r"(?:radiograph|x-?ray|film|study|exam\w*|image)\b"
    r"|\b(?:no|without)(?: (?:an?|any|acute|active|significant|cardiopulmonary|visible|focal))*"
    r" (?:abnormalit(?:y|ies)|disease|process|findings?)\b",
    re.IGNORECASE,
)
NOTHING_OPTION: Final = re.compile(
    r"none|normal"
    r"|no(?: (?:acute|active|significant|cardiopulmonary))* (?:findings?|abnormalit(?:y|ies))"
)
"""An option, in its folded words, that means that nothing is found."""
NOT_NOTHING: Final = re.compile(
    r"\?|\b(?:not|hardly|almost|nearly|compared|exclud\w+|exclude|except|but|other than|apart|if"
    r"|would|although|though|however)\b|n['’ ]t\b",
    re.IGNORECASE,
)
"""A sentence with one of these does not merely call everything normal."""
SPEAKS_OF_OTHERS: Final = re.compile(r"\b(?:mimics?|question|differential|concern)\b", re.I)
RULED_OUT: Final = re.compile(
    r"\b(?:exclud\w+|exclude|rul\w+ out|reject\w*|eliminat\w+|not|except)\W*\Z", re.IGNORECASE
)
NO_MORE: Final = re.compile(r"\b(?:no|not|never|hardly)\s+\Z", re.IGNORECASE)
OR_ANOTHER: Final = re.compile(r"\s*/|\s+(?:or|vs|versus)\b", re.IGNORECASE)
ANOTHER_BEHIND: Final = re.compile(r"(?:,|\s+and)\s+(?:an?\s+|the\s+)?", re.IGNORECASE)
THEREFORE_IS: Final = re.compile(
    r"(?=[ths])\b(?:therefore|thus|hence|so)\b[^.;:\n]{0,60}?\b(?:is|are|was)\s+(?:(?:an?|the)\s+)?",
    re.IGNORECASE,
)
NEXT_QUESTION: Final = re.compile(
    r"\n[^\S\n]*+(?:Question|Q)\s*+(?:\d++\s*+)?[:.]\s*+(?P<asked>[^\n]*)"
)
"""The line on which a model continues with an invented question."""
BULLET: Final = re.compile(r"(?:\s|[-•|✓✔✅☑]|\[x\])*")
NAMES_SOMETHING: Final = re.compile(
    r"\s{0,3}[.:)–—-]\s{0,3}((?!(?i:not?|note|high|low|final|the|a|an|this|because|since|as|i|there)\b)"
    r"[A-Za-z][\w-]*(?: (?!(?i:is|are|was|answer|confidence|seen|visible|and|or)\b)[\w-]+){0,3})"
    r"[ .]*(?:\n|\Z)"
)
"""After a label: a few words to the end of the line, such as the name of a finding."""
MAY_BE_PRAISED: Final = re.compile(
    r"(?:^|(?<=[\s,(]))(?=[(\[]?\w{1,2}\b)|\boption\s+|\bthe\s+(?=\w+\s)",
    re.IGNORECASE | re.MULTILINE,
)
_NOUN_BEFORE: Final = r"(?:(?:option|answer|choice|r[ée]ponse|respuesta|resposta|antwort)\s+)?"
ENCLOSED: Final = re.compile(rf"\(\s*(?i:{_NOUN_BEFORE})([A-Z]|\d{{1,2}})\s*\)")
LABEL_BEHIND: Final = re.compile(rf"\s*[(\[]\s*{_NOUN_BEFORE}(\w{{1,2}})\s*[)\]]", re.IGNORECASE)
_LONGEST_QUESTION: Final = 2_000


@lru_cache(maxsize=4_096)
def asks_for_absence(question: str) -> bool:
    """True if the right option of a question may be what is *not* there."""
    return bool(_INVERTED.search(question[:_LONGEST_QUESTION]))


# Plain text: typography, markup and thoughts become spaces, and all offsets are kept.

TICKS: Final = "✓✔✅☑"
CROSSES: Final = "✗✘❌☒"
_KEPT: Final = frozenset(TICKS + CROSSES + "→⇒➡⟹∴")
_OWN_FORMS: Final = {"。": ".", "、": ",", "「": " ", "」": " ", "『": " ", "』": " ", "➡": "→"}
_THOUGHT: Final = re.compile(
    r"<(think|thinking|thought|reasoning|analysis|scratchpad|reflection)>.*?(?:</\1>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_THOUGHT_ENDS: Final = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_TAG: Final = re.compile(r"</?(?:[bipus]\b|[a-zA-Z|!][\w|-])[^<>\n]{0,80}>")
_MARKUP: Final = re.compile(
    r"\\(?:text|math)[a-z]*\{?|\\(?:bf|rm|quad)\b|\\[()\[\]]|```\w*|[*_`\"“”„'‘’«»‹›$#{}]|\\"
    r"|(?!\A)(?<!\w\s)>|>(?!\s?\d)"  # not of "> 2 cm" and "a nodule > 2 cm"
)
_DIALOGUE: Final = re.compile(r"\s*Q(?:uestion)?\s*[:.]")
_REPLY: Final = re.compile(r"^([ \t]*)A(?=\s*:)", re.MULTILINE)


class _Forms(dict[int, str]):
    """The plain character for each variant in width, weight or use, looked up by its code."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        plainer = unicodedata.normalize("NFKC", char)
        kind = unicodedata.category(char)
        if char in _OWN_FORMS:
            form = _OWN_FORMS[char]
        elif len(plainer) == 1 and plainer != char:
            form = plainer
        elif char not in _KEPT and (kind in ("Cf", "So", "Me") or 0xFE00 <= code <= 0xFE0F):
            form = " "
        else:
            form = char
        self[code] = form
        return form


_FORMS: Final = _Forms()


def strip_markup(text: str) -> str:
    """Replace markup and thoughts by spaces, letter for letter, so that offsets are kept."""
    if not text.isascii():
        text = text.translate(_FORMS)
    if "&lt;" in text:
        text = text.replace("&lt;", "   <").replace("&gt;", ">   ")
    if "<" in text:
        text = _THOUGHT.sub(_blank, text)
        ends = [match.end() for match in _THOUGHT_ENDS.finditer(text)]
        if ends:
            text = " " * ends[-1] + text[ends[-1] :]
        text = re.sub(r"<answer>", "answer: ", text, flags=re.IGNORECASE)
        text = re.sub(r"</answer>", "\n        ", text, flags=re.IGNORECASE)
        text = _TAG.sub(_blank, text)
    text = re.sub(r"\bans\.", "ans:", text.replace("\\boxed{", "answer:"), flags=re.IGNORECASE)
    if _DIALOGUE.match(text):
        text = _REPLY.sub(r"\1 ", _DIALOGUE.sub(_blank, text, count=1))
    return _MARKUP.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def fold_words(text: str) -> str:
    """Return the words of a text in lower case, separated by one space."""
    return " ".join(re.findall(r"\w+", text.casefold()))
