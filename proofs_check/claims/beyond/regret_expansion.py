r"""The regret to O(1) (`thm:dpp-regret/expansion`): one formula for every policy inside the region."""

from proofs_check.prelude import *

from proofs_check.groundwork.control.orders import ALL, RATIONAL, T, t
from proofs_check.groundwork.regret import expansion
from proofs_check.groundwork.regret.envelope import settles, three
from proofs_check.groundwork.regret.every_policy import narrows
from proofs_check.groundwork.regret.expansion import ABOVE, BELOW, EXPANDED, EXPANSION, LIMIT
from theory.regret.expansion import generalisation_integral
from theory.regret.omegas import omega1_limit

# H beyond 1 as it reads best, which no printer of ours finds; `closed_form` ties it to theory's function
H_LATEX = (
    r"2\sqrt{x(1+\log x)}-\sqrt{\tfrac{2\pi}e}\Bigl(\mathrm{erfi}\sqrt{\tfrac{1+\log "
    r"x}2}-\mathrm{erfi}\sqrt{\tfrac12}\Bigr)"
)
# log T times (expansion over its leading term, less 1) tends to half of this, for K >= 2
SECOND = sp.log(rate / CONSTANTS.Pdim) - 1 - sp.log(K) / (sp.sqrt(K) - 1)


def closed_form() -> Evidence:
    """The closed form in the statement, typed again symbol by symbol, is theory's function; below 1 that is 2√x."""
    steps, half = 1 + sp.log(ABOVE), sp.Rational(1, 2)
    erfi = sp.erfi(sp.sqrt(steps / 2)) - sp.erfi(sp.sqrt(half))
    typed = 2 * sp.sqrt(ABOVE * steps) - sp.sqrt(2 * sp.pi / sp.E) * erfi
    return argument(
        (generalisation_integral(ABOVE), typed, "$H$ and its closed form", "$x>1$"),
        (generalisation_integral(BELOW), 2 * sp.sqrt(BELOW), r"$H$ and $2\sqrt x$", "$x<1$"),
    )


def logarithms() -> Evidence:
    """The first two terms of Ω₁ grow like `omega1_limit` times log T, those of Ω₃ like minus the same."""
    one = constant_round(K, t, rate, CONSTANTS) - expansion.surrogate_round(t)
    three = expansion.surrogate_round(t) - expansion.oracle_round(t)
    both = omega1_limit(K, rate, CONSTANTS).total
    return together(
        equivalent(one.root + one.linear, t, sp.log(t), both, domain=rf"$\Omega_1$'s first two terms; {ALL}"),
        equivalent(three.root + three.linear, t, sp.log(t), -both, domain=rf"$\Omega_3$'s; {ALL}"),
    )


def second_order() -> Evidence:
    """The rest of the expansion after its leading term, over √(T/log T), by l'Hôpital: of either sign."""
    leading = omega3_limit(K, rate, CONSTANTS) * sp.sqrt(T * sp.log(T))
    slope = expansion.slope(regret_expansion(K, rate, T, CONSTANTS)) - sp.diff(leading, T)
    from_two = {K: K + 1}  # K >= 2: at K = 1 all is 0
    return tends_to(
        (slope / sp.diff(sp.sqrt(T / sp.log(T)), T)).subs(from_two),
        T,
        (omega3_limit(K, rate, CONSTANTS) * SECOND / 2).subs(from_two),
        what=r"the slope of expansion less leading term, over that of $\sqrt{T/\log T}$,",
        domain=rf"$K\ge2$, written $K+1$; {ALL}; $T\to\infty$",
    )


@cache
def _regret(K: int, T: int) -> Any:
    """Certified regret of constant admission, Λ̄ = 10."""
    with precise():
        policy = constant_bound(K, 10, T, RATIONAL, certified=True)
        return three(policy.terms) - three(oracle_bound(10 * K, T, RATIONAL, certified=True).terms)


def _rest(K: int, T: int) -> Any:
    return _regret(K, T) - regret_expansion(ball(K), ball(10), ball(T), RATIONAL.map(ball))


def settling(context: Context) -> Evidence:
    return settles(
        context,
        _rest,
        lambda seen: generalisation_term(1 / seen, seen, RATIONAL.map(ball)),
        "the regret less the expansion",
    )


def leading_term_alone(context: Context) -> Evidence:
    """Λ̄ = 10, Pdim = 6, T = 10^15: limit·√(T log T) is more than 2 % too large, the expansion 10^-8 off at most."""
    T = 10**15

    def off(p: Any) -> Any:
        regret, rest = _regret(p["K"], T), _rest(p["K"], T)
        leading = omega3_limit(ball(p["K"]), ball(10), RATIONAL.map(ball)) * sqrt(T * log(ball(T)))
        return (leading / regret - 1).min(10**-8 - abs(rest / regret) + ball(1) / 50)

    return compare(
        off,
        ">",
        lambda p: ball(1) / 50,
        [{"K": k, "T": T} for k in context.choose((3,), (2, 3, 10))],
        domain=r"constant admission, $\bar\Lambda=10$, rational constants, $T=10^{15}$",
    )


CLAIMS = [
    Claim(
        id="thm:dpp-regret/expansion",
        title="the regret to $O(1)$, the same for every policy",
        statement=said(
            rf"At fixed $\rho$ every policy inside the region has $\mathrm{{Reg}}(T)={EXPANDED}+O(1)$, where "
            r"$H(x)=\int_0^x\sqrt{(1+\log^+u)/u}\,du$ is $2\sqrt x$ up to $x=1$ and "
            rf"${H_LATEX}$ beyond. The $O(1)$ is bounded by a number that depends on $K$, $\bar\Lambda$, $\rho$ and "
            r"the constants alone; for a policy that does not depend on $T$ it has a limit as $T$ grows, and under "
            r"constant admission it does not depend on $\rho$. The leading term $@limit\sqrt{T\log T}$ alone is off by "
            r"a factor $1+O(1/\log T)$, on either side: for $K\ge2$, $\log T$ times (expansion/leading term $-$ 1) "
            r"tends to $(@second)/2$.",
            limit=LIMIT,
            second=SECOND,
        ),
        formula=EXPANSION + r",\quad H(x)=" + H_LATEX,
        domain=r"every policy inside the region, $K\bar\Lambda=\sum B$, $\rho$ fixed, with $\chi$; every "
        r"$K\ge1$ and all constants; the regret of every single path of admissions, and so its mean too",
        symbols={
            "H": r"the integral of $\sqrt{(1+\log^+u)/u}$ from 0 to $x$",
            "x": r"$N/\mathrm{Pdim}$, $N$ distinct samples; the closed form is for $x\ge1$",
            "O": "bounded as $T$ grows",
            "erfi": r"the imaginary error function, $(2/\sqrt\pi)\int_0^x\exp(s^2)ds$",
            "e": r"2.718$\ldots$",
            "π": r"3.141$\ldots$",
        },
        given=(WRITTEN,),
        sketch=r"Let $g(x)=\sqrt{(1+\log^+x)/x}$, so that $N$ distinct samples cost $10B\cdot g(N/\mathrm{Pdim})$ in "
        "the third term; $g$ falls, and $H$ is its integral. (1) First two terms. With $y=t-(K-1)/2$, constant "
        r"admission has $\chi=(1-1/y-(K^2-1)/(6y^2))/(K\bar\Lambda)$ from $t=K$ on, the oracle "
        r"$(1-1/t)/(K\bar\Lambda)$: they differ by order $t^{-2}$, and so do the linear terms, and the roots since "
        r"both tend to $1/\sqrt{K\bar\Lambda}$. Both sums converge. (Through the penalties: $\Omega_1$ grows like "
        r"$c\log T$ and $\Omega_3$'s first two terms like $-c\log T$, with the same $c$; they cancel.) (2) Third term. "
        r"$1/N_{\mathrm{eff}}=(1/y-(K^2-1)/(6Ky^2))/\bar\Lambda$ is $1/(\bar\Lambda t)$ up to order $t^{-2}$, so its "
        r"root up to $t^{-3/2}$, and replacing $N_{\mathrm{eff}}$ by $N=\bar\Lambda t$ costs a convergent sum. (3) "
        r"What is left of round $t$ is $10B[g(\bar\Lambda t/\mathrm{Pdim})-g(K\bar\Lambda t/\mathrm{Pdim})]$: the "
        r"oracle has seen $K\bar\Lambda t$ distinct samples, each used once. (4) Sum and integral. Since $g$ falls, "
        r"$\int_{t-1}^tg(au)du-g(at)$ lies between 0 and $g(a(t-1))-g(at)$ for $t\ge2$, which telescopes; the round "
        r"$t=1$ adds a number. So $\sum_{t\le T}g(at)-\int_0^Tg(au)du$ converges, and $\int_0^Tg(au)du=H(aT)/a$. With "
        r"$a=\bar\Lambda/\mathrm{Pdim}$, and $K\bar\Lambda/\mathrm{Pdim}$ for the oracle, that is the formula; the "
        "oracle's $1/K$ is from $1/a$. (5) Every other policy. In round $t$ the three terms of any policy inside the "
        "region lie in ranges that also contain those of constant admission, and whose widths are summable at fixed "
        r"$\rho$; so the difference of the two bounds is at most the sum of all widths, whatever $T$. For one policy "
        "at all $T$ it is the partial sum of an absolutely convergent series and has a limit; where the policy depends "
        "on $T$, as with $V=V(T)$, it is only bounded. $V$ enters nowhere. (6) Leading term. By l'Hôpital, the "
        r"expansion over $\sqrt{T\log T}$ tends to $20B\sqrt{\mathrm{Pdim}/\bar\Lambda}(1-1/\sqrt K)$, and the "
        r"expansion less this multiple of $\sqrt{T\log T}$, over $\sqrt{T/\log T}$, to half of that times the bracket "
        r"in the statement, which is positive for large $\bar\Lambda/\mathrm{Pdim}$ and negative for small.",
        checks={
            "$H$": (closed_form, expansion.antiderivative, expansion.expansion_slope),
            "first two terms": (expansion.first_terms, logarithms),
            "third term": expansion.third_term,
            "the oracle": expansion.oracle_third,
            "sum and integral": (expansion.falling, confirming(settling)),
            "every policy": partial(narrows, stated=False),
            "the leading term alone": (expansion.leading_order, second_order, confirming(leading_term_alone)),
        },
    )
]
