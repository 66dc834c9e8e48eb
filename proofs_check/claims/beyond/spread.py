r"""The largest distance between two policies inside the region (`thm:dpp-regret/spread`): all that V can change."""

from proofs_check.prelude import *

from proofs_check.groundwork.control import orders
from proofs_check.groundwork.control.orders import ALL, ALONG, LINEAR, RATIONAL, ROOT, h, links
from proofs_check.groundwork.regret import transient
from proofs_check.groundwork.regret.envelope import mismatch_range, spread
from proofs_check.groundwork.regret.every_policy import drawn_inside, every_policy
from proofs_check.groundwork.regret.transient import FEWEST, fewest, s, w
from theory.control.violation import cost_violation_rate

x, M, S, k, y, P, Q = sp.symbols("x M S k y P Q", positive=True)
THIRD = sp.Rational(1, 3)
LATE = r"$s\ge2h$"
LOW, HIGH = mismatch_range(k, x, 1, fewest, M, stated=False)  # of χ, in units of 1/Λ̄
EVERY = rf"{ALL}, every $\rho$"


def early() -> Evidence:
    """Up to s = 2h the width is at most the upper end, since χ >= 0: 1/(k(1-x)) + 1/F, and its root (1 + that)/2."""
    end = 1 / (k * (1 - x))
    return argument(
        (end + 1 / fewest >= HIGH, [], "every round"),
        (end, 1 / k + x / (1 - x) / k, "$1/(k(1-x))$ and its parts", "every round"),
        (1 / (s * (s + 1)), 1 / s - 1 / (s + 1), "$1/(s(s+1))$, telescoping,", "every $s$"),
        (2 * h / (s * (s + 1)) + 2 / (s + 1) >= 1 / fewest, FEWEST, "every $s$"),
        (1 / (s + 1) <= 1 / y, [y <= s + 1], r"on $[s,s+1]$: $\sum_{s\le2h}1/(s+1)\le\log(1+2h)$"),
        (sp.sqrt(y) <= (1 + y) / 2, [], "the root term"),
        # the oldest admission is that of round 1: x = ρ and F = 1-ρ
        (end + 1 / fewest <= 2 * h, [sp.Eq(x, 1 - 1 / h), sp.Eq(fewest, 1 / h), k >= 1], "rounds $t=k<K$"),
    )


def late() -> Evidence:
    """From s = 2h on: x <= 1/3, F >= s/2, s <= M <= F + w. The width is 2x/(K(1-x)) + 6w/s² + 11x/h at most."""
    ends, shrink, widen = 1 / (1 - x) - (1 - x), 1 - (1 - x) ** 2, 1 / (1 - x) ** 2 - 1
    parts = ends / k + (2 + 1 / k) * (1 / fewest - 1 / M) + (1 + 1 / k) * (widen / fewest + shrink / M)
    most = (2 + 1 / k) * 2 * w / s**2 + (1 + 1 / k) * 11 * x / s
    root = r"the roots differ by at most $\sqrt{3K/2}$ times the width: $P^2$ high, $Q^2=[\text{low}]^+$"
    return argument(
        (x <= THIRD, [x <= h / (h + s), s >= 2 * h], rf"$x=\rho^s$, {LATE}"),
        (2 * w / s**2 >= 1 / fewest - 1 / M, [s / 2 <= fewest, s <= M, w >= M - fewest], LATE),
        (widen / fewest <= 9 * x / s, [x <= THIRD, s / 2 <= fewest], LATE),
        (shrink / M <= 2 * x / s, [s <= M], LATE),
        (ends / k <= 2 * x / (k * (1 - x)), [x < 1], "every round"),
        (HIGH - LOW, parts, "the width and its parts", "every round"),
        (most <= 6 * w / s**2 + 11 * x / h, [k >= 1, s >= 2 * h], LATE),
        (2 * THIRD / k <= HIGH, [x < 1, fewest <= M, M >= 3], r"$t\ge s\ge3$"),
        (sp.sqrt(3 * k / 2) * (P**2 - Q**2) >= P - Q, [P >= Q, 2 * THIRD / k <= P**2], root),
        (s / 2 <= fewest, [s - h + 1 <= fewest, s >= 2 * h], LATE),
    )


def late_sums() -> Evidence:
    """Σ_{s>2h} 1/s² <= 3/(4h), by its first term and its integral; Σρ^s <= h; w = K-1+S+h."""
    rho = ALONG.rho
    return argument(
        (sp.diff(-1 / s, s), 1 / s**2, r"$\int$ and $1/s^2$", LATE),
        (rho / (1 - rho), h - 1, r"$\sum_{s\ge1}\rho^s$ and $h-1$", r"every $\rho$"),
        (1 / (2 * h) ** 2 + 1 / (2 * h) <= sp.Rational(3, 4) / h, [h >= 1], r"every $\rho$"),
        (K - 1 + S + h >= M - fewest, [s + K - 1 + S >= M, s - h + 1 <= fewest], r"$t=s+K-1$, $M\le t+S$"),
        (s / (2 * h) * (2 * h + w) >= s + w, [s >= 2 * h], rf"$M\le(s/2h)(2h+K-1+S)$, {LATE}"),
    )


def assembled() -> Evidence:
    """theory.regret.transient.spread_bound, put together from the links: each sum where it belongs."""
    size = h * sp.log(2 * h)
    wide = K - 1 + size + h
    begin = (K - 1) * 2 * h + (2 * h + size) / K + 2 * h * 1 + 2 * sp.log(1 + 2 * h)
    end = 2 * size / K + 6 * wide * sp.Rational(3, 4) / h + 11 * h / h
    third = (K - 1) + sp.Rational(5, 2) * (1 + sp.log(2 * h)) + sp.Rational(9, 2) * wide / h
    logarithm = sp.sqrt(1 + log_plus(rate * (2 * h + K - 1 + size) / CONSTANTS.Pdim))
    return orders.terms_equal(
        spread_bound(K, ALONG, CONSTANTS),
        Terms(
            root=ROOT * ((K - 1 + 2 * h + begin) / 2 + sp.sqrt(3 * K / 2) * end),
            linear=LINEAR * (begin + end),
            generalisation=10 * CONSTANTS.B * sp.sqrt(CONSTANTS.Pdim / rate) * logarithm * sp.sqrt(h) * third,
        ),
        what="the bound and its links",
        domain=EVERY,
    )


def order() -> Evidence:
    """The bound over the stated rate, as h grows: finite, so it is of that order, uniformly in T."""
    root = ROOT * (1 / (2 * K) + 2 * sp.sqrt(sp.Rational(3, 2) / K))
    return orders.terms_tend(
        spread_bound(K, ALONG, CONSTANTS),
        Terms(root=root, linear=3 * LINEAR / K, generalisation=0),
        over=cost_violation_rate(ALONG.rho),
        what="bound over rate",
        domain=EVERY,
    )


def certified(context: Context) -> Evidence:
    """The certified width of the range, summed over T rounds, against theory's bound."""
    few, horizons = context.choose([(3, 2)], [(1, 1), (3, 2), (10, 4), (2, 6)]), context.choose((6,), (3, 12))

    def region(p: Any) -> Region:
        return Region(rate=Fraction(7, 2), rho=1 - Fraction(1, 10 ** p["e"]))

    return compare(
        lambda p: spread(p["K"], region(p), p["T"], RATIONAL, stated=False),
        "<=",
        lambda p: spread_bound(p["K"], region(p).map(ball), RATIONAL.map(ball)).total,
        [{"K": k, "e": e, "T": 10**digits} for k, e in few for digits in horizons],
        domain=rf"$\bar\Lambda=7/2$, $1-\rho=10^{{-e}}$, constants {RATIONAL}",
    )


CLAIMS = [
    Claim(
        id="thm:dpp-regret/spread",
        title=r"what $V$ can change: $O(\log(1/(1-\rho))/(1-\rho))$, not $T/V$",
        statement="The bounds of two policies inside the region differ by at most order "
        r"$\log(1/(1-\rho))/(1-\rho)$, uniformly in $T$; so this is all that $V$, or the policy, can change.",
        formula=said(
            r"\bigl|\bar{\mathcal E}_T(\pi)-\bar{\mathcal E}_T(\pi')\bigr|=O\Bigl(@rate\Bigr)",
            rate=cost_violation_rate(REGION.rho),
        ),
        domain=r"two policies inside the region, $K\bar\Lambda=\sum B$, with $\chi$; every $T$, and "
        r"$\rho\to1$ at fixed $K$, $\bar\Lambda$ and constants",
        checks={
            "every policy": (partial(every_policy, stated=False), confirming(drawn_inside)),
            "first two terms": links(*transient.ENDS, early, late, late_sums),
            "third term": lambda: together(
                transient.third_term(),
                transient.most_samples(),
                always(1 / sp.sqrt(fewest) <= sp.sqrt(h), given=[1 / h <= fewest], domain=r"$t<K$: $F=1/h$"),
                late_sums(),
            ),
            "the order": (links(assembled, order), confirming(certified)),
        },
        given=(WRITTEN,),
        sketch=r"In round $t$ write $k=\min(t,K)$, $s=t-k+1$ for the oldest admission in memory, $x=\rho^s$, "
        r"$h=1/(1-\rho)$, $S=\sum\rho^j/(1-\rho^j)\le h\log2h$, and count samples in units of $\bar\Lambda$. Every "
        r"policy: each admission in memory lies between $1-x$ and $1/(1-x)$, $F\le N_{\mathrm{eff}}\le M$ with "
        r"$F=\sum_{j\le s}(1-\rho^j)$, $M=t+S$, and so $\chi$ between low $=(1-x)/k+1/M-(k+1)/(k(1-x)^2F)$, or 0, "
        "and high $=1/(k(1-x))+1/F-(k+1)(1-x)^2/(kM)$. Two policies differ in a round by at most the width of this "
        r"range. Early rounds, $s\le2h$: the width is at most high $\le1/(k(1-x))+1/F$. In the $K-1$ rounds before "
        "$K$ that is at most $2h$. After, $1/(1-x)=1+x/(1-x)$ adds up to $2h+S$ over $2h$ rounds, and "
        r"$1/F\le2h/(s(s+1))+2/(s+1)$ to $2h+2\log(1+2h)$: `early` in theory.regret.transient.spread_bound. The root "
        r"of a width is at most (1+width)/2. Late rounds, $s>2h$: $x\le1/3$, $F\ge s/2$, $M-F\le w=K-1+S+h$, so the "
        "width is at most $2x/(K(1-x))+6w/s^2+11x/h$, which adds up to $2S/K+9w/(2h)+11$: `late`; and high "
        r"$\ge2/(3K)$, so the roots differ by at most $\sqrt{3K/2}$ times the width. Third term: it falls in $N$ "
        r"where $N_{\mathrm{eff}}=N$, and grows in $1/N_{\mathrm{eff}}$ and $\log N$, so it lies between those of "
        r"$1/M$ and $1/F$ with $M$ in the logarithm, and its width is $10B\sqrt{\mathrm{Pdim}/\bar\Lambda}\cdot "
        r"L(M)(1/\sqrt F-1/\sqrt M)$, $L(M)=\sqrt{1+\log^+(\bar\Lambda M/\mathrm{Pdim})}$: $\sqrt h$ in the first "
        r"$K-1$ rounds, then $(5/2)\sqrt h/s$ up to $2h$ and $w\cdot s^{-3/2}$ beyond, with $L(M)\le L(h+w)\sqrt "
        r"2(s/2h)^{1/4}$ there, $(9/2)w/\sqrt h$ in all. Everything is $O(h\log h)$, $S$ being the largest part, "
        "whatever $T$.",
    )
]
