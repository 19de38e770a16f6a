"""What an agent's form asks, and what is wrong with values: each type of property, and bad ones."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_jupyter.model.address import address_of
from acp_jupyter.model.form import Choice, Field, Form, entered, faults, form_of, rules, value_of
from acp_jupyter.model.pattern import pattern_of


def form(required: list[Any] | None = None, **properties: Any) -> Form:
    return form_of({"type": "object", "properties": properties, "required": required or []})


def field(**raw: Any) -> Field:
    (only,) = form(x=raw).fields
    return only


def fault(raw: dict[str, Any], value: Any) -> str | None:
    return faults(form(x=raw), {"x": value}).get("x")


STRING = {"type": "string"}
KEYWORDS = "type properties items enum oneOf required default minimum pattern a".split()
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(KEYWORDS), inner),
)
TITLED = [{"const": "a", "title": "First", "description": "the one"}, {"const": "b", "title": "Second"}]


def test_e3_every_type_of_field() -> None:
    got = form(
        ["name"],
        name={**STRING, "title": "Name", "description": "Yours", "minLength": 2, "maxLength": 5},
        plain={**STRING, "enum": ["x", "y"]},
        titled={**STRING, "oneOf": TITLED},
        ratio={"type": "number", "minimum": 0.5, "maximum": 2},
        count={"type": "integer", "minimum": 1},
        sure={"type": "boolean"},
        many={"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "minItems": 1, "maxItems": 2},
        named={"type": "array", "items": {"anyOf": TITLED}},
    )
    kinds = ["text", "choice", "choice", "number", "integer", "boolean", "choices", "choices"]
    assert [one.kind for one in got.fields] == kinds
    first = got.fields[0]
    assert (first.label, first.description, first.required) == ("Name", "Yours", True)
    assert (first.minimum, first.maximum) == (2, 5)
    assert got.fields[1].choices == (Choice("x", "x"), Choice("y", "y"))
    assert got.fields[2].choices == (Choice("a", "First", "the one"), Choice("b", "Second"))
    assert got.fields[7].choices == got.fields[2].choices
    assert (got.fields[6].minimum, got.fields[6].maximum) == (1, 2)
    assert [one.required for one in got.fields] == [True] + [False] * 7


def test_e2_defaults_of_the_right_kind_are_proposed() -> None:
    got = form(
        text={**STRING, "default": "t"},
        number={"type": "number", "default": 1.5},
        whole={"type": "integer", "default": 3},
        off={"type": "boolean", "default": False},
        one={**STRING, "enum": ["a"], "default": "a"},
        many={"type": "array", "items": {"enum": ["a", "b"]}, "default": ["b", "zzz", 7]},
        none={"type": "array", "items": {"enum": ["a", "b"]}, "default": []},
        bad_text={**STRING, "default": 7},
        bad_whole={"type": "integer", "default": True},
        bad_one={**STRING, "enum": ["a"], "default": "zzz"},
    )
    assert got.defaults == {
        "text": "t",
        "number": 1.5,
        "whole": 3,
        "off": False,
        "one": "a",
        "many": ["b"],
        "none": [],
    }


@pytest.mark.parametrize(
    ("raw", "good", "bad"),
    [
        ({**STRING, "minLength": 2}, ["ab"], ["a", "", 7, ["ab"], "a\ud800b"]),
        ({**STRING, "maxLength": 2}, ["", "ab"], ["abc"]),
        ({**STRING, "pattern": "^a+$"}, ["a", "aa"], ["", "b", "a\n"]),
        ({**STRING, "pattern": "b"}, ["abc"], ["ac"]),
        ({**STRING, "format": "email"}, ["a@b.example"], ["a", "@b", "a@", "a b@c"]),
        ({**STRING, "format": "uri"}, ["https://a.example/x?y", "urn:a:b"], ["a.example", "x y:z", "http:"]),
        (
            {**STRING, "format": "date"},
            ["2024-02-29", "2000-02-29"],
            ["2023-02-29", "1900-02-29", "2024-13-01", "2024-00-01", "2024-1-1", "٢٠٢٤-01-01"],
        ),
        (
            {**STRING, "format": "date-time"},
            ["2024-01-31T23:59:59Z", "2024-01-31t00:00:00.5+01:00"],
            ["2024-01-31", "2024-01-31T24:00:00Z", "2024-01-31T12:00:00", "2024-02-30T12:00:00Z"],
        ),
        ({**STRING, "format": "of-the-future"}, ["anything"], []),
        ({**STRING, "enum": ["a", "b"]}, ["a"], ["c", "", 1]),
        ({**STRING, "oneOf": TITLED}, ["a"], ["First"]),
        ({"type": "number", "minimum": 1, "maximum": 2}, [1, 1.5, 2], [0.9, 2.1, "1", True, float("nan")]),
        ({"type": "integer"}, [0, -(2**63), 2**63 - 1], [1.0, 2**63, "1", False]),
        ({"type": "boolean"}, [True, False], [0, 1, "yes"]),
        (
            {"type": "array", "items": {"anyOf": TITLED}, "minItems": 1, "maxItems": 1},
            [["a"], ["b"]],
            [[], ["a", "b"], ["a", "a"], ["c"], "a", [1], [["a"]]],
        ),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_e2_and_e3_values_are_validated(raw: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    assert [value for value in good if fault(raw, value)] == []
    assert [value for value in bad if not fault(raw, value)] == []


def test_e2_what_is_required_and_what_was_not_asked_for() -> None:
    asked = form(["a", "undescribed"], a=STRING, b=STRING)
    assert faults(asked, {}) == {"a": "It must be given.", "undescribed": "It must be given."}
    assert faults(asked, {"a": None, "undescribed": ""}) == {"a": "It must be given."}
    assert faults(asked, {"a": "", "undescribed": "x"}) == {}
    assert list(faults(asked, {"a": "", "undescribed": "x", "other": 1})) == ["other"]


@pytest.mark.parametrize("type_", ["object", "of-the-future", None, 7, ["string", "null"]])
def test_e3_an_unknown_type_is_a_field_of_text(type_: Any) -> None:
    got = field(type=type_, minLength=9, enum=["a"], title="T")
    assert (got.kind, got.label, got.choices, got.minimum) == ("text", "T", (), None)
    assert any("not known here" in rule for rule in rules(got))
    assert fault({"type": type_}, "anything") is None


@pytest.mark.parametrize("schema", [None, 7, [], "x", {}, {"properties": 7}, {"required": "x"}])
def test_e3_a_schema_that_is_none_asks_for_nothing(schema: Any) -> None:
    assert form_of(schema).fields == ()


def test_e3_malformed_parts_cost_only_themselves() -> None:
    raw = {
        **STRING,
        "title": 7,
        "description": ["x"],
        "minLength": "two",
        "maxLength": None,
        "pattern": 3,
        "format": {},
        "enum": [1, None],
        "default": {},
    }
    got = form(
        [7, None, "x"], x=raw, y="no property at all", z={**STRING, "oneOf": [{"title": "T"}, 7, *TITLED]}
    )
    assert got.fields[0] == Field("x", required=True)
    assert got.fields[1].kind == "text"
    assert [choice.value for choice in got.fields[2].choices] == ["a", "b"]


@given(ANY)
def test_e3_no_schema_is_too_much(schema: Any) -> None:
    got = form_of(schema)
    faults(got, {**got.defaults, "a": schema})
    for one in got.fields:
        assert rules(one)


# --- patterns: the agent's, matched by us


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (r"^\d{3}-\d{4}$", "555-1234", "\u0665\u0665\u0665-1234"),
        (r"^[^@]+@[^@]+\.[a-z]+$", "ada@example.org", "ada"),
        (r"^(red|green|blue)$", "green", "reddish"),
        (r"^(?<word>\w+)$", "word", "two words"),
        (r"^[a-z[&~|]+$", "a[&", "A"),
        (r"^https?://", "http://x", "ftp://x"),
        (r"^(ab)+c{2}$", "ababcc", "abc"),
        (r"^a$", "a", "a\n"),
    ],
)
def test_e3_a_pattern_means_what_it_means_in_javascript(pattern: str, good: str, bad: str) -> None:
    got = pattern_of(pattern)
    assert got is not None
    assert (got.matches(good), got.matches(bad)) == (True, False)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        r"(a|aa)+$",
        r"((a?)b)*",
        r"(a)\1",
        r"(?P<n>a)(?P=n)",
        r"(?i)a",
        r"a**",
        r"(",
        r"[",
        r"[]a]",
        r"[a--b]",
        r"\p{Letter}",
        r"a)",
        "a" * 501,
        "(" * 200,
    ],
)
def test_e3_a_pattern_that_could_hang_us_or_is_none_is_the_agents_to_check(pattern: str) -> None:
    assert pattern_of(pattern) is None
    assert fault({**STRING, "pattern": pattern}, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!") is None
    assert any("checked by the agent only" in rule for rule in rules(field(**STRING, pattern=pattern)))


@pytest.mark.parametrize("pattern", [r"a*a*a*a*a*a*b", "a?" * 60 + "a" * 60, "(a|b)" * 60, r"a{0,200}" * 3])
def test_e3_a_pattern_is_not_tried_on_a_text_where_it_could_take_long(pattern: str) -> None:
    got = pattern_of(pattern)
    assert got is not None
    assert got.matches("a" * 1000) is None


# --- what is typed


@pytest.mark.parametrize(
    ("raw", "typed", "value"),
    [
        (STRING, " as it is", " as it is"),
        ({"type": "integer"}, "-7", -7),
        ({"type": "number"}, "7", 7),
        ({"type": "number"}, "7.5", 7.5),
        ({"type": "boolean"}, "Y", True),
        ({"type": "boolean"}, "no", False),
        ({**STRING, "oneOf": TITLED}, "2", "b"),
        ({**STRING, "oneOf": TITLED}, "First", "a"),
        ({**STRING, "oneOf": TITLED}, "b", "b"),
        ({**STRING, "enum": ["2", "1"]}, "1", "1"),
        ({"type": "array", "items": {"anyOf": TITLED}}, "2, First", ["b", "a"]),
    ],
)
def test_e1_what_a_person_types_becomes_a_value(raw: dict[str, Any], typed: str, value: Any) -> None:
    assert value_of(field(**raw), typed) == value


@pytest.mark.parametrize(
    ("raw", "typed"),
    [
        ({"type": "integer"}, "7.5"),
        ({"type": "integer"}, "9" * 5000),
        ({"type": "number"}, "many"),
        ({"type": "boolean"}, "maybe"),
        ({**STRING, "enum": ["a"]}, "2"),
        ({**STRING, "enum": ["a"]}, "²"),
        ({"type": "array", "items": {"enum": ["a"]}}, "a, b"),
    ],
)
def test_e1_what_is_no_value_is_said(raw: dict[str, Any], typed: str) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        value_of(field(**raw), typed)


@pytest.mark.parametrize("name", ["api_key", "ACCESS_TOKEN", "secret", "userPassword"])
def test_e2_a_field_that_looks_secret(name: str) -> None:
    (by_name,) = form(**{name: STRING}).fields
    assert by_name.secret
    assert field(**STRING, format="password").secret
    assert field(**STRING, title="Your token").secret
    assert not field(**STRING, title="Colour").secret


# --- addresses


@pytest.mark.parametrize(
    ("url", "host", "warning"),
    [
        ("https://example.org/a?b=c#d", "example.org", None),
        ("https://example.org:8443/", "example.org", None),
        ("HTTPS://Example.org", "Example.org", None),
        ("http://example.org/", "example.org", "not encrypted"),
        ("https://bank.example@evil.example/", "evil.example", "before the @"),
        ("https://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com", "Punycode: xn--80ak6aa92e stands for аррӏе"),  # noqa: RUF001  # the point
        ("https://xn--99999999.example/", "xn--99999999.example", "Punycode"),
        ("https://ex\u0430mple.org/", "ex\u0430mple.org", "mixes scripts (Cyrillic, Latin)"),
        ("https://b\u00fccher.example/", "b\u00fccher.example", "beyond ASCII: b\u00fccher (U+00FC)"),
        ("https://127.0.0.1:99/", "127.0.0.1", "a number"),
        ("https://0x7f.1/", "0x7f.1", "a number"),
        ("https://2130706433/", "2130706433", "a number"),
        ("https://[::1]/", "[::1]", "a number"),
    ],
)
def test_e5_the_host_is_told_apart_and_warned_of(url: str, host: str, warning: str | None) -> None:
    got = address_of(url)
    assert got is not None
    assert got.host == host
    assert got.before + got.host + got.after == url
    if warning is None:
        assert got.warnings == ()
    else:
        assert warning in " ".join(got.warnings)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "ftp://example.org/",
        "https:///x",
        "https://",
        "https:example.org",
        "https://good.example\\@evil.example/",
        "https://exa\tmple.org/",
        "https://example.org/a b",
        "https://example.org/\u202egro",
        "https://exam\u200bple.org/",
        "https://%65vil.example/",
        "https://a@b@c.example/",
        "https://a.example:80:90/",
        " https://example.org/",
    ],
)
def test_e4_what_a_browser_might_read_otherwise_is_no_address(url: str) -> None:
    assert address_of(url) is None


def test_e3_what_is_put_into_a_card_becomes_values() -> None:
    got = form(
        name=STRING,
        code=STRING,
        ratio={"type": "number"},
        count={"type": "integer"},
        left={"type": "integer"},
        sure={"type": "boolean"},
        many={"type": "array", "items": {"enum": ["x"]}},
    )
    given_ = {
        "name": " Ada ",
        "code": "",
        "ratio": "1e3",
        "count": f" {2**53 + 1} ",
        "left": " ",
        "sure": False,
        "many": [],
    }
    values = {"name": " Ada ", "ratio": 1000.0, "count": 2**53 + 1, "sure": False, "many": []}
    assert entered(got, given_) == (values, {})
    wrong = {"ratio": "It is a number.", "count": "It is a whole number."}
    assert entered(got, {"name": None, "ratio": "half", "count": "1.5"}) == ({}, wrong)
    assert entered(got, {"count": 7, "other": "1"}) == ({"count": 7, "other": "1"}, {})


def test_e5_a_host_longer_than_any_name_is_one_warning() -> None:
    got = address_of("https://" + "xn--80ak6aa92e." * 20_000 + "com/")
    assert got is not None
    assert got.warnings == ("The host has 300,003 characters: no name is that long, it leads nowhere.",)
