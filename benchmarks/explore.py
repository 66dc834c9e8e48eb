"""Seconds until the page answers a slider: `python -m benchmarks.explore`, with Chromium and Playwright.

Serves `acdpp explore`, moves the slider of the budget by a key, again and again, and takes the time in the browser
from the key to the first answer, which is what money buys, and to the coarse curve of the new budget.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.common import hardware, parser_of

SEEN = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def main() -> None:
    from playwright.sync_api import sync_playwright

    given = parser_of("explore", __doc__).parse_args()
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        raise SystemExit("there is no Chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        said = Path(folder) / "said"
        command = [sys.executable, "-m", "acdpp", "explore", "--no-open"]
        environment = os.environ | {"PYTHONPATH": str(Path.cwd()), "PYTHONUNBUFFERED": "1"}
        with said.open("w") as stream:
            server = subprocess.Popen(command, cwd=folder, stdout=stream, env=environment)
        try:
            while not (address := re.search(r"http://\S+/", said.read_text())):
                time.sleep(0.1)
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
            page = browser.new_page()
            time.sleep(5)  # until it listens
            page.goto(address.group())
            page.get_by_text("predicted in full").wait_for(timeout=300_000)
            page.locator('input[data-field="budget"], [data-field="budget"] input').first.focus()
            page.keyboard.press("Tab")  # to the slider
            times = []
            for k in range(given.moves):
                page.evaluate(SEEN, f"{55 + k + 1}.0")
                page.keyboard.press("ArrowRight")
                times.append(page.evaluate("window.seen"))
            browser.close()
        finally:
            server.terminate()
            server.wait(60)
    print(f"{hardware()}; digits, 500 rounds, taper-online, n = {given.moves} moves of the slider")
    for what, each in zip(("what money buys", "coarse curve"), zip(*times, strict=True), strict=True):
        print(f"{what}: median {statistics.median(each):.0f} ms, from {min(each):.0f} to {max(each):.0f}")


if __name__ == "__main__":
    main()
