r"""Biases that averaging does not remove (`law:averaged/bias`): of reuse, of local steps, of curvature."""

from proofs_check.prelude import *

from proofs_check.groundwork.law import curvatures
from proofs_check.groundwork.law.curvatures import KINDS, Kinds, Stream, coefficients
from theory.law.averaged_limits import averaged_left_constant
from theory.law.curved import cubic_shift, first_order, own_weight, stationary_bias

h, tilt, third, noise, y, T, x = sp.symbols("h tilt k g_2 y T x", positive=True)
bias, first, power, clients = sp.symbols("beta m_1 power M", positive=True)
d = sp.Symbol("d", integer=True, positive=True)


def means_stay() -> Evidence:
    """E θ̄ = Σp·E θ: of β + (m₁-β)a^(t-1) the equal mean is β + (m₁-β) times what is left of the start."""
    a = sp.exp(-x)
    path = bias + (first - bias) * averaged_left_constant(a, T)
    return limits(T, (path, bias, "the mean's bias"), domain="every $a=e^{-x}$, start and bias of the path")


def of_reuse() -> Evidence:
    """E = 1: ηψE[hg]/h; ψ is at most (K-1)/(2KΛ̄), as a^(d-1) <= 1, and at least its first term; 0 for K = 1."""
    eta = sp.Symbol("eta", positive=True)
    a = 1 - eta * h
    found = stationary_bias(rate, K, h=h, tilt=tilt, eta=eta)
    most = symbolic_sum(K - d, d, 1, K - 1) / (K**2 * rate)
    weight = sp.Symbol("w", nonnegative=True)
    return argument(
        (found, eta * own_weight(a, K, rate) * tilt / h, "the bias and its parts", r"every $K$, $\eta$"),
        (own_weight(a, 1, rate), 0, r"$\psi$ at $K=1$ and 0", r"every $\eta$"),
        (most, (K - 1) / (2 * K * rate), r"the terms of $\psi$ at $a=1$", "every $K$"),
        (weight * power <= weight, [power <= 1], r"each term, $0\le a^{d-1}\le1$"),
    )


def of_local_steps() -> Evidence:
    """K = 1, so no reuse: the bias over η tends to (E-1)/2·M/Λ̄·E[hg]/h, and is 0 for E = 1."""
    rows = []
    for E in (2, 3, 10):
        found = stationary_bias(rate, 1, h=h, tilt=tilt, eta=1 / y, E=E, clients=clients)
        lead = sp.Rational(E - 1, 2) * clients * tilt / (rate * h)
        rows.append((sp.together(found * y), lead, rf"$E={E}$: it"))
    none = argument((local_shift(h, 1 / y, 1), 0, "the shift of one step and 0"), domain="every step")
    return argument(none, limits(y, *rows, domain=r"bias over $\eta$ as $\eta\to0$"))


def of_curvature() -> Evidence:
    """m = am - ½ηkS has m = -kS/(2h), S = E g²/h²·v/Λ̄; over η it tends to -k·E g²/(4h²Λ̄), reuse or not."""
    eta, S = sp.symbols("eta S", positive=True)
    stays = -third * S / (2 * h)
    rows = []
    for kept in (1, 2, 5):
        scatter = noise / h**2 * stationary_noise(1 - h / y, kept) / rate
        lead = -third * noise / (4 * h**2 * rate)
        rows.append((sp.together(y * stays.subs(S, scatter)), lead, rf"$K={kept}$: it"))
    moved = (1 - eta * h) * stays - eta * third * S / 2
    return argument(
        (moved, stays, "the bias a round later and itself", "every step"),
        limits(y, *rows, domain=r"bias over $\eta$ as $\eta\to0$"),
    )


@everywhere(
    r"three populations, $\eta=1/2$, multiples of one sample per round; 2 rounds, all streams, from the "
    "minimiser",
    kinds=KINDS,
    kept=(1, 2),
)
def every_stream(kinds: Kinds, kept: int) -> Found:
    """E θ̄ of the equal mean: 0 for samples that are used once; else its coefficient of 1/n is theory's, averaged."""
    rounds, points = 2, 4
    stream = Stream(((1,),) * rounds, kept, kinds, start=F(0), eta=F(1, 2))
    values = [[path[0] for path in stream.expected(scale)] for scale in range(1, points + 1)]
    averaged = [sum(path, F(0)) / len(path) for path in values]
    if kept == 1:
        return unless(not any(averaged), averaged=averaged)
    theory = first_order([by_age([1] * rounds, kept)], rounds, kinds.moments, start=F(0), eta=F(1, 2)).mean
    mean = sum(theory.tolist(), F(0)) / len(theory)
    wanted = mean != 0 if kinds.moments.tilt else mean == 0
    found = coefficients(averaged)
    return unless(found == [0, mean, 0, 0] and wanted, found=found, theory=mean)


@everywhere(
    "two samples per round, used once, $h=1$, $\\eta=1/2$ and $1/4$; third derivative 1",
    eta=(F(1, 2), F(1, 4)),
    rounds=by_profile((20, 40), (20, 40, 80)),
)
def bent_path(eta: F, rounds: int) -> Found:
    """The mean of theory's path of the bias is within 8/T of where it stays; the noise would be gone like 1/T."""
    moments = Moments(h=F(1), spread=F(0), noise=F(1))
    path = cubic_shift(by_age([2] * rounds, 1), rounds, moments, third=F(1), eta=eta).tolist()
    stays = -stationary_noise(1 - eta, 1) / 4
    off = sum(path, F(0)) / len(path) - stays
    return unless(abs(off) <= abs(stays) * F(8, rounds) / eta and stays != 0, off=off, stays=stays)


CLAIMS = [
    Claim(
        id="law:averaged/bias",
        title="averaging removes noise, and no bias",
        statement="The mean of an averaged model is the same average of the models' means: where these "
        r"tend to $\theta^\star+\beta$, so does it, while its noise falls like $1/T$. Along one "
        r"direction, under constant admission and to first order in $1/n$, $\beta$ is the stationary bias "
        r"of the last iterate. Reuse: $\eta\psi\,\mathbb E[hg]/h$ for one local step, at most "
        r"$\eta\frac{K-1}{2K\bar\Lambda}|\mathbb E[hg]|/h$, and 0 if samples are used once. Local steps: "
        r"$\eta\frac{E-1}2\frac M{\bar\Lambda}\mathbb E[hg]/h$ for small $\eta$ without any reuse, "
        r"$E=2,3,10$. Curvature times scatter: $-\tfrac12\mathbb E[k]S/h$ for third derivatives $k$, $S$ "
        r"the law's noise of the last iterate, which is $-\eta\,\mathbb E[k]\mathbb "
        r"E[g^2]/(4h^2\bar\Lambda)$ for small $\eta$, $K=1,2,5$. All are of order $\eta$, and so smaller "
        "steps, or steps that fall, remove them and averaging does not.",
        formula=r"\mathbb E\,\bar\theta=\sum_tp_t\,\mathbb "
        r"E\,\theta(t)\to\theta^\star+\beta,\qquad\beta=O(\eta/\bar\Lambda)",
        domain=r"one direction, gradients $g+h\delta+\tfrac12k\delta^2$ with $(h,g,k)$ i.i.d. and "
        r"$\mathbb E\,g=0$, $0<a<1$; to first order in $1/n$, as in law:reuse/curvature, "
        "law:reuse/local-steps and law:reuse/cubic",
        sketch=r"Expectation is linear. A path of means $\beta+(m_1-\beta)a^{t-1}$ has the equal mean "
        r"$\beta+(m_1-\beta)(1-a^T)/(T(1-a))$. The first orders of $\beta$ are where the recursions of "
        "law:reuse/curvature, law:reuse/local-steps and law:reuse/cubic stay: "
        r"$m=am+\eta\cdot\eta\psi\,\mathbb E[hg]$ for reuse, with "
        r"$\psi=\sum_{d<K}(K-d)a^{d-1}/(K^2\bar\Lambda)$, and $m=am-\tfrac12\eta\,\mathbb E[k]S$, whose "
        r"noise $S$ is of order $\eta$ itself. (Dieuleveut, Durmus and Bach 2020 have the last for far "
        "more general problems, and extrapolation as a cure.)",
        given=(WRITTEN,),
        checks={
            "means stay": (means_stay, confirming(every_stream)),
            "reuse": (of_reuse, confirming(every_stream)),
            "local steps": of_local_steps,
            "curvature": (of_curvature, confirming(bent_path)),
        },
        symbols={
            **curvatures.SYMBOLS,
            "M": "clients that have samples",
            "S": r"the law's noise of the last iterate, $\mathbb E[g^2]\sum c^2/h^2$",
            "θ̄": "the mean of models",
            "β": "what the mean of a model has above the minimiser in the end",
        },
    )
]
