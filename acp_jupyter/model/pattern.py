"""A pattern that an agent sent, for `re`: only where a match is sure to be quick.

The pattern is the agent's and the matcher is ours, so that ``(a+)+$`` would hang the kernel. What a match may
cost at most is reckoned from the pattern alone: each choice multiplies it. See
https://json-schema.org/understanding-json-schema/reference/regular_expressions for what may be in one.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_MOST_STEPS = 20_000_000  # some tenths of a second
_LONGEST = 500
_TOKEN = re.compile(
    r"""
    (?P<class> \[ \^? (?: \\. | [^\]\\] )+ \] )
  | (?P<escape> \\ . )
  | (?P<open> \( (?: \?[:=!] | \?<[=!] | \?<[A-Za-z_]\w*> )? )
  | (?P<close> \) )
  | (?P<more> [*+?] \?? | \{ \d+ (?:,\d*)? \} \?? )
  | (?P<or> \| )
  | (?P<end> \$ )
  | (?P<one> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_CLASS = re.compile(r"\\.|[\[&~|]", re.DOTALL)
_COUNT = re.compile(r"\{(\d+)(,?)(\d*)\}")


class Pattern(NamedTuple):
    """A pattern that can be matched: by what, and how its cost grows with the length of a text."""

    matcher: re.Pattern[str]
    factor: int
    power: int

    def matches(self, text: str) -> bool | None:
        """Whether ``text`` matches; ``None`` where to find out might take too long."""
        if self.factor * (len(text) + 1) ** self.power > _MOST_STEPS:
            return None
        return self.matcher.search(text) is not None


def pattern_of(source: str) -> Pattern | None:
    """Return what can be matched of a JSON Schema ``pattern``; ``None`` where that cannot be done safely."""
    if len(source) > _LONGEST:
        return None
    try:
        return _Reader().read(source)
    except (ValueError, re.error, RecursionError, OverflowError):
        return None


class _Reader:
    """Reads a pattern once: writes it as Python has it, and reckons its cost."""

    def __init__(self) -> None:
        self.factor, self.power = 1, 0
        self.alternatives = [1]  # of the whole, and of each open group
        self.varies = [False]  # whether anything in it may match in several ways
        self.last_varies = False  # whether what a quantifier would repeat does
        self.before = ""

    def read(self, source: str) -> Pattern:
        written = "".join(self._token(match) for match in _TOKEN.finditer(source))
        # elsewhere than at its beginning a match may be tried from every character
        anywhere = not source.startswith("^") or self.alternatives[0] > 1
        # ASCII: in JavaScript, whose patterns these are, \d and \w know nothing else
        return Pattern(re.compile(written, re.ASCII), self.factor, max(self.power + anywhere, 1))

    def _token(self, match: re.Match[str]) -> str:
        kind, token = str(match.lastgroup), match[0]
        before, self.before = self.before, kind
        if kind == "more":
            if before in {"open", "more", ""} or self.last_varies:  # ``(?i)``, ``a++``, ``(a+)+``
                raise ValueError(token)
            self._repeat(token)
            return token
        self.last_varies = False
        if kind == "open":
            self.alternatives.append(1)
            self.varies.append(False)
            return token.replace("?<", "?P<") if token[-1:] == ">" else token
        if kind == "close":
            self._close()
        elif kind == "or":
            self._alternative()
        elif kind == "class":
            return _class(token)
        elif kind == "end":
            return r"\Z"  # `$` would match before a last newline too
        elif kind == "escape" and (token[1].isdigit() or token[1] in "kAZ"):
            raise ValueError(token)  # back references; and what means another thing in Python
        elif kind == "one" and match[0] in "[{":  # JavaScript and Python read these differently
            raise ValueError(token)
        return token

    def _repeat(self, token: str) -> None:
        counted = _COUNT.match(token)
        if token[0] == "?":
            self._vary(2)
        elif counted is None or (counted[2] and not counted[3]):
            self.power += 1
            self._vary(1)
        elif counted[2]:
            self._vary(max(int(counted[3]) - int(counted[1]), 0) + 1)

    def _close(self) -> None:
        if len(self.varies) == 1:
            raise ValueError(")")
        self.alternatives.pop()
        self.last_varies = self.varies.pop()

    def _alternative(self) -> None:
        ways = self.alternatives[-1]
        self.alternatives[-1] = ways + 1
        self.factor //= ways
        self._vary(ways + 1)

    def _vary(self, ways: int) -> None:
        self.factor *= ways
        self.varies = [True] * len(self.varies)


def _class(token: str) -> str:
    """Return a class without what Python may read as an operation on sets one day."""
    if "--" in token:
        raise ValueError(token)
    inner = _IN_CLASS.sub(lambda found: found[0] if len(found[0]) > 1 else "\\" + found[0], token[1:-1])
    return f"[{inner}]"
