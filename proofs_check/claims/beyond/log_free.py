r"""The regret without its logarithm (`thm:dpp-regret/log-free`): of order √T with the third term's true constant."""

from proofs_check.prelude import *

from proofs_check.groundwork.control.orders import ALL, RATIONAL, T, t
from proofs_check.groundwork.regret.envelope import settles
from proofs_check.groundwork.regret.every_policy import uses
from proofs_check.groundwork.regret.expansion import LIMIT
from proofs_check.groundwork.regret.transient import fewest_samples, most_samples
from theory.bound.sharper import sharper_constant_bound
from theory.regret.expansion import regret_log_free
from theory.reuse.constant import inverse_effective_constant

less, more = sp.symbols("less more", positive=True)  # N lies between Λ̄(t-less) and Λ̄(t+more)
SUMMABLE = sp.Rational(3, 2)
GAP = Given("lem:gen-Neff-app", r"$5.2B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}$ bounds the generalisation gap")
FIRST = Given("thm:dpp-regret/expansion", "the first two terms of policies inside are the oracle's to $O(1)$")
FORMULA = sp.factor(regret_log_free(K, rate, T, CONSTANTS) / sp.sqrt(T))


def third(inverse_effective: Any) -> Any:
    return deviation_term(inverse_effective, CONSTANTS)


def formula() -> Evidence:
    """theory's formula in the statement's letters, and its slope: what Λ̄T samples cost less what KΛ̄T cost."""
    c, told = CONSTANTS, regret_log_free(K, rate, T, CONSTANTS)
    written = sp.Rational(52, 5) * c.B * sp.sqrt(c.Pdim / rate) * (1 - 1 / sp.sqrt(K)) * sp.sqrt(T)
    apart = third(1 / (rate * T)) - third(1 / (K * rate * T))
    return argument(
        (told, written, "the formula and how it is written"),
        (sp.diff(told, T), apart, r"its slope and the third terms' difference"),
        domain=ALL,
    )


def constant_admission() -> Evidence:
    """N_eff for Λ̄t costs a convergent sum; the oracle's N_eff is KΛ̄t."""
    A, B = sp.symbols("A B", positive=True)
    apart = inverse_effective_constant(K, t, rate) - 1 / (rate * t)
    late = 1 + sp.Symbol("s", nonnegative=True)
    oracle = third(inverse_effective_constant(1, late, K * rate))
    return argument(
        (A - B <= (A**2 - B**2) / B, [A >= B], r"roots of $1/N_{\mathrm{eff}}$ and $1/(\bar\Lambda t)$"),
        converges(apart * sp.sqrt(rate * t), t, power=SUMMABLE, domain=f"the same, squares; {ALL}"),
        (oracle, third(1 / (K * rate * late)), r"the oracle's third term and that at $K\bar\Lambda t$"),
        domain=rf"every round; {ALL}",
    )


def every_policy() -> Evidence:
    """N(s) <= N_eff <= N(t), both within a bounded number of Λ̄t at fixed ρ: the third term's range is summable."""
    width = third(1 / (rate * (t - less))) - third(1 / (rate * (t + more)))
    domain = rf"every policy inside the region, $\rho$ fixed; {ALL}"
    return argument(
        uses(), fewest_samples(), most_samples(), converges(width, t, power=SUMMABLE, domain=domain)
    )


def sum_and_integral() -> Evidence:
    """1/√t less its integral over the round before is summable, so Σ1/√t is 2√T to O(1)."""
    apart = 1 / sp.sqrt(t) - 2 * (sp.sqrt(t) - sp.sqrt(t - 1))
    return converges(apart, t, power=SUMMABLE, domain=r"$\sum_{t\le T}1/\sqrt t-2\sqrt T$")


def _rest(K: int, T: int) -> Any:
    """Constant admission's regret in the sharper bound, which has the same third term, less the formula."""
    with precise():
        own, oracle = (
            sharper_constant_bound(k, rate, T, RATIONAL, certified=True).terms
            for k, rate in ((K, 10), (1, 10 * K))
        )
        apart = own.root + own.generalisation - oracle.root - oracle.generalisation
        return apart - regret_log_free(ball(K), ball(10), ball(T), RATIONAL.map(ball))


def settling(context: Context) -> Evidence:
    third = partial(deviation_term, constants=RATIONAL.map(ball))
    return settles(
        context, _rest, lambda seen: third(1 / seen), "the sharper bound's regret less the formula"
    )


CLAIMS = [
    Claim(
        id="thm:dpp-regret/log-free",
        title=r"without the logarithm the regret grows like $\sqrt T$",
        statement=said(
            r"Let the bounds that the regret compares have the third term $@third$, which is enough (lem:gen-Neff-app "
            r"corrected), and not $10B$ and a logarithm. Then at fixed $\rho$ every policy inside the region has the "
            r"regret $@f\sqrt T+O(1)$, whatever $V$, in Theorem 1 corrected and in the sharper theorem alike. So the "
            r"factor $\sqrt{\log T}$ of $@limit\sqrt{T\log T}$ belongs to the bound and not to the problem.",
            third=decimal(deviation_term(1 / sp.Symbol("Neff", positive=True), CONSTANTS)),
            f=decimal(FORMULA),
            limit=LIMIT,
        ),
        formula=said(r"\mathrm{Reg}(T)=@f\sqrt T+O_\rho(1)", f=decimal(FORMULA)),
        symbols={"O": r"bounded as $T$ grows, depending on $\rho$"},
        domain=r"every policy inside the region, $K\bar\Lambda=\sum B$, $\rho$ fixed, with $\chi$; every $K\ge1$ and "
        "all constants",
        given=(WRITTEN, FIRST, GAP),
        sketch=r"As for thm:dpp-regret/expansion, with $1/\sqrt x$ for $g(x)$. The first two terms are the same: "
        r"constant admission's and the oracle's differ by order $t^{-2}$, and those of all policies inside the "
        r"region lie in ranges of summable width. Third term: under constant admission $1/N_{\mathrm{eff}}$ is "
        r"$1/(\bar\Lambda t)$ up to order $t^{-2}$; for any policy inside the region $N(t-K+1)\le "
        r"N_{\mathrm{eff}}\le N(t)$, and both are $\bar\Lambda t$ up to a number that depends on $K$, $\bar\Lambda$ "
        r"and $\rho$ alone: so the root differs by order $t^{-3/2}$, which is summable. The oracle has $K\bar\Lambda "
        r"t$ distinct samples, each used once. What is left of round $t$ is "
        r"$5.2B\sqrt{\mathrm{Pdim}/\bar\Lambda}(1-1/\sqrt K)/\sqrt t$, and $\sum1/\sqrt t=2\sqrt T+O(1)$.",
        checks={
            "the formula": formula,
            "third term": (constant_admission, every_policy),
            "sum and integral": (sum_and_integral, confirming(settling)),
        },
    )
]
