r"""Ω₃, constant admission against the oracle (`lem:omega3-order`): the link that sets the regret's order."""

from proofs_check.prelude import *

from proofs_check.engines.kernel import serving
from proofs_check.groundwork.control.orders import ALL, HORIZONS, RATIONAL, t, terms_equal
from proofs_check.groundwork.control.printed_log import FACT, same_logarithm
from proofs_check.groundwork.regret import expansion
from proofs_check.groundwork.regret.expansion import LIMIT, oracle_round, surrogate_round
from theory.regret.omegas import omega3, omega3_as_stated

RATE = 6  # Λ̄, no less than Pdim: N = Λ̄t >= Pdim, where log⁺ is the printed log
AT = rf"$\bar\Lambda={RATE}$, constants {RATIONAL}"

FORM = "as printed, radicands before round $K$ by their positive part"


def _round_as_stated(K: int) -> Terms:
    """Round t of Ω₃ as printed: n = KΛ̄ in every round, and η for ηE."""
    single = replace(RATIONAL, E=1)
    return penalty_limit_as_stated(K, t, RATE, single) - constant_round(1, t, K * RATE, single)


def table(horizons: tuple[int, ...]) -> dict[str, str]:
    """Certified Ω₃(T), and it over the printed rate and over the true one: K = 10."""
    rows = {}
    for T in horizons:
        with precise():
            total, scale = omega3_as_stated(10, RATE, T, RATIONAL, certified=True).total, log(ball(T))
            shown = {"Ω₃": total, "Ω₃/log T": total / scale, "Ω₃/√(T log T)": total / sqrt(T * scale)}
        rows[f"T = {T:.0e}"] = ", ".join(f"{name} = {x.str(6, radius=False)}" for name, x in shown.items())
    limit = sp.N(omega3_limit(10, RATE, RATIONAL), 6)
    return {**rows, "T → ∞": f"Ω₃/log T → ∞, Ω₃/√(T log T) → {limit}"}


def round_by_round(*, stated: bool) -> Evidence:
    limit, total = (penalty_limit_as_stated, omega3_as_stated) if stated else (penalty_limit, omega3)
    numbers = (replace(RATIONAL, E=1) if stated else RATIONAL.merged).map(ball)

    def one(K: int, t: Any) -> Any:
        return (limit(K, t, ball(RATE), numbers) - constant_round(1, t, K * ball(RATE), numbers)).total

    def off(p: Any) -> Any:
        plain = sum(one(p["K"], ball(j)) for j in range(1, p["T"] + 1))
        return abs(total(p["K"], RATE, p["T"], RATIONAL, certified=True).total - plain)

    return compare(
        off,
        "<=",
        lambda p: ball(10) ** -15,
        grid(K=(1, 3), T=(1, 2, 40)),
        domain=f"{AT}: the sum of the theory and its rounds, added one by one",
    )


NOT_LOGARITHMIC = refuted(
    "Regret.omega3_is_not_logarithmic",
    detail=r"$\Omega_3/\log T$ tends to infinity, for every $K\ge2$; the certified sums illustrate it",
    domain=rf"every $K>1$ and all constants, {FORM}",
)


def as_printed(context: Context) -> Evidence:
    """No multiple of log T bounds the printed Ω₃. The certificate begins with the table that illustrates it."""
    found = NOT_LOGARITHMIC()
    rows = table(context.choose(HORIZONS, tuple(10**e for e in range(3, 16))))
    shown = replace(found, certificate={**rows, **found.certificate})
    facts = {"its sums are those of the rounds": round_by_round(stated=True), FACT: at_least_pdim()}
    return obeying(shown, facts)


def at_least_pdim() -> Evidence:
    """Both policies have seen at least Λ̄ samples in every round."""
    N = sp.Symbol("N", positive=True)
    return argument(same_logarithm(), (RATIONAL.Pdim <= N, [N >= RATE], r"every $N\ge\bar\Lambda$"))


DIFFERENCE = surrogate_round(t) - oracle_round(t)
APART = said(r"$@half\sqrt{\log t/t}$", half=LIMIT / 2)

CLAIMS = [
    Claim(
        id="lem:omega3-order",
        kind="lemma",
        title=r"$\Omega_3=O(\log T)$",
        statement=r"The limiting comparison penalties exceed the oracle's bound by order $\log T$.",
        formula=r"\Omega_3(T)=O(\log T)",
        domain=r"$K$ and $\bar\Lambda$ fixed with $K\bar\Lambda=\sum B$, $T\to\infty$",
        repair=r"Write $O(\sqrt{T\log T})$ for $O(\log T)$.",
        checks=(serving(as_printed, "Regret.omega3_is_not_logarithmic"),),
        corrected=Correction(
            title=said(r"$\Omega_3\sim@c\sqrt{T\log T}$; exactly 0 for $K=1$", c=LIMIT),
            statement=said(r"$\Omega_3(T)\sim@c\sqrt{T\log T}$, and for $K=1$ it is exactly 0.", c=LIMIT),
            formula=said(r"\Omega_3(T)\sim@c\,\sqrt{T\log T}", c=LIMIT),
            sketch=r"The comparison admits $\bar\Lambda$ samples per round and keeps each for $K$ rounds, so that by "
            r"round $t$ it has seen $\bar\Lambda t$ distinct ones; the oracle replaces all $K\bar\Lambda$ places in "
            r"every round and has seen $K\bar\Lambda t$. The generalisation terms are those of these numbers; "
            rf"their difference is {APART} to leading order, and $\sum\sqrt{{\log t/t}}\sim2\sqrt{{T\log T}}$. The "
            r"other two terms differ by order $1/t$, that is $\log T$ in total.",
            checks={
                r"$K\ge1$": (
                    theorem("Regret.omega3_limit_holds", domain=rf"{ALL}; $T\to\infty$"),
                    confirming(partial(round_by_round, stated=False)),
                ),
                "$K=1$": lambda: terms_equal(
                    penalty_limit(1, expansion.later, rate, CONSTANTS.merged),
                    constant_round(1, expansion.later, rate, CONSTANTS),
                    what="the limiting penalty and the oracle's round",
                    domain=r"$K=1$, every $t=1+s\ge1$ and every constant",
                ),
            },
        ),
    ),
    Claim(
        id="lem:omega3-order/lipschitz",
        kind="step",
        title="the generalisation terms differ by less than $O(1/t)$",
        statement="The map from $1/N$ to the generalisation term is Lipschitz near 0, so the terms for "
        r"$\bar\Lambda t$ and $K\bar\Lambda t$ samples differ by a lower order than $1/t$.",
        formula=r"g(\bar\Lambda t)-g(K\bar\Lambda t)=o(1/t)",
        domain=r"$K\ge2$, $t\to\infty$",
        symbols={"g": "the generalisation term of that many distinct samples", "o": "of lower order than"},
        repair=r"Write $O(\sqrt{\log t/t})$.",
        checks=(
            expansion.lipschitz_near_zero,
            lambda: diverges(
                eventually(_round_as_stated(2).generalisation, t) * t,
                t,
                what="$t$ times the generalisation terms' difference",
                domain=f"$K=2$, {AT}",
                probes=(10**2, 10**6, 10**12),
            ),
        ),
        corrected=Correction(
            title=f"they differ by {APART}",
            statement=rf"Not Lipschitz at 0, the map is of order $\sqrt{{x\log(1/x)}}$. The terms differ by {APART}.",
            formula=said(r"g(\bar\Lambda t)-g(K\bar\Lambda t)\sim@half\sqrt{\frac{\log t}t}", half=LIMIT / 2),
            sketch=r"$1/(K\bar\Lambda t)$ is a fixed fraction of $1/(\bar\Lambda t)$, however large $t$ is; "
            r"a function of order $\sqrt x$ then changes by a fixed fraction too.",
            checks=(
                lambda: argument(
                    (DIFFERENCE.generalisation * sp.sqrt(t / sp.log(t)), t, LIMIT / 2, "their quotient"),
                    domain=rf"{ALL}; $t\to\infty$",
                ),
            ),
        ),
    ),
]
