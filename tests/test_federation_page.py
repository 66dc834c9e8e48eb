"""`docs/federation.md` quotes what was measured."""

import json
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "federation.md").read_text(encoding="utf-8")
FOUND = json.loads((DOCS / "results" / "federation.json").read_text(encoding="utf-8"))


def test_its_table_is_that_of_the_benchmark():
    for case in FOUND["cases"]:
        ours, plain = case["acdpp_s"], case["fedavg_s"]
        cells = [f"{case['clients']}, {case['kind']}", f"{ours:.3g}", f"{plain:.3g}", f"{ours / plain:.2f}"]
        cells += [f"{case['acdpp_kB']:.0f}", f"{case['fedavg_kB']:.0f}", f"{case['books_ms']:.0f} ms"]
        cells.append(f"{case['batched_ms']:.1f} ms")
        assert f"| {' | '.join(cells)} |" in PAGE


def test_so_is_what_it_says_of_it():
    told = " ".join(PAGE.split())
    own = [case["books_ms"] for case in FOUND["cases"]]
    assert f"takes {min(own):.0f} to {max(own):.0f} ms a round" in told
    real = [case for case in FOUND["cases"] if case["kind"] == "processes"]
    shares = sorted(case["books_ms"] / 10 / case["acdpp_s"] for case in real)
    assert f"{shares[0]:.2f} to {shares[-1]:.2f} % of a round of processes" in told
    more = sorted(100 * (case["acdpp_s"] / case["fedavg_s"] - 1) for case in real)
    assert f"takes {more[0]:.0f} to {more[-1]:.0f} % longer" in told
    assert "benchmarks.federation --rounds 4" in FOUND["command"]
