"""The cost-debt queue and the state of the policy: where they start, and that theory's code plays them."""

from proofs_check.prelude import *

from proofs_check.groundwork.control.drift_step import c
from theory.control.admission import AdmissionState, acdpp_round, advance


@drawn(
    "any costs and admissions",
    (60, 400),
    rounds=st.lists(st.tuples(fractions(0), fractions(0)), min_size=1, max_size=6),
    budget=fractions(),
)
def queue_exact(rounds: list[tuple[Fraction, Fraction]], budget: Fraction) -> Found:
    """Unfolded, the queue is the walk's height above its lowest point so far; and it is at least the violation."""
    debt = Fraction(0)
    for cost, admitted in rounds:
        debt = debt_update(debt, cost, admitted, budget)
    path = list(accumulate((cost * admitted - budget for cost, admitted in rounds), initial=Fraction(0)))
    height = path[-1] - min(path)
    return unless(debt == height >= path[-1], debt=debt, height=height, violation=path[-1])


@everywhere(
    "all sequences of 5 admissions (fully: 7) 0, 1, 3; $K=1$, 2, 3, 6; costs $t/2$, $C=5/2$",
    K=(1, 2, 3, 6),
    admissions=by_profile(*(tuple(product((0, 1, 3), repeat=rounds)) for rounds in (5, 7))),
)
def state_remembers(K: int, admissions: tuple[int, ...]) -> Found:
    """n and N at training, all samples by name: the state and the admission add up to them."""
    state, C, debt = AdmissionState.initial(1, K, dtype=object), Fraction(5, 2), Fraction(0)
    for amount, seen in zip(admissions, simulate([[a] for a in admissions], K), strict=True):
        cost = Fraction(seen.round, 2)
        told = (state.round, state.retained[0] + amount, state.seen[0] + amount, state.debt[0])
        true = (seen.round, seen.n, seen.N, debt)
        if told != true:
            return {"round, n, N and Z of the state": told, "of the simulation": true}
        state = advance(state, np.array([amount], dtype=object), cost=cost, C=C)
        debt = max(debt + cost * amount - C, Fraction(0))
    return None


def choice_minimises(context: Context) -> Evidence:
    """Rounds of the real policy: Λ* lies in the region, and no point of a grid over it has a smaller J_t."""
    K, rules = 3, {"V": 40.0, "C": 12.0}
    region, numbers = Region(rate=4.0, rho=0.6), Constants(D=2.0, sigma=1.5, eta=0.5, B=0.3, Pdim=3.0)
    runs, rounds = 8, context.choose(12, 40)
    state, worse = AdmissionState.initial(runs, K), []
    for t, cost in enumerate(context.generator().uniform(0, 6, (rounds, runs)), start=1):
        now = {"Z": state.debt, "cost": cost, **rules, "retained": state.retained, "seen": state.seen}
        state, chosen = acdpp_round(state, cost, **rules, region=region, constants=numbers)
        low, high = float(region_minimum(region, t)), float(region_maximum(region, t))
        points = np.linspace(low, high, 401)[:, np.newaxis]
        best = drift_plus_penalty(points, **now, constants=numbers).min(axis=0)
        mine = drift_plus_penalty(chosen, **now, constants=numbers)
        inside = np.all((chosen >= low * (1 - 1e-12)) & (chosen <= high * (1 + 1e-12)))
        if not inside or np.any(mine > best + 1e-9 * np.abs(best)):
            worse.append({"t": t, "Λ*": chosen, "J(Λ*)": mine, "least J": best, "region": [low, high]})
    return (fails if worse else holds)(
        "simulation",
        rf"$\Lambda^\star$ is not the best of its round in {len(worse)} of {rounds} rounds, {runs} runs",
        domain=rf"{runs} runs of {rounds} rounds, $K=3$, $V=40$, $C=12$, $\bar\Lambda=4$, $\rho=0.6$; 401 points of "
        "the region per round",
        certificate={"rounds": runs * rounds, "where a point is better": worse},
    )


CLAIMS = [
    Claim(
        id="eq:Z-update/start",
        kind="reading",
        title="$Z(0)=0$ in the text, $Z(1)=0$ in the algorithm",
        statement="The two starting values agree: with nothing admitted before round 1, $Z(0)=0$ gives $Z(1)=0$.",
        formula=r"Z(1)=[0+0-C]^+=0",
        domain=r"$C>0$, $\Lambda(0)=0$",
        checks=(
            lambda: equal(debt_update(0, c, 0, C), 0, domain="any cost and budget", what="$Z(1)$ and 0"),
        ),
    ),
    Claim(
        id="eq:cum-cost-violation/queue",
        kind="inequality",
        title=r"the cost violation is at most $\mathbb E[Z(T+1)]$",
        statement="The cumulative cost violation never exceeds the mean debt after the last round.",
        formula=r"\mathrm{Vio}^{\mathrm S}(T)\le E[Z(T+1)]",
        domain="any costs and admissions, $Z(1)=0$",
        sketch=r"$Z(t+1)-Z(t)\ge c(t)\Lambda(t)-C$ on every path; add up from $Z(1)=0$ and take means. As "
        r"$Z(T+1)\ge0$, the positive part of the left is at most it, too.",
        checks=(theorem("Control.violation_at_most_mean_debt"), confirming(queue_exact)),
    ),
    Claim(
        id="alg:acdpp/state",
        kind="reading",
        title="debt and the last $K-1$ admissions are all the policy needs",
        statement="What the server can infer (the debt, the last $K-1$ admissions, how many samples have left) gives "
        "$n(t)$, $N(t)$ and $Z(t)$ of every round, and with them the minimiser of $J_t$ over the region.",
        formula=r"n(t)=\sum_{j=t-K+1}^t\Lambda(j),\quad\Lambda^\star(t)\in\operatorname{arg}\min_{[\Lambda_{\min}(t),\Lambda_{\max}(t)]}J_t",
        domain="$K$-step retention; theory's own state and minimiser, as the toolkit plays them, $\\log^+$ in $p$",
        symbols={"j": "a round", "argmin": "where it is least"},
        checks={"state": state_remembers, "choice": choice_minimises},
    ),
]
