"""Counterexamples to Theorem 1 as printed, each without one hypothesis that its proof needs.

Mismatch and generalisation terms are 0 or small: D²/(2η) and the per-round constant are left.
"""

from proofs_check.prelude import *

from proofs_check.groundwork.bound.training import Loss, Problem, shown, theta
from theory.reuse.counts import uniformity

Ball = Callable[[], Any]
SIZE = 10**6  # samples in memory, all of them used once
DRIFTING = Constants(D=1, sigma=1, eta=Fraction(1, 500), B=Fraction(1, 2), Pdim=1, E=2 * 169**2, L=1, G=1)


def stated_bound(constants: Constants, T: int, N: int, *, once: bool = True) -> Any:
    """The printed bound, T rounds on the same N samples; D²/(2η) once, as in the proof, or per round, as printed."""
    c = constants.map(ball)
    each = per_round_constant_as_stated(c) + generalisation_term(ball(Fraction(1, N)), ball(N), c)
    return (1 if once else T) * initial_term(c) + T * each


def exceeding(
    excess: Ball, bound: Ball, example: dict[str, Any], problem: Problem, domain: str, **facts: Evidence
) -> Evidence:
    """Two balls, with all that the losses claim; where one claim is wrong the example refutes nothing."""
    found = compare(lambda _: excess(), "<=", lambda _: bound(), [example], domain=domain)
    return obeying(found, {**problem.facts, **facts})


@dataclass(frozen=True)
class DriftingClients:
    """A fixed point of many local steps that is not the minimiser.

    Θ = [0, 1]; ten million clients with one sample each, of two kinds. After E = 2·169² steps each is near its own
    minimiser, 0 or 1, and the average near 1/2; the risk is least at 1/11. (This E makes the printed constant
    rational.)
    """

    rounds: int = 10**4
    clients: int = 10**7
    slack: Fraction = Fraction(1, 10**3)  # how far the share of clients with z = 1 may be from 1/2
    curvature: Fraction = Fraction(1, 10)
    constants: Constants = DRIFTING

    @property
    def problem(self) -> Problem:
        """The two losses with the constants that are claimed for them."""
        losses = (theta**2 / 2, sp.Rational(str(self.curvature)) * (1 - theta) ** 2 / 2)
        name, half = r"$\theta^2/2$ and $(1-\theta)^2/20$", (Fraction(1, 2), Fraction(1, 2))
        return Problem(name, 0, 1, tuple(Loss((f,)) for f in losses), half, self.constants)

    def cumulative_gap(self, *, population: bool) -> Any:
        """A ball around the expected sum of gaps, of F_P or of F_all; Hoeffding's bound covers unequal shares."""
        import flint

        with precise():
            one, beta = flint.arb(1), ball(self.curvature)
            share = one / 2 + ball(self.slack) * flint.arb(0, 1)
            steep = (one - ball(self.constants.eta)) ** self.constants.E
            flat = (one - ball(self.constants.eta) * beta) ** self.constants.E
            first, second = (one / 2, beta / 2) if population else (share, (1 - share) * beta)
            x, total, best = one / 2, flint.arb(0), second / (first + second)
            for _ in range(self.rounds):
                total += (first + second) / 2 * (x - best) ** 2
                x = share * steep * x + (1 - share) * (1 - flat * (1 - x))
            chance = 2 * (-2 * self.clients * ball(self.slack) ** 2).exp()
            most = self.rounds * ball(self.constants.B)
            return total * (1 - chance) + chance * most * flint.arb(0).union(one)

    def against(self, bound: Callable[[Constants, int], Any], *, population: bool) -> Evidence:
        """The gap and a bound on it, of the constants and T."""
        c = self.constants
        return exceeding(
            lambda: self.cumulative_gap(population=population),
            lambda: bound(c, self.rounds),
            {"T": self.rounds, "E": c.E, "eta": c.eta, "n = N": self.clients},
            self.problem,
            f"losses {self.problem.name} on [0, 1], one sample per client, kept for ever, so mismatch 0; share of "
            r"each loss $1/2\pm1/1000$",
        )


def local_steps() -> Evidence:
    """Convex, projected, one distribution, blind to values; but E > 1 full steps."""
    example = DriftingClients()
    return example.against(lambda c, T: stated_bound(c, T, example.clients), population=True)


STEPS_MIN = 41  # local steps of the next example; with 40 it stays below the printed bound


def huber_and_slope() -> Evidence:
    """Two kinds of clients that balance after 41 local steps at 17.2, where the risk has slope 0.414.

    One loss is flat below 0 and has slope 1 from 1/L on, the other has slope -1 everywhere. Shares are within the slack
    of their chances by Hoeffding; then the interval around 17.2 is mapped into itself, since steps preserve order.
    """
    T, N, chance, slack = 10**6, 10**12, Fraction(707, 1000), Fraction(1, 10**5)
    L, low, here = Fraction(27, 250), Fraction(581, 100), (Fraction(1719, 100), Fraction(1721, 100))
    c = Constants(D=here[1] - low, sigma=1, eta=1, B=13, Pdim=2, E=STEPS_MIN, L=L, G=1)
    bent = sp.Rational(str(L))
    walker = Loss((0 * theta, bent * theta**2 / 2, theta - 1 / (2 * bent)), (0, 1 / L))
    losses, name = (walker, Loss((sp.Rational(str(here[1])) - theta,))), "a Huber loss on one side and a line"
    problem = Problem(name, low, here[1], losses, (chance, 1 - chance), c)

    def after(x: Fraction, share: Fraction) -> Fraction:
        """A round: the average of the clients' places after their local steps."""
        walked: Any = x
        for _ in range(c.E):
            walked -= c.eta * walker.slope_at(walked)
        return Fraction(share * walked + (1 - share) * (x + c.E * c.eta))

    stays = shown(
        here[0] <= after(here[0], chance + slack)
        and after(here[1], chance - slack) <= here[1]
        and L * c.eta <= 1,
        r"$[17.19,17.21]$: a larger share walks farther down, and steps with $\eta L\le1$ keep the order",
    )
    gap = problem.risk(here[0]) - problem.risk(low)  # the risk is convex: above here[0] the gap is no smaller
    rare = 2 * (-2 * ball(N) * ball(slack) ** 2).exp()
    return exceeding(
        lambda: T * ball(gap) * (1 - rare),
        lambda: stated_bound(c, T, N),
        {"T": T, "E": c.E, "eta": c.eta, "n = N": N, "L": L, "D": c.D},
        problem,
        "a Huber loss on one side and a line, one sample per client, kept for ever, so mismatch 0; projected",
        **{"the model stays where it is": stays},
    )


# minima f(0) = 1 and f(1) = 0, a maximum at 1/4
WELL = Problem(
    r"$1+3\theta^2-10\theta^3+6\theta^4$",
    0,
    1,
    (Loss((1 + 3 * theta**2 - 10 * theta**3 + 6 * theta**4,)),),
    (1,),
    Constants(D=1, sigma=1, eta=Fraction(1, 100), B=Fraction(17, 16), Pdim=1, G=Fraction(5, 2)),
    convex=False,
)


def trapped(most: Any) -> Evidence:
    """From [0, 1/4] a step of at most `most` leads back there, where the loss is at least 1; its minimum is 0, at 1."""
    (x, eta), quarter = sp.symbols("theta eta", nonnegative=True), sp.Rational(1, 4)
    loss = WELL.losses[0].pieces[0].subs(theta, x)
    after = x - eta * sp.diff(loss, x)
    return always(
        [after >= 0, after <= quarter, loss - loss.subs(x, 1) >= 1],
        given=[x <= quarter, eta <= sp.Rational(str(most))],
        domain=rf"every start in $[0,1/4]$, every $\eta\le{most}$",
    )


def non_convex() -> Evidence:
    """Descent in the double well, from 1/8: it tends to the local minimum 0."""
    constants, (loss,), T, start = WELL.constants, WELL.losses, 100, Fraction(1, 8)

    def descent() -> Any:
        x, total = ball(start), ball(0)
        for _ in range(T):
            total += loss.at(x) - ball(loss.at(Fraction(1)))
            x -= ball(constants.eta) * loss.slope_at(x)
        return total

    point = {"T": T, "eta": constants.eta, "start": start, "n = N": SIZE, "G": constants.G, "B": constants.B}
    return exceeding(
        descent,
        lambda: stated_bound(constants, T, SIZE),
        point,
        WELL,
        f"the loss {WELL.name} on [0, 1], $E=1$; descent from $1/8$ tends to the local minimum 0",
        **{r"the iterates stay in $\Theta$": trapped(constants.eta)},
    )


def basin() -> Evidence:
    """Every start in [0, 1/4] stays there for every η <= 1/20, where the printed constant is less than 1."""
    eta, G, most = sp.Symbol("eta", positive=True), sp.Rational(str(WELL.constants.G)), sp.Rational(1, 20)
    constant = per_round_constant_as_stated(Constants(D=1, sigma=1, eta=eta, B=1, Pdim=1, G=G))
    small = always(constant < 1, given=[eta <= most], domain=r"every $\eta\le1/20$")
    found = refutes(
        trapped(most),
        "descent never leaves $[0,1/4]$, where the excess risk is at least 1 in every round; the bound grows by less",
    )
    return obeying(found, {**WELL.facts, "a printed constant below 1": small})


def no_projection() -> Evidence:
    """θ²/2 on [-1, 1] with η = 3: θ ↦ -2θ leaves Θ, and the excess grows like 4^t."""
    T = 8
    constants = Constants(D=2, sigma=1, eta=3, B=Fraction(1, 2), Pdim=1, L=1, G=1)
    problem = Problem(r"$\theta^2/2$", -1, 1, (Loss((theta**2 / 2,)),), (1,), constants)
    loss, x, excess = problem.losses[0], Fraction(1), Fraction(0)
    for _ in range(T):
        excess += loss.at(x)
        x -= constants.eta * loss.slope_at(x)
    return exceeding(
        lambda: ball(excess),
        lambda: stated_bound(constants, T, SIZE, once=False),
        {"T": T, "eta": 3, "start": 1, "next iterate": x, "n = N": SIZE},
        problem,
        r"the convex loss $\theta^2/2$ on $[-1,1]$, $E=1$, no projection; even with $D^2/(2\eta)$ counted in "
        "every round",
    )


def _every_round(constants: Constants, T: int) -> Any:
    return stated_bound(constants, T, SIZE, once=False)


def two_points(bound: Callable[[Constants, int], Any] = _every_round) -> Evidence:
    """Θ = {0, 1} is not convex: a loss of 100 at 0 and 0 at 1, flat at both; the model stays at 0."""
    T, loss = 10, 100 * (1 - 3 * theta**2 + 2 * theta**3)
    c = Constants(D=1, sigma=Fraction(1, 100), eta=1, B=100, Pdim=1, L=1, G=Fraction(1, 100))
    start, best = (loss.subs(theta, at) for at in (0, 1))
    slopes = [sp.diff(loss, theta).subs(theta, at) for at in (0, 1)]
    found = compare(
        lambda _: ball(T * Fraction(int(start - best))),
        "<=",
        lambda _: bound(c, T),
        [{"T": T, "Θ": "{0, 1}", "start": 0, "eta": 1, "n = N": SIZE}],
        domain=r"the loss $100(1-3\theta^2+2\theta^3)$ on $\Theta=\{0,1\}$, $E=1$, every iterate 0, in $\Theta$; "
        r"$D^2/(2\eta)$ counted in every round",
    )
    flat = f"the slopes are {slopes}"
    facts = {
        r"$\theta^\star=1$ and $0\le\ell\le B$": (0 <= best < start <= c.B, f"losses {start}, {best}"),
        r"$\Theta$ has diameter $D$": (c.D == 1, "from 0 to 1"),
        r"$|\nabla\ell|\le G$, $L$-smooth, variance 0, and the model stays": (slopes == [0, 0], flat),
        r"$\mathrm{Pdim}$": (2 ** (c.Pdim + 1) > 2, "two losses shatter no two points"),
    }
    return obeying(found, {name: shown(true, says) for name, (true, says) in facts.items()})


def dropping_by_value() -> Evidence:
    """Clients keep the n largest of N = 4n samples, almost surely all 1: the model stays at -1/2, where θ* = 1/2."""
    n, T, eta, half, chance = SIZE, 1000, Fraction(1, 100), Fraction(1, 2), Fraction(3, 8)
    constants = Constants(D=1, sigma=1, eta=eta, B=1, Pdim=1, G=1)
    losses = (Loss((half + theta,)), Loss((half - theta,)))
    problem = Problem(r"$1/2+z\theta$", -half, half, losses, (chance, 1 - chance), constants)
    worst = problem.risk(-half) - problem.risk(half)  # the excess where the model stays

    def excess() -> Any:
        # θ¹ = -1/2, θ² <= -1/2 + η, and from θ³ on -1/2 again; 4n draws have a share of at least 1/4 of ones
        short = (-2 * ball(4 * n) * ball(chance - Fraction(1, 4)) ** 2).exp()
        return ball((T - 2) * worst) * (1 - short)

    def bound() -> Any:
        # of every four samples one is used in each round and three in the first alone
        reuse = [ball(Fraction(uniformity([t, 1, 1, 1]))) for t in range(1, T + 1)]
        sizes = [ball(4 * n), *[ball(n)] * (T - 1)]
        return theorem_1_as_stated(sizes, [ball(4 * n)] * T, reuse, constants.map(ball)).total

    return exceeding(
        excess,
        bound,
        {"T": T, "eta": eta, "n": n, "N": 4 * n, "start": -half},
        problem,
        r"convex losses $1/2+z\theta$ on $[-1/2,1/2]$, $z=1$ with chance $3/8$, else $-1$; projected, $E=1$, "
        "one distribution; clients keep the $n$ largest $z$",
    )
