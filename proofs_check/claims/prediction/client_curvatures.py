r"""Clients with curvatures of their own (`law:reuse/client-hessians`): the same law, to another goal.

Client m's E steps take θ to \(a_m\theta+(1-a_m)\bar z_m\): the average is one recursion again, but it weighs a
client's mean by \(1-a_m\) where the population's risk weighs it by \(h_m\).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Given, confirming
from proofs_check.engines.exact import Found, by_profile, differing, everywhere
from proofs_check.engines.identity import equations
from proofs_check.engines.limit import limits
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.prediction.streams import federated
from proofs_check.symbols import CONSTANTS
from theory.clients import own_goal, own_optimum, own_spread
from theory.curved import local_shift
from theory.law import by_age, contraction, squared_weights

F = Fraction
E, eta = CONSTANTS.E, CONSTANTS.eta
p, r, a1, a2, h1, h2, t = sp.symbols("p r a_1 a_2 h_1 h_2 t", positive=True)  # p and r: shares of two clients
mu1, mu2, x = sp.symbols("mu_1 mu_2 x", real=True)
MEANS = [mu1, mu2]
LAW = Given("law:reuse", "that the recursion has the law's weights")


def goal() -> Evidence:
    end, best = own_goal([p, r], [a1, a2], MEANS), own_optimum([p, r], [h1, h2], MEANS)
    moved = (p * (a1 * x + (1 - a1) * mu1) + r * (a2 * x + (1 - a2) * mu2)) / (p + r)
    return equations(
        (moved - end, (p * a1 + r * a2) / (p + r) * (x - end), "the distance from the goal after a round"),
        (p * h1 * (best - mu1) + r * h2 * (best - mu2), 0, r"the slope at $\theta^\star$ and 0"),
        domain=r"two clients, every $\theta$",
    )


def one_step() -> Evidence:
    """For E = 1, 1-a is ηh. For E >= 2 goal - θ* has the sign of (μ₁-μ₂)(b₁-b₂), b = (1-a)/h, which falls in h."""
    b1, b2, q = sp.symbols("b_1 b_2 q", positive=True)  # q = 1 - ηh
    one, many = [contraction(h, eta, 1) for h in (h1, h2)], [1 - b1 * h1, 1 - b2 * h2]
    at, best = (1 - q) / eta, own_optimum([p, r], [h1, h2], MEANS)
    shift = local_shift(at, eta, E)  # 0 at E = 1
    below = (p * b1 * h1 + r * b2 * h2) * (p * h1 + r * h2)
    away = p * r * h1 * h2 * (mu1 - mu2) * (b1 - b2) / below
    return together(
        equations(
            (own_goal([p, r], one, MEANS), best, r"for $E=1$ the goal and $\theta^\star$"),
            (own_goal([p, r], many, MEANS) - best, away, r"goal $-\theta^\star$ and its factors"),
            (-eta * sp.diff((1 - q**E) / at, q), -shift, "the slope of $b$ in $h$ and theory's"),
            (local_shift(at, eta, E + 1) - shift, eta**2 * E * q ** (E - 1), "a term more of it"),
            domain="two clients, every $b$ and $E$",
        ),
        always(
            away > 0,
            given=[mu1 > mu2, b1 > b2],
            domain="the client with the larger $b$, so the smaller $h$, pulls the goal to its side",
        ),
    )


def noise() -> Evidence:
    """A sample of client m adds (1-a_m)/n a round, (1-a_m)/(1-ā) times the law's (1-ā)/n; n·p_m/Σp of them."""
    mean = (p * a1 + r * a2) / (p + r)
    s1, s2, law = sp.symbols("s_1 s_2 law", positive=True)  # law: Σc² at ā
    each = (p * ((1 - a1) / (1 - mean)) ** 2 * s1 + r * ((1 - a2) / (1 - mean)) ** 2 * s2) / (p + r)
    found, domain = own_spread([p, r], [a1, a2], [s1, s2]), "two clients, any law of the pooled memory"
    return equations(
        (law * found, law * each, "theory's noise and the samples', client by client"), domain=domain
    )


@everywhere(
    "two clients, up to four samples per round, $K=1,2$, $E=1,2$; every stream",
    admitted=(((1, 1), 3), ((1, 2), 2), ((3, 1), 2)),
    K=(1, 2),
    E=by_profile((1, 2), (1, 2, 5)),
)
def every_stream(admitted: Any, K: int, E: int) -> Found:
    """The mean stays at the goal, the square is the law's."""
    (counts, rounds), h, means, step = admitted, (F(1), F(1, 3)), (F(2), F(-1)), F(1, 2)
    a = [contraction(value, step, E) for value in h]
    mean = sum(c * x for c, x in zip(counts, a, strict=True)) / sum(counts)
    law, end = (
        squared_weights(by_age([sum(counts)] * rounds, K), mean, rounds)[-1],
        own_goal(counts, a, means),
    )
    clients = [(h[m], means[m], 1, F(counts[m], sum(counts))) for m in (0, 1)]
    found = federated(counts, K, rounds, clients, eta=step, E=E, start=end)[-1]
    return differing(found=found, wanted=(end, law * own_spread(counts, a, [2, 2])))


CLAIMS = [
    Claim(
        id="law:reuse/client-hessians",
        kind="addition",
        title=r"clients with their own curvature: $E>1$ does not lead to $\theta^\star$",
        statement="Let client $m$ have its own curvature $h_m$, mean and variance, and a constant share "
        r"$p$ of the memory. With weights $n_m/n$ the law holds with $\bar a=\sum pa_m$ in place of $a$: "
        r"the mean tends to $\sum p(1-a_m)\mu/\sum p(1-a_m)$, whatever $K$, and the noise is "
        r"$v(\bar a,K)/\bar\Lambda$ times $\sum p((1-a_m)/(1-\bar a))^2s^2$. For $p=\alpha$ one step leads "
        r"to $\theta^\star$; with $E\ge2$ clients of small curvature count for too much, and clients that "
        r"solve their memories end at $\sum p\mu$.",
        formula=r"\mathbb E\theta\to\frac{\sum_mp_m(1-a_m)\mu_m}{\sum_mp_m(1-a_m)},\quad "
        r"\theta^\star=\frac{\sum_m\alpha_mh_m\mu_m}{\sum_m\alpha_mh_m},\quad "
        r"\text{noise }\frac{v(\bar a,K)}{\bar\Lambda}\sum_mp_m\Bigl(\frac{1-a_m}{1-\bar a}\Bigr)^2s_m^2",
        domain="quadratic losses, one direction (or Hessians that commute), every client at a constant "
        r"share of the memory, weights $n_m/n$, $0<\eta h_m<1$",
        sketch=r"Client $m$'s steps take $\theta$ to $a_m\theta+(1-a_m)\bar z_m$; averaged with the "
        r"constant $p$ it is $\bar a\theta+\sum p(1-a_m)\bar z_m$, whose mean has the stated fixed point. "
        r"A sample of client $m$ enters a round with $(1-a_m)/n$, which is $(1-a_m)/(1-\bar a)$ times what "
        r"the law has for $\bar a$. $\theta^\star$ weighs $\mu$ by $\alpha h$. $1-a_m$ is $\eta h_m$ for "
        r"one step; for $E\ge2$ the quotient $(1-a)/h=\eta\sum_{e<E}(1-\eta h)^e$ falls in $h$, so the "
        "smaller of two curvatures has the larger weight over $h$.",
        given=(WRITTEN, LAW),
        checks={
            "the goal": (goal, confirming(every_stream)),
            "one step and more": one_step,
            "solved memories": lambda: limits(
                t,
                (own_goal([p, r], [1 / t, 1 / t**2], MEANS), (p * mu1 + r * mu2) / (p + r), "the goal"),
                domain=r"$a_1,a_2\to0$",
            ),
            "noise": (noise, confirming(every_stream)),
        },
        symbols={
            "a": r"a client's $(1-\eta h)^E$",
            "ā": r"its mean over the memory, $\sum pa$",
            "h": "a client's curvature",
            "v": "stationary noise of constant admission (law:reuse/retention)",
            "p": "a client's share of the memory",
            "s": "a client's standard deviation",
            "μ": "a client's mean",
        },
    ),
]
