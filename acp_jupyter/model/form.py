"""The form that an agent's ``requestedSchema`` describes: its fields, and what is wrong with given values.

See https://agentclientprotocol.com/protocol/elicitation. It is read leniently: a malformed part costs itself.
A property of a type that we do not know becomes a field of text. Nothing that a schema refers to is fetched.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from acp_jupyter.model.content import as_dict, as_int, as_list, as_text
from acp_jupyter.model.pattern import pattern_of

_KINDS = {
    "string": "text",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
    "array": "choices",
}
_SECRET = re.compile("key|token|secret|password", re.IGNORECASE)
_INT64 = 2**63
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_TIME = re.compile(
    r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([zZ]|[+-]([01]\d|2[0-3]):[0-5]\d)", re.ASCII
)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")
_FORMATS = {
    "email": "an e-mail address, such as name@example.org",
    "uri": "an address with its scheme, such as https://example.org",
    "date": "a date, such as 2026-01-31",
    "date-time": "a date and time with its zone, such as 2026-01-31T12:00:00Z",
}


class Choice(NamedTuple):
    """One of the values that a field may have."""

    value: str
    title: str
    description: str | None = None


@dataclass(frozen=True)
class Field:
    """A field; its ``kind`` is ``text``, ``number``, ``integer``, ``boolean``, ``choice`` or ``choices``.

    ``minimum`` and ``maximum`` bound a number, the length of a text, or how many are chosen. ``format`` is
    the protocol's, ``password``, or any word of the agent's. ``unknown_type`` names a type that we do not
    know.
    """

    name: str
    kind: str = "text"
    title: str | None = None
    description: str | None = None
    required: bool = False
    default: Any = None
    choices: tuple[Choice, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    pattern: str | None = None
    format: str | None = None
    unknown_type: str | None = None

    @property
    def label(self) -> str:
        """What it is called."""
        return self.title or self.name

    @property
    def secret(self) -> bool:
        """Whether it looks like something to be hidden: then its value is neither shown nor saved."""
        return self.format == "password" or bool(_SECRET.search(f"{self.name} {self.title or ''}"))


@dataclass(frozen=True)
class Form:
    """What is asked, in the agent's order."""

    fields: tuple[Field, ...]
    title: str | None = None
    description: str | None = None

    @property
    def defaults(self) -> dict[str, Any]:
        """The values that the agent proposes."""
        return {field.name: field.default for field in self.fields if field.default is not None}


# --- reading a schema


def form_of(schema: Any) -> Form:
    """Return the form of a ``requestedSchema``, whatever that is."""
    given = as_dict(schema)
    properties = as_dict(given.get("properties"))
    required = [name for name in as_list(given.get("required")) if isinstance(name, str)]
    # A name that must be given but is not described can be asked for all the same.
    names = dict.fromkeys([*properties, *required])
    fields = tuple(_field(name, properties.get(name, {"type": "string"}), name in required) for name in names)
    return Form(fields, as_text(given.get("title")), as_text(given.get("description")))


def _field(name: str, raw: Any, required: bool) -> Field:  # noqa: FBT001  # one of its facts
    given = as_dict(raw)
    type_ = given.get("type")
    kind = _KINDS.get(type_) if isinstance(type_, str) else None
    choices = _choices(given if kind == "text" else as_dict(given.get("items")), many=kind == "choices")
    if kind == "text" and choices:
        kind = "choice"
    unknown = None
    if kind is None or (kind == "choices" and not choices):
        kind, unknown = "text", "none given" if type_ is None else str(type_)[:100]
    low, high = {"choices": ("minItems", "maxItems"), "text": ("minLength", "maxLength")}.get(
        kind, ("minimum", "maximum")
    )
    field = Field(
        name,
        kind,
        as_text(given.get("title")),
        as_text(given.get("description")),
        required,
        choices=choices if kind in {"choice", "choices"} else (),
        minimum=None if unknown else _bound(given.get(low)),
        maximum=None if unknown else _bound(given.get(high)),
        pattern=as_text(given.get("pattern")) if kind == "text" else None,
        format=as_text(given.get("format")) if kind == "text" else None,
        unknown_type=unknown,
    )
    default = _default(field, given.get("default"))
    return replace(field, default=default)


def _choices(given: dict[str, Any], *, many: bool) -> tuple[Choice, ...]:
    titled = [as_dict(one) for one in as_list(given.get("anyOf" if many else "oneOf"))]
    choices = [
        Choice(one["const"], as_text(one.get("title")) or one["const"], as_text(one.get("description")))
        for one in titled
        if isinstance(one.get("const"), str)
    ]
    choices = choices or [Choice(one, one) for one in as_list(given.get("enum")) if isinstance(one, str)]
    return tuple({choice.value: choice for choice in reversed(choices)}.values())[::-1]


def _bound(value: Any) -> float | None:
    return value if _is_number(value) else None


def _default(field: Field, value: Any) -> Any:
    """Return a default of the right kind; one that is out of bounds stays, and is the person's to mend."""
    if field.kind == "choices":
        known = {choice.value for choice in field.choices}
        chosen = [one for one in as_list(value) if isinstance(one, str) and one in known]
        return list(dict.fromkeys(chosen)) or ([] if value == [] else None)
    fits = {
        "text": isinstance(value, str),
        "choice": any(choice.value == value for choice in field.choices),
        "boolean": isinstance(value, bool),
        "integer": as_int(value) is not None,
        "number": _is_number(value),
    }
    return value if fits[field.kind] else None


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


# --- what is wrong with values


def faults(form: Form, content: dict[str, Any]) -> dict[str, str]:
    """Return what is wrong with the values ``content``, a sentence for each field; empty where nothing is."""
    known = {field.name for field in form.fields}
    found = {name: "The form has no such field." for name in content if name not in known}
    for field in form.fields:
        fault = _fault(field, content.get(field.name))
        if fault:
            found[field.name] = fault
    return found


def _fault(field: Field, value: Any) -> str | None:
    if value is None:
        return "It must be given." if field.required else None
    if field.kind in {"number", "integer"}:
        return _number_fault(field, value)
    if field.kind == "boolean":
        return None if isinstance(value, bool) else "It is yes or no."
    if field.kind == "choices":
        return _choices_fault(field, value)
    if not isinstance(value, str):
        return "It is a text."
    if field.kind == "choice":
        known = any(choice.value == value for choice in field.choices)
        return None if known else "It is none of the choices."
    return _text_fault(field, value)


def _number_fault(field: Field, value: Any) -> str | None:
    if not _is_number(value):
        return "It is a number."
    if field.kind == "integer" and not (isinstance(value, int) and -_INT64 <= value < _INT64):
        return "It is a whole number."
    if field.minimum is not None and value < field.minimum:
        return f"It is at least {field.minimum}."
    if field.maximum is not None and value > field.maximum:
        return f"It is at most {field.maximum}."
    return None


def _choices_fault(field: Field, value: Any) -> str | None:
    known = {choice.value for choice in field.choices}
    chosen = as_list(value)
    if not isinstance(value, list) or any(not isinstance(one, str) or one not in known for one in chosen):
        return "It is a list of some of the choices."
    if len(set(chosen)) < len(chosen):
        return "Each is chosen once at most."
    if field.minimum is not None and len(chosen) < field.minimum:
        return f"Choose at least {field.minimum}."
    if field.maximum is not None and len(chosen) > field.maximum:
        return f"Choose at most {field.maximum}."
    return None


def _text_fault(field: Field, value: str) -> str | None:
    if any("\ud800" <= char <= "\udfff" for char in value):
        return "It has a character that cannot be sent."
    if field.minimum is not None and len(value) < field.minimum:
        return f"Its length is at least {field.minimum}."
    if field.maximum is not None and len(value) > field.maximum:
        return f"Its length is at most {field.maximum}."
    pattern = pattern_of(field.pattern) if field.pattern is not None else None
    if pattern is not None and pattern.matches(value) is False:
        return f"It matches the pattern {field.pattern}"
    if field.format in _FORMATS and not _has_format(field.format, value):
        return f"It is {_FORMATS[field.format]}."
    return None


def _has_format(format_: str, value: str) -> bool:
    if format_ == "email":
        local, at, domain = value.rpartition("@")
        return bool(local and at and domain) and not any(char.isspace() for char in value)
    if format_ == "uri":
        return _URI.fullmatch(value) is not None
    if format_ == "date":
        return _is_date(value)
    day, time = value[:10], value[11:]
    return _is_date(day) and value[10:11] in {"T", "t", " "} and _TIME.fullmatch(time) is not None


def _is_date(value: str) -> bool:
    found = _DATE.fullmatch(value)
    if found is None:
        return False
    year, month, day = (int(part) for part in found.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return 1 <= month <= 12 and 1 <= day <= days[month - 1]  # noqa: PLR2004  # months of a year


def rules(field: Field) -> list[str]:
    """Return what a value must be, in short parts, as a person is told before writing one."""
    many = field.kind == "choices"
    what = "length " if field.kind == "text" else "choose " if many else ""
    told = [_FORMATS[field.format]] if field.format in _FORMATS else []
    told += [f"{what}at least {field.minimum}"] if field.minimum is not None else []
    told += [f"{what}at most {field.maximum}"] if field.maximum is not None else []
    if field.pattern is not None:
        checked = "" if pattern_of(field.pattern) else " (checked by the agent only)"
        told.append(f"pattern {field.pattern}{checked}")
    told += (
        [f"of a type that is not known here ({field.unknown_type}), sent as text"]
        if field.unknown_type
        else []
    )
    return [*told, "required" if field.required else "optional"]


# --- values that were typed


def value_of(field: Field, typed: str) -> Any:
    """Return the value that a person has typed: choices by number, value or title, several with commas.

    Raises:
        ValueError: It cannot be one; the text says why.
    """
    if field.kind == "boolean":
        answer = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}
        if typed.lower() not in answer:
            raise ValueError("Type y or n.")
        return answer[typed.lower()]
    if field.kind == "choice":
        return _chosen(field, typed)
    if field.kind == "choices":
        return [_chosen(field, part.strip()) for part in typed.split(",") if part.strip()]
    if field.kind not in {"number", "integer"}:
        return typed
    try:
        return int(typed) if field.kind == "integer" or re.fullmatch("[+-]?[0-9]+", typed) else float(typed)
    except ValueError:
        what = "a whole number" if field.kind == "integer" else "a number"
        raise ValueError(f"It is {what}.") from None


def entered(form: Form, given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values of what was put into the fields on a card, and what is wrong with what can be none.

    Numbers come as they were typed, since JavaScript's own would falsify large ones. What is empty is left
    out.
    """
    numbers = {field.name: field for field in form.fields if field.kind in {"number", "integer"}}
    values: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for name, value in given.items():
        typed = value.strip() if name in numbers and isinstance(value, str) else value
        try:
            read = (
                value_of(numbers[name], typed)
                if name in numbers and typed and isinstance(typed, str)
                else typed
            )
        except ValueError as error:
            wrong[name] = str(error)
        else:
            values.update({name: read} if read not in (None, "") else {})
    return values, wrong


def _chosen(field: Field, typed: str) -> str:
    exact = [choice.value for choice in field.choices if typed in choice[:2]]
    if not exact and typed.isascii() and typed.isdecimal() and 1 <= int(typed) <= len(field.choices):
        exact = [field.choices[int(typed) - 1].value]
    if not exact:
        raise ValueError(f"{typed!r} is none of the choices.")
    return exact[0]
