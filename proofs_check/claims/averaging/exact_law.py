r"""The law of averaged models is exact for quadratic losses with one Hessian (`law:averaged`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.law.lags import AVERAGED
from proofs_check.groundwork.law.streams import QUADRATIC, Quadratic, cohorts, kept_by_age, kept_by_capacity
from theory.law import averaging

MEANS: dict[str, Any] = {
    "last": averaging.latest,
    "equal": averaging.equal,
    "polynomial": partial(averaging.polynomial, gamma=2),
    "tail": partial(averaging.tail, first=2),
    "exponential": partial(averaging.exponential, keep=F(1, 3)),
}
PROBLEM = Quadratic(h=(F(2, 3), F(3, 2)), eta=F(3, 5), E=2, start=(F(5, 2), F(-1)))
# admissions, how long or how many are kept: bursts, rounds without any sample at the start, in between, at the end
CASES: tuple[tuple[list[list[int]], int], ...] = (
    ([[1], [1], [1]], 2),
    ([[0], [2], [0], [0], [1], [0]], 1),
    ([[1, 1], [0, 0], [0, 0], [1, 0]], 1),
    ([[3], [0], [0], [0]], 2),
)
STEP_SIZES = (F(3, 5), F(1, 2), F(3, 2), F(1, 3), F(1, 4), F(1, 5))

ANY = "any weights of models, steps, clients and memories"


def _shares(name: str, trained: list[bool], counted: str) -> list[Any]:
    if counted == "rounds":
        return averaging.over_rounds(MEANS[name], len(trained))
    return averaging.over_models(MEANS[name], trained)


def _differs(
    problem: Quadratic, kept: tuple[list[list[int]], int], by: str, mean: str, counted: str
) -> Found:
    """Every stream of samples, clients and local steps one by one, a running mean beside; and theory's law."""
    admissions, most = kept
    memories = (kept_by_age if by == "age" else kept_by_capacity)(admissions, most)
    rounds, etas = len(admissions), [problem.eta * size for size in STEP_SIZES[: len(admissions)]]
    shares = _shares(mean, [bool(memory) for memory in memories], counted)
    law = averaging.averaged_risk(
        cohorts(admissions, most, by=by),
        rounds,
        averaging.contractions([*problem.h], etas, problem.E),
        shares,
        h=problem.h,
        variance=problem.variance,
        start=problem.distance,
    )
    return differing(enumerated=problem.averaged_excess(memories, shares, etas), law=law.total.tolist())


every_stream = everywhere(
    f"{PROBLEM}, steps times {', '.join(map(str, STEP_SIZES))}; each sample one of three points of the plane",
    problem=(PROBLEM,),
    kept=CASES,
    by=("age", "capacity"),
    mean=by_profile(("polynomial",), tuple(MEANS)),
    counted=("models", "rounds"),
)(_differs)


@drawn(
    "up to 6 rounds, steps of their own, two directions; by age or by capacity; five means, over models "
    "and rounds",
    (14, 400),
    admissions=st.lists(st.integers(0, 3), min_size=1, max_size=6),
    kept=st.integers(1, 4),
    by=st.sampled_from([by_age, by_capacity]),
    steps=st.lists(fractions(F(-1, 2), F(5, 4), max_denominator=4), min_size=12, max_size=12),
    mean=st.sampled_from(sorted(MEANS)),
    counted=st.sampled_from(["models", "rounds"]),
)
def both_views(admissions: Any, kept: int, by: Any, steps: Any, mean: str, counted: str) -> Found:
    """Both recursions, forwards after every round and backwards; for the last iterate `law:reuse`."""
    # a second client keeps its samples for one round: the first to come need not be the first to leave
    rule, T = by(admissions, kept) + by_age(admissions, 1), len(admissions)
    rows = [steps[2 * t : 2 * t + 2] for t in range(T)]
    trained = [bool(held > 0) for held in rule.occupancy(T).tolist()]
    shares = _shares(mean, trained, counted)
    ahead = averaging.averaged(rule, T, rows, shares)
    ends = [
        averaging.by_shares(rule, t, rows[:t], averaging.final_weights(shares[: t + 1]))
        for t in range(1, T + 1)
    ]
    last = averaging.averaged(rule, T, steps[0], shares).last_squares[:, 0].tolist()
    return differing(
        forwards=[ahead.left[1:].tolist(), ahead.squares[1:].tolist(), last],
        backwards=[
            [left.tolist() for left, _ in ends],
            [squares.tolist() for _, squares in ends],
            squared_weights(rule, steps[0], T).tolist(),
        ],
    )


@drawn(
    "up to 8 rounds, used once or twice; five means",
    (12, 200),
    admissions=st.lists(st.integers(0, 2), min_size=1, max_size=8),
    kept=st.integers(1, 2),
    mean=st.sampled_from(sorted(MEANS)),
)
def copies_do_not_count(admissions: list[int], kept: int, mean: str) -> Found:
    """A mean over models is what it is without the idle rounds; over rounds a copy weighs as any model."""
    rule, T = by_age(admissions, kept), len(admissions)
    trained = [bool(held > 0) for held in rule.occupancy(T).tolist()]
    p = averaging.final_weights(averaging.over_models(MEANS[mean], trained))
    new = [True, *trained]
    alone = averaging.final_weights([MEANS[mean](k) for k in range(1, sum(new) + 1)])
    every = averaging.final_weights(averaging.over_rounds(averaging.equal, T))
    true = [one for one, fresh in zip(p, new, strict=True) if fresh] == alone
    copies = [one for one, fresh in zip(p, new, strict=True) if not fresh]
    return unless(true and not any(copies) and set(every) == {F(1, T + 1)}, weights=p, alone=alone)


CLAIMS = [
    Claim(
        id="law:averaged",
        title="the law of averaged models is exact for quadratic losses",
        statement="Under the hypotheses of law:reuse, and with a step of its own in every round, the "
        r"expected excess risk of $\bar\theta=\sum_tp_t\theta(t)$ is, for any weights with $\sum p_t=1$, "
        "exactly, a transient, the square of what the mean has left of the start, and noise, the squared "
        "weights $b$ of the samples in the mean. Rounds without samples take no step. The weights follow "
        "from the last round backwards; and for a running mean "
        r"$\bar\theta\leftarrow(1-w)\bar\theta+w\theta$ both parts follow after every round forwards, "
        "from the sums of $c^2$, $cb$ and $b^2$. The mean may count the copies that idle rounds leave or "
        "not: that is a matter of $p$.",
        formula=r"\mathbb E[F_P(\bar\theta)-F_P(\theta^\star)]=\tfrac12\sum_hh\Bigl( "
        r"u_h(1)^2(\theta_h(1)-\theta_h^\star)^2 +s_h^2\sum_ib_{i,h}^2\Bigr),\quad "
        r"b_{i,h}=\sum_{\tau:\,i\in Q(\tau)}\frac{(1-a_{\tau,h})u_h(\tau+1)}{n(\tau)},\quad "
        r"u_h(\tau)=p_\tau+a_{\tau,h}u_h(\tau+1)",
        domain="every $t$, $p$, $E$, $H$ and steps of each round, admissions and retention by age, by "
        "capacity or by any rule blind to values, idle rounds included",
        hypotheses=(*QUADRATIC, "admission, retention, steps and weights do not look at sample values"),
        sketch=r"In an eigendirection a round takes $\theta$ to $a\theta+(1-a)\bar z$ (law:reuse), $a=1$ "
        r"where there is no sample. From the last model backwards, $p\theta+u'(a\theta+(1-a)\bar "
        r"z)=(p+au')\theta+(1-a)u'\bar z$: so $\sum p_t\theta(t)=u(1)\theta(1)+\sum_\tau g(\tau)\bar "
        r"z(\tau)$ with $g=(1-a)u'$, and a sample has the weight $\sum g/n$ over its rounds. All weights "
        r"and $u(1)$ add up to $\sum p=1$, so $\bar\theta-\theta^\star$ is "
        r"$u(1)(\theta(1)-\theta^\star)+\sum b(z-\theta^\star)$; mixed terms vanish in the mean. "
        "Forwards, a sample's weights become $c'=ac+(1-a)/n$ in memory, $ac$ outside, and "
        r"$b'=(1-w)b+wc'$; squares and products added up over all samples give the recursions of $\sum "
        r"c^2$, $\sum cb$ and $\sum b^2$.",
        checks={
            "backwards": (theorem("Law.collected_backwards", domain=ANY), confirming(both_views)),
            "forwards": (
                theorem("Law.squares_forwards", domain="any round with samples, any running mean"),
                confirming(both_views),
                confirming(copies_do_not_count),
            ),
            "transient and noise": (
                theorem("Law.law_of_averages", "Law.risk_of_quadratic_losses", domain=ANY),
                confirming(every_stream),
            ),
        },
        symbols=AVERAGED,
    )
]
