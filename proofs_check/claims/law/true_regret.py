"""The true regret is linear (`law:reuse/regret`): excess risks compared themselves, where the paper compares bounds."""

from proofs_check.prelude import *

from proofs_check.groundwork.law.lags import EVERY, SYMBOLS, a
from theory.law.quadratic import excess_risk, linear_regret

h, spread, x, share, left = sp.symbols("h s x share left", positive=True)
T = sp.Symbol("T", positive=True)
ONE: Any = {"h": [h], "variance": [spread**2], "eta": (1 - a) / h}  # directions add up, so one is enough
EXACT = Given("law:reuse", "the excess risk of any admissions, exactly")
FLOOR = Given("law:reuse/finite", r"constant admission's noise tends to $v/\bar\Lambda$ from an empty memory")


def slope() -> Evidence:
    written = h * spread**2 * (K * stationary_noise(a, K) - stationary_noise(a, 1)) / (2 * K * rate)
    return argument((linear_regret(rate, K, **ONE), written, "the floors' difference and it"), domain=EVERY)


def averages() -> Evidence:
    """Both excess risks tend to their floors by a power of a: their sums are T times these, to O(1)."""
    power = sp.exp(-left * T)  # a^T
    return limits(
        T,
        ((1 - power) / (1 - sp.exp(-left)) / T, 0, r"$\sum a^t$ over $T$"),
        (T**-x, 0, r"rounds before the policy settles, $O(T^\phi)$, over $T$, $x=1-\phi$,"),
        domain=r"every $0<a<1$, $a=e^{-\mathrm{left}}$",
    )


def settles() -> Evidence:
    """Once (1+Λ̄)ρ^t < 1 the only whole number in the region is Λ̄; and a round more shrinks every difference by a."""
    low, high = (
        end(REGION, t).subs(sp.exp(t * sp.log(REGION.rho)), x) for end in (region_minimum, region_maximum)
    )
    c, other = sp.symbols("c other", real=True)
    first, second = sp.symbols("first second", nonnegative=True)
    return argument(
        ([rate - low < 1, high - rate < 1], [(1 + rate) * x < 1], r"$x=\rho^t$, every $\bar\Lambda$"),
        (a * c + share - (a * other + share), a * (c - other), "two weights after a round and before", EVERY),
        (first**2 + second**2 <= 1, [first + second <= 1], "weights add up to 1 at most, and their squares"),
    )


@drawn(
    r"whole admissions drawn inside the region, $\bar\Lambda\le3$, $K\le4$, two directions, 40 rounds after they "
    r"settle",
    (15, 200),
    K=st.integers(1, 4),
    rate=st.integers(1, 3),
    rho=st.sampled_from([F(1, 4), F(1, 2), F(3, 4)]),
    drawn=st.lists(st.integers(0, 10**6), min_size=8, max_size=8),
    h=st.lists(st.sampled_from([F(1), F(3, 2)]), min_size=2, max_size=2),
)
def round_by_round(K: int, rate: int, rho: F, drawn: list[int], h: list[F]) -> Found:
    """The excess risk of such a policy less the oracle's, exactly, against the slope, in the last round."""
    region, eta, after = Region(rate=F(rate), rho=rho), F(1, 2), 25
    early = []
    for now, number in enumerate(drawn, start=1):
        low, high = -(-region_minimum(region, now) // 1), region_maximum(region, now) // 1
        early.append(int(low + number % (high - low + 1)))
    admitted = early + [rate] * (K + after)
    problem: Any = {"h": h, "variance": [F(2), F(1, 3)], "eta": eta}
    own, oracle = (
        excess_risk(by_age(admissions, kept), len(admissions), start=[F(4), F(1)], **problem).total[-1]
        for admissions, kept in ((admitted, K), ([K * rate] * len(admitted), 1))
    )
    told = linear_regret(rate, K, **problem)
    most = 100 * max(1 - eta * value for value in h) ** after
    positive = told > 0 if K > 1 else told == 0
    near = abs(own - oracle - told) <= most
    return unless(near and positive, apart=own - oracle, slope=told, admitted=admitted)


def apart_by_a_multiple() -> Evidence:
    problem: Any = {"h": [F(1)], "variance": [F(1)], "eta": F(1, 2)}
    found = compare(
        lambda at: ball(linear_regret(at["Λ̄"], at["K"], **problem)),
        "<=",
        lambda _: ball(0),
        [{"K": 2, "Λ̄": 3}],
        domain=r"the excess risk of a round of ACDPP less the oracle's, in the long run (law:reuse/regret): loss "
        r"$(\theta-z)^2/2$, $\mathrm{Var}\,z=1$, $\eta=1/2$, $E=1$",
    )
    return obeying(
        found, {"that this is the slope": slope(), "sums that are linear": averages(), "ACDPP": settles()}
    )


CLAIMS = [
    Claim(
        id="rem:1/sublinear/risk",
        kind="reading",
        title="the excess risk above the oracle's is sublinear",
        statement=r"Sublinear regret is taken to mean that the excess risks of ACDPP and of the costless oracle grow "
        r"apart less than $T$. (The paper's regret compares upper bounds on them, and so read it is sublinear.)",
        formula=r"\mathcal E_T-\mathcal E_T^{oracle}=o(T)",
        domain=r"$0<\gamma,\phi<1$; a fixed step size; what holds instead for quadratic losses: law:reuse/regret",
        checks=(apart_by_a_multiple,),
        symbols={"E^oracle_T": "that of the costless oracle", "o": "of lower order than"},
    ),
    Claim(
        id="law:reuse/regret",
        title=r"the true regret is linear in $T$ for $K\ge2$",
        statement=r"The paper's regret compares upper bounds, and is sublinear. Compare the excess risks themselves: "
        r"where losses are quadratic with one Hessian, the cumulative excess risk of every policy with whole "
        r"admissions inside the region exceeds that of the costless oracle by a multiple of $T$ in the long run, the "
        r"same for all of them, also with $\rho=1-T^{-\phi}$, $\phi<1$. It is positive for $K\ge2$ and 0 for $K=1$. "
        r"(For a fixed step size, as in the paper. The samples may be bounded and $\Theta$ may hold them all, so its "
        r"assumptions on the losses are met.)",
        formula=said(
            r"\lim_{T\to\infty}\frac{\mathcal E_T-\mathcal E_T^{oracle}}T=\tfrac12\sum_hhs_h^2\,"
            r"\frac{K\,v(a_h,K)-v(a_h,1)}{K\bar\Lambda}>0\quad(K\ge2),\qquad v(a,K)=@v",
            v=stationary_noise(a, K),
        ),
        domain=r"quadratic losses with one Hessian, samples of one distribution with positive variance, weights "
        r"$n_m/n$, $0<a<1$ in every direction; $\bar\Lambda$ whole, $K\bar\Lambda=\sum B$; every $K\ge1$ and $V$",
        sketch=r"Constant admission's excess risk tends to $\tfrac12\sum hs^2v(a,K)/\bar\Lambda$ and the oracle's, "
        r"which is constant admission of $K\bar\Lambda$ samples used once, to $\tfrac12\sum "
        r"hs^2v(a,1)/(K\bar\Lambda)$, both by a power of $a$ (law:reuse/finite; the start is forgotten as $a^{2t}$). "
        r"So the sums are $T$ times these, to $O(1)$. $Kv(a,K)$ rises in $K$ for $0<a<1$, so the difference is "
        r"positive for $K\ge2$. Any other policy: once $\rho^t<1/(1+\bar\Lambda)$, after "
        r"$\log(1+\bar\Lambda)/(1-\rho)$ rounds, the only whole number in the region is $\bar\Lambda$. $K$ rounds "
        r"later its memory has the shape of constant admission's, both follow the same recursion, and what the past "
        r"left in the weights shrinks by $a$ a round. Until then the weights add up to 1 at most, so an excess risk "
        r"is at most a constant, and there are $O(T^\phi)$ such rounds. (Iterates are averages of the start and of "
        r"samples: a convex $\Theta$ that holds these is never left.)",
        given=(WRITTEN, EXACT, FLOOR),
        checks={
            "the slope": slope,
            "its sign": theorem("Stationary.product_rises_strictly", domain=EVERY),
            "the limit": (averages, confirming(round_by_round)),
            "every policy": (settles, confirming(round_by_round)),
        },
        symbols={**SYMBOLS, "E^oracle_T": "that of the costless oracle"},
    ),
]
