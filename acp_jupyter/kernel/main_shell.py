"""The main shell of ipykernel 6.17.1 to 7.4.0: what the pump needs of it, private names and all.

ipykernel has no public way to serve a message while a cell runs. Every name that is needed is looked up when
a `MainShell` is made, so that a release which has renamed one is noticed before anything is touched.

The messages: https://jupyter-client.readthedocs.io/en/stable/messaging.html
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import sys
from typing import TYPE_CHECKING, Any

import zmq
from zmq.eventloop.zmqstream import ZMQStream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

log = logging.getLogger(__name__)

Frames = list[zmq.Frame]

# info as well: a page that is reloaded in mid-turn asks for both before it draws the card again
_IN_PLACE = frozenset({"comm_open", "comm_msg", "comm_close", "comm_info_request", "kernel_info_request"})


class MainShell:
    """Reads the requests to the main shell, serves some and hands the others to ipykernel.

    Args:
        kernel: The running ipykernel.

    Raises:
        AttributeError: A name is missing.
        LookupError: A handler is missing.
        TypeError: There is no stream to read, as in an in-process kernel.
    """

    def __init__(self, kernel: Any) -> None:
        self._stream, self.socket, self._reply_to = _sockets(kernel)
        self._thread: Any = getattr(kernel, "shell_channel_thread", None)
        self._outer: Any = kernel.shell_stream
        self._io_loop: Any = self._stream.io_loop
        self._loop: asyncio.AbstractEventLoop = self._io_loop.asyncio_loop
        self._dispatch = _callback(self._stream)
        self._publish_status: Callable[..., None] = kernel._publish_status  # noqa: SLF001 # the only way to say busy and idle
        self._handlers: dict[str, Callable[..., Any]] = {
            kind: kernel.shell_handlers[kind] for kind in _IN_PLACE
        }
        self._session: Any = kernel.session
        # ipykernel 6 queues what it has read; 7 has a task for each message instead
        self._queue: Any = getattr(kernel, "msg_queue", None)
        self._queued_for: Any = kernel.dispatch_shell
        self._handed_back: set[asyncio.Future[Any]] = set()

    def read(self) -> Frames | None:
        """Return the next message that has arrived, None where there is none."""
        try:
            return self.socket.recv_multipart(zmq.NOBLOCK, copy=False)
        except zmq.Again:
            return None

    def in_place(self, frames: Frames) -> bool:
        """Whether the message can be served while a cell runs."""
        try:
            _, message = self._session.feed_identities(frames, copy=False)
            header = self._session.deserialize(message, content=False, copy=False)["header"]
        except Exception:  # noqa: BLE001 # junk, or ipykernel 7's own marker b"stop aborting": for ipykernel to judge
            return False
        return header["msg_type"] in _IN_PLACE

    def serve(self, frames: Frames) -> None:
        """Serve a message now; where its handler fails, that is logged, as ipykernel does.

        The kernel's parent stays the running cell: there goes what the handler prints.
        """
        try:
            idents, message = self._session.feed_identities(frames, copy=False)
            request = self._session.deserialize(message, content=True, copy=False)
        except Exception:
            log.exception("unreadable message on the shell channel")
            return
        self._publish_status(
            "busy", "shell", parent=request
        )  # ipywidgets sends no more until it sees the pair
        try:
            _complete(self._handlers[request["header"]["msg_type"]](self._reply_to, idents, request))
        except Exception:
            log.exception("the handler of a message on the shell channel failed")
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            self._publish_status("idle", "shell", parent=request)
            self._publish_status("busy", "shell")  # the cell runs on

    def hand_back(self, frames: Frames) -> None:
        """Let ipykernel run the message after this cell, first come first served."""
        result = self._dispatch(frames)
        if inspect.isawaitable(result):  # ipykernel 7: unscheduled, the queued cell would never run
            task = asyncio.ensure_future(result, loop=self._loop)
            self._handed_back.add(task)
            task.add_done_callback(self._handed_back.discard)

    def take_read_ahead(self) -> Iterator[Frames]:
        """Take what can be served in place out of the queue of ipykernel 6, the others keep their order.

        It reads on until the cell begins, and what has arrived by then would wait behind the cell. With
        ipykernel 7 the two messages right behind the cell can be so: they are tasks, not to be taken back.
        """
        if self._queue is None:
            return
        for _ in range(self._queue.qsize()):
            item = self._queue.get_nowait()
            _, dispatch, args = item
            if dispatch == self._queued_for and self.in_place(args[0]):
                yield args[0]
            else:
                self._queue.put_nowait(item)

    def rearm(self) -> None:
        """Make the loop look at the socket when it next turns: raw reads use up the edge that tells it to."""
        self._io_loop.add_callback(_flush_one, self._stream)

    def nudge(self, after_s: float = 0.0) -> None:
        """Make ipykernel 7's shell channel thread look at the shell channel.

        Before 7.4.0 it sends replies by the raw socket, which uses up the edge that tells it of a request
        that comes in that moment: that one, and all after it, were never seen. We wait for just such ones.
        """
        if self._thread is not None:
            loop = self._thread.io_loop
            loop.add_callback(loop.call_later, after_s, _flush_one, self._outer)


def _sockets(kernel: Any) -> tuple[ZMQStream, zmq.Socket[Any], zmq.Socket[Any]]:
    """Find the stream and the socket that bring the requests, and the socket for the replies."""
    thread = getattr(kernel, "shell_channel_thread", None)
    if thread is not None:  # ipykernel 7: a thread reads the shell channel and passes on by pairs of sockets
        pair = thread.manager.get_shell_channel_to_subshell_pair(None)
        reply_to = thread.manager.get_subshell_to_shell_channel_socket(None)
        return _readable(pair.to_stream), pair.to_socket, reply_to
    stream = _readable(kernel.shell_stream)
    shell: zmq.Socket[Any] = kernel.shell_stream.socket
    # replies go to the socket itself: the stream would send them when the loop turns, after the cell
    return stream, shell, shell


def _readable(stream: object) -> ZMQStream:
    if not isinstance(stream, ZMQStream) or stream.closed():
        raise TypeError(f"no stream to read: {stream!r}")
    return stream


def _callback(stream: Any) -> Callable[[Frames], Any]:
    callback = stream._recv_callback  # noqa: SLF001 # what is handed back goes where the stream would send it
    if not callable(callback):
        raise TypeError("the shell stream has no callback")
    return callback


def _flush_one(stream: ZMQStream) -> None:
    # one message, and the stream asks for the next: those still in the socket can be served by a later pump
    if not stream.closed():
        stream.flush(zmq.POLLIN, limit=1)


def _complete(result: Any) -> None:
    """Run a handler's coroutine to its end; there is no loop for one that suspends; ipykernel's do not."""
    if inspect.iscoroutine(result):
        try:
            result.send(None)
        except StopIteration:
            return
        result.close()
        raise RuntimeError("the handler awaits something, which cannot be while a cell runs")
