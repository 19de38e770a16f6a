"""A wait with a limit, and the cancellation that must never be lost in it."""

from __future__ import annotations

import asyncio

import pytest

from acp_jupyter.wire.waiting import within


def test_it_says_whether_the_end_came_in_time() -> None:
    async def main() -> None:
        event = asyncio.Event()
        assert not await within(0.01, event.wait())
        event.set()
        assert await within(5, event.wait())

    asyncio.run(main())


@pytest.mark.parametrize("steps", range(5))
def test_a_cancellation_in_the_moment_of_the_end_is_not_swallowed(steps: int) -> None:
    async def main() -> None:
        event = asyncio.Event()
        waiting = asyncio.create_task(within(5, event.wait()))
        for _ in range(3):
            await asyncio.sleep(0)
        event.set()
        for _ in range(steps):
            await asyncio.sleep(0)
        if waiting.cancel():  # it was still waiting: then it must not end as if nothing had been
            with pytest.raises(asyncio.CancelledError):
                await waiting

    asyncio.run(main())
