"""What a user has set for every turn, in the environment: ``ACP_JUPYTER_POLICY`` and ``ACP_JUPYTER_ASK``."""

from __future__ import annotations

import os
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from acp_jupyter.errors import UsageError
from acp_jupyter.session.policy import check_policy

PREFIX = "ACP_JUPYTER_"

Ask = Literal["auto", "buttons", "text"]


class Settings(BaseModel):
    """The settings of this process.

    ``policy`` answers the permission requests of turns that name none. ``ask`` says where a person is asked:
    ``buttons`` on the card, ``text`` by ``input()``, ``auto`` on the card where one works.
    """

    model_config = ConfigDict(frozen=True)

    policy: str = "ask"
    ask: Ask = "auto"

    @field_validator("policy")
    @classmethod
    def _is_one(cls, name: str) -> str:
        try:
            return check_policy(name)
        except UsageError as error:
            raise ValueError(str(error)) from None


def settings() -> Settings:
    """Read the settings as they are now.

    Raises:
        UsageError: A variable holds what it cannot; the message names it.
    """
    names = {name: PREFIX + name.upper() for name in Settings.model_fields}
    given = {name: os.environ[variable] for name, variable in names.items() if os.environ.get(variable)}
    try:
        return Settings.model_validate(given)
    except ValidationError as error:
        problems = "; ".join(f"{names[str(one['loc'][0])]}: {one['msg']}" for one in error.errors())
        raise UsageError(
            f"the environment holds a wrong setting: {problems}", advice="Correct the variable, or unset it."
        ) from None
