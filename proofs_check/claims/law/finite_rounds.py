r"""Constant admission after t rounds (`law:reuse/finite`): a full memory in closed form, an empty one near it."""

from proofs_check.prelude import *

from proofs_check.groundwork.law.lags import SYMBOLS, a
from theory.law.stationary import full_memory_noise, start_up_bound

EVERY = r"the weights of the law, every $K$, $t$ and whole rate; $0\le a<1$, the last part $0<a<1$"
s = sp.Symbol("s", integer=True, nonnegative=True)
CONTRACTIONS = tuple(Fraction(*pair) for pair in ((0, 1), (1, 10), (2, 3), (99, 100)))


def on_numbers(rounds: str) -> Callable[[Callable[..., Found]], Check]:
    domain = f"$K$ from 1 on, {rounds}, $a$ one of {', '.join(map(str, CONTRACTIONS))}"
    return everywhere(domain, K=by_profile(range(1, 7), range(1, 16)), a=CONTRACTIONS)


@on_numbers(r"$t\le2K+3$")
def against_the_law(K: int, a: Fraction) -> Found:
    """K cohorts in round 1, of which one leaves in each round."""
    T = 2 * K + 3
    entered, left = np.array([1] * K + list(range(2, T + 1))), np.arange(1, K + T)
    law = squared_weights(Cohorts(entered, left, np.ones(len(left), dtype=int)), a, T)
    return differing(closed_form=[full_memory_noise(a, K, rounds) for rounds in range(T + 1)], law=list(law))


@on_numbers(r"$t\le3K+3$")
def from_an_empty_memory(K: int, a: Fraction) -> Found:
    """V <= Λ̄S <= (√V + bound)² in exact numbers: S - V - b² is negative or its square at most 4b²V."""
    T = 3 * K + 3
    noise = squared_weights(by_age([1] * T, K), a, T)
    for rounds in range(1, T + 1):
        full, bound = full_memory_noise(a, K, rounds), start_up_bound(a, K, rounds)
        rest = noise[rounds] - full - bound**2
        if noise[rounds] < full or (rest > 0 and rest**2 > 4 * bound**2 * full):
            return {"t": rounds, "from empty": noise[rounds], "from full": full, "bound": bound}
    return None


CLAIMS = [
    Claim(
        id="law:reuse/finite",
        title="constant admission after $t$ rounds, in closed form",
        statement="If the memory is full from round 1 on, the noise after $t$ rounds of constant admission is "
        r"$V(t)/\bar\Lambda$ in units of a sample's variance, in closed form; from $t=K$ on it approaches $v$ "
        "by a factor $a^2$ per round, from below. If the memory begins empty the noise is at least as large, "
        r"and the square roots differ by at most $a^{t-K+1}(1-a^{K-1})/\sqrt{\bar\Lambda}$ for $t\ge K$.",
        formula=said(
            r"V(t)=v-a^{2(t-K)}(v-V(K)),\quad V(K)=@V\ (t\ge K),\qquad "
            r"\sqrt{V(t)}\le\sqrt{\bar\Lambda\textstyle\sum_ic_i^2}\le\sqrt{V(t)}+@b",
            V=sp.simplify(full_memory_noise(a, K, K)),
            b=start_up_bound(a, K, K + s).subs(s, sp.Symbol("t") - K),
        ),
        domain=r"constant admission, quadratic losses with one Hessian, every $K\ge1$, $t\ge1$ and $0<a<1$ "
        "($t<K$: theory.law.stationary.full_memory_noise)",
        sketch=r"After $t$ rounds $\theta$ is $\sum(1-a)a^{t-\tau}\bar z(\tau)$ plus what is left of the start. "
        r"In a full memory $\bar z(\tau)$ and $\bar z(\tau')$ share $K-|\tau-\tau'|$ cohorts of $K$, so their "
        r"covariance is $(K-|d|)^{+}/(K^2\bar\Lambda)$ in units of $s^2$, and the pairs at the distance $d$ add "
        r"up to a geometric series. A round more adds $(1-a)^2/K^2\sum(K-|d|)a^{2t-|d|}$, which the closed form "
        r"does too: induction over $t$, once for $t<K$ and once for $t\ge K$. From an empty memory round "
        r"$\tau<K$ has only $\tau$ cohorts, and every covariance of two rounds $\tau\le\tau'$ is at least as "
        r"large. If $\tau'\le K$ it is $1/\tau'$ against $(K-d)/K^2$. If $\tau<K\le\tau'$ the two share the "
        r"cohorts from $\tau'-K+1$ to $\tau$, $K-d$ of them or none, as full memories do: $(K-d)^{+}/(\tau K)$ "
        r"against $(K-d)^{+}/K^2$. From $\tau=K$ on both are the same. All weights are positive for $a\ge0$, so "
        "the noise is at least as large. From round $K$ on both memories are the same: what differs are the "
        r"first $K-1$ means, each by a vector of squared length $(1/\tau-1/K)/\bar\Lambda<1/\bar\Lambda$, with "
        r"weights $(1-a)a^{t-\tau}$ that add up to $a^{t-K+1}(1-a^{K-1})$; then the triangle inequality.",
        checks={
            "closed form": (
                theorem("Finite.noise_while_filling", "Finite.noise_when_full", domain=EVERY),
                confirming(against_the_law),
            ),
            "its limit": theorem("Finite.noise_approaches", "Finite.noise_tends", domain=EVERY),
            "from empty: not less": (
                theorem("Finite.noise_from_empty_not_less", domain=EVERY),
                confirming(from_an_empty_memory),
            ),
            "from empty: not much more": (
                theorem("Finite.noise_from_empty_not_much_more", domain=EVERY),
                confirming(from_an_empty_memory),
            ),
        },
        symbols={**SYMBOLS, "V": r"noise after $t$ rounds from a full memory, in the units of $v$"},
    )
]
