from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp_device.records import personal
from blender_dp_device.records.canonical import canonical_query, canonical_record, canonical_url
from blender_dp_device.records.personal import (
    PARAMETER_NAMES,
    PERSONAL_VERSION,
    PRIVATE_NAMES,
    PRIVATE_NETWORKS,
    QUERY_DIGITS,
    looks_personal,
    personal_query,
    personal_url,
    usable_record,
)
from tests.conftest import ROOT

VECTORS = json.loads((ROOT / "spec/vectors/personal.json").read_text(encoding="utf-8"))
SITE = "https://example.org/"
LETTERS = st.text(alphabet=st.characters(categories=["L"]))
EMAILS = st.from_regex(r"[a-z0-9][a-z0-9._+-]{0,12}@[a-z0-9][a-z0-9-]{0,9}\.(com|org|de)", fullmatch=True)
NUMBERS = st.from_regex(r"[4-9]{3}([ .-]{0,3}[0-9]){4,20}", fullmatch=True)  # no day, month or year starts like this
TOKENS = st.text(alphabet="0123456789abcdefABCDEFxyzXYZ", min_size=20).filter(lambda t: not t.isalpha() and not t.isdigit())
LONG = 100_000


def test_the_vectors_are_of_this_version_and_of_these_rules():
    assert VECTORS["personal_version"] == PERSONAL_VERSION
    assert VECTORS["query_digits"] == QUERY_DIGITS
    assert VECTORS["parameter_names"] == sorted(PARAMETER_NAMES) == list(PARAMETER_NAMES)
    assert VECTORS["private_names"] == sorted(PRIVATE_NAMES) == list(PRIVATE_NAMES)
    assert VECTORS["private_networks"] == list(PRIVATE_NETWORKS)
    assert VECTORS["patterns"] == {name: getattr(personal, f"_{name.upper()}").pattern for name in VECTORS["patterns"]}


@pytest.mark.parametrize(("query", "url", "expected"), VECTORS["records"])
def test_records(query, url, expected):
    assert canonical_record(query, url) == (query, url)
    assert looks_personal(query, url) is expected
    assert usable_record(query, url) == ((None, None) if expected else (query, url))


def test_records_are_made_canonical_first():
    assert usable_record("  Google ", "GOOGLE.com") == ("google", "https://google.com/")
    assert usable_record("joe＠example.com", SITE) == (None, None)
    assert usable_record("query", "EXAMPLE.org?utm_x=joe@example.com") == ("query", SITE)
    assert usable_record("query", None) == usable_record(None, SITE) == (None, None)
    assert usable_record("query", "checkout") == ("query", "https://checkout/")  # perhaps not a host at all


@pytest.mark.parametrize("url", [None, "", SITE, f"{SITE}?token=1"])
def test_with_one_level_only_the_query_can_be_personal(url):
    assert usable_record(" Google", url, levels=1) == ("google", None)
    assert usable_record("joe＠example.com", url, levels=1) == usable_record(None, url, levels=1) == (None, None)


@given(st.text(), EMAILS, st.text())
def test_an_address_is_caught_in_any_query(before, email, after):
    assert personal_query(canonical_query(f"{before}{email}{after}"))


@given(LETTERS, EMAILS, LETTERS, st.sampled_from(["@", "%40", "%2540"]))
def test_an_address_is_caught_in_any_url(before, email, after, sign):
    assert personal_url(canonical_url(f"{SITE}{before}{email.replace('@', sign)}{after}"))


@given(LETTERS, LETTERS, LETTERS, LETTERS)
def test_letters_alone_are_never_personal(query, host, path, value):
    assert not looks_personal(query, f"https://{host}.example/{path}?q={value}")
    assert not looks_personal(canonical_query(query), canonical_url(f"{host}.example/{path}?q={value}"))


@given(LETTERS, NUMBERS, LETTERS)
def test_a_number_is_caught_between_words(before, number, after):
    assert personal_query(number)
    assert personal_query(f"{before} {number} {after}")
    assert personal_query(f"{before}{number}{after}")


@given(st.text(alphabet="0123456789 .-()[]٠١٢٣", max_size=30))
def test_up_to_six_digits_are_never_personal(text):
    assert not personal_query(text) or sum(map(str.isdecimal, text)) >= QUERY_DIGITS


@given(LETTERS, TOKENS, LETTERS)
def test_a_token_is_caught_wherever_it_is_after_the_host(before, token, after):
    assert personal_url(f"{SITE}{before}{token}{after}")
    assert personal_url(f"{SITE}?a={before}&x={token}&b={after}")
    assert not personal_url(f"https://{token.lower()}.example/")


@given(st.sampled_from(PARAMETER_NAMES), LETTERS.filter(bool), LETTERS, st.sampled_from("?&;/"), st.booleans())
def test_a_parameter_is_caught_among_others_by_its_whole_name(name, value, other, mark, upper):
    shown = name.upper() if upper else name
    assert personal_url(f"{SITE}{other}{mark}{shown}={value}&other={other}")
    assert not personal_url(f"{SITE}{other}{mark}{shown}=&other={other}")
    assert not personal_url(f"{SITE}{other}{mark}x{shown}={value}")


@given(LETTERS.filter(bool), LETTERS)
def test_credentials_are_caught_in_the_authority_only(user, host):
    assert personal_url(f"https://{user}@{host}/")
    assert personal_url(f"https://{user}:x@{host}/")
    assert not personal_url(f"https://{host}.example/{user}@")


@given(st.ip_addresses())
def test_no_private_address_passes(address):
    """The networks are listed, so that they are the same everywhere; Python has no other private ones."""
    url = f"http://[{address}]/" if address.version == 6 else f"http://{address}/"
    assert personal_url(url) or address.is_global


@given(st.sampled_from(PRIVATE_NAMES), st.from_regex("[a-z]([a-z0-9-]{0,9}[a-z0-9])?", fullmatch=True), st.booleans())
def test_a_private_name_is_caught_at_the_end_only(name, host, port):
    more = ":8080" if port else ""
    assert usable_record("query", f"{host}.{name}{more}/path") == (None, None)
    assert usable_record("query", f"{host.upper()}.{name.upper()}.{more}") == (None, None)
    assert usable_record("query", f"{name}.{host}.example{more}") == ("query", f"https://{name}.{host}.example{more}/")


@pytest.mark.parametrize(
    "piece",
    ["1", "1 ", "1-", "1    ", "123-45-", "2006-03-01 ", "2006 ", "a@", "a@a.", "a@1.", "%40", "a%40", "%25", ";token=",
     "?key", "://", "a", "aaaaaaaaaaaaaaaaaaa-", "abcdefab-abcd-", "(((", "@", "/", "٣"],
)  # fmt: skip
def test_long_strings_are_checked_in_time(piece):
    text = piece * (LONG // len(piece))
    assert isinstance(looks_personal(text, f"https://{text}"), bool)
    assert isinstance(looks_personal(f"{text}!", f"{SITE}{text}!"), bool)
    assert isinstance(personal_url(text), bool)
