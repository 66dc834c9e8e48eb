r"""Clients that differ: with one Hessian (`law:reuse/clients`), with their own (`law:reuse/client-hessians`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.law.lags import a
from proofs_check.groundwork.law.streams import federated
from theory.law import clients as of_clients
from theory.law.clients import own_goal, own_optimum, own_spread, pooled_bias
from theory.law.quadratic import contraction

p, q, s1, s2 = sp.symbols("p q s_1 s_2", positive=True)  # shares and deviations of two clients
share, part, scaled, c = sp.symbols("share part scaled c", positive=True)  # of one: p, α and αs; and Σαs
x, y, bias, square, goal, mu1, mu2 = sp.symbols("x y bias square goal mu_1 mu_2", real=True)
MEANS, lead = [mu1, mu2], (p * mu1 + q * mu2) / (p + q) - (mu1 + mu2) / 2
mean_square = sp.expand((bias + y) ** 2).subs(y**2, square).subs(y, 0)  # E y = 0
off = (part - share) ** 2 / share
LAW = Given("law:reuse", "that a recursion in memory means has the law's weights, whatever a sample's mean")


def spreads() -> Evidence:
    """v/(p+q)·pooled spread, and Σα²·v·s²/rate = v/(p+q)·weighted spread."""
    both, variances = p + q, [s1**2, s2**2]
    pooled = of_clients.pooled_spread([p, q], variances)
    weighted = of_clients.weighted_spread([p, q], [1, 1], variances)
    halves = (s1**2 / p + s2**2 / q) / 4
    return argument(
        (pooled / both, (p * s1**2 + q * s2**2) / both**2, "the pooled spread and the variance of the mean"),
        (weighted / both, halves, "the weighted spread and that of two means, half each,"),
        domain="two clients that admit $p$ and $q$ samples per round",
    )


def least_price() -> Evidence:
    part_of_it = scaled**2 / share - 2 * c * scaled + c**2 * share
    best = of_clients.weighted_spread([p * s1, q * s2], [p, q], [s1**2, s2**2])
    least = of_clients.least_spread([p, q], [s1, s2])
    return argument(
        (part_of_it, (scaled - c * share) ** 2 / share, r"its part of $\sum\alpha^2s^2/p-c^2$ and a square"),
        (best, least, r"the spread at shares in proportion to $\alpha s$ and $(\sum\alpha s)^2$"),
        domain="each client; two clients",
    )


@drawn(
    r"two clients, up to four samples per round, two rounds, every stream; $\theta(1)=\theta^\star$",
    (20, 200),
    counts=st.sampled_from([(1, 1), (1, 2), (2, 1), (3, 1)]),
    means=st.lists(fractions(), min_size=2, max_size=2),
    deviations=st.lists(fractions(), min_size=2, max_size=2),
    part=fractions(F(1, 8), F(7, 8), max_denominator=8),
    a=fractions(0, F(7, 8), max_denominator=8),
)
def every_stream(counts: tuple[int, int], means: Any, deviations: Any, part: F, a: F) -> Found:
    """Bias² plus noise, with weights n_m/n and with α."""
    rounds, n, population = 2, sum(counts), [part, 1 - part]
    target = sum(q * mean for q, mean in zip(population, means, strict=True))
    variances = [2 * s * s for s in deviations]
    noise, *own = (squared_weights(by_age([size] * rounds, 1), a, rounds) for size in (n, *counts))

    def enumerated(weights: list[F]) -> list[F]:
        clients = list(zip((1, 1), means, deviations, weights, strict=True))
        found = federated(counts, 1, rounds, clients, eta=1 - a, E=1, start=target)
        return [square for _, square in found]

    pooled, weighted = enumerated([F(count, n) for count in counts]), enumerated(population)
    for t in range(1, rounds + 1):
        drift = (1 - a**t) * pooled_bias(counts, population, means)
        first = drift**2 + noise[t] * of_clients.pooled_spread(counts, variances)
        second = noise[t] * of_clients.weighted_spread(counts, population, variances)
        apart = sum(q * q * v * mine[t] for q, v, mine in zip(population, variances, own, strict=True))
        if (pooled[t], weighted[t], apart) != (first, second, second):
            return {"t": t, "pooled": pooled[t], "its law": first, "weighted": weighted[t], "other": second}
    return None


E, eta = CONSTANTS.E, CONSTANTS.eta
r, a1, a2, h1, h2, t = sp.symbols("r a_1 a_2 h_1 h_2 t", positive=True)  # r: the other share, where q is 1-ηh


def where_it_leads() -> Evidence:
    end, best = own_goal([p, r], [a1, a2], MEANS), own_optimum([p, r], [h1, h2], MEANS)
    moved = (p * (a1 * x + (1 - a1) * mu1) + r * (a2 * x + (1 - a2) * mu2)) / (p + r)
    left = (p * a1 + r * a2) / (p + r)
    return argument(
        (moved - end, left * (x - end), "the distance from the goal after a round"),
        (p * h1 * (best - mu1) + r * h2 * (best - mu2), 0, r"the slope at $\theta^\star$ and 0"),
        domain=r"two clients, every $\theta$",
    )


def one_step() -> Evidence:
    """1-a is ηh for E = 1. For E >= 2 goal - θ* has the sign of (μ₁-μ₂)(b₁-b₂), b = (1-a)/h, which falls in h."""
    b1, b2, q = sp.symbols("b_1 b_2 q", positive=True)  # q = 1 - ηh
    one, many = [contraction(h, eta, 1) for h in (h1, h2)], [1 - b1 * h1, 1 - b2 * h2]
    at, best = (1 - q) / eta, own_optimum([p, r], [h1, h2], MEANS)
    shift = local_shift(at, eta, E)  # 0 at E = 1
    below = (p * b1 * h1 + r * b2 * h2) * (p * h1 + r * h2)
    away = p * r * h1 * h2 * (mu1 - mu2) * (b1 - b2) / below
    every = "two clients, every $b$ and $E$"
    pulls = "the client with the larger $b$, so the smaller $h$, pulls the goal to its side"
    return argument(
        (own_goal([p, r], one, MEANS), best, r"for $E=1$ the goal and $\theta^\star$", every),
        (own_goal([p, r], many, MEANS) - best, away, r"goal $-\theta^\star$ and its factors", every),
        (-eta * sp.diff((1 - q**E) / at, q), -shift, "the slope of $b$ in $h$ and theory's", every),
        (local_shift(at, eta, E + 1) - shift, eta**2 * E * q ** (E - 1), "a term more of it", every),
        (away > 0, [mu1 > mu2, b1 > b2], pulls),
    )


def noise() -> Evidence:
    """A sample of client m adds (1-a_m)/n per round, (1-a_m)/(1-ā) times the law's (1-ā)/n; n·p_m/Σp of them."""
    mean = (p * a1 + r * a2) / (p + r)
    s1, s2, law = sp.symbols("s_1 s_2 law", positive=True)  # law: Σc² at ā
    each = (p * ((1 - a1) / (1 - mean)) ** 2 * s1 + r * ((1 - a2) / (1 - mean)) ** 2 * s2) / (p + r)
    found, domain = own_spread([p, r], [a1, a2], [s1, s2]), "two clients, any law of the pooled memory"
    return argument((law * found, law * each, "theory's noise and the samples' by client"), domain=domain)


@everywhere(
    "two clients, up to four samples per round, $K=1,2$, $E=1,2$; every stream",
    admitted=(((1, 1), 3), ((1, 2), 2), ((3, 1), 2)),
    K=(1, 2),
    E=by_profile((1, 2), (1, 2, 5)),
)
def streams_of_two(admitted: Any, K: int, E: int) -> Found:
    """The mean stays at the goal, the square is the law's."""
    (counts, rounds), h, means, step = admitted, (F(1), F(1, 3)), (F(2), F(-1)), F(1, 2)
    a = [contraction(value, step, E) for value in h]
    mean = sum(c * x for c, x in zip(counts, a, strict=True)) / sum(counts)
    law = squared_weights(by_age([sum(counts)] * rounds, K), mean, rounds)[-1]
    end = own_goal(counts, a, means)
    clients = [(h[m], means[m], 1, F(counts[m], sum(counts))) for m in (0, 1)]
    found = federated(counts, K, rounds, clients, eta=step, E=E, start=end)[-1]
    return differing(found=found, wanted=(end, law * own_spread(counts, a, [2, 2])))


CLAIMS = [
    Claim(
        id="law:reuse/clients",
        title=r"clients that differ: weights $n_m/n$ are biased, $\alpha$ dearer",
        statement="Let clients have one Hessian but their own means and variances, and constant shares $p$ of all "
        r"admissions. With weights $n_m/n$ the model tends to $\sum p\mu$ in the mean, so the bias is "
        r"$\sum(p-\alpha)\mu$, whatever $K$, $E$ and $\eta$, and vanishes for all means if and only if $p=\alpha$; "
        r"the noise is $v/\bar\Lambda$ times $\sum ps^2$. With weights $\alpha$ there is no bias, and the noise is "
        r"$v/\bar\Lambda$ times $\sum\alpha^2s^2/p$: for one variance $1+\sum(\alpha-p)^2/p$ times as much, and "
        r"least, $(\sum\alpha s)^2$, for shares in proportion to $\alpha s$.",
        formula=r"\text{by }n_m/n:\ \Bigl(\sum_m(p_m-\alpha_m)\mu_m\Bigr)^2+\frac v{\bar\Lambda}\sum_mp_ms_m^2;\qquad "
        r"\text{by }\alpha_m:\ \frac v{\bar\Lambda}\sum_m\frac{\alpha_m^2s_m^2}{p_m}\ge"
        r"\frac v{\bar\Lambda}\Bigl(\sum_m\alpha_ms_m\Bigr)^2",
        domain="quadratic losses with one Hessian, constant admission, each client at its own constant "
        "rate and all with one $K$, along an eigendirection, in the long run",
        sketch=r"Each client's $E$ steps take $\theta$ to $a\theta+(1-a)\bar z_m$. Averaged with weights $w$ it is "
        r"one recursion with the goal $\sum w\bar z_m$, whose mean is $\sum w\mu$: $\mathbb E\,\theta$ tends to it by "
        r"a factor $a$ per round. With $w=n_m/n=p$ that is $\sum p\mu$, with $w=\alpha$ it is $\theta^\star$. The "
        "mean square is the bias squared plus the variance. With weights $n_m/n$ a sample has the law's weight "
        r"whatever its client, so each adds $c^2s^2$ with its own variance: $\sum ps^2$ times the law's $\sum c^2$. "
        r"With weights $\alpha$ the clients' memory means are independent, each with the law of its own rate "
        r"$p\bar\Lambda$, $v/(p\bar\Lambda)$, and weights $\alpha^2$. $\sum\alpha=\sum p=1$ gives "
        r"$\sum\alpha^2/p-1=\sum(\alpha-p)^2/p$, and $\sum(\alpha s-cp)^2/p=\sum\alpha^2s^2/p-c^2\ge0$ with "
        r"$c=\sum\alpha s$.",
        given=(WRITTEN, LAW),
        checks={
            "bias": (
                lambda: argument(
                    (a * (x + goal) + (1 - a) * goal - goal, a * x, "the distance, a round later"),
                    (pooled_bias([p, q], [1, 1], MEANS), lead, r"theory's bias and that of $n_m/n$"),
                    domain="every $a$; two clients of one size",
                ),
                lambda: argument(
                    (mean_square, bias**2 + square, "the mean square and its parts"),
                    domain=r"$\mathbb E\,y=0$, $\mathbb E\,y^2$ the variance",
                ),
                confirming(every_stream),
            ),
            "noise": (spreads, confirming(every_stream)),
            "the price of no bias": lambda: argument(
                (part**2 / share, off + 2 * part - share, r"$\alpha^2/p$", r"$\sum\alpha=\sum p=1$"),
                (off > 0, [sp.Ne(part, share)], r"a client with $p\ne\alpha$"),
            ),
            "the best shares": least_price,
        },
        symbols={
            "v": "stationary noise of constant admission (law:reuse/retention)",
            "p": "a client's share of all admissions",
            "s": "a client's standard deviation along the eigendirection",
            "μ": "a client's mean along the eigendirection",
            "n": "samples in memory, the client's over all clients'",
        },
    ),
    Claim(
        id="law:reuse/client-hessians",
        title=r"clients with their own curvature: $E>1$ does not lead to $\theta^\star$",
        statement="Let client $m$ have its own curvature $h_m$, mean and variance, and a constant share $p$ of the "
        r"memory. With weights $n_m/n$ the law holds with $\bar a=\sum pa_m$ in place of $a$: the mean tends to $\sum "
        r"p(1-a_m)\mu/\sum p(1-a_m)$, whatever $K$, and the noise is $v(\bar a,K)/\bar\Lambda$ times $\sum "
        r"p((1-a_m)/(1-\bar a))^2s^2$. For $p=\alpha$ one step leads to $\theta^\star$; with $E\ge2$ clients of small "
        r"curvature count for too much, and clients that solve their memories end at $\sum p\mu$.",
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
            "the goal": (where_it_leads, confirming(streams_of_two)),
            "one step and more": one_step,
            "solved memories": lambda: limits(
                t,
                (own_goal([p, r], [1 / t, 1 / t**2], MEANS), (p * mu1 + r * mu2) / (p + r), "the goal"),
                domain=r"$a\to0$",
            ),
            "noise": (noise, confirming(streams_of_two)),
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
