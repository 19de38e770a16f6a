"""Which paths a raw input names, and whether it holds more than paths: any JSON, in any agent's own words.

It is read with suspicion. What may be a command counts as one, what may be a path counts as one, and what
cannot be read is never harmless: all that this costs is a question to a person.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Words in a member's name. `description` holds no script, `encoding` no code.
_COMMAND = re.compile(
    r"command|cmd|shell|argv|exec|bash|eval|program|patch|sql|(?<!de)script|(?<!en)(?<!de)code"
)
_PATH = re.compile(r"path|file|dir|folder|uri|url|cwd|root|source|target|dest")
# Members that hold the text of an edit, not the name of anything.
_TEXT = frozenset(
    "content contents text filetext oldstring newstring oldtext newtext oldstr newstr inserttext".split()
)
_LIKE_A_PATH = re.compile(r"[/\\~]|[A-Za-z]:[\\/]|[A-Za-z][\w+.-]*:/|file:", re.IGNORECASE)
_URI = re.compile(r"([A-Za-z][\w+.-]+):/|(file):", re.IGNORECASE)
_BETWEEN = re.compile(r"[/\\{},;:\s\"'()\[\]]+")
_EXPANDED = re.compile(r"^~|[$`]|^[A-Za-z]:\\|\\")


def named_paths(raw_input: Any, roots: Iterable[str]) -> list[str] | None:
    """Return the absolute paths that ``raw_input`` names.

    Args:
        raw_input: Any JSON value.
        roots: What a relative path may be relative to; it counts once for each.

    Returns:
        ``None`` where it holds a command, or what cannot be read as paths and plain values.
    """
    if raw_input is None:
        return []
    if not isinstance(raw_input, dict):  # a bare text or a list of words may be a command
        return None
    paths: list[str] = []
    for names, value in _leaves((), cast("dict[str, Any]", raw_input)):
        if value and _COMMAND.search(".".join(names)):
            return None
        if not isinstance(value, str) or not value.strip() or _holds_text(names):
            continue
        text = value.strip()
        if text.startswith(("{", '["')):  # JSON within JSON
            return None
        if _PATH.search(".".join(names)) or _is_like_a_path(text):
            found = _absolute(text, roots)
            if not found:
                return None
            paths += found
    return paths


def _leaves(names: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Give every plain value under the names that lead to it; an object's names are values too."""
    if isinstance(value, dict):
        for name, inner in cast("dict[str, Any]", value).items():
            yield names, name
            yield from _leaves((*names, name.lower()), inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _leaves(names, inner)
    else:
        yield names, value


def _holds_text(names: tuple[str, ...]) -> bool:
    return bool(names) and names[-1].replace("_", "") in _TEXT


def _is_like_a_path(text: str) -> bool:
    return _LIKE_A_PATH.match(text) is not None or ".." in _BETWEEN.split(text)


def _absolute(text: str, roots: Iterable[str]) -> list[str]:
    """Return what ``text`` names under each root; nothing where only its reader could say."""
    uri = _URI.match(text)
    if uri is not None:
        path = _of_file_uri(text) if (uri[1] or uri[2]).lower() == "file" else None
        return [path] if path else []
    pieces = _BETWEEN.split(text)
    if _EXPANDED.search(text) or (".." in pieces and pieces != re.split(r"/+", text)):
        return []
    return [os.path.join(root, text) for root in roots]  # noqa: PTH118  # an absolute one stays as it is, `..` is resolved where it is looked at


def _of_file_uri(text: str) -> str | None:
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    path = unquote(parts.path)
    plain = parts.netloc in {"", "localhost"} and not parts.query and not parts.fragment
    return path if plain and path.startswith("/") else None
