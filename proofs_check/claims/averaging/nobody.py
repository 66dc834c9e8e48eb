r"""Lower bound for every policy and learner within a budget (`law:averaged/nobody`), and the rule that reaches it."""

from proofs_check.prelude import *

from proofs_check.groundwork.law.lags import AVERAGED
from proofs_check.groundwork.market.figures import figures
from proofs_check.groundwork.market.market import HIGH, LOW, PLACES, SETTING
from theory.market.knapsack import Limit
from theory.market.lower_bound import bayes_risk, burst_risk, least_risk, most_samples, van_trees
from theory.paper import BUDGET

t, S, C, D, price = sp.symbols("t S C D theta_c", positive=True)
ANYBODY = "any policy within the budget, any estimate, any number of directions"
BAYES = Given(
    "Bayes",
    r"that given what was seen $\theta^\star$ has the density prior times samples (prices and decisions are factors "
    r"without $\theta^\star$), so that its variance is one over the precision",
)
BURSTS = Given("law:averaged/bursts", "that bursts, used once and averaged, have at most theory's burst_risk")


def the_money() -> Evidence:
    """λC + S·E(1-λc)⁺ at λ = 1/θ, what Coq has for a round, is the knapsack's rate R."""
    spent, below = sp.symbols("m F", positive=True)
    a_round = C / price + S * (below - spent / price)  # λC + S·E(1-λc)⁺, F and m of the prices below θ
    part = (C / S - spent) / price  # at θ, what the rest of C pays for
    return argument(
        (a_round, S * (below + part), "a round's mean and the knapsack's rate"), domain="every law of prices"
    )


@everywhere(
    "2 rounds, prices 1 or 2, 1 or 5 and 2 or 3, $S=1,2$, $C=1,3/2,2$; all clairvoyant policies",
    prices=([1, 2], [1, 5], [2, 3]),
    places=(1, 2),
    budget=(F(1), F(3, 2), F(2)),
)
def every_policy(prices: list[int], places: int, budget: F) -> Found:
    """The mean of the Bayes risk over all price paths, for all policies within the mean budget: never below."""
    rounds, problem = 2, {"h": [F(1)], "variance": [F(2)], "prior": [F(3)]}
    bound = bayes_risk(most_samples(purchase_limit(Atoms.of(prices), places, budget), rounds), **problem)
    risks = [bayes_risk(N, **problem) for N in range(rounds * places + 1)]
    paths = [sorted(path * places) for path in product(prices, repeat=rounds)]  # the cheapest samples first
    for bought in product(range(len(risks)), repeat=len(paths)):
        cost = sum(sum(path[:number]) for path, number in zip(paths, bought, strict=True))
        risk = sum(risks[number] for number in bought) / len(paths)
        if cost <= budget * rounds * len(paths) and risk < bound:
            return {"bought": bought, "risk": risk, "bound": bound}
    return None


def reached() -> Evidence:
    """burst_risk over the bound at Rt + D/θ tends to 1: its noise does, and its transient is of smaller order."""
    x, distance, eta = sp.symbols("x d eta", positive=True)
    often = 1 - sp.exp(-x)
    below = least_risk(most_samples(Limit(price, 1, S * often, C, "money"), t, D), h=[1], variance=[1])
    problem: Any = {"h": [1], "eta": eta}
    noise_part = burst_risk(S, often, t, variance=[1], start=[0], **problem)
    start_part = burst_risk(S, often, t, variance=[0], start=[distance], **problem)
    return limits(
        t,
        (t * (noise_part / below - 1), D / (price * S * often) - 1, "$t$ times (noise over bound, less 1)"),
        (t * start_part / below, 2 * S * distance / (eta**2 * often), "$t$ times transient over bound"),
        (bayes_risk(S * often * t, h=[1], variance=[1], prior=[distance]) / below, 1, "Bayes risk over it"),
        domain=r"each direction, every $S$, $q=1-e^{-x}$, $D$, start and $\eta h$",
    )


@everywhere(
    "prices 1 or 4, $S=2$, $C=1$, so $q=1/2$; up to 2000 rounds; two directions, $\\eta h=1/4$ and 1",
    rounds=by_profile((100, 500, 2000), (100, 500, 2000, 10000)),
)
def ratio_of_bounds(rounds: int) -> Found:
    """The ratio is at most 1 + 100/t."""
    problem: Any = {"h": [F(1, 2), F(2)], "variance": [F(2), F(1)]}
    limit = purchase_limit(Atoms.of([1, 4]), 2, 1)
    above = burst_risk(2, F(1, 2), rounds, **problem, start=[F(1), F(1)], eta=F(1, 2))
    below = least_risk(most_samples(limit, rounds), **problem)
    return unless(limit.rate == 1 and above <= below * (1 + F(100, rounds)), above=above, below=below)


# --- other laws of samples ---------------------------------------------------------------------------------

GILL_LEVIT = Given(
    "Gill and Levit 1995",
    "that smooth densities may be integrated by parts, and that scores of samples chosen one by one are "
    "uncorrelated",
)


def cauchy_schwarz() -> Evidence:
    """E(x - λs)² = V - 2λ + λ²Q >= 0 with E[xs] = 1; λ = 1/Q. And m/2 times it, and less information, more of it."""
    square, scores, factor, curvature = sp.symbols("V Q lambda m", positive=True)
    number, information, prior, less = sp.symbols("N I J less", positive=True)
    known = [square - 2 * factor + factor**2 * scores >= 0, sp.Eq(factor * scores, 1)]
    bound = van_trees(number, information, prior)
    return argument(
        (square >= 1 / scores, known, r"any estimate, $Q=\mathbb E[NI]+J$"),
        (van_trees(number, information, prior), 1 / (number * information + prior), "the bound", "every $Q$"),
        (bound <= van_trees(number, less, prior), [less <= information], "an information that is larger"),
        (curvature / 2 * square >= curvature / 2 * bound, [square >= bound], "curvature at least $m$"),
    )


def scores_add_up() -> Evidence:
    """E(s + σ)² = E s² + E σ² where E[σ | all before] = 0: a sample more adds its information where it was bought."""
    before, fresh, chance, information = sp.symbols("before fresh chance I", real=True)
    square = sp.expand((before + chance * fresh) ** 2).subs(fresh**2, information).subs(fresh, 0)
    return argument(
        (square, before**2 + chance**2 * information, "the square of the scores with one more"),
        domain="bought or not, 1 or 0, by any rule that looks back",
    )


def _beta(first: int, second: int, heads: int, tails: int) -> F:
    """E[p^heads·(1-p)^tails] under Beta(first, second)."""

    def whole(x: int, y: int) -> F:
        return F(factorial(x - 1) * factorial(y - 1), factorial(x + y - 1))

    return whole(first + heads, second + tails) / whole(first, second)


def _leaves(rule: dict[tuple[int, ...], bool], seen: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Histories at which a rule stops."""
    if not rule.get(seen, False):
        yield seen
        return
    for toss in (0, 1):
        yield from _leaves(rule, (*seen, toss))


@everywhere(
    "a coin, beta priors (3, 3) and (3, 5); all 128 rules that toss up to three times, depending on what came",
    prior=((3, 3), (3, 5)),
    toss=list(product((False, True), repeat=7)),
)
def every_rule(prior: tuple[int, int], toss: tuple[bool, ...]) -> Found:
    """E[(p̂-p)S] = 1 and E S² = E[NI] + J for the posterior mean p̂, and its mean square error is not below; exactly."""
    nodes = [history for n in range(3) for history in product((0, 1), repeat=n)]
    first, second = prior
    square, crossed, scores, information = (F(0),) * 4
    for seen in _leaves(dict(zip(nodes, toss, strict=True))):
        heads, tails = sum(seen), len(seen) - sum(seen)

        def mean(more: int = 0, fewer: int = 0, heads: int = heads, tails: int = tails) -> F:
            return _beta(first, second, heads + more, tails + fewer)

        guess = mean(1) / mean()
        up, down = first - 1 + heads, second - 1 + tails  # S = up/p - down/(1-p)
        square += mean(2) - 2 * guess * mean(1) + guess**2 * mean()
        crossed += up * (guess * mean(-1) - mean()) - down * (guess * mean(0, -1) - mean(1, -1))
        scores += up**2 * mean(-2) - 2 * up * down * mean(-1, -1) + down**2 * mean(0, -2)
        information += len(seen) * mean(-1, -1)
    own = (first - 1) ** 2 * _beta(first, second, -2, 0) + (second - 1) ** 2 * _beta(first, second, 0, -2)
    own -= 2 * (first - 1) * (second - 1) * _beta(first, second, -1, -1)
    true = crossed == 1 and scores == information + own and square >= van_trees(information, 1, own)
    return unless(true, crossed=crossed, scores=scores, information=information + own, square=square)


CLAIMS = [
    Claim(
        id="law:averaged/nobody",
        title="lower bound for every policy and learner, and who reaches it",
        statement=r"Let samples be Gaussian with mean $\theta^\star$ and variance $s_h^2$ along each "
        r"eigendirection, independently, let $\theta^\star$ have the prior $N(0,\tau_h^2)$ there, and let prices be "
        r"independent, of one law, and say nothing about $\theta^\star$. Whoever buys up to $S$ samples a round for "
        "a mean cost of at most $Ct+D$, knowing prices to come or not, looking at the values of samples bought so "
        "far or not, and whatever is learned from them: the expected excess risk after $t$ rounds is at least the "
        "Bayes risk of "
        r"$Rt+D/\theta$ samples, with the knapsack's rate $R$ and threshold $\theta$ (buy:limit). As "
        r"$\tau\to\infty$: no guarantee for all $\theta^\star\in\mathbb R^d$, or for all laws of samples with these "
        r"variances, is below $\tfrac12\sum hs_h^2/(Rt+D/\theta)$. Buying $S$ below the threshold, training on them "
        "once and averaging over models is within $1+O(1/t)$ of that, for every such law and every start, and so on "
        "average over the prior too. With the paper's MNIST budgets and prices on $[1,10]$ after 3,000 rounds the "
        "bound is that of 76,717 samples; constant admission buys 30,000.",
        formula=r"\mathbb E[F_P(\hat\theta)-F_P(\theta^\star)]\ge\tfrac12\sum_h\frac "
        r"h{N/s_h^2+1/\tau_h^2}\to\tfrac12\sum_h\frac{h\,s_h^2}N\quad(\tau\to\infty),\qquad N=Rt+\frac D\theta",
        domain=r"quadratic losses with one Hessian; every $t$, $S$, $C$, $D\ge0$ and law of prices with "
        "money that binds, else $R=S$; what is given for free at the start counts beside $N$; samples are paid for "
        r"before they are seen, and $\theta^\star$ may lie anywhere: within a known ball less can be guaranteed for a "
        "finite $N$",
        hypotheses=(
            r"samples are Gaussian and prices are independent of them and of $\theta^\star$; for the "
            "bound from above any law with these variances",
        ),
        sketch=r"Given all that was seen, the density of $\theta^\star$ is the prior times the samples' densities "
        r"times factors for prices and decisions, which depend on what was seen and not on $\theta^\star$. A sample "
        "multiplies a Gaussian of precision $P$ into one of precision $P+1/s^2$, whatever its value: after $N$ "
        r"samples it is $N/s^2+1/\tau^2$, and no estimate has a smaller mean square error than its inverse, given "
        r"what was seen. So the excess risk is at least the mean of $\tfrac12\sum h/(N/s^2+1/\tau^2)$ over $N$, "
        r"which may depend on values and prices. It is convex in $N$, so at least that of $\mathbb E[N]$, and falls "
        r"in it. In each round $x\le\lambda cx+S(1-\lambda c)^+$; in the mean, with $\lambda=1/\theta$ and a cost "
        r"of at most $Ct+D$, $\mathbb E[N]\le Rt+D/\theta$. The worst $\theta^\star$ has at least the mean over any "
        r"prior, so for a guarantee let $\tau\to\infty$. From above: law:averaged/bursts with $q=P(c\le\theta)$, "
        r"where a price at the threshold counts with the chance that spends $C$. For one $\theta^\star$ alone "
        "nothing can be said: a learner may have guessed it.",
        given=(BAYES, BURSTS),
        checks={
            "any learner": theorem("Nobody.precision_adds_up", "Nobody.nobody_beats", domain=ANYBODY),
            "any policy": (
                theorem("Nobody.nobody_beats", domain=ANYBODY),
                the_money,
                confirming(every_policy),
            ),
            "any start": theorem(
                "Nobody.no_guarantee_is_below",
                domain="any policy and learner for each prior, any number of directions",
            ),
            "reached": (reached, confirming(ratio_of_bounds)),
            "76,717": lambda: figures(
                SETTING,
                ("samples after 3,000 rounds", 3000 * uniform_rate(LOW, HIGH, PLACES, ball(BUDGET)), "76717"),
                ("the threshold", uniform_threshold(LOW, HIGH, ball(F(BUDGET, PLACES))), "3.30"),
            ),
        },
        symbols={
            **AVERAGED,
            "C": "what may be spent in a round, on average",
            "D": "what may be owed in the end, on average",
            "N": "the most samples that money buys, on average",
            "R": "the largest rate of samples that money buys",
            "θ": "the price up to which all is bought; with a star, the minimiser",
            "τ": "the prior's standard deviation",
        },
    ),
    Claim(
        id="law:averaged/van-trees",
        title="for other laws of samples: what van Trees says of any policy",
        statement=r"Let samples have densities with one parameter $\theta$, smooth enough, with Fisher information "
        r"$I(\theta)$, and let the prior have a density that vanishes at its ends, with Fisher information $J$. "
        "Whoever buys, by any rule that looks back, and whatever is estimated: the mean square error is at least "
        r"$1/(\mathbb E[N\,I(\theta)]+J)$, so at least $1/(I\,\mathbb E[N]+J)$ where $I(\theta)\le I$. If the "
        r"excess risk is at least $\tfrac m2(\hat\theta-\theta^\star)^2$, it is at least $\tfrac m2$ times that. It "
        "is the Bayes risk for Gaussian samples and priors, and for other losses a bound that may be too low: no "
        "more is claimed.",
        formula=r"\mathbb E(\hat\theta-\theta)^2\ge\frac1{\mathbb E[N\,I(\theta)]+J}",
        domain="one parameter; families and priors for which one may integrate by parts; any rule of "
        "buying that looks back and at prices that say nothing about it",
        sketch=r"With the score $s$ of prior and samples together, $\mathbb E[(\hat\theta-\theta)s]=1$ by "
        "parts, as the prior vanishes at its ends. Scores of samples bought one by one have mean 0 given "
        r"what came before, so $\mathbb E[s^2]=\mathbb E[N\,I(\theta)]+J$; and $\mathbb "
        r"E(\hat\theta-\theta-s/Q)^2\ge0$ with $Q=\mathbb E[s^2]$ is the bound.",
        given=(WRITTEN, GILL_LEVIT),
        checks={
            "the bound": (cauchy_schwarz, confirming(every_rule)),
            "any rule": (scores_add_up, confirming(every_rule)),
        },
        symbols={
            **AVERAGED,
            "I": "Fisher information of a sample",
            "J": "Fisher information of the prior",
            "N": "samples bought",
            "θ": "the parameter",
        },
    ),
]
