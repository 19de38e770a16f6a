"""What looks like a secret: in a text by its shape, and by the name that it goes under.

See https://agentclientprotocol.com/protocol/session-setup#mcp-servers for what an agent is given of them.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Span = tuple[int, int]

_SHORTEST = 8  # a shorter value stands in too many places that are no secret
# A key begins a word (`task-...` holds none), also after an escape in JSON text.
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf]))"
_KEYS = (
    r"sk-[A-Za-z0-9_-]{16,}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}"
    r"|glpat-[\w-]{16,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{20,}|pypi-[\w-]{20,}|A[KS]IA[0-9A-Z]{16}"
    r"|xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}|AIza[\w-]{30,}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"
)
_COLON = r"\\*[\"']?\s*[:=]\s*\\*[\"']?"
_PAIR = r"[\w!#%*+.^~-]+=[^\s\"'\\;&|<>()`$]*"
# Each behind the letters without which it is not there (in any case): to look for those costs a tenth.
_SHAPES = (
    (
        "sk- k_live_ k_test_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- hf_ npm_ pypi- akia asia xox xapp- "
        "aiza eyj".split(),
        re.compile(f"{_START}(?P<secret>{_KEYS})"),
    ),
    (
        ["private key"],
        re.compile(
            r"(?P<secret>-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?"
            r"(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z))",
            re.DOTALL,
        ),
    ),
    # A header as it stands in a command, in JSON, and in JSON within JSON. No more than its value: what a
    # person is asked about must not hide behind one (`authorization: x; rm -rf .`).
    (
        ["authorization", "x-api-key", "x-auth-token"],
        re.compile(
            r"(?i)\b(?:(?:proxy-)?authorization|x-api-key|x-auth-token)"
            rf"{_COLON}(?P<secret>(?:[a-z]+ +)?[^\s\"'\\;&|<>()`$]+)"
        ),
    ),
    (
        ["cookie"],
        re.compile(rf"(?i)\b(?:set-)?cookie{_COLON}(?P<secret>{_PAIR}(?:; *{_PAIR})*)"),
    ),
    # Who is before an address: `user:word@`, or one long word; `git@` is none.
    (
        ["://"],
        re.compile(
            r"(?i)\b[a-z][a-z0-9+.-]{0,20}://"
            r"(?P<secret>[^\s/?#\"'<>\\:@]{0,200}:[^\s/?#\"'<>\\]{1,1000}|[^\s/?#\"'<>\\:@]{8,1000})@"
        ),
    ),
)
# An author is nobody's secret.
_NAME = re.compile(r"(?i)key|token|secret|passw|credential|auth(?!or(?!iz))")
_FIELD = re.compile(
    r"(?i)(?:proxy[-_])?authorization|(?:set[-_])?cookie|password|passwd|passphrase|credentials?"
    r"|(?:\w+[-_])?(?:secret|api[-_]?key|private[-_]?key|secret[-_]?key|auth[-_]?token)|x-auth-token"
    r"|(?:access|refresh|id|bearer|session)[-_]?token|apikey|client[-_]?secret"
)


def is_secret_name(name: str) -> bool:
    """Say whether a variable of that name is likely to hold a secret."""
    return _NAME.search(name) is not None


def is_secret_field(name: str) -> bool:
    """Say whether a member of that name holds one, whatever it looks like: fewer names, for they are many."""
    return _FIELD.fullmatch(name) is not None


def spellings(values: Iterable[str]) -> list[str]:
    """Return the values, and how they are spelled within JSON text and addresses; the longest first."""
    known = {value for value in values if len(value) >= _SHORTEST}
    for value in list(known):
        plain, ascii_ = json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1]
        twice = json.dumps(plain, ensure_ascii=False)[1:-1]
        known |= {plain, ascii_, twice, quote(value, safe="", errors="replace")}
        known |= {value.replace("\n", "\r\n"), value.strip()} if len(value.strip()) >= _SHORTEST else set()
    return sorted(known, key=len, reverse=True)


def spans(text: str, known: Iterable[str]) -> list[Span]:
    """Return where the secrets are in ``text``, in order and apart from each other.

    Args:
        text: Any text; it is looked at as a whole.
        known: Values that are secret.
    """
    found = sorted([*_known(text, known), *_shaped(text)])
    apart: list[Span] = []
    for start, end in found:
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def _known(text: str, known: Iterable[str]) -> Iterator[Span]:
    for value in known:
        at = text.find(value)
        while at >= 0:
            yield at, at + len(value)
            at = text.find(value, at + len(value))


def _shaped(text: str) -> Iterator[Span]:
    lower = text.lower()
    for needles, shape in _SHAPES:
        if any(needle in lower for needle in needles):
            for match in shape.finditer(text):
                yield match.span("secret")
