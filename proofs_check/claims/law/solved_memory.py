r"""Losses with a third derivative (`law:reuse/cubic`); least squares solved every round (`law:reuse/regression`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.law.curvatures import INDEPENDENT, PAIR, SYMBOLS, Kinds, Stream
from theory.law import curved
from theory.law.curved import regression_floor, solved_bias
from theory.numbers.algebra import ratio

eta = CONSTANTS.eta
h, p, gamma = sp.symbols("h p gamma", positive=True)
noise, tilt, third = (sp.Symbol(name, real=True) for name in ("E[g²]", "E[hg]", "E[k]"))
MOMENTS = Moments(h=h, spread=0, noise=noise, tilt=tilt)
CURVATURE = Given("law:reuse/curvature", r"how $\mathbb E[hg]$ and $\mathrm{Var}(h)$ shift the reused mean")
LARGE = r"$n\to\infty$"


def bent(kinds: Kinds, *thirds: int) -> Kinds:
    """These samples with third derivatives of their own."""
    values = tuple((x, g, F(k)) for (x, g, _), k in zip(kinds.values, thirds, strict=True))
    return Kinds(values, kinds.chances)


CUBIC = (bent(PAIR, 1, -3), bent(PAIR, 2, 2), bent(INDEPENDENT, 1, 2, -1))
ADMISSIONS = ((((1,), (1,)), 2), (((1,), (1,)), 1), (((2,), (1,)), 2), (((1,), (0,), (0,)), 3))


def _cases(*populations: Kinds) -> list[Any]:
    listed = [(kinds, *admitted, F(1, 2)) for kinds in populations for admitted in ADMISSIONS]
    return [*listed, (CUBIC[2], ((1,), (0,)), 2, F(1))]


@everywhere(
    "three populations with third derivatives, two and three rounds, $K$ from 1 to 3; every stream",
    case=by_profile(_cases(*CUBIC[:2]), _cases(*CUBIC)),
)
def every_stream(case: tuple[Kinds, Any, int, F]) -> Found:
    """The mean's first order is the two shifts, that of δ² is the law's, that of δ³ is 0."""
    kinds, admissions, K, eta = case
    rounds, m, memory = len(admissions), kinds.moments, by_age([row[0] for row in admissions], K)
    degree = 3 * (2**rounds - 1)  # the factors of δ³
    mean, square, cube = Stream(admissions, K, kinds, F(0), eta, powers=3).means(degree + 1)[-1]
    shift = curved.cubic_shift(memory, rounds, m, third=kinds.mean(lambda x, g, k: k), eta=eta)[-1]
    shift += curved.first_order([memory], rounds, m, start=F(0), eta=eta).mean[-1]
    law = m.noise / m.h**2 * squared_weights(memory, 1 - eta * m.h, rounds)[-1]
    found = [mean[:2], square[:2], cube[:2], cube[degree:]]
    return differing(found=found, theory=[[0, shift], [0, law], [0, 0], [0]])


def for_ever() -> Evidence:
    """Reuse of n samples: p = Σ_{d>=1}a^(d-1)/n = 1/((1-a)n) and S = E[g²]/(h²n), whose fixed point is theory's."""
    bias = solved_bias(MOMENTS, third=third, size=n)
    weight, square = 1 / (eta * h * n), noise / (h**2 * n)
    later = (1 - eta * h) * bias + eta**2 * tilt * weight - eta * third * square / 2
    exponential = solved_bias(Moments(h=1 / h**2, spread=0, noise=1 / h**2), third=-2 / h**3, size=n)
    every = r"every $n$, $\eta$, $h$ and all moments"
    inverse = ((n / (n - 1) - 1) * n, 1, "$n/h$ times the bias of 1/mean, which is $h/(n-1)$")
    return argument(
        (bias, later, "the bias and a round more", every),
        (exponential, h / n, "theory's bias of the rate $h$ of an exponential distribution", every),
        limits(n, inverse, domain=LARGE),
    )


def gaussian_inputs() -> Evidence:
    """E 1/χ²_ν = Γ(ν/2-1)/(2Γ(ν/2)) = 1/(ν-2); with ν = n-p+1, p times, it is theory's."""
    nu = sp.Symbol("nu", positive=True)
    mean = sp.gammasimp(sp.gamma(nu / 2 - 1) / (2 * sp.gamma(nu / 2)))
    return argument(
        (mean, 1 / (nu - 2), r"$\mathbb E\,1/\chi^2$ and $1/(\nu-2)$"),
        (p * mean.subs(nu, n - p + 1), regression_floor(p, n), "the trace of the mean inverse and theory's"),
        domain=r"$\nu>2$, so $n>p+1$",
    )


def expansion() -> Evidence:
    """(1+ε)⁻² = 1 - 2ε + 3ε² + …, and for inputs with covariance 1 both means are (q-p)σ²/n², q = E‖x‖⁴."""
    q, e = sp.symbols("q e", positive=True)
    x, one = sp.Matrix(sp.symbols("x1:4", real=True)), sp.eye(3)
    outer, square = x * x.T - one, (x.T * x)[0]
    trace = square**2 - 2 * square + 3
    series = sp.series(1 / (1 + e) ** 2, e, 0, 3).removeO()
    orders = p / n + (-2 * (q - p) + 3 * (q - p)) / n**2  # -2E[g'(xx'-1)g] + 3E tr(xx'-1)², g = -x·noise
    exact, first = regression_floor(p, n), curved.regression_floor_first_order(p, n, p * (p + 2))
    ratio = ((exact / first - 1) * n, 0, "$n$·(exact/first order $-1$)")
    return together(
        argument(
            (series, 1 - 2 * e + 3 * e**2, r"the series at $\varepsilon=0$"),
            ((outer**2).trace(), trace, r"$\mathrm{tr}(xx'-1)^2$ and $\|x\|^4-2\|x\|^2+p$, of mean $q-p$,"),
            ((x.T * outer * x)[0], square**2 - square, r"$x'(xx'-1)x$ and $\|x\|^4-\|x\|^2$, of mean $q-p$,"),
            (orders, curved.regression_floor_first_order(p, n, q), "the sum of orders and theory's"),
            (3 * p + p * (p - 1), p * (p + 2), r"$\mathbb E\|x\|^4$ of Gaussian inputs"),
            domain="every $p$, $n$, $q$; the squares for $p=3$",
        ),
        limits(n, ratio, domain=rf"{LARGE}, every $p$"),
    )


@everywhere(r"$p=1$, $n=1,2,5,30$, $\mathbb E\,x^4=1,9/5,3$", n=(1, 2, 5, 30), fourth=(F(1), F(3), F(9, 5)))
def one_dimension(n: int, fourth: F) -> Found:
    """A memory of n for three rounds of step 1/h (a = 0) gives ḡ²(1 - 2ε + 3ε²): theory's second order is this one."""
    m = Moments(h=1, spread=fourth - 1, noise=F(1), skew=fourth - 1)  # h = x², g = -x·noise, E x² = 1
    found = F(1, n) + curved.noise_correction(by_age([n, 0, 0], 3), 3, m, eta=F(1))
    return differing(found=found, theory=curved.regression_floor_first_order(1, n, fourth))


def resummed() -> Evidence:
    """Distance of λ from the truth; p/n is off by 1/(1-γ) where p = γn, λ is not."""
    found, exact = curved.regression_floor_resummed(p, n), regression_floor(p, n)
    over = r"$\lambda$ over the exact floor"
    return argument(
        (found, p / n * (1 + found), r"$\lambda$ and $(p/n)(1+\lambda)$", "$n>p+1$"),
        (found / exact, 1 - 1 / (n - p), over, "$n>p+1$"),
        limits(
            n,
            ((found / exact).subs(p, gamma * n), 1, over),
            ((exact / (p / n)).subs(p, gamma * n), 1 / (1 - gamma), "the floor over the law"),
            domain=r"$p=\gamma n$",
        ),
    )


@everywhere(
    "$p=1,2,10$, $n$ from $p+2$ to 1000",
    at=[(p, n) for p in (1, 2, 10) for n in (p + 2, 2 * p + 2, 10 * p, 1000) if n > p + 1],
)
def on_numbers(at: tuple[int, int]) -> Found:
    (p, n), low, exact = at, curved.regression_floor_resummed(*at), regression_floor(*at)
    return unless(low == ratio(p, n) * (1 + low) and ratio(p, n) < low < exact, low=low, exact=exact)


CLAIMS = [
    Claim(
        id="law:reuse/cubic",
        title="a curved loss: the law to first order, its mean shifted",
        statement=r"Let gradients be $g+h\delta+\tfrac12k\delta^2$, samples with their own $h$, $g$ and "
        "$k$, one step per round, from a start at the minimiser. To first order in $1/n$ the mean square, "
        "and so the excess risk, is the law's. The mean is shifted at this order, by reuse "
        r"($\eta\psi\mathbb E[hg]/h$) and by the third derivative ($-\mathbb E[k]S/(2h)$, $S$ the law's "
        "noise); only the first is due to reuse. On a memory that is trained on for ever the two are the "
        "classical bias of an estimate. In the risk that is of order $1/n^2$.",
        formula=said(
            r"\mathbb E\,\delta^2=S+O(n^{-2}),\quad\mathbb E\,\delta\to\frac{\eta\psi\,\mathbb E[hg]}h-"
            r"\frac{\mathbb E[k]S}{2h};\quad\text{for ever on one memory: }@b",
            b=solved_bias(MOMENTS, third=third, size=n),
        ),
        domain=r"gradients $g+h\delta+\tfrac12k\delta^2$ along one direction, $(h,g,k)$ i.i.d. and "
        r"bounded, $\mathbb E\,g=0$, $E=1$, $\theta(1)=\theta^\star$; any admissions, at a fixed $t$, all "
        r"admissions times $\lambda\to\infty$",
        sketch=r"At a fixed $t$ the distance $\delta(t)$ is a polynomial in means over memories, and a "
        r"joint cumulant of $j$ of them is of order $n^{1-j}$: $\mathbb E\,\delta$, $\mathbb E\,\delta^2$ "
        r"and $\mathbb E\,\delta^3$ are polynomials in $1/\lambda$. $\delta$ is of order $n^{-1/2}$, so "
        r"$\mathbb E\,\delta^2$ has the law's as its first order, $\mathbb E\,\delta^3$ has none, and "
        r"$\mathbb E[\tfrac12k\delta^2]$ has $\tfrac12\mathbb E[k]S$, for $k-\mathbb E\,k$ makes a third "
        r"factor. The shift obeys $m'=am-\tfrac12\eta\mathbb E[k]S$ beside law:reuse/curvature's. On one "
        r"memory $\psi$ tends to $1/(\eta hn)$ and $S$ to $\mathbb E[g^2]/(h^2n)$. Uniformly in $t$ this "
        "is not claimed: a cubic loss is not bounded below.",
        given=(WRITTEN, CURVATURE),
        checks={"first order": every_stream, "for ever": for_ever},
        symbols=SYMBOLS,
    ),
    Claim(
        id="law:reuse/regression",
        title="least squares every round: $p/(n-p-1)$; the law: $p/n$",
        statement="Let every round solve least squares in $p$ dimensions on its memory of $n$ samples. With "
        r"Gaussian inputs $\mathbb E\|\delta\|^2$ in the norm of $H$ is $\sigma^2p/(n-p-1)$, against the law's "
        r"$\sigma^2p/n$: a factor $1+(p+1)/n$ to first order, and $1+(q/p-1)/n$ for other inputs of covariance 1 "
        r"with $q=\mathbb E\|x\|^4$. Damping every sample's residual and curvature by $(1+\lambda)^{-1}$, with "
        r"$\lambda=(p/n)(1+\lambda)$ from the damped curvature, gives $\sigma^2p/(n-p)$: right up to a factor "
        "$1-1/(n-p)$ even where $p/n$ is not small, and the law is off by $1/(1-p/n)$.",
        formula=said(
            r"\frac{\mathbb E\|\delta\|_H^2}{\sigma^2}=@exact=\frac pn\Bigl(1+\frac{p+1}n+O(n^{-2})\Bigr),\qquad "
            r"\lambda=\frac pn(1+\lambda)=@resummed",
            exact=regression_floor(p, n),
            resummed=curved.regression_floor_resummed(p, n),
        ),
        domain=r"linear regression, noise of variance $\sigma^2$ independent of the inputs, $n>p+1$ "
        r"samples in memory, $a\to0$; the first order for inputs with fourth moments, as a formal expansion",
        sketch=r"$\delta=(\sum xx')^{-1}\sum x\cdot\text{noise}$, so $\mathbb "
        r"E\|\delta\|^2=\sigma^2\,\mathrm{tr}\,\mathbb E(\sum xx')^{-1}$ in coordinates with $H=1$. For "
        "Gaussian inputs one over a diagonal entry of the inverse is what is left of a column after "
        r"regression on the other $p-1$, a $\chi^2$ with $n-p+1$ degrees of freedom, whose inverse has the "
        r"mean $1/(n-p-1)$. In general expand in $\varepsilon$, the mean of $xx'$ less 1: $-2\varepsilon$ "
        r"meets the noise's own $xx'$, and $3\varepsilon^2$ its variance. A sample left out has "
        r"$\lambda=x'(\sum xx')^{-1}x$ over the others; with it the residual is $1/(1+\lambda)$ of what it "
        r"was without, and $n$ samples so damped weigh as $n/(1+\lambda)$ undamped ones.",
        given=(WRITTEN,),
        checks={
            "Gaussian inputs": gaussian_inputs,
            "first order": (expansion, confirming(one_dimension)),
            "resummed": (resummed, confirming(on_numbers)),
        },
        symbols=SYMBOLS
        | {"p": "dimensions", "λ": "a sample's pull on its own prediction", "σ": "the noise's deviation"},
    ),
]
