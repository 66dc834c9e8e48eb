"""A bound without Pdim, B and σ (`thm:regret-neff/stability`): how far one sample can move the model."""

from proofs_check.prelude import *

from proofs_check.groundwork.bound import few_samples, many_rounds, population, stable
from proofs_check.groundwork.bound.excess_risk import stability_powered
from theory.bound.stability import overlap_by_uses, overlap_constant

_overlap, _uses = sp.Symbol("overlap", positive=True), sp.Symbol("Ā", positive=True)
STEADY = overlap_constant(K, t, rate).subs(sp.Min(K, t), K).subs(sp.Min(K - 1, t - K), K - 1)
PAID = {
    "initial": initial_term(CONSTANTS.merged),
    "constant": T * step_constant(CONSTANTS),
    "step": step_constant(CONSTANTS),
    "moved": stability_round(_overlap, CONSTANTS).total / _overlap,
    "uses": stability_round(overlap_by_uses(_uses, n), CONSTANTS).total,
    "steady": sp.factor(stability_round(STEADY, CONSTANTS).total),
}
SETTING = (
    r"convex, $L$-smooth losses, $|\nabla\ell|\le G$ wherever local steps lead, $\eta\le2/L$, projection, one "
    r"distribution and weights $n_m/n$ (or any others that do not look at values), or $w_m=\alpha_m$ and "
    "clients with distributions of their own; schedule blind to values, every client of positive weight holds "
    "a sample; any $E$, any retention, any $n(t)$"
)
SKETCH = (
    "Notation as under thm:regret-neff/memory; sample $i$ of client $m$ has the weight $w_i(s)=w_m(s)/n_m(s)$ in a "
    "round $s$ in which it is in memory, else 0: $1/n(s)$ with weights $n_m/n$. 1. to 4. as there: in every run the "
    r"gaps of $\widehat F^{\mathrm{mem}}$ add up to at most $D^2/(2\eta E)+T\eta EG^2/2$, and what is left to bound "
    r"is $\mathbb E[F_P(\theta)-\widehat F^{\mathrm{mem}}(\theta)]=\sum_iw_i(t)\,\mathbb "
    r"E[F_{P,m(i)}(\theta)-\ell(\theta;z_i)]$, given the schedule. 5. Let $z'$ be another draw of the distribution "
    r"of $z_i$, and $\theta'$ the model of the run in which $z'$ stands for $z_i$; the schedule is the same, for it "
    r"does not look at values. $\theta$ does not depend on $z'$: $\mathbb EF_{P,m(i)}(\theta)=\mathbb "
    r"E\,\ell(\theta;z')$. Exchanging $z_i$ and $z'$ changes no mean: $\mathbb E\,\ell(\theta;z_i)=\mathbb "
    r"E\,\ell(\theta';z')$. So the summand is $\mathbb E[\ell(\theta;z')-\ell(\theta';z')]\le G\,\mathbb "
    r"E|\theta-\theta'|$, both in $\Theta$, which is convex. 6. How far apart are they? A local step on one and the "
    r"same convex $L$-smooth $F_m$ carries no two points further apart if $\eta\le2/L$ (cocoercive gradients; where "
    r"the losses are smooth on a convex set alone, $\nabla F_m(x)-\nabla F_m(y)=H(x-y)$ with $0\preceq H\preceq L$, "
    r"the mean Hessian between them, and $|I-\eta H|\le1$). In a round $s$ with sample $i$ in memory client $m$ has "
    "two objectives that differ in one of $n_m$ losses, so by a gradient of at most $2G/n_m$: $E$ steps add at most "
    r"$2\eta EG/n_m$, the other clients nothing, the average with weights $w_m$ adds $2\eta EG\,w_i(s)$, and a "
    r"projection onto a convex set adds nothing. By induction $|\theta-\theta'|\le2\eta EG\sum_{s<t}w_i(s)$ at the "
    r"start of round $t$, in every run. 7. With the weights of round $t$: $2\eta EG^2\,O(t)$, "
    r"$O(t)=\sum_iw_i(t)\sum_{s<t}w_i(s)$. A fresh sample has no earlier rounds and adds nothing. If $n$ has been "
    r"constant, $\sum_{s<t}w_i(s)=(A_i-1)/n$, and $O=(\bar A-1)/n$. 8. Constant admission: rounds $s$ and $t$ have "
    r"$(s-h)\bar\Lambda$ samples in common, $h=\max(t-K,0)$, and $n(s)=\min(s,K)\bar\Lambda$. Half of it is needed: "
    r"slopes $Gz\theta$, $z=\pm1$ with equal chances, give the half of $2\eta EG^2\,O(t)$ exactly."
)
STRONG_SKETCH = (
    r"As under thm:regret-neff/stability, except step 6. $f-\mu|\cdot|^2/2$ is convex and $(L-\mu)$-smooth, so "
    r"cocoercive; written out, a local step with $\eta\le2/(L+\mu)$ brings two points nearer, by $q=1-\eta\mu$ "
    r"(at $\mu=L$ all gradients are $\mu$ times a distance, and it is plain). With one loss of client $m$ "
    r"replaced, the distance obeys $d\mapsto qd+2\eta G/n_m$, after $E$ steps $q^Ed+(1-q^E)\,2G/(n_m\mu)$; the "
    r"other clients have $q^Ed$. The average is $q^Ed+(1-q^E)\,2Gw_i(s)/\mu$, a mean of $d$ and "
    r"$2Gw_i(s)/\mu$. So the distance never exceeds $2G\bar w/\mu$, $\bar w$ the largest weight that the "
    r"sample has had; nor $2\eta EG\sum w_i(s)$, as before. With the weights of round $t$, which add up to 1 "
    "at most, the mean of the smaller one is at most the smaller of the two means."
)
LINKS: dict[str, Check | tuple[Check, ...]] = {
    **many_rounds.LOCAL,
    "decomposition of the excess risk": population.decomposition,
    "comparator unbiased": (population.shares_add_up, population.weights_add_up),
    "exchange of a sample": stable.exchanged,
}

CLAIMS = [
    Claim(
        id="thm:regret-neff/stability",
        title=r"a bound without $\mathrm{Pdim}$, $B$ and $\sigma$ (ours)",
        statement=said(
            r"If the losses are smooth and $\eta\le2/L$, old samples cost at most $@moved$ times $O(t)$ in "
            r"round $t$, $O(t)=\sum_iw_i(t)\sum_{s<t}w_i(s)$ the overlap of this round's weights with all "
            "earlier ones, beside $@initial$ once and $@step$ a round. With a constant $n$ that is $@uses$, "
            r"where $\bar A$ is the mean number of uses of the samples in memory; under constant admission it "
            r"is $@steady$ from $t=2K-1$ on, so that with $\eta=a/\sqrt T$ the cumulative excess risk is "
            r"$O(\sqrt T)$, uniformly in $K$ and the dimension. No term can be left out, and as a "
            "bound on the memory's optimism the last one needs its half at least.",
            **PAID,
        ),
        formula=said(r"\mathcal E_T\le@initial+@constant+@moved\sum_t\sum_iw_i(t)\sum_{s<t}w_i(s)", **PAID),
        domain=SETTING,
        sketch=SKETCH,
        symbols={
            "s": "an earlier round",
            "w_i": r"weight of a sample in a round, $1/n$ in memory and else 0",
            "O": "overlap of a round's weights with all earlier ones",
            "Ā": "mean number of uses of the samples in memory, this round's included",
        },
        checks={
            **LINKS,
            "steps do not expand": (stable.steps_do_not_expand, stable.projections_do_not_expand),
            "a replaced sample": stable.replaced_sample,
            "mean of what is remembered": (
                stable.STABLE.is_its_links,
                confirming(few_samples.gap_is_bounded),
            ),
            "sum of the links": (stable.STABLE.is_its_links, confirming(stable.STABLE.assembled)),
            "constant $n$": (stable.by_uses, confirming(stable.overlaps_counted)),
            "constant admission": (
                stable.constant_overlap,
                *map(confirming, (stable.constant_counted, stable.constant_summed)),
            ),
            "every dimension, every $K$": stable.root_rate,
            "half is needed": (stable.half_in_general, confirming(few_samples.half_is_attained)),
            "whole, needing each term": stability_powered,
        },
        given=(WRITTEN,),
    ),
    Claim(
        id="thm:regret-neff/stability-strong",
        title="strongly convex losses: no growth with reuse (ours)",
        statement=said(
            r"If all losses are $\mu$-strongly convex too and $\eta\le2/(L+\mu)$, the overlap $O(t)$ may be "
            r"replaced by $\min(O(t),\bar w/(\eta E\mu))$, $\bar w$ the largest weight that a sample of this "
            r"memory had in an earlier round; with a constant $n$, $\bar A-1$ by $\min(\bar A-1,1/(\eta "
            r"E\mu))$. Samples that are kept for ever then cost at most $2G^2/(n\mu)$ a round."
        ),
        formula=said(
            r"\mathcal E_T\le@initial+@constant+@moved\sum_t\min\Bigl(O(t),\frac{\bar w(t)}{\eta E\mu}\Bigr)",
            **PAID,
        ),
        domain=rf"{SETTING}; $\mu$-strongly convex losses, $\eta\le2/(L+\mu)$",
        sketch=STRONG_SKETCH,
        symbols={
            "O": r"overlap, $\sum_iw_i(t)\sum_{s<t}w_i(s)$",
            "w̄": "the largest weight that a sample of this memory had in an earlier round",
            "μ": "strong convexity of the losses",
        },
        checks={
            **LINKS,
            "steps contract": (stable.steps_contract, stable.projections_do_not_expand),
            "a replaced sample": stable.forgotten_sample,
            "the smaller of two distances": (stable.curbed, confirming(few_samples.curbed_gap_is_bounded)),
            "sum of the links": stable.STABLE.is_its_links,
            "kept for ever": stable.kept_for_ever,
        },
        given=(WRITTEN,),
    ),
]
