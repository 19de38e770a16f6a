"""Run the kernel tests against other releases of ipykernel, two at a time.

    python -m tests.notebook.run_kernels [VERSION...]

Each release gets an environment under `.venvs/`, with the newest of everything else that it admits: even
6.17.1 needs no further pin (pyzmq 27.3, tornado 6.6, jupyter_client 8.10, IPython 9.18). On the first and the
last of those named, the scene is played in JupyterLab too.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from .kernels import REPOSITORY, make_environment

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # comes with pytest there

# Colab's, the last two of 6, 7 with its first subshells, the last that follows the front end's, and the first
# that does not
VERSIONS = ("6.17.1", "6.29.5", "6.31.0", "7.0.1", "7.3.0", "7.4.0")


TESTS = ["tests/notebook/test_pump.py", "tests/notebook/test_magic.py"]
IN_LAB = ["tests/browser/test_scene.py"]


def requirements(version: str) -> list[str]:
    """Return what a tested kernel needs, the package's own requirements among it."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [f"ipykernel=={version}", *project["dependencies"], "nest-asyncio", "nest-asyncio2"]


def test(version: str, tests: list[str]) -> tuple[bool, str]:
    """Test one release; return whether it passed, and pytest's summary."""
    python = make_environment(f"ipykernel-{version}", requirements(version))
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *tests],
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
    parser = argparse.ArgumentParser(description="Run the kernel tests against releases of ipykernel.")
    parser.add_argument("versions", nargs="*", default=VERSIONS, metavar="VERSION")
    versions: list[str] = parser.parse_args().versions
    ends = {versions[0], versions[-1]}
    with ThreadPoolExecutor(max_workers=2) as two_at_a_time:
        running = {
            version: two_at_a_time.submit(test, version, TESTS + (IN_LAB if version in ends else []))
            for version in versions
        }
        results = {version: one.result() for version, one in running.items()}
    sys.stdout.write("ipykernel  result\n")
    for version, (passed, summary) in results.items():
        sys.stdout.write(f"{version:9}  {'ok    ' if passed else 'FAILED'}  {summary}\n")
    return 0 if all(passed for passed, _ in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
