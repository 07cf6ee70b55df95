from dataclasses import replace

import pytest

from rexview.ui.web.server.sealed_tokens import LIFETIME_S, Grant, LinkRefused, LinkSigner

GRANT = Grant("pixels", "abc", "images/ä b.dcm", "1-2", {"slot": 1}, "reader@example.org")


def test_a_link_grants_what_was_signed():
    signer = LinkSigner()
    assert signer.check(signer.sign(GRANT)) == GRANT


def test_a_link_stays_the_same_for_the_browser_cache_within_the_hour():
    signer = LinkSigner()
    start = 1_000_000 // LIFETIME_S * LIFETIME_S
    assert signer.sign(GRANT, now=start) == signer.sign(GRANT, now=start + LIFETIME_S - 1)
    assert signer.sign(GRANT, now=start) != signer.sign(GRANT, now=start + LIFETIME_S)


@pytest.mark.parametrize("lifetime", [60, LIFETIME_S])
def test_a_link_ends(lifetime):
    signer = LinkSigner()
    token = signer.sign(GRANT, now=0, lifetime_s=lifetime)
    assert signer.check(token, now=lifetime) == GRANT
    with pytest.raises(LinkRefused, match="expired"):
        signer.check(token, now=2 * lifetime + 1)


def test_servers_with_one_secret_share_links_and_names_and_others_do_not():
    token, name = LinkSigner("one").sign(GRANT), LinkSigner("one").name("a", "b")
    assert LinkSigner("one").check(token) == GRANT
    assert LinkSigner("one").name("a", "b") == name
    for other in (LinkSigner("two"), LinkSigner()):
        with pytest.raises(LinkRefused):
            other.check(token)
        assert other.name("a", "b") != name


def test_every_changed_character_is_refused_or_changes_nothing():
    signer = LinkSigner()
    token = signer.sign(GRANT, now=0)
    for place in range(len(token)):
        for character in "A*é=":
            changed = token[:place] + character + token[place + 1 :]
            if changed == token:
                continue
            try:
                granted = signer.check(changed, now=0)
            except LinkRefused:
                continue
            # base64 ignores the spare bits of its last character: nothing else may slip through
            assert granted == GRANT
            assert place == len(token) - 1


@pytest.mark.parametrize("token", ["", ".", "a.b", "....", "💥", "a" * 10_000])
def test_what_is_no_link_is_refused(token):
    with pytest.raises(LinkRefused):
        LinkSigner().check(token)


def test_nothing_can_be_read_in_a_link_not_even_the_length_of_the_path():
    signer = LinkSigner()
    short, long = "returned/a.png", "returned/a-model-with-a-long-name.png"
    tokens = [signer.sign(Grant("pixels", "abc", path, person="p")) for path in (short, long)]
    assert len(tokens[0]) == len(tokens[1])
    assert tokens[0] != tokens[1]
    # AES-SIV: no shared beginning although both begin alike
    assert tokens[0][:8] != tokens[1][:8]


def test_links_of_two_people_differ():
    signer = LinkSigner()
    assert signer.sign(GRANT) != signer.sign(replace(GRANT, person="lead@example.org"))


def test_names_tell_their_parts_apart():
    signer = LinkSigner()
    assert signer.name("ab", "c") != signer.name("a", "bc")
    assert signer.name("ab") == signer.name("ab")
