r"""The surrogate penalty and the bound: its step size (`eq:penalty-dpp`), no uniformity (`eq:app-vtilde-gap-1`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.control.orders import ALL, t
from proofs_check.groundwork.regret.envelope import eventual_range

free = sp.Symbol("eta_p", positive=True)  # η̃
OMEGA1 = Given("lem:omega1-order", r"root and third term add up to $O(1)$, without $C_2$, at fixed $\rho$")
PER_ROUND = linear_term(1 / (K * rate), CONSTANTS) - linear_term(1 / (K * rate), replace(CONSTANTS, eta=free))


def _linear(own: Any) -> tuple[Any, Any]:
    """A round of the bound's linear term less the penalty's, from below and above: every policy inside the region."""
    low, high = eventual_range(K, t, rate, CONSTANTS, stated=True)
    least, most = eventual_range(K, t, rate, replace(CONSTANTS, eta=own), stated=True)
    return low.linear - most.linear, high.linear - least.linear


def with_own_step() -> Evidence:
    domain = rf"every $\tilde\eta$, every policy inside the region; {ALL}; $t\to\infty$"
    least, most = _linear(free)
    return limits(
        t,
        (least, PER_ROUND, "a round of the linear term, from below,"),
        (most, PER_ROUND, "a round of the linear term, from above,"),
        domain=domain,
    )


def same_step() -> Evidence:
    """η̃ = η: the upper end of the linear term's range is summable, and the lower one is its negative."""
    domain = rf"linear term, every policy inside the region; {ALL}; $T\to\infty$"
    return converges(_linear(CONSTANTS.eta)[1], t, power=2, domain=domain)


@drawn("any admissions, empty rounds and bursts included", (60, 400), K=retentions(6), path=admissions())
def counted(K: int, path: list[list[int]]) -> Found:
    """1 - Ṽ of every round against D1/(KN), from the samples' own counts."""
    for now in simulate(path, K):
        lacking = Fraction(sum(K - uses for uses in now.uses.values()), K * now.N)
        if not 1 - now.uniformity <= lacking:
            return unless(False, round=now.round, gap=1 - now.uniformity, bound=lacking)
    return None


CLAIMS = [
    Claim(
        id="eq:penalty-dpp",
        kind="definition",
        substance="corrected",
        title=r"the penalty's $\tilde\eta$ may be any step size",
        statement=r"The penalty has a step size $\tilde\eta$ of its own, defined nowhere, where the bound has $\eta$; "
        r"the cumulative penalty stands for the bound, $\Omega_1=O(1)$, whatever $\tilde\eta$ is. (Where the two are "
        r"compared, in $\bar p^{\mathrm{CK}}$ and in the proof that $\Omega_1=O(1)$, it is $\eta$: a slip.)",
        repair=r"Write $\eta$ for $\tilde\eta$.",
        formula=r"\Omega_1(T)=O(1)\quad\forall\tilde\eta>0",
        symbols={"η̃": "the penalty's step size"},
        domain=r"every policy inside the region, $\rho$ fixed, bounds without $C_2$, $T\to\infty$",
        hypotheses=(r"$\tilde\eta=\eta$",),
        checks=(
            lambda: converges(  # even the least that a round can differ by adds up without bound
                _linear(CONSTANTS.eta / 2)[0],
                t,
                power=2,
                domain=rf"$\tilde\eta=\eta/2$, linear term, every policy inside the region; {ALL}; $T\to\infty$",
            ),
        ),
        checks_with_hypotheses=(same_step,),
        given=(OMEGA1,),
        sketch=r"The other two terms of a round have no $\tilde\eta$ and differ by a summable amount "
        "(lem:omega1-order), so that the linear term decides.",
        corrected=Correction(
            title=r"$\tilde\eta=\eta$, else $\Omega_1/T\to(\eta-\tilde\eta)\sigma^2/(K\bar\Lambda)$",
            statement=r"With $\tilde\eta=\eta$ it holds; else $\Omega_1$ is linear in $T$. (Against the corrected "
            r"bound, in which a round is a step of size $\eta E$, it is $\tilde\eta=\eta E$.)",
            formula=r"\frac{\Omega_1(T)}T\to\frac{(\eta-\tilde\eta)\sigma^2}{K\bar\Lambda}",
            sketch=r"Inside the region $n$ tends to $K\bar\Lambda$ and $N$ to infinity, whatever the policy: the "
            r"linear terms of a round tend to $\eta\sigma^2/(K\bar\Lambda)$ and $\tilde\eta\sigma^2/(K\bar\Lambda)$.",
            given=(OMEGA1,),
            checks={r"every $\tilde\eta$": with_own_step, r"$\tilde\eta=\eta$": same_step},
        ),
    ),
    Claim(
        id="eq:app-vtilde-gap-1",
        kind="step",
        title=r"$1-\widetilde V=O(1/t)$",
        statement=r"Under $K$-step retention the uniformity of reuse is 1 up to $O(1/t)$.",
        formula=r"1-\widetilde V(t)=O(1/t)",
        domain=r"$K$-step retention, any policy inside the region, $\rho$ fixed, $t\to\infty$",
        checks={
            r"$1-\widetilde V\le D^{(1)}/(KN)$": (
                theorem("Control.uniformity_gap", domain="any $K$, any admissions"),
                confirming(counted),
            ),
            "$O(1/t)$": theorem("Control.uniformity_gap_in_the_region", domain="any policy in the region"),
        },
        symbols={"D^(1)": "how many uses the samples of the last $K-1$ rounds lack of $K$"},
        sketch=r"A sample used $a<K$ times lacks $K-a$ uses and $K^2-a^2\ge K(K-a)$ of the squares, so that "
        r"$\widetilde V\ge(KN-D^{(1)})^2/(N(K^2N-KD^{(1)}))=1-D^{(1)}/(KN)$, for any admissions. Inside the region a "
        r"round admits at most $\bar\Lambda/(1-\rho)$, so $D^{(1)}\le\tfrac12K(K-1)\bar\Lambda/(1-\rho)$, and "
        r"$N\ge\bar\Lambda(t-\rho/(1-\rho))$. The constant, $(K-1)/(2(1-\rho))$, grows as $\rho\to1$.",
    ),
]
