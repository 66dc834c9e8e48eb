r"""Local steps on a small memory (`law:reuse/local-steps`): a client whose curvature scatters contracts less."""

from proofs_check.prelude import *

from proofs_check.groundwork.law import curvatures
from proofs_check.groundwork.law.curvatures import KINDS, Kinds, coefficients, moments_of_a_mean
from theory.law.curved import local_contraction, local_pull
from theory.law.quadratic import contraction

E, eta = CONSTANTS.E, CONSTANTS.eta
h, spread, size, x, q = sp.symbols("h w n_m x q", positive=True)
STEPS = (F(1, 4), F(1))


def _binomial(above: Any, below: int) -> Any:
    return sp.ff(above, below) / sp.factorial(below)


def _rest(power: Any, order: int) -> Any:
    """x^E less its Taylor polynomial at q, up to this order."""
    return x**power - sum(_binomial(power, k) * q ** (power - k) * (x - q) ** k for k in range(order + 1))


def remainders() -> Evidence:
    """The rest R of order j obeys R(E+1) = x·R(E) + binom(E, j)·q^(E-j)·(x-q)^(j+1), and is 0 for E = j."""
    gains = {j: x * _rest(E, j) + _binomial(E, j) * q ** (E - j) * (x - q) ** (j + 1) for j in (1, 2, 3)}
    return argument(
        *((_rest(E + 1, j), gains[j], f"the rest of order {j} a step later") for j in gains),
        *((_rest(j, j), 0, f"the rest of order {j} at $E={j}$ and 0") for j in gains),
        domain="every $E$, $x$, $q>0$",
    )


def signs() -> Evidence:
    """So a rest of odd order is never negative, and that of order 1 is positive from E = 2 on unless x = q."""
    at, left, rest, gain = sp.symbols("at left rest gain", real=True)  # x, q, R(E) and binom(E, j)·q^(E-j)
    known = (at >= 0, rest >= 0, gain >= 0)
    second, fourth = (at * rest + gain * (at - left) ** k for k in (2, 4))
    return argument(
        (second >= 0, [*known], r"order 1, $x,q\ge0$"),
        (second > 0, [*known, sp.Ne(at, left), gain > 0], r"order 1, $q>0$, $x\ne q$"),
        (fourth >= 0, [*known], r"order 3, $x,q\ge0$"),
    )


def sizes() -> Evidence:
    """For 0 <= x, q <= 1 the rest of order 3 is at most binom(E, 4)(x-q)⁴: it grows by binom(E, 3)(x-q)⁴ at most."""
    rest, fourth, gain, left = sp.symbols("rest fourth gain left", nonnegative=True)  # gain: binom(E, 3)
    grown = x * rest + gain * left * fourth
    fours, three = _binomial(E + 1, 4) - _binomial(E, 4), "fours with the step added, threes without"
    return argument(
        (fours, _binomial(E, 3), three, "every $E$"),
        (grown <= rest + gain * fourth, [x <= 1, left <= 1], r"$0<x\le1$, $0\le q^{E-3}\le1$"),
    )


def second_term() -> Evidence:
    left = 1 - eta * h
    average = left**E + _binomial(E, 2) * left ** (E - 2) * eta**2 * spread / size
    return argument(
        (local_contraction(h, spread, size, eta, E), average, "theory's and the average of the terms"),
        (local_contraction(h, spread, size, eta, 1), left, r"one step and $1-\eta h$"),
        domain=r"every $E$, $h$, $\mathrm{Var}(h)$, $n_m$",
    )


def slopes() -> Evidence:
    """b = (1-a)/h is η(1 + x + … + x^(E-1)), x = 1 - ηh; its slope in h is -theory's shift, a's is -theory's pull."""
    at = (1 - q) / eta  # h, so that x^E is q^E; d/dh = -η·d/dq
    a, shift = contraction(at, eta, E), local_shift(at, eta, E)
    sums = ((local_shift(h, eta, E).subs(E, steps), local_shift(h, eta, steps)) for steps in (1, 2, 3, 5))
    return argument(
        (-eta * sp.diff((1 - a) / at, q), -shift, "$b'$ and theory's"),
        (-eta * sp.diff(a, q), -local_pull(at, eta, E), "$a'$ and theory's"),
        (local_shift(at, eta, E + 1) - shift, eta**2 * E * q ** (E - 1), "a term more of the shift"),
        *((*both, "the shift in closed form and as a sum, $E=1,2,3,5$,") for both in sums),
        domain="every $E$",
    )


def _averages(kinds: Kinds, n: int, eta: F, E: int) -> tuple[F, F]:
    """E[(1-ηh̄)^E] and E[-b(h̄)ḡ] over all memories of n samples."""
    kept = shift = F(0)
    for chance, (sum_h, sum_g, _) in kinds.cohort(n):
        left = 1 - eta * sum_h / n
        kept += chance * left**E
        shift -= chance * eta * sum((left**e for e in range(E)), F(0)) * sum_g / n
    return kept, shift


@everywhere(
    r"three populations, $\eta=1/4$ and 1, $E$ from 1 to 5; $n_m$ from 1 to $E+2$",
    kinds=KINDS,
    eta=STEPS,
    E=by_profile(range(1, 6), range(1, 10)),
)
def every_memory(kinds: Kinds, eta: F, E: int) -> Found:
    """Never below a; and the coefficients of 1 and 1/n_m are theory's, exactly."""
    m, points = kinds.moments, E + 2
    kept, shift = zip(*(_averages(kinds, n, eta, E) for n in range(1, points + 1)), strict=True)
    a, tail = contraction(m.h, eta, E), [F(0)] * (points - E)
    first = [a, local_contraction(m.h, m.spread, 1, eta, E) - a]
    powers, shifts = coefficients(kept), coefficients(shift)
    slower = all(value > a if E > 1 else value == a for value in kept)
    right = powers[:2] == first and shifts[:2] == [0, local_shift(m.h, eta, E) * m.tilt]
    ends = powers[E:] == tail and shifts[E:] == tail
    return unless(slower and right and ends, contraction=powers[:2], theory=first, shift=shifts[:2])


@everywhere(
    r"three populations, $\eta=1/4$ and 1, $E=1$ to 4 and 10; $n_m$ from 1 to 16",
    kinds=KINDS,
    eta=STEPS,
    E=(1, 2, 3, 4, 10),
    n=by_profile((1, 2, 5, 16), (1, 2, 3, 5, 8, 16, 40)),
)
def within_its_rest(kinds: Kinds, eta: F, E: int, n: int) -> Found:
    """The rest is within binom(E,3)q^(E-3)η³|μ₃|/n² + binom(E,4)η⁴E(h̄-h)⁴, at every n_m tried."""
    m, tails = kinds.moments, kinds.tails
    spread4 = 3 * m.spread**2 / n**2 + (tails.fourth - 3 * m.spread**2) / n**3
    q, off = 1 - eta * m.h, _averages(kinds, n, eta, E)[0] - local_contraction(m.h, m.spread, n, eta, E)
    most = comb(E, 3) * q ** max(E - 3, 0) * eta**3 * abs(tails.third) / n**2 + comb(E, 4) * eta**4 * spread4
    return unless(abs(off) <= most, rest=off, bound=most)


CLAIMS = [
    Claim(
        id="law:reuse/local-steps",
        title=r"small local memories contract less than $(1-\eta h)^E$",
        statement=r"Let samples have their own curvatures, $0\le\eta h_i\le1$. $E$ steps on a memory of "
        r"$n_m$ samples leave on average more of a distance than $(1-\eta h)^E$, for $E\ge2$ and "
        r"curvatures that vary: by $\tfrac12E(E-1)\eta^2(1-\eta h)^{E-2}\mathrm{Var}(h)/n_m$, up to "
        "$O(1/n_m^2)$ with an explicit constant, exactly for $E=2$. They also shift the mean by "
        r"$\eta^2\sum_{e<E}e(1-\eta h)^{e-1}\mathbb E[hg]/n_m$, up to $O(1/n_m^2)$. Averaged over $M$ "
        "clients with weights $n_m/n$, both have $M/n$ in place of $1/n_m$. No sample need be used in two "
        "rounds for that, and neither happens for $E=1$.",
        formula=said(
            r"\mathbb E[(1-\eta\bar h)^E]=@c+O(n_m^{-2})\ge(1-\eta h)^E",
            c=local_contraction(h, spread, size, eta, E),
        ),
        domain=r"losses with gradients $g+h\delta$ along one direction, $(h,g)$ i.i.d. with fourth "
        r"moments, $0\le\eta h_i\le1$, $\mathbb E\,g=0$, every $E$ and $n_m$",
        sketch=r"With $x=1-\eta\bar h$ and $q=1-\eta h$ the rest of $x^E$ after its tangent at $q$ is "
        "multiplied by $x$ and gains $Eq^{E-1}(x-q)^2$ from one step to the next: it is not negative, and "
        "its mean is Jensen's gap. The rests of order 2 and 3 obey the same recursion with $(x-q)^3$ and "
        r"$(x-q)^4$. $\mathbb E(x-q)^2=\eta^2\mathrm{Var}(h)/n_m$ is theory's term; $\mathbb E(x-q)^3$ is "
        r"of order $1/n_m^2$, and so is $\mathbb E(x-q)^4$, which bounds the rest of order 3 with the "
        r"number of fours among $E$ steps. $E$ steps move the minimiser's distance by $-b(\bar h)\bar g$ "
        r"with $b=\eta\sum x^e$, and $\mathbb E[(\bar h-h)\bar g]=\mathbb E[hg]/n_m$: the first order is "
        r"$-b'(h)\mathbb E[hg]/n_m$; what follows has a third moment of means, or four factors.",
        given=(WRITTEN,),
        checks={
            "slower": (remainders, signs, confirming(every_memory)),
            "first order": (
                *(remainders, signs, sizes, moments_of_a_mean, second_term),
                *map(confirming, (every_memory, within_its_rest)),
            ),
            "shift": (slopes, moments_of_a_mean, confirming(every_memory)),
        },
        symbols=curvatures.SYMBOLS | {"h̄": "a client's mean curvature", "n_m": "samples that a client holds"},
    )
]
