"""Numbers of samples that constant admission keeps in memory, and has used."""

from proofs_check.prelude import *

from proofs_check.groundwork.reuse.constant_counts import CASES, late, run, s

LARGE = occupancy_constant(K, late, rate)
EARLY = occupancy_constant(K, t, rate) / rate
CLIENTS = "every round, to three clients"

COUNTED = theorem("Reuse.constant_occupancy", domain="every round, every $K$ and rate")


def smaller_before_K() -> Evidence:
    """KΛ̄ against the true n, which before round K is that of t = 1, …, K-1 rounds of admissions."""
    horizon = sp.Symbol("horizon", real=True)
    return always(
        horizon * rate > occupancy_constant(t + 1 + s, t, rate),
        given=[sp.Eq(horizon, t + 1 + s)],
        domain="every $t<K$, $K=t+1+s$",
    )


@drawn("rounds from $K$ on, to three clients", (60, 600), **CASES)
def of_each_client(K: int, t: int, rates: list[int]) -> Found:
    last = run(K, K - 1 + t, rates)
    found = [last.n_of(m) for m in range(len(rates))]
    return differing(simulated=found, stated=[occupancy_constant(K, last.round, r) for r in rates])


@drawn("every round of the sum", (60, 60), **CASES)
def always_full(K: int, t: int, rates: list[int]) -> Found:
    return differing(**{"simulated n": run(K, t, rates).n, "formula": K * sum(rates)})


@drawn(CLIENTS, (60, 600), **CASES)
def in_every_round(K: int, t: int, rates: list[int]) -> Found:
    return differing(simulated=run(K, t, rates).n, formula=occupancy_constant(K, t, sum(rates)))


@drawn(CLIENTS, (60, 600), **CASES)
def distinct_samples(K: int, t: int, rates: list[int]) -> Found:
    seen, followed = run(K, t, rates).N, trajectory([sum(rates)] * t, K).N[-1]
    return differing(distinct=seen, trajectory=followed, stated=sum(rates) * t)


FROM_K_ON = (COUNTED, confirming(of_each_client))
CLAIMS = [
    Claim(
        id="eq:ck-buffer-occupancy",
        kind="equation",
        title=r"$n_m=K\lambda_m$ for large $t$",
        statement=r"Under constant admission client $m$ holds $K\lambda_m$ samples in every round from $K$ on.",
        formula=r"n_m(t)=K\lambda_m",
        domain=r"sufficiently large $t$: $t\ge K$",
        checks=FROM_K_ON,
    ),
    Claim(
        id="eq:ck-training-size",
        kind="equation",
        title=said("$n=@n$ for large $t$", n=LARGE),
        statement=said(
            "Under constant admission $@n$ samples are trained on in every round from $K$ on.", n=LARGE
        ),
        formula=said(r"n^{CK}(t)=@n", n=LARGE),
        domain=r"sufficiently large $t$: $t\ge K$",
        checks=FROM_K_ON,
    ),
    Claim(
        id="eq:ck-distinct-samples",
        kind="equation",
        title=r"$N=\bar\Lambda t$",
        statement=r"Under constant admission $\bar\Lambda t$ distinct samples have been used by round $t$.",
        formula=r"N^{CK}(t)=\bar\Lambda t",
        domain=r"every $t\ge1$",
        checks=(
            lambda: equal(
                symbolic_sum(rate, sp.Symbol("j", integer=True), 1, t),
                rate * t,
                domain=r"every $t\ge1$",
                what=r"all admissions and $\bar\Lambda t$",
            ),
            confirming(distinct_samples),
        ),
    ),
    Claim(
        id="eq:ck-bound-detail/occupancy",
        kind="step",
        title=r"$n=K\bar\Lambda$ in every round of the sum",
        statement=r"Theorem 1 may be summed from $t=1$ with $n=K\bar\Lambda$ in every round.",
        formula=r"n(t)=K\bar\Lambda\quad(1\le t\le T)",
        domain=r"every $K\ge1$, $t\ge1$",
        repair=r"Write $\min(K,t)\bar\Lambda$ for $K\bar\Lambda$.",
        checks=(
            always_full,
            lambda: refutes(
                smaller_before_K(),
                r"before round $K$ only $t$ rounds have been admitted: $n=t\bar\Lambda<K\bar\Lambda$",
            ),
        ),
        corrected=Correction(
            title=said(r"$n=@rounds\cdot\bar\Lambda$", rounds=EARLY),
            statement=said(
                r"$n(t)=@rounds\cdot\bar\Lambda$, so before round $K$ the printed sum takes $n$ too large.",
                rounds=EARLY,
            ),
            formula=said(r"n(t)=@rounds\,\bar\Lambda", rounds=EARLY),
            sketch="A round's memory holds the last $K$ admissions, of which there are only $t$ before round $K$.",
            checks={"$n$": (COUNTED, confirming(in_every_round)), "too large before $K$": smaller_before_K},
        ),
    ),
]
