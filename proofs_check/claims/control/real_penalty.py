r"""Region in which the printed penalty is real (`eq:penalty-dpp/real`), and where its logarithm is theory's log⁺."""

from proofs_check.prelude import *

from proofs_check.groundwork.control.drift_step import without_debt
from proofs_check.groundwork.control.orders import ONES
from proofs_check.groundwork.control.printed_log import LARGE, as_printed
from proofs_check.groundwork.control.region_ends import lies_inside, plain
from proofs_check.groundwork.control.repaired_penalty import third_term_falls
from theory.paper import RATE

P = CONSTANTS.Pdim
more, euler, first, later = sp.symbols("more e N_1 later", nonnegative=True)
ENDS = {"Λ_min(1)": region_minimum, "Λ_max(1)": region_maximum}


def inside(N: Any) -> Any:
    """The radicand of the printed third term, 1 + log(N/Pdim), from that term at N_eff = N."""
    return generalisation_term_as_printed(1 / N, N, CONSTANTS) ** 2 * N / (100 * CONSTANTS.B**2 * P)


def not_real() -> Evidence:
    """The paper's Λ̄ = 10 at ρ = 0.99: the lower end of round 1 is a tenth of a sample, and Pdim is at least 1."""
    region = Region(rate=RATE, rho=Fraction(99, 100))
    least = region_minimum(region, 1)
    negative = compare(
        lambda p: 1 + log(ball(least / p["Pdim"])),
        "<",
        lambda p: 0,
        grid(Pdim=(1, 10, 1000)),
        domain=r"$\bar\Lambda=10$, $\rho=99/100$, $t=1$, $\Lambda(1)=\Lambda_{\min}(1)=1/10$",
    )
    found = refutes(negative, r"$1+\log(N/\mathrm{Pdim})<0$ at $N=\Lambda_{\min}(1)=1/10$")
    return obeying(found, {"the admission is inside the region": lies_inside([least], region)})


def real_from_there_on() -> Evidence:
    """At N = (1 + more)·Pdim/e the root is that of log(1 + more), which is not negative; and N is at least Λ_min(1)."""
    root = log(1 + more)
    if not root.is_nonnegative:
        return undecided("identity", f"the sign of {root} is open", domain=r"$N\ge\mathrm{Pdim}/e$")
    least = plain(region_minimum(REGION, 1))
    given = [first >= least, rho < 1, euler > 0, euler * least >= P]
    return argument(
        (inside((1 + more) * P / sp.E), root, r"$1+\log(N/\mathrm{Pdim})$ and $\log(1+\text{more})\ge0$"),
        (first + later >= P / euler, given, r"$N\ge\mathrm{Pdim}/e$ in every round inside the region"),
        domain=r"$N=(1+\text{more})\,\mathrm{Pdim}/e$",
    )


def only_there() -> Evidence:
    """At N = Pdim/(e(1 + x)), x > 0, the root is that of -log(1 + x); the lower end of round 1 is such an N."""
    x = sp.Symbol("x", positive=True)
    if not log(1 + x).is_positive:
        return undecided("identity", "the sign of log(1 + x) is open", domain=r"$N<\mathrm{Pdim}/e$")
    return argument(
        (inside(P / (sp.E * (1 + x))), -log(1 + x), r"$1+\log(N/\mathrm{Pdim})$ and $-\log(1+x)<0$"),
        (plain(region_minimum(REGION, 1)), rate * (1 - rho), r"$\Lambda_{\min}(1)$, $\bar\Lambda(1-\rho)$"),
        domain=r"$N=\mathrm{Pdim}/(e(1+x))<\mathrm{Pdim}/e$",
    )


def turns_at_pdim() -> Evidence:
    """The slope of the printed third term's square, at N_eff = N, has the sign of -log(N/Pdim)."""
    slope = sp.diff(generalisation_term_as_printed(1 / N, N, CONSTANTS) ** 2, N)
    what = r"the slope of the square and $-100B^2\,\mathrm{Pdim}\log(N/\mathrm{Pdim})/N^2$"
    told = -100 * CONSTANTS.B**2 * P * sp.log(N / P) / N**2
    return argument((slope, told, what), domain=r"every $N$, $\mathrm{Pdim}>0$")


def either_end() -> Evidence:
    """Λ̄ = 10, Pdim = 1: the upper end, 200, has the smaller p at ρ = 19/20, the lower end at ρ = 963/1000."""

    def at(end: str) -> Any:
        def value(p: Any) -> Any:
            size = ball(ENDS[p[end]](Region(rate=RATE, rho=p["rho"]), 1))
            return generalisation_term_as_printed(1 / size, size, ONES.map(ball))

        return value

    lower, upper = ENDS
    points = [
        {"rho": Fraction(19, 20), "chosen": upper, "other": lower},
        {"rho": Fraction(963, 1000), "chosen": lower, "other": upper},
    ]
    domain = r"$\bar\Lambda=10$, $\mathrm{Pdim}=1$, round 1: the printed $p$ at its two ends"
    return compare(at("chosen"), "<", at("other"), points, domain=domain)


CLAIMS = [
    Claim(
        id="eq:penalty-dpp/real",
        kind="definition",
        title="the penalty is real inside the region",
        statement="The penalty that ACDPP minimises is a real number for every admission inside the region, in every "
        r"round. (The paper defines it without a word on $N<\mathrm{Pdim}$, where its logarithm is negative.)",
        formula=r"1+\log\frac{N(t)}{\mathrm{Pdim}}\ge0\quad\forall\,t\ge1,\ \Lambda_{\min}\le\Lambda\le\Lambda_{\max}",
        domain=r"every $\bar\Lambda>0$, $0<\rho<1$, $\mathrm{Pdim}\ge1$, $t\ge1$",
        repair=r"Write $\log^+$ for $\log$, or assume $\mathrm{Pdim}\le e\bar\Lambda(1-\rho)$.",
        checks=(not_real,),
        hypotheses=(r"$\mathrm{Pdim}\le e\bar\Lambda(1-\rho)$",),
        checks_with_hypotheses=(real_from_there_on,),
        sketch=r"$N(t)\ge N(1)\ge\Lambda_{\min}(1)=\bar\Lambda(1-\rho)$, and $1+\log x\ge0$ from $x=1/e$ on.",
        symbols={"x": r"$N/\mathrm{Pdim}$"},
        corrected=Correction(
            title=r"exactly if $\mathrm{Pdim}\le e\bar\Lambda(1-\rho)$; as $\log^+$ if "
            r"$\mathrm{Pdim}\le\bar\Lambda(1-\rho)$",
            statement="Inside the region the printed penalty is real in every round if and only if "
            r"$\mathrm{Pdim}\le e\bar\Lambda(1-\rho)$; so at a fixed $\bar\Lambda$ it is not as $\rho$ tends to 1. If "
            r"$\mathrm{Pdim}\le\bar\Lambda(1-\rho)$, its logarithm is $\log^+$ in every round, and round 1, without "
            r"debt, admits $\Lambda_{\max}(1)$. In between the printed penalty of round 1 rises up to "
            r"$N=\mathrm{Pdim}$ and falls beyond, so that round 1 admits one of its ends: at $\bar\Lambda=10$ and "
            r"$\mathrm{Pdim}=1$ the upper one, 200, at $\rho=19/20$ and the lower one at $\rho=963/1000$. With "
            r"$\log^+$ it is real and its third term falls in $N$, always. (The released code counts $\mathrm{Pdim}$ "
            "samples as seen before round 1, which makes it real as well.)",
            formula=r"p\in\mathbb R\ \ \forall t,\Lambda\iff\mathrm{Pdim}\le e\bar\Lambda(1-\rho)",
            sketch=r"$N(t)\ge\Lambda_{\min}(1)$, attained in round 1 at the lower end, and $1+\log x$ changes its sign "
            r"at $x=1/e$. From $x=1$ on $\log$ and $\log^+$ are the same. In round 1 $n=N=\Lambda$ and $Z=0$, so "
            r"$J_1$ is $V$ times the third term; the slope of its square has the sign of $-\log(N/\mathrm{Pdim})$, so "
            "its minimum over an interval is at an end.",
            given=(WRITTEN,),
            checks={
                "real": real_from_there_on,
                "only then": only_there,
                r"as $\log^+$": lambda: together(*as_printed(REGION, given=LARGE).values()),
                "round 1": without_debt,
                "in between": (turns_at_pdim, either_end),
                r"with $\log^+$": third_term_falls,
            },
        ),
    )
]
