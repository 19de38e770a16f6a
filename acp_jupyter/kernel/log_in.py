"""A log-in from a cell: what the agent asks for meanwhile is asked by text.

See https://agentclientprotocol.com/protocol/elicitation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_jupyter.kernel.ask import elicit_all
from acp_jupyter.kernel.pump import waiter

if TYPE_CHECKING:
    from acp_jupyter.session.session import Session


def log_in(session: Session, method_id: str) -> None:
    """Log in and wait for it; an interrupt gives it up.

    Raises:
        UsageError: No such method, or one that runs in a terminal.
        RequestFailed: The agent refuses.
    """
    future = session.start_login(method_id)
    pump = waiter()
    future.add_done_callback(lambda _done: pump.wake())
    try:
        with pump:
            pump.wait(future.done, on_tick=lambda: elicit_all(session))
    except BaseException:
        future.cancel()  # nobody waits for it any more
        raise
    future.result()
