"""Whether the files are what an agent says they are, looked at when it asks for permission.

See https://agentclientprotocol.com/protocol/tool-calls#diffs. It is for the person who is asked:
nothing of it goes to the agent, nothing is decided by it, and only regular files within the session's
directories are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_jupyter.model.content import as_dict
from acp_jupyter.model.request_warnings import RequestWarning, path_trouble, paths_of, some
from acp_jupyter.model.visible import exact
from acp_jupyter.session import files
from acp_jupyter.wire.answers import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from acp_jupyter.model.diff import Diff
    from acp_jupyter.model.tool_call import ToolCall
    from acp_jupyter.session.roots import Roots

LIMIT_BYTES = 8 * 1024 * 1024
"""A larger file is not compared."""
_DIFFS = 100
_MARK = "\ufeff"


def compare(call: ToolCall, roots: Roots) -> list[RequestWarning]:
    """Return what is odd about the files of a call; it reads them, so it may take a while.

    Args:
        call: The call as it was asked about.
        roots: The session's directories.
    """
    led_out = [
        path for path in paths_of(call) if path_trouble(path, roots.all) is None and not roots.holds(path)
    ]
    found = (
        [RequestWarning("path", f"Leads outside the session's directories: {some(led_out)}.")]
        if led_out
        else []
    )
    texts: dict[str, str | None] = {}
    for diff in call.diffs[:_DIFFS]:
        if roots.holds(diff.path):
            found += _about(diff, texts, roots)
    left = len(call.diffs) - _DIFFS
    if left > 0:
        found.append(RequestWarning("unchecked", f"{left:,} more diffs were not compared with their files."))
    return list(dict.fromkeys(found))


def old_text(path: str, roots: Roots) -> str | None:
    """Return what a file holds; ``None`` where it is not there, or is nothing to be compared.

    Args:
        path: The file.
        roots: The session's directories.
    """
    try:
        return _text_of(path, roots)
    except RequestError:
        return None


def _about(diff: Diff, texts: dict[str, str | None], roots: Roots) -> Iterator[RequestWarning]:
    """Give what is odd about one diff; ``texts`` are the files as the diffs before it leave them."""
    name = exact(diff.path)
    try:
        there = _text_of(diff.path, roots)
    except RequestError as error:
        yield RequestWarning("unchecked", f"{name} could not be compared with this: {exact(error.message)}.")
        return
    left = texts.get(diff.path, there)
    texts[diff.path] = _with(diff, left)
    odd = _odd(diff, there)
    if odd is not None and left != there and _odd(diff, left) is None:
        return  # it goes on from the diff before it
    if odd is not None:
        yield RequestWarning("mismatch", f"{name} {odd}")
    elif note := _note(diff, there if _is_in(diff.old_text, there) else left):
        reason, told = note
        yield RequestWarning(reason, f"{name}: {told}")


def _odd(diff: Diff, there: str | None) -> str | None:
    """Return how a file differs from what a diff says of it before the change."""
    old = diff.old_text
    if there is None:
        return "is not there, but the agent shows an old text of it." if old else None
    if not old:
        if not there:
            return None
        if there == diff.new_text:
            return "holds this text already."
        what = "says that it is new" if old is None else "shows it as empty"
        return f"is there already, but the agent {what}: what it holds would be lost."
    if _is_in(old, there) or _is_in(_plain(old), _plain(there)):
        return None
    if diff.new_text and _is_in(_plain(diff.new_text), _plain(there)):
        return "holds the new text already: it was changed before this was asked."
    return "does not hold the old text that the agent shows: another one may be lost."


def _note(diff: Diff, there: str | None) -> tuple[str, str] | None:
    """Return what is worth a word where the old text is right."""
    old = diff.old_text
    if not old or there is None or there == old:
        return None
    if not _is_in(old, there):
        return "line-ends", "the old text is there with other line ends."
    count, line = there.count(old), there.count("\n", 0, there.find(old)) + 1
    if count == 1:
        return ("fragment", f"this is a part of it, from line {line:,} on.") if line > 1 else None
    return "fragment", f"the old text stands there {count:,} times, first in line {line:,}."


def _is_in(text: str | None, there: str | None) -> bool:
    return text is not None and there is not None and text in there


def _plain(text: str) -> str:
    """Return a text without what editors change in passing: line ends, the last newline, a mark."""
    return text.removeprefix(_MARK).replace("\r\n", "\n").removesuffix("\n")


def _with(diff: Diff, text: str | None) -> str | None:
    """Return what a file holds after a diff."""
    if not diff.old_text or text is None:
        return diff.new_text
    return text.replace(diff.old_text, diff.new_text, 1)


def _text_of(path: str, roots: Roots) -> str | None:
    real: Path = files.resolve(path, roots)
    found = files.look(real)
    if found is None:
        return None
    if found.st_size > LIMIT_BYTES:
        raise files.refusal("too_large", f"it is larger than {LIMIT_BYTES // 1024**2} MiB")
    try:
        return str(files.read_text_file({"path": str(real)}, roots)["content"]).removeprefix(_MARK)
    except RequestError as error:
        if as_dict(error.data).get("reason") == "not_found":
            return None
        raise
