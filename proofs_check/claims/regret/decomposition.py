r"""The regret's decomposition and the sign of its first part (`eq:omega-master`)."""

from proofs_check.prelude import *

from proofs_check.engines.simulation import control_loop
from proofs_check.groundwork.control.orders import RATIONAL
from proofs_check.groundwork.regret.envelope import bound_of, three
from theory.control.penalty import penalty
from theory.regret import omegas as regret


def chain() -> Evidence:
    """The bound, Σp, Σp̄, Σp̄_∞ and the oracle as five numbers: the T-slot lemma's slack is all that is lost."""
    bound, p, switched, steady, oracle, drift = sp.symbols("E p pCK pinf oracle drift", positive=True)
    right = regret.master_bound(bound - p, switched - steady, steady - oracle, drift, V)
    what = r"$\mathrm{Reg}$ plus the $T$-slot lemma's slack, and $\Omega_1+\Omega_2+\Omega_3+\sum B_t/V$,"
    return argument(
        (bound - oracle + (switched + drift / V - p), right, what),
        (bound - oracle <= right, [p <= switched + drift / V], "where the $T$-slot lemma holds"),
        (
            right - regret.master_bound_as_stated(bound - p, switched - steady, steady - oracle, drift, V),
            2 * (bound - p),
            r"the right side less that with the printed minus, and $2\Omega_1$",
        ),
        domain="every value of the five sums",
    )


PATHS = {
    "upper ends": lambda low, high, t: high,
    "lower ends": lambda low, high, t: low,
    "in turn": lambda low, high, t: low if t % 2 else high,
}


def on_paths(context: Context) -> Evidence:
    """theory's Ω₁, Ω₂, Ω₃ add up to the regret less Σp - Σp̄, each sum taken by itself: on three paths, E = 3."""
    region, T, weight = Region(rate=Fraction(7, 2), rho=Fraction(4, 5)), context.choose(9, 40), 7
    numbers, exact = RATIONAL.map(ball), region.map(ball)
    ends = [(region_minimum(region, t), region_maximum(region, t), t) for t in range(1, T + 1)]

    def off(p: Any) -> Any:
        balls = np.array([ball(PATHS[p["path"]](*end)) for end in ends], dtype=object)
        run, merged, K = trajectory(balls, p["K"]), numbers.merged, p["K"]
        bound = three(bound_of(balls, K, numbers).terms)
        oracle = three(oracle_bound(K * region.rate, T, RATIONAL, certified=True).terms)
        gaps = (
            penalty(n, N, merged) - penalty_comparison(K, ball(t), exact, merged).total
            for t, (n, N) in enumerate(zip(run.n, run.N, strict=True), start=1)
        )
        omegas = (
            regret.omega1(balls, K, numbers).total,
            regret.omega2(K, region, T, RATIONAL, certified=True).total,
            regret.omega3(K, region.rate, T, RATIONAL, certified=True).total,
        )
        return abs(bound - oracle - regret.master_bound(*omegas, weight * sum(gaps, ball(0)), ball(weight)))

    return compare(
        off,
        "<=",
        lambda p: ball(Fraction(1, 10**12)),
        [{"path": name, "K": k, "T": T} for name in PATHS for k in (1, 3)],
        domain=rf"$\bar\Lambda=7/2$, $\rho=4/5$, $V=7$, constants {RATIONAL}; $V(\sum p-\sum\bar p)$ in place of "
        r"$\sum B_t$",
    )


def in_the_loop(context: Context) -> Evidence:
    """ACDPP itself, given ηE, against random costs: each run's regret and the right side with its own ΣB_t."""
    rounds, runs, K, C, weight = context.choose(60, 400), 4, 3, 20.0, 50.0
    region, floats = Region(rate=3.5, rho=0.8), RATIONAL.map(float)
    drawn = context.generator().uniform(1, 10, (rounds, runs))
    played = control_loop(drawn, K=K, V=weight, C=C, region=region, constants=floats.merged)
    oracle = three(oracle_bound(K * region.rate, rounds, floats).terms)
    second = regret.omega2(K, region, rounds, floats).total
    others = second, regret.omega3(K, region.rate, rounds, floats).total
    drift = sum(float(regret.drift_constant(region, t, 37.0, C)) for t in range(1, rounds + 1))  # E[c²] = 37
    rows = []
    for admitted in played.admitted.T:
        gap = three(bound_of(admitted, K, floats).terms) - oracle
        right = regret.master_bound(regret.omega1(admitted, K, floats).total, *others, drift, weight)
        rows.append((float(gap), float(right)))
    return (holds if all(a <= b for a, b in rows) else fails)(
        "simulation",
        f"regret and right side of {runs} runs: " + ", ".join(f"{a:.6g} <= {b:.6g}" for a, b in rows),
        domain=rf"costs i.i.d. uniform on [1, 10], $E[c]\bar\Lambda\le C={C}$, $V={weight}$, $T={rounds}$, {runs} runs",
        certificate={"regret, right side": rows},
    )


OMEGAS: tuple[Any, Any, Any] = sp.symbols("omega1 omega2 omega3", positive=True)
DRIFT, B = sp.symbols("drift_total B", positive=True)

ORDERS = (
    Given("lem:omega1-order", r"$\Omega_1$ is of order $\log T$ at most, in both forms"),
    Given("lem:omega2-order", r"$\Omega_2$ is bounded"),
    Given("lem:omega3-order", r"$\Omega_3$ is of order $\sqrt{T\log T}$"),
)
CLAIMS = [
    Claim(
        id="eq:omega-master",
        kind="inequality",
        title=r"$\mathrm{Reg}\le-\Omega_1+\Omega_2+\Omega_3+O(T/V)$, $V$, $\rho$ fixed: true, empty",
        statement=r"The regret is at most minus the first correction plus the other two plus a term of order $T/V$. "
        r"With a constant that may depend on $V$ and $\rho$, as in Theorem 2, that is true and says nothing of the "
        r"signs: $T/V$ is linear in $T$, and all the others are of lower order. What is used is that the term is the "
        r"drift's, and that by its definition $\Omega_1$ enters with a plus; the minus is a slip, as it is only used "
        r"with $\Omega_1=O(1)$: eq:omega-master/drift-term.",
        formula=r"\mathrm{Reg}(T)\le-\Omega_1(T)+\Omega_2(T)+\Omega_3(T)+O_{V,\rho}(T/V)",
        symbols={"O": r"up to a factor that may depend on $V$ and $\rho$"},
        domain=r"every fixed $V>0$ and $0<\rho<1$, $T\to\infty$, every policy inside the region",
        sketch=r"$\Omega_1$ is of order $\log T$ at most, $\Omega_2$ bounded, $\Omega_3$ of order "
        r"$\sqrt{T\log T}$: whatever their signs, the right side is a multiple of $T$, and the regret is less: the "
        r"dearest round of any policy inside the region exceeds the oracle's by an amount that tends to 0.",
        given=ORDERS,
        checks={
            "the right side is linear": lambda: argument(
                (
                    regret.master_bound_as_stated(sp.log(T), 1, sp.sqrt(T * sp.log(T)), B * T, V) / T,
                    T,
                    B / V,
                    "the right side, with each part at its order, over $T$",
                ),
                domain=r"every fixed $V$, every $B>0$ in $O(T/V)$",
            ),
            "the regret is less": theorem(
                "Inside.printed_regret_is_sublinear", domain=r"every policy inside the region, with $\log^+$"
            ),
        },
        substance="eq:omega-master/drift-term",
    ),
    Claim(
        id="eq:omega-master/drift-term",
        kind="reading",
        title=r"$\mathrm{Reg}\le+\Omega_1+\Omega_2+\Omega_3+\sum B_t/V$",
        statement=r"The regret is at most the three corrections together plus what the $T$-slot lemma, as corrected, "
        r"leaves of the drift. By its definition $\Omega_1$ enters with a plus: the bound is $\sum p+\Omega_1$. With "
        r"$\chi$ it is positive and of order $\log T$ for $K\ge2$.",
        formula=said(r"\mathrm{Reg}(T)\le @right", right=regret.master_bound(*OMEGAS, DRIFT, V)),
        domain=r"every $K$, $\rho$, $V$, $T$; the hypotheses of lem:dpp-T-slot-upper, corrected",
        given=(Given("lem:dpp-T-slot-upper", r"$\sum p\le\sum\bar p+\sum B_t/V$, as corrected there"),),
        sketch=r"The regret is (bound $-\sum p$) + ($\sum p-\sum\bar p$) + ($\sum\bar p-\sum\bar p_{\infty}$) + "
        r"($\sum\bar p_{\infty}-$ oracle's bound), $p$ the penalty of the policy's own path, $\bar p$ that of "
        r"switching to $\bar\Lambda$, $\bar p_{\infty}$ that of constant admission.",
        checks=(chain, confirming(on_paths), confirming(in_the_loop)),
    ),
]
