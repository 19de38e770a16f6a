"""An address that an agent wants opened, taken apart so that nobody is deceived about where it leads.

See https://agentclientprotocol.com/protocol/elicitation. It is never opened here, nor looked up. Browsers
read addresses more generously than we do: what they might read otherwise is no address for us.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

_ADDRESS = re.compile(
    r"(?P<scheme>https?)://(?:(?P<user>[^/?#@]*)@)?"
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\[\]:/?#@%]+)(?P<port>:\d*)?(?P<rest>[/?#].*)?",
    re.IGNORECASE | re.DOTALL,
)
_NUMBERS = re.compile(r"\[.*\]|(?:0[xX][0-9A-Fa-f]*|\d+)(?:\.(?:0[xX][0-9A-Fa-f]*|\d+))*\.?")
_LONGEST_HOST = 253  # what 255 octets come to as text: RFC 1035, section 2.3.4


class Address(NamedTuple):
    """An address in three pieces that make the whole of it, and what to be warned of."""

    before: str
    host: str
    after: str
    warnings: tuple[str, ...]


def address_of(url: str) -> Address | None:
    """Return the pieces of a web address; ``None`` where it is none, or can be read in more than one way."""
    # Browsers drop tabs and newlines, and take a backslash for a slash.
    if any(
        char.isspace() or char == "\\" or unicodedata.category(char) in {"Cc", "Cf", "Cs"} for char in url
    ):
        return None
    found = _ADDRESS.fullmatch(url)
    if found is None:
        return None
    start, end = found.span("host")
    return Address(url[:start], url[start:end], url[end:], tuple(_warnings(found)))


def _warnings(found: re.Match[str]) -> list[str]:
    host = found["host"]
    warnings = ["It is not encrypted (http)."] if found["scheme"].lower() == "http" else []
    if found["user"] is not None:
        warnings.append("What stands before the @ is not where it leads.")
    if _NUMBERS.fullmatch(host):
        warnings.append("The host is a number, not a name.")
    if len(host) > _LONGEST_HOST:
        return [*warnings, f"The host has {len(host):,} characters: no name is that long, it leads nowhere."]
    warnings += [warning for label in host.split(".") for warning in _label_warnings(label)]
    return warnings


def _label_warnings(label: str) -> list[str]:
    shown = label
    warnings: list[str] = []
    if label.lower().startswith("xn--"):
        shown = _decoded(label)
        warnings.append(f"Punycode: {label} stands for {_spelled(shown)}.")
    elif not label.isascii():
        warnings.append(f"The host has characters beyond ASCII: {_spelled(label)}.")
    scripts = sorted({script for char in shown if (script := _script(char))})
    if len(scripts) > 1:
        warnings.append(f"The host mixes scripts ({', '.join(scripts)}): it may imitate another.")
    return warnings


def _decoded(label: str) -> str:
    try:
        return label[4:].encode("ascii").decode("punycode")
    except (UnicodeError, ValueError, OverflowError):
        return "something that cannot be read"


def _spelled(text: str) -> str:
    beyond = [f"U+{ord(char):04X}" for char in text if ord(char) > 127]  # noqa: PLR2004  # the last of ASCII
    return f"{text} ({' '.join(beyond)})" if beyond else text


def _script(char: str) -> str:
    """Return a letter's script, by the first word of its name."""
    return unicodedata.name(char, "").partition(" ")[0].capitalize() if char.isalpha() else ""
