"""The aggregation rule (`eq:global-aggregation`): whose risk do the averaged updates follow?"""

from proofs_check.prelude import *

SHARE, SIZE, GRADIENT, TOTAL = sp.symbols("share size gradient total", positive=True)


def printed_weight(share: Any, size: Any, total: Any) -> Any:
    """w_m = α_m n_m / Σ α_j n_j (`eq:memory-proportional-weight`), the sum given as `total`."""
    return share * size / total


CLIENTS = {
    "share": st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(3, 4), Fraction(1, 8)]),
    "sizes": st.tuples(st.integers(1, 3), st.integers(1, 3)),
    "chances": st.tuples(*[fractions(0, 1, max_denominator=4)] * 2),
}


def _direction(weights: Sequence[Fraction], sizes: Sequence[int], chances: Sequence[Fraction]) -> Fraction:
    """E Σ w_m ∇F_m(0) for the loss (θ-z)²/2, z = 1 with the client's chance, else 0: every outcome is played."""
    mean = Fraction(0)
    for outcome in product(*(product((0, 1), repeat=n) for n in sizes)):
        chance = Fraction(1)
        for z, p in zip(outcome, chances, strict=True):
            chance *= p ** sum(z) * (1 - p) ** (len(z) - sum(z))
        mean -= chance * sum(w * Fraction(sum(z), len(z)) for w, z in zip(weights, outcome, strict=True))
    return mean


@drawn(
    r"two clients with shares $\alpha$ and $1-\alpha$, loss $(\theta-z)^2/2$, $z=1$ with their own chances",
    (60, 60),
    **CLIENTS,
)
def enumerated(share: Fraction, sizes: Sequence[int], chances: Sequence[Fraction]) -> Found:
    """The expected update direction at θ = 0 against the slope of the population risk."""
    shares = [share, 1 - share]
    slope = -sum(a * p for a, p in zip(shares, chances, strict=True))
    return differing(**{"expected direction at θ=0": _direction(shares, sizes, chances), "∇F_P(0)": slope})


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
        title=r"weights $w_m=\alpha_m$ follow $F_P$, $\propto\alpha_mn_m$ for equal memories",
        statement="With clients that draw from $P_m$ and the weights $w_m=\\alpha_m$ the expected update is a step on "
        r"the population risk $F_P$ of the mixture $\sum\alpha_mP_m$, whatever the memories hold. With the weights "
        r"$\alpha_mn_m/\sum\alpha_jn_j$ that needs equal memories, or one distribution. (The paper gives these as a "
        "natural example and does not say what the update is on average.)",
        formula=r"E\sum_mw_m\nabla\widehat F_m=\nabla F_P\quad(w_m=\alpha_m),\qquad"
        r"\frac{\alpha_mn_m}{\sum_j\alpha_jn_j}=\alpha_m\iff n_m=\sum_j\alpha_jn_j",
        symbols={
            "w_m": "weight of client m's update",
            "α_m": "client m's share of the population",
            "n_m": "samples in client m's memory",
            "j": "a client, in sums",
        },
        domain=r"clients with different distributions, one local step, $\theta$ fixed",
        sketch="Each local mean is unbiased for its client's risk, so the expected update has weights $w_m$ "
        r"where $F_P$ has $\alpha_m$; $w_m/\alpha_m=n_m/\sum\alpha_jn_j$ is 1 for all $m$ only if all $n_m$ "
        "agree. (The appendix weights samples equally, $w_m=n_m/n$; that follows $F_P$ if and only if $n_m$ is "
        r"proportional to $\alpha_m$.)",
        checks={
            r"$\alpha_m$ unbiased": (
                lambda: unbiased(SHARE, r"any shares, memories and mean gradients at $\theta$"),
                confirming(enumerated),
            ),
            # w_m = α_m for every client needs n_m = Σα_jn_j for every one
            r"$\alpha_mn_m$ only with equal memories": lambda: always(
                sp.Equivalent(sp.Eq(printed_weight(SHARE, SIZE, TOTAL), SHARE), sp.Eq(SIZE, TOTAL)),
                domain=r"any number of clients, any shares and memories; total $=\sum\alpha_jn_j$ is the same "
                "for all",
            ),
            "or with one distribution": one_distribution,
        },
    )
]
