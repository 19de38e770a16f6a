"""Which notebook this kernel runs, as far as its front end tells."""

from __future__ import annotations

import os
from pathlib import Path

from IPython.core.getipython import get_ipython


def notebook_path() -> str | None:
    """Return its absolute path: Jupyter's servers name it in the environment, VS Code in the kernel."""
    names = [
        os.environ.get("JPY_SESSION_NAME"),
        getattr(get_ipython(), "user_ns", {}).get("__vsc_ipynb_file__"),
    ]
    for name in names:
        if isinstance(name, str) and Path(name).is_absolute() and name.endswith(".ipynb"):
            return name
    return None
