r"""Replacement of a sample (`buy:best-rule`): by its age alone, whatever the other places (`buy:best-rule/places`)."""

from itertools import compress

from proofs_check.prelude import *

from proofs_check.groundwork.market.certificates import capped_price
from proofs_check.groundwork.market.market import PAPER, SYMBOLS, j
from proofs_check.groundwork.market.rules import all_rules, least_at, long_run
from theory.market.replacement import best_rule, cycle, least_burden

g, g1, now, later, h1, worth, price, h = sp.symbols("g g_1 now later h_1 lambda c h", real=True)
mu = sp.Symbol("mu", nonnegative=True)
replaced, stayed = mu * price + g1 + h1, g + later  # the two choices of a round
smaller, wait = sp.Min(replaced, stayed), worth + sp.Min(mu * price, g - worth + later)
MARTINGALES = Given(
    "the strong law for martingales",
    "that a sum of $T$ bounded differences of mean 0 given the past is $o(T)$ with probability 1",
)


def one_round() -> Evidence:
    chosen = sp.Symbol("chosen", real=True)
    either = sp.Or(sp.Eq(chosen, replaced), sp.Eq(chosen, stayed))
    return argument(
        (chosen >= smaller, [either], "every age, price and decision"),
        (smaller >= wait, [g1 - worth + h1 >= 0], r"every $h$ and $\lambda$ with $g(1)-\lambda+h(1)\ge0$"),
    )


def many_rounds() -> Evidence:
    total, added, first, after, t, cost, share = sp.symbols("total added first after t cost share", real=True)
    later, within = total + added >= worth * (t + 1) + first - after, [g + mu * cost >= worth, cost <= share]
    return argument(
        (later, [total >= worth * t + first - now, added >= worth + now - after], "every round"),
        (g >= worth - mu * share, within, "a mean burden $g$, a mean cost within the budget"),
    )


def attained() -> Evidence:
    more, above, mix, share = sp.symbols("more above mix share", real=True)
    burden1, burden2, cost1, cost2 = sp.symbols("burden_1 burden_2 cost_1 cost_2", real=True)
    falls = [sp.Min(mu * price, g - worth + h) >= sp.Min(mu * price, g - more + above)]
    falls += [g1 - worth + h > g1 - more + above]
    rules = [sp.Eq(burden1 + mu * cost1, worth), sp.Eq(burden2 + mu * cost2, worth)]
    rules += [sp.Eq(mix * cost1 + (1 - mix) * cost2, share)]
    mixture = sp.Eq(mix * burden1 + (1 - mix) * burden2, worth - mu * share)
    smaller_h = r"a larger $\lambda$ has a smaller $h$, age by age, and a smaller $g(1)-\lambda+h(1)$"
    root = r"$h\ge0$ at $\lambda=g(1)$, age by age: so there is a root"
    return argument(
        (sp.Eq(smaller, wait), [sp.Eq(g1 - worth + h1, 0)], "every age and price"),
        (falls, [more > worth, above <= h], smaller_h),
        (sp.Min(mu * price, g - g1 + h) >= 0, [g >= g1, h >= 0, price > 0], root),
        (mixture, rules, r"two rules of one $\lambda$, mixed to cost $C/S$"),
    )


def in_blocks() -> Evidence:
    """Block k follows the two rules for mix·k and for the other rounds, rounded: n blocks miss the plan by O(n)."""
    total, cost, start, end, most, rounds = sp.symbols("total cost start end most rounds", real=True)
    part, mix, first, second, k = sp.symbols("part mix first second k", real=True)
    blocks, rest = sp.symbols("n rest", positive=True)
    segment = [sp.Eq(total, cost * rounds + start - end), start <= most, end <= most]
    segment += [start >= -most, end >= -most]
    within = [total <= cost * rounds + 2 * most, total >= cost * rounds - 2 * most]
    planned, mean = part * first + (k - part) * second, k * (mix * first + (1 - mix) * second)
    rounding = [part <= mix * k, part > mix * k - 1, first <= second]
    near = [planned >= mean, planned <= mean + second - first]
    missed = rest * blocks / (blocks * (blocks + 1) / 2)
    return argument(
        (within, segment, "a rule's cost over some rounds, from any age: its mean and a bounded value"),
        (near, rounding, "every block: the rounds of the first rule are mix·k, rounded down"),
        limits(blocks, (missed, 0, "what $n$ blocks miss per round"), domain="blocks of 1, 2, …, $n$ rounds"),
    )


def _value_range(law: Atoms, taken: list[list[bool]], mean: F) -> F:
    """Range of the v with v(j) = cost(j) - mean + E v(next age); a rule that idles at the last age ends with v = 0."""
    spent = [w * p for w, p in zip(law.weights, law.prices, strict=True)]
    rows = [(sum(compress(law.weights, row), F(0)), sum(compress(spent, row), F(0))) for row in taken]
    often, paid = rows.pop()
    found = [((paid - mean) / often, F(1)) if often else (F(0), F(0))]  # v = fixed + slope·v(1)
    for often, paid in reversed(rows):
        fixed, slope = found[0]
        found.insert(0, (paid - mean + (1 - often) * fixed, often + (1 - often) * slope))
    fixed, slope = found[0]
    first = fixed / (1 - slope) if slope != 1 else F(0)
    values = [constant + times * first for constant, times in found]
    return max(values) - min(values)


@everywhere(
    "two laws of prices, three shares, blocks of 1 to 24 rounds",
    case=(([1, 3], [1, 3, 5, 7]), ([1, 2, 6], [1, 2, 9])),
    part=(F(1, 4), F(1, 2), F(9, 10)),
)
def spent_in_blocks(case: tuple[list[int], list[int]], part: F) -> Found:
    """The mean cost of theory's two rules in blocks, from the exact distribution of ages, is as near as `in_blocks`."""
    law, burdens = Atoms.of(case[0]), case[1]
    dear, cheap, mix, *_ = least_burden(law, burdens, part * law.mean)
    rules = [_taken(law, rule.thresholds) for rule in (dear, cheap)]
    near = sum(_value_range(law, taken, rule.cost) for taken, rule in zip(rules, (dear, cheap), strict=True))
    ages, over = [F(1)] + [F(0)] * (len(burdens) - 1), F(0)
    for k in range(1, 25):
        for turn in range(k):
            after = [F(0)] * len(ages)
            for age, chance in enumerate(ages):
                takes = rules[turn >= int(mix * k)][age]
                for weight, price, take in zip(law.weights, law.prices, takes, strict=True):
                    over += chance * weight * price * take
                    after[0 if take else min(age + 1, len(ages) - 1)] += chance * weight
            ages, over = after, over - part * law.mean
        if abs(over) > k * (near + abs(cheap.cost - dear.cost)):
            return {"blocks": k, "over": over, "ranges": near}
    return None


def thresholds_grow() -> Evidence:
    """h is constant from the last age on, so Bellman's inequality there covers all later ages."""
    higher, after = sp.symbols("higher after", real=True)
    stay, stay_later = g - worth + h, higher - worth + after
    grows = [sp.Min(mu * price, stay) <= sp.Min(mu * price, stay_later)]
    grows += [stay / (1 + mu) <= stay_later / (1 + mu)]
    domain = r"every price, $\mu\ge0$, $\lambda$, and burdens that do not fall"
    return argument((grows, [g <= higher, h <= after], domain))


def _taken(law: Atoms, thresholds: Any) -> list[list[bool]]:
    return [[p <= top for p in law.prices] for top in thresholds]


def _not_the_best(law: Atoms, burdens: list[int], part: F) -> Found:
    """theory's mixture against the hull of all stationary rules; its thresholds grow, and its chains are solved."""
    share = part * law.mean
    points = [long_run(law, rule, burdens) for rule in all_rules(len(law.prices), len(burdens))]
    dear, cheap, mix, burden, multiplier = least_burden(law, burdens, share)
    wanted = least_at(points, share)
    for rule in (dear, cheap):
        solved = (rule.cost, rule.burden) == long_run(law, _taken(law, rule.thresholds), burdens)
        grows = all(first <= then for first, then in pairwise(rule.thresholds))
        if not solved or not grows:
            return {"thresholds": rule.thresholds, "cost, burden": (rule.cost, rule.burden)}
    if burden != wanted or mix * dear.cost + (1 - mix) * cheap.cost != share:
        return {"found": burden, "least": wanted}
    if multiplier > 0:
        found = best_rule(law, burdens, multiplier)
        value = found.burden + multiplier * found.cost
        least = min(b + multiplier * c for c, b in points)
        return differing(found=value, of_the_mixture=burden + multiplier * share, least=least)
    return None


every_rule = everywhere(
    "prices 1, 3; 2, 3; 1, 2, 6; three shares; all stationary rules",
    case=(([1, 3], [1, 3, 5, 7]), ([2, 3], [1, 3, 5, 7]), ([1, 2, 6], [1, 2, 9])),
    part=(F(1, 4), F(1, 2), F(9, 10)),
)(lambda case, part: _not_the_best(Atoms.of(case[0]), case[1], part))

LISTS = (Atoms.of([1, 3]), Atoms.of([1, 2, 2, 6]), Atoms.of([4]))


@everywhere(
    "two laws, every three thresholds",
    case=[(law, tops) for law in LISTS[:2] for tops in product((F(0), *map(F, law.prices)), repeat=3)],
)
def renewal(case: tuple[Atoms, tuple[Any, ...]]) -> Found:
    """theory's mean over a cycle against the chain of ages, solved exactly: an idle rule too."""
    (law, thresholds), burdens = case, [1, 4, 6]
    found, taken = cycle(law, thresholds, burdens), _taken(law, thresholds)
    idle = not law.mass(thresholds[-1]) and not any(law.mass(top) == 1 for top in thresholds)
    bought = F(0) if idle else long_run(law, taken, [1, 0, 0])[1]
    solved = (*long_run(law, taken, burdens), bought)
    return differing(found=(found.cost, found.burden, found.renewals), solved=solved)


@everywhere(
    "three lists of prices, and prices uniform on $[1,10]$; 138 savings",
    case=[
        *((law, F(k, 4)) for law in LISTS for k in range(1, 40)),
        *((PAPER, F(k * k, 18)) for k in range(10)),  # θ = 1 + k
        *((PAPER, F(k, 2)) for k in range(9, 20)),  # θ above all prices
    ],
)
def indifference(case: tuple[Any, F]) -> Found:
    """theory's price to take where a round of waiting costs a saving: E(θ-c)⁺ = θ - E min(c, θ) is that saving."""
    law, saving = case
    top = law.indifferent(saving)
    met = top - capped_price(law, top)
    return unless(met == saving and top >= law.lowest, top=top, met=met)


ONE_PLACE = Given("buy:best-rule", "the bound for each place, and that it is attained")
first, second, third, fourth = sp.symbols("replaced_1 stayed_1 replaced_2 stayed_2", real=True)
least = sp.Min(first + third, first + fourth, second + third, second + fourth)
apart = sp.Min(first, second) + sp.Min(third, fourth)


def _ages(pair: tuple[int, ...], choice: tuple[bool, ...], last: int) -> tuple[int, ...]:
    """Ages of two places, from 0, after replacing those that `choice` names."""
    return tuple(0 if take else min(age + 1, last) for age, take in zip(pair, choice, strict=True))


@everywhere(
    "two places, three laws of two prices, 3 or 4 ages, two budgets",
    prices=([1, 3], [2, 3], [1, 1, 5]),
    burdens=([1, 3, 5], [1, 2, 2, 6]),
    part=(F(1, 3), F(3, 4)),
)
def joint_bellman(prices: list[int], burdens: list[int], part: F) -> Found:
    """h(i) + h(j) satisfies the joint inequality, and 2(λ - μC/S) is the mixture's: no joint rule is below."""
    law, last = Atoms.of(prices), len(burdens) - 1
    *_, burden, mu = least_burden(law, burdens, part * law.mean)
    found = best_rule(law, burdens, mu)
    worth = found.burden + mu * found.cost
    h = [mu * (law.spent(top) + (1 - law.mass(top)) * top) for top in found.thresholds]  # E min(μc, μθ)
    for pair in product(range(last + 1), repeat=2):
        expected, demanded = F(0), 2 * worth + sum(h[k] for k in pair)
        for weight, cost in zip(law.weights, law.prices, strict=True):
            expected += weight * min(
                sum(burdens[k] + h[k] for k in _ages(pair, choice, last)) + mu * cost * sum(choice)
                for choice in product((False, True), repeat=2)
            )
        if expected < demanded:
            return {"ages": pair, "expected": expected, "demanded": demanded}
    return differing(dual=worth - mu * part * law.mean, primal=burden)


def _joint_optimum(law: Atoms, burdens: Sequence[Any], budget: float) -> float:
    """The least burden of two places within a budget, by a linear program over all joint rules."""
    from scipy.optimize import linprog

    pairs, kinds = list(product(range(len(burdens)), repeat=2)), range(len(law.prices))
    columns = list(product(pairs, kinds, product((False, True), repeat=2)))
    after = [_ages(pair, choice, len(burdens) - 1) for pair, _, choice in columns]
    burden = [sum(burdens[age] for age in pair) for pair in after]
    cost = [float(sum(choice) * law.prices[price]) for _, price, choice in columns]
    rows: list[Any] = [[1.0] * len(columns)]
    for pair in pairs:
        here = np.array([float(column[0] == pair) for column in columns])
        rows.append(here - [one == pair for one in after])
        for price, weight in zip(kinds, law.weights, strict=True):
            rows.append([float(column[:2] == (pair, price)) for column in columns] - float(weight) * here)
    right = [1.0] + [0.0] * (len(rows) - 1)
    found = linprog(burden, A_ub=[cost], b_ub=[budget], A_eq=rows, b_eq=right)
    return float(found.fun if found.success else np.nan)


def joint_program() -> Evidence:
    """The linear program over all joint rules of two places, solved in floats: it gains nothing on twice the best."""
    cases = (([1, 3], [1, 3, 5], F(3, 4)), ([1, 1, 5], [1, 2, 6], F(1)), ([2, 3], [1, 3, 5], F(5, 4)))
    seen = []
    for prices, burdens, share in cases:
        law = Atoms.of(prices)
        *_, burden, _ = least_burden(law, burdens, share)
        seen.append((_joint_optimum(law, burdens, 2 * float(share)), float(2 * burden)))
    return (holds if all(abs(found - twice) <= 1e-9 for found, twice in seen) else undecided)(
        "worst case",
        f"the program's optimum and twice the best of one place: {seen}",
        domain="two places, two prices, three ages; all joint rules",
        certificate={"pairs": seen},
    )


CLAIMS = [
    Claim(
        id="buy:best-rule",
        title="the best time to replace a sample: thresholds by age",
        statement="Let $S$ places be kept full, prices be independent of one law, and $g$ be a burden that does "
        r"not fall with age. If $h$ and $\lambda$ satisfy Bellman's inequality, every causal rule for all places "
        r"together has a mean burden plus $\mu$ times the mean cost per place of $\lambda$ at least in the long "
        r"run; so one of mean cost $C$ has no burden below $\lambda-\mu C/S$. The largest of these bounds is "
        r"attained by a mixture of two rules that replace a sample used $j$ times at prices up to $\theta(j)$, "
        "which does not fall with $j$: first in, first out. The two take turns, in blocks of growing length, so "
        "that the mean cost tends to $C$ on almost every path, not only in expectation.",
        formula=said(
            r"h(j)\le\mathbb E\min\bigl(\mu c,\,g(j+1)-\lambda+h(j+1)\bigr),\ g(1)-\lambda+h(1)\ge0\ \Rightarrow\ "
            r"\mathbb E[g]+\mu\,\mathbb E[\text{cost}]\ge\lambda,\qquad g(j)=@g",
            g=age_burden(j),
        ),
        domain="every law of independent prices in a bounded interval above 0, every $S$ and $C$, every burden",
        given=(WRITTEN, MARTINGALES),
        sketch=r"A decision replaces the sample of a place, at $\mu c+g(1)+h(1)$, or keeps it, at "
        r"$g(j+1)+h(j+1)$. The smaller of the two has at least the mean $\lambda+h(j)$ over the price, which is "
        "independent of the past: for each place, and so for any joint rule, since costs and burdens add up over "
        r"places. Over $T$ rounds the sum telescopes to $\lambda T+h(\text{first})-h(\text{last})$, and $h$ is "
        "bounded, since ages beyond $J$ may count as $J$: that lowers burdens that do not fall, and nothing if a "
        "sample of age $J$ is replaced at any price. So the bound holds in the mean, and with probability 1 by "
        r"the strong law. From the last age down, equality defines $h$ for any $\lambda$; it falls in $\lambda$, "
        r"and so does $g(1)-\lambda+h(1)$, not negative at $\lambda=g(1)$: at its root (or at $\lambda=g(J)$, if "
        r"nothing is worth its price) the rule that takes the smaller choice attains $\lambda$: replace where "
        r"$\mu c\le g(j+1)-\lambda+h(j+1)=\mu\theta(j)$. Since $g$ does not fall, neither do $h$ and $\theta$, by "
        r"induction from $J$ down. As $\mu$ grows the best rule's cost falls; where it jumps over $C/S$ two rules "
        r"have the same $\lambda$, and their mixture costs $C/S$ and has the burden $\lambda-\mu C/S$. A choice "
        "between them at the start would cost $C/S$ in expectation only. Let block $k$ have $k$ rounds, the first "
        "rule's share of them followed by the second's. From any age a rule's cost over some rounds differs in "
        "the mean from theirs by at most twice a bounded value, so $n$ blocks, $n(n+1)/2$ rounds, miss the plan "
        "by $O(n)$; burdens alike. With the strong law both means tend to the mixture's with probability 1; after "
        r"$T$ rounds the cost may be above $CT$ by $O(\sqrt T)$ in the mean.",
        checks={
            "every causal rule": (one_round, many_rounds),
            "thresholds grow": (thresholds_grow, confirming(every_rule)),
            "the mixture is best": (attained, *map(confirming, (renewal, indifference, every_rule))),
            "taking turns": (in_blocks, confirming(spent_in_blocks)),
        },
        symbols={
            **SYMBOLS,
            "h": "the value of having used a sample $j$ times",
            "λ": r"the least burden and $\mu$·cost of a place, per round",
            "μ": "the price of money in burdens",
        },
    ),
    Claim(
        id="buy:best-rule/places",
        title="a joint rule for all places gains nothing",
        statement="Let a rule for $S$ places look at the ages of all samples, at the whole past and at the "
        "price, and replace any of them. Its mean burden at mean cost $C$ is at least $S$ times the best "
        "of one place at cost $C/S$, so each place may be left to its own thresholds.",
        formula=r"\min_{\text{all places}}\mathbb E\Bigl[\sum_{i\le S}g(A_i)\Bigr]="
        r"S\min_{\text{one place}}\mathbb E[g(A)]",
        domain="every $S$, every law of independent prices, every burden",
        given=(WRITTEN, ONE_PLACE),
        sketch=r"With $\sum h(\text{age})$ over the places for the value of a state, Bellman's inequality for all "
        "places is the sum of theirs: any combination of choices is allowed and costs the sum of what they cost, "
        "so the least over all combinations is the sum of the least, place by place, in the mean over the price "
        r"$S\lambda+\sum h$ at least. For two places the checks also try every pair of ages and all four "
        "decisions, and solve the linear program over all joint rules, which knows nothing of this argument.",
        symbols={**SYMBOLS, "A_i": "the age of the sample in place $i$", "i": "a place"},
        checks=(  # two places, and so any number of them
            lambda: argument((sp.Eq(least, apart), [], "any costs of both choices of each of two places")),
            confirming(joint_bellman),
            confirming(joint_program),
        ),
    ),
]
