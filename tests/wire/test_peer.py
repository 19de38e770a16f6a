from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from acp_jupyter.errors import (
    AcpError,
    AgentExited,
    AgentTimeout,
    AuthenticationRequired,
    ConnectionClosed,
    RequestFailed,
)
from acp_jupyter.wire.peer import RequestError

from .support import Log, MemoryTransport

pytestmark = pytest.mark.unofficial("a peer carries any method")


def update(number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "u", "params": number}


def result(request_id: Any, value: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "result": value}


async def asked(transport: MemoryTransport, log: Log, method: str = "m") -> tuple[asyncio.Task[Any], int]:
    """Send a request and wait until it is on the wire."""
    task = asyncio.create_task(log.peer.request(method, {}, timeout_s=5))
    message = await transport.sent()
    assert message["method"] == method
    return task, message["id"]


@pytest.mark.parametrize(
    "junk",
    [
        pytest.param(b"Migrating db...", id="F02-banner"),
        pytest.param(b'{"jsonrpc', id="bad-json"),
        pytest.param(b"null", id="null"),
        pytest.param(b"42", id="number"),
        pytest.param(b'"s"', id="string"),
        pytest.param(b"[]", id="empty-batch"),
        pytest.param(b"[[]]", id="batch-of-nothing"),
        pytest.param(b"true", id="true"),
        pytest.param(b"{}", id="empty-object"),
        pytest.param(b'{"method":7}', id="method-no-text"),
        pytest.param(b'{"id":[1],"result":1}', id="id-a-list"),
        pytest.param(b'{"id":false,"result":1}', id="id-false"),
        pytest.param(b'{"id":99,"result":1}', id="R-unknown-id"),
        pytest.param(b'{"id":"%b","result":1}' % (b"1" * 5000), id="id-of-5000-digits"),
        pytest.param(b'{"id":1e999,"result":1}', id="id-infinite"),
        pytest.param(b'{"id":null,"error":{"code":-32700,"message":"parse"}}', id="error-for-null"),
        pytest.param(b"\xff\xfe\x00", id="binary"),
        pytest.param(b"[" * 100_000, id="F16-nesting"),
    ],
)
def test_t4_junk_costs_only_itself(junk: bytes) -> None:
    async def main() -> None:
        transport = MemoryTransport()
        log = Log(transport)
        task, request_id = await asked(transport, log)
        transport.give(update(1), junk, b"", update(2), result(request_id, "ok"))
        assert await task == "ok"
        assert log.events == [("u", 1), ("u", 2)]
        assert log.peer.ignored == 1
        assert len(log.peer.noise[-1][1]) <= 2000
        await log.peer.close()

    asyncio.run(main())


@pytest.mark.parametrize("depth", [300, 100_000])
def test_f16_nobody_waits_for_what_is_nested_too_deeply(depth: int) -> None:
    deep = b"[" * depth + b"]" * depth

    async def main() -> None:
        transport = MemoryTransport()
        log = Log(transport)
        task, request_id = await asked(transport, log)
        transport.give(b'{"id":"x","method":"m","params":%b}' % deep)
        transport.give(b'[{"id":7,"method":"m","params":%b},{"method":"n"},{"id":[],"method":"m"}]' % deep)
        answers = [await transport.sent() for _ in range(3)]
        assert [answer["id"] for answer in answers] == ["x", 7, None]
        assert {answer["error"]["code"] for answer in answers} == {-32600}
        assert {answer["error"]["message"] for answer in answers} == {"the request is nested too deeply"}
        transport.give(b'{"id":99,"result":%b}' % deep, b'{"id":%d,"result":%b}' % (request_id, deep))
        with pytest.raises(RequestFailed, match="its answer is nested too deeply"):
            await task
        transport.give(update(1), {"id": "end", "method": "m"})
        assert (await transport.sent())["id"] == "end", (
            "the connection goes on, and nothing is answered twice"
        )
        assert log.events == [("u", 1)]
        assert log.peer.ignored == 4, "one for each line"
        await log.peer.close()

    asyncio.run(main())


def test_t4_a_request_with_an_impossible_id_is_refused() -> None:
    async def main() -> None:
        transport = MemoryTransport()
        log = Log(transport)
        transport.give({"jsonrpc": "2.0", "id": True, "method": "m"})
        answer = await transport.sent()
        assert (answer["id"], answer["error"]["code"]) == (None, -32600)
        assert log.peer.ignored == 1
        await log.peer.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("answer", "code", "reason"),
    [
        pytest.param({"error": "boom"}, -32603, "a malformed error: boom", id="T4-string-error"),
        pytest.param({"error": {}}, -32603, "a malformed error: {}", id="T4-empty-error"),
        pytest.param(
            {"error": {"code": "x"}}, -32603, "a malformed error: {'code': 'x'}", id="T4-code-no-number"
        ),
        pytest.param({"error": {"code": 5, "message": None}}, 5, "no message", id="T10-any-code"),
        pytest.param({}, -32603, "its answer has neither result nor error", id="T9-neither"),
        pytest.param({"error": {"code": -32002, "message": "gone"}}, -32002, "gone", id="T10-not-found"),
    ],
)
def test_every_answer_ends_its_request(answer: dict[str, Any], code: int, reason: str) -> None:
    async def main() -> None:
        transport = MemoryTransport()
        log = Log(transport)
        task, request_id = await asked(transport, log)
        transport.give({"jsonrpc": "2.0", "id": request_id, **answer})
        with pytest.raises(RequestFailed) as caught:
            await task
        assert (caught.value.code, caught.value.reason) == (code, reason)
        await log.peer.close()

    asyncio.run(main())


def test_t10_the_code_for_log_in_and_the_data_are_kept() -> None:
    async def main() -> None:
        transport = MemoryTransport()
        log = Log(transport)
        task, request_id = await asked(transport, log)
        error = {"code": -32000, "message": "log in", "data": {"why": 1}}
        transport.give({"jsonrpc": "2.0", "id": request_id, "error": error})
        with pytest.raises(AuthenticationRequired) as caught:
            await task
        assert caught.value.data == {"why": 1}
        await log.peer.close()

    asyncio.run(main())


def test_f17_ids_sent_back_as_text_are_matched() -> None:
    async def main() -> None:
        transport = MemoryTransport()
        log = Log(transport)
        task, request_id = await asked(transport, log)
        transport.give(result(str(request_id), "ok"), result(request_id, "again"), update(1))
        assert await task == "ok"
        await log.seen(1)
        assert log.peer.ignored == 1
        await log.peer.close()

    asyncio.run(main())


def test_t4_true_is_not_request_one() -> None:
    async def main() -> None:
        transport = MemoryTransport()
        log = Log(transport)
        first, _ = await asked(transport, log)
        second, second_id = await asked(transport, log)
        assert second_id == 1
        transport.give({"jsonrpc": "2.0", "id": True, "result": "wrong"}, result(1, "right"), result(0))
        assert await second == "right"
        await first
        await log.peer.close()

    asyncio.run(main())


def test_t6_and_f13_updates_and_responses_keep_their_order() -> None:
    async def main() -> None:
        transport = MemoryTransport()
        log = Log(transport)
        asking = log.peer.request(
            "m", {}, timeout_s=5, on_response=lambda message: log.events.append(message["result"])
        )
        task = asyncio.create_task(asking)
        request_id = (await transport.sent())["id"]
        transport.give(*(update(i) for i in range(300)), result(request_id, "end"), update(300))
        await task
        await log.seen(302)
        assert log.events == [*(("u", i) for i in range(300)), "end", ("u", 300)]
        await log.peer.close()

    asyncio.run(main())


def test_f12_a_batch_is_handled_item_by_item() -> None:
    async def main() -> None:
        transport = MemoryTransport()
        log = Log(transport)
        task, request_id = await asked(transport, log)
        transport.give([update(1), 42, update(2), result(request_id, "ok")])
        assert await task == "ok"
        assert log.events == [("u", 1), ("u", 2)]
        assert log.peer.ignored == 1
        await log.peer.close()

    asyncio.run(main())


def test_a_flood_lets_others_run() -> None:
    async def main() -> None:
        transport = MemoryTransport()
        log = Log(transport)
        transport.give(*(update(i) for i in range(20_000)))
        between = 0
        while len(log.events) < 20_000:
            await asyncio.sleep(0)
            between += 1
        assert between > 3
        await log.peer.close()

    asyncio.run(main())


def test_a_handler_that_fails_costs_one_message(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        transport = MemoryTransport()
        log = Log(transport)

        def fail(_message: Any) -> None:
            raise LookupError("ours")

        asking = log.peer.request("m", {}, timeout_s=5, on_response=fail)
        task = asyncio.create_task(asking)
        transport.give(result((await transport.sent())["id"], "ok"), update(1))
        assert await task == "ok"
        assert await log.seen(1) == [("u", 1)]
        await log.peer.close()

    with caplog.at_level(logging.ERROR):
        asyncio.run(main())
    assert "ours" in caplog.text


@pytest.mark.parametrize("request_id", [0, 7, "3f-uuid", "0", None, 1.5])
def test_t11_and_f18_the_agents_id_comes_back_unchanged(request_id: Any) -> None:
    async def main() -> None:
        async def answer(method: str, params: Any) -> Any:
            return [method, params]

        transport = MemoryTransport()
        log = Log(transport, answer)
        transport.give({"jsonrpc": "2.0", "id": request_id, "method": "m", "params": {"a": 1}})
        message = await transport.sent()
        assert message == {"jsonrpc": "2.0", "id": request_id, "result": ["m", {"a": 1}]}
        assert type(message["id"]) is type(request_id)
        await log.peer.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (
            RequestError(-32002, "gone", {"path": "/x"}),
            {"code": -32002, "message": "gone", "data": {"path": "/x"}},
        ),
        (RequestError(-32602, "bad"), {"code": -32602, "message": "bad"}),
        (LookupError("ours"), {"code": -32603, "message": "ours"}),
        (LookupError(), {"code": -32603, "message": "LookupError"}),
    ],
)
def test_t10_a_handlers_error_is_the_answer(raised: Exception, error: dict[str, Any]) -> None:
    async def main() -> None:
        async def answer(_method: str, _params: Any) -> Any:
            raise raised

        transport = MemoryTransport()
        log = Log(transport, answer)
        transport.give({"jsonrpc": "2.0", "id": 1, "method": "m"})
        assert (await transport.sent())["error"] == error
        await log.peer.close()

    asyncio.run(main())


def test_t10_an_answer_that_is_no_json_becomes_an_error() -> None:
    async def main() -> None:
        async def answer(_method: str, _params: Any) -> Any:
            return {"v": object()}

        transport = MemoryTransport()
        log = Log(transport, answer)
        transport.give({"jsonrpc": "2.0", "id": 1, "method": "m"})
        assert (await transport.sent())["error"]["code"] == -32603
        await log.peer.close()

    asyncio.run(main())


def test_t6_a_request_begins_before_what_arrived_after_it() -> None:
    async def main() -> None:
        events: list[Any] = []

        async def answer(_method: str, params: Any) -> Any:
            events.append(log.events.copy())
            return params

        transport = MemoryTransport()
        log = Log(transport, answer)
        request = {"jsonrpc": "2.0", "id": 5, "method": "m"}
        transport.give(update(1), request, update(2), [update(3), request, update(4)])
        await log.seen(4)
        assert events == [[("u", 1)], [("u", 1), ("u", 2), ("u", 3)]]
        await log.peer.close()

    asyncio.run(main())


@pytest.mark.parametrize("request_id", [b"NaN", b"Infinity", b"true", b"[1]", b'{"a":1}'])
def test_t11_an_id_that_cannot_come_back_is_refused(request_id: bytes) -> None:
    async def main() -> None:
        transport = MemoryTransport()
        log = Log(transport)
        transport.give(b'{"jsonrpc":"2.0","id":%b,"method":"m"}' % request_id, update(1))
        message = await transport.sent()
        assert (message["id"], message["error"]["code"]) == (None, -32600)
        await log.seen(1)
        assert transport.nothing_more_sent()
        await log.peer.close()

    asyncio.run(main())


def test_c12_a_second_withdrawal_breaks_nothing_off() -> None:
    async def main() -> None:
        tidied = asyncio.Event()

        async def answer(_method: str, _params: Any) -> Any:
            try:
                await asyncio.Event().wait()
            finally:
                await tidied.wait()

        transport = MemoryTransport()
        log = Log(transport, answer)
        cancel = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 3}}
        transport.give({"jsonrpc": "2.0", "id": 3, "method": "m"}, cancel, cancel, update(1))
        await log.seen(1)
        assert transport.nothing_more_sent()
        tidied.set()
        assert (await transport.sent())["error"]["code"] == -32800
        await log.peer.close()

    asyncio.run(main())


def test_p2_and_a14_a_withdrawn_request_is_answered_once() -> None:
    async def main() -> None:
        async def answer(method: str, _params: Any) -> Any:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if method == "stubborn":
                    return {"outcome": "cancelled"}
                raise

        transport = MemoryTransport()
        log = Log(transport, answer)
        cancel = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "p1"}}
        for method in ("plain", "stubborn"):
            transport.give({"jsonrpc": "2.0", "id": "p1", "method": method}, cancel, cancel)
            message = await transport.sent()
            assert message["id"] == "p1"
            if method == "plain":
                assert message["error"]["code"] == -32800
            else:
                assert message["result"] == {"outcome": "cancelled"}
        transport.give(cancel, {"method": "$/cancel_request", "params": None}, update(1))
        await log.seen(1)
        assert transport.nothing_more_sent()
        await log.peer.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("method", "withdrawn"), [("session/new", True), ("session/prompt", False), ("initialize", False)]
)
def test_a14_giving_up_withdraws_the_request(method: str, *, withdrawn: bool) -> None:
    async def main() -> None:
        transport = MemoryTransport()
        log = Log(transport)
        cancelled, first_id = await asked(transport, log, method)
        cancelled.cancel()
        await asyncio.wait((cancelled,))
        assert cancelled.cancelled()
        with pytest.raises(AgentTimeout, match=rf"did not answer {method} within 0.01 s"):
            await log.peer.request(method, {}, timeout_s=0.01)
        await log.peer.close()
        sent = [await transport.sent() for _ in range(3 if withdrawn else 1)]
        given_up = [
            message["params"]["requestId"] for message in sent if message["method"] == "$/cancel_request"
        ]
        assert given_up == ([first_id, first_id + 1] if withdrawn else [])
        assert transport.nothing_more_sent()

    asyncio.run(main())


def test_a14_the_answer_to_a_withdrawn_request_is_no_fault_of_the_agents() -> None:
    async def main() -> None:
        transport = MemoryTransport()
        log = Log(transport)
        task, request_id = await asked(transport, log)
        task.cancel()
        await asyncio.wait([task])
        error = {"jsonrpc": "2.0", "id": request_id, "error": {"code": -32800, "message": "cancelled"}}
        transport.give(error, update(1), error, update(2))
        await log.seen(2)
        assert log.peer.ignored == 1  # the second one
        await log.peer.close()

    asyncio.run(main())


def test_i7_a_late_answer_is_ignored() -> None:
    async def main() -> None:
        transport = MemoryTransport()
        log = Log(transport)
        with pytest.raises(AgentTimeout):
            await log.peer.request("initialize", {}, timeout_s=0.01)
        transport.give(result((await transport.sent())["id"]), update(1))
        await log.seen(1)
        assert log.peer.ignored == 1
        await log.peer.close()

    asyncio.run(main())


def test_t7_the_end_fails_requests_and_cancels_handlers() -> None:
    async def main() -> None:
        cancelled = asyncio.Event()
        reasons: list[AcpError] = []

        async def answer(_method: str, _params: Any) -> Any:
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        transport = MemoryTransport()
        log = Log(transport, answer, on_closed=reasons.append)
        first, _ = await asked(transport, log)
        second, _ = await asked(transport, log)
        transport.give({"jsonrpc": "2.0", "id": 1, "method": "m"})
        transport.end()
        for task in (first, second):
            with pytest.raises(AgentExited):
                await task
        await asyncio.wait_for(cancelled.wait(), 5)
        await log.peer.wait_closed()
        with pytest.raises(AgentExited):
            await log.peer.request("m", {}, timeout_s=5)
        await log.peer.close()
        assert [type(reason) for reason in reasons] == [AgentExited]
        assert transport.nothing_more_sent()

    asyncio.run(main())


def test_closing_sends_what_waits_and_fails_the_rest() -> None:
    async def main() -> None:
        reasons: list[AcpError] = []
        transport = MemoryTransport()
        log = Log(transport, on_closed=reasons.append)
        task, _ = await asked(transport, log)
        log.peer.notify("session/cancel", {})
        await log.peer.close()
        await log.peer.close()
        assert (await transport.sent())["method"] == "session/cancel"
        with pytest.raises(ConnectionClosed):
            await task
        assert [type(reason) for reason in reasons] == [ConnectionClosed]

    asyncio.run(main())


def test_f20_a_request_that_cannot_be_delivered_says_so() -> None:
    async def main() -> None:
        transport = MemoryTransport()
        transport.broken = True
        log = Log(transport)
        with pytest.raises(AgentExited, match="session/prompt was not delivered"):
            await log.peer.request("session/prompt", {}, timeout_s=None)
        await log.peer.close()

    asyncio.run(main())


def test_the_log_sees_both_ways_and_may_fail(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> list[str]:
        seen: list[str] = []

        def on_frame(direction: str, _line: bytes, message: Any) -> None:
            seen.append(f"{direction} {message.get('method', 'answer')}")
            raise LookupError("the log's own fault")

        transport = MemoryTransport()
        log = Log(transport, on_frame=on_frame)
        task, request_id = await asked(transport, log)
        transport.give(update(1), result(request_id, "ok"))
        assert await task == "ok"
        assert log.events == [("u", 1)]
        await log.peer.close()
        return seen

    with caplog.at_level(logging.CRITICAL):
        assert asyncio.run(main()) == ["out m", "in u", "in answer"]
