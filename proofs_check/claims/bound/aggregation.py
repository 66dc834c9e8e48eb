"""The aggregation rule (`eq:global-aggregation`): whose risk do the averaged updates follow?"""

from proofs_check.prelude import *

from proofs_check.groundwork.bound.counterexamples import stated_bound
from proofs_check.groundwork.bound.training import Loss, Problem, theta

SHARE, SIZE, GRADIENT, TOTAL = sp.symbols("share size gradient total", positive=True)


def printed_weight(share: Any, size: Any, total: Any) -> Any:
    """w_m = α_m n_m / Σ α_j n_j (`eq:memory-proportional-weight`), the sum given as `total`."""
    return share * size / total


def _as_stated(shares: Sequence[Any], sizes: Sequence[Any]) -> list[Any]:
    total = sum(a * n for a, n in zip(shares, sizes, strict=True))
    return [printed_weight(a, n, total) for a, n in zip(shares, sizes, strict=True)]


CLIENTS = {
    "share": st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(3, 4), Fraction(1, 8)]),
    "sizes": st.tuples(st.integers(1, 3), st.integers(1, 3)),
    "chances": st.tuples(*[fractions(0, 1, max_denominator=4)] * 2),
}
EQUAL_CLIENTS = {**CLIENTS, "sizes": st.integers(1, 3).map(lambda n: (n, n))}


def _direction(weights: Sequence[Fraction], sizes: Sequence[int], chances: Sequence[Fraction]) -> Fraction:
    """E Σ w_m ∇F_m(0) for the loss (θ-z)²/2, z = 1 with the client's chance, else 0: every outcome is played."""
    mean = Fraction(0)
    for outcome in product(*(product((0, 1), repeat=n) for n in sizes)):
        chance = Fraction(1)
        for z, p in zip(outcome, chances, strict=True):
            chance *= p ** sum(z) * (1 - p) ** (len(z) - sum(z))
        mean -= chance * sum(w * Fraction(sum(z), len(z)) for w, z in zip(weights, outcome, strict=True))
    return mean


def enumerated(weights_of: Callable[..., Any], clients: Any, examples: int, more: str = "") -> Check:
    """The expected update direction at θ = 0 against the slope of the population risk."""
    where = r"two clients with shares $\alpha$ and $1-\alpha$, loss $(\theta-z)^2/2$, $z=1$ with their own chances"

    @drawn(where + more, (examples, examples), **clients)
    def check(share: Fraction, sizes: Sequence[int], chances: Sequence[Fraction]) -> Found:
        shares = [share, 1 - share]
        expected = _direction(weights_of(shares, sizes), sizes, chances)
        slope = -sum(a * p for a, p in zip(shares, chances, strict=True))
        return differing(**{"expected direction at θ=0": expected, "∇F_P(0)": slope})

    return check


def stated_weights_theorem() -> Evidence:
    """Point masses at 0 and 1, equal shares, memories of 1 and 3 million: the update's fixed point is 3/4."""
    eta, T, n = Fraction(1, 500), 20_000, 4 * 10**6
    weights = _as_stated([Fraction(1, 2)] * 2, [n // 4, 3 * n // 4])
    resting, best = weights[1], Fraction(1, 2)  # the update's fixed point; the minimiser of the risk
    constants = Constants(D=1, sigma=1, eta=eta, B=Fraction(1, 2), Pdim=1, G=1, L=1)
    found = compare(
        lambda _: ball(T * (resting - best) ** 2 / 2),
        "<=",
        lambda _: stated_bound(constants, T, n),
        [{"T": T, "eta": eta, "n = N": n, "weights": [str(w) for w in weights], "start": str(resting)}],
        domain=r"$(\theta-z)^2/2$ on [0, 1], client 1 always sees 0, client 2 always 1; $E=1$, every sample kept",
    )
    step = sum(w * (resting - z) for z, w in enumerate(weights))
    stays = exhaust([{"start": resting}], lambda start: unless(not step, step=step), domain="the update")
    losses = tuple(Loss(((theta - z) ** 2 / 2,)) for z in (0, 1))
    problem = Problem(r"$(\theta-z)^2/2$", 0, 1, losses, (best, best), constants)
    least = always(
        sum(loss.pieces[0] for loss in losses) >= 2 * sp.Rational(str(problem.risk(best))),
        domain=r"twice the risk, every $\theta$",
    )
    return obeying(found, {**problem.facts, "the minimiser": least, "a start that stays": stays})


def unbiased(weight: Any, domain: str) -> Evidence:
    """Client m's part of E Σ w_m ∇F_m against that of ∇F_P = Σ α_m g_m: each of its n_m samples has mean g_m."""
    i = sp.Symbol("i", integer=True, positive=True)
    return equal(
        weight * symbolic_sum(GRADIENT, i, 1, SIZE) / SIZE,
        SHARE * GRADIENT,
        what=r"a client's parts of $\mathbb E\sum w_m\nabla F_m$ and $\nabla F_P$",
        domain=f"any number of clients, {domain}; one local step",
    )


def one_distribution() -> Evidence:
    """Clients with one mean gradient: any weights that add up to 1 will do, and the printed ones do."""
    m, M = sp.symbols("m M", integer=True, positive=True)
    share, size = (sp.Function(name, positive=True) for name in ("alpha", "n"))
    total = sp.Sum(share(m) * size(m), (m, 1, M))
    summand = printed_weight(share(m), size(m), SIZE) * GRADIENT
    return equal(
        sp.simplify(sp.Sum(summand, (m, 1, M))).subs(SIZE, total),
        GRADIENT,
        domain="any number of clients of one distribution, any shares and memories; one local step",
        what=r"$\mathbb E\sum w_m\nabla F_m$ and $\nabla F_P$",
    )


CLAIMS = [
    Claim(
        id="eq:global-aggregation/bias",
        kind="reading",
        title=r"weights $\propto\alpha_mn_m$ follow $F_P$",
        statement="Taken as weights that serve the objective: with clients that draw from $P_m$ and the weights "
        r"$\alpha_mn_m/\sum\alpha_jn_j$, the expected update is a step on the population risk $F_P$ of the mixture "
        r"$\sum\alpha_mP_m$. (The paper gives these weights as a natural example and does not say what the update is "
        "on average.)",
        formula=r"E\sum_mw_m\nabla\widehat F_m=\nabla F_P,\quad w_m=\frac{\alpha_mn_m}{\sum_j\alpha_jn_j}",
        symbols={
            "w_m": "weight of client m's update",
            "α_m": "client m's share of the population",
            "n_m": "samples in client m's memory",
            "j": "a client, in sums",
        },
        domain=r"clients with different distributions, one local step, $\theta$ fixed",
        hypotheses=("all clients hold equally many samples (or draw from one distribution)",),
        checks=(enumerated(_as_stated, CLIENTS, 100), stated_weights_theorem),
        checks_with_hypotheses=(
            # with one common n the sum of α_j n is n, because the shares add up to 1
            lambda: unbiased(printed_weight(SHARE, SIZE, SIZE), r"$n_m=n$ for all, $\sum\alpha_m=1$"),
            one_distribution,
            confirming(enumerated(_as_stated, EQUAL_CLIENTS, 60, "; $n_1=n_2$")),
        ),
        corrected=Correction(
            title=r"$w_m=\alpha_m$",
            statement=r"$w_m=\alpha_m$ makes the expected update a step on $F_P$ whatever the memories hold; with "
            "the printed weights that needs equal memories (or one distribution).",
            formula=r"w_m=\alpha_m",
            sketch="Each local mean is unbiased for its client's risk, so the expected update has weights $w_m$ "
            r"where $F_P$ has $\alpha_m$; $w_m/\alpha_m=n_m/\sum\alpha_jn_j$ is 1 for all $m$ only if all $n_m$ "
            "agree. (The appendix weights samples equally, $w_m=n_m/n$; that follows $F_P$ if and only if $n_m$ is "
            r"proportional to $\alpha_m$.)",
            checks={
                r"$\alpha_m$ unbiased": (
                    lambda: unbiased(SHARE, r"any shares, memories and mean gradients at $\theta$"),
                    confirming(enumerated(lambda shares, sizes: shares, CLIENTS, 60)),
                ),
                # w_m = α_m for every client needs n_m = Σα_jn_j for every one
                r"$\alpha_mn_m$ only with equal memories": lambda: always(
                    sp.Equivalent(sp.Eq(printed_weight(SHARE, SIZE, TOTAL), SHARE), sp.Eq(SIZE, TOTAL)),
                    domain=r"any number of clients, any shares and memories; total $=\sum\alpha_jn_j$ is the same "
                    "for all",
                ),
                "or with one distribution": one_distribution,
            },
        ),
    )
]
