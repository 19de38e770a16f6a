"""Which paths a raw input names, where it holds nothing but reading, searching or the texts of an edit.

A raw input is any JSON, in any agent's own words: only members that are known by name, and hold what such a
member holds, pass. Anything else is never harmless: all that this costs is a question to a person.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


# Names without `_` and `-`, in lower case: agents write file_path, filePath, -i.
_PATH = _names(
    "path file filepath filename abspath absolutepath relativepath targetfile notebookpath dir dirpath"
    " directory directorypath folder folderpath"
)
_PATHS = _names("paths files filepaths absolutepaths directories folders")
_URI = _names("uri fileuri")
_NUMBER = _names(
    "line limit offset startline endline maxresults maxlines maxdepth headlimit depth column context a b c"
    " contextlines"
)
_RANGE = _names("viewrange linerange range")
_FLAG = _names(
    "recursive casesensitive caseinsensitive ignorecase multiline includehidden hidden showhidden isregex"
    " wholeword respectgitignore i n linenumbers"
)
_WORD = _names("encoding type outputmode language pages")
_SEARCH = _names("pattern query regex glob search searchterm description")
_GLOBS = _names("include exclude includes excludes includepattern excludepattern ignore")
_EDIT_TEXT = _names(
    "old new oldstring newstring oldtext newtext oldstr newstr oldcontent newcontent content contents"
    " filetext inserttext"
)
_EDIT_PLAIN = _names("replaceall insertline expectedreplacements")

_KNOWN = _PATH | _PATHS | _URI | _NUMBER | _RANGE | _FLAG | _WORD | _SEARCH | _GLOBS

_A_WORD = re.compile(r"(?:\w[\w.-]*)?")
# What a shell, a glob or another reader of paths would make something else of; a second path after a comma.
_NO_PLAIN_PATH = re.compile(r"[$~{}`\\*?\[\]<>|;&\"':]|^[\s-]|\s$|[\s,][/.-]")
# No alternative is empty and every dot has something after it, so that nothing in it amounts to `..`.
_GLOB = re.compile(r"(?:\./)?(?![/-])(?:[\w*?/-]|\.(?=[\w{])|\{\w+(?:,\w+)*\})+")
_LEADS_OUT = re.compile(r"/|^\s*(?:[-~]|\\\\|[A-Za-z]:)|\.\.|\$[\w({]|`")


def named_paths(raw_input: Any, roots: Iterable[str], *, edits: bool = False) -> list[str] | None:
    """Return the absolute paths that ``raw_input`` names.

    Args:
        raw_input: Any JSON value.
        roots: What a relative path may be relative to; it counts once for each.
        edits: Whether the old and new texts of an edit may be among its members.

    Returns:
        ``None`` where it holds anything but members that are known, with values of their type.
    """
    if raw_input is None:
        return []
    if not isinstance(raw_input, dict):  # a bare text or a list of words may be a command
        return None
    paths: list[str] = []
    for name, value in cast("dict[str, Any]", raw_input).items():
        plain = name.replace("_", "").replace("-", "").lower()
        found = [] if edits and _is_of_an_edit(plain, value) else _paths_of(plain, value, roots)
        if found is None:
            return None
        paths += found
    return paths


def _is_of_an_edit(name: str, value: Any) -> bool:
    return isinstance(value, str) if name in _EDIT_TEXT else name in _EDIT_PLAIN and isinstance(value, int)


def _paths_of(name: str, value: Any, roots: Iterable[str]) -> list[str] | None:
    """Return the paths that a member names, ``None`` where it is not what its name says."""
    if value is None and name in _KNOWN:
        return []
    if name in _PATH | _URI and isinstance(value, str):
        return _of_uri(value) if name in _URI else _absolute(value, roots)
    if name in _PATHS:
        return _all_absolute(_texts(value), roots)
    return [] if _is_plain(name, value) else None


def _is_plain(name: str, value: Any) -> bool:
    """Whether it is a known member that names no path, with a value of its type."""
    if name in _NUMBER:
        return _is_number(value)
    if name in _RANGE:
        return isinstance(value, list) and all(map(_is_number, cast("list[Any]", value)))
    if name in _FLAG:
        return isinstance(value, bool)
    if name in _WORD:
        return isinstance(value, str) and _A_WORD.fullmatch(value) is not None
    if name in _SEARCH:
        return isinstance(value, str) and _stays(value)
    texts = _texts([value] if isinstance(value, str) else value) if name in _GLOBS else None
    return texts is not None and all(map(_stays, texts))


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _texts(value: Any) -> list[str] | None:
    items = cast("list[Any]", value) if isinstance(value, list) else [None]
    return cast("list[str]", items) if all(isinstance(item, str) for item in items) else None


def _stays(text: str) -> bool:
    """Whether what is searched for leads nowhere, should it be taken for the names of files."""
    return text.isprintable() and (_GLOB.fullmatch(text) is not None or not _LEADS_OUT.search(text))


def _all_absolute(texts: list[str] | None, roots: Iterable[str]) -> list[str] | None:
    found = [_absolute(text, roots) for text in texts or ()]
    if texts is None or None in found:
        return None
    return [path for paths in found for path in paths or ()]


def _absolute(text: str, roots: Iterable[str]) -> list[str] | None:
    """Return what ``text`` names under each root, with its `..` as it stands and taken away as text."""
    if not text.isprintable() or _NO_PLAIN_PATH.search(text):
        return None
    paths = [os.path.join(root, text) for root in roots]  # noqa: PTH118  # an absolute one stays as it is, `..` is resolved where it is looked at
    return [*paths, *map(os.path.normpath, paths)]


def _of_uri(text: str) -> list[str] | None:
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    path = unquote(parts.path)
    plain = parts.netloc in {"", "localhost"} and not parts.query and not parts.fragment
    if parts.scheme != "file" or not plain or not path.startswith("/"):
        return None
    return _absolute(path, ["/"])
