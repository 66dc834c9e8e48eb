"""Every command that the documentation shows runs, or, where it would take minutes, is understood.

Commands in blocks are run in the order of their page, in one folder per page, within this process. Long commands are
shortened by the table below. Output that a page shows for commands that run as they stand must be theirs. Commands in
running text and tables are not run, but the command and its options must exist and their values must be readable.
"""

import importlib.util
import re
import shlex
import tomllib
from contextlib import chdir, redirect_stdout, suppress
from functools import cache
from io import StringIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import typer

from acdpp.main import app
from proofs_check.registry import registry, select
from tests.acdpp.program import acdpp, said
from tests.empirics.data.made_data import bright_squares, put

ROOT = Path(__file__).parent.parent
READMES = [ROOT / "README.md", ROOT / "proofs_check" / "README.md"]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in [*sorted((ROOT / "docs").glob("*.md")), *READMES]
}
FENCED = re.compile(r"(?ms)^```(\w*)\n(.*?)^```")


# What to do instead of commands that begin like this: nothing, another command, or the same with more options.
HERE = "--policies constant --rounds 2 --seeds 1"
SHORTER = {
    # tests/proofs_check decide all claims
    "acdpp verify --claim lem:omega3-order": "…",
    "acdpp verify --claim": "acdpp verify --claim eq:Z-update/start",
    "acdpp verify": "",
    "acdpp report": "… --verdicts verdicts.json --no-figures",
    # 500 rounds of six policies, and searches over K, step sizes and policies
    "acdpp predict --preset own": "…",
    "acdpp predict --dataset npz:mine.npz --learner descent --steps": "… --rounds 2 --policies constant",
    "acdpp predict": "… --rounds 2 --no-best --policies constant",
    "acdpp plan --dataset csv:samples.csv": "acdpp plan --help",
    "acdpp plan": "… --rounds 2 --eta 1 --steps 1 --pilot 60",
    "acdpp plot frontier": "… --no-risk",
    "acdpp plot bound-vs-T": "… --horizon 1e4 --rounds 5 --seeds 2",
    # it serves until Ctrl-C: tests/acdpp/explore look at it
    "acdpp explore": "acdpp explore --help",
    # hundreds of rounds
    "acdpp train --drift gradual,start=100,length=300": (
        f"acdpp train --drift gradual,length=2 {HERE} --out results/moves"
    ),
    "acdpp train --seeds 100 --on ray": f"acdpp train {HERE} --out results/many",
    "acdpp resume results/many": "acdpp resume results/many",
    "acdpp train --config study.toml --device cuda": f"acdpp train {HERE} --out results/gpus",
    "acdpp train": "… --rounds 2 --seeds 1",
    # processes of their own, minutes: tests/empirics/federation run them; the folder is of the same kind
    "acdpp federate": f"acdpp train --dataset npz:mine.npz {HERE} --out results/try",
    # a GPU, and 100 rounds of ten seeds
    "acdpp reproduce cifar10": (
        "acdpp reproduce mnist --model logistic --data-dir DIR --device cpu --rounds 1 --seeds 1"
    ),
    "acdpp reproduce": "… --rounds 1 --seeds 1 --device cpu",
    "acdpp explain": "… --rounds 1 --seeds 1 --device cpu",
}


def blocks(page):
    """The blocks of commands of a page, each command as its words, and the output that the next block shows.

    Comments and continued lines are as in a shell.
    """
    found = FENCED.findall(PAGES[page])
    for (language, text), (following, output) in pairwise([*found, ("", "")]):
        if language in ("sh", "console"):
            lines = text.replace("\\\n", " ").splitlines()
            commands = [command for line in lines for command in line.removeprefix("$ ").split("&&")]
            split = [shlex.split(command, comments=True) for command in commands]
            yield [words for words in split if words], output if following == "text" else ""


def inline(page):
    """The commands in running text and tables."""
    for code in re.findall(r"`((?:acdpp|python -m) [^`]+)`", FENCED.sub("", PAGES[page])):
        yield [word for word in shlex.split(" ".join(code.split())) if word != "…"]


@cache
def program():
    return typer.main.get_command(app)


def understood(words):
    """Fail unless the command exists and takes these options and values."""
    if words[:2] == ["python", "-m"]:
        module_takes(words[2], words[3:])
    elif words[0] == "pip":
        known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for extras in re.findall(r"\[(.*?)\]", " ".join(words)):
            assert set(extras.split(",")) <= set(known["optional-dependencies"]), words
    elif words[0] != "pytest":  # the tests run, or this would not
        assert words[0] == "acdpp", words
        program_takes(words[1:])


def program_takes(words):
    command = program()
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    if getattr(command, "commands", None):
        assert set(words) <= {"--help"}, f"no command {words}"
        return
    with redirect_stdout(StringIO()), suppress(typer.Exit):  # --help
        labels = command.make_context("acdpp", words).params.get("claim") or []
        select(registry(), [label for label in labels if label != "LABEL"])


def module_takes(module, options):
    found = importlib.util.find_spec(module)
    assert found is not None, f"no module {module}"
    source = Path(found.origin or "")
    own = source.with_name("__main__.py") if source.name == "__init__.py" else source
    settings = ROOT / "benchmarks" / "studies" / f"{module.rpartition('.')[2]}.toml"
    spelled = set(re.findall(r"--[\w-]+", own.read_text("utf-8")))
    if settings.exists():
        spelled |= {f"--{name}" for name in tomllib.loads(settings.read_text("utf-8"))["options"]}
        spelled |= set(re.findall(r"--[\w-]+", (ROOT / "benchmarks" / "runner.py").read_text("utf-8")))
    for option in options:
        assert not option.startswith("--") or option in spelled, f"{module} has no {option}"


def shortened(words):
    """Words to run for a command: the command itself, unless the table says otherwise."""
    for begins, instead in SHORTER.items():
        first = shlex.split(begins)
        if words[: len(first)] == first:
            same, more = (words, instead[1:]) if instead.startswith("…") else ([], instead)
            return [*same, *shlex.split(more)]
    return words


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    """Files that the pages take for granted: data sets, prices and claims of one's own."""
    folder = tmp_path_factory.mktemp("things")
    put(folder / "DIR", bright_squares())
    drawn = np.random.default_rng(5)
    y = drawn.integers(0, 3, 300)
    x = drawn.normal(size=(300, 6)) + 2 * np.eye(6)[y]
    np.savez(folder / "mine.npz", x=x, y=y)
    rows = [f"{', '.join(map(str, one))}, {'abc'[kind]}" for one, kind in zip(x, y, strict=True)]
    (folder / "samples.csv").write_text("\n".join(["1, 2, 3, 4, 5, 6, kind", *rows]), encoding="utf-8")
    (folder / "prices.csv").write_text("day,price\n1,3\n2,5\n", encoding="utf-8")
    (folder / "best.toml").write_text(
        'preset = "own"\ndataset = "csv:samples.csv"\nlabel_column = "kind"\npolicies = ["constant"]\n'
        '[cost]\nprocess = "trace"\nfile = "prices.csv"\ncolumn = "price"\n',
        encoding="utf-8",
    )
    [made] = [code for _, code in FENCED.findall(PAGES["docs/drift.md"]) if "np.savetxt" in code]
    decided = acdpp("verify", "--claim", "eq:Z-update/start", "--json").stdout
    (folder / "verdicts.json").write_text(decided, encoding="utf-8")
    with chdir(folder):
        exec(made, {})
    return folder


LONG = ("docs/predict.md", "docs/set-budgets.md", "docs/drift.md")  # searches, and training under drift
SHOWN = [page for page in PAGES if any(blocks(page))]


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.slow] * (page in LONG)) for page in SHOWN]
)
def test_the_commands_of_a_page_run(page, things, tmp_path, monkeypatch):
    for thing in things.iterdir():
        (tmp_path / thing.name).symlink_to(thing)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    # tests/figures look at pictures; here they are drawn and not rendered
    monkeypatch.setattr("figures.save.render", lambda *_, **__: b"a picture")
    for commands, shown in blocks(page):
        printed, as_shown = "", True
        for words in commands:
            understood(words)
            if words[0] == "acdpp":
                short = shortened(words)
                as_shown &= short == words
                printed += said(*short[1:]) if short else ""
        if as_shown:
            for line in shown.splitlines():
                assert " ".join(line.strip("… ").split()) in " ".join(printed.split())


@pytest.mark.parametrize("page", [page for page in PAGES if list(inline(page))])
def test_the_commands_in_the_text_are_understood(page):
    """A command without options is a mention, which may leave out what the command requires."""
    for words in inline(page):
        mention = not any(word.startswith("-") for word in words)
        understood([*words, "--help"] if mention else words)


def test_the_examples_of_the_program_are_understood():
    def below(command):
        yield command
        for one in getattr(command, "commands", {}).values():
            yield from below(one)

    shown = [
        example
        for command in below(program())
        for example in re.findall(r"\[bold\](acdpp .*?)\[/bold\]", command.epilog or "")
    ]
    assert len(shown) > 30
    for example in shown:
        understood(shlex.split(example.partition(">")[0]))


def test_every_shortening_is_needed():
    every = [shlex.join(words) for page in PAGES for commands, _ in blocks(page) for words in commands]
    for begins in SHORTER:
        assert any(command.startswith(begins) for command in every), begins


def test_a_command_that_does_not_exist_is_noticed():
    for command in (
        "acdpp nothing",
        "acdpp plot nothing",
        "acdpp design --no-such-option 1",
        "acdpp bound nothing",
        "acdpp verify --claim eq:nothing",
        "python -m benchmarks.nothing",
        "python -m benchmarks.design --nothing 1",
        "pip install '.[nothing]'",
    ):
        with pytest.raises(BaseException):  # noqa: B017, PT011 - of Typer, of the registry, or an assertion
            understood(shlex.split(command))
