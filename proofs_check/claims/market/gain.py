r"""Gain in the guarantee over constant admission, which ACDPP becomes, for equal money (`buy:gain`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.control.orders import t
from proofs_check.groundwork.market.certificates import papers_best
from proofs_check.groundwork.market.figures import exactly, figures
from proofs_check.groundwork.market.market import HIGH, LOW, PAPER, PLACES, SETTING, SHARE, SYMBOLS, S
from proofs_check.groundwork.regret.transient import plain
from theory.law.stationary import small_step_floor
from theory.market.long_run import gap_closed
from theory.paper import BUDGET, MNIST, RATE, RETENTION
from theory.reuse.counts import uniformity_from_deficits

mine, other, bought, mean, y = sp.symbols("r f R mean y", positive=True)  # rates: effective, and of purchases
BEST = Given("buy:best-rule", "no causal rule with a full memory has a larger rate at independent prices")
AGES = Given("buy:noise-by-age", "that small steps have the noise $(1-a)/2$ over the effective rate")
ONLINE = Given("buy:online-age", r"that online $\mathbb E[N_{\mathrm{eff}}]/T\ge SR/(2S-R)$ in the limit")
SAME = Given("thm:dpp-regret/region-buys-nothing", "inside the region all is constant admission in the end")


def floors() -> Evidence:
    h1, h2, s1, s2, eta = sp.symbols("h_1 h_2 s_1 s_2 eta", positive=True)
    losses: dict[str, Any] = {"h": [h1, h2], "variance": [s1**2, s2**2], "eta": eta, "E": CONSTANTS.E}
    found = small_step_floor(1 / other, **losses) / small_step_floor(1 / mine, **losses)
    domain = r"two eigendirections, every $h$, $s$, $\eta$ and $E$"
    return equal(found, mine / other, domain=domain, what="the floors' ratio and that of the effective rates")


def constant_admission() -> Evidence:
    """The paper's K = 10 and Λ̄ = 10 cost C and fill the buffers; their N_eff/t tends to Λ̄, with any deficits."""
    first, second = sp.symbols("D_1 D_2", positive=True)
    spent = [best_rate(RETENTION, MNIST), RATE * PAPER.mean, RATE * RETENTION]
    uniform = rate * uniformity_from_deficits(rate * t, first, second, K)
    domain = r"$N=\bar\Lambda t$, every $K$ and bounded deficits"
    return together(
        exactly(f"{SETTING}: the rate, its cost, the samples held", spent, [RATE, BUDGET, PLACES]),
        limits(t, (uniform, rate, r"$N_{\mathrm{eff}}/t$"), domain=domain),
    )


def inside_the_region() -> Evidence:
    rounds = sp.Symbol("t", integer=True, positive=True)
    ends = (("least", region_minimum), ("largest", region_maximum))
    found = [(name, plain(end(REGION, rounds), y=rounds).subs(y, 1 / t)) for name, end in ends]
    rows = [(at, rate, f"the {name} admission") for name, at in found]
    return limits(t, *rows, domain=r"$y=\rho^t\to0$, every $\rho$ and $\bar\Lambda$")


def generalisation() -> Evidence:
    """Third terms at N_eff = rt, N = Rt and at N_eff = N = ft; N stands under the logarithm."""
    ours = generalisation_term(1 / (mine * t), bought * t, CONSTANTS)
    theirs = generalisation_term(1 / (other * t), other * t, CONSTANTS)
    sharper = deviation_term(1 / (mine * t), CONSTANTS) / deviation_term(1 / (other * t), CONSTANTS)
    ratio = (ours / theirs, sp.sqrt(other / mine), "the terms' ratio")
    return argument(
        limits(t, ratio, domain=r"every $r$, $f$, $R$, $B$ and $\mathrm{Pdim}$"),
        (sharper**2, other / mine, "its square and $f/r$", "every round: the sharper term without logarithm"),
    )


def mismatch() -> Evidence:
    """Root and linear term of a full memory of steady age tend to those of constant admission with memory S."""
    chi = mismatch_from_sums(S, S * t, S * t * (2 * mean - 1), S * mean)
    constant = constant_round(K, t, S / K, CONSTANTS)
    root, linear = root_term(chi, CONSTANTS), linear_term(chi, CONSTANTS.merged)
    return argument(
        (chi, (1 - 1 / t) / S, r"$\chi$ and $(1-1/t)/S$", "every $S$, $t$ and mean age"),
        limits(
            t,
            (root / constant.root, 1, "the root term over constant admission's"),
            (linear / constant.linear, 1, "the linear term over constant admission's"),
            domain="every $K$, $S$ and constants",
        ),
    )


def papers_budgets() -> Evidence:
    rule, certificate = papers_best()
    online = effective_rate(PLACES, PLACES / uniform_rate(LOW, HIGH, PLACES, ball(BUDGET)))
    rates = [effective_rate(PLACES, (burden + 1) / 2) for burden in (rule.burden, certificate.least(SHARE))]
    sides = list(zip(("attained", "the bound"), rates, strict=True))
    closed = [(name, ball(100 * gap_closed(rate, RATE, PLACES)), "51.5") for name, rate in sides]
    return figures(
        SETTING,
        *((f"the gain, {name}", ball(rate / RATE), "1.864") for name, rate in sides),
        *((rf"$\sqrt{{f/r}}$, {name}", sqrt(ball(RATE / rate)), "0.7325") for name, rate in sides),
        *((f"percent of the gap to the oracle's noise, {name}", *found) for name, *found in closed),
        ("guaranteed online", online / RATE, "1.466"),
    )


CLAIMS = [
    Claim(
        id="buy:gain",
        title="for the same money: 1.86 times the effective rate",
        statement="Compare rules that spend $C$ per round and hold $S$ samples. In the law of reuse, that is for "
        "quadratic losses with one Hessian, the noise floor of small steps is in inverse ratio to the effective rate, "
        r"whatever the Hessian, the noise, $\eta$ and $E$. Constant admission has "
        r"$N_{\mathrm{eff}}/t\to\bar\Lambda=C/\bar c$, and so has every policy inside the paper's region, ACDPP at any "
        r"$V$ and $\rho$. In the corrected Theorem 1 the root and the linear term of a round tend to the same for the "
        r"same $S$, and the generalisation term to $\sqrt{f/r}$ of constant admission's. With the paper's MNIST "
        "budgets and prices that are independent and uniform on $[1,10]$ the best causal rule that knows this law has "
        "1.864 times the effective rate (18.64 to 10, with 22.17 samples bought to 10), 0.7325 times the "
        "generalisation term, and closes 51.5 % of the gap between constant admission's noise and that of $S$ fresh "
        "samples per round; at such prices no causal rule that holds $S$ samples does better. Online, their law "
        "unknown, 1.466 times is guaranteed for large $V$ and $T$.",
        formula=said(
            r"\frac{\text{floor}(f)}{\text{floor}(r)}=\frac rf,\qquad\lim_{t\to\infty}\frac{\text{generalisation}(r)}"
            r"{\text{generalisation}(f)}=@root,\qquad\text{closed}=@gap",
            root=sp.sqrt(other / mine),
            gap=gap_closed(mine, other, S),
        ),
        domain="quadratic losses with one Hessian for the floors, the hypotheses of thm:regret-neff for "
        "the bound; figures for $S=100$, $C=55$, independent prices uniform on $[1,10]$",
        given=(WRITTEN, BEST, AGES, ONLINE, SAME),
        sketch=r"Floors: to first order in $\eta$ a floor is $(\eta E/4)\sum h^2s^2$ over the effective rate "
        "(buy:noise-by-age for full memories, law:reuse/effective-rate for the others). Constant admission uses each "
        r"sample $K$ times except in the last $K-1$ rounds, so $N_{\mathrm{eff}}=N=\bar\Lambda t$ up to a bounded "
        r"number. Inside the region $\Lambda(t)$ lies between $(1-\rho^t)\bar\Lambda$ and $\bar\Lambda/(1-\rho^t)$, so "
        r"$N/t$, $N_{\mathrm{eff}}/t$ and $1/\sum\omega^2$ per round tend to $\bar\Lambda$ too. Theorem 1: with $n=S$ "
        r"and ages that are steady in the mean, $W=\sum A$ over the memory over $St$, so $\chi=1/S+(2\bar "
        r"A-1)/(St)-2\bar A/(St)=(1-1/t)/S$, and constant admission's is $(1-1/y-\ldots)/S$; the generalisation terms "
        r"are $10B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}\sqrt{1+\log^{+}(N/\mathrm{Pdim})}$ with $N_{\mathrm{eff}}=rt$, "
        r"$N=Rt$ and $N_{\mathrm{eff}}=N=ft$, and the logarithms' ratio tends to 1; the cumulative terms follow by "
        "Stolz-Cesàro. The figures come from buy:best-rule's rule and certificate, in exact numbers.",
        checks={
            "noise floors": floors,
            "constant admission": constant_admission,
            "ACDPP": inside_the_region,
            "Theorem 1": (generalisation, mismatch),
            "the figures": papers_budgets,
        },
        symbols=SYMBOLS | {"f": "constant admission's effective rate", "r": "the other rule's"},
    )
]
