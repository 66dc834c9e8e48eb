"""Seconds until the page answers a slider: `python -m benchmarks.explore`, with Chromium and Playwright.

Serves `acdpp explore`, moves the slider of the budget by a key, again and again, and takes the time in the browser
from the key to the first answer, which is what money buys, and to the coarse curve of the new budget.
"""

import statistics
import tempfile
from pathlib import Path

from benchmarks.common import hardware, parser_of
from tests.acdpp.pages import CHROMIUM, chromium, served

SEEN = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def main() -> None:
    given = parser_of("explore", __doc__).parse_args()
    if CHROMIUM is None:
        raise SystemExit("there is no Chromium")
    times = []
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as address, chromium() as browser:
        page = browser.new_page()
        page.goto(address)
        page.get_by_text("predicted in full").wait_for(timeout=300_000)
        page.locator('input[data-field="budget"], [data-field="budget"] input').first.focus()
        page.keyboard.press("Tab")  # to the slider
        for k in range(given.moves):
            page.evaluate(SEEN, f"{55 + k + 1}.0")
            page.keyboard.press("ArrowRight")
            times.append(page.evaluate("window.seen"))
    print(f"{hardware()}; digits, 500 rounds, taper-online, n = {given.moves} moves of the slider")
    for what, each in zip(("what money buys", "coarse curve"), zip(*times, strict=True), strict=True):
        print(f"{what}: median {statistics.median(each):.0f} ms, from {min(each):.0f} to {max(each):.0f}")


if __name__ == "__main__":
    main()
