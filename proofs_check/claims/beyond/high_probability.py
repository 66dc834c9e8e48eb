r"""The stability bound in high probability (`thm:regret-neff/high-probability`): one run, not the mean of many."""

from proofs_check.prelude import *

from proofs_check.groundwork.bound import few_samples, likely, many_rounds, one_round, population, stable
from proofs_check.groundwork.bound.one_round import PROJECTION
from theory.bound.confidence import deviation_constant, sample_range
from theory.bound.sharper import step_constant
from theory.bound.stability import stability_round

_overlap, _weight, _trace = (sp.Symbol(name, positive=True) for name in ("overlap", "W_j", "R_j"))
PAID = {
    "initial": initial_term(CONSTANTS.merged),
    "constant": T * step_constant(CONSTANTS),
    "moved": stability_round(_overlap, CONSTANTS).total / _overlap,
    "range": sample_range(_weight, _trace, CONSTANTS),
    "steady": deviation_constant(K, T, rate, CONSTANTS, likely.delta),
}
SKETCH = (
    "Notation as under thm:regret-neff/stability, $\\tau_i$ the round that admits sample $i$. Fix the schedule, "
    "which does not look at values, and number the samples in the order of admission: $z_1,z_2,\\ldots$ are "
    r"independent. 1. In every run the memory's gaps add up to at most $D^2/(2\eta E)+T\eta EG^2/2$ (steps 1 to 3 "
    r"of thm:regret-neff/memory; nothing in them is a mean). What is left is $X=\sum_t\sum_iw_i(t)h_i(\theta)$, "
    r"$h_i(\theta)=F_{P,m(i)}(\theta)-F_{P,m(i)}(\theta^\star)-[\ell(\theta;z_i)-\ell(\theta^\star;z_i)]$. 2. Centre "
    r"each $h_i(\theta)$ in round $t$ by its mean given the samples of the rounds before $\tau_i$. Given these, "
    r"$z_i$ and all that comes later are independent of the past, so a copy of $z_i$ may be exchanged with it as "
    r"before: the mean is at most $2\eta EG^2\sum_{s<t}w_i(s)$, and with the weights that adds up to $2\eta "
    r"EG^2\sum_tO(t)$, in every run. 3. What remains is a sum over $j$ of martingale differences: $\Delta_j$ is what "
    r"knowing $z_j$ changes in the mean of $X_j=\sum_t\sum_{i:\tau_i\le\tau_j}w_i(t)h_i(\theta)$. Samples $i$ that "
    r"were admitted later are not in it, for their centre knows $z_j$ already. That is the point: a sample's trace "
    r"in $\theta$ need never fade, and bounded differences of the whole sum would be of order $T$; here a trace "
    r"counts only while samples no younger than $j$ are in memory, $K-1$ rounds. 4. With $z'$ in place of $z_j$ the "
    r"models are the same up to round $\tau_j$ and then at most $2\eta EG\sum_{s<t}w_j(s)$ apart. The sample's own "
    r"$h$ changes by at most $2GD+G|\theta-\theta'|$, for $\theta$, $\theta'$ and $\theta^\star$ lie in $\Theta$, the "
    r"others' by at most $2G|\theta-\theta'|$. Added up: $\Delta_j$ lies in an interval of length "
    r"$c_j=2GDW_j+4\eta EG^2R_j$ that $z_1,\ldots,z_{j-1}$ fix. 5. Hoeffding's lemma: $\mathbb "
    r"E[e^{s\Delta_j}|z_1,\ldots,z_{j-1}]\le e^{s^2c_j^2/8}$, since $\psi''$ is the variance under tilted chances "
    r"and that of a variable in an interval is at most a quarter of its squared length. Multiply over $j$, and choose "
    r"$s$ by Markov's inequality: $P(\sum\Delta_j\ge\varepsilon)\le e^{-2\varepsilon^2/\sum c_j^2}$, which is $\delta$ "
    r"at the stated $\varepsilon$. 6. Constant admission. A sample of a full memory has $W=1/\bar\Lambda$ and "
    r"$R=(K^2-1)/(6K\bar\Lambda)$, less if the horizon ends before it leaves. One of round $\tau<K$ has "
    r"$W\bar\Lambda=b_\tau+(\tau-1)/K$, $b_\tau=\frac1\tau+\ldots+\frac1K$, and $\sum_\tau b_\tau^2=2K-H_K$ by "
    r"induction; its $R\bar\Lambda$ has $K-1$ summands of at most 1. So $\bar\Lambda\sum W^2\le T+2(K-1)$, "
    r"$\bar\Lambda\sum R^2\le T(\frac{K^2-1}{6K})^2+(K-1)^3$, and the triangle inequality gives two roots."
)

CLAIMS = [
    Claim(
        id="thm:regret-neff/high-probability",
        title="the stability bound for a single run (ours)",
        statement=said(
            r"With probability $1-\delta$ at least, one run exceeds the stability bound by at most "
            r"$\sqrt{\frac12\log(1/\delta)\sum_jc_j^2}$, $c_j=@range$, a sum over all samples seen: $W_j$ is a "
            r"sample's total weight and $R_j$ its trace. Under constant admission that is at most $@steady$. With "
            r"$\eta$ of order $1/\sqrt T$ it is $O(\sqrt T)$ as long as $K$ is $O(\sqrt T)$, in every dimension; with "
            r"$K$ of order $T$ it is of order $T$ and of no use.",
            **PAID,
        ),
        formula=said(
            r"P\Bigl(\sum_t[F_P(\theta)-F_P(\theta^\star)]\le@initial+@constant+@moved\sum_tO(t)+"
            r"\sqrt{\tfrac12\log\tfrac1\delta\sum_jc_j^2}\Bigr)\ge1-\delta",
            **PAID,
        ),
        domain="the setting of thm:regret-neff/stability (convex, $L$-smooth losses, "
        r"$|\nabla\ell|\le G$ wherever local steps lead, $\eta\le2/L$, projection; one distribution and weights blind "
        r"to values, or $w_m=\alpha_m$; schedule blind to values, every client of positive weight holds a sample), "
        r"independent samples, given the schedule; $0<\delta<1$; any $E$, any retention, any $n(t)$",
        sketch=SKETCH,
        symbols={
            "P": "probability",
            "δ": "probability of failing",
            "j": "a sample",
            "O": r"overlap, $\sum_iw_i(t)\sum_{s<t}w_i(s)$",
            "W_j": r"total weight of sample $j$, $\sum_tw_j(t)$",
            "R_j": r"its trace, $\sum_{t>\tau_j}(\sum_{s<t}w_j(s))(\sum_{i:\tau_i\le\tau_j}w_i(t))$",
            "c_j": "by how much sample $j$ changes what is left after centring",
        },
        checks={
            "local steps": one_round.memory_recursion,
            "average over clients": one_round.average_over_clients,
            "projection": PROJECTION,
            "telescoping sum": many_rounds.memory_telescopes,
            "weights of the population": (population.shares_add_up, population.weights_add_up),
            "steps do not expand": (stable.steps_do_not_expand, stable.projections_do_not_expand),
            "a replaced sample": stable.replaced_sample,
            "mean given the past": (stable.exchanged, likely.centred),
            "what a sample changes": likely.changed,
            "probability of the rest": (
                likely.bounded_steps,
                *map(confirming, (few_samples.large_is_unlikely, few_samples.steep_is_unlikely)),
            ),
            "constant admission": (
                *(likely.weights_squared, likely.traces_squared, likely.two_roots),
                *map(confirming, (likely.constant_likely, likely.influences_counted)),
            ),
            "order": likely.of_order_root,
        },
        given=(WRITTEN,),
    )
]
