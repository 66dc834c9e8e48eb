r"""Speed of the region's contraction and its effect on the generalisation term: links shared by Ω₂ and the spread.

Write \(h=1/(1-\rho)\), \(F_s=\sum_{j\le s}(1-\rho^j)\) for the fewest distinct samples after s rounds in units of Λ̄,
and S for the Lambert sum \(\sum_j\rho^j/(1-\rho^j)\).
"""

from proofs_check.prelude import *

from proofs_check.groundwork.control.lambert_sum import lambert_summand
from proofs_check.groundwork.control.orders import h
from proofs_check.symbols import t as a_round
from theory.control.region import contraction
from theory.regret.transient import lambert_reach

s, w, fewest, y = sp.symbols("s w F y", positive=True)
EVERY = r"every $0<\rho<1$ and every round"
FEWEST = [s * (s + 1) / (2 * (h + s)) <= fewest]


def plain(expression: Any, **powers: Any) -> Any:
    """A formula of `theory/` on symbols with ρ^t written out: exp(t·log ρ) becomes a symbol y, and so on."""
    split = sp.sympify(expression).replace(sp.exp, lambda x: sp.expand_power_exp(sp.exp(sp.expand(x))))
    named = {sp.exp(x * sp.log(rho)): sp.Symbol(name, positive=True) for name, x in powers.items()}
    return split.xreplace(named)


def grows_from_one(function: Any, variable: Any, *, domain: str) -> Evidence:
    """function >= 0 from 1 on: it is at least 0 there, and its derivative is not negative beyond."""
    first = sp.simplify(function.subs(variable, 1))
    slope = sp.Ge(sp.together(sp.diff(function, variable)), 0, evaluate=False)
    return argument(
        (first, sp.Abs(first), "the first value and its absolute value"),
        (slope, [variable >= 1], domain),
        domain=f"${variable}=1$",
    )


# --- the region's ends -------------------------------------------------------------------------------------


@cache
def powers_fall() -> Evidence:
    """ρ^s <= h/(h+s), by induction over s: y = ρ^s, and ρ^(s+1) = ρ·y with ρ = 1 - 1/h."""
    domain = rf"{EVERY}: $\rho^s\le h/(h+s)$ and the same for $s+1$; equality at $s=0$"
    return always((1 - 1 / h) * y <= h / (h + s + 1), given=[y <= h / (h + s)], domain=domain)


@cache
def fewest_samples() -> Evidence:
    """F_s >= s(s+1)/(2(h+s)) and F_s >= s-h+1, by induction over s along theory's own sums."""
    t = a_round
    step = region_minimum_total(REGION, t + 1) - region_minimum_total(REGION, t)
    closed = plain(region_minimum_total(REGION, t + 1) / rate - (t - rho / (1 - rho)), y=t)
    return argument(
        (plain(step, y=t), plain(region_minimum(REGION, t), y=t), r"its step and $\Lambda_{\min}$"),
        (region_minimum_total(REGION, 1), 0, r"$\bar\Lambda F$ before round 1 and 0"),
        (plain(contraction(REGION, t), y=t), 1 - y, r"$\Lambda_{\min}/\bar\Lambda$ and $1-\rho^t$"),
        (closed, y * rho / (1 - rho), r"$F_s-(s-\rho/(1-\rho))$, which is positive, and $\rho^{s+1}h$"),
        (
            fewest + 1 - y >= (s + 1) * (s + 2) / (2 * (h + s + 1)),
            [*FEWEST, y <= h / (h + s + 1)],
            r"from $F_s$ to $F_{s+1}$, $y=\rho^{s+1}$",
        ),
        domain=EVERY,
    )


@cache
def most_samples() -> Evidence:
    """Λ_max/Λ̄ = 1 + ρ^t/(1-ρ^t), so ΣΛ_max <= Λ̄(t+S), and S <= h·log 2h."""
    root = sp.Symbol("r", positive=True)  # √ρ
    beyond = plain(region_maximum(REGION, a_round), y=a_round) / rate - 1
    bound, reach = (f(root**2) * (1 - root**2) for f in (lambert_bound, lambert_reach))
    below = r"so $r\log(1/(1-r))\le\log(1/(1-r))\le\log2h$"
    return argument(
        (beyond, y / (1 - y), r"what $\Lambda_{\max}$ adds to $\bar\Lambda$, and a Lambert term"),
        (bound, -root * sp.log(1 - root), r"$(1-\rho)$ times its bound, with $r=\sqrt\rho$,"),
        (reach, sp.log(2 / (1 - root**2)), r"$(1-\rho)h\log2h$ and $\log(2/(1-r^2))$"),
        lambert_summand(),
        (1 / (1 - root) <= 2 / (1 - root**2), [root < 1], below),
        domain=EVERY,
    )


ENDS = (powers_fall, fewest_samples, most_samples)


# --- the generalisation term -------------------------------------------------------------------------------


@cache
def third_term() -> Evidence:
    """All links from F and M to the bound on the sum of the generalisation terms' differences."""
    p, q, r, more, X, Y = sp.symbols("p q r c X Y", positive=True)
    summand = sp.sqrt(2) * s ** sp.Rational(-3, 2) * (s / (2 * h)) ** sp.Rational(1, 4)
    antiderivative = -4 * s * summand
    tail, last = (summand - antiderivative).subs(s, 2 * h), 1 / (2 * sp.sqrt(h) ** 3) + 4 / sp.sqrt(h)
    return argument(
        powers_fall(),
        fewest_samples(),
        ((sp.Rational(5, 2) / s) ** 2 * h >= 1 / fewest, [*FEWEST, s <= 2 * h], r"$1/\sqrt F$ for $s\le2h$"),
        (1 / (s + 1) <= 1 / w, [w <= s + 1], r"$\sum_{1<s\le2h}1/s\le\int_1^{2h}dw/w=\log2h$"),
        (s / 2 <= fewest, [s - h + 1 <= fewest, s >= 2 * h], r"$s\ge2h$"),
        (
            1 / p - 1 / q <= w / r**3,
            [p**2 >= r**2 / 2, q >= r, q**2 - p**2 <= w],
            r"$s\ge2h$: $p=\sqrt F$, $q=\sqrt M$, $r=\sqrt s$, $M\ge s$, $M-F\le w$",
        ),
        (s + more <= s * (2 * h + more) / (2 * h), [s >= 2 * h], r"$M\le\bar\Lambda(s+c)$, reach $2h+c$"),
        (1 + X + Y <= (1 + X) * (1 + Y), [], r"$X$ the $\log^+$ of reach, $Y=\log(s/2h)$"),
        grows_from_one(2 * sp.sqrt(y) - 1 - sp.log(y), y, domain=r"$1+\log y\le2\sqrt y$ for $y\ge1$"),
        # Σ_{s>2h} √2·s^(-3/2)·(s/2h)^(1/4) <= first term + integral <= (9/2)/√h
        (sp.diff(antiderivative, s), summand, "antiderivative and summand"),
        (sp.expand(tail), last, "first term + integral"),
        (last <= sp.Rational(9, 2) / sp.sqrt(h), [h >= 1], r"every $h\ge1$"),
        domain=r"$s\ge2h$, every $h$",
    )
