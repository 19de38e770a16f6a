"""What the agent asks a person for, as text and as HTML: a form, an address, and what was answered.

See https://agentclientprotocol.com/protocol/elicitation. No address becomes a link, in no field: JupyterLab
makes one of whatever looks like it in a text, so addresses are set apart after their ``://``.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from acp_jupyter.model.elicitation import NOT_SAVED, shown_content
from acp_jupyter.model.form import rules
from acp_jupyter.views import look, words
from acp_jupyter.views.look import AMBER, BLUE, GREEN, QUIET, RED, element

if TYPE_CHECKING:
    from acp_jupyter.model.address import Address
    from acp_jupyter.model.elicitation import Elicitation
    from acp_jupyter.model.form import Field
    from acp_jupyter.model.turn import Turn

_INDENT = "    "
_LINKED = re.compile(r"(://|\bwww\.)(?=\S)", re.IGNORECASE)
_COLOURS = {"open": AMBER, "accepted": GREEN, "declined": RED, "cancelled": RED}
_MESSAGE_LIMIT = 20_000


def question_text(agent: str, node: Elicitation) -> str:
    """Return who asks for what, with the address in full, but not the fields."""
    return "\n".join(_question(agent, node))


def field_text(field: Field) -> str:
    """Return a field as a question: its name, what it is for, what it may be, its default."""
    about = [unlinked(words.prose(field.description))] if field.description else []
    rule = unlinked(words.visible(", ".join(rules(field))))
    lines = [f"{_label(field)} ({rule})", *about]
    lines += [
        f"  {number}. {_choice(choice.title, choice.value, choice.description)}"
        for number, choice in enumerate(field.choices, 1)
    ]
    return "\n".join(_hang(line) for line in lines)


def elicitation_text(turn: Turn, node: Elicitation) -> str:
    """Return what was asked and what was answered."""
    lines = _question(words.agent(turn), node)
    if node.state == "open":
        for field in node.form.fields:
            lines += [_INDENT + line for line in ("- " + field_text(field)).split("\n")]
            lines += [f"{_INDENT}  default: {value_text(field.default)}"] if _has_default(field) else []
            fault = node.faults.get(field.name)
            lines += [f"{_INDENT}  ! {_hang(unlinked(words.visible(fault)))}"] if fault else []
    lines.append(_INDENT + decision(node))
    lines += [f"{_INDENT}  {label}: {_hang(value)}" for label, value in answers(node)]
    return "\n".join(lines)


def _question(agent: str, node: Elicitation) -> list[str]:
    lines = [f"▸ {_hang(_asks(agent, node))}"]
    lines += [_INDENT + _hang(told) for told in _told(node)]
    address = node.address
    if node.mode == "url":
        lines.append(_INDENT + "address: " + _hang(_address_text(node, address)))
        lines += (
            [f"{_INDENT}warning: {_hang(words.visible(one))}" for one in address.warnings] if address else []
        )
    return lines


def _asks(agent: str, node: Elicitation) -> str:
    what = {"form": "asks for values", "url": "asks you to open an address"}.get(node.mode, "asks")
    return f"{agent} {what}"


def _told(node: Elicitation) -> list[str]:
    """Return the agent's own words: its message, the form's title and description."""
    form = node.form
    told = [node.message, form.title or "", form.description or ""]
    return [unlinked(words.cut(words.prose(one), _MESSAGE_LIMIT)) for one in told if one]


def _address_text(node: Elicitation, address: Address | None) -> str:
    if address is None:
        return unlinked(words.visible(node.url or ""))
    before, host, after = (words.visible(part) for part in address[:3])
    return f"{before} «{host}» {unlinked(after)}".rstrip()


def unlinked(text: str) -> str:
    """Return ``text`` such that nothing makes a link of what looks like an address in it."""
    return _LINKED.sub(r"\1 ", text)


def _label(field: Field) -> str:
    named = f" [{words.visible(field.name)}]" if field.title and field.title != field.name else ""
    return unlinked(words.visible(field.label)) + named


def _choice(title: str, value: str, description: str | None) -> str:
    shown = title if title == value else f"{title} [{value}]"
    return unlinked(words.visible(f"{shown}: {description}" if description else shown))


def _has_default(field: Field) -> bool:
    return field.default is not None and not field.secret


def value_text(value: Any) -> str:
    """Return a value as a person reads it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(value_text, value)) or "none"  # pyright: ignore[reportUnknownArgumentType]  # any JSON
    return unlinked(words.exact(str(value)))


def answers(node: Elicitation) -> list[tuple[str, str]]:
    """Return the values that were sent, each with its field's name; what looks secret is not told."""
    labels = {field.name: _label(field) for field in node.form.fields}
    return [
        (labels.get(name) or words.visible(name), NOT_SAVED if value == NOT_SAVED else value_text(value))
        for name, value in shown_content(node).items()
    ]


def decision(node: Elicitation) -> str:
    """Return what became of it, who decided it and when; while it is open, that it waits."""
    when, by = words.clock(node.decided_at), words.visible(node.decided_by or "?")
    reason = f" · {words.visible(node.reason)}" if node.reason else ""
    if node.state == "open":
        return "Waiting for your answer"
    if node.state == "accepted" and node.mode == "url":
        done = "; the agent says that it is done" if node.completed else ""
        return f"Agreed to open it, by {by}{when}{reason}{done}"
    if node.state == "accepted":
        return f"Sent by {by}{when}{reason}"
    if node.state == "declined":
        who = "nobody could be asked" if node.decided_by == "nobody" else f"by {by}"
        return f"Declined: {who}{when}{reason}"
    why = {"turn": "the turn was over", "agent": "the agent withdrew it", "you": "by you"}
    return f"Cancelled: {why.get(node.decided_by or '', by)}{when}{reason}"


# --- HTML


def elicitation_html(turn: Turn, node: Elicitation) -> str:
    """Return what was asked and what was answered; nothing in it can be clicked."""
    rows = [element("strong", escape(_asks(words.agent(turn), node)))]
    rows += [
        element("div", escape(told), "white-space:pre-wrap;overflow-wrap:anywhere") for told in _told(node)
    ]
    rows += [_address_html(node)] if node.mode == "url" else []
    if node.state == "open":
        rows += [_field_html(field, node.faults.get(field.name)) for field in node.form.fields]
    rows.append(element("div", escape(decision(node))))
    values = [element("li", f"{escape(label)}: {look.code(value)}") for label, value in answers(node)]
    rows += [element("ul", "".join(values), "margin:4px 0")] if values else []
    return element("div", look.banner("".join(rows), _COLOURS.get(node.state, BLUE)), name="acp-elicitation")


def _address_html(node: Elicitation) -> str:
    address = node.address
    if address is None:
        return element("div", look.code(words.visible(node.url or "")))
    before, host, after = (escape(words.visible(part)) for part in address[:3])
    style = "font-family:monospace;white-space:pre-wrap;overflow-wrap:anywhere"
    whole = element("div", f"{before}{element('strong', host, 'font-size:1.15em')}{after}", style)
    warnings = [look.banner(escape(words.visible(warning)), RED) for warning in address.warnings]
    return whole + "".join(warnings)


def _field_html(field: Field, fault: str | None) -> str:
    default = f" · default: {value_text(field.default)}" if _has_default(field) else ""
    told = escape(field_text(field) + default)
    wrong = look.coloured(f"<br>{look.text(fault)}", RED) if fault else ""
    return element("div", told + wrong, f"{QUIET};white-space:pre-wrap;overflow-wrap:anywhere")


def _hang(text: str) -> str:
    """Indent what follows a first line, so that the agent's words never look like ours."""
    return text.replace("\n", f"\n{_INDENT}| ")
