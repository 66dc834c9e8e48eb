r"""What to buy for the cumulative risk of a server that adds up information (`law:information/cumulative`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.law.lags import AVERAGED
from theory.law.information import information_risk
from theory.market.cumulative import most_value, sample_values
from theory.market.knapsack import Limit
from theory.market.lower_bound import burst_inverse, most_samples

S, R, C, D, price, mean, q, pilot = sp.symbols("S R C D theta_c m q N_0", positive=True)
LIMIT = Limit(price, 1, R, C, "money")
KKT = Given("Karush, Kuhn and Tucker", "that a best plan under linear constraints has multipliers")
NOBODY = Given("law:averaged/nobody", r"that $N(t)-N_0$ is at most $Rt+D/\theta$ in the mean")
LONG = r"$T\to\infty$, every $S$, prices and pilot"


def values_are_slopes() -> Evidence:
    """theory's values are the slopes of the law's sum, for three rounds; the pilot is in the first."""
    x = sp.symbols("x_1:4", positive=True)
    risk = sum(information_risk([pilot + x[0], *x[1:]], h=[1], variance=[2], start=[0]).total[1:])
    pairs = zip(sample_values(x, pilot), x, strict=True)
    rows = [
        (value, -sp.diff(risk, bought), f"the value and the slope in ${bought}$") for value, bought in pairs
    ]
    return argument(*rows, domain="three rounds, every pilot and purchases")


@everywhere(
    "3 rounds, purchases of 0, 1 and 2, a pilot of 1; a total budget, or none that is borrowed; all pairs of plans",
    prices=[*map(list, product((F(1), F(2), F(5)), repeat=3))],
    money=by_profile((1, F(5, 2)), (1, F(5, 2), 4)),
    borrowed=(True, False),
)
def none_is_further_below(prices: list[F], money: F, borrowed: bool) -> Found:
    """No plan has more value than theory's purchases, nor is one further below another than these add; exactly."""
    allowed, plans = [3 * money if borrowed else t * money for t in (1, 2, 3)], {}
    for x in product((0, 1, 2), repeat=3):
        if all(np.cumsum([price * more for price, more in zip(prices, x, strict=True)]) <= np.array(allowed)):
            plans[x] = sum(1 / n for n in accumulate(x[1:], initial=1 + x[0]))
    for x, total in plans.items():
        values = sample_values(x, 1)
        most = most_value(values, prices, 2, allowed)
        gain, gains = np.dot(values, np.array(most) - x), [np.dot(values, np.array(y) - x) for y in plans]
        affordable = all(np.cumsum(np.array(most) * prices) <= np.array(allowed))
        if not (affordable and gain >= max(*gains, total - min(plans.values()))):
            return {"x": x, "total": total, "least": min(plans.values()), "of most value": most}
    return None


def without_borrowing() -> Evidence:
    """1/N above its tangent at its mean; the bound's sum grows as log T/R, and S below θ has a bounded sum more."""
    count, middle = sp.symbols("count middle", positive=True)
    bound = 1 / (pilot + most_samples(LIMIT, t, D))
    above = (1 / (S * q) / (t + 1) - 1 / (S + S * q * t)) * S * q * q
    return argument(
        (1 / count >= 1 / middle - (count - middle) / middle**2, [], "the tangent"),
        (burst_inverse(t, q) * q * (t + 1), 1 - (1 - q) ** (t + 1), "what bursts have, at most 1, "),
        (above, q * (1 - q) / ((t + 1) * (1 + q * t)), "how far they are above the bound without debt"),
        converges(1 / ((t + 1) * (1 + q * t)), t, power=2, domain="the sum of that over all rounds"),
        equivalent(bound, t, sp.log(t), 1 / R, domain=LONG),
        domain=r"every $N$, $S$ and $0<q\le1$",
    )


def total_budget() -> Evidence:
    """Σ1/(N_0+St) grows as log T/S; after CT/m rounds, S·m being a full round's cost, the rest is a bounded sum."""
    filled = C * T / (S * mean)  # rounds, up to rounding down
    return argument(
        equivalent(1 / (pilot + S * t), t, sp.log(t), 1 / S, domain=LONG),
        (T / (pilot + S * (filled - 1)), T, mean / C, "what all rounds after the filled ones add, at most,"),
        domain=LONG,
    )


CLAIMS = [
    Claim(
        id="law:information/cumulative",
        title="the cumulative risk: buy early, if money can be borrowed",
        statement="Without a prior the server's risk after round $t$ is $c/N(t)$, so a sample more in round $t$ "
        r"lowers the cumulative risk by $c\,v_t$, and $v_t$ falls. Let prices be known, let at most $S$ be bought "
        "per round, and let purchases be real. A plan is best if and only if there are worths of money "
        r"$\nu_1\ge\dots\ge\nu_T\ge0$ with which it is as stated. Under a total budget all $\nu$ are equal, and 0 "
        r"if money is left: the highest price to pay, $v_t/\nu$, falls from round to round, where the final risk "
        r"has one for all. If money may not be borrowed, $\nu$ falls where all is spent, and nowhere else, so that "
        "the highest price may rise there alone. What that gains, at independent prices of one law where money "
        "binds: who spends at most $Ct+D$ by every round $t$ on average, clairvoyant or not, has a cumulative risk "
        r"of at least $c\sum_t1/(N_0+Rt+D/\theta)$. Buying $S$ below the knapsack's $\theta$, and at $\theta$ with "
        r"the chance that spends $C$, after a pilot of $S$, is above that by a bounded sum, while both grow as "
        r"$\frac cR\log T$. If $CT$ may be spent at any time, the least grows as $\frac cS\log T$, $R/S$ times the "
        "knapsack's, and filling the first rounds at any price has that.",
        formula=r"v_t=\sum_{s\ge t}\frac1{N(s)^2},\qquad v_t>\nu_tc_t\Rightarrow x_t=S,\quad "
        r"v_t<\nu_tc_t\Rightarrow x_t=0",
        domain="quadratic losses with one Hessian, no prior, a pilot of $N_0>0$ samples, positive prices; a "
        "round's samples count in that round",
        sketch=r"One over $N$ lies above its tangent, so a plan $y$ is at most $\sum v_t(y_t-x_t)$ below. Where $x$ "
        r"is as stated that is at most $\sum\nu_tc_t(y_t-x_t)$, by parts the worth of what $y$ spends more by the "
        "rounds in which all is spent: not above 0. Conversely multipliers exist, as constraints are linear; their "
        r"sums from round $t$ on are $\nu_t$. On average $1/N$ is at least $1/\mathbb E[N]$. With $k$ bursts of "
        r"chance $q=R/S$ in $t$ rounds $N=S(k+1)$, and $\mathbb E[1/(k+1)]\le1/(q(t+1))$. With a total budget no "
        "plan has more than $N_0+St$ samples; filling all for $CT/(Sm)$ rounds, $m$ the mean price, has as many up "
        "to there, and adds a bounded sum after it.",
        given=(WRITTEN, KKT, NOBODY, Given("law:information/risk", "that the risk is $c/N$")),
        checks={
            "enough": (
                theorem("Purchases.best_purchases", domain="any prices, pilot and sums that are allowed"),
                confirming(none_is_further_below),
            ),
            "only so": values_are_slopes,
            "without borrowing": without_borrowing,
            "a total budget": total_budget,
        },
        symbols=AVERAGED
        | {
            "C": "what may be spent in a round, on average",
            "D": "what may be owed in the end, on average",
            "N": "samples after a round, with a pilot of $N_0$",
            "R": "the largest rate of samples that money buys without borrowing",
            "S": "the most that is bought in a round",
            "c": r"$\tfrac12\sum_hhs_h^2$; with a round, its price",
            "v": "by how much a sample lowers the sum of $1/N$",
            "x": "samples bought in a round",
            "θ": "the price up to which the knapsack buys; with a star, the minimiser",
            "ν": "worth of money from a round on, in units of $1/N$",
        },
    ),
]
