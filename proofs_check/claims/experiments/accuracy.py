"""`fig:test_acc_all`: ACDPP against the baselines and the oracle, its speed to the target, and hybrid against constant.

"Close to the oracle" is nearer than ACDPP's stated gain over constant admission, *substantially* the difference of its
stated gains over both baselines, and *converges faster* the first round that reaches the target. The claims about
hybrid and the measurement at another η (`…/trained`) were written when the results were known: with the text's η LeNet
hardly learns MNIST, and its oracle ends at 18 %.
"""

from proofs_check.prelude import *

from proofs_check.engines import experiment
from proofs_check.engines.experiment import Interval, confidence
from proofs_check.experiments.committed import Results, committed
from proofs_check.experiments.json_entries import Estimate
from proofs_check.experiments.reproduction import Reproduction
from proofs_check.experiments.stated import SECTION7
from proofs_check.groundwork.experiments.section7 import (
    BASELINES,
    GAPS,
    NAMES,
    SEEDS_MIN,
    SYMBOLS,
    ClaimPart,
    Measured,
    Seen,
    claims_from,
    each,
)


def readings(seen: Seen, other: str) -> dict[str, Estimate]:
    gap = seen.result.gaps[seen.mine][other]
    return {words: getattr(gap, name) for words, name in GAPS.items()}


def ahead(seen: Seen, other: str) -> Evidence:
    """Test whether ACDPP is ahead, by the readings of each setting."""
    what = f"points ahead of {BASELINES[other]}"
    return experiment.ordered(seen.result, readings(seen, other), seen.level, what)


def as_stated(seen: Seen, other: str) -> Evidence:
    return experiment.states(seen.result, seen.stated.points[other], readings(seen, other), seen.level)


def gap(seen: Seen, other: str) -> Measured:
    interval = confidence(seen.result.gaps[seen.mine][other].points, seen.level)
    return seen.measured(interval, f"points ahead of {BASELINES[other]} after the last round in")


def behind(seen: Seen) -> Interval:
    oracle, own = (seen.result.policies[name].best_accuracy for name in ("oracle", seen.mine))
    return Interval(*(100 * end for end in experiment.less(oracle, own, seen.level)))


def lag(seen: Seen) -> Measured:
    return seen.measured(behind(seen), "points behind the oracle in")


def near(seen: Seen) -> Evidence:
    """Behind the oracle by less than the stated gain over constant admission."""
    most = seen.stated.points["constant"]
    what = "points behind the oracle"
    return experiment.bounded(seen.result, behind(seen), most, seen.level, what, learnt=True)


def _numbers(other: str) -> str:
    return ", ".join(f"{said.points[other]:g}" for said in SECTION7.values())


def _size(results: Results, other: str) -> list[Claim]:
    whom, numbers = BASELINES[other], _numbers(other)
    return claims_from(
        results,
        each(partial(as_stated, other=other), partial(gap, other=other), (other,)),
        id=f"fig:test_acc_all/{other}",
        title=f"ahead of {other} by {numbers} points",
        statement=f"ten runs give ACDPP an average test accuracy (current best) above that of {whom} by about "
        f"{numbers} percentage points on {NAMES}.",
        formula=rf"A_{{\mathrm{{ACDPP}}}}-A_{{\mathrm{{{other}}}}}\approx{numbers}",
        found_title=f"measured ahead of {whom}: {{}} points",
        found=f"Measured after the last round, ACDPP less {whom} in percentage points: {{}}.",
    )


def _ahead(results: Results) -> list[Claim]:
    return claims_from(
        results,
        [
            ClaimPart(
                f"{said.name}, {other}",
                dataset,
                partial(ahead, other=other),
                partial(gap, other=other),
                (other,),
            )
            for other in BASELINES
            for dataset, said in SECTION7.items()
        ],
        id="fig:test_acc_all",
        title="ACDPP is ahead of constant and hybrid",
        statement="ACDPP's expected current best test accuracy, after the last round and averaged over rounds, is "
        f"above that of constant admission and that of the hybrid baseline on {NAMES}.",
        formula=r"A_{\mathrm{ACDPP}}>A_{\mathrm{constant}},\quad A_{\mathrm{ACDPP}}>A_{\mathrm{hybrid}}",
        found_title="measured: {} points",
        found="Measured after the last round, ACDPP less the baseline in percentage points: {}.",
    )


def _oracle(results: Results) -> list[Claim]:
    most = _numbers("constant")
    return claims_from(
        results,
        each(near, lag, ("oracle",)),
        kind="reading",
        id="fig:test_acc_all/oracle",
        title="ACDPP is close to the oracle",
        statement="ACDPP is behind the costless oracle by no more than it is said to gain over constant admission: "
        f"{most} points on {NAMES}. (The text says close and gives no number; "
        "this is our reading.)",
        formula=rf"A_{{\mathrm{{oracle}}}}-A_{{\mathrm{{ACDPP}}}}\le{most}",
        found_title="measured behind the oracle: {} points",
        found="Measured after the last round, the oracle less ACDPP in percentage points: {}.",
    )


# --- how much sooner ---------------------------------------------------------------------------------------


def so_much_sooner(seen: Seen, other: str) -> Evidence:
    stated = seen.stated.speed_up[other]
    if stated is None:
        return experiment.never_reaches(seen.result, seen.mine, other, seen.level)
    return experiment.sooner(seen.result, stated, seen.mine, other, seen.level)


def ratio(seen: Seen, other: str) -> Measured | None:
    """The speed-up measured; None where it may be any number."""
    interval = experiment.speed_up(seen.result, seen.mine, other, seen.level)
    if interval.low <= 0 and interval.high == np.inf:
        return None
    high = "∞)" if interval.high == np.inf else f"{interval.high:.1f}]"
    detail = f"speed-up over {BASELINES[other]} to the target:"
    return seen.measured(interval, detail, f"[{interval.low:.1f}, {high}")


def _speed(results: Results, other: str) -> list[Claim]:
    stated = (said.speed_up[other] for said in SECTION7.values())
    whom, numbers = BASELINES[other], ["never" if one is None else f"{one:g}" for one in stated]
    targets = ", ".join(f"{100 * said.target:g} % ({said.name})" for said in SECTION7.values())
    return claims_from(
        results,
        each(partial(so_much_sooner, other=other), partial(ratio, other=other), (other,)),
        id=f"fig:test_acc_all/sooner-than-{other}",
        title=f"{' / '.join(numbers)} times sooner than {other}",
        statement=f"the mean current best of ACDPP reaches {targets} about {', '.join(numbers)} times sooner than that "
        f"of {whom}{' (never: the baseline does not reach it)' if 'never' in numbers else ''}.",
        formula=rf"\tau_{{\mathrm{{{other}}}}}/\tau_{{\mathrm{{ACDPP}}}}\approx"
        + r",\ ".join(r"\infty" if one == "never" else one for one in numbers),
        found_title=f"measured against {whom}: {{}} times",
        found=f"Measured, ACDPP reaches the target so many times sooner than {whom}: {{}}.",
        symbol="S",
        why="This is a measurement. Where a policy has not reached the target by the last round, its round is "
        "not known, and an end of the interval with it.",
    )


# --- hybrid against constant admission ---------------------------------------------------------------------

LAST, AVERAGED = GAPS

ACCURACY = {LAST: "best_accuracy", AVERAGED: "mean_accuracy"}
SIMPLE, HARD = SECTION7["mnist"], SECTION7["cifar10"]
# how far hybrid is behind constant admission, by what ACDPP is said to gain over both
IMPLIED = round(HARD.points["hybrid"] - HARD.points["constant"], 1)


def hybrid_ahead(seen: Seen, sign: int = 1) -> dict[str, Estimate]:
    """Hybrid ahead of constant admission in points, by reading: paired, or no narrower; `sign` -1: behind it."""
    gap = seen.result.gaps.get("hybrid", {}).get("constant")
    if gap is not None:
        return {words: getattr(gap, name).times(sign) for words, name in GAPS.items()}
    mine, its = (seen.result.policies[name] for name in ("hybrid", "constant"))
    return {
        words: experiment.difference(getattr(mine, name), getattr(its, name)).times(100 * sign)
        for words, name in ACCURACY.items()
    }


def hybrid_part(dataset: str, judge: Callable[[Seen], Evidence], words: str, sign: int) -> list[ClaimPart]:
    """The part on a data set, with the gap measured in one reading."""
    what = "ahead" if sign > 0 else "behind"

    def told(seen: Seen) -> Measured:
        interval = confidence(hybrid_ahead(seen, sign)[words], seen.level)
        return seen.measured(interval, f"points of hybrid {what} {words} in")

    return [ClaimPart(SECTION7[dataset].name, dataset, judge, told, ("hybrid", "constant"), chosen=False)]


def _faster(results: Results) -> list[Claim]:
    def sooner(seen: Seen) -> Evidence:
        return experiment.earlier(seen.result, "hybrid", "constant", seen.level)

    return claims_from(
        results,
        # a curve that rises sooner is higher on average
        hybrid_part("mnist", sooner, AVERAGED, 1),
        kind="reading",
        id="fig:test_acc_all/hybrid-faster",
        title="on MNIST hybrid is faster than constant",
        statement="the mean current best of the hybrid baseline reaches "
        f"{100 * SIMPLE.target:g} % on {SIMPLE.name} sooner than that of constant admission. (The text says faster and "
        "not by what measure; this is our reading.)",
        formula=r"\tau_{\mathrm{hybrid}}<\tau_{\mathrm{constant}}",
        found_title="measured, hybrid less constant over the rounds: {} points",
        found="Measured, averaged over rounds, hybrid less constant admission in percentage points: {}.",
        why="This is a measurement. A target not reached by the last round may be reached any time after.",
    )


def _behind(results: Results) -> list[Claim]:
    what = f"points of hybrid behind {BASELINES['constant']}"
    both_rounded = 2 * experiment.LAST_DIGIT
    measured: dict[str, Any] = {
        "found_title": "measured, constant less hybrid: {} points",
        "found": "Measured after the last round, constant admission less hybrid in percentage points: {}.",
    }

    def worse(seen: Seen) -> Evidence:
        return experiment.ordered(seen.result, hybrid_ahead(seen, -1), seen.level, what)

    def by_so_much(seen: Seen) -> Evidence:
        gap = hybrid_ahead(seen, -1)
        return experiment.states(seen.result, IMPLIED, gap, seen.level, slack=both_rounded)

    below = claims_from(
        results,
        hybrid_part("cifar10", worse, LAST, -1),
        id="fig:test_acc_all/hybrid-behind",
        title="on CIFAR-10 hybrid is behind constant admission",
        statement=f"the expected current best test accuracy of the hybrid baseline on {HARD.name} is below that of "
        "constant admission, after the last round and averaged over rounds. (The text says substantially below and "
        "gives no number; fig:test_acc_all/hybrid-behind/size takes one from what it says of ACDPP.)",
        formula=r"A_{\mathrm{constant}}>A_{\mathrm{hybrid}}",
        **measured,
    )
    size = claims_from(
        results,
        hybrid_part("cifar10", by_so_much, LAST, -1),
        id="fig:test_acc_all/hybrid-behind/size",
        kind="reading",
        title=f"on CIFAR-10 hybrid is {IMPLIED:g} points behind constant admission",
        statement=f"ten runs give the hybrid baseline a current best test accuracy on {HARD.name} below that of "
        f"constant admission by about {IMPLIED:g} points. (The text says substantially; the number is the difference "
        "of the gains that it states for ACDPP.)",
        formula=rf"A_{{\mathrm{{constant}}}}-A_{{\mathrm{{hybrid}}}}\approx{IMPLIED:g}",
        **measured,
    )
    return [*below, *size]


# --- where the oracle learns -------------------------------------------------------------------------------


def _trained(results: Results) -> list[Claim]:
    """A measurement of our own: gaps and speed-ups at a learning rate that is not the text's."""
    at_another_rate = (result for (_, setting), result in results.items() if setting == "trained")
    return [_measured_at(result) for result in at_another_rate if result.seeds >= SEEDS_MIN]


def _measured_at(result: Reproduction) -> Claim:
    seen = Seen(result, SECTION7[result.dataset], "acdpp", 1 - experiment.ERROR / 6)
    told: dict[str, tuple[str, Measured | None]] = {
        **{f"ACDPP ahead of {other}": ("points", gap(seen, other)) for other in BASELINES},
        "the released rule ahead of constant": ("points", gap(replace(seen, mine="released"), "constant")),
        "ACDPP behind the oracle": ("points", lag(seen)),
        **{f"ACDPP sooner than {other}": ("times", ratio(seen, other)) for other in BASELINES},
    }
    known = {f"{what} {one[0]} {unit}": one[1] for what, (unit, one) in told.items() if one and one[1]}
    rate, words = rf"$\eta={result.eta:g}$", gap(seen, "constant")[0]
    return Claim(
        id="fig:test_acc_all/trained",
        title=f"on {result.name} with {rate} {words} points ahead of constant",
        statement=f"Measured on {result.name} with {rate} in place of the text's, at which the oracle reaches the "
        f"paper's target: {'; '.join(known)}. (Neither the text's setting nor the released code's.)",
        domain=rf"{result.seeds} seeds, {result.rounds} rounds; ACDPP with $V=\sqrt T$ and $\rho=1-1/\sqrt T$",
        formula=rf"A_{{\mathrm{{ACDPP}}}}-A_{{\mathrm{{constant}}}}={words}".replace("±", r"\pm "),
        sketch="This is a measurement: it holds for the law of its own runs, at the level of its intervals.",
        symbols=SYMBOLS,
        checks={what: partial(lambda e: e, evidence) for what, evidence in known.items()},
    )


def claims(results: Results) -> list[Claim]:
    """Claims from the committed results."""
    sizes, speeds = ([partial(of, other=other) for other in BASELINES] for of in (_size, _speed))
    makers: list[Callable[[Results], list[Claim]]] = [
        _ahead,
        _trained,
        *sizes,
        _oracle,
        *speeds,
        _faster,
        _behind,
    ]
    return [claim for make in makers for claim in make(results)]


CLAIMS = claims(committed())
