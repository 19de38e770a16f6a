"""What the agent asks the person for: the values of a form, or to open an address.

See https://agentclientprotocol.com/protocol/elicitation.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from acp_jupyter.model.address import Address, address_of
from acp_jupyter.model.content import as_dict, as_text
from acp_jupyter.model.form import Form, form_of, rules
from acp_jupyter.model.text import json_text

if TYPE_CHECKING:
    from acp_jupyter.model.form import Field

NOT_SAVED = "[not saved]"
_KEYS = (
    "key mode message url elicitation_id tool_call_id state decided_by reason opened_at decided_at completed"
).split()


@dataclass(slots=True)
class Elicitation:
    """A request for values (``mode`` is ``form``) or for a visit to an address (``url``).

    ``state`` is ``open``, ``accepted``, ``declined`` or ``cancelled``; ``decided_by`` is ``you``, ``nobody``
    (nobody could be asked), ``turn`` or ``agent``; ``reason`` a sentence beyond that. To accept an address is
    to consent to it; ``completed`` once the agent says that what was to be done there is done. ``schema`` is
    the form as it came, ``content`` the values that were sent, ``faults`` what was wrong with the values that
    were tried last.
    """

    key: str
    mode: str
    message: str
    schema: dict[str, Any] | None = field(default=None, repr=False)  # it may propose a secret
    url: str | None = None
    elicitation_id: str | None = None
    tool_call_id: str | None = None
    state: str = "open"
    content: dict[str, Any] | None = field(default=None, repr=False)
    faults: dict[str, str] = field(default_factory=dict[str, str])
    decided_by: str | None = None
    reason: str | None = None
    opened_at: float | None = None
    decided_at: float | None = None
    completed: bool = False

    @property
    def form(self) -> Form:
        """The fields that it asks for."""
        return form_of(self.schema)

    @property
    def address(self) -> Address | None:
        """The address in its pieces."""
        return None if self.url is None else address_of(self.url)


def elicitation_of(key: str, request: dict[str, Any], at: float) -> Elicitation:
    """Return what ``elicitation/create`` asks; ``key`` is our name for it."""
    schema = request.get("requestedSchema")
    return Elicitation(
        key,
        as_text(request.get("mode")) or "",
        as_text(request.get("message")) or "",
        as_dict(schema) if isinstance(schema, dict) else None,
        as_text(request.get("url")),
        as_text(request.get("elicitationId")),
        as_text(request.get("toolCallId")),
        opened_at=at,
    )


# --- to and from JSON


def elicitation_json(node: Elicitation) -> dict[str, Any]:
    """Return the node of a document: without the values of fields that look secret, and their defaults."""
    form, address = node.form, node.address
    return {
        **{key: getattr(node, key) for key in _KEYS},
        "schema": None if node.schema is None else json_text(_without_secrets(node.schema, form)),
        "title": form.title,
        "description": form.description,
        "fields": [_field_json(field) for field in form.fields],
        "address": None if address is None else {**address._asdict(), "warnings": list(address.warnings)},
        "faults": dict(node.faults),
        "content": None if node.content is None else json_text(shown_content(node)),
    }


def shown_content(node: Elicitation) -> dict[str, Any]:
    """Return the values that were sent, those of fields that look secret left out."""
    secret = {field.name for field in node.form.fields if field.secret}
    return {key: NOT_SAVED if key in secret else value for key, value in (node.content or {}).items()}


def secrets_sent(node: Elicitation) -> list[str]:
    """Return the texts that were sent for fields that look secret: they are to be kept nowhere."""
    secret = {field.name for field in node.form.fields if field.secret}
    return [v for key, v in (node.content or {}).items() if key in secret and isinstance(v, str)]


def _field_json(field: Field) -> dict[str, Any]:
    hidden = field.secret or field.default is None
    more = {"default": None if hidden else json_text(field.default), "secret": field.secret}
    choices = [choice._asdict() for choice in field.choices]
    return {**asdict(field), "choices": choices, "rules": rules(field), **more}


def _without_secrets(schema: dict[str, Any], form: Form) -> dict[str, Any]:
    properties = dict(as_dict(schema.get("properties")))
    for field_ in form.fields:
        given = as_dict(properties.get(field_.name))
        if field_.secret and "default" in given:
            properties[field_.name] = {key: value for key, value in given.items() if key != "default"}
    return {**schema, "properties": properties} if properties else schema


def elicitation_from_json(node: dict[str, Any]) -> Elicitation:
    """Return the elicitation of a document's node."""
    schema, content = (
        None if node[key] is None else as_dict(json.loads(node[key])) for key in ("schema", "content")
    )
    return Elicitation(
        **{key: node[key] for key in _KEYS}, schema=schema, content=content, faults=node["faults"]
    )
