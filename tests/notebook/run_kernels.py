"""Run the tests of the shell pump against other releases of ipykernel, one after the other.

    python -m tests.notebook.run_kernels [VERSION...]

Each release gets an environment under `.venvs/`, with the newest of everything else that it admits: even
6.17.1 needs no further pin (pyzmq 27.3, tornado 6.6, jupyter_client 8.10, IPython 9.18).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from .kernels import REPOSITORY, make_environment

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # comes with pytest there

# Colab's, the last two of 6, 7 with its first subshells, the last that follows the front end's, and the first
# that does not
VERSIONS = ("6.17.1", "6.29.5", "6.31.0", "7.0.1", "7.3.0", "7.4.0")


def requirements(version: str) -> list[str]:
    """Return what a tested kernel needs, the package's own requirements among it."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [f"ipykernel=={version}", *project["dependencies"], "nest-asyncio", "nest-asyncio2"]


def test(version: str) -> tuple[bool, str]:
    """Test one release; return whether it passed, and pytest's summary."""
    python = make_environment(f"ipykernel-{version}", requirements(version))
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/notebook/test_pump.py"],
        cwd=REPOSITORY,
        env=os.environ | {"ACP_TEST_KERNEL_PYTHON": str(python)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if ran.returncode != 0:
        sys.stdout.write(ran.stdout)
    return ran.returncode == 0, ran.stdout.rstrip().rpartition("\n")[2]


def main() -> int:
    """Test the releases named on the command line, or all, and print a table."""
    parser = argparse.ArgumentParser(
        description="Run the tests of the shell pump against releases of ipykernel."
    )
    parser.add_argument("versions", nargs="*", default=VERSIONS, metavar="VERSION")
    results = {version: test(version) for version in parser.parse_args().versions}
    sys.stdout.write("ipykernel  result\n")
    for version, (passed, summary) in results.items():
        sys.stdout.write(f"{version:9}  {'ok    ' if passed else 'FAILED'}  {summary}\n")
    return 0 if all(passed for passed, _ in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
