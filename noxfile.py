"""Named tasks: `nox -s lint types`, `nox -s test -- tests/theory`; `nox -l` lists them.

Each task has its own environment, with the versions of constraints.txt and the Python that runs nox.
Words after `--` go to the task's last command.
"""

from pathlib import Path

import nox

nox.options.sessions = ["lint", "types", "test"]
nox.options.reuse_existing_virtualenvs = True
PYTEST = ("pytest", "-n", "2", "--dist", "loadfile")


def install(session: nox.Session, extra: str = "dev") -> None:
    """Install the tree in place, with an extra."""
    session.install("-c", "constraints.txt", "-e", f".[{extra}]")


@nox.session
def test(session: nox.Session) -> None:
    """Run the tests that take less than 5 minutes together."""
    install(session)
    session.run(*PYTEST, *session.posargs)


@nox.session
def slow(session: nox.Session) -> None:
    """Run the tests that take minutes each; give folders or files to run fewer."""
    install(session)
    session.run(*PYTEST, "-m", "slow", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting."""
    session.install("-c", "constraints.txt", "ruff")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check types, strictly."""
    install(session)
    session.run("mypy", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site strictly, check its links and run the commands that its pages show."""
    install(session)
    pages = (
        "tests/test_site.py",
        "tests/test_docs.py",
        "tests/test_numbers.py",
        "tests/test_conclusions.py",
        "tests/test_readme.py",
        "tests/test_commands_shown.py",
    )
    session.run(*PYTEST, "-m", "slow or not slow", *pages, *session.posargs)


@nox.session
def kernel(session: nox.Session) -> None:
    """Have Coq check every proof; needs coqc with Coquelicot."""
    install(session, "verify")
    session.run("acdpp", "verify", "--kernel", *session.posargs)


@nox.session
def mutants(session: nox.Session) -> None:
    """Plant errors and list those that no claim and no test notices; give --only MODULE for some."""
    install(session)
    session.run("python", "-m", "benchmarks.mutants", *session.posargs)


@nox.session
def record(session: nox.Session) -> None:
    """Write ledger, generated pages and recorded numbers anew; needs coqc. Say in the commit why they changed."""
    install(session)
    session.run("acdpp", "verify", "--kernel", "--record")
    for module, page in (("proofs_check.claims_page", "claims"), ("proofs_check.kernel_page", "kernel")):
        with Path(f"docs/{page}.md").open("w", encoding="utf-8") as out:
            session.run("python", "-m", module, stdout=out)
    session.run("python", "-m", "docs.numbers")
    recorded = ("tests/empirics/test_recorded.py", "tests/figures/test_drawing.py")
    session.run("pytest", *recorded, *session.posargs, env={"ACDPP_RECORD": "1"})


@nox.session
def release(session: nox.Session) -> None:
    """Test source distribution and wheel, then build both into dist/."""
    install(session)
    session.run("pytest", "tests/test_distribution.py", "tests/test_citation.py")
    session.install("build")
    session.run("python", "-m", "build", *session.posargs)
