"""Which statements the kernel has proved, in a page: `python -m proofs_check.served > docs/kernel.md` renews it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
- **What a mean is.** A linear functional on all functions of a sample space that keeps order and gives a constant its
  value (`Mean.v`). Every finite probability space has one, and in effect no other space: Gaussian samples or geometric
  waits are not covered. A verdict that rests on it says “given finitely many outcomes”.
- **Independence** is used as uncorrelated, centred samples, finitely many; that there are such is proved
  (`Law.such_samples_exist`). Admissions are fixed: what holds holds given them.
- **What is not proved there** keeps its other evidence, and “its written argument” where prose joins it.

| axiom of Coq's classical reals | says |
| --- | --- |
"""


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
    lines = [LEAD + "\n".join(axioms), "", "## Statements", ""]
    lines += [f"{len(statements)} statements and corrections ask the kernel.", ""]
    lines += ["| statement | which | part | theorems |", "| --- | --- | --- | --- |"]
    for claim, spelled, part, names in rows:
        linked = ", ".join(f"[`{name}`](#{_anchor(name)})" for name in names)
        lines.append(f"| `{claim.id}` | {spelled} | {_cell(part)} | {linked} |")
    known = dict.fromkeys(name for _, _, _, names in rows for name in names)
    for module in kernel.modules():
        if any(name.startswith(f"{module}.") for name in known):
            lines += ["", f"## {module}.v", *_theorems(module)]
    return "\n".join([*lines, ""])


def _theorems(module: str) -> Iterator[str]:
    said, states = kernel.words(module), kernel.recorded(module)
    for name, line in kernel.lines(module).items():
        yield f"\n### {module}.{name}"
        yield f"\n{said[name]} (`proofs_check/kernel/{module}.v`, line {line})"
        yield f"\n```coq\n{states[name]}\n```"


def _anchor(name: str) -> str:
    return name.replace(".", "").lower()


def _cell(text: str) -> str:
    return terminal(text).replace("|", "\\|")


if __name__ == "__main__":
    print(page(registry()), end="")
