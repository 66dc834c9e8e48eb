"""Retention rules that satisfy the printed bound on the mismatch, χ <= 1/n - 1/N_eff."""

from proofs_check.prelude import *

from proofs_check.groundwork.bound import one_round
from proofs_check.groundwork.reuse import reuse_rounds
from proofs_check.groundwork.reuse.constant_counts import s
from proofs_check.groundwork.reuse.reuse_rounds import kstep_sums, p, printed_bound, q, r

A, S1, S2, kept = sp.symbols("A S1 S2 U", positive=True)  # a count; ΣA, ΣA², and ΣA over the memory
gone = sp.Symbol("gone", nonnegative=True)  # samples no longer in memory
ROUNDS = 4
stay = st.tuples(st.integers(1, ROUNDS), st.integers(1, ROUNDS)).map(lambda ends: (min(ends), max(ends)))
STAYS = st.lists(stay, min_size=1, max_size=6).filter(lambda x: any(last == ROUNDS for _, last in x))


def _sides(size: Any, first: Any, second: Any, in_memory: Any) -> tuple[Any, Any]:
    """χ and 1/n - 1/N_eff, in sums."""
    chi = mismatch_from_sums(size, first, second, in_memory)
    return chi, 1 / size - 1 / effective_from_sums(first, second)


def _equal(*sums: Any, domain: str) -> Evidence:
    return equal(*_sides(*sums), domain=domain, what=r"$\chi$ and $1/n-1/N_{\mathrm{eff}}$")


def _last_round(stays: list[tuple[int, int]]) -> Snapshot:
    """Samples by the first and the last round of their stay, whatever rule made it; the last round's view."""
    uses = {(0, i): last - first + 1 for i, (first, last) in enumerate(stays)}
    memory = tuple((0, i) for i, (_, last) in enumerate(stays) if last == ROUNDS)
    return Snapshot(ROUNDS, memory, uses)


@drawn("any retention rule, four rounds; a stay is its first and last round", (100, 100), stays=STAYS)
def as_printed(stays: list[tuple[int, int]]) -> Found:
    view = _last_round(stays)
    chi, printed = view.mismatch, printed_bound(view)
    return unless(chi <= printed, **{"reuse counts": list(view.uses.values())}, χ=chi, printed=printed)


def rule_equivalence() -> Evidence:
    """Both sides are 2(W/n - 1/N_eff) >= 0, multiplied by positive numbers."""
    return always(sp.Equivalent(sp.Le(*_sides(n, S1, S2, kept)), kept / n >= S2 / S1), domain="any rule")


@drawn("any retention rule", (150, 2000), stays=STAYS)
def rule_simulated(stays: list[tuple[int, int]]) -> Found:
    view = _last_round(stays)
    total, squares = sum(view.uses.values()), sum(a * a for a in view.uses.values())
    average = Fraction(sum(view.uses[i] for i in view.memory), view.n)
    bounded = view.mismatch <= printed_bound(view)
    return differing(bounded=bounded, used_enough=average >= Fraction(squares, total))


def equality_for_any_admissions() -> Evidence:
    """The counts in memory are equal (q² = pr), and nothing is gone or they are K like those gone (q = Kp)."""
    all_equal = sp.And(sp.Eq(q**2, p * r), sp.Or(sp.Eq(gone, 0), sp.Eq(q, K * p)))
    below = sp.Le(*_sides(p, *kstep_sums(q, r, gone), q))
    return argument(
        (
            sp.Equivalent(below, all_equal),
            [q**2 <= p * r, q <= K * p],
            "$K$-step retention, any admissions, any round with samples in memory",
        ),
        one_round.cauchy_schwarz(),
        reuse_rounds.cauchy_schwarz_equality(),
        (q + A <= K * (p + 1), [q <= K * p, A <= K], "one more sample in memory, used at most $K$ times"),
    )


def no_reuse() -> Evidence:
    """K = 1: every sample seen has been used once, those in memory too."""
    used = uses_kstep(1 + s, 1)
    return _equal(n, used * (n + gone), used**2 * (n + gone), used * n, domain="$K=1$, any admissions")


def core_and_fresh() -> Evidence:
    """a samples kept for ever, used t times each, and b fresh ones per round, used once each."""
    a, b = sp.symbols("a b", integer=True, positive=True)
    domain = "every core $a$, every fresh $b$, every $t$"
    return _equal(a + b, a * t + b * t, a * t**2 + b * t, a * t + b, domain=domain)


CLAIMS = [
    Claim(
        id="eq:sigma-bar-Neff-app/retention",
        kind="reading",
        title="the same, for every retention rule",
        statement=r"At a fixed $\theta$ the mean squared mismatch is at most $\sigma^2(1/n-1/N_{\mathrm{eff}})$, "
        "whatever the retention rule. (The paper's statement is counted as eq:sigma-bar-Neff-app.)",
        formula=r"\chi\le\tfrac1n-\tfrac1{N_{\mathrm{eff}}}",
        domain=r"any retention rule, any round with samples in memory, $\theta$ fixed",
        hypotheses=(r"the samples in memory have on average been used at least $\sum A^2/\sum A$ times",),
        checks=(as_printed,),
        checks_with_hypotheses=(rule_equivalence, confirming(rule_simulated)),
        corrected=Correction(
            title=r"if and only if memory is used $\ge\sum A^2/\sum A$ on average",
            statement=r"$\chi\le1/n-1/N_{\mathrm{eff}}$ holds if and only if the samples in memory have on average "
            r"been used at least $\sum A^2/\sum A$ times. $K=1$ does it with equality, and so does a core kept for "
            r"ever next to fresh samples used once; $K$-step retention with $K\ge2$ only while all counts are equal.",
            formula=r"\chi\le\tfrac1n-\tfrac1{N_{\mathrm{eff}}}\iff"
            r"\frac1n\sum_{i\in Q}A_i\ge\frac{\sum A_i^2}{\sum A_i}",
            sketch=r"$1/n-1/N_{\mathrm{eff}}-\chi=2(W/n-1/N_{\mathrm{eff}})$, with $W=\sum_QA/\sum A$ and "
            r"$1/N_{\mathrm{eff}}=\sum A^2/(\sum A)^2$. Under $K$-step retention this is at most 0, as told under "
            "eq:sigma-bar-Neff-app, and 0 if and only if the counts in memory are equal, and equal to $K$ if any "
            "sample is gone.",
            checks={
                "if and only if": (rule_equivalence, confirming(rule_simulated)),
                "$K=1$": no_reuse,
                "a core and fresh samples": core_and_fresh,
                "$K$-step": equality_for_any_admissions,
            },
        ),
    )
]
