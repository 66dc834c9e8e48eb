"""Named tasks: `nox -s lint types`, `nox -s test -- tests/theory`; `nox -l` lists them.

Tasks run in the environment of nox itself, which has the extra `dev` (CONTRIBUTING.md, Set up); only `release` makes
its own, to build in. Words after `--` go to the task's last command.
"""

from pathlib import Path

import nox

nox.options.sessions = ["lint", "types", "test"]
nox.options.default_venv_backend = "none"
PYTEST = ("pytest", "-n", "2", "--dist", "loadfile")


@nox.session
def test(session: nox.Session) -> None:
    """Run the tests that take less than 5 minutes together."""
    session.run(*PYTEST, *session.posargs)


@nox.session
def slow(session: nox.Session) -> None:
    """Run the tests that take minutes each; give folders or files to run fewer."""
    session.run(*PYTEST, "-m", "slow", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting."""
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check types, strictly."""
    session.run("mypy", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site strictly, check its links and run the commands that its pages show."""
    pages = (
        "tests/test_site.py",
        "tests/test_docs.py",
        "tests/test_conclusions.py",
        "tests/test_commands_shown.py",
    )
    session.run(*PYTEST, "-m", "slow or not slow", *pages, *session.posargs)


@nox.session
def kernel(session: nox.Session) -> None:
    """Have Coq check every proof; needs coqc with Coquelicot."""
    session.run("acdpp", "verify", "--kernel", *session.posargs)


@nox.session
def mutants(session: nox.Session) -> None:
    """Plant errors and list those that no claim and no test notices; give --only MODULE for some."""
    session.run("python", "-m", "benchmarks.mutants", *session.posargs)


@nox.session
def record(session: nox.Session) -> None:
    """Write ledger, generated pages and recorded numbers anew; needs coqc. Say in the commit why they changed."""
    session.run("python", "-m", "proofs_check")
    for module, page in (("proofs_check.claims_page", "claims"), ("proofs_check.kernel_page", "kernel")):
        with Path(f"docs/{page}.md").open("w", encoding="utf-8") as out:
            session.run("python", "-m", module, stdout=out)
    session.run("python", "-m", "docs.numbers")
    recorded = (
        "tests/empirics/test_recorded.py",
        "tests/figures/test_drawing.py",
        "tests/proofs_check/test_claims.py",
    )
    session.run("pytest", *recorded, *session.posargs, env={"ACDPP_RECORD": "1"})


@nox.session(venv_backend="virtualenv", reuse_venv=True)
def release(session: nox.Session) -> None:
    """Test source distribution and wheel, then build both into dist/."""
    session.run("pytest", "tests/test_distribution.py", external=True)
    session.install("build")
    session.run("python", "-m", "build", *session.posargs)
