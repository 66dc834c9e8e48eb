r"""The law of reuse under an optimum that moves is exact for quadratic losses (`law:drift`)."""

from itertools import cycle

from proofs_check.prelude import *

from proofs_check.groundwork.drift.moving import MOVING, VARIANCE, mean_squares
from theory.drift.moving_optimum import drifting_risk
from theory.law.averaging import equal as equally
from theory.law.averaging import exponential, latest, over_models
from theory.law.quadratic import contraction

MEANS: dict[str, Any] = {"last": latest, "equal": equally, "exponential": partial(exponential, keep=F(1, 3))}
# a slope, a jump and back, a cycle; five places each
PATHS: dict[str, tuple[F, ...]] = {
    "slope": tuple(F(t, 3) for t in range(5)),
    "jump": (F(0), F(0), F(2), F(2), F(0)),
    "cycle": (F(1), F(-1), F(1), F(-1), F(1)),
}
# reuse, a burst and idle rounds, a first round without samples, first in first out
RULES = (by_age([1, 1, 1], 2), by_age([2, 0, 0, 1], 1), by_age([0, 1, 0, 1], 3), by_capacity([1, 2, 1], 2))

ALL = list(product(RULES, PATHS, MEANS))
CASES = list(zip(RULES, cycle(PATHS), cycle(MEANS), strict=False))


@everywhere(
    "up to 4 rounds, slope, jump and cycle with a walk on top; last, equal and exponential means; "
    "retention by age and by capacity, bursts, rounds without samples",
    case=by_profile(CASES, ALL),
)
def every_stream_and_walk(case: tuple[Any, str, str]) -> Found:
    """θ and its mean, by gradient steps on the samples themselves, against the law."""
    (rule, path, average), h, eta, E = case, F(2, 3), F(3, 5), 2
    rounds = int(rule.entered.max())
    trained = rule.occupancy(rounds) > 0
    shares = over_models(MEANS[average], trained) if path == "jump" else over_rounds(MEANS[average], rounds)
    places, first = PATHS[path][: rounds + 1], F(5, 2)
    counted = mean_squares(rule, rounds, h=h, eta=eta, E=E, shares=shares, path=places, first=first)
    law = drifting_risk(
        rule,
        rounds,
        contraction(h, eta, E),
        shares,
        h=[h],
        variance=[VARIANCE],
        first=[first],
        path=[[place] for place in places],
        walk=[VARIANCE],
    )
    return differing(enumerated=[h / 2 * square for square in counted], law=law.total.tolist())


CLAIMS = [
    Claim(
        id="law:drift",
        title="the law of reuse under an optimum that moves is exact",
        statement=r"Let a sample of round $s$ have the mean $\theta^\star(s)$, and let the optimum follow "
        "any path, and on top of it a walk whose steps have mean 0 and variance $q$ and are uncorrelated. "
        r"Judge the model that round $t$ begins with, $\theta(t)$ or a mean of models, by "
        r"$\theta^\star(t)$. Its expected excess risk is, exactly, a bias along the path, a lag behind the "
        "walk and the noise of a world at rest, for any admissions, retention, steps and means that are "
        "blind to values. Of the walk's law only $q$ counts: jumps of variance $J$ that come with "
        r"probability $p$ in a round are a walk with $q=pJ$. Judged by $\theta^\star(t-1)$ instead, the lag "
        "is $q$ less, whatever the policy.",
        formula=r"\tfrac12\sum_hh\Bigl(\bigl(x_0\theta(1)+\sum_sx_s\theta^\star(s)-\theta^\star(t)\bigr)^2"
        r"+q_h\sum_{l<t}W_l^2+s_h^2\sum_ib_i^2\Bigr),\quad W_l=x_0+\sum_{s\le l}x_s",
        domain="every $t$; quadratic losses with one Hessian; samples independent of the walk",
        given=(WRITTEN,),
        sketch=r"A round takes $\theta$ to $a\theta+(1-a)\bar z$, so the model is a sum of the start and of "
        r"samples with weights that add up to 1, $x_s$ of them on round $s$. A sample is $\theta^\star(s)$ "
        r"and a distance of its own, with mean 0. $\theta^\star(t)$ is $\theta^\star(s)$ and the changes "
        r"between, so change $l$ weighs $1-\sum_{s>l}x_s=W_l$ in the error; $W_l$ moves as $\theta$ does, "
        "by the share of the memory that is older than the change, and is 1 at first. Changes and samples "
        "are uncorrelated, so mixed terms vanish in the mean. The newest change, which no sample has seen, "
        "has $W=1$ for every policy. Directions add up, and a jump of variance $J$ that comes with "
        "probability $p$, independently, has mean 0 and variance $pJ$.",
        checks={
            "weights": (
                theorem("Law.model_is_linear", "Law.weights_add_up", domain="any memories, steps, clients"),
                confirming(every_stream_and_walk),
            ),
            "bias, lag and noise": (
                theorem("Law.law_of_drift", "Law.lag_a_round_earlier", domain="any weights that add up to 1"),
                confirming(every_stream_and_walk),
            ),
        },
        symbols=MOVING,
    )
]
