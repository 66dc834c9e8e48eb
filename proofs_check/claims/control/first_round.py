r"""Effect of the first round on the buffers and on the budget (`alg:acdpp/first-round`)."""

from proofs_check.prelude import *

from proofs_check.engines import simulation
from proofs_check.groundwork.control.drift_step import in_round_1, without_debt
from proofs_check.groundwork.control.orders import ONES, UNIT
from proofs_check.groundwork.control.printed_log import LARGE, LARGE_RATE, LOG_PLUS, as_printed
from proofs_check.groundwork.control.region_ends import plain
from theory.control.admission import AdmissionState, acdpp_round
from theory.paper import BUDGET, BUFFERS, RATE, RETENTION

FIRST, LEAST = plain(region_maximum(REGION, 1)), cost_violation_least(T, rho, C)
x = sp.Symbol("x", positive=True)  # ρ^T
admitted, retained, room = sp.symbols("admitted retained room", nonnegative=True)
LIGHT = Constants(D=3.0, sigma=0.5, eta=2.0, B=0.01, Pdim=50.0)
FLOATS = UNIT.map(float)
PRINTED = Region(rate=RATE, rho=Fraction(9, 10))  # with Pdim = Λ_min(1) = 1 as printed
# the buffers overflow, K = 10, only for ρ > 0.9: with log⁺
WIDE: dict[str, Any] = {
    "V": 1.0,
    "C": float(BUDGET),
    "region": Region(rate=float(RATE), rho=0.99),
    "constants": FLOATS,
}


def buffers_overflow() -> Evidence:
    """Λ_max(1) > KΛ̄ = ΣB wherever ρ > 1-1/K."""
    domain = rf"every $K$ and $\rho>1-1/K$, $\sum B=K\bar\Lambda$, {LARGE_RATE}"
    more = always(K * rate < FIRST, given=[*LARGE, rho > 1 - 1 / K], domain=domain)
    found = refutes(more, rf"round 1 admits more than all buffers hold: {domain}, any $V$")
    return obeying(found, {**in_round_1(REGION, given=LARGE), "such numbers exist": an_example()})


def an_example() -> Evidence:
    """25 admitted where 20 fit, and at least 4 in any case."""

    def no_example(K: int, Pdim: int, region: Region) -> Found:
        least, most = (end(region, 1) for end in (region_minimum, region_maximum))
        fine = Pdim <= least and most > K * region.rate
        return unless(fine, **{"Λ_min(1)": least, "Λ_max(1)": most, "ΣB": K * region.rate})

    point = {"K": 2, "Pdim": 1, "region": Region(rate=10, rho=Fraction(3, 5))}
    domain = r"$K=2$, $\rho=3/5$, $\bar\Lambda=10$, $\mathrm{Pdim}=1$: $25>20$"
    return exhaust([point], no_example, domain=domain)


@everywhere(
    r"$V=1/1000$, 1, $10^6$; $\rho=0.1$, 0.5, 0.99; costs 0, 5.5, 40; two sets of constants; $\bar\Lambda=K=10$, "
    "$C=55$",
    V=(1e-3, 1.0, 1e6),
    rho=(0.1, 0.5, 0.99),
    cost=(0.0, 5.5, 40.0),
    constants=(FLOATS, LIGHT),
)
def played_first_round(V: float, rho: float, cost: float, constants: Constants) -> Found:
    """The real policy: it admits Λ_max(1), and books the debt."""
    region, start = Region(rate=float(RATE), rho=rho), AdmissionState.initial(1, RETENTION)
    state, amount = acdpp_round(start, cost, V=V, C=float(BUDGET), region=region, constants=constants)
    most = float(region_maximum(region, 1))
    played = (float(amount[0]), float(state.debt[0]), state.round)
    return differing(played=played, expected=(most, max(cost * most - BUDGET, 0.0), 2))


NEVER_REPAID = theorem("Control.never_repaid", domain=r"every $T\ge1$, $\rho$ and $C$")


def cost_is_never_met() -> Evidence:
    """The least violation is positive at every horizon."""
    positive = sp.Gt(sp.expand_power_exp(LEAST).subs(rho**T, x), 0, evaluate=False)
    domain = rf"the least violation, $\mathbb E[c(t)]\bar\Lambda=C$: every $T$, $\rho$, $C$; {LARGE_RATE}"
    detail = said("the mean cost exceeds the budget at every horizon $T$, by $@least$", least=LEAST)
    found = refutes(always(positive, given=[rho < 1], domain=domain), detail)
    facts = {**in_round_1(REGION, given=LARGE), "no policy spends less": NEVER_REPAID()}
    return obeying(found, facts)


def violation_in_the_loop(context: Context) -> Evidence:
    """Costs uniform on [1, 10], ρ = 0.9, as printed: the first ten rounds, and a violation beyond chance."""
    rounds, runs = 10, context.choose(3000, 20000)
    drawn = context.generator().uniform(1, 10, (rounds, runs))
    region = PRINTED.map(float)
    played = simulation.control_loop(
        drawn, K=RETENTION, V=1.0, C=float(BUDGET), region=region, constants=ONES.map(float)
    )
    excess = (played.spent - BUDGET).cumsum(axis=0)
    held = [float(played.admitted[:k].sum(axis=0).mean()) for k in (1, 10)]
    numbers: dict[str, Any] = {
        "mean Z(2)": float(played.debt[1].mean()),
        "mean violation after 1 and 10 rounds": [float(excess[i].mean()) for i in (0, 9)],
        "the least possible mean": cost_violation_least(rounds, region.rho, BUDGET),
        "samples in memory, rounds 1 and 10": held,
    }
    found = simulation.compare_mean(
        excess[-1],
        0.0,
        low=-float(BUDGET * rounds),
        high=10 * float(region_maximum_total(region, rounds + 1)) - BUDGET * rounds,
        domain=rf"MNIST budgets, costs uniform on [1, 10], $\rho=0.9$, $\mathrm{{Pdim}}=1$, $V=1$, $T={rounds}$",
        what=r"$\sum(c\Lambda-C)$, which must not be positive",
        **numbers,
    )
    return obeying(found, as_printed(PRINTED, ONES))


def capacity_in_the_loop(context: Context) -> Evidence:
    """The real policy with a capacity: never above it, at it in round 1, and unchanged where it does not bind."""
    rounds, runs, capacity = context.choose(200, 1000), 50, float(sum(BUFFERS))
    state = AdmissionState.initial(runs, RETENTION)
    held, refused, unchanged = [], [], []
    for cost in context.generator().uniform(1, 10, (rounds, runs)):
        before, (_, free) = state.retained, acdpp_round(state, cost, **WIDE)
        state, amount = acdpp_round(state, cost, **WIDE, capacity=capacity)
        held.append(before + amount)
        refused.append(not acdpp_round(state, cost, **WIDE, capacity=state.retained / 2)[1].any())
        fits = before + free <= capacity
        unchanged.append(bool((amount[fits] == free[fits]).all()))
    fullest, least = float(np.max(held)), float(np.min(held[0]))
    fine = fullest <= capacity * (1 + 1e-12) and least == capacity and all(refused) and all(unchanged)
    return (holds if fine else fails)(
        "simulation",
        rf"the fullest memory is {fullest:g}, $\sum B$ is {capacity:g}",
        domain=rf"MNIST budgets, $\rho=0.99$, $p$ with $\log^+$, {runs} runs of {rounds} rounds",
        certificate={
            "fullest memory": fullest,
            "memory in round 1": least,
            "ΣB": capacity,
            "rounds that admit nothing when more than full": sum(refused),
            "rounds in which the cap leaves alone what fits": sum(unchanged),
        },
    )


CLAIMS = [
    Claim(
        id="alg:acdpp/first-round",
        kind="reading",
        title="ACDPP keeps to its buffers and its budget",
        statement="The policy as printed meets the average cost constraint, and the buffers hold what it admits, from "
        "the first round on ($Z(1)=0$).",
        formula=r"\tfrac1T\sum_tE[c(t)\Lambda(t)]\le C,\quad n(t)\le\sum_mB_m",
        domain=r"the benchmark design $K\bar\Lambda=\sum B$, mean cost times $\bar\Lambda$ equal to $C$, every $T$; "
        r"where $p$ is real (eq:penalty-dpp/real)",
        checks=(buffers_overflow, cost_is_never_met, violation_in_the_loop),
        corrected=Correction(
            title=said(
                r"$\Lambda(1)=\bar\Lambda/(1-\rho)$; $\mathrm{Vio}^{\mathrm S}(T)\ge@least$; cap by the room left",
                least=LEAST,
            ),
            statement=r"Without debt round 1 admits $\bar\Lambda/(1-\rho)$, more than $\sum B=K\bar\Lambda$ when "
            r"$\rho>1-1/K$, and spends $C/(1-\rho)$ on average. Inside the region that is never quite repaid. A cap of "
            r"the admission by the room that is left keeps the memory within $\sum B$ (and may leave the region).",
            formula=said(r"\mathrm{Vio}^{\mathrm S}(T)\ge@least>0\quad\forall T", least=LEAST),
            hypotheses=(r"$\mathbb E[c(t)\mid\text{past}]=C/\bar\Lambda$ in every round", LOG_PLUS),
            sketch=r"$J_1=Vp(\Lambda,\Lambda)$ is $V$ times the third term, which falls with $\log^+$. "
            r"$\mathbb E[c(t)\Lambda(t)]\ge\mathbb E[c(t)]\Lambda_{\min}(t)$ for $t\ge2$, and round 1 spends "
            r"$(C/\bar\Lambda)\Lambda_{\max}(1)$. Add up: "
            r"$1/(1-\rho)+\sum_{t=2}^T(1-\rho^t)-T=\rho+\rho^{T+1}/(1-\rho)$. With a cap the memory after admission "
            r"is at most $\sum B$, and what is retained in the next round is a part of it.",
            checks={
                "round 1": (without_debt, confirming(played_first_round)),
                "never repaid": NEVER_REPAID,
                "capped": (
                    lambda: argument(
                        (retained + admitted <= room, [admitted <= room - retained], "one round")
                    ),
                    confirming(capacity_in_the_loop),
                ),
            },
        ),
    )
]
