r"""Buying seldom and more against buying in every round (`law:drift/freshness`): when freshness wins."""

from proofs_check.prelude import *

from proofs_check.groundwork.drift.moving import BEST, MOVING, nu, q
from theory.drift.long_run import burst_tracking_risk, freshness_drift, freshness_drift_random, tracking_risk

cheap, often, wait, known, gain, k, a = sp.symbols("c p u F Delta k a", positive=True)
m = sp.Symbol("m", integer=True, positive=True)
P = sp.Symbol("P", positive=True)


def periods() -> Evidence:
    """A burst of m rounds' samples has noise ν/m: F(F+mq) = qν, and the mean of F+kq, k <= m, is F + q(m+1)/2."""
    theirs = burst_tracking_risk(nu, q, m)
    after = theirs - q * (m + 1) / 2
    limit = freshness_drift(nu, cheap, m)
    better = m**2 * q**2 + 4 * q * cheap < q**2 + 4 * q * nu
    return argument(
        (after * (after + m * q), q * nu, "$F(F+mq)$", "every $m$"),
        (1 / known - 1 / (known + m * q), m / (known * (known + m * q) / q), "a burst's share", "every $m$"),
        (sp.Sum(k, (k, 1, m)).doit() / m, (m + 1) / 2, "the mean wait", "every $m$"),
        (burst_tracking_risk(nu, q, 1), tracking_risk(nu, q), "a burst in every round", r"every $q$, $\nu$"),
        (sp.Equivalent(better, q < limit), [m >= 2], r"seldom is better below $q^\circ$, $m\ge2$"),
    )


def waits() -> Evidence:
    """Purchases with chance p are K = 1 with pν' and q/p. Both P solve P² - qP = qν; the other root lies above P if and
    only if P > Δ/u, and P = Δ/u at q°.
    """
    settled = often * cheap * (1 - a) / (1 + a) + q / often / (1 - a**2)
    moved = (1 - often) * settled + often * (a**2 * settled + (1 - a) ** 2 * often * cheap) + q
    at = 1 / (1 + wait)
    form = P**2 - (1 + wait) * q * P - q * (nu - gain)
    limit = freshness_drift_random(nu, nu - gain, at)
    root = tracking_risk(at * (nu - gain), q / at)
    solved = sp.Eq(P**2, q * (P + nu))
    return argument(
        (moved, settled, "the mean square a round later", "any step, any $p$"),
        (root**2 - (1 + wait) * q * root, q * (nu - gain), r"$P^2$ with $p\nu'$ and $q/p$", "every $p$"),
        (form - (P**2 - q * (P + nu)), q * (gain - wait * P), "the other form at $P$", r"$P^2=q(P+\nu)$"),
        ((gain / wait) ** 2, limit * (gain / wait + nu), r"$P=\Delta/u$ at $q^\circ$", "every $u$"),
        (sp.Equivalent(gain / wait < P, q > limit), [solved], r"$P>\Delta/u$ beyond $q^\circ$"),
    )


@everywhere("12 bursts from a large and a small first error", m=(2, 3, 5), drift=(F(1, 10), F(1), F(10)))
def burst_by_burst(m: int, drift: F) -> Found:
    """The recursion of the best weights, rounded to 12 digits: it comes within a millionth of the stated mean."""
    errors = [F(1000), drift * m]
    for _ in range(12):
        errors = [1 / (1 / (one + m * drift) + m) for one in errors]
        errors = [one.limit_denominator(10**12) for one in errors]
    mean = [one + drift * F(m + 1, 2) for one in errors]
    # the stated mean x has (2x-q)² = m²q² + 4qν at ν = 1
    off = [(2 * x - drift) ** 2 - (m * drift) ** 2 - 4 * drift for x in mean]
    return unless(max(map(abs, off)) <= F(1, 10**6), off=[float(one) for one in off])


def in_balls() -> Evidence:
    """Just below q° buying seldom is better, just above freshness is: every m-th round, and with probability p."""
    domain = r"$\nu=3$, $\nu'=1/2,2$; $m=2,3,10$, $p=1/2,1/10$; a thousandth on either side"

    def lost(p: Any) -> Any:
        often, fewer = p["often"], p["cheap"]
        near = 1 + p["side"] * F(1, 1000)
        if often > 1:
            drift = ball(freshness_drift(F(3), fewer, often) * near)
            seldom = burst_tracking_risk(ball(fewer), drift, int(often))
        else:
            drift = ball(freshness_drift_random(F(3), fewer, often) * near)
            seldom = tracking_risk(ball(often * fewer), drift / ball(often))
        return (seldom - tracking_risk(ball(3), drift)) * int(p["side"])

    points = grid(often=(F(2), F(3), F(10), F(1, 2), F(1, 10)), cheap=(F(1, 2), F(2)), side=(F(-1), F(1)))
    return compare(lost, ">", lambda _: 0, points, domain=domain)


CLAIMS = [
    Claim(
        id="law:drift/freshness",
        title="the drift beyond which buying cheap loses to freshness",
        statement=r"Let samples that come in every round have the noise $\nu$, and let waiting for low "
        r"prices buy more of them, with noise $\nu'<\nu$ a round in the mean. If they come every $m$-th "
        r"round, the best weights have the mean square error $\tfrac12(q+\sqrt{m^2q^2+4q\nu'})$ over the "
        r"rounds, so waiting is better if and only if $q<\frac{4(\nu-\nu')}{m^2-1}$: beyond that no learner "
        "of bursts does better than $K=1$ on fresh samples. If they come with probability $p$ in a round, "
        r"are trained on once, and steps have one size, $q/p$ and $p\nu'$ take the places of $q$ and $\nu'$ "
        "in law:drift/best, and waiting is better if and only if $q$ is below "
        r"$\frac{\Delta^2}{u(\Delta+u\nu)}$.",
        formula=said(
            r"q^\circ=@every\ \text{every }m\text{-th round};\qquad "
            r"q^\circ=\frac{\Delta^2}{u(\Delta+u\nu)},\quad\Delta=\nu-\nu',\quad u=\tfrac1p-1",
            every=freshness_drift(nu, sp.Symbol("nu'", positive=True), m),
        ),
        domain=r"quadratic losses with one Hessian, one direction, in the long run; $m\ge2$, $0<p<1$; “no "
        "learner” for Gaussian samples and walks, else no weights",
        sketch=r"After a burst of $m$ rounds' samples the best weights have $\frac1F=\frac1{F+mq}+\frac "
        r"m{\nu'}$, so $F(F+mq)=q\nu'$, and $F+kq$ is met $k$ rounds later. Means are in the order of their "
        r"radicands. With random waits the mean square $M$ has $M=(1-p)M+p(a^2M+(1-a)^2p\nu')+q$, which is "
        r"that of $K=1$ with $p\nu'$ and $q/p$. Both least errors solve a quadratic; the one with waits is "
        r"larger if and only if $uP>\Delta$, and $P$ rises in $q$. The step for random waits is not the "
        "best learner: one that knows how long it waited would do better.",
        given=(WRITTEN, BEST),
        checks={
            "every $m$-th round": (periods, confirming(burst_by_burst), confirming(in_balls)),
            "random waits": (waits, confirming(in_balls)),
        },
        symbols=MOVING
        | {
            "F": "mean square error of the best weights after a burst",
            "M": "mean square error with random waits",
            "p": "how often samples come, in a round",
            "u": "the mean wait, $1/p-1$",
        },
    )
]
