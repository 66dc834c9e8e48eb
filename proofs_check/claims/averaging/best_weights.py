r"""The best weights for a horizon (`law:averaged/best-weights`): transient and noise are one quadratic form in them."""

from proofs_check.prelude import *

from proofs_check.groundwork.law.lags import AVERAGED
from theory.law.averaging import best_weights, risk_matrix
from theory.market.lower_bound import bayes_risk

delta, spread, N, n1, n2 = sp.symbols("D v N n_1 n_2", positive=True)  # D, v: first distance², variance
e1, e2, total = sp.symbols("e_1 e_2 total", real=True)


def all_alike() -> Evidence:
    """(p+d)'A(p+d) = p'Ap + 2d'Ap + d'Ad; where all (Ap)_t are one number c, 2d'Ap = 2cΣd = 0, and d'Ad >= 0."""
    A = sp.Matrix(3, 3, lambda i, j: sp.Symbol(f"A_{min(i, j)}{max(i, j)}", real=True))
    p, d = (sp.Matrix(sp.symbols(f"{name}_1:4", real=True)) for name in ("p", "d"))
    common, square = sp.symbols("c square", real=True)
    whole = ((p + d).T * A * (p + d))[0]
    parts = (p.T * A * p)[0] + 2 * (d.T * A * p)[0] + (d.T * A * d)[0]
    return argument(
        (whole, parts, "the form and its parts", "three models, and so any number"),
        (2 * common * (d[0] + d[1] - d[0] - d[1]), 0, r"$2c\sum d$, $\sum d=0$,", "three models"),
        (common + square >= common, [square >= 0], "a mean square is not negative"),
    )


def one_direction() -> Evidence:
    """D(1-Σg)² + vΣg²/n at g = n/(N + v/D): the least, D(Σe)² + vΣe²/n below every other; and theory's Bayes risk."""
    both = n1 + n2
    best = [n / (both + spread / delta) for n in (n1, n2)]

    def risk(x: Any, y: Any) -> Any:
        return delta * (1 - x - y) ** 2 + spread * (x**2 / n1 + y**2 / n2)

    gap = delta * (e1 + e2) ** 2 + spread * (e1**2 / n1 + e2**2 / n2)
    least = risk(*best)
    return argument(
        (risk(best[0] + e1, best[1] + e2) - least, gap, "what another choice adds"),
        (least / 2, bayes_risk(both, h=[1], variance=[spread], prior=[delta]), "the least and theory's risk"),
        domain="two memories of different samples, and so any number",
    )


def no_weights_do_better() -> Evidence:
    """Σb² >= (Σb)²/N, and D(1-B)² + vB²/N >= Dv/(ND+v) for every B."""
    value, mean = sp.symbols("b m", real=True)
    form = delta * (1 - total) ** 2 + spread * total**2 / N
    return argument(
        (value**2 >= 2 * mean * value - mean**2, [], r"each weight, summed up with $m=\sum b/N$"),
        (form >= delta * spread / (N * delta + spread), [], r"every $B=\sum b$"),
    )


PROBLEM: dict[str, Any] = {"h": [F(1), F(1, 2)], "variance": [F(1), F(3)], "start": [F(4), F(2)]}
STEPS = [F(1, 2), F(3, 4)]


@drawn(
    "up to 5 rounds, by age or by capacity, two directions; other weights that add up to 1",
    (30, 300),
    admissions=st.lists(st.integers(0, 3), min_size=1, max_size=5),
    kept=st.integers(1, 3),
    by=st.sampled_from([by_age, by_capacity]),
    other=st.lists(fractions(-1, 1, max_denominator=4), min_size=5, max_size=5),
)
def against_others(admissions: list[int], kept: int, by: Any, other: list[F]) -> Found:
    """All (Ap)_t alike; p'Ap is the law's risk; and no drawn weights, and no single model, have less."""
    rounds, rule = len(admissions), by(admissions, kept)
    A = risk_matrix(rule, rounds, STEPS, **PROBLEM)
    p = best_weights(A)
    rest = [*other[:rounds], 1 - sum(other[:rounds])]

    def risk(weights: list[Any]) -> Any:
        left, squares = by_shares(rule, rounds, STEPS, weights)
        scale = zip(PROBLEM["h"], PROBLEM["variance"], PROBLEM["start"], left, squares, strict=True)
        return sum(h * (u * u * start + v * square) for h, v, start, u, square in scale) / 2

    least, alike = risk(p), {sum(x * y for x, y in zip(row, p, strict=True)) for row in A.tolist()}
    single = min(A[t, t] for t in range(rounds + 1))
    true = sum(p) == 1 and alike == {least} and least <= min(risk(rest), single)
    return unless(true, weights=p, least=least, alike=alike)


@everywhere(
    "admissions used once, rounds without samples among them; $a=1/2$ and $9/10$",
    admissions=([3], [1, 2], [2, 0, 1], [1, 1, 4, 2]),
    a=(F(1, 2), F(9, 10)),
)
def bayes_reached(admissions: list[int], a: F) -> Found:
    """One direction, each sample used once: the least risk is the Bayes risk of all samples, exactly."""
    one: Any = {"h": [F(2)], "variance": [F(3)], "start": [F(5)]}
    A = risk_matrix(by_age(admissions, 1), len(admissions), a, **one)
    p = best_weights(A)
    least = sum(x * y * A[i, j] for i, x in enumerate(p) for j, y in enumerate(p))
    return differing(least=least, bayes=bayes_risk(sum(admissions), h=[F(2)], variance=[F(3)], prior=[F(5)]))


@drawn(
    "up to 5 rounds, by age or by capacity, one direction",
    (30, 300),
    admissions=st.lists(st.integers(0, 3), min_size=1, max_size=5).filter(any),
    kept=st.integers(1, 3),
    by=st.sampled_from([by_age, by_capacity]),
)
def never_below(admissions: list[int], kept: int, by: Any) -> Found:
    """Whatever is reused, the best weights have at least the Bayes risk of all samples that were kept."""
    rule, rounds = by(admissions, kept), len(admissions)
    A = risk_matrix(rule, rounds, F(1, 2), h=[F(1)], variance=[F(1)], start=[F(4)])
    p = best_weights(A)
    least = sum(x * y * A[i, j] for i, x in enumerate(p) for j, y in enumerate(p))
    bayes = bayes_risk(int(rule.count.sum()), h=[F(1)], variance=[F(1)], prior=[F(4)])
    return unless(least >= bayes, least=least, bayes=bayes)


CLAIMS = [
    Claim(
        id="law:averaged/best-weights",
        title="the best weights, and when they reach the Bayes risk",
        statement=r"The expected excess risk of $\sum p_t\theta(t)$ is a quadratic form $p^\top Ap$ on "
        r"the weights with $\sum p=1$. Weights are best if and only if all $(Ap)_t$ are equal, to the "
        r"least risk: $p=A^{-1}\mathbf 1/\mathbf 1^\top A^{-1}\mathbf 1$ where $A$ is regular; some may "
        "be negative. In one direction, and with each sample used once, the least risk is the Bayes risk "
        "of all $N$ samples for a prior as wide as the first distance. With reuse it is never less. In "
        "several directions the weights are shared, and the least risk is at least the sum of those.",
        formula=r"\min_{\sum p=1}p^\top Ap=\frac1{\mathbf 1^\top A^{-1}\mathbf 1}\ge\tfrac12\sum_h\frac "
        r"h{N/s_h^2+1/(\theta_h(1)-\theta_h^\star)^2}",
        domain=r"quadratic losses with one Hessian; any admissions, retention and steps, blind to values",
        sketch="By law:averaged risk is a quadratic form, and a mean square is not negative. From "
        r"weights with $(Ap)_t=c$ for all $t$ a change $d$ with $\sum d=0$ adds $2c\sum d+d^\top "
        r"Ad=d^\top Ad$. In one direction choose shares $g$ of rounds: all can be had if $0<1-a$ "
        r"(law:averaged/counts). With samples used once the risk is $\tfrac12h$ times $D(1-\sum "
        r"g)^2+s^2\sum g^2/n$, $D$ the first distance squared, least at $g=n/(N+s^2/D)$, where it is "
        r"$Ds^2/(ND+s^2)$. With reuse $\sum b^2\ge(\sum b)^2/N$ leaves at least that.",
        given=(WRITTEN,),
        checks={
            "all models alike": (all_alike, confirming(against_others)),
            "used once": (one_direction, confirming(bayes_reached)),
            "reuse": (no_weights_do_better, confirming(never_below)),
        },
        symbols={**AVERAGED, "A": "mean products of the models' errors"},
    )
]
