"""A translation that could do more, or say less, than the English is an error with its remedy."""

import pytest

from rexview.words.catalogue import Catalogue
from rexview.words.translations import read_catalogue, read_checked_translation

HEAD = 'msgid ""\nmsgstr ""\n"Plural-Forms: {forms}\\n"\n\n'
TWO = "nplurals=2; plural=(n != 1);"


@pytest.fixture
def read(tmp_path):
    def read_it(text, forms=TWO):
        (tmp_path / "de.po").write_text(HEAD.format(forms=forms) + text, encoding="utf-8")
        return read_checked_translation("de", tmp_path / "de.po")

    return read_it


def one(text):
    return f'msgid "{{done}} of {{total:,}} cases"\nmsgstr "{text}"\n'


def two(*texts):
    forms = "\n".join(f'msgstr[{number}] "{text}"' for number, text in enumerate(texts))
    return f'msgid "{{n}} case of {{set}}"\nmsgid_plural "{{n}} cases of {{set}}"\n{forms}\n'


def test_what_is_well_formed_is_taken(read):
    found = read(one("{total:,} Fälle, davon {done}") + two("ein Fall aus {set}", "{set}: {n}"))
    assert found.texts["{done} of {total:,} cases"] == ("{total:,} Fälle, davon {done}",)
    assert found.texts["{n} case of {set}"] == ("ein Fall aus {set}", "{set}: {n}")
    assert [found.form_of(n) for n in (0, 1, 2, 101, 1.5)] == [1, 0, 1, 1, 1]


def test_what_is_not_translated_yet_is_left_out(read):
    fuzzy = "#, fuzzy\n" + two("<b>{set}", "{set}")
    gone = '#~ msgid "older"\n#~ msgstr "<"\n'
    assert read(one("") + fuzzy + gone).texts == {}


def test_what_no_page_shows_can_do_no_more_than_the_rest(read):
    with pytest.raises(ValueError, match="it has < where"):
        read('msgid "gone"\nmsgstr "<script>"\n')


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (one("{done} Fälle"), "{total:,} is missing"),
        (one("{done} von {total}"), "{total:,} is missing"),
        (one("{done} von {total:,} {case.__class__}"), "{case.__class__} is not in the English"),
        (one("{done!r} von {total:,}"), "{done!r} is not in the English"),
        (one("{done} von {total:,"), "its braces do not match"),
        (one("{done} von {total:,} <img src=x onerror=alert(1)>"), "it has < where"),
        (one("{done} von {total:,} &lt;"), "it has & where"),
        (one(r"{done} von {total:,}\" onclick=\"x"), "Write quotation marks"),
        (one("{done} von {total:,} ![x](https://evil.invalid)"), "it has ![ where"),
        (one("{done} von {total:,} [x](y)"), "it has ]( where"),
        (one("{done} von {total:,} https://evil.invalid"), "it has :// where"),
        (one("{done} von {total:,} `code`"), "it has ` where"),
        (one(r"{done} von\n\n# {total:,}"), "it has a line break where"),
        (one("{done} von {total:,} \u202e"), "a character that is not seen"),
        (two("ein Fall aus {set}"), "it needs msgstr[0], msgstr[1]"),
        (two("ein Fall aus {set}", ""), "none of them empty"),
        (two("ein Fall", "{n} Fälle"), "{set} is missing"),
        (two("a {set}", "b {set}", "c {set}"), "it needs msgstr[0], msgstr[1]"),
        (
            'msgid "{n} case of {set}"\nmsgid_plural "x"\nmsgstr[0] "a"\nmsgstr[1] "b"\n',
            "its msgid_plural is not that of the pages",
        ),
        (
            'msgid "{n} case of {set}"\nmsgid_plural "<b>{n}</b> {set}"\n'
            'msgstr[0] "{set}"\nmsgstr[1] "<b>{set}"\n',
            "its msgid_plural is not that of the pages",
        ),
    ],
)
def test_what_is_not_is_named_with_its_line_and_what_to_do(read, text, said):
    with pytest.raises(ValueError, match=r"^de\.po, line 5, “") as caught:
        read(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("forms", "said"),
    [
        ("", "has no Plural-Forms"),
        ("nplurals=2; plural=__import__('os');", "cannot be read"),
        ("nplurals=1; plural=n;", "that nplurals does not count"),
        ("nplurals=2; plural=n/0;", "cannot be read"),
        ("nplurals=3; plural=n==1 ? 0 : n%1000000==0 ? 1 : 2;", "full millions"),
    ],
)
def test_plural_forms_that_cannot_be_used_are_named(read, forms, said):
    with pytest.raises(ValueError, match=said):
        read(one("{done} {total:,}"), forms)


def test_all_forms_of_a_language_are_taken(read):
    polish = "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);"
    found = read(two("a {set}", "b {set}", "c {set}"), polish)
    assert [found.form_of(n) for n in (1, 3, 5, 13, 22, 1003, 1013)] == [0, 1, 2, 2, 1, 1, 2]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe", "is not UTF-8"),
        (b"words", "no line of a PO file"),
        (b'"words"', "no line of a PO file"),
        (b'msgid "a"', "ends within an entry"),
    ],
)
def test_a_file_that_is_no_translation_is_refused(tmp_path, content, said):
    (tmp_path / "de.po").write_bytes(content)
    with pytest.raises(ValueError, match=said):
        read_checked_translation("de", tmp_path / "de.po")


def test_english_needs_no_file():
    assert read_catalogue("en") == Catalogue("en")
