r"""Clients with curvatures of their own (`law:reuse/client-hessians`): the same law, to another goal.

Client m's E steps take θ to \(a_m\theta+(1-a_m)\bar z_m\): the average is one recursion again, but it weighs a
client's mean by \(1-a_m\) where the population's risk weighs it by \(h_m\).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Context, Given, confirming
from proofs_check.engines.exact import exhaust
from proofs_check.engines.identity import equal
from proofs_check.engines.limit import tends_to
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.symbols import CONSTANTS
from proofs_check.text import said
from theory.clients import own_goal, own_optimum, own_spread
from theory.curved import local_shift
from theory.law import by_age, contraction, squared_weights

F = Fraction
E, eta = CONSTANTS.E, CONSTANTS.eta
p, r, a1, a2, h1, h2 = sp.symbols("p r a_1 a_2 h_1 h_2", positive=True)  # p and r: shares of two clients
mu1, mu2, x = sp.symbols("mu_1 mu_2 x", real=True)
LAW = Given("law:reuse", "that the recursion has the law's weights")


def goal() -> Evidence:
    """Σp_m(a_mθ + (1-a_m)μ_m) less theory's goal is ā(θ - goal); and θ* is where Σα_mh_m(θ-μ_m) is 0."""
    parts = (p / (p + r), r / (p + r))
    moved = parts[0] * (a1 * x + (1 - a1) * mu1) + parts[1] * (a2 * x + (1 - a2) * mu2)
    end, mean = own_goal([p, r], [a1, a2], [mu1, mu2]), parts[0] * a1 + parts[1] * a2
    best = own_optimum([p, r], [h1, h2], [mu1, mu2])
    return together(
        equal(
            moved - end,
            mean * (x - end),
            domain=r"two clients, every $\theta$",
            what="the distance after a round",
        ),
        equal(
            p * h1 * (best - mu1) + r * h2 * (best - mu2),
            0,
            domain="two clients",
            what="the slope at "
            r"$\theta^{\star}$",
        ),
    )


def one_step() -> Evidence:
    """For E = 1, 1-a is ηh. For E >= 2 goal - θ* has the sign of (μ₁-μ₂)(b₁-b₂), b = (1-a)/h, which falls in h."""
    b1, b2, q = sp.symbols("b_1 b_2 q", positive=True)
    away = own_goal([p, r], [1 - b1 * h1, 1 - b2 * h2], [mu1, mu2]) - own_optimum(
        [p, r], [h1, h2], [mu1, mu2]
    )
    below = (p * b1 * h1 + r * b2 * h2) * (p * h1 + r * h2)
    at = (1 - q) / eta
    return together(
        equal(
            own_goal([p, r], [contraction(h, eta, 1) for h in (h1, h2)], [mu1, mu2]),
            own_optimum([p, r], [h1, h2], [mu1, mu2]),
            domain="$E=1$, two clients",
            what=r"the goal and $\theta^{\star}$",
        ),
        equal(
            away,
            p * r * h1 * h2 * (mu1 - mu2) * (b1 - b2) / below,
            domain="two clients, every $b$",
            what=r"goal $-\theta^{\star}$ and its factors",
        ),
        equal(
            -eta * sp.diff((1 - q**E) / at, q),
            -local_shift(at, eta, E),
            domain=r"every $E$; $q=1-\eta h$",
            what="the slope of $b$ in $h$ and theory's",
        ),
        equal(
            local_shift(at, eta, E + 1) - local_shift(at, eta, E),
            eta**2 * E * q ** (E - 1),
            domain="every $E$: from 0 at $E=1$ on it grows",
            what="a term more",
        ),
        always(
            p * r * h1 * h2 * (mu1 - mu2) * (b1 - b2) / below > 0,
            given=[mu1 > mu2, b1 > b2],
            domain="the client with the larger $b$, so the smaller $h$, pulls the goal to its side",
        ),
    )


def solved() -> Evidence:
    """As a → 0 the goal is Σpμ, whatever the curvatures."""
    t = sp.Symbol("t", positive=True)
    return tends_to(
        own_goal([p, r], [1 / t, 1 / t**2], [mu1, mu2]),
        t,
        (p * mu1 + r * mu2) / (p + r),
        what="the goal",
        domain=r"$a_1$, $a_2\to0$",
    )


def noise() -> Evidence:
    """A sample of client m adds (1-a_m)/n a round, (1-a_m)/(1-ā) times the law's (1-ā)/n; n·p_m/Σp of them."""
    mean = (p * a1 + r * a2) / (p + r)
    s1, s2, law = sp.symbols("s_1 s_2 law", positive=True)  # law: Σc² at ā
    each = (p * ((1 - a1) / (1 - mean)) ** 2 * s1 + r * ((1 - a2) / (1 - mean)) ** 2 * s2) / (p + r)
    return equal(
        law * own_spread([p, r], [a1, a2], [s1, s2]),
        law * each,
        domain="two clients, any law of the pooled memory",
        what="theory's noise and the samples', client by client",
    )


def _mean_square(counts: Any, kept: int, rounds: int, h: Any, means: Any, eta: Any, E: int) -> Any:
    """E(θ-goal)² and Eθ over all streams, samples μ_m ± 1, clients one by one, steps one by one; θ(1) = goal."""
    n, kinds = sum(counts), list(product((-1, 1), repeat=sum(counts) * rounds))
    a = [contraction(value, eta, E) for value in h]
    end, total, middle = own_goal(counts, a, means), F(0), F(0)
    for signs in kinds:
        theta = end
        for t in range(rounds):
            moved = F(0)
            held = range(max(t - kept + 1, 0), t + 1)
            for m, count in enumerate(counts):
                at = sum(counts[:m])
                mine = [means[m] + signs[j * n + at + i] for j in held for i in range(count)]
                local = theta
                for _ in range(E):
                    local -= eta * h[m] * (local - sum(mine, F(0)) / len(mine))
                moved += F(count, n) * local
            theta = moved
        total, middle = total + (theta - end) ** 2, middle + theta
    return total / len(kinds), middle / len(kinds), end


def every_stream(context: Context) -> Evidence:
    """Two clients with their own curvatures, means and counts: the mean stays at the goal, the square is the law's."""

    def find(counts: Any, K: int, rounds: int, E: int) -> dict[str, Any] | None:
        h, means, step = (F(1), F(1, 3)), (F(2), F(-1)), F(1, 2)
        square, middle, end = _mean_square(counts, K, rounds, h, means, step, E)
        a = [contraction(value, step, E) for value in h]
        mean = sum(c * x for c, x in zip(counts, a, strict=True)) / sum(counts)
        law = squared_weights(by_age([sum(counts)] * rounds, K), mean, rounds)[-1]
        wanted = law * own_spread(counts, a, [1, 1])
        return (
            None
            if (square, middle) == (wanted, end)
            else {"found": [square, middle], "wanted": [wanted, end]}
        )

    points = (
        {"counts": counts, "K": kept, "rounds": rounds, "E": E}
        for counts, rounds in (((1, 1), 3), ((1, 2), 2), ((3, 1), 2))
        for kept in (1, 2)
        for E in context.choose((1, 2), (1, 2, 5))
    )
    return exhaust(
        points, find, domain="two clients, up to four samples a round, $K=1$, 2, $E=1$, 2; every stream"
    )


CLAIMS = [
    Claim(
        id="law:reuse/client-hessians",
        kind="addition",
        title=r"clients with their own curvature: $E>1$ does not lead to $\theta^{\star}$",
        statement="Let client $m$ have its own curvature $h_m$, mean and variance, and a constant share "
        r"$p$ of the memory. With weights $n_m/n$ the law holds with $\bar a=\sum pa_m$ in place of $a$: "
        r"the mean tends to $\sum p(1-a_m)\mu/\sum p(1-a_m)$, whatever $K$, and the noise is $v(\bar "
        r"a,K)/\bar\Lambda$ times $\sum p((1-a_m)/(1-\bar a))^2s^2$. For $p=\alpha$ one step leads to "
        r"$\theta^{\star}$; with $E\ge2$ clients of small curvature count for too much, and clients that "
        r"solve their memories end at $\sum p\mu$.",
        formula=said(
            r"\mathbb E\theta\to\frac{\sum_mp_m(1-a_m)\mu_m}{\sum_mp_m(1-a_m)},\quad "
            r"\theta^\star=\frac{\sum_m\alpha_mh_m\mu_m}{\sum_m\alpha_mh_m},\quad "
            r"\text{noise }\frac{v(\bar a,K)}{\bar\Lambda}\sum_mp_m\Bigl(\frac{1-a_m}{1-\bar a}\Bigr)^2s_m^2",
        ),
        domain="quadratic losses, one direction (or Hessians that commute), every client at a constant "
        r"share of the memory, weights $n_m/n$, $0<\eta h_m<1$",
        sketch=r"Client $m$'s steps take $\theta$ to $a_m\theta+(1-a_m)\bar z_m$; averaged with the "
        r"constant $p$ it is $\bar a\theta+\sum p(1-a_m)\bar z_m$, whose mean has the stated fixed "
        r"point. A sample of client $m$ enters a round with $(1-a_m)/n$, which is $(1-a_m)/(1-\bar a)$ "
        r"times what the law has for $\bar a$. $\theta^{\star}$ weighs $\mu$ by $\alpha h$. $1-a_m$ is "
        r"$\eta h_m$ for one step; for $E\ge2$ $(1-a)/h=\eta\sum (1-\eta h)^e$ falls in $h$, so the "
        "smaller of two curvatures has the larger weight over $h$.",
        given=(WRITTEN, LAW),
        checks={
            "the goal": (goal, confirming(every_stream)),
            "one step and more": one_step,
            "solved memories": solved,
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
