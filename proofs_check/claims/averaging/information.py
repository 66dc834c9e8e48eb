r"""A server that adds up gradient and curvature (`law:information`): no sample is forgotten, none has to be kept."""

from proofs_check.prelude import *

from proofs_check.groundwork.drift.moving import filter_form
from proofs_check.groundwork.law.lags import AVERAGED
from theory.law.averaging import best_weights
from theory.law.curved import regression_floor
from theory.law.information import information_risk, unequal_clients
from theory.market.lower_bound import bayes_risk, least_risk

h, lam, noise, d = sp.symbols("h lambda s2 d", positive=True)
ANY = "any samples, weights and curvatures, any models at which they are asked"
SYMBOLS = AVERAGED | {
    "A": "sum of the curvatures of all samples, each times its weight",
    "b": "sum of curvature times model less gradient of all samples, each times its weight",
    "g": "gradient of a sample at the model where it was asked",
    "H": "curvature of a sample",
    "N": "samples bought",
    "w": "weight of a sample",
    "z": "minimiser of a sample's loss",
    "ℓ": "loss of a sample",
    "λ": "weight of the prior, whose centre is the start",
}


@drawn(
    r"1 to 4 rounds of up to 2 samples, every $K\le4$, up to 3 exchanges a round, any curvatures, models and prior",
    (40, 400),
    admissions=st.lists(st.integers(0, 2), min_size=1, max_size=4),
    kept=st.integers(1, 4),
    exchanges=st.integers(1, 3),
    values=st.lists(st.tuples(fractions(F(1, 4), 3), fractions(F(-3), 3)), min_size=8, max_size=8),
    prior=fractions(F(1, 4), 2),
)
def every_retention(
    admissions: list[int], kept: int, exchanges: int, values: list[tuple[F, F]], prior: F
) -> Found:
    """The server as it runs: samples in memory are asked at the newest model, and what is dropped stays in the sums."""
    model, summed, toward, held = F(1), F(0), F(0), list[list[tuple[F, F]]]()
    stream, seen = iter(values), list[tuple[F, F]]()
    for bought in admissions:
        held.append([next(stream) for _ in range(bought)])
        seen += held[-1]
        for _ in range(exchanges):
            now = [(h, h * model - h * (model - z)) for cohort in held for h, z in cohort]
            known = prior + summed + sum(h for h, _ in now)
            model = (prior + toward + sum(pull for _, pull in now)) / known
        if len(held) == kept:
            for h, z in held.pop(0):
                summed, toward = summed + h, toward + h * model - h * (model - z)
        slope = sum((h * (model - z) for h, z in seen), start=prior * (model - 1))
        if slope != 0:
            return {"model": model, "slope over all samples ever bought": slope}
    return None


def other_losses() -> Evidence:
    """A logistic loss with label and input 1: what Hθ - g says changes with the model, at every θ > 0."""
    theta = sp.Symbol("theta", positive=True)
    chance = 1 / (1 + sp.exp(-theta))
    said_there = chance * (1 - chance) * theta + 1 - chance
    slope = theta * sp.exp(-theta) * (sp.exp(-theta) - 1) / (1 + sp.exp(-theta)) ** 3
    return argument(
        (sp.diff(said_there, theta), slope, r"the slope of $H\theta-g$, which is negative,"),
        domain=r"every $\theta>0$",
    )


def formula() -> Evidence:
    """theory's risk of N samples in one round, without and with a prior, along one direction."""
    found = information_risk([N], h=[h], variance=[noise], start=[d], prior=lam)
    flat = information_risk([N], h=[h], variance=[noise], start=[d])
    bayes = found.total[-1].subs(lam, h * noise / d)  # where the squared distance is τ² on average
    transient, own = h / 2 * d * (lam / (lam + h * N)) ** 2, h / 2 * noise * N * (h / (lam + h * N)) ** 2
    return argument(
        (found.transient[-1], transient, "what is left of the start"),
        (found.noise[-1], own, "the noise"),
        (flat.total[-1], least_risk(N, h=[h], variance=[noise]), "without a prior, the lower bound"),
        (
            bayes,
            bayes_risk(N, h=[h], variance=[noise], prior=[d]),
            r"at $\lambda=hs^2/\tau^2$, the Bayes risk",
        ),
        domain="every $N$, $h$, $s^2$ and start",
    )


def theorys_factor() -> Evidence:
    """With w_m = α_mN/N_m the model is Σα_m z̄_m, and NΣw² over (Σw)² is theory's factor, for two clients."""
    first, counts = sp.Symbol("alpha", positive=True), sp.symbols("N_1 N_2", positive=True)
    shares, means, total = (first, 1 - first), sp.symbols("z_1 z_2", real=True), sum(counts)
    weights = [share * total / own for share, own in zip(shares, counts, strict=True)]
    whole = sum(own * w for own, w in zip(counts, weights, strict=True))
    squares = sum(own * w**2 for own, w in zip(counts, weights, strict=True))
    model = sum(own * w * z for own, w, z in zip(counts, weights, means, strict=True)) / whole
    return argument(
        (
            model,
            sum(share * z for share, z in zip(shares, means, strict=True)),
            "the model and the objective's",
        ),
        (total * squares / whole**2, unequal_clients(counts, shares), "the noise's factor and theory's"),
        domain="two clients, any shares and purchases",
    )


def random_designs() -> Evidence:
    """Hθ - g = xy at every θ; and half σ² times theory's floor, over the bound for s² = σ²/h in p directions."""
    x, theta, (y, p) = sp.symbols("x_1:3"), sp.symbols("theta_1:3"), sp.symbols("y p", positive=True)
    known = sum(one * at for one, at in zip(x, theta, strict=True))
    said_there = [one * known - one * (known - y) for one in x]
    floor, bound = noise / 2 * regression_floor(p, N), p * least_risk(N, h=[h], variance=[noise / h])
    bayes = bayes_risk(N, h=[h], variance=[noise / h], prior=[d])
    return argument(
        *((told, one * y, r"$H\theta-g$ and $xy$") for told, one in zip(said_there, x, strict=True)),
        (floor / bound, N / (N - p - 1), "the risk over the bound"),
        (bayes, d, bound / p, "the Bayes risk given the inputs, along a direction,"),
        domain="every input, label and model, $N>p+1$",
    )


def two_estimates() -> Evidence:
    """Shares x and 1-x of independent estimates of variances P and v: the least square is at v/(P+v)."""
    x, P, own = sp.symbols("x P v", positive=True)
    least = 1 / (1 / P + 1 / own)
    apart = (x * (P + own) - own) ** 2 / (P + own)
    return argument(
        (x**2 * P + (1 - x) ** 2 * own - least, apart, "the square less the least, a square,"),
        (own / (P + own), least / P, "the older share and the filter's"),
        domain="every share and variances",
    )


@drawn(
    "up to 4 rounds of any admissions; any first distance, $q$ and $s^2=1$",
    (10, 300),
    admissions=st.lists(st.integers(0, 4), min_size=1, max_size=4),
    drift=fractions(F(1, 16), 4),
    first=fractions(F(1, 8), 8),
)
def is_the_filter(admissions: list[int], drift: F, first: F) -> Found:
    """What start and rounds weigh in the model, against the weights of least mean square by elimination."""
    error, shares = first, [F(1)]
    for bought in admissions:
        precision = 1 / error + bought
        shares = [one / (error * precision) for one in shares] + ([bought / precision] if bought else [])
        error = 1 / precision + drift
    return differing(shares=shares, best=list(best_weights(filter_form(admissions, drift, first))))


CLAIMS = [
    Claim(
        id="law:information",
        title="a server that adds up information: retention buys nothing",
        statement=r"Let clients send gradient and curvature of their samples, and let the server's model minimise "
        r"$\tfrac12\theta^\top A\theta-b^\top\theta+\tfrac\lambda2|\theta-\theta(1)|^2$. For quadratic losses the sums "
        "do not depend on the models at which samples were asked. So it makes no difference how long samples are "
        "kept, how often they are asked and in which order they came: after every round the model is the minimiser "
        "over all samples ever bought, prior included. There is no step, no mean of models and no $K$ to choose. For "
        "other losses it is not so: a logistic loss says another thing at another model.",
        formula=r"A=\sum wH,\quad b=\sum w(H\theta_i-g),\quad H\theta_i-g=Hz\ \text{for every }\theta_i",
        domain=r"quadratic losses, $A+\lambda>0$, along one direction; any $K$, purchases, weights, exchanges",
        sketch=r"$g=H(\theta_i-z)$, so $H\theta_i-g=Hz$ at every $\theta_i$. The objective over all samples is "
        r"$\tfrac12\theta A\theta-b\theta$ and what does not contain $\theta$.",
        checks={
            "at any models": theorem("Information.sums_forget_models", domain=ANY),
            "the minimiser": (
                theorem("Information.informed_is_best", domain=ANY),
                confirming(every_retention),
            ),
            "not for other losses": other_losses,
        },
        symbols=SYMBOLS,
    ),
    Claim(
        id="law:information/risk",
        title="its exact risk: at the lower bound for every $N$",
        statement="With one Hessian, and samples independent along each direction, the expected excess risk of that "
        "server is as stated, after every round and for every prior and weight. With equal weights and without a "
        r"prior it is $\tfrac12\sum hs_h^2/N$: the lower bound of law:averaged/nobody for every $N$, where bursts "
        r"with a mean of models reach it in the limit. With the prior $hs_h^2/\tau^2$ it is the Bayes risk. Clients "
        r"that count $\alpha_m$ and buy $N_m$ need the weights $\alpha_mN/N_m$, which makes the noise "
        r"$N\sum\alpha_m^2/N_m\ge1$ times as large. Only $N$ counts for the final risk, so what to buy is "
        "the knapsack's answer alone.",
        formula=r"\tfrac12\sum_hh\,\frac{\lambda^2(\theta_h(1)-\theta^\star_h)^2+h^2s_h^2\sum "
        r"w^2}{(\lambda+h\sum w)^2}",
        domain="quadratic losses with one Hessian; samples of one mean, uncorrelated; any purchases and idle rounds",
        sketch=r"Along a direction $\theta-\theta^\star$ is "
        r"$(\lambda(\theta(1)-\theta^\star)+h\sum w(z-\theta^\star))/(\lambda+h\sum w)$.",
        checks={
            "risk": (theorem("Information.information_risk", domain=ANY), formula),
            "the bound": theorem("Information.information_meets_the_bound", domain="every $N$ and Hessian"),
            "clients": (
                theorem("Information.clients_in_proportion_are_best", domain="any clients"),
                theorys_factor,
            ),
        },
        symbols=SYMBOLS | {"α": "share of a client in the objective", "τ": "the prior's standard deviation"},
    ),
    Claim(
        id="law:information/random-designs",
        title=r"where curvatures differ: $N/(N-p-1)$ times the lower bound",
        statement="For least squares the server's model, without a prior and with equal weights, is that of all "
        "samples ever bought. With Gaussian inputs in $p$ dimensions its excess risk is $N/(N-p-1)$ times "
        r"$\tfrac12\sum hs_h^2/N$, the lower bound where all samples have the mean curvature. With Gaussian noise "
        r"no learner guarantees less for every $\theta^\star$.",
        formula=r"\tfrac12\sigma^2\,\frac p{N-p-1}",
        domain=r"linear regression, noise of variance $\sigma^2$ independent of the inputs, $N>p+1$",
        given=(WRITTEN, Given("law:reuse/regression", "the risk of least squares on Gaussian inputs")),
        checks=(random_designs,),
        sketch=r"$H=xx'$ and $g=x(x'\theta-y)$, so the model solves the normal equations, and $s_h^2=\sigma^2/h$. "
        r"Given the inputs, the Bayes risk for the prior $N(0,\tau^2)$ rises in $\tau$ to that of least squares, "
        r"along each direction of $\sum xx'$, and so does its mean.",
        symbols=SYMBOLS
        | {"p": "dimensions", "x": "inputs", "y": "label", "σ": "noise's deviation", "τ": "the prior's"},
    ),
    Claim(
        id="law:information/drift",
        title="behind a walk it is the filter of law:drift/best",
        statement=r"Let the optimum walk, with variance $q$ per round. Let the server's information be the inverse of "
        r"a variance $P$, to which $q$ is added after every round. Then start and rounds have the weights of least "
        "mean square error in its model, whatever was bought: it is the filter of law:drift/best.",
        formula=r"P\leftarrow\Bigl(\frac1P+\frac n{s^2}\Bigr)^{-1}+q",
        domain="one direction, quadratic losses, a random walk",
        given=(WRITTEN,),
        checks=(two_estimates, confirming(is_the_filter)),
        sketch="Weights that add up to 1 are a share of such weights of older samples, and the rest for the new "
        "ones, whose errors are independent of the older. So the best have the best older ones, and the share that two "
        r"estimates of variances $P$ and $s^2/n$ get. A step of the walk is independent of all weights and adds $q$.",
        symbols=SYMBOLS
        | {"P": "variance of what is known of the optimum", "q": "variance of the walk per round"},
    ),
]
