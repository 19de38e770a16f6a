"""What axe-core has to say of a part of a page: https://github.com/dequelabs/axe-core/blob/develop/doc/API.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..notebook.kernels import REPOSITORY  # noqa: TID252  # tests are no installed package

if TYPE_CHECKING:
    from playwright.sync_api import Locator

_AXE = REPOSITORY / "labextension" / "node_modules" / "axe-core" / "axe.min.js"
_RUN = """async node => {
  const {violations} = await axe.run(node, {resultTypes: ['violations']});
  return violations.map(({id, nodes}) => [id, nodes.map(one => one.html)]);
}"""


def violations(part: Locator) -> list[str]:
    """Return each violation of its rules with the elements that it concerns."""
    page = part.page
    if not page.evaluate("() => 'axe' in window"):
        # not by a script tag: the page has a loader of modules, which axe would give itself to
        page.evaluate(f"() => {{ const define = undefined, module = undefined; {_AXE.read_text('utf-8')} }}")
    found: list[tuple[str, list[str]]] = part.evaluate(_RUN)
    return [f"{rule}: {html[:300]}" for rule, nodes in found for html in nodes]
