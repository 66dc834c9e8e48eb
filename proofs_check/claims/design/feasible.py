"""Demands of the average buffer constraint on constant admission, and the samples that it allows any policy to use."""

from proofs_check.prelude import *

from proofs_check.groundwork.reuse.constant_counts import s
from theory.reuse.constant import mean_occupancy_constant


def _mean(K: int, T: int, amount: int) -> Fraction:
    return Fraction(sum(now.n for now in simulate([[amount]] * T, K)), T)


@everywhere("one client, $K=2$, two rounds, $B_m=3$", K=(2,), T=(2,), amount=(2,), B=(3,))
def required(K: int, T: int, amount: int, B: int) -> Found:
    mean = _mean(K, T, amount)
    return unless(mean > B or K * amount <= B, **{"mean occupancy": mean, "B_m": B, "Kλ_m": K * amount})


def mean_by_rounds() -> Evidence:
    """T times the mean grows by the occupancy of the next round, before and from round K on."""
    mean, n, late = mean_occupancy_constant, occupancy_constant, K + s
    return argument(
        (mean(1 + s, 1, rate), rate, r"the mean of round 1 and $\bar\Lambda$"),
        (mean(K, late, rate), K * rate * (1 - (K - 1) / (2 * late)), r"the mean for $T\ge K$ and as shown"),
        (
            (T + 1) * mean(T + 1 + s, T + 1, rate) - T * mean(T + 1 + s, T, rate),
            n(T + 1 + s, T + 1, rate),
            "what round $T+1\\le K$ adds and its occupancy",
        ),
        (
            (late + 1) * mean(K, late + 1, rate) - late * mean(K, late, rate),
            n(K, late + 1, rate),
            "what round $T+1>K$ adds and its occupancy",
        ),
        domain="every $K$, $T$",
    )


@drawn("constant admission, by sample", (60, 400), K=retentions(), T=retentions(12), amount=retentions(5))
def counted(K: int, T: int, amount: int) -> Found:
    return differing(counted=_mean(K, T, amount), formula=mean_occupancy_constant(K, T, amount))


def suffices() -> Evidence:
    """The mean is at most Kλ."""
    k = sp.Symbol("k", positive=True)
    mean = mean_occupancy_constant(K, T, rate).subs(sp.Min(K, T), k)
    return always(mean <= K * rate, given=[k <= K], domain=r"every $K$, $T$, $k=\min(T,K)$")


def needed_for_ever() -> Evidence:
    """As T grows the mean tends to Kλ."""
    horizon = sp.Symbol("T", positive=True)
    mean = mean_occupancy_constant(K, horizon, rate).subs(sp.Min(K, horizon), K)
    return argument((mean, horizon, K * rate, "the mean occupancy"), domain=r"every $K$; $T\to\infty$")


@everywhere(
    "a client, three rounds, all admissions up to 2 and all ways to drop",
    admitted=tuple(product(range(3), repeat=3)),
    kept=tuple(product(range(5), repeat=2)),
)
def every_policy(admitted: tuple[int, ...], kept: tuple[int, ...]) -> Found:
    """Distinct samples against places filled; what was to be kept is kept as far as it is there."""
    held, filled = 0, 0
    for new, stay in zip(admitted, (0, *kept), strict=True):
        held = min(held, stay) + new
        filled += held
    return unless(sum(admitted) <= filled, distinct=sum(admitted), filled=filled)


@everywhere("buffers (1, 3), (2, 2, 5), $T$ up to 5", buffers=((1, 3), (2, 2, 5)), T=range(1, 6))
def attained(buffers: tuple[int, ...], T: int) -> Found:
    """The oracle, sample by sample: each client's memory is its buffer, and TΣB samples are used."""
    rounds = simulate([buffers] * T, 1)
    full = all(now.n_of(m) == B for now in rounds for m, B in enumerate(buffers))
    return unless(full and T * sum(buffers) == rounds[-1].N, distinct=rounds[-1].N)


MEAN = r"K\lambda_m(1-\tfrac{K-1}{2T})"

CLAIMS = [
    Claim(
        id="eq:ck-buffer-constraint",
        kind="step",
        substance="corrected",
        title=r"the buffer constraint requires $K\lambda_m\le B_m$",
        statement=r"Constant admission meets the average buffer constraint over $T$ rounds only if $K\lambda_m\le "
        r"B_m$. (The occupancy before it is said of large $t$, and what follows uses that the condition suffices: a "
        "slip.)",
        formula=r"\frac1T\sum_{t\le T}n_m(t)\le B_m\ \Rightarrow\ K\lambda_m\le B_m",
        domain=r"every $K$, $T$, $\lambda_m$, $B_m$",
        symbols={"n_m": "samples in client m's memory", "λ_m": "samples that client m admits in a round"},
        repair="Say that it is required if the constraint is to hold for every $T$.",
        checks=(required,),
        hypotheses=("the constraint is to hold for every $T$",),
        checks_with_hypotheses=(needed_for_ever,),
        corrected=Correction(
            title=rf"${MEAN}\le B_m$ for $T\ge K$",
            statement="The constraint asks that the mean occupancy be at most $B_m$; the memory fills up over the "
            r"first $K$ rounds, so that this is less than $K\lambda_m$. $K\lambda_m\le B_m$ suffices at every $T$, "
            "and is needed if the constraint is to hold for every $T$.",
            formula=rf"{MEAN}\le B_m\quad(T\ge K)",
            sketch=r"$n_m(t)=\min(t,K)\lambda_m$ (eq:ck-buffer-occupancy), added up over $T$ rounds. The printed "
            r"condition is on the safe side; what it leaves unused is $K(K-1)\lambda_m/2$ places in all.",
            checks={
                "the mean": (mean_by_rounds, confirming(counted)),
                r"$K\lambda_m\le B_m$ suffices": suffices,
                r"and is needed as $T\to\infty$": needed_for_ever,
            },
        ),
    ),
    Claim(
        id="eq:kstep-opt-problem/distinct",
        kind="step",
        title="the oracle uses the most distinct samples",
        statement="Of all policies that meet the average buffer constraint over $T$ rounds, the costless oracle "
        "trains on the largest number of distinct samples.",
        formula=r"N(T)\le T\sum_mB_m",
        domain="any admissions and any way to drop, no cost constraint; expected numbers where the policy is random",
        checks={
            "nobody uses more": (
                theorem("Buying.distinct_samples", domain="any policy"),
                confirming(every_policy),
            ),
            "the oracle uses as many": (
                lambda: argument(
                    (occupancy_constant(1, T, rate), rate, r"the oracle's occupancy and its buffer"),
                    (T * mean_occupancy_constant(1, T, rate), T * rate, "places filled and samples used"),
                    domain="$K=1$, every $T$",
                ),
                confirming(attained),
            ),
        },
        sketch=r"$\sum_tn_m(t)$ counts each sample as often as it is used, at least once: it is at least $N_m(T)$, "
        "and at most $TB_m$. The oracle fills all places with fresh samples. That its bound is the least is another "
        "statement (eq:kstep-opt-problem/oracle).",
    ),
]
