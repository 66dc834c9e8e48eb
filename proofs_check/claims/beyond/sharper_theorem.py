"""Sharper forms of Theorem 1: without smoothness and drift (`…/sharper`), without mismatch (`…/memory`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.bound import many_rounds, one_round, population
from proofs_check.groundwork.bound.chaining import HAUSSLER, proved_constant
from proofs_check.groundwork.bound.excess_risk import memory_powered, sharper_powered
from proofs_check.groundwork.bound.worst_round import worst_case_memory
from theory.bound.sharper import stale_weight_constant

_more = sp.Symbol("more", positive=True)  # k - 1, for looks
k, m, M = sp.symbols("k m M", integer=True, positive=True)
share, size, fresh = sp.symbols("alpha_m n_m lambda_m", positive=True)
STALE = sp.Sum(stale_weight([fresh], [size], [share]), (m, 1, M))
CONSTANT_STALE = stale_weight_constant(K, t, rate).subs(sp.Min(K, t), 1 + _more)
ROUND = sharper_round(chi, inverse_neff, CONSTANTS)
PAID = {"initial": initial_term(CONSTANTS.merged), "constant": T * step_constant(CONSTANTS)}
SHARPER = PAID | {"root": ROUND.root, "deviation": decimal(ROUND.generalisation)}
MEMORY = PAID | {
    "step": step_constant(CONSTANTS),
    "deviation": decimal(memory_round(_more, CONSTANTS).total).subs(_more, STALE),
    "alone": decimal(memory_round(CONSTANT_STALE, CONSTANTS).total).subs(_more, k - 1),
}
MISMATCH = r"\mathbb E\sup|\nabla\widehat F^{\mathrm{all}}-\nabla\widehat F^{\mathrm{mem}}|\le\sigma\sqrt\chi"
SHARPER_SKETCH = (
    r"Notation: $x=\theta-\theta^\star$ in round $t$, $F_m$ the mean loss over client $m$'s memory, $\widehat "
    r"F^{\mathrm{mem}}=\sum(n_m/n)F_m$, $\widehat F^{\mathrm{all}}$ the mean over all samples seen, weighted by use, "
    r"$F_P$ the population risk, $\theta^\star$ its minimiser in $\Theta$. 1. to 3. as under thm:regret-neff/memory, "
    r"with weights $n_m/n$: $\sum[\widehat F^{\mathrm{mem}}(\theta)-\widehat F^{\mathrm{mem}}(\theta^\star)]\le "
    r"D^2/(2\eta E)+T\eta EG^2/2$. 4. Let $H=\widehat F^{\mathrm{all}}-\widehat F^{\mathrm{mem}}$, and cut the way "
    r"from $\theta^\star$ to $\theta$ into $N$ pieces with ends $\theta_j=\theta^\star+jx/N$. By convexity $\widehat "
    r"F^{\mathrm{all}}$ rises on a piece by at most $a_{j+1}/N$, $a_j=\langle\nabla\widehat "
    r"F^{\mathrm{all}}(\theta_j),x\rangle$, and $\widehat F^{\mathrm{mem}}$ by at least $\langle\nabla\widehat "
    r"F^{\mathrm{mem}}(\theta_j),x\rangle/N$; so $H$ by at most $[\langle\nabla "
    r"H(\theta_j),x\rangle+a_{j+1}-a_j]/N$. The $a_j$ telescope and $|a_j|\le GD$, so $H(\theta)-H(\theta^\star)\le "
    r"D\sup|\nabla H|+2GD/N$ for every $N$, the supremum over $\Theta$, which is convex and so contains the way; "
    r"hence $H(\theta)-H(\theta^\star)\le D\sup|\nabla H|$. In the mean that is at most $D\sigma\sqrt\chi$, by "
    r"hypothesis: $\mathbb E[\widehat F^{\mathrm{all}}(\theta)-\widehat F^{\mathrm{all}}(\theta^\star)]\le\mathbb "
    r"E[\widehat F^{\mathrm{mem}}(\theta)-\widehat F^{\mathrm{mem}}(\theta^\star)]+D\sigma\sqrt\chi$. 5. $\mathbb "
    r"E[F_P(\theta)-F_P(\theta^\star)]=\mathbb E[F_P(\theta)-\widehat F^{\mathrm{all}}(\theta)]+\mathbb E[\widehat "
    r"F^{\mathrm{all}}(\theta)-\widehat F^{\mathrm{all}}(\theta^\star)]+\mathbb E[\widehat "
    r"F^{\mathrm{all}}(\theta^\star)-F_P(\theta^\star)]$. The last is 0: the schedule does not look at values, so "
    r"given the schedule the weights are constants that add up to 1. The first is at most $\mathbb "
    r"E\sup|F_P-\widehat F^{\mathrm{all}}|\le5.2B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}$ (lem:gen-Neff-app "
    r"corrected). Add over the rounds. The hypothesis is about a first moment, so it follows from $\mathbb "
    r"E\sup|\nabla H|^2\le\sigma^2\chi$; for losses that are linear in $\theta$, or quadratic with one curvature, "
    r"$\nabla H$ does not depend on $\theta$ and Assumption 4 gives it; in general $\mathbb E\sup|\nabla H|\le "
    r"G\sum|\omega_i-\mathbf 1\{i\in\text{memory}\}/n|$. Attained: loss $G\theta$ on $[0,D]$, start at $D=M\eta EG$, "
    "$M$ rounds, samples without spread."
)

MEMORY_SKETCH = (
    r"Notation: client $m$ has the share $\alpha_m$ of the population, $\sum\alpha_m=1$, draws from $P_m$ with risk "
    r"$F_{P,m}$, and holds $n_m\ge1$ samples in round $t$, $\lambda_m$ of them admitted in this round; $F_m$ is "
    r"their mean loss, $\widehat F^{\mathrm{mem}}=\sum\alpha_mF_m$, $F_P=\sum\alpha_mF_{P,m}$, $\theta^\star$ a "
    r"minimiser of $F_P$ in $\Theta$, $x=\theta-\theta^\star$. With one common distribution any weights that add up "
    r"to 1 and do not look at the samples may stand for $\alpha_m$, $n_m/n$ for instance, and they may change from "
    r"round to round. 1. A client starts at $\theta_0=\theta$ and takes $\theta_{e+1}=\theta_e-\eta\nabla "
    r"F_m(\theta_e)$, $e=0,\ldots,E-1$; with $x_e=\theta_e-\theta^\star$, $|x_{e+1}|^2=|x_e|^2-2\eta\langle\nabla "
    r"F_m(\theta_e),x_e\rangle+\eta^2|\nabla F_m(\theta_e)|^2$. By convexity the product is at least "
    r"$F_m(\theta_e)-F_m(\theta^\star)$, and $F_m(\theta_e)\ge F_m(\theta)+\langle\nabla "
    r"F_m(\theta),\theta_e-\theta\rangle\ge F_m(\theta)-G\,\eta eG$, since $e$ steps of at most $\eta G$ lead to a "
    r"distance of at most $\eta eG$. With $\sum_{e<E}(1+2e)=E^2$: $|x_E|^2\le|x|^2-2\eta "
    r"E[F_m(\theta)-F_m(\theta^\star)]+(\eta EG)^2$. 2. The server averages: "
    r"$|\sum\alpha_mx_E|^2\le\sum\alpha_m|x_E|^2$. It projects onto $\Theta$, which contains $\theta^\star$: no "
    r"distance to $\theta^\star$ grows. Hence $|\theta^+-\theta^\star|^2\le|\theta-\theta^\star|^2-2\eta E[\widehat "
    r"F^{\mathrm{mem}}(\theta)-\widehat F^{\mathrm{mem}}(\theta^\star)]+(\eta EG)^2$, in every run. 3. Divide by "
    r"$2\eta E$ and add over the rounds: the distances telescope, the first is at most $D^2$, the last at least 0. "
    r"So $\sum[\widehat F^{\mathrm{mem}}(\theta)-\widehat F^{\mathrm{mem}}(\theta^\star)]\le D^2/(2\eta E)+T\eta "
    r"EG^2/2$. 4. $\mathbb E[F_P(\theta)-F_P(\theta^\star)]=\mathbb E[F_P(\theta)-\widehat "
    r"F^{\mathrm{mem}}(\theta)]+\mathbb E[\widehat F^{\mathrm{mem}}(\theta)-\widehat "
    r"F^{\mathrm{mem}}(\theta^\star)]+\mathbb E[\widehat F^{\mathrm{mem}}(\theta^\star)-F_P(\theta^\star)]$. The "
    r"last is 0: the schedule does not look at values, so each $F_m(\theta^\star)$ is unbiased for "
    r"$F_{P,m}(\theta^\star)$. 5. $F_P(\theta)-\widehat "
    r"F^{\mathrm{mem}}(\theta)=\sum_iw_i[F_{P,m(i)}(\theta)-\ell(\theta;z_i)]$ over the samples in memory, "
    r"$w_i=\alpha_m/n_m$ for one of client $m$. The $\theta$ with which round $t$ starts was made in earlier rounds; "
    r"given these, a fresh $z_i$ is a draw of $P_m$ that $\theta$ does not depend on, and its summand has mean 0. "
    r"What is left are the older samples, at most $\mathbb "
    r"E\sup|\sum_{i\,\text{old}}w_i[F_{P,m(i)}(\theta')-\ell(\theta';z_i)]|$ over $\theta'$. 6. That supremum has "
    r"mean at most $5.2B\sqrt{\mathrm{Pdim}\sum_{i\,\text{old}}w_i^2}$. The proof of lem:gen-Neff-app (five steps, "
    "in groundwork/learning/chaining) goes through: a constant taken from every loss changes no "
    r"$F_{P,m}(\theta')-\ell(\theta';z)$, whatever the weights add up to; symmetrisation needs independent samples "
    r"and not one distribution; the process is sub-Gaussian for $\sqrt{\sum w_i^2}\,|f-g|$ in $L_2(Q)$ with "
    r"$Q\propto w^2$; and Haussler's packing numbers hold for every $Q$. 7. "
    r"$\sum_{i\,\text{old}}w_i^2=\sum_m\alpha_m^2(n_m-\lambda_m)/n_m^2$. Add over the rounds. For weights $n_m/n$ it "
    r"is $(n-\Lambda)/n^2$, which under constant admission is $(k-1)/(k^2\bar\Lambda)$, $k=\min(K,t)$; that holds "
    r"for $\alpha_m$ too if client $m$ admits $\alpha_m\bar\Lambda$. Attained: loss $G\theta$ on $[0,D]$, start at "
    r"$D=M\eta EG$, $M$ rounds, samples without spread, $K=1$."
)

CLAIMS = [
    Claim(
        id="thm:regret-neff/sharper",
        title="Theorem 1 without $L$, drift and linear term (ours)",
        statement=said(
            r"If the mismatch's supremum over $\Theta$ has mean at most $\sigma\sqrt\chi$, a first moment, the "
            "cumulative excess risk is at most $@initial+@constant$ and in each round $@root+@deviation$. At the "
            r"same $\sigma$, which here must hold for the supremum and in Theorem 1 corrected for the iterates, that "
            "is below the latter term by term; the first two terms are attained, and no term can be left out. Under "
            "constant admission it is summed to any $T$.",
            **SHARPER,
        ),
        formula=said(r"\mathcal E_T\le@initial+@constant+\sum_t\Bigl[@root+@deviation\Bigr]", **SHARPER),
        domain=r"convex differentiable losses, $|\nabla\ell|\le G$ wherever local steps lead, projection onto the "
        r"convex $\Theta$, one distribution, weights $n_m/n$, schedule blind to values, "
        rf"${MISMATCH}$; any $E$, any retention",
        sketch=SHARPER_SKETCH,
        symbols={"σ": rf"of the mismatch: ${MISMATCH}$, the supremum over $\Theta$"},
        checks={
            **many_rounds.LOCAL,
            "mismatch on a segment": one_round.on_a_segment,
            "decomposition of the excess risk": population.decomposition,
            "comparator unbiased": (population.weights_add_up, confirming(population.mean_at_comparator)),
            "uniform deviation": proved_constant,
            "sum of the links": (many_rounds.SHARPER.is_its_links, confirming(many_rounds.SHARPER.assembled)),
            "below Theorem 1": many_rounds.below_theorem_1,
            "constant admission": many_rounds.constant_sharper,
            "attained": many_rounds.attained,
            "whole, needing each term": sharper_powered,
        },
        given=(HAUSSLER, WRITTEN),
    ),
    Claim(
        id="thm:regret-neff/memory",
        title=r"a bound without mismatch and $N_{\mathrm{eff}}$ (ours)",
        statement=said(
            "Measured through the memory's own objective, the excess risk needs neither the mismatch nor "
            r"$N_{\mathrm{eff}}$ nor smoothness: $@initial$ once, $@step$ a round, and $@deviation$ for the samples "
            "that are not fresh, also where clients have distributions of their own and are weighted by their "
            r"shares $\alpha_m$. Under constant admission the last is $@alone$, $k=\min(K,t)$. For $K=1$ no "
            "statistical term is left: it is one pass of SGD, and attained. No term can be left out.",
            **MEMORY,
        ),
        formula=said(r"\mathcal E_T\le@initial+@constant+\sum_t@deviation", **MEMORY),
        domain=r"convex losses, $|\nabla\ell|\le G$ wherever local steps lead, projection, $w_m=\alpha_m$ "
        "(or one distribution and any weights, such as $n_m/n$), every client holds a sample, schedule "
        "blind to values; any $E$, any retention",
        sketch=MEMORY_SKETCH,
        symbols={"n_m": "samples in the memory of client $m$", "λ_m": "of these, admitted in this round"},
        checks={
            **many_rounds.LOCAL,
            "local steps": (one_round.memory_recursion, confirming(worst_case_memory)),
            "decomposition of the excess risk": population.decomposition,
            "comparator unbiased": (population.shares_add_up, population.weights_add_up),
            "fresh samples do not deviate": (
                population.fresh_mean,
                confirming(population.fresh_do_not_deviate),
            ),
            "weight of the older samples": (
                population.stale_weights_of_a_client,
                *map(confirming, (population.stale_weights_of_clients, population.stale_weights)),
            ),
            "uniform deviation": proved_constant,
            "sum of the links": (many_rounds.MEMORY.is_its_links, confirming(many_rounds.MEMORY.assembled)),
            "constant admission": (
                population.stale_weights_merged,
                population.stale_weights_constant,
                confirming(many_rounds.constant_memory),
            ),
            "attained": (population.only_fresh, many_rounds.attained),
            "whole, needing each term": memory_powered,
        },
        given=(HAUSSLER, WRITTEN),
    ),
]
