r"""Effect of the first round on the buffers and on the budget (`alg:acdpp/first-round`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.control.drift_step import without_debt
from proofs_check.groundwork.control.orders import UNIT
from proofs_check.groundwork.control.printed_log import LOG_PLUS
from proofs_check.groundwork.control.region_ends import plain
from theory.control.admission import AdmissionState, acdpp_round
from theory.paper import BUDGET, BUFFERS, RATE, RETENTION

FIRST, LEAST = plain(region_maximum(REGION, 1)), cost_violation_least(T, rho, C)
admitted, retained, room = sp.symbols("admitted retained room", nonnegative=True)
LIGHT = Constants(D=3.0, sigma=0.5, eta=2.0, B=0.01, Pdim=50.0)
FLOATS = UNIT.map(float)
# the buffers overflow, K = 10, only for ρ > 0.9: with log⁺
WIDE: dict[str, Any] = {
    "V": 1.0,
    "C": float(BUDGET),
    "region": Region(rate=float(RATE), rho=0.99),
    "constants": FLOATS,
}


def more_than_fits() -> Evidence:
    """Λ_max(1) > KΛ̄ = ΣB wherever ρ > 1-1/K."""
    return always(K * rate < FIRST, given=[rho < 1, rho > 1 - 1 / K], domain=r"every $K$, $\rho>1-1/K$")


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


def positive() -> Evidence:
    """The least violation, with a symbol for ρ^T."""
    x = sp.Symbol("x", positive=True)
    least = sp.Gt(sp.expand_power_exp(LEAST).subs(rho**T, x), 0, evaluate=False)
    return always(least, given=[rho < 1], domain=r"every $T$, $\rho$, $C$")


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
        title=r"round 1 admits $\bar\Lambda/(1-\rho)$, never quite repaid",
        statement=r"Without debt round 1 admits $\bar\Lambda/(1-\rho)$, more than $\sum B=K\bar\Lambda$ when "
        r"$\rho>1-1/K$, and spends $C/(1-\rho)$ on average. Inside the region that is never quite repaid. A cap of "
        r"the admission by the room that is left keeps the memory within $\sum B$ (and may leave the region). (The "
        "paper's constraints are averages over rounds, and it bounds by how much they are violated: none of this "
        "contradicts it.)",
        formula=said(r"\mathrm{Vio}^{\mathrm S}(T)\ge@least>0\quad\forall T", least=LEAST),
        domain=rf"every $K$, $T$ and $\rho$, $K\bar\Lambda=\sum B$; $\mathbb E[c(t)\mid\text{{past}}]=C/\bar\Lambda$ "
        rf"in every round; {LOG_PLUS}",
        sketch=r"$J_1=Vp(\Lambda,\Lambda)$ is $V$ times the third term, which falls with $\log^+$. "
        r"$\mathbb E[c(t)\Lambda(t)]\ge\mathbb E[c(t)]\Lambda_{\min}(t)$ for $t\ge2$, and round 1 spends "
        r"$(C/\bar\Lambda)\Lambda_{\max}(1)$. Add up: "
        r"$1/(1-\rho)+\sum_{t=2}^T(1-\rho^t)-T=\rho+\rho^{T+1}/(1-\rho)$. With a cap the memory after admission "
        r"is at most $\sum B$, and what is retained in the next round is a part of it.",
        checks={
            "round 1": (without_debt, confirming(played_first_round)),
            r"$\rho>1-1/K$": more_than_fits,
            "never repaid": (NEVER_REPAID, positive),
            "capped": (
                lambda: argument((retained + admitted <= room, [admitted <= room - retained], "one round")),
                confirming(capacity_in_the_loop),
            ),
        },
    )
]
