r"""Bursts (`buy:bursts`): the oldest r-th of the memory is replaced with probability q in a round."""

from proofs_check.prelude import *

from proofs_check.groundwork.market.figures import figures
from proofs_check.groundwork.market.market import HIGH, LOW, PAPER, PLACES, SETTING, SHARE, SYMBOLS, S, q, r
from theory.market.capacity import burst_rate
from theory.numbers.algebra import ratio
from theory.paper import BUDGET

LARGE_NUMBERS = Given("the law of large numbers", "means over independent lifetimes tend to expectations")
z = sp.Symbol("z", positive=True)
k = sp.Symbol("k", integer=True, positive=True)
EFFECTIVE, ages = burst_effective_rate(S, r, q), sp.summation(k / q, (k, 1, r)) / r


def lifetimes() -> Evidence:
    """Moments of lifetimes from the generating function (qz/(1-(1-q)z))^r: E L = r/q, E L² = r(r+1-q)/q²."""
    wait = q * z / (1 - (1 - q) * z)
    first = sp.simplify(sp.diff(wait**r, z).subs(z, 1))
    second = sp.simplify(sp.diff(z * sp.diff(wait**r, z), z).subs(z, 1))
    return argument(
        (wait - q * z, (1 - q) * z * wait, "one waiting time: a burst now, or not and then the same,"),
        (first, r / q, "the mean lifetime"),
        (burst_rate(S, r, q) * first, S, "rate times lifetime and $S$"),
        (S / (second / first), EFFECTIVE, r"$S\,\mathbb E[L]/\mathbb E[L^2]$ and theory's rate"),
        domain="every $r$ and $q$",
    )


def _waits(k: int, often: F, most: int) -> F:
    """E min(W, most), W being the wait for the k-th burst: the sum over l of P(fewer than k bursts in l rounds)."""
    few = [(rounds, i) for rounds in range(most) for i in range(min(k, rounds + 1))]
    return sum((comb(rounds, i) * often**i * (1 - often) ** (rounds - i) for rounds, i in few), F(0))


@everywhere("all patterns of rounds", parts=(1, 2, 3), often=(F(1, 4), F(2, 3)), T=by_profile((8,), (11,)))
def every_pattern(parts: int, often: F, T: int) -> Found:
    """Sample by sample the mean age in the last round is below (r+1)/(2q) by what the waits beyond T add."""
    size, mean = 2 * parts, F(0)
    for pattern in product((0, 1), repeat=T - 1):
        chance = often ** sum(pattern) * (1 - often) ** (T - 1 - sum(pattern))
        last = simulate_by_capacity([[size], *([2 * burst] for burst in pattern)], [size])[-1]
        mean += chance * F(sum(last.uses[sample] for sample in last.memory), size)
    waits = {k: _waits(k, often, T) for k in range(1, parts + 1)}
    capped = sum(waits.values(), F(0)) / parts
    limit = (ratio(size, burst_effective_rate(size, parts, often)) + 1) / 2
    beyond = sum((F(k) / often - waits[k] for k in waits), F(0)) / parts
    return unless(mean == capped and limit - mean == beyond >= 0, mean=mean, capped=capped, limit=limit)


def _rate(parts: int) -> Any:
    """Effective rate at q = F(θ), θ the threshold at which S/r samples per burst cost C per round, as a ball."""
    often = PAPER.mass(uniform_threshold(LOW, HIGH, ball(parts * SHARE)))
    return burst_effective_rate(PLACES, parts, often if parts < 10 else ball(1))


CLAIMS = [
    Claim(
        id="buy:bursts",
        title="bursts: rate $Sq/r$, effective rate $Sq/(r+1-q)$",
        statement="Let the oldest $r$-th of a full memory be replaced with probability $q$ in a round, "
        "independently of the past, as by buying $S/r$ samples at every price up to a threshold. In the long "
        r"run $Sq/r$ distinct samples per round are bought and $N_{\mathrm{eff}}/t$ tends to $Sq/(r+1-q)$, "
        "less but for $q=1$, which is constant admission. With the paper's MNIST budgets and prices uniform "
        "on $[1,10]$ that is 14.66 for $r=1$ and 15.19 for $r=2$, the best of all whole $r$ that spend $C$; "
        "constant admission ($r=10$) has 10.",
        formula=said(r"\lim\frac{N_{\mathrm{eff}}(t)}t=@rate", rate=EFFECTIVE),
        domain=r"every $S$ divisible by $r$, every $0<q\le1$; independent prices of one law",
        given=(WRITTEN, LARGE_NUMBERS),
        sketch="A sample leaves with the $r$-th burst after its own. The wait for one burst is geometric, "
        r"with $\sum_lq(1-q)^{l-1}z^l=qz/(1-(1-q)z)$, so a lifetime $L$ has the $r$-th power of that: "
        r"$\mathbb E[L]=r/q$ and $\mathbb E[L^2]=r(r+1-q)/q^2$. Over $t$ rounds $\sum A=St$, and $\sum A^2$ "
        r"is $Sqt/r$ lifetimes' squares, so $N_{\mathrm{eff}}/t$ tends to $S\,\mathbb E[L]/\mathbb E[L^2]$. "
        "The same by ages: the $k$-th youngest part is as old as the $k$-th last burst, $k/q$ on average, so "
        r"$\bar A=(r+1)/(2q)$, and $S/(2\bar A-1)$ is that rate (buy:full-memory). With prices uniform on "
        r"$[a,b]$, $q=F(\theta)$ and the threshold $\theta$ spends $(S/r)m(\theta)=C$ (buy:limit).",
        checks={
            "lifetimes": lifetimes,
            "ages": (
                # the k-th youngest part is as old as the k-th last burst
                lambda: argument(
                    (effective_rate(S, ages), EFFECTIVE, r"$S/(2\bar A-1)$ and theory's", "every $r$ and $q$")
                ),
                confirming(every_pattern),
            ),
            "less than bought": lambda: argument((burst_rate(S, r, q) > EFFECTIVE, [q < 1], "every $r$")),
            "constant admission": lambda: argument(
                (burst_effective_rate(S, r, 1), S / r, "the effective rate", "every $r$, $q=1$"),
                (burst_rate(S, r, 1), S / r, "the rate", "every $r$, $q=1$"),
                (BUDGET / PAPER.mean, 10, "what $C$ buys at the mean price", SETTING),
            ),
            "14.66 and 15.19": lambda: figures(
                SETTING,
                ("the effective rate, $r=1$,", _rate(1), "14.66"),
                ("the effective rate, $r=2$,", _rate(2), "15.19"),
                *((f"the effective rate, $r={n}$,", _rate(n), ("9.99", "15.18")) for n in (1, *range(3, 11))),
            ),
        },
        symbols={**SYMBOLS, "q": "probability of a burst in a round", "r": "parts of the memory"},
    )
]
