"""`fig:test_acc_all`: how much sooner ACDPP reaches the paper's target accuracies."""

from __future__ import annotations

import numpy as np

from proofs_check.claim import Claim
from proofs_check.engines.experiment import never_reaches, sooner, speed_up
from proofs_check.evidence import Evidence
from proofs_check.experiments.committed import Results, committed
from proofs_check.experiments.stated import SECTION7
from proofs_check.groundwork.experiments.section7 import BASELINES, DOMAIN, Part, Seen, Told, claims_from

TARGETS = ", ".join(f"{100 * said.target:g} % ({said.name})" for said in SECTION7.values())


def so_much_sooner(seen: Seen, other: str) -> Evidence:
    stated = seen.stated.speed_up[other]
    if stated is None:
        return never_reaches(seen.result, seen.mine, other, seen.level)
    return sooner(seen.result, stated, seen.mine, other, seen.level)


def ratio(seen: Seen, other: str) -> tuple[str, Evidence] | None:
    """Nothing where it may be any number."""
    interval = speed_up(seen.result, seen.mine, other, seen.level)
    if interval.low <= 0 and interval.high == np.inf:
        return None
    high = "∞)" if interval.high == np.inf else f"{interval.high:.1f}]"
    detail = f"the target is reached so many times sooner than by {BASELINES[other]}:"
    return seen.measured(f"[{interval.low:.1f}, {high}", detail, interval)


def _speed(results: Results, other: str) -> list[Claim]:
    numbers = [
        "never" if one is None else f"{one:g}" for one in (said.speed_up[other] for said in SECTION7.values())
    ]
    return claims_from(
        results,
        [
            Part(
                said.name, dataset, lambda seen: so_much_sooner(seen, other), lambda seen: ratio(seen, other)
            )
            for dataset, said in SECTION7.items()
        ],
        Told(
            title=f"measured against {BASELINES[other]}: {{}} times",
            statement=f"Measured, ACDPP reaches the target so many times sooner than {BASELINES[other]}: {{}}.",
            sketch="This is a measurement. Where a policy has not reached the target by the last round, its round is "
            "not known, and an end of the interval with it.",
            symbol="S",
            latex="S",
            meaning="measured ratio of the first rounds that reach the target",
        ),
        id=f"fig:test_acc_all/sooner-than-{other}",
        title=f"{' / '.join(numbers)} times sooner than {other}",
        statement=f"In the setting of Section 7, the mean current best of ACDPP reaches {TARGETS} about "
        f"{', '.join(numbers)} times sooner than that of {BASELINES[other]}"
        f"{' (never: the baseline does not reach it)' if 'never' in numbers else ''}.",
        formula=(
            rf"\tau_{{\mathrm{{{other}}}}}/\tau_{{\mathrm{{ACDPP}}}}\approx"
            + r",\ ".join(r"\infty" if one == "never" else one for one in numbers)
        ),
        symbols={
            "τ": "first round after which the mean current best has reached the target; its index is the policy",
            "ACDPP": "the paper's policy",
        },
        domain=DOMAIN,
    )


def claims(results: Results) -> list[Claim]:
    """Whatever is committed."""
    return [*_speed(results, "constant"), *_speed(results, "hybrid")]


CLAIMS = claims(committed())
