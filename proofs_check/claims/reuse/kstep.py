"""Ṽ under K-step retention, by the two boundary deficits, for any admissions (`eq:kstep-vtilde-exact`)."""

from proofs_check.prelude import *

from proofs_check.symbols import K as horizon
from theory.reuse import counts as reuse
from theory.reuse import trajectories

D1, D2 = sp.symbols("D1 D2", nonnegative=True)  # the boundary deficits

ANY = r"any $K\ge1$, clients, admissions (zeros and bursts)"


def _path(totals: list[int], K: int, view: Snapshot) -> dict[str, tuple[Any, Any]]:
    """The linear-time path that training takes, in whole numbers, round by round, with its n, N and N_eff."""
    path, at = trajectories.trajectory(totals, K), view.round - 1
    return {
        "n": (path.n[at], view.n),
        "N": (path.N[at], view.N),
        "Ṽ": (path.uniformity[at], view.uniformity),
        "N_eff": (path.effective[at], reuse.effective_sample_size(list(view.uses.values()))),
    }


def against_samples(
    formulas: Callable[[list[int], int, Snapshot], dict[str, tuple[Any, Any]]],
    domain: str,
    examples: tuple[int, int],
    **runs: Any,
) -> Check:
    """Looks at every round of a run for a formula that differs from the samples, counted one by one."""

    @drawn(domain, examples, **runs)
    def differs(K: int, rounds: list[list[int]]) -> Found:
        totals = [sum(amounts) for amounts in rounds]
        for view in simulate(rounds, K):
            for name, (formula, counted) in formulas(totals, K, view).items():
                if formula != counted:
                    return {"round": view.round, "of": name, "formula": formula, "counted": counted}
        return None

    return confirming(differs)


CLAIMS = [
    Claim(
        id="eq:kstep-vtilde-exact",
        kind="equation",
        title=r"$\widetilde V$ under $K$-step retention, any admissions",
        statement="The representation of the uniformity by the two boundary deficits is exact in every "
        "round, when nothing was admitted before round 1.",
        formula=said(r"\widetilde V=@V", V=reuse.uniformity_from_deficits(N, D1, D2, horizon)),
        domain=f"{ANY}, memory empty before round 1",
        checks={
            "deficits, round by round": theorem(
                "Reuse.uses_are_counted", "Reuse.first_by_deficit", "Reuse.second_by_deficit", domain=ANY
            ),
            "formula": (
                theorem("Reuse.uniformity_by_deficits", domain=ANY),
                against_samples(
                    # theory's Ṽ of every prefix
                    lambda totals, K, view: {
                        "Ṽ": (reuse.uniformity_kstep(totals[: view.round], K), view.uniformity)
                    },
                    f"{ANY}, every round from the first on",
                    (100, 1500),
                    K=retentions(),
                    rounds=admissions(clients=3, rounds=10),
                ),
                against_samples(
                    _path,
                    "any $K$, something admitted in every round",
                    (60, 1000),
                    K=retentions(6),
                    rounds=admissions(clients=2, rounds=11, most=9).filter(lambda rows: all(map(sum, rows))),
                ),
            ),
        },
        sketch="Induction over the rounds, one sample after the other. A new sample has been used once and lacks "
        "$K-1$ uses ($K^2-1$ in squares); one that stays gains a use and lacks one less; one of age $K$ lacks "
        r"nothing, then or later. So $K\cdot N-D^{(1)}=\sum A$ and $K^2\cdot N-D^{(2)}=\sum A^2$ pass from each "
        r"round to the next. Then $\widetilde V$ is $(\sum A)^2/(N\sum A^2)$.",
        symbols={
            "D": r"boundary deficits: $\Lambda$ weighted by $K-a$ (first) and $K^2-a^2$ (second), summed "
            "over the ages $a<K$"
        },
    )
]
