r"""The online rule's ages: bounded in the mean (`buy:online-age`), and where they settle (`buy:online-age/settled`)."""

from itertools import count

from proofs_check.prelude import *

from proofs_check.engines.simulation import compare_mean
from proofs_check.groundwork.market import market
from proofs_check.groundwork.market.certificates import papers_best
from proofs_check.groundwork.market.figures import exactly, figures
from proofs_check.groundwork.market.loop import drift_of_a_round, moves, play
from proofs_check.groundwork.market.market import FLOATS, ONLINE, PAPER, SETTING, B, C, S, V, Z, c, j
from theory.market.capacity import noise_by_age
from theory.market.long_run import best_plan, burst_plan, online_plan, under
from theory.market.online import age_ceiling, buys
from theory.market.replacement import Cycle, ages_in_memory, cycle
from theory.paper import BUDGET

R, age, often, mean = sp.symbols("R A p mean", positive=True)
debt, ages = sp.symbols("Z_2 A_1", nonnegative=True)
replaced, aged = sp.symbols("replaced aged", real=True)
STEPS = ((0, age + 1), (1, 1))
KEPT, REPLACED = (sp.And(sp.Eq(replaced, which), sp.Eq(aged, after)) for which, after in STEPS)


def ceiling() -> Any:
    return age_ceiling(R, S, V, B, debt, T, ages)


def the_rule_minimises() -> Evidence:
    taken = buys(Z, c, V, age)
    ruled = sp.Or(sp.And(taken, sp.Eq(replaced, 1)), sp.And(sp.Not(taken), sp.Eq(replaced, 0)))
    least = (Z * c - V * age) * replaced <= (Z * c - V * age) * often
    return argument((least, [often <= 1, ruled], "every debt, price, age and $p$"))


def comparison() -> Evidence:
    """p depends on the price alone, with E p = R/S and S·E[cp] = C."""
    total, paid, spent, after, before, rounds, summed = sp.symbols(
        "total paid spent after before rounds summed", nonnegative=True
    )
    first, gain = debt**2 / 2 + V * ages, B + V * S
    grown = after <= before + B + V * (S - R / S * total)
    moved = after <= before + B + Z * (S * paid - C) + V * (S - often * total)
    later = after <= first + gain * (rounds + 1) - V * R / S * (summed + total)
    so_far = before <= first + gain * rounds - V * R / S * summed
    left = first + gain * T - V * R / S * (S * T * mean)  # of the bound, at this mean age
    means = r"means of $\tfrac12Z^2+V\sum A$ before and after a round; total is that of $\sum A$ before it"
    whole = r"$\sum\sum A$ is $ST$ times the mean age, and $\tfrac12Z^2+V\sum A$ is never negative"
    return argument(
        (grown, [moved, sp.Eq(S * paid, C), sp.Eq(often, R / S)], means),
        (later, [so_far, grown], "every round, by induction"),
        (left.subs(mean, ceiling()), 0, "the bound at the ceiling and 0", "every argument"),
        (spent <= ceiling(), [left.subs(mean, spent) >= 0], whole),
    )


def effective() -> Evidence:
    found, at_mean, every = effective_rate(S, age), effective_rate(S, mean), "every $S$ and $R$"
    tangent = at_mean + sp.diff(at_mean, mean) * (age - mean)
    endless = sp.limit(ceiling().subs({debt: 0, ages: 0}), V, sp.oo)
    bursts = burst_effective_rate(S, 1, R / S)
    return argument(
        (found >= tangent, [age >= 1, mean >= 1], "the tangent at the mean over runs lies below"),
        (found >= at_mean, [age >= 1, mean >= age], "a lower mean age has a higher effective rate"),
        (effective_rate(S, S / R), bursts, "the effective rate at mean age $S/R$ and that of bursts", every),
        (endless, S / R, r"the ceiling as $V\to\infty$ and $S/R$", every),
    )


def drawn_prices(context: Context) -> Evidence:
    """Whole prices 1..10, independent: the mean age over the rounds, run by run, against the ceiling."""
    rng, runs, rounds = context.generator(), context.choose(2000, 20_000), 60
    places, budget, V, reserve = 4, 9, 100, 60
    limit = purchase_limit(Atoms.of(range(1, 11)), places, budget).rate
    prices = rng.integers(1, 10, (rounds, runs), endpoint=True)
    found = play(prices, places=places, budget=budget, V=V, debt=reserve)
    # ages of the rounds 1..T: S fresh samples, and after each decision but the last
    mean = (places + found.ages[:-1].sum(axis=0)) / (places * rounds)
    bound = age_ceiling(limit, places, V, purchase_drift(places, budget, 10), reserve, rounds, places)
    domain = f"$S=4$, $C=9$, $V={V}$, $T={rounds}$, from a fresh memory and the debt {reserve}"
    return compare_mean(mean, float(bound), low=1, high=(rounds + 1) / 2, domain=domain, what="the mean age")


PLACES, HIGH, SHARE = market.PLACES, market.HIGH, market.SHARE
FULL = Given("buy:full-memory", r"that $N_{\mathrm{eff}}/t$ is $S/(2\bar A-1)$")
BEST = Given("buy:best-rule/paper", "that no causal rule that keeps the memory full has more than 18.6367")


def in_proportion(scale: F) -> Cycle:
    """Thresholds in proportion to age, the online rule's at a steady debt: exact, up to the age that pays any price."""
    ages = next(age for age in count(1) if scale * age >= HIGH)
    thresholds = [min(scale * age, F(HIGH)) for age in range(1, ages + 1)]
    return cycle(PAPER, thresholds, [age_burden(age) for age in range(1, ages + 1)])


def _rate_of(burden: Any) -> Any:
    return effective_rate(PLACES, (burden + 1) / 2)


def where_online_settles() -> Evidence:
    """Rules at two scales, with costs on both sides of C/S."""
    step = F(online_plan(FLOATS, PLACES, BUDGET).thresholds[0])
    cheap, dear = (in_proportion(F(round(step * 10**6) + side, 10**6)) for side in (-4, 4))
    least = _rate_of(papers_best()[1].least(SHARE))
    return together(
        exactly(f"{SETTING}: the scale that spends $C$ lies between", cheap.cost <= SHARE <= dear.cost, True),
        figures(
            SETTING,
            *(("in proportion to age", ball(_rate_of(one.burden)), "18.46") for one in (cheap, dear)),
            ("of the best rule's effective rate", ball(_rate_of(dear.burden) / least), (F(99, 100), 1)),
        ),
    )


def plans() -> Evidence:
    """theory's plans, in floats, against the exact rules: rates, costs, and the noise at one step size."""
    best, online = (plan(FLOATS, PLACES, BUDGET) for plan in (best_plan, online_plan))
    bursts = burst_plan(FLOATS, PLACES, BUDGET, 2)
    exact, rule, half = in_proportion(F(online.thresholds[0])), papers_best()[0], F(1, 2)
    ages = ages_in_memory(PAPER, exact.thresholds)
    burden = sum((often * age_burden(age, half) for age, often in enumerate(ages, start=1)), F(0))
    threshold = sum(a * b for a, b in zip(ages, exact.thresholds, strict=True))
    listed = Atoms.of([1, 3])
    mixed, stated = best_plan(listed, 6, F(9, 2)), best_replacement(listed, 6, F(9, 2))
    cheap = under(listed, [1.0], 6)
    pairs = (
        ("what a mixture of two rules costs", mixed.cost, F(9, 2)),
        ("its effective rate", mixed.effective_rate, stated.effective_rate),
        ("what it buys", mixed.rate, stated.rate),
        ("what theory says that it costs", stated.cost, F(9, 2)),
        ("all at one of two prices, as in bursts", cheap.effective_rate, burst_effective_rate(6, 1, half)),
        ("what that buys", cheap.rate, 3),
        ("the best rule's effective rate", best.effective_rate, _rate_of(rule.burden)),
        ("what it buys", best.rate, PLACES * rule.renewals),
        ("what it costs", best.cost, BUDGET),
        ("the online rule's effective rate", online.effective_rate, _rate_of(exact.burden)),
        ("what it buys", online.rate, PLACES * exact.renewals),
        ("what it costs", online.cost, BUDGET),
        ("its noise at $a=1/2$", online.noise(float(half)), noise_by_age(PLACES, burden, half)),
        ("its mean threshold", online.threshold, threshold),
        ("a threshold in proportion to age", online.thresholds[5] / online.thresholds[0], 6),
        ("the last threshold, at any price", min(online.thresholds[-1], HIGH), HIGH),
        ("bursts of a half, to a hundredth", bursts.effective_rate, F("15.19")),
        ("what they buy", bursts.rate * bursts.effective_rate, F("19.78") * F("15.19")),
        ("what they cost", bursts.cost, BUDGET),
        ("their size", bursts.burst, PLACES // 2),
    )
    ends = (F(9995, 10000), F(10005, 10000))
    return figures(SETTING, *((what, ball(F(value) / F(wanted)), ends) for what, value, wanted in pairs))


CLAIMS = [
    Claim(
        id="buy:online-age",
        title=r"online: mean age at most $(S/R)(1+B/(VS)+\ldots)$",
        statement="Let a sample that has been used $j$ times be replaced where $Z(t)c(t)<Vj$, from a full memory on, "
        "and prices be independent of one law, unknown, and at most $c_{+}$. The expected mean age in memory over $T$ "
        "rounds is at most $(S/R)(1+B/(VS))$ and a term that falls as $1/T$. So for large $V$ and $T$ it is at most "
        r"$S/R$, the mean age of who replaces all at the knapsack's threshold, and the expected $N_{\mathrm{eff}}/T$ "
        "is at least that rule's, $SR/(2S-R)$, but for $O(1/V)$ and $O(1/T)$.",
        formula=said(
            r"\mathbb E[\bar A]\le @ceiling,\qquad\frac{\mathbb E[N_{\mathrm{eff}}]}T\ge\frac S{2\,\mathbb E[\bar A]-1}"
            r"\to @rate",
            ceiling=ceiling(),
            rate=sp.together(burst_effective_rate(S, 1, R / S)),
        ),
        domain="every $S$, $C$, $V$, $T$ and every law of independent prices of at most $c_{+}$, $C$ below "
        "$S$ times their mean",
        given=(WRITTEN,),
        sketch=r"Let $A_i$ be how often sample $i$ has been used when round $t$ decides, and $L=\tfrac12Z^2+V\sum "
        r"A_i$. The debt's part of $L$ grows by $B+Z(cx-C)$ at most (buy:online-rate), and $\sum A$ by $S$ less the "
        r"$A$ of those replaced: $L$ by $B-ZC+VS+\sum(Zc-VA_i)$, summed over those replaced, and the rule makes that "
        "sum least, sample by sample. Compare it with replacing each place with probability $p(c)$, which looks at the "
        r"price alone: where $c$ is below the knapsack's threshold, and in part at it, so that $\mathbb E[p]=R/S$ and "
        r"$S\,\mathbb E[cp]=C$. Ages and debt know only earlier prices, so in the mean $L$ grows by $B+V(S-(R/S)\sum "
        r"A)$ at most. Added over the decisions of the rounds $2,\ldots,T+1$, with $L\ge0$ in the end and "
        r"$L=\tfrac12Z(2)^2+V\sum A_i(1)$ at the start, $(R/S)\sum\sum A\le ST+BT/V+L(2)/V$: divided by $RT$ that is "
        r"the ceiling. $N_{\mathrm{eff}}/T=S/(2\bar A-1)$ (buy:full-memory) is convex in $\bar A$, so its mean is at "
        "least its value at the mean.",
        checks={
            "the drift": (
                moves,
                drift_of_a_round,
                lambda: argument((sp.Eq(aged, age + 1 - age * replaced), [KEPT | REPLACED], "every age")),
            ),
            "the rule": the_rule_minimises,
            "the ceiling": (comparison, confirming(drawn_prices)),
            "the effective rate": effective,
        },
        symbols={**ONLINE, "A_1": "the sum of all ages in round 1", "Z_2": "the debt after round 1"},
    ),
    Claim(
        id="buy:online-age/settled",
        title="at a steady debt the online rule has 18.46",
        statement="At a debt $Z$ the online rule with $w(j)=j$ replaces a sample used $j$ times at prices below "
        "$(V/Z)j$: thresholds in proportion to age. With the paper's MNIST budgets and prices uniform on $[1,10]$, "
        "right beside a scale $V/Z$ that spends $C$, such thresholds have the effective rate 18.46: more than 99 % of "
        "the best rule's, which knows the law of prices. That the debt stays near one value is not claimed here.",
        formula=said(
            r"Zc<Vj\iff c<@price,\qquad\lim\frac{N_{\mathrm{eff}}(t)}t=18.46", price=V / sp.Symbol("Z") * j
        ),
        domain="$S=100$, $C=55$, prices uniform on $[1,10]$; fixed scales $V/Z$",
        given=(FULL, BEST),
        sketch=r"At a fixed scale $s$ the place of a sample renews itself: thresholds $\min(sj,10)$ up to the age that "
        "pays any price. Cost and burden of a place are rational for rational $s$ (theory.market.replacement). Two "
        "scales 8 millionths apart have costs on both sides of $C/S$, and both effective rates round to 18.46.",
        checks={
            "thresholds": lambda: argument(
                (sp.Equivalent(buys(Z, c, V, j), c < V / Z * j), [Z > 0], "every debt above 0, price and age")
            ),
            "18.46": (where_online_settles, confirming(plans)),
        },
        symbols=ONLINE,
    ),
]
