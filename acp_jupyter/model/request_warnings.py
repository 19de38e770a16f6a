"""What is odd about a permission request, computed once: views only draw it.

See https://agentclientprotocol.com/protocol/tool-calls#requesting-permission. Everything here is told by the
request alone; what its files hold is looked at by `acp_jupyter.session.compared`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from acp_jupyter.model.visible import direction_changes, exact, hidden, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from acp_jupyter.model.tool_call import Permission, PermissionOption, ToolCall

_LOOKING = frozenset({"read", "search", "think", "fetch"})
_KNOWN_KINDS = frozenset({"allow_once", "allow_always", "reject_once", "reject_always"})
_LOOKED_THROUGH = 2_000_000  # characters of one text: a tenth of a second at worst
_PATHS_TOLD = 3
_WORDS_TOLD = 4
_OTHER_INPUT, _NEW_TEXT, _UNREAD = "its raw input", "the new text of a file", ""
_PARTS: dict[str, str] = {
    **dict.fromkeys("command cmd args arguments".split(), "the command"),
    **dict.fromkeys("cwd workdir workingdirectory directory".split(), "its directory"),
    **dict.fromkeys("url uri".split(), "its address"),
}
# The texts of a file: blanks are their own affair, but what turns the direction of writing fakes code.
_FILE_TEXT = re.compile("new(?:str|string|text|content)|content|contents|filetext|inserttext")
_OLD_TEXT = re.compile("old(?:str|string|text|content)")
_NO = re.compile(r"\s*(?:no|reject|deny|disallow|refuse|decline|abort)\b", re.IGNORECASE)
_YES = re.compile(r"\s*(?:yes|allow|accept|approve|ok|okay)\b", re.IGNORECASE)
_ONCE = re.compile(r"\bonce\b|\bthis time\b", re.IGNORECASE)


class RequestWarning(NamedTuple):
    """Something that a person is to know before answering: a word for its kind, and a sentence."""

    reason: str
    text: str


def warnings_about(
    call: ToolCall | None, options: Sequence[PermissionOption], roots: Iterable[str]
) -> Iterator[RequestWarning]:
    """Give what is odd about a request.

    Args:
        call: What it is about, as it stands when it is asked.
        options: What the agent offers.
        roots: The session's directories.
    """
    yield from _hidden_warnings(_finds(call, options))
    if call is not None:
        yield from _path_warnings(paths_of(call), list(roots))
        if call.kind in _LOOKING and call.diffs:
            text = f"The agent calls this “{call.kind}”, but it holds a change to a file."
            yield RequestWarning("kind", text)
    yield from _option_warnings(options)


def change_since(permission: Permission, call: ToolCall | None) -> RequestWarning | None:
    """Return what to say where the call is no longer what was asked."""
    asked = permission.asked
    if asked is None or call is None:
        return None
    if permission.state == "open":
        text = "The agent has changed this call since it asked; this is what it asked for."
        return None if call.shows(asked) else RequestWarning("changed", text)
    if call.means(asked):
        return None
    outcome = "asked" if permission.state != "selected" else "rejected" if permission.rejected else "allowed"
    text = f"The call was changed after this was asked; this is what was {outcome}."
    return RequestWarning("changed", text)


def paths_of(call: ToolCall) -> list[str]:
    """Return every path that a call names, each once, as the agent sent it."""
    named = [diff.path for diff in call.diffs] + [location.path for location in call.locations]
    return list(dict.fromkeys(named))


# --- what hides


class _Find(NamedTuple):
    part: str  # of what is read before answering
    reason: str
    words: str


def _finds(call: ToolCall | None, options: Sequence[PermissionOption]) -> Iterator[_Find]:
    texts = [] if call is None else [*_raw_texts(call.raw_input), *_own_texts(call)]
    for part, text in [*texts, *(("the name of an option", one.name) for one in options)]:
        if len(text) > _LOOKED_THROUGH:
            yield _Find(part, "unchecked", "text too long to be looked through")
            continue
        found = direction_changes(text) if part == _NEW_TEXT else hidden(text)
        yield from (_Find(part, reason, words) for reason, words in found)
    for diff in call.diffs if call is not None else ():
        before = set(direction_changes((diff.old_text or "")[:_LOOKED_THROUGH]))
        new = (one for one in direction_changes(diff.new_text[:_LOOKED_THROUGH]) if one not in before)
        yield from (_Find(_NEW_TEXT, reason, words) for reason, words in new)


def _own_texts(call: ToolCall) -> Iterator[tuple[str, str]]:
    yield from (("a path", path) for path in paths_of(call))
    yield "the title", call.title
    yield "the name of its tool", call.name or ""
    yield "its kind", call.kind


def _raw_texts(raw_input: Any) -> Iterator[tuple[str, str]]:
    """Give every text in a raw input, each with a name for where it stands; not the old text of an edit."""
    left: list[tuple[str, Any]] = [(_OTHER_INPUT, raw_input)]
    while left:
        part, value = left.pop()
        if part == _UNREAD:
            continue
        if isinstance(value, str):
            yield part, value
        elif isinstance(value, dict):
            members = cast("dict[str, Any]", value)
            yield from ((_OTHER_INPUT, str(name)) for name in members)
            left += [(_part_of(part, _plain(name)), one) for name, one in reversed(members.items())]
        elif isinstance(value, list):
            left += [(part, one) for one in reversed(cast("list[Any]", value))]


def _plain(name: Any) -> str:
    return str(name).replace("-", "").replace("_", "").lower()


def _part_of(part: str, name: str) -> str:
    if part != _OTHER_INPUT:
        return part
    if _OLD_TEXT.fullmatch(name):
        return _UNREAD
    return _NEW_TEXT if _FILE_TEXT.fullmatch(name) else _PARTS.get(name, part)


def _hidden_warnings(finds: Iterable[_Find]) -> Iterator[RequestWarning]:
    """Give one warning for each reason: which of the texts hold what."""
    found: dict[str, dict[str, dict[str, None]]] = {}
    for part, reason, words in finds:
        found.setdefault(reason, {}).setdefault(part, {})[words] = None
    for reason, places in found.items():
        same: dict[str, list[str]] = {}
        for part, words in places.items():
            same.setdefault(_told(list(words)), []).append(part)
        told = "; ".join(f"{_all(parts)} {words}" for words, parts in same.items())
        more = ", which may push its end out of sight" if reason == "padding" else ""
        yield RequestWarning(reason, f"{told[0].upper()}{told[1:]}{more}.")


def _all(parts: list[str]) -> str:
    return f"{parts[0]} holds" if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]} hold"


def _told(words: list[str]) -> str:
    more = len(words) - _WORDS_TOLD
    return listed([*words[:_WORDS_TOLD], f"further {more}"] if more > 0 else words)


# --- where it leads


def path_trouble(path: str, roots: Iterable[str]) -> str | None:
    """Return what is odd about a path, by its text alone: links are not followed."""
    if not _is_absolute(path):
        return "Not an absolute path"
    inside = any(_within(_steps(path), _steps(root)) for root in roots)
    return None if inside else "Outside the session's directories"


def _path_warnings(paths: list[str], roots: list[str]) -> Iterator[RequestWarning]:
    found: dict[str, list[str]] = {}
    for path in paths:
        trouble = path_trouble(path, roots)
        if trouble:
            found.setdefault(trouble, []).append(path)
    for trouble, odd in found.items():
        yield RequestWarning("path", f"{trouble}: {some(odd)}.")


def some(paths: list[str]) -> str:
    """Return a few paths in full, and how many more there are."""
    told = ", ".join(map(exact, paths[:_PATHS_TOLD]))
    return told if len(paths) <= _PATHS_TOLD else f"{told} and {len(paths) - _PATHS_TOLD} more"


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "\\\\")) or re.match(r"[A-Za-z]:[\\/]", path) is not None


def _steps(path: str) -> list[str]:
    steps: list[str] = []
    for step in path.replace("\\", "/").split("/"):
        if step == "..":
            del steps[-1:]
        elif step not in {"", "."}:
            steps.append(step)
    return steps


def _within(inner: list[str], outer: list[str]) -> bool:
    return inner[: len(outer)] == outer


# --- what it offers


def _option_warnings(options: Sequence[PermissionOption]) -> Iterator[RequestWarning]:
    offered = safest(options)
    known = {id(one) for one in offered}
    left_out = [one for one in options if id(one) not in known]
    if left_out:
        names = ", ".join(f"“{exact(one.name)}”" for one in left_out)
        text = f"Two options share one id; only the safest of them can be chosen. Left out: {names}."
        yield RequestWarning("duplicate-id", text)
    if not options:
        yield RequestWarning("options", "The agent offers no answer to choose from.")
    for one in offered:
        name = f"“{exact(one.name)}”" if one.name else "An option without a name"
        if one.kind not in _KNOWN_KINDS:
            yield RequestWarning(
                "options", f"What {name} does is not known: its kind is none of the protocol's."
            )
        elif lie := _lie(one):
            yield RequestWarning("options", f"{name} {lie}.")


def _lie(option: PermissionOption) -> str | None:
    """Return how an option's name contradicts its kind, by the words with which names mostly begin."""
    allows = option.kind.startswith("allow")
    if allows and _NO.match(option.name):
        return "is named like a no, but allows it"
    if not allows and _YES.match(option.name):
        return "is named like a yes, but rejects it"
    if option.kind.endswith("always") and _ONCE.search(option.name):
        return "is named as if for once, but the agent will remember it"
    return None


_SAFEST = ("reject_once", "reject_always", "allow_once", "allow_always")


def safest(options: Sequence[PermissionOption]) -> tuple[PermissionOption, ...]:
    """Return the options in their order; of several with one id, which no answer tells apart, the safest."""
    best: dict[str, PermissionOption] = {}
    for one in options:
        other = best.get(one.option_id)
        if other is None or _danger(one) < _danger(other):
            best[one.option_id] = one
    return tuple(one for one in options if best[one.option_id] is one)


def _danger(option: PermissionOption) -> int:
    return _SAFEST.index(option.kind) if option.kind in _SAFEST else len(_SAFEST)


# --- what the agent changes about itself

# A model or an effort asks a person neither more nor less.
_HARMLESS = frozenset({"model", "thought_level", "thoughtlevel", "effort"})


def oversight_of(category: str | None) -> str | None:
    """Return what to say where the agent itself has changed its mode or an option; names prove nothing.

    Args:
        category: The option's; ``"mode"`` for the mode.
    """
    if category in _HARMLESS:
        return None
    return "The agent changed this itself: you may be asked less from here on."
