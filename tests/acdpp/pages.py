"""A browser, and the page of `acdpp explore` as the command itself serves it."""

import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


def answers(address: str, **headers: str) -> int:
    """The status of an answer, or 0."""
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Its address, once it answers."""
    command = [sys.executable, "-m", "acdpp", "explore", "--no-open"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    env |= {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    with (folder / "said").open("w") as said:
        server = subprocess.Popen(command, cwd=folder, env=env, stdout=said, stderr=said)
    try:
        while not ((found := re.search(r"http://\S+/", (folder / "said").read_text())) and answers(found[0])):
            assert server.poll() is None, "it ended"
            time.sleep(0.05)
        yield found[0]
    finally:
        server.terminate()
        server.wait(60)
