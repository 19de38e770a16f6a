"""What a user may choose of what an agent offers: its mode, its model, its other options.

See https://agentclientprotocol.com/protocol/session-config-options. Where an agent offers options, they stand
for its modes too; its older ways (``modes``, ``models``) are used where it offers nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from acp_jupyter.errors import UsageError
from acp_jupyter.model.content import as_dict, as_list, as_text
from acp_jupyter.model.state import LEGACY_MODEL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acp_jupyter.model.state import SessionState

_BOOLEANS = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}


class Choices(NamedTuple):
    """What is to be in force before a prompt: a mode, a model, options by id; each by its id or its name."""

    mode: str | None = None
    model: str | None = None
    options: Mapping[str, Any] = {}

    def __bool__(self) -> bool:
        return bool(self.mode or self.model or self.options)


class Setting(NamedTuple):
    """One choice as the agent knows it: an option and its value, or a mode, with ``option_id`` ``None``."""

    option_id: str | None
    value: Any


def settings_of(state: SessionState, choices: Choices) -> list[Setting]:
    """Return what is to be asked of the agent: options, then the model, then the mode.

    Raises:
        UsageError: It offers no such thing; the advice says what it offers.
    """
    settings = [option_setting(state, option_id, value) for option_id, value in choices.options.items()]
    settings += [model_setting(state, choices.model)] if choices.model else []
    settings += [mode_setting(state, choices.mode)] if choices.mode else []
    return settings


def again(state: SessionState, setting: Setting) -> Setting | None:
    """Return what sets a choice of before again, in a session that was just opened; ``None`` where it holds.

    Raises:
        UsageError: The agent offers it no longer.
    """
    option_id, value = setting
    told = state.modes or state.config_options if option_id is None else state.config_options
    if told and option_id is None:
        setting = mode_setting(state, value)
    elif told and option_id != LEGACY_MODEL:
        setting = option_setting(state, str(option_id), value)
    # where the agent lists nothing this time, it is asked all the same
    return None if current_value(state, setting.option_id) == setting.value else setting


def is_mode(state: SessionState, option_id: str | None) -> bool:
    """Whether an option says what the agent may do: its mode, or what stands for it."""
    option = _of_category(state, "mode")
    return option_id is None or (option is not None and option.get("id") == option_id)


def check_taken(state: SessionState, setting: Setting, before: Any) -> None:
    """See that the list with which the agent has answered has the value that it was given.

    Args:
        state: As the answer left it.
        setting: What was asked for.
        before: The value before. Another one than either is the agent's own word for it, but for a mode.

    Raises:
        UsageError: The agent did not take it.
    """
    now = current_value(state, setting.option_id)
    if now == setting.value or (now != before and not is_mode(state, setting.option_id)):
        return
    option = _option(state, setting.option_id)
    name = (option and option.get("name")) or setting.option_id
    raise UsageError(
        f"the agent did not take {name} = {setting.value}: it answered that it is {now}",
        advice="%acp set lists what it offers.",
    )


def no_such_model(model: str) -> UsageError:
    """Return the error for an agent that has no models at all."""
    return UsageError(f"the agent has no model {model!r}", advice="It lets no model be chosen.")


def current_value(state: SessionState, option_id: str | None) -> Any:
    """Return the value that an option has now, or the mode's id; ``None`` where the agent has not told it."""
    if option_id is None:
        return state.mode_id
    option = _option(state, option_id)
    return option and option.get("currentValue")


def mode_setting(state: SessionState, mode: str) -> Setting:
    """Return the setting that makes ``mode`` the current one.

    Raises:
        UsageError: The agent has no such mode.
    """
    option = _of_category(state, "mode")
    if option is not None:
        return Setting(str(option["id"]), _value(option, mode, "mode"))
    return Setting(None, _named(state.modes, mode, "mode"))


def model_setting(state: SessionState, model: str) -> Setting:
    """Return the setting that makes ``model`` the current one.

    Raises:
        UsageError: The agent has no such model.
    """
    option = _of_category(state, "model")
    if option is None:  # an older agent may take one that it does not list
        return Setting(LEGACY_MODEL, model)
    return Setting(str(option["id"]), _value(option, model, "model"))


def option_setting(state: SessionState, option_id: str, value: Any) -> Setting:
    """Return the setting that gives an option, by its id or its name, a value.

    Raises:
        UsageError: The agent has no such option, or the option no such value.
    """
    known = {
        str(option.get("id")): str(option.get("name") or option.get("id")) for option in state.config_options
    }
    found = _named(known, option_id, "option")
    option = next(option for option in state.config_options if str(option.get("id")) == found)
    return Setting(found, _value(option, value, known[found]))


def offered(option: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of a select, grouped or not, in the agent's order: value to name."""
    values: dict[str, str] = {}
    for entry in map(as_dict, as_list(option.get("options"))):
        if "value" in entry:
            values[str(entry["value"])] = str(entry.get("name") or entry["value"])
        else:
            values |= offered(entry)
    return values


_OFFERED = 300


def offers(state: SessionState) -> list[dict[str, Any]]:
    """Return what a card may offer: ``{option_id, name, category, value, groups}``, the mode first.

    ``option_id`` is ``None`` for a mode that is no option; ``groups`` is ``[{name, values}]`` with ``values``
    as ``[{value, name}]``. What has more than 300 values, or none besides the current one, is left out.
    """
    modes = [{"value": key, "name": name} for key, name in state.modes.items()]
    mode: dict[str, Any] = {"option_id": None, "name": "Mode", "category": "mode", "value": state.mode_id}
    found: list[dict[str, Any]] = (
        [] if _of_category(state, "mode") or not modes else [{**mode, "groups": [_group(None, modes)]}]
    )
    for option in state.config_options:
        boolean = isinstance(option.get("currentValue"), bool)
        groups = [_group(None, [_ON, _OFF])] if boolean else _groups(option)
        value = ("on" if option["currentValue"] else "off") if boolean else option.get("currentValue")
        found.append(
            {
                "option_id": str(option.get("id", "")),
                "name": str(option.get("name") or option.get("id") or ""),
                "category": as_text(option.get("category")),
                "value": value if isinstance(value, str) else None,
                "groups": groups,
            }
        )
    return [one for one in found if 1 < sum(len(group["values"]) for group in one["groups"]) <= _OFFERED]


_ON, _OFF = {"value": "on", "name": "on"}, {"value": "off", "name": "off"}


def _groups(option: Mapping[str, Any]) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = []
    for entry in map(as_dict, as_list(option.get("options"))):
        listed = "value" not in entry
        values = offered({"options": [entry]})
        group = _group(as_text(entry.get("name")) if listed else None, [])
        if listed or not groups or groups[-1]["name"] is not None:
            groups.append(group)
        groups[-1]["values"] += [{"value": value, "name": name} for value, name in values.items()]
    return groups


def _group(name: str | None, values: list[dict[str, Any]]) -> dict[str, Any]:
    return {"name": name, "values": values}


def _option(state: SessionState, option_id: str | None) -> dict[str, Any] | None:
    return next((option for option in state.config_options if option.get("id") == option_id), None)


def _of_category(state: SessionState, category: str) -> dict[str, Any] | None:
    return next((option for option in state.config_options if option.get("category") == category), None)


def _value(option: dict[str, Any], wanted: Any, what: str) -> Any:
    if option.get("type") == "boolean" or isinstance(option.get("currentValue"), bool):
        value = _BOOLEANS.get(str(wanted).lower())
        if value is None:
            raise UsageError(f"{what} cannot be {wanted!r}", advice="It is on or off.")
        return value
    return _named(offered(option), str(wanted), what)


def _named(known: Mapping[str, str], wanted: str, what: str) -> str:
    """Return the id that ``wanted`` is, or that has it for a name."""
    if wanted in known:
        return wanted
    found = [one for one, name in known.items() if name.lower() == wanted.lower()]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(f"{one} ({name})" if name != one else one for one, name in known.items())
    raise UsageError(
        f"the agent has no {what} {wanted!r}",
        advice=f"It has: {listed}." if listed else f"It lets no {what} be chosen.",
    )
