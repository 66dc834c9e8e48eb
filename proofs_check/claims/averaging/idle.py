r"""Where bursts with a mean of models lose to training in every round (`law:averaged/idle`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.law.lags import AVERAGED
from theory.law.averaged_limits import averaged_left_constant, idle_loss
from theory.law.averaging import averaged_risk, contractions, over_models
from theory.law.averaging import equal as equally
from theory.law.information import information_risk

a, b, M, h, d = sp.symbols("a b M h d", positive=True)
EVERY = r"every $0\le a<1$, $b$ and $M$"


def left_of_the_start() -> Evidence:
    """What is left falls, is at least a^(k/2) by pairs of terms and at most 1/((1-a)(k+1)); the sums are theory's."""
    first, last, power, total, k = sp.symbols("first last power total k", nonnegative=True)
    falls, left = (k + 1) * power <= total, averaged_left_constant(a, k + 1)
    below = (1 / (M + 1) - 1 / (b * M + 1)) / (1 - a) ** 2
    return argument(
        ((total + power) / (k + 2) <= total / (k + 1), [falls], r"$a^j\ge a^{k+1}$ for $j\le k$"),
        (first**2 + last**2 >= 2 * first * last, [], r"$a^j$ and $a^{k-j}$ for $j\le k$"),
        ((1 - a) * (k + 1) * left, 1 - a ** (k + 1), r"$(1-a)(k+1)\ell$ and a number up to 1"),
        (1 / (k + 2) ** 2 <= 1 / (k + 1) - 1 / (k + 2), [], "terms that telescope"),
        ((b - 1) * (a - a ** (M + 1)) / (1 - a) - below, idle_loss(a, b, M), "both bounds and theory's"),
        domain=EVERY,
    )


def noise_of_training_always() -> Evidence:
    """log(1+x) - x/(1+x) is 0 at 0 and rises, so Σ1/(t+1) <= log(T+1)."""
    x = sp.Symbol("x", positive=True)
    return argument(
        (sp.diff(sp.log(1 + x) - x / (1 + x), x), x / (1 + x) ** 2, "the slope"),
        ((x / (1 + x)).subs(x, 1 / t), 1 / (t + 1), "$x/(1+x)$ at $1/t$ and a term"),
        domain=EVERY,
    )


def server_without_loss() -> Evidence:
    """theory's transient of the server that adds up information: M + N samples in two rounds or in one."""
    problem: Any = {"h": [h], "variance": [1], "start": [d], "prior": b}
    left = h * d / 2 * (b / (b + h * (M + N))) ** 2
    found = (information_risk(bought, **problem).transient[-1] for bought in ([M, N], [M + N, 0]))
    return argument(*((one, left, "the start's part") for one in found), domain="every prior and purchases")


@everywhere(
    r"$a=0,1/2,9/10,49/50$, 6 to 60 rounds, one sample per round, 1 or 40 per burst; three starts",
    left=(1, 2, 10, 50),
    cycles=((2, 3), (5, 12), (10, 5)),
    size=(1, 40),
    distance=(F(1, 50), F(1, 4), F(4)),
)
def by_the_law(left: int, cycles: tuple[int, int], size: int, distance: F) -> Found:
    """Both risks after every round: the start's part is not below in any, its sum by theory's at least; exactly."""
    (period, bursts), a = cycles, 1 - F(1, left)
    rounds = period * bursts
    found = []
    for every, more in ((1, 1), (period, size)):
        bought = [more * (t % every == 0) for t in range(rounds)]
        steps, shares = contractions([1 - a], [1] * rounds), over_models(equally, bought)
        memory = by_age(bought, 1)
        found.append(averaged_risk(memory, rounds, steps, shares, h=[1], variance=[1], start=[distance]))
    apart = (found[1].transient - found[0].transient)[1:]
    lost, least = sum((found[1].total - found[0].total)[1:]), idle_loss(a, period, bursts)
    loses = distance * least >= float(log(rounds + 1))
    true = min(apart) >= 0 and 2 * sum(apart) >= distance * least and (lost > 0 or not loses)
    return unless(true, apart=sum(apart), least=least, lost=lost, loses=loses)


CLAIMS = [
    Claim(
        id="law:averaged/idle",
        title="bursts with a mean of models: what idle rounds lose",
        statement="Let one learner train in all of $T=bM$ rounds, another in the first of every $b$, with the same "
        "$a$ and start and an equal mean of models. What is left of the start depends only on how often a learner "
        r"trained: in no round is it less for bursts, and its square adds up to at least $\Delta$ more. Let the "
        "first learner have $n$ fresh samples per round, used once. Along a direction of distance $d$ and variance "
        r"$s^2$ bursts have the higher cumulative risk, however much they buy, if $nd^2\Delta\ge s^2\log(T+1)$. For "
        r"small steps and long horizons that is where $1-a\approx\eta hE$ is below $(b-1)nd^2/(s^2\log T)$: in flat "
        r"directions and for far starts. A server that adds up information has no such loss: $\lambda/(\lambda+hN)$ "
        "is left of its start, which depends on the samples alone.",
        formula=said(r"\Delta=@least", least=idle_loss(a, b, M)),
        domain=r"quadratic losses, along one direction, $0\le a<1$; the start's part for every memory",
        sketch=r"After $k$ trainings $\ell_k=\frac1{k+1}\sum_{j\le k}a^j$ is left, which falls in $k$. Its terms "
        r"have $a^j+a^{k-j}\ge2a^{k/2}$, so $\ell_k^2\ge a^k$; and $\ell_k\le1/((1-a)(k+1))$. Bursts have "
        r"$b\sum_{k\le M}\ell_k^2$, the other learner $\sum_{k\le bM}\ell_k^2$: $b-1$ times the first $M$ terms "
        r"more, less the others, at most $(1-a)^{-2}\sum_{M<k\le bM}(k+1)^{-2}$. Its noise is at most "
        "$s^2/(n(t+1))$, theirs at least 0.",
        given=(WRITTEN, Given("law:averaged/bursts", r"that noise is at most $s^2/(n(t+1))$")),
        checks={
            "the start": (left_of_the_start, confirming(by_the_law)),
            "the risk": (noise_of_training_always, confirming(by_the_law)),
            "information": server_without_loss,
        },
        symbols=AVERAGED
        | {
            "M": "bursts",
            "N": "samples bought",
            "b": "rounds per burst",
            "d": "distance of the start",
            "n": "fresh samples per round of the learner that trains in all",
            "Δ": "lower bound on what idle rounds add to the squares of what is left of the start",
            "λ": "weight of the prior",
            "ℓ": "what is left of the start in the mean",
        },
    ),
]
