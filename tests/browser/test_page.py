"""What a reader sees of a card, frame by frame: no flash, no jump, scrolling that goes where it is meant."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Locator, expect

from .test_living import ALLOW, SETUP, TASK, allow_all, begun, finished, ui
from .test_scene import card_in, wait_for_request

if TYPE_CHECKING:
    from collections.abc import Callable

    from .lab import Notebook

pytestmark = pytest.mark.browser

__all__ = ["ui"]  # the fixture

WATCH = """area => {
  const scroller = area.closest('.jp-WindowedPanel-outer, .jp-Notebook');
  const seen = window.seen = {frames: 0, missing: 0, loading: 0, least: Infinity, tops: []};
  const look = () => {
    const cards = area.querySelectorAll('.acp-turn');
    seen.frames += 1;
    seen.missing += cards.length === 0;
    seen.loading += area.textContent.includes('Loading widget');
    seen.least = Math.min(seen.least, area.offsetHeight);
    if (seen.tops.at(-1) !== scroller.scrollTop) seen.tops.push(scroller.scrollTop);
    seen.on = requestAnimationFrame(look);
  };
  look();
  return area.offsetHeight;
}"""
SEEN = "() => { cancelAnimationFrame(window.seen.on); return window.seen; }"


def test_no_frame_without_the_card_from_the_first_request_to_the_saved_turn(
    open_notebook: Callable[..., Notebook], ui: str
) -> None:
    """The output is written anew at each decision, and at the end: the reader sees one card throughout."""
    more = ["# more\n" * 12] * 3
    notebook, output, request = begun(open_notebook, ui, *more, height=700)
    request.scroll_into_view_if_needed()
    notebook.page.wait_for_timeout(1200)  # the notebook has scrolled, the first writing is over
    output.locator(".acp-turn").evaluate("node => node.setAttribute('data-the-first', '')")
    height = output.evaluate(WATCH)
    output.locator(f".acp-tool-call[data-kind=edit] {ALLOW}").click()
    notebook.until(lambda: output.locator(".acp-turn:not([data-the-first])").count() > 0)
    output.locator(f".acp-tool-call[data-kind=execute] {ALLOW}").click()
    notebook.ended(1)
    expect(card_in(output)).to_have_attribute("data-state", "done")
    expect(output.locator(".acp-stop")).to_have_count(0)
    seen: dict[str, Any] = notebook.page.evaluate(SEEN)
    assert seen["frames"] > 20
    assert seen["missing"] == 0, seen
    assert seen["loading"] == 0, seen
    assert seen["least"] >= height - 1, seen
    assert notebook.errors == []


AT_END = "node => node.scrollTop + node.clientHeight >= node.scrollHeight - 2"
TOP = "node => node.getBoundingClientRect().top"


def test_the_wheel_goes_on_to_the_notebook_and_keys_scroll_the_card(
    open_notebook: Callable[..., Notebook], ui: str
) -> None:
    notebook, output, _ = begun(open_notebook, ui, *["# more\n" * 12] * 3, height=600)
    allow_all(output)
    notebook.ended(1)
    card = card_in(output)
    expect(card).to_have_attribute("data-state", "done")
    expect(card.locator(".acp-stop")).to_have_count(0)
    body = card.locator(".acp-body")
    assert body.evaluate("node => node.scrollHeight > node.clientHeight"), "the card scrolls in itself"
    head, foot, whole = (
        card.locator(one).bounding_box() for one in (".acp-header", ".acp-footer", "xpath=.")
    )
    assert head
    assert foot
    assert whole
    assert whole["y"] <= head["y"] < foot["y"] < whole["y"] + whole["height"]

    body.evaluate("node => { node.scrollTop = 0; }")
    body.focus()
    notebook.page.keyboard.press("End")
    notebook.until(lambda: body.evaluate(AT_END))

    terminal = card.locator(".acp-terminal-box")
    terminal.scroll_into_view_if_needed()
    body.evaluate("node => { node.scrollTop = node.scrollHeight; }")
    before = card.evaluate(TOP)
    terminal.hover()

    def wheeled() -> bool:
        notebook.page.mouse.wheel(0, 100)
        return bool(card.evaluate(TOP) < before)

    notebook.until(wheeled)


def test_a_request_below_is_told_in_the_head_and_a_click_goes_there(
    open_notebook: Callable[..., Notebook], ui: str
) -> None:
    notebook = open_notebook([SETUP, TASK], ui=ui, height=560)
    notebook.run(0)
    notebook.ended(0)
    output = notebook.run(1)
    card = card_in(output)
    request = wait_for_request(card)
    body = card.locator(".acp-body")
    inside = """node => {
      const [box, body] = [node.getBoundingClientRect(), node.closest('.acp-body').getBoundingClientRect()];
      return box.bottom <= body.bottom + 2;
    }"""
    notebook.until(lambda: request.evaluate(inside))  # brought into sight
    body.evaluate("node => { node.scrollTop = 0; }")
    notebook.until(lambda: not request.evaluate(inside))
    show = card.locator(".acp-next")
    expect(show).to_be_visible()
    show.click()
    notebook.until(lambda: request.evaluate(inside))
    notebook.interrupt()
    notebook.ended(1)


def test_print_cuts_nothing(open_notebook: Callable[..., Notebook], ui: str) -> None:
    notebook = finished(open_notebook, ui, height=600)
    card = card_in(notebook.cell(1).locator(".jp-OutputArea").first)
    card.get_by_text("Raw input", exact=True).first.click()
    notebook.page.emulate_media(media="print")
    cut = """card => [...card.querySelectorAll('*'), card].filter(node => {
      const scrolls = ['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(node).overflowY);
      return scrolls && node.scrollHeight > node.clientHeight + 2;
    }).map(node => node.className)"""
    assert card.evaluate(cut) == []


def test_who_follows_the_end_sees_the_last_words(open_notebook: Callable[..., Notebook], ui: str) -> None:
    """They may come in the same moment as the end, and then only the saved card draws them."""
    notebook = finished(open_notebook, ui, height=600)
    body = card_in(notebook.cell(1).locator(".jp-OutputArea").first).locator(".acp-body")
    notebook.until(lambda: body.evaluate(AT_END))


# What is painted in each frame. Sizes are told right before that, again and again while a change of one size
# changes another that is deeper: the last to be told, after all of the page's own, sees what is painted.
PAINTED = """output => {
  const seen = window.seen = [];
  const look = () => {
    const body = output.querySelector('.acp-body');
    seen.push({
      height: output.offsetHeight,
      cards: output.querySelectorAll('.acp-turn').length,
      notebook: document.querySelector('.jp-WindowedPanel-outer').scrollTop,
      fromEnd: body ? body.scrollHeight - body.scrollTop - body.clientHeight : null,
      open: output.querySelectorAll('[role=tab][aria-selected=true]').length,
      focus: document.activeElement.textContent.slice(0, 40),
    });
  };
  const chain = [document.createElement('div')];
  while (chain.length < 8) chain.push(chain.at(-1).appendChild(document.createElement('div')));
  chain[0].style = 'position: fixed; visibility: hidden';
  document.body.append(chain[0]);
  let height = 1;
  chain.forEach((node, depth) => {
    const next = chain[depth + 1];
    new ResizeObserver(() => next ? next.style.height = `${height}px` : look()).observe(node);
  });
  const frame = () => {
    height = 3 - height;
    chain[0].style.height = `${height}px`;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""


def _allow(output: Locator, kind: str) -> None:
    """Allow a call as soon as its request has rested, without moving the mouse, the focus or the page."""
    button = output.locator(f".acp-tool-call[data-kind={kind}] {ALLOW}:not([aria-disabled=true])")
    button.wait_for(state="attached")
    button.evaluate("node => node.click()")


def test_no_frame_is_painted_without_what_is_open_and_the_focus(
    open_notebook: Callable[..., Notebook], ui: str
) -> None:
    notebook, output, _ = begun(open_notebook, ui, *["# more\n" * 30] * 3, height=700)
    page = notebook.page
    tab = card_in(output).locator(".acp-tool-call[data-kind=read]").get_by_text("Raw input", exact=True)
    tab.click()
    body = card_in(output).locator(".acp-body")
    body.evaluate("node => { node.scrollTop = node.scrollHeight; }")
    page.locator(".jp-WindowedPanel-outer").evaluate("node => { node.scrollTop = 150; }")
    tab.evaluate("node => node.focus({ preventScroll: true })")
    notebook.until(
        lambda: body.evaluate("node => node.scrollHeight - node.scrollTop - node.clientHeight < 1")
    )
    drawn = "node => node.setAttribute('data-drawn-before', '')"
    card_in(output).evaluate(drawn)
    output.evaluate(PAINTED)
    _allow(output, "edit")
    notebook.until(lambda: output.locator(".acp-turn:not([data-drawn-before])").count() > 0)
    card_in(output).evaluate(drawn)
    _allow(output, "execute")
    notebook.ended(1)
    notebook.until(lambda: output.locator(".acp-turn:not([data-drawn-before])").count() > 0)
    frames: list[dict[str, Any]] = page.evaluate("window.seen")
    assert len(frames) > 20
    assert {one["height"] for one in frames} == {frames[0]["height"]}
    assert {one["cards"] for one in frames} == {1}
    assert {one["notebook"] for one in frames} == {150}
    assert {one["open"] for one in frames} == {1}
    assert {one["focus"] for one in frames} == {"Raw input"}
    # a frame can be looked at between a text and the scroll that follows it, two in a row cannot
    away = [one["fromEnd"] > 1 for one in frames]
    assert not any(map(operator.and_, away, away[1:])), "the body stays at its end"


def test_a_box_that_begins_to_scroll_is_reached_by_keyboard(
    open_notebook: Callable[..., Notebook], ui: str
) -> None:
    notebook = finished(open_notebook, ui, height=700)
    notebook.page.set_viewport_size({"width": 1280, "height": 2000})
    body = card_in(notebook.cell(1).locator(".jp-OutputArea").first).locator(".acp-body")
    expect(body).to_have_attribute("tabindex", "-1")
    notebook.page.set_viewport_size({"width": 1280, "height": 600})
    expect(body).to_have_attribute("tabindex", "0")
