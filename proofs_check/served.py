"""Which statements the kernel has proved, in a page: `python -m proofs_check.served > docs/kernel.md` renews it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import fill

from proofs_check.claim import Claim, Role
from proofs_check.engines import kernel
from proofs_check.registry import registry
from proofs_check.text import terminal

__all__ = ["page", "proved"]

LEAD = """# What Coq has checked

Statements below are proved in Coq, whose kernel checks every step. One command has it check all of them here:

```sh
acdpp verify --kernel
```

It compiles the files of `proofs_check/kernel`, has `coqchk` check what was compiled once more and list what is
assumed, and reads the axioms of each file's theorems, together, with `Print Assumptions`. An axiom of our own, or one
that is not in the table, makes it refuse. That takes a few minutes the first time and seconds after that: what Coq has
said is kept by the content of the files. On Debian or Ubuntu `apt-get install coq libcoq-coquelicot`
installs what it needs. Without Coq every other command works, and a verdict says that the kernel was not asked: it
rests on the record (`proofs_check/kernel/recorded.json`), which names the sources by their content.

- **One formula, one place.** Theorems are about definitions that are generated from `theory`'s own functions
  (`python -m proofs_check.kernel.formulas`). A test compares. A formula that changes leaves its theorems without a
  record until Coq has accepted them again.
- **What a mean is.** A functional that is defined for some variables, the integrable ones, is linear, keeps order and
  gives a constant its value (`Mean.v`): what all integrals have in common. A theorem says which variables it needs
  means of. Weighted sums over finitely many outcomes are means, series over a sequence of outcomes, and integrals
  with a density on the line such as the Gaussian one; what two spaces make together is one more (`Means.v`).
- **A mean given the past** has the mean of the variable itself, also after multiplication by what the past knows. No
  more is used; on a product of two spaces the first variable is such a past.
- **Independence** is used as uncorrelated, centred samples, finitely many; of every law with a variance there are such.
  Admissions are fixed: what holds holds given them.
- **What is not proved there** keeps its other evidence, and “its written argument” where prose joins it.

What resists, and why:

- The regret to $O(1)$ (`thm:dpp-regret/expansion`): Coq has its leading term, uniformly over all policies inside the
  region (`Inside.v`). The rest needs the integral $H$, with the imaginary error function, and the limit of a sum less
  its integral; the libraries have neither.
- How far two policies can be apart as ρ tends to 1 (`thm:dpp-regret/spread`): some twenty estimates with constants.
  At a fixed ρ Coq has that they agree but for what is small against √(T log T).
- The generalisation gap (`lem:gen-Neff-app`): covering numbers and Haussler's bound, for which there is no library.
  Theorem 1 has it as a hypothesis.
- That prices average out in the long run (`buy:limit`, `buy:bursts`, `buy:best-rule`): laws of large numbers. On every
  path, and in the mean, what money buys is proved.
- Bayes's formula for densities (`law:averaged/nobody`): there is no measure theory here. That a sample adds its
  precision is proved, and that the variance that is left bounds every estimate's error.

That these words are about something is proved as well: {examples}.

| axiom of Coq's classical reals | says |
| --- | --- |
"""

# theorems that serve no claim of their own: the words in which others are stated are not empty
EXAMPLES = (
    "Means.finite_mean",
    "Means.countable_mean",
    "Means.waits_have_a_mean",
    "Means.mean_of_a_density",
    "Means.a_past_exists",
    "Means.such_samples_exist",
)


def proved(claims: Sequence[Claim]) -> Iterator[tuple[Claim, str, str, tuple[str, ...]]]:
    """Claims that ask the kernel: which statement, which part of it, which theorems."""
    roles: tuple[tuple[Role, str], ...] = (
        ("stated", "as stated"),
        ("hypotheses", "with its added hypotheses"),
        ("corrected", "corrected"),
    )
    for claim in claims:
        for role, spelled in roles:
            for part, check in claim.checks_for(role):
                if names := getattr(check, "theorems", ()):
                    yield claim, spelled, part, names


def page(claims: Sequence[Claim]) -> str:
    """The axioms, the statements with their theorems, and every theorem in words and in Coq."""
    rows = list(proved(claims))
    axioms = [f"| `{name}` | {says} |" for name, says in kernel.ALLOWED.items()]
    statements = dict.fromkeys((claim.id, spelled) for claim, spelled, _, _ in rows)
    lines = [LEAD.format(examples=_linked(EXAMPLES)) + "\n".join(axioms), "", "## Statements", ""]
    lines += [f"{len(statements)} statements and corrections ask the kernel.", ""]
    lines += ["| statement | which | part | theorems |", "| --- | --- | --- | --- |"]
    for claim, spelled, part, names in rows:
        lines.append(f"| `{claim.id}` | {spelled} | {_cell(part)} | {_linked(names)} |")
    known = dict.fromkeys((*EXAMPLES, *(name for _, _, _, names in rows for name in names)))
    for module in kernel.modules():
        if any(name.startswith(f"{module}.") for name in known):
            lines += ["", f"## {module}.v", *_theorems(module)]
    return "\n".join([*lines, ""])


def _theorems(module: str) -> Iterator[str]:
    said, states = kernel.words(module), kernel.recorded(module)
    for name, line in kernel.lines(module).items():
        yield f"\n### {module}.{name}"
        yield f"\n{said[name]} (`proofs_check/kernel/{module}.v`, line {line})"
        yield f"\n```coq\n{_folded(states[name])}\n```"


def _folded(statement: str) -> str:
    """For a terminal; Coq takes any white space."""
    return fill(statement, 78, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _linked(names: Sequence[str]) -> str:
    return ", ".join(f"[`{name}`](#{name.replace('.', '').lower()})" for name in names)


def _cell(text: str) -> str:
    return terminal(text).replace("|", "\\|")


if __name__ == "__main__":
    print(page(registry()), end="")
