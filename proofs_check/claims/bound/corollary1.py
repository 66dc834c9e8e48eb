"""Corollary 1 as a whole (`eq:ck-bound`): the risk of constant admission is at most the specialised bound."""

from proofs_check.prelude import *

from proofs_check.groundwork.bound import counterexamples, population
from proofs_check.groundwork.bound.chaining import DEVIATION, HAUSSLER, proved_constant
from proofs_check.groundwork.bound.counterexamples import WELL, exceeding, trapped
from proofs_check.groundwork.bound.empty_bound import CONVEX, EMPTY, WHY
from proofs_check.groundwork.bound.many_rounds import SUMMED
from proofs_check.groundwork.bound.one_round import ANY_SPACE, MISMATCH, SETTING
from theory.bound import theorem1 as bound
from theory.bound.constant_admission import constant_bound_as_stated

CALM = replace(WELL, constants=replace(WELL.constants, sigma=Fraction(1, 10**6)))
SMOOTH = replace(SUMMED, L=2)
NEEDED = (*SETTING, "clients draw from one distribution and are weighted by $n_m/n$", MISMATCH)


def trapped_under_constant_admission(K: int) -> Evidence:
    """One loss, so that all samples are alike and no policy matters: the model stays where the excess is at least 1."""
    T, pace, c = 100, counterexamples.SIZE, CALM.constants
    return exceeding(
        lambda: ball(T),
        lambda: constant_bound_as_stated(K, pace, T, c, certified=True).total,
        {"K": K, "T": T, "Λ̄": pace, "start": Fraction(1, 8), "eta": c.eta, "sigma": c.sigma},
        CALM,
        f"the loss {CALM.name} on [0, 1], $E=1$, start in $[0,1/4]$: an excess of at least 1 in each of {T} rounds",
        **{"an excess of at least 1 in every round": trapped(c.eta)},
    )


def every_round(constants: Constants, T: int) -> Any:
    """The printed bound with D²/(2η) in every round."""
    once = constant_bound_as_stated(1, counterexamples.SIZE, T, constants, certified=True).total
    return once + (T - 1) * initial_term(constants.map(ball))


CLOSED = theorem("Reuse.mismatch_closed", "Reuse.effective_closed", domain="constant admission, every round")


@everywhere("$T=9$ rounds, rates 1 to 3", K=(1, 2, 4), pace=(1, 3), T=(9,))
def added_up(K: int, pace: int, T: int) -> Found:
    """The sum of theory against Theorem 1 along the rounds of the sample-level simulator."""
    with precise():
        seen = simulate([[pace]] * T, K)
        n, N, V, chi = (
            [ball(Fraction(getattr(r, name))) for r in seen] for name in ("n", "N", "uniformity", "mismatch")
        )
        slow = bound.theorem_1(n, N, V, chi, SMOOTH.map(ball)).total
        quick = constant_bound(K, pace, T, SMOOTH, certified=True).total
        close = quick.overlaps(slow) and slow.rad() < 1e-9
    return unless(close, **{"summed": quick.str(9), "by rounds": slow.str(9)})


CLAIMS = [
    Claim(
        id="eq:ck-bound",
        kind="corollary",
        title="Corollary 1 bounds the risk of constant admission",
        statement="Under Assumptions 1-4 the cumulative excess risk of constant admission with $K$-step retention is "
        r"at most the printed specialisation of Theorem 1, with $C_2$ in every round. As with the theorem, that "
        r"is true and empty on a convex $\Theta$, and can fail on another; what a reader "
        r"takes from it is eq:ck-bound/once.",
        formula=r"\mathcal E_T(\pi^{CK})\le\bar{\mathcal E}_T(\pi^{CK})",
        symbols={"π^CK": "constant admission with $K$-step retention"},
        domain=r"every $K$, $\bar\Lambda$, $T$, as far as the printed form is real",
        repair=r"As thm:regret-neff, with $n=\min(t,K)\bar\Lambda$ and the mended $\widetilde V$.",
        checks=(lambda: counterexamples.two_points(every_round),),  # all samples are alike: no policy matters
        hypotheses=(CONVEX,),
        checks_with_hypotheses=(EMPTY,),
        sketch=WHY,
        substance="eq:ck-bound/once",
        corrected=Correction(
            title=r"as Theorem 1 corrected, with $n=\min(t,K)\bar\Lambda$ and $\chi$",
            statement="Under the hypotheses of Theorem 1 as corrected, of which constant admission and $K$-step "
            "retention satisfy the one about policies, the bound holds with the true occupancy, uniformity and "
            r"mismatch $\chi$ of constant admission in every round, and $\eta E$ for $\eta$.",
            formula=said(
                r"\mathcal E_T(\pi^{CK})\le@initial+\sum_t\Bigl[D\sigma\sqrt{\chi(t)}+\ldots+@constant\Bigr]",
                initial=bound.initial_term(CONSTANTS.merged),
                constant=bound.per_round_constant(CONSTANTS),
            ),
            hypotheses=NEEDED,
            given=(HAUSSLER, DEVIATION),
            sketch="Theorem 1 corrected (thm:regret-neff) with what constant admission makes of $n$, $N$, "
            r"$N_{\mathrm{eff}}$ and $\chi$; its schedule is fixed in advance, so blind to values. Three things that "
            "the printed form has otherwise are decided on their own: eq:vck-exact, eq:ck-bound-detail/occupancy, "
            "eq:sigma-bar-Neff-app.",
            checks={
                "a round": (CLOSED, confirming(added_up)),
                r"$\chi$ and $N_{\mathrm{eff}}$": CLOSED,
                "the bound, from three statistical facts": theorem("Learning.theorem_1", domain=ANY_SPACE),
                "comparator unbiased": population.weights_add_up,
                "uniform deviation": (proved_constant, population.deviation_is_covered),
            },
        ),
    ),
    Claim(
        id="eq:ck-bound/once",
        kind="reading",
        title=r"Corollary 1 with $D^2/(2\eta)$ once, as in the proof",
        statement="Under Assumptions 1-4 the cumulative excess risk of constant admission with $K$-step retention is "
        r"at most the printed specialisation of Theorem 1, with the constants of the appendix and $D^2/(2\eta)$ paid "
        "once.",
        formula=r"\mathcal E_T(\pi^{CK})\le\bar{\mathcal E}_T(\pi^{CK})",
        symbols={"π^CK": "constant admission with $K$-step retention"},
        domain=r"every $K$, $\bar\Lambda$, $T$; where the printed radicand is negative, its root is taken as 0; what "
        "holds instead: eq:ck-bound",
        checks=(lambda: trapped_under_constant_admission(1), lambda: trapped_under_constant_admission(10)),
    ),
]
