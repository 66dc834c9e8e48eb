r"""The T-slot lemma (`lem:dpp-T-slot-upper`): drift plus penalty of ACDPP against constant admission."""

from proofs_check.prelude import *

from proofs_check.engines import simulation
from proofs_check.groundwork.control import drift_step, region_ends, repaired_penalty
from proofs_check.groundwork.control.drift_step import Lambda, Z, c, debts_after, most
from proofs_check.groundwork.control.orders import LIGHTER
from theory.control.penalty import penalty

SETTING = Constants(D=2.0, sigma=1.5, eta=4.0, B=0.3, Pdim=3.0)
TIGHT, BUDGET = Region(rate=4.0, rho=0.3), 10.0
first, now, after = sp.symbols("L_1 L_t L_next", real=True)


# --- as printed --------------------------------------------------------------------------------------------


def large_weight() -> Evidence:
    """K = 1, costs all 1, T = 2: the debt is small against V, so both rounds admit the upper end of the region."""
    region, T, V = Region(rate=2, rho=Fraction(1, 2)), 2, 1000
    path = [region_maximum(region, t) for t in (1, 2)]
    debts = debts_after(path, [1, 1], 2)
    B = drift_constant(region, 1, 1, 2)
    numbers, balls = LIGHTER.map(ball), region.map(ball)
    pairs = zip(path, (path[0], path[0] + path[1]), strict=True)
    left = ball(debts[-1]) ** 2 / 2 + V * sum(penalty(ball(n), ball(N), numbers) for n, N in pairs)
    right = ball(B) * T + V * sum(penalty_comparison_as_stated(1, t, balls, numbers).total for t in (1, 2))
    found = compare(
        lambda p: left,
        "<=",
        lambda p: right,
        [{"K": 1, "T": T, "V": V, "rho": "1/2", "Λ(1)": "4", "Λ(2)": "8/3", "Z(3)": debts[-1], "B": B}],
        domain=r"$\bar\Lambda=C=2$, costs 1; $D=\sigma=\eta=1$, $B=1/100$, $\mathrm{Pdim}=1$; drift constant "
        r"$(\Lambda_{\max}(1)^2+C^2)/2$",
    )
    # in round 2 the second term alone falls by more, V times, than the debt's price rises; the others fall, too
    x, high = sp.Symbol("x", positive=True), path[1]
    at_x, at_end = (linear_term(1 / z - 1 / (path[0] + z), LIGHTER) for z in (x, sp.Rational(str(high))))
    dearer = int(debts[1]) * (high - x) < V * (at_x - at_end)
    facts = {
        **drift_step.in_round_1(region, LIGHTER),
        r"round 2 admits $\Lambda_{\max}(2)$": always(
            dearer, given=[x < high], domain=r"smaller $\Lambda(2)$, larger $J_2$"
        ),
        "the other terms fall": repaired_penalty.third_term_falls(),
        "admissions inside the region": region_ends.lies_inside(path, region),
    }
    return obeying(found, facts)


# --- corrected ---------------------------------------------------------------------------------------------


def one_round() -> Evidence:
    """From J(Λ*) <= J(Λ̄), p^CK <= p̄ and Λ* <= Λ_max: the inequality of one round, on every path."""
    p, other, bound, held, seen = sp.symbols("p p_switch p_bound held seen", nonnegative=True)
    objective = drift_plus_penalty(
        Lambda, Z=Z, cost=c, C=C, V=V, retained=held, seen=seen, constants=CONSTANTS
    )
    price = objective - V * penalty(held + Lambda, seen + Lambda, CONSTANTS)
    chosen = Z * (c * Lambda - C) + V * p <= Z * (c * rate - C) + V * other
    drift = debt_update(Z, c, Lambda, C) ** 2 / 2 - Z**2 / 2
    return argument(
        (price, Z * (c * Lambda - C), r"$J$ less $V$ times the penalty and $Z(c\Lambda-C)$"),
        (
            drift + V * p <= (c**2 * most**2 + C**2) / 2 + Z * (c * rate - C) + V * bound,
            [chosen, other <= bound, Lambda <= most],
            r"every $Z,c,\Lambda,p\ge0$ and $C,V>0$",
        ),
        domain="every argument and constant",
    )


def _played(costs: simulation.Floats, K: int, V: float) -> tuple[simulation.ControlRuns, Any, Any]:
    """Runs of the policy, their penalties, and the repaired bound on these, round by round."""
    played = simulation.control_loop(costs, K=K, V=V, C=BUDGET, region=TIGHT, constants=SETTING)
    paths = [trajectory(column, K) for column in played.admitted.T]
    penalties = np.array([penalty(path.n, path.N, SETTING) for path in paths]).T
    bound = np.array([penalty_comparison(K, t + 1, TIGHT, SETTING).total for t in range(len(costs))])
    return played, penalties, bound[:, np.newaxis]


def every_path(context: Context) -> Evidence:
    """The inequality of one round, in each round of each run. Without any of its seven terms some round violates it."""
    rounds, runs, generator = context.choose(40, 200), context.choose(6, 60), context.generator()
    worst = -np.inf
    for K, weight in product((1, 4), (1e-4, 1e6)):
        costs = generator.choice([0.0, 0.0, 1.0, 9.0], (rounds, runs))
        played, penalties, bound = _played(costs, K, weight)
        before, later = played.debt[:-1], played.debt[1:]
        left = (later**2 - before**2) / 2 + weight * penalties
        squares = [drift_constant(TIGHT, t, cost**2, BUDGET) for t, cost in enumerate(costs, start=1)]
        right = np.array(squares) + before * (costs * TIGHT.rate - BUDGET) + weight * bound
        size = later**2 + before**2 + weight * bound + BUDGET**2
        worst = max(worst, float(np.max((left - right) / size)))
    return (holds if worst <= 1e-9 else fails)(
        "simulation",
        f"left less right is at most {worst:.2g} of their size in all {4 * rounds * runs} rounds",
        domain=r"costs 0, 1, 9 in any order; $K=1$, 4; $V=10^{-4}$, $10^6$; $\rho=0.3$, $\bar\Lambda=4$, $C=10$",
        certificate={"largest (left - right)/size": worst},
    )


def enumerated_mean(context: Context) -> Evidence:
    """E[L(T+1)] + VΣE[p] over all paths of independent costs, rarely high, against the corrected right side."""
    T, chance, sides = context.choose(8, 12), 1 / 8, {}
    high = BUDGET / TIGHT.rate / chance  # of mean C/Λ̄
    costs = np.array(list(product((0.0, high), repeat=T))).T
    odds = np.prod(np.where(costs > 0, chance, 1 - chance), axis=0)
    drift = sum(drift_constant(TIGHT, t, chance * high**2, BUDGET) for t in range(1, T + 1))
    for weight in (1e-3, 1e6):
        played, penalties, bound = _played(costs, 2, weight)
        left = np.sum(odds * (played.debt[-1] ** 2 / 2 + weight * penalties.sum(axis=0)))
        sides[f"V = {weight:g}"] = [float(left), float(drift + weight * bound.sum())]
    return (holds if all(left <= right for left, right in sides.values()) else fails)(
        "simulation",
        f"left and right over all {costs.shape[1]} cost paths, with their probabilities: {sides}",
        domain=rf"costs 20 with probability $1/8$, else 0; $\bar\Lambda=4$, $C=10$, $K=2$, $\rho=0.3$, $T={T}$",
        certificate={"left, right": sides},
    )


def conditional_means() -> Evidence:
    """A mean of products of a non-negative and a non-positive number; two pasts stand for any number of them."""
    p, z1, z2, m1, m2 = sp.symbols("p z1 z2 m1 m2", nonnegative=True)
    return always(
        p * z1 * (m1 * rate - C) + (1 - p) * z2 * (m2 * rate - C) <= 0,
        given=[p <= 1, m1 * rate <= C, m2 * rate <= C],
        domain="any two pasts; $m$ is the mean cost given the past: "
        r"$\mathbb E[Z(c\bar\Lambda-C)]=\mathbb E[Z(\mathbb E[c\mid\text{past}]\bar\Lambda-C)]$",
    )


CLAIMS = [
    Claim(
        id="lem:dpp-T-slot-upper",
        kind="lemma",
        title=r"$L+V\sum p\le BT+V\sum\bar p^{\mathrm{CK}}$ over $T$ rounds",
        statement="Drift and penalties of ACDPP are at most $BT$ plus $V$ times the printed comparison penalties, for "
        "costs that are independent and affordable in every round.",
        formula=r"E[L(T+1)-L(1)]+V\sum_tE[p(t)]\le BT+V\sum_t\bar p^{CK}(t)",
        domain=r"every $V>0$, $K$, $\rho$, $T$; $B$ at least that of every round; costs as the "
        r"proof takes them, independent of the debt and affordable in every round (eq:comparison-feasible)",
        symbols={"B": "the drift's constant"},
        repair=r"Assume $\mathbb E[c(t)\mid\text{past}]\,\bar\Lambda\le C$; take "
        r"$\Lambda_{\min}(s)=0$ for $s\le0$; mend $\bar p^{\mathrm{CK}}$ as in lem:dpp-T-slot-upper/monotone.",
        checks=(large_weight,),
        corrected=Correction(
            title=r"with $\sum B_t$, the repaired $\bar p^{\mathrm{CK}}$, and costs affordable given the past",
            statement=r"With $B_t$ for $B$ and the repaired $\bar p^{\mathrm{CK}}$ it holds if the mean cost given the "
            "past is affordable in every round. Without that it holds on every path with "
            r"$\sum Z(t)(c(t)\bar\Lambda-C)$ added on the right.",
            formula=r"E[L(T+1)]+V\sum_tE[p(t)]\le\sum_tB_t+V\sum_t\bar p^{CK}_{\mathrm{repaired}}(t)",
            hypotheses=drift_step.PAST,
            given=(WRITTEN,),
            symbols={"repaired": "see lem:dpp-T-slot-upper/monotone, corrected"},
            sketch=r"$\bar\Lambda$ lies in the region, so "
            r"$J_t(\Lambda^\star)\le J_t(\bar\Lambda)=Z(c\bar\Lambda-C)+Vp^{\mathrm{CK}}$. The switch's penalty "
            r"$p^{\mathrm{CK}}$ is at most the repaired one (lem:dpp-T-slot-upper/monotone). The drift is at most "
            r"$(c^2\Lambda_{\max}^2+C^2)/2+Z(c\Lambda-C)$. Add the three: the inequality of one round, on every path. "
            r"Take means given the past: the squares become $B_t$, and $\mathbb E[Z(c\bar\Lambda-C)]\le0$. Sum over "
            "the rounds: the drifts telescope, and $L(1)=0$.",
            checks={
                "one round": (one_round, confirming(every_path)),
                "$B_t$": drift_step.drift_constant_is,
                r"$\bar\Lambda$ is a choice": drift_step.rate_is_a_choice,
                r"$\bar p^{\mathrm{CK}}$: ends are sums": region_ends.SUMS,
                r"$\bar p^{\mathrm{CK}}$: pieces at the ends": repaired_penalty.PIECES,
                r"$\bar p^{\mathrm{CK}}$: first two terms": repaired_penalty.first_terms_move,
                r"$\bar p^{\mathrm{CK}}$: third term": repaired_penalty.third_term_falls,
                "means": (conditional_means, confirming(enumerated_mean)),
                "sum": lambda: argument(
                    (now - first + after - now, after - first, "the sum of the drifts and $L(t+1)-L(1)$"),
                    domain="one round more",
                ),
            },
        ),
    )
]
