r"""The best weights, step, retention and admissions under a walk (`law:drift/best`): K = 1, every round, one step."""

from proofs_check.prelude import *

from proofs_check.groundwork.drift.moving import LAG, MOVING, filter_form, nu, q
from theory.drift.long_run import least_drifting_risk, tracking_risk, tracking_step
from theory.law.averaging import best_weights

a, h, t, x, y, P, after, n = sp.symbols("a h t x y P P_1 n", positive=True)
j = sp.Symbol("j", integer=True, nonnegative=True)
BUDGET = Budget(buffers=(total_buffer,), cost=C, mean_cost=mean_cost)
balanced = q * a / (1 - a) ** 2  # the noise at which 1-a is the best step


def all_alike() -> Evidence:
    """The weights (1-a)a^j are stationary for νΣw² + qΣW² where ν(1-a)² = qa, and the form is convex."""
    older = (1 - a ** (j + 1)) / (1 - a)
    slope = balanced * (1 - a) * a**j + q * older
    least = drift_floor(1, 1, h=[h], variance=[balanced], walk=[q], eta=(1 - a) / h)
    root = tracking_risk(nu, q)
    return argument(
        (older.subs(j, j + 1) - older, a ** (j + 1), "one term more of $\\sum W_m$"),
        (slope, q / (1 - a), "every bracket and $q/(1-a)$"),
        (least, h / 2 * q / (1 - a), "the risk at $K=1$ and this step"),
        (nu * tracking_step(nu, q) ** 2, q * (1 - tracking_step(nu, q)), r"$\nu\alpha^2$ and $q(1-\alpha)$"),
        (root**2, q * (root + nu), "the square of theory's $P$"),
        (q / tracking_step(nu, q), root, r"$q/\alpha$ and $P$"),
        (least_drifting_risk(rate, h=[h], variance=[nu * rate], walk=[q]), h * root / 2, "theory's risk"),
        domain=r"every $0<a<1$, $q$, $\nu$",
    )


def information() -> Evidence:
    """n/s² = 1/(P'-q) - 1/P, over many rounds the mean of φ(P) = q/(P(P-q)), convex for P > q, and 1/ν at theory's P.
    x and y are P-q of a round and of the mean, over q.
    """
    learnt = 1 / (1 / P + n) + q

    def phi(over: Any) -> Any:
        return 1 / (over * (1 + over))

    slope = -(1 + 2 * y) / (y * (1 + y)) ** 2
    root = tracking_risk(nu, q)
    return argument(
        (1 / (learnt - q) - 1 / P, n, "what a round adds to what is known", "any purchase"),
        (1 / (after - q) - 1 / after, q / (after * (after - q)), r"a round later and $\varphi$", "any round"),
        (sp.diff(phi(y), y), slope, r"the slope of $\varphi$", "$P>q$"),
        (phi(x) >= phi(y) + slope * (x - y), [], r"$\varphi$ lies above its tangents, $P>q$"),
        (q * nu, root * (root - q), r"$\varphi(P)=1/\nu$", "theory's $P$"),
    )


def order() -> Evidence:
    root = tracking_risk(nu, q)
    small = tracking_risk(nu, 1 / t) / sp.sqrt(nu / t)
    return argument(
        (root >= sp.sqrt(q * nu), [], r"never below $\sqrt{q\nu}$"),
        (small, t, 1, r"$P/\sqrt{q\nu}$ as $q\to0$"),
        (tracking_risk(nu, t) / t, t, 1, r"$P/q$ as $q\to\infty$"),
        (tracking_step(nu, t), t, 1, r"the step as $q\to\infty$"),
        domain=r"every $\nu$",
    )


def budgets() -> Evidence:
    """Whatever K, the rate is at most that of K = 1, and P rises with ν."""
    more = sp.Symbol("more", positive=True)
    return argument(
        (best_rate(K, BUDGET) <= best_rate(1, BUDGET), [], "every budget and $K$"),
        (tracking_risk(nu + more, q) > tracking_risk(nu, q), [], r"every $q$ and $\nu$"),
    )


def within_a_step() -> Evidence:
    """√(qν) < P < √(qν) + q: how far P is from the nearer end."""

    def apart(p: Any) -> Any:
        drift = ball(F(10) ** p["e"])
        above = tracking_risk(ball(1), drift) - sqrt(drift)
        return above.min(drift - above)

    domain = r"$\nu=1$, $q=10^e$ from $10^{-12}$ to $10^{12}$"
    return compare(apart, ">", lambda _: 0, grid(e=range(-12, 13, 3)), domain=domain)


@everywhere(
    r"$K\le6$, $q/\nu$ from $10^{-4}$ to 10, nine steps",
    kept=(1, 2, 3, 6),
    drift=[F(1, 10**4), F(1, 100), F(1, 10), F(1), F(10)],
    step=[F(k, 10) for k in range(1, 10)],
)
def no_step_below(kept: int, drift: F, step: F) -> Found:
    """f >= P if and only if f(f-q) >= qν, as f >= q: no root is needed."""
    found = 2 * drift_floor(1, kept, h=[1], variance=[1], walk=[drift], eta=step)
    return unless(found >= drift and found * (found - drift) >= drift, found=found)


@drawn(
    "up to 4 rounds of any admissions; any first distance, $q$ and $s^2=1$",
    (10, 300),
    admissions=st.lists(st.integers(0, 4), min_size=1, max_size=4),
    drift=fractions(F(1, 16), 4),
    first=fractions(F(1, 8), 8),
)
def any_admissions(admissions: list[int], drift: F, first: F) -> Found:
    """P's recursion against the least over all weights, by elimination; the mean of φ is at least φ of the mean."""
    errors = [first]
    for bought in admissions:
        errors.append(1 / (1 / errors[-1] + bought) + drift)
    T, form = len(admissions), filter_form(admissions, drift, first)
    p = best_weights(form)
    least = sum(p[i] * p[k] * form[i][k] for i in range(len(p)) for k in range(len(p)))
    phi = [drift / (error * (error - drift)) for error in errors[1:]]
    mean = sum(errors[1:]) / T
    known = F(sum(admissions)) + 1 / first - 1 / errors[-1]
    true = least == errors[-1] and sum(phi) == known and drift / (mean * (mean - drift)) <= sum(phi) / T
    return unless(true, least=least, recursion=errors, phi=phi)


CLAIMS = [
    Claim(
        id="law:drift/best",
        title=r"under a walk $K=1$ is best, with risk about $\sqrt{q\nu}$",
        statement=r"Of all weights of all samples that come at $\bar\Lambda$ a round, the least mean square "
        r"error behind a walk is $P=\tfrac12(q+\sqrt{q^2+4q\nu})$, $\nu=s^2/\bar\Lambda$. The last iterate "
        r"has it with $K=1$ and the step $\alpha=1-a$ with $\nu\alpha^2=q(1-\alpha)$. So no longer "
        "retention and no mean of models is better at its own best step, and within budgets $K=1$ is best, "
        r"with the largest rate, for every $q>0$. $P$ is never below $\sqrt{q\nu}$ and about that for "
        "little drift; for much drift it is about $q$, with a step of 1. No other admissions of the same "
        "mean rate help: averaged over rounds, the error of the best weights is at least $P$ in the long "
        "run. If samples and walk are Gaussian, that is so for every learner.",
        formula=said(r"\tfrac12\sum_hh\,P_h,\quad P=@P,\quad\alpha=q/P", P=tracking_risk(nu, q)),
        domain=r"quadratic losses with one Hessian; every $q>0$, $\nu>0$; admissions blind to values; one "
        "step a direction",
        sketch=r"The error is $\nu\sum w_j^2+q\sum W_m^2$ for weights $w$ of ages $j$ with tails $W$. A "
        r"change $\delta$ with $\sum\delta=0$ adds $2\sum_j\delta_j(\nu w_j+q\sum_{m\le j}W_m)$ and its own "
        r"form, which is not negative. At $w_j=(1-a)a^j$ with $\nu(1-a)^2=qa$ the brackets are all "
        "$q/(1-a)=P$. Keeping samples, averaging models and other steps choose other weights of the same "
        "samples, and retention can only lower the rate. For any admissions, the best weights after a "
        "purchase of $n$ have $1/F=1/P+n/s^2$, and $P'=F+q$ a round later (by Gauss if all is Gaussian, as "
        r"the mean given all samples). So $n/s^2=1/(P'-q)-1/P$, and $\bar\Lambda/s^2$ is the mean of "
        r"$\varphi(P)=\frac q{P(P-q)}$, up to $1/P$ at the ends over $T$. $\varphi$ is convex and falls, "
        r"so the mean of $P$ is at least where $\varphi=1/\nu$. (Kalman 1960 has the filter.)",
        given=(WRITTEN, LAG),
        checks={
            "all weights": (all_alike, confirming(no_step_below)),
            "little and much drift": (order, confirming(within_a_step)),
            "budgets": budgets,
            "any admissions": (information, confirming(any_admissions)),
        },
        symbols=MOVING | {"F": "mean square error of the best weights", "w": "weights by age"},
    )
]
