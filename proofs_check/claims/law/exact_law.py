r"""The law of reuse is exact for quadratic losses with one Hessian (`law:reuse`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.law.lags import SYMBOLS
from proofs_check.groundwork.law.streams import QUADRATIC, Quadratic, cohorts, kept_by_age, kept_by_capacity
from theory.law.quadratic import contraction, excess_risk

h = sp.Symbol("h", positive=True)
a = sp.Symbol("a", real=True)
G, before = sp.symbols("G before", real=True)
age = sp.Symbol("age", integer=True, positive=True)
PROBLEM = Quadratic(h=(F(2, 3), F(3, 2)), eta=F(3, 5), E=2, start=(F(5, 2), F(-1)))
# admissions and how long or how many are kept: bursts, empty rounds, empty clients, rounds without any sample
CASES: tuple[tuple[list[list[int]], int], ...] = (
    ([[1], [1], [1], [1]], 2),
    ([[2], [0], [0], [2], [0]], 3),
    ([[0], [2], [0], [0], [1], [0]], 2),
    ([[1, 1], [0, 1], [1, 0]], 2),
    ([[1, 2], [0, 0], [0, 1]], 1),
    ([[1, 0, 1], [0, 1, 0], [1, 0, 0]], 3),
    ([[4], [0], [0]], 3),
)


def grown(weight: Any) -> Any:
    """A weight after another round in memory."""
    return a * weight + (1 - a) / n


def _differs(problem: Quadratic, kept: tuple[list[list[int]], int], by: str) -> Found:
    admissions, most = kept
    memories = (kept_by_age if by == "age" else kept_by_capacity)(admissions, most)
    shape: Any = {"variance": problem.variance, "start": problem.distance, "eta": problem.eta, "E": problem.E}
    law = excess_risk(cohorts(admissions, most, by=by), len(admissions), h=problem.h, **shape)
    return differing(enumerated=problem.mean_excess(memories), law=law.total.tolist())


PLANE = f"{PROBLEM}, each sample one of three points of the plane"
every_stream = everywhere(PLANE, problem=(PROBLEM,), kept=CASES, by=("age", "capacity"))(_differs)
CLAIMS = [
    Claim(
        id="law:reuse",
        title="the law of reuse is exact for quadratic losses",
        statement=r"If every loss is $\tfrac12(\theta-z)^\top H(\theta-z)$ with one $H$, admission and dropping "
        "are blind to the values of samples, and clients are weighted by $n_m/n$, then the expected excess risk "
        "after any number of rounds is, exactly, a transient, which knows of the admissions only in how many "
        "rounds there were samples, and a noise part, the sum of the squared weights with which samples have "
        r"entered $\theta$. The split over clients does not matter. It holds for every admission sequence, "
        "empty rounds and bursts included, and every rule by which samples leave.",
        formula=said(
            r"\mathbb "
            r"E[F_P(\theta(t))-F_P(\theta^\star)]=\tfrac12\sum_hh\Bigl(a_h^{2k(t)}(\theta_h(1)-\theta_h^\star)^2"
            r"+s_h^2\sum_ic_{i,h}(t)^2\Bigr),\quad "
            r"c_{i,h}(t)=(1-a_h)\sum_{\tau<t,\,i\in Q(\tau)}\frac{a_h^{k(t)-k(\tau+1)}}{n(\tau)},\quad a_h=@a",
            a=contraction(h, CONSTANTS.eta, CONSTANTS.E),
        ),
        domain=r"every $t$, $E$, $\eta$, $H$, admissions and retention by age, by capacity or by any rule "
        "blind to values",
        hypotheses=(*QUADRATIC, "admission and retention do not look at sample values"),
        sketch=r"Work along an eigenvector of $H$. A client's gradient is $h(\theta-\bar z_m)$, so $E$ "
        r"steps take $\theta$ to $a\theta+(1-a)\bar z_m$, $a=(1-\eta h)^E$, whatever its samples; the "
        r"server's average with weights $n_m/n$ is $a\theta+(1-a)\bar z$, $\bar z$ the mean of all samples "
        r"in memory. A round without samples changes nothing. Unrolled, $\theta(t)-\theta^\star$ is "
        r"$a^k(\theta(1)-\theta^\star)$ plus $\sum c(t)(z-\theta^\star)$, $k$ being the rounds with "
        "samples so far. The weights do not depend on values, samples are independent with mean "
        r"$\theta^\star$: mixed terms vanish in the mean, and the excess risk is $\tfrac12\sum h$ times "
        "the mean square. The weights' squares add up by a recursion: a weight becomes $ac+(1-a)/n$ in "
        "memory and $ac$ outside, so $S'=a^2S+2a(1-a)M/n+(1-a)^2/n$, where $M$ is the sum of the weights "
        "in memory, and $M'=aM+(1-a)$ less what leaves; a sample of round $j$ has the weight "
        "$G(t)-a^{t+1-j}G(j-1)$ with $G(t)=aG(t-1)+(1-a)/n(t)$.",
        checks={
            "transient and noise": (
                theorem(
                    "Law.law_of_reuse",
                    "Law.risk_of_quadratic_losses",
                    "Law.transient_is_a_power",
                    "Law.weight_is_a_sum",
                    "Means.such_samples_exist",
                    domain="given the admissions: any clients, local steps, memories and empty rounds",
                ),
                confirming(every_stream),
            ),
            "the weights": (
                theorem("Law.squares_forwards", domain="any round with samples"),
                lambda: argument(
                    (grown(before) - a * before, (1 - a) / n, "the first weight"),
                    (grown(G) - a ** (age + 1) * before, grown(G - a**age * before), "the next weight"),
                    domain="a sample of round $j$, in it and a round later",
                ),
            ),
        },
        symbols={
            **SYMBOLS,
            "E": "local steps per round; before a bracket: expectation over all streams",
            "c": r"a sample's weight in $\theta$, (before a bracket) as a function of the round",
            "k": "rounds before a round that had samples in memory, as a function of the round",
        },
    )
]
