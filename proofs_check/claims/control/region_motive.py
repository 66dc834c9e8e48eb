r"""Why the region contracts (`eq:lambda-min-max`): at a fixed mean a constant memory has the smallest terms in 1/n."""

from proofs_check.prelude import *

x, s = sp.symbols("x s", positive=True)


def by_price() -> Evidence:
    """1/n + s²cn >= 2s√c with equality at n = 1/(s√c); with s = Σ√c/spend the sum is (Σ√c)²/spend. r = √c."""
    r, roots, spend = sp.symbols("r roots spend", positive=True)
    least = (2 * s * roots - s**2 * spend).subs(s, roots / spend)
    return argument(
        (1 / x + s**2 * r**2 * x >= 2 * s * r, [], r"a round, every $n=x$, price $c=r^2$ and $s$"),
        (1 / x + s**2 * r**2 * x - 2 * s * r, (1 - s * r * x) ** 2 / x, "what a round has more and a square"),
        (least, roots**2 / spend, r"the right sides less $s^2$ spend, and $(\sum\sqrt c)^2$ over it"),
        domain=r"every number of rounds; roots $=\sum\sqrt c$, spend $=\sum cn$",
    )


CLAIMS = [
    Claim(
        id="eq:lambda-min-max/motive",
        kind="step",
        title="at a fixed mean, a constant memory is best",
        statement="For a fixed time average of $n(t)$, fluctuations never decrease what the surrogate's terms in "
        "$1/n$ add up to, and a constant $n$ has the smallest sum.",
        formula=r"\sum_tf(n(t))\ge Tf(\bar n),\quad f(n)=\tfrac1n,\ \tfrac1{\sqrt n},\ \sqrt{\tfrac1n-\tfrac1N}",
        symbols={"f": "a term of the surrogate", "n̄": "the time average of $n$"},
        domain=r"any sequence of $n(t)$; for the last, $t$ so large that $N\ge4n/3$ in every round, and that $N$",
        checks={
            r"$1/n$ and $1/\sqrt n$": theorem("Control.constant_memory_is_best", domain="any sizes"),
            r"$\sqrt{1/n-1/N}$": theorem("Control.constant_memory_is_best_for_the_root", domain="$4n\\le3N$"),
        },
        sketch=r"A convex function lies above its tangent at the mean; add up. $\sqrt{1/n-1/N}$ is convex in $n$ "
        "only up to $n=3N/4$: a memory that holds nearly all that was seen gains by fluctuations, but inside the "
        "region $n$ stays bounded and $N$ grows. The buffers bound the mean from above, and each of these functions "
        "falls in $n$. Money is another constraint: eq:lambda-min-max/budget.",
    ),
    Claim(
        id="eq:lambda-min-max/budget",
        title=r"$n\propto1/\sqrt c$ is best: more when it is cheap",
        statement=r"At a fixed cost $\sum1/n$ is least for $n(t)$ in proportion to $1/\sqrt{c(t)}$, where it is "
        r"$(\sum\sqrt c)^2/\sum cn$; a constant $n$ is best only at a constant price. (The paper's argument fixes the "
        "mean of $n$, as the buffers do, not the cost.)",
        formula=r"\sum_t\frac1{n(t)}\ge\frac{(\sum_t\sqrt{c(t)})^2}{\sum_tc(t)n(t)}",
        domain="$K=1$, prices that change",
        sketch="Cauchy-Schwarz again, with the prices as weights. So a region that contracts to one rate gives up, "
        "round by round, what the prices offer.",
        checks=(by_price,),
    ),
]
