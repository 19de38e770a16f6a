"""The shell pump in a real kernel: its own release by default, another by ACP_TEST_KERNEL_PYTHON."""

from __future__ import annotations

import itertools
import logging
import signal
import threading
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from acp_jupyter.kernel.interrupts import Interrupts
from acp_jupyter.kernel.pump import PlainWait, ShellPump, follow_front_end_subshell, waiter

from .kernels import Kernel, kernel_python, running_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.notebook

# ipykernel's own class of comm is deprecated, and the only one that the oldest release knows
IN_THE_KERNEL = """
import threading, time, warnings
from acp_jupyter.kernel.interrupts import Interrupts
from acp_jupyter.kernel.pump import PlainWait, ShellPump, follow_front_end_subshell, waiter
from ipykernel import version_info
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from ipykernel.comm import Comm
    comm = Comm(target_name="acp-test")

clicks, order, handler_threads = [], [], []

def on_click(message):
    click = message["content"]["data"]["click"]
    if click == "boom":
        raise RuntimeError("boom")
    handler_threads.append(threading.current_thread())
    clicks.append(click)
    print("clicked", click)

comm.on_msg(on_click)

def pump_for(count, **options):
    with ShellPump.detect() as pump:
        print("waiting", flush=True)
        served = pump.wait(lambda: len(clicks) >= count, timeout_s=20, **options)
    assert served, clicks
"""


class Notebook(Kernel):
    """A kernel with the names above, and a comm that it has opened."""

    comm_id = ""
    release = 0

    def prepare(self) -> None:
        comm_id, release = self.run(IN_THE_KERNEL + "\nprint(comm.comm_id, version_info[0])").split()
        self.comm_id = comm_id
        self.release = int(release)

    def waiting_cell(self, code: str) -> str:
        cell = self.execute(code)
        self.wait_in(cell)
        return cell

    def wait_in(self, cell: str) -> None:
        self.until(lambda: "waiting" in self.printed(cell))

    def click(self, value: object, *, subshell_id: str | None = None) -> str:
        header = {"subshell_id": subshell_id} if subshell_id else None
        return self.send("comm_msg", {"comm_id": self.comm_id, "data": {"click": value}}, header=header)


@pytest.fixture(scope="module")
def one_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    with running_kernel(kernel_python(), tmp_path_factory.mktemp("kernel")) as kernel:
        notebook = Notebook(kernel.manager, kernel.client)
        notebook.prepare()
        yield notebook


@pytest.fixture
def notebook(one_kernel: Notebook) -> Notebook:
    one_kernel.run("clicks.clear(); order.clear(); handler_threads.clear()")
    return one_kernel


@pytest.fixture
def own_notebook(tmp_path: Path) -> Iterator[Notebook]:
    with running_kernel(kernel_python(), tmp_path) as kernel:
        notebook = Notebook(kernel.manager, kernel.client)
        notebook.prepare()
        yield notebook


def test_n01_twenty_of_twenty_clicks_are_served_while_the_cell_blocks(notebook: Notebook) -> None:
    cell = notebook.waiting_cell("pump_for(20)")
    sent = [notebook.click(number) for number in range(20)]
    assert notebook.status(cell) == "ok"
    assert notebook.run("print(clicks == list(range(20)))") == "True\n"
    assert [notebook.states(click) for click in sent] == [["busy", "idle"]] * 20


def test_what_a_handler_prints_lands_in_the_running_cell(notebook: Notebook) -> None:
    cell = notebook.waiting_cell("pump_for(1)\nprint('after')")
    click = notebook.click("once")
    assert notebook.status(cell) == "ok"
    assert notebook.printed(cell) == "waiting\nclicked once\nafter\n"
    assert notebook.printed(click) == ""
    assert notebook.states(cell) == ["busy", "busy", "idle"]  # busy again after the click's own idle


def test_a_handler_that_fails_ends_neither_the_wait_nor_the_states(notebook: Notebook) -> None:
    cell = notebook.waiting_cell("pump_for(1)")
    failing = notebook.click("boom")
    notebook.click("fine")
    assert notebook.status(cell) == "ok"
    assert notebook.states(failing) == ["busy", "idle"]


def test_the_front_end_may_open_a_comm_meanwhile(notebook: Notebook) -> None:
    notebook.run(
        "get_ipython().kernel.comm_manager.register_target('t', lambda comm, _: clicks.append(comm))"
    )
    cell = notebook.waiting_cell("pump_for(1)")
    notebook.send("comm_open", {"comm_id": "opened", "target_name": "t", "data": {}})
    assert notebook.status(cell) == "ok"


def test_n07_queued_cells_run_once_each_and_in_order(notebook: Notebook) -> None:
    cell = notebook.waiting_cell("pump_for(1)\norder.append('pumped')")
    queued = [notebook.execute(f"order.append({number})") for number in range(10)]
    notebook.send("is_complete_request", {"code": "1"})
    last = notebook.execute("print(order)")
    notebook.click("go")
    assert [notebook.status(each) for each in [cell, *queued, last]] == ["ok"] * 12
    assert notebook.printed(last) == f"{['pumped', *range(10)]}\n"
    assert [notebook.times_run(each) for each in queued] == [1] * 10


def test_an_error_aborts_the_queue_and_a_later_cell_runs(notebook: Notebook) -> None:
    cell = notebook.waiting_cell("pump_for(2)\nraise ValueError")
    queued = [notebook.execute(f"order.append({number})") for number in range(5)]
    notebook.click("one")
    notebook.settle()  # answered, and so the cells before it have been read
    queued += [notebook.execute("order.append('late')")]
    notebook.click("two")
    assert notebook.status(cell) == "error"
    assert [notebook.status(each) for each in queued] == ["aborted"] * 6
    notebook.settle()
    assert notebook.run("print(order)") == "[]\n"


def test_an_interrupt_is_prompt_and_the_next_cell_runs(notebook: Notebook) -> None:
    cell = notebook.waiting_cell("pump_for(1)")
    queued = notebook.execute("order.append('queued')")
    notebook.settle()
    began = time.monotonic()
    notebook.manager.interrupt_kernel()
    reply = notebook.reply(cell)
    assert time.monotonic() - began < 2
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    assert notebook.status(queued) == "aborted"
    notebook.settle()
    assert notebook.run("print(order)") == "[]\n"


def test_interrupts_amid_a_flood_of_messages_lose_no_cell(notebook: Notebook) -> None:
    for _ in range(15):
        cell = notebook.waiting_cell("pump_for(10_000)")
        queued: list[str] = []
        for number in range(30):
            notebook.click(number)
            queued.append(notebook.execute("order.append(1)"))
            if number == 15:
                notebook.manager.interrupt_kernel()
        assert notebook.reply(cell)["content"]["ename"] == "KeyboardInterrupt"
        assert {notebook.status(each) for each in queued} <= {"ok", "aborted"}
        notebook.settle()
        assert notebook.run("print('alive')") == "alive\n"


def test_an_interrupt_that_a_handler_swallows_ends_the_wait(notebook: Notebook) -> None:
    notebook.run(
        "def swallow(message):\n"
        "    try:\n"
        "        print('handling', flush=True); threading.Event().wait(20)\n"
        "    except KeyboardInterrupt: clicks.append('swallowed')\n"
        "comm.on_msg(swallow)"
    )
    cell = notebook.waiting_cell("pump_for(1)")
    notebook.click("any")
    notebook.until(lambda: "handling" in notebook.printed(cell))
    notebook.manager.interrupt_kernel()
    reply = notebook.reply(cell)
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    notebook.settle()
    assert notebook.run("comm.on_msg(on_click); print(clicks)") == "['swallowed']\n"


def test_clicks_behind_an_interrupted_handler_are_served_after_the_cell(notebook: Notebook) -> None:
    notebook.run(
        "def handle(message):\n"
        "    click = message['content']['data']['click']\n"
        "    if click == 'slow': threading.Event().wait(0.5)  # the others arrive meanwhile\n"
        "    elif click == 'stuck': print('handling', flush=True); threading.Event().wait(20)\n"
        "    else: clicks.append(click)\n"
        "comm.on_msg(handle)"
    )
    cell = notebook.waiting_cell("pump_for(1)")
    sent = [notebook.click(value) for value in ("slow", "stuck", 1, 2, 3)]
    notebook.until(lambda: "handling" in notebook.printed(cell))
    notebook.manager.interrupt_kernel()
    assert notebook.reply(cell)["content"]["ename"] == "KeyboardInterrupt"
    notebook.until(lambda: all(notebook.idle(click) for click in sent))
    assert notebook.run("comm.on_msg(on_click); print(clicks)") == "[1, 2, 3]\n"


def test_an_interrupt_shows_one_traceback(notebook: Notebook) -> None:
    cell = notebook.waiting_cell("pump_for(1)")
    notebook.manager.interrupt_kernel()
    traceback = "\n".join(notebook.reply(cell)["content"]["traceback"])
    assert "During handling" not in traceback
    notebook.settle()


def test_fifty_rounds_in_a_queue_lose_nothing(notebook: Notebook) -> None:
    rounds = [
        (notebook.execute(f"pump_for({number + 1})"), notebook.execute(f"order.append({number})"))
        for number in range(50)
    ]
    for number, (waiting, _) in enumerate(rounds):
        notebook.wait_in(waiting)
        notebook.click(number)
    assert [notebook.status(each) for pair in rounds for each in pair] == ["ok"] * 100
    assert notebook.run("print(order == list(range(50)) == clicks)") == "True\n"


def test_fifty_rounds_one_by_one_lose_nothing(notebook: Notebook) -> None:
    for number in range(50):
        cell = notebook.waiting_cell(f"pump_for({number + 1})")
        queued = notebook.execute(f"order.append({number})")
        notebook.click(number)
        assert notebook.status(cell) == notebook.status(queued) == "ok"
    assert notebook.run("print(order == list(range(50)) == clicks)") == "True\n"


def test_fifty_rounds_within_a_cell_lose_nothing(notebook: Notebook) -> None:
    cell = notebook.waiting_cell("print('waiting')\nfor n in range(50): pump_for(n + 1)")
    queued = []
    for number in range(50):
        queued.append(notebook.execute(f"order.append({number})"))
        notebook.click(number)
    assert [notebook.status(each) for each in [cell, *queued]] == ["ok"] * 51
    assert notebook.run("print(order == list(range(50)) == clicks)") == "True\n"


def test_a_reloaded_page_is_answered_meanwhile(notebook: Notebook) -> None:
    cell = notebook.waiting_cell("pump_for(1)")
    info = notebook.send("kernel_info_request", {})
    comms = notebook.send("comm_info_request", {"target_name": "acp-test"})
    assert notebook.reply(info)["msg_type"] == "kernel_info_reply"
    assert notebook.reply(comms)["content"]["comms"] == {notebook.comm_id: {"target_name": "acp-test"}}
    assert not notebook.idle(cell)
    notebook.click("go")
    assert notebook.status(cell) == "ok"


def test_clicks_that_came_before_the_waiting_cell_began(notebook: Notebook) -> None:
    slow = notebook.waiting_cell("print('waiting', flush=True)\nthreading.Event().wait(0.5)")
    # ipykernel 7 may have made tasks of the first two messages behind the cell, which nobody can take back
    served = 5 if notebook.release == 6 else 1
    cell = notebook.execute(f"pump_for({served})")
    sent = [notebook.click(number) for number in range(5)]
    assert notebook.status(slow) == notebook.status(cell) == "ok"
    notebook.until(lambda: all(notebook.idle(click) for click in sent))
    assert notebook.run("print(sorted(clicks))") == "[0, 1, 2, 3, 4]\n"


@pytest.mark.parametrize("name", ["nest_asyncio", "nest_asyncio2"])
def test_n06_a_notebook_that_has_applied_nest_asyncio_works_as_well(
    own_notebook: Notebook, name: str
) -> None:
    own_notebook.run(f"import {name}, asyncio\n{name}.apply()\nasyncio.run(asyncio.sleep(0))")
    for number in range(5):
        cell = own_notebook.waiting_cell(f"pump_for({number + 1})")
        queued = [own_notebook.execute(f"order.append({number})") for _ in range(3)]
        own_notebook.click(number)
        assert [own_notebook.status(each) for each in [cell, *queued]] == ["ok"] * 4
    assert own_notebook.run("print(clicks == list(range(5)), len(order))") == "True 15\n"


def test_n18_a_cell_that_awaits_may_wait_too(notebook: Notebook) -> None:
    cell = notebook.waiting_cell(
        "import asyncio\npump_for(1)\nawait asyncio.sleep(0.01)\nprint('again')\npump_for(2)"
    )
    queued = notebook.execute("order.append('queued')")
    notebook.click("one")
    notebook.until(lambda: "again\nwaiting" in notebook.printed(cell))
    notebook.click("two")
    assert notebook.status(cell) == notebook.status(queued) == "ok"


def test_shutdown_is_answered_while_the_cell_blocks(own_notebook: Notebook) -> None:
    cell = own_notebook.waiting_cell("pump_for(1)")
    assert own_notebook.control("shutdown_request", {"restart": False})["status"] == "ok"
    assert not own_notebook.idle(cell)
    own_notebook.click("go")
    own_notebook.until(lambda: own_notebook.idle(cell))
    own_notebook.manager.provisioner.process.wait(10)


def test_n02_a_wake_from_a_thread_is_seen_at_once(notebook: Notebook) -> None:
    took = notebook.run(
        "done, ticks = threading.Event(), []\n"
        "with ShellPump.detect() as pump:\n"
        "    threading.Timer(0.2, lambda: (done.set(), pump.wake())).start()\n"
        "    began = time.monotonic()\n"
        "    assert pump.wait(done.is_set, on_tick=lambda: ticks.append(1), tick_s=20)\n"
        "    took = time.monotonic() - began\n"
        "pump.wake()\n"
        "print(took, len(ticks))"
    )
    seconds, ticks = took.split()
    assert float(seconds) < 2
    assert ticks == "1"


def test_a_flood_of_wakes_neither_blocks_nor_hides_a_click(notebook: Notebook) -> None:
    cell = notebook.execute(
        "with ShellPump.detect() as pump:\n"
        "    for _ in range(100_000): pump.wake()\n"
        "    print('waiting', flush=True)\n"
        "    print(pump.wait(lambda: bool(clicks), timeout_s=20))"
    )
    notebook.wait_in(cell)
    notebook.click("go")
    assert notebook.status(cell) == "ok"
    assert notebook.printed(cell).endswith("True\n")


def test_what_on_tick_raises_ends_the_wait_and_the_next_cell_runs(notebook: Notebook) -> None:
    cell = notebook.execute("pump_for(1, on_tick=lambda: 1 / 0)")
    assert notebook.reply(cell)["content"]["ename"] == "ZeroDivisionError"
    notebook.settle()
    assert notebook.run("print('next')") == "next\n"


def test_a_missing_name_means_no_pump_and_the_log_says_which(notebook: Notebook) -> None:
    found = notebook.run(
        "import logging\n"
        "class Without:\n"
        "    def __init__(self, kernel, name): self.kernel, self.name = kernel, name\n"
        "    def __getattr__(self, name):\n"
        "        if name == self.name: raise AttributeError(name)\n"
        "        return getattr(self.kernel, name)\n"
        "shell, kernel, logged = get_ipython(), get_ipython().kernel, []\n"
        "handler = logging.Handler()\n"
        "handler.emit = lambda record: logged.append(record.getMessage())\n"
        "logger = logging.getLogger('acp_jupyter.kernel.pump')\n"
        "logger.addHandler(handler); logger.setLevel('DEBUG')\n"
        "try:\n"
        "    for name in ('session', 'shell_handlers', '_publish_status', 'dispatch_shell'):\n"
        "        shell.kernel = Without(kernel, name)\n"
        "        print(ShellPump.detect(), type(waiter()).__name__, name in logged[-1])\n"
        "finally:\n"
        "    shell.kernel = kernel; logger.removeHandler(handler); logger.setLevel('NOTSET')\n"
    )
    assert found == "None PlainWait True\n" * 4


def test_no_pump_in_another_thread_of_the_kernel(notebook: Notebook) -> None:
    found = notebook.run(
        "thread = threading.Thread(target=lambda: found.append((ShellPump.detect(), waiter())))\n"
        "found = []; thread.start(); thread.join()\n"
        "print(found[0][0], type(found[0][1]).__name__)"
    )
    assert found == "None PlainWait\n"


@pytest.mark.parametrize("follow", [False, True])
def test_the_front_end_s_subshell_is_followed(own_notebook: Notebook, *, follow: bool) -> None:
    if own_notebook.release == 6:
        pytest.skip("ipykernel 6 has no subshells")
    subshell_id = own_notebook.control("create_subshell_request", {})["subshell_id"]
    own_notebook.run("follow_front_end_subshell(comm)" if follow else "")
    cell = own_notebook.waiting_cell("comm.send({})\npump_for(1)")
    own_notebook.click("go", subshell_id=subshell_id)
    assert own_notebook.status(cell) == "ok"
    on_main = own_notebook.run("print(handler_threads[0] is threading.main_thread())")
    routed = own_notebook.run("print(hasattr(type(comm), '_reply_subshell_for'))") == "True\n"
    assert on_main == f"{routed and not follow}\n"


def test_a_comm_without_a_route_is_left_alone() -> None:
    comm = SimpleNamespace()
    follow_front_end_subshell(comm)
    assert vars(comm) == {}


def test_no_pump_outside_a_kernel(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "acp_jupyter.kernel.pump"):
        assert ShellPump.detect() is None
    assert caplog.messages == ["no shell pump: no kernel"]
    assert isinstance(waiter(), PlainWait)


def test_an_interrupt_is_held_while_frames_are_in_hand() -> None:
    handed_back: list[str] = []

    def hand_back_amid_an_interrupt() -> None:
        signal.raise_signal(signal.SIGINT)
        handed_back.append("cell")

    with pytest.raises(KeyboardInterrupt), Interrupts() as interrupts, interrupts.held():
        hand_back_amid_an_interrupt()
    assert handed_back == ["cell"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_wait_within_a_wait_needs_its_own_waiter() -> None:
    interrupts = Interrupts()
    with interrupts, pytest.raises(RuntimeError, match="waiter of its own"), interrupts:
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_plain_wait_is_woken_from_a_thread() -> None:
    done = threading.Event()
    with PlainWait() as plain:
        thread = threading.Thread(target=lambda: (done.set(), plain.wake()))
        thread.start()
        assert plain.wait(done.is_set, tick_s=20, timeout_s=20)
        thread.join()
    assert PlainWait().wait(lambda: False, timeout_s=0.01) is False


def test_a_plain_wait_ticks_and_passes_on_what_a_tick_raises() -> None:
    ticks: list[float] = []

    def tick() -> None:
        ticks.append(time.monotonic())
        if len(ticks) == 3:
            raise LookupError

    with PlainWait() as plain, pytest.raises(LookupError):
        plain.wait(lambda: False, on_tick=tick, tick_s=0.02)
    assert all(later - earlier >= 0.02 for earlier, later in itertools.pairwise(ticks))
