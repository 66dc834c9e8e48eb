r"""An optimum that goes round (`law:drift/cycle`): much drift does not always want fresh samples."""

from proofs_check.prelude import *

from proofs_check.groundwork.drift.moving import MOVING, NOISE, full
from proofs_check.groundwork.law.lags import a
from theory.drift.long_run import cycle_left
from theory.law.averaging import latest

c, s = sp.symbols("c s", real=True)
z = sp.Symbol("z")
CIRCLE = r"every $0\le a<1$ and frequency"


def response() -> Evidence:
    """The response H of θ' = aθ + (1-a)z̄ to z^(-t); K = 1 by its cosine; whole cycles in K rounds leave nothing."""
    turned = {s**2: 1 - c**2}
    box = sp.Symbol("box")
    once = sp.expand((cycle_left(a, 1, c, s) * ((1 - a * c) ** 2 + (a * s) ** 2)).together()).subs(turned)
    answer = (1 - a) * z * box / (1 - a * z)
    return argument(
        (answer / z, a * answer + (1 - a) * box, "the response a round later", CIRCLE),
        (sp.expand((1 - a * c) ** 2 + (a * s) ** 2).subs(turned), 1 - 2 * a * c + a**2, "$|1-az|^2$", CIRCLE),
        (once, 2 * (1 - c), "the rest at $K=1$", CIRCLE),
        *(
            (cycle_left(a, k, *at), 1, f"the rest at $K={k}$, a cycle", "every $a$")
            for k, at in WHOLE.items()
        ),
    )


# cosine and sine of a cycle, by its rounds
WHOLE = {
    2: (sp.Integer(-1), sp.Integer(0)),
    3: (-sp.Rational(1, 2), sp.sqrt(3) / 2),
    4: (sp.Integer(0), sp.Integer(1)),
    6: (sp.Rational(1, 2), sp.sqrt(3) / 2),
}


def a_round_earlier() -> Evidence:
    """Judged by the world a round earlier, K = 1 has 1 - H/z = a(1-z)/(1-az): a² times the next one's."""
    once = (1 - a) * z / (1 - a * z)
    return argument(
        (1 - once, (1 - z) / (1 - a * z), "the error in the next world", CIRCLE),
        (1 - once / z, a * (1 - z) / (1 - a * z), "the error in the one before", CIRCLE),
        (a**2 * 2 * (1 - c) < 1 - 2 * a * c + a**2, [a < 1, c <= 1], "every cosine"),
    )


def against_standing_still() -> Evidence:
    """2(1-c) > 1 - 2ac + a² if and only if c < (1+a)/2."""
    worse, fast = 2 * (1 - c) > 1 - 2 * a * c + a**2, c < (1 + a) / 2
    return argument(
        (sp.Equivalent(worse, fast), [a < 1], r"every cosine and $0<a<1$"),
        (4 / (1 + a) ** 2 > 1, [a < 1], "up and down in turn"),
    )


@everywhere(
    "cycles of 2, 4 and 6 rounds, $K=1,2,6$, $a=1/2$, 40 rounds by the law",
    cycle=((1, -1), (1, 0, -1, 0), (2, 1, -1, -2, -1, 1)),
    kept=(1, 2, 6),
    a=by_profile((F(1, 2),), (F(0), F(1, 2))),
)
def by_the_law(cycle: tuple[int, ...], kept: int, a: F) -> Found:
    """The mean square over the last cycle, up to the rest of the start; at K = 1 a² times that in the earlier world."""
    rounds, period = 40, len(cycle)
    path = np.array([[F(cycle[t % period])] for t in range(rounds + 1)])
    bias = path_bias(full(kept, rounds), rounds, a, over_rounds(latest, rounds), path=path, first=[F(0)])
    earlier = bias[1:] + path[1:] - path[:-1]
    found, before = (sum(one[-period:, 0] ** 2) / sum(F(x) ** 2 for x in cycle) for one in (bias, earlier))
    cosine = {2: F(-1), 4: F(0), 6: F(1, 2)}[period]
    sine = {2: F(0), 4: F(1), 6: sp.sqrt(3) / 2}[period]
    stated = sp.nsimplify(sp.expand(cycle_left(a, kept, sp.Rational(cosine), sine)))
    exact = F(int(stated.p), int(stated.q))
    off = [abs(found - exact), abs(before - a**2 * exact) if kept == 1 else 0]
    return unless(max(off) <= F(1, 2**24), found=found, stated=stated, before=before)


CLAIMS = [
    Claim(
        id="law:drift/cycle",
        title="a fast cycle wants old samples, however far it swings",
        statement=r"Of a cycle of frequency $\omega$ the square that is stated is left in the error of the model "
        "that a round begins with. Whoever keeps samples for a whole number of cycles stands still at their middle, "
        r"and 1 is left. $K=1$ leaves more than that if and only if $\cos\omega<\frac{1+a}2$. So for such "
        "cycles retention over a cycle is better than $K=1$ at the same step and rate, however far the "
        "optimum swings: that much drift wants $K=1$ is true of walks and slopes, and not of every path. "
        "This depends on the world that judges: in the one a round earlier $K=1$ leaves "
        "$a^2$ times as much, which is less than 1 at every frequency.",
        formula=(
            r"\Bigl|1-\frac{(1-a)z}{1-az}\cdot\frac1K\sum_{i<K}z^i\Bigr|^2,\quad z=e^{-i\omega};\qquad K=1:\ "
            r"\frac{2(1-\cos\omega)}{1-2a\cos\omega+a^2}"
        ),
        domain=r"constant admission, quadratic losses with one Hessian, $0\le a<1$, every frequency",
        sketch="What the model does to $z^{-t}$ is a factor: the mean over ages in the memory, times the geometric "
        "mean of the steps, a round late. Over a whole number of cycles the first is 0. "
        r"$2(1-\cos\omega)>1-2a\cos\omega+a^2$ is $(1-a)(1+a-2\cos\omega)>0$. A round earlier the error is a round "
        "younger, $a(1-z)$ in place of $1-z$. The noise of the longer retention is less as well.",
        given=(WRITTEN, NOISE),
        checks={
            "what is left": (response, confirming(by_the_law)),
            "against $K=1$": (against_standing_still, confirming(by_the_law)),
            "a round earlier": (a_round_earlier, confirming(by_the_law)),
        },
        symbols=MOVING | {"i": "an age; in an exponent, the imaginary unit", "z": r"$e^{-i\omega}$"},
    )
]
