"""Assumptions of the definitions: samples in every memory, a minimiser in Θ, and smooth losses."""

from proofs_check.prelude import *

from proofs_check.groundwork.bound import one_round
from proofs_check.groundwork.bound.training import Loss, Problem, theta

# --- an empty memory ---------------------------------------------------------------------------------------

EMPTY = {"path": (((6, 0), (5, 0)),), "K": (2,)}


@everywhere(r"two clients, $K=2$, $\bar\Lambda=5$, $\rho=1/2$; the region bounds the sum alone", **EMPTY)
def nobody_is_empty(path: tuple[tuple[int, int], ...], K: int) -> Found:
    region = Region(rate=5, rho=Fraction(1, 2))
    inside = all(
        region_minimum(region, t) <= sum(row) <= region_maximum(region, t) for t, row in enumerate(path, 1)
    )
    sizes = [[now.n_of(m) for m in range(2)] for now in simulate(path, K)]
    return unless(not inside or all(min(row) for row in sizes), **{"n_m, round by round": sizes})


def weight_vanishes() -> Evidence:
    """A client without samples has weight 0, in either weighting: any update of its own may stand for 0/0."""
    share, size, rest, update = sp.symbols("share size rest update", nonnegative=True)
    total = sp.Symbol("total", positive=True)
    return argument(
        ((share * size / total * update).subs(size, 0), 0, r"its part, $w_m=\alpha_mn_m/\sum$, and 0"),
        ((size / total * update).subs(size, 0), 0, "its part with $w_m=n_m/n$ and 0"),
        (size + rest > 0, [rest > 0], "the sum of all is positive if one other client holds a sample"),
        domain="any update",
    )


@drawn("two clients, any admissions", (60, 400), K=retentions(4), path=admissions(2))
def of_the_memory(K: int, path: list[list[int]]) -> Found:
    """The clients' means, weighted by n_m/n and the empty left out, against the mean of the whole memory."""
    for now in simulate(path, K):
        if not now.n:
            continue
        values = {sample: Fraction(sample[1] ** 2) for sample in now.memory}
        parts = [[v for (owner, _), v in values.items() if owner == m] for m in range(2)]
        merged = sum(Fraction(len(part), now.n) * sum(part) / len(part) for part in parts if part)
        if found := differing(merged=merged, memory=sum(values.values()) / now.n):
            return found
    return None


# --- a minimiser -------------------------------------------------------------------------------------------

WEIERSTRASS = Given("Weierstrass", "a continuous function has a minimum on a closed and bounded set")
OPEN = Constants(D=1, sigma=1, eta=1, B=1, Pdim=1, L=1, G=1)


def no_minimiser() -> Evidence:
    """The loss θ on the open interval (0, 1): half of any θ is better."""
    better = always(
        [theta / 2 < theta, theta / 2 > 0, theta / 2 < 1],
        given=[theta > 0, theta < 1],
        domain=r"loss $\theta$ on $\Theta=(0,1)$, every $\theta$ in $\Theta$",
    )
    why = r"of every $\theta$ in $\Theta=(0,1)$ the half is in $\Theta$ too and has the smaller loss $\theta$"
    return obeying(refutes(better, why), Problem(r"$\theta$", 0, 1, (Loss((theta,)),), (1,), OPEN).facts)


def continuous() -> Evidence:
    """Losses with gradients of at most G change by GD at most over a distance D, and so does their mean."""
    return one_round.slope_along(CONSTANTS.G, r"$g=\nabla\ell$ between two points of $\Theta$, $D$ apart")


# --- smooth losses -----------------------------------------------------------------------------------------

RARE = Problem(
    r"$\theta^2/2$ with chance $1/100$, else 0",
    0,
    1,
    (Loss((theta**2 / 2,)), Loss((0 * theta,))),
    (Fraction(1, 100), Fraction(99, 100)),
    Constants(D=1, sigma=1, eta=Fraction(1, 2), B=Fraction(1, 2), Pdim=1, G=1, L=1),
)


def rough_memory() -> Evidence:
    """A memory that holds the rare sample alone: a local step from 1 moves its gradient by 1/2, not 1/200."""
    start, eta, L = Fraction(1), RARE.constants.eta, Fraction(1, 100)
    loss = RARE.losses[0]

    def find(start: Any, L: Any) -> Found:
        after = start - eta * loss.slope_at(start)
        moved, most = abs(loss.slope_at(after) - loss.slope_at(start)), L * abs(after - start)
        return unless(moved <= most, **{"after a step": after, "gradient moved": moved, "L·way": most})

    found = exhaust([{"start": start, "L": L}], find, domain=rf"losses {RARE.name}, $\eta=1/2$, $n_m=1$")
    x, y = sp.symbols("x y", real=True)
    risk = sum(
        sp.Rational(str(p)) * loss.pieces[0] for p, loss in zip(RARE.chances, RARE.losses, strict=True)
    )
    slopes = [sp.diff(risk, theta).subs(theta, z) for z in (x, y)]
    smooth = always((slopes[0] - slopes[1]) ** 2 <= (x - y) ** 2 / 100**2, domain="the risk")
    return obeying(found, {**RARE.facts, r"Assumption 2: $F_P$ is $1/100$-smooth": smooth})


def mean_of_smooth() -> Evidence:
    """A mean of L-Lipschitz gradients: one sample more, with weight w."""
    w, before, new, way = sp.symbols("w before new way", nonnegative=True)
    return always(
        (1 - w) * before + w * new <= CONSTANTS.L * way,
        given=[w <= 1, before <= CONSTANTS.L * way, new <= CONSTANTS.L * way],
        domain="one sample more in the memory: before and new are what the gradients move by, way the distance",
    )


CLAIMS = [
    Claim(
        id="eq:local-empirical-risk",
        kind="definition",
        substance="corrected",
        title="every client has an empirical risk in every round",
        statement="The mean loss over a client's memory, and its gradient, are defined for every client in every "
        "round.",
        formula=r"\widehat F_{m,t}(\theta)=\frac1{n_m(t)}\sum_{z\in Q_m(t)}\ell(\theta;z)",
        symbols={"z": "a sample", "n_m": "samples in client m's memory", "Q_m": "client m's memory"},
        domain="every policy inside the region, every client",
        repair="Give a client without samples the weight 0.",
        hypotheses=(r"every client holds a sample: $n_m(t)\ge1$",),
        checks=(nobody_is_empty,),
        checks_with_hypotheses=(
            lambda: always(theta > 0, given=[theta >= 1], domain=r"the divisor, $n_m\ge1$"),
        ),
        corrected=Correction(
            title=r"leave clients with $n_m=0$ out: their weight is 0",
            statement="Nothing keeps a client from holding no sample ($0/0$): the region bounds the sum over "
            "clients alone. With weights in proportion to $n_m$ such a client counts for nothing, and the update is "
            "that of the whole memory; it is defined as long as one client holds a sample.",
            formula=r"w_m(t)=0\ \text{where}\ n_m(t)=0",
            symbols={"w_m": "weight of client m's update"},
            sketch=r"$w_m=\alpha_mn_m/\sum_j\alpha_jn_j$, or $n_m/n$, is 0 at $n_m=0$, whatever update stands for "
            r"$0/0$. Fixed weights, such as $w_m=\alpha_m$, need a rule of their own for empty clients.",
            checks=(weight_vanishes, confirming(of_the_memory)),
        ),
    ),
    Claim(
        id="eq:population-risk/minimiser",
        kind="definition",
        substance="corrected",
        title=r"there is a minimiser $\theta^\star$ in $\Theta$",
        statement=r"The population risk has a minimiser in $\Theta$ under Assumptions 1 to 4.",
        formula=r"\theta^\star\in\operatorname{arg}\min_{\theta\in\Theta}F_P(\theta)",
        symbols={"argmin": "where it is least", "θ*": "a minimiser of the risk"},
        domain=r"$\Theta$ bounded, of diameter $D$",
        repair=r"Say that $\Theta$ is closed, or write $\inf_\Theta F_P$.",
        hypotheses=(r"$\Theta$ is closed",),
        checks=(no_minimiser,),
        checks_with_hypotheses=(continuous,),
        given=(WEIERSTRASS, WRITTEN),
        sketch=r"Bounded gradients make every loss continuous, and their mean $F_P$ too.",
        corrected=Correction(
            title=r"if $\Theta$ is closed; else the infimum serves",
            statement=r"A bound on the excess risk against every $\theta$ of $\Theta$ is a bound against "
            r"$\inf_\Theta F_P$, attained or not: nothing else in the paper needs $\theta^\star$.",
            formula=r"\sum_t[F_P(\theta_t)-F_P(\theta)]\le b\ \forall\theta\in\Theta\ \Rightarrow\ "
            r"\sum_t[F_P(\theta_t)-\inf F_P]\le b",
            symbols={"b": "a bound", "θ_t": "the model of round $t$"},
            sketch=r"For every $\varepsilon>0$ some $\theta$ is within $\varepsilon$ of the infimum, so the sum is "
            r"at most $b+T\varepsilon$. "
            r"The recursion (prop:Ropt-bound-app, corrected) holds against every point of $\Theta$.",
            checks=(theorem("Learning.against_the_infimum", domain=r"any set, any risk, any $T$"),),
        ),
    ),
    Claim(
        id="ass:smooth-grad",
        kind="step",
        title="a smooth risk bounds the drift of local steps",
        statement="Assumption 2 makes the population risk $L$-smooth, and no loss; with that $L$ the gradient of a "
        "client's memory moves by at most $L$ times the way of its local steps, as the recursion takes it.",
        formula=r"|\nabla\widehat F_{m,t}(\theta)-\nabla\widehat F_{m,t}(\theta')|\le L|\theta-\theta'|",
        symbols={"θ'": "another point", "F̂_{m,t}": "mean loss over client m's memory"},
        domain=r"$E\ge2$, any memory",
        repair="Assume that every loss is $L$-smooth, not the risk alone.",
        hypotheses=(r"every loss is $L$-smooth",),
        checks=(rough_memory,),
        checks_with_hypotheses=(mean_of_smooth,),
        sketch="The gradient of a memory is a mean of its samples' gradients; by induction over the samples.",
        corrected=Correction(
            title="if every loss is $L$-smooth",
            statement="Where every loss is $L$-smooth, so is every memory's mean, and the population risk. The "
            "converse fails: a loss that is drawn with chance $p$ may be as rough as $L/p$.",
            formula=r"|\nabla\widehat F_{m,t}(\theta)-\nabla\widehat F_{m,t}(\theta')|\le L|\theta-\theta'|",
            symbols={"p": "its chance"},
            hypotheses=(r"every loss is $L$-smooth",),
            sketch="A mean of gradients moves by at most the mean of what they move by. (For one local step, $E=1$, no "
            "smoothness is needed.)",
            checks=(mean_of_smooth,),
        ),
    ),
]
