"""Hundreds of wrong settings, and odd valid ones: each gives a sentence, or a run."""

import json
import math
import random
import resource
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer

from acdpp.main import app
from empirics.settings.costs import CostProcess
from empirics.settings.study import Study
from tests.attack.arena import Arena, Fault, plainly, start
from theory.setting import SettingError

MEMORY = 12 * 2**30  # bytes of address space for an odd study
# fmt: off
VALUES: tuple[Any, ...] = (
    None, True, False, "", " ", "none", "a", "nan", "1e9", "acdpp", "ünï", "a\nb", "a\x00b", "a\x1b[31mb", "\ud800",
    0, 1, -1, 2, 3, 7, 10**6, 2**31, 2**32 - 1, 2**32, 2**53, 2**53 + 1, 10**18, 10**400, -(10**400),
    0.0, -0.0, 0.5, 0.999999, 1.5, 1e-320, 1e-15, 1e-9, 1e9, 1e15, 1e300, 1e308, math.nan, math.inf, -math.inf,
    [], [[]], [1], [0], [-1], [1.5], [True], ["a"], ["risk"], ["risk", "risk"], [None], [10**9], [1, 2, 3], [0.5, 0.5],
    [math.nan], [1] * 300, ["constant"], ["constant", "oracle"], ["no.module:thing"], ["os:path"], ["json:"], [":"],
    {}, {"a": 1}, {"process": "markov"}, {"low": 5}, {"process": []}, {"process": "trace", "file": "no.csv"}, [{}],
    "x" * 10**5, [["x"] * 1000], "npz:no.npz", "npz:", "npz:.", "os:path", "json:no", ":", "../digits", "given:mine",
)
# fmt: on
NAMES = (*(f.name for f in fields(Study)), *(f"cost.{f.name}" for f in fields(CostProcess)))
NAMES += ("round", "", "ünï\n", "cost.lo")


def wrong_value(name: str, value: Any) -> str:
    """A value for a setting, without a command line: a sentence, or a study that comes back from its document."""
    document = {"cost": {name[5:]: value}} if name.startswith("cost.") else {name: value}
    try:
        study = Study.from_document(document)
        again = Study.from_document(json.loads(json.dumps(study.document())))
    except SettingError as error:
        sentence = str(error)
        if not sentence.isprintable() or not 10 < len(sentence) < 1000:
            raise Fault("wrong", f"no sentence: {sentence[:500]!r}") from None
        return sentence
    if again != study:
        raise Fault("wrong", "it does not come back from its document")
    return ""


def _toml(value: Any) -> str | None:
    """The value in TOML, if it can be written there."""
    if value is None:
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "inf", -math.inf: "-inf"}.get(value, "nan")
    if isinstance(value, dict):
        inner = [(key, _toml(one)) for key, one in value.items()]
        return "{" + ", ".join(f"{key} = {one}" for key, one in inner if one) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(filter(None, map(_toml, value))) + "]"
    return json.dumps(value)


# fmt: off
OPTIONS = (
    "--rounds", "--seeds", "--seed", "--policies", "--sweep", "--dataset", "--model", "--device", "--cost",
    "--data-dir", "--preset", "--config", "--out",
)
WORDS = (
    "", " ", "ünï", "a\nb", "\x1b[31m", "x" * 300, "\udcff", f"K={'9' * 300}", "[bold]", "[/]", "%s%n", "none",
    "--json", "a", "-1", "0", "1", "1.5", "1e3", "1e400", "nan", "inf", "1/0", "1/3", "10^3", "2**40", "1_000", "٣",
    "0x10", "+5", "1e-3", "constant,constant", "constant,", ",", "os:path", "/", "/dev/null", "/proc", "~", ".", "npz:",
    "npz:/dev/zero", "npz:/dev/null", "cuda", "cuda:99", "mps", "meta", "cpu:7", "K=1,2", "K=1,1", "K=0,5", "E=1,10",
    "eta=1e-9,nan", "K=", "=1", "K=1,,2", "rho=0.5", "constant@K=5", "constant@K=5,eta=0.1", "oracle@K=5", "constant@",
    "@", "constant@K=05,constant@K=5",
)
# fmt: on


def wrong_setting(rng: random.Random, field: Arena, work: Path) -> str:
    """A wrong value in a settings file, or one or two wrong options; nothing is trained."""
    if rng.random() < 0.4:
        given = [(option, rng.choice(WORDS)) for option in rng.sample(OPTIONS, rng.choice([1, 1, 2]))]
        words = ["train", *(word for pair in given for word in pair)]
        field.attack = f"options {' '.join(words[1:])!r}"[:200]
    else:
        config = work / "bad.toml"
        name, value = rng.choice(NAMES), rng.choice(VALUES)
        text, broken = _toml(value), [f"{name}\n", "=\n", "[[cost]]\n", "\x00"]
        line = rng.choice(broken) if text is None else f"{name} = {text}\n"
        config.write_text(line, encoding="utf-8", errors="surrogatepass")
        words = ["train", "--config", str(config)]
        field.attack = f"settings file {line[:100]!r}"
    return plainly(start([*words, "--show-config"], work / "log", cwd=work, prepare=limit_memory).ended())


NUMBERS = ("1e12", "1e15", "1e16", "1e30", "1e100", "1,2,3", "2,2", "1,,2", "1e15,1", "0.5", "1e-100")
NUMBERS += ("@/dev/null", "@no")
USUAL = "D=1,sigma=1,eta=0.1,B=1,Pdim=5"
CONSTANTS = ("D=1", USUAL, f"{USUAL},D=1", f"{USUAL},E=1e9", "=", USUAL.replace("D=1,", "D=nan,"))
CONSTANTS += ("D=0,sigma=0,eta=1,B=0,Pdim=1", "D=1e99,sigma=1e99,eta=1e-99,B=1e99,Pdim=1e99,G=1e99,L=1e99")
LONG = (("train",), ("plot", "all"))


def _leaves(command: Any, words: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """All commands except long ones, by their words."""
    below = getattr(command, "commands", None)
    if below is None:
        return {} if words in LONG else {words: command}
    return {key: leaf for name, one in below.items() for key, leaf in _leaves(one, (*words, name)).items()}


def wrong_words(rng: random.Random, field: Arena, work: Path) -> str:
    """One to three options of another command with mostly meaningless words."""
    leaves = _leaves(typer.main.get_command(app))
    words = rng.choice(list(leaves))
    options = [one for one in leaves[words].params if one.opts[0].startswith("--") and not one.is_flag]
    given: list[str] = []
    for option in rng.sample(options, min(len(options), rng.choice([1, 1, 2, 3]))):
        given += [option.opts[0], rng.choice(CONSTANTS if option.name == "constants" else (*WORDS, *NUMBERS))]
    for argument in leaves[words].params:
        if not argument.opts[0].startswith("--") and (argument.required or rng.random() < 0.5):
            given.append(rng.choice((str(field.finished()), "constant", *WORDS)))
    if words == ("verify",) and "--claim" not in given:
        given += ["--claim", "eq:vck-exact"]
    if words == ("predict",):
        given = ["--config", str(field.config()), "--no-best", *given]
    field.attack = f"{' '.join(words)} {given}"
    return plainly(start([*words, *given], work / "log", cwd=work, prepare=limit_memory).ended())


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


POLICIES = ("acdpp", "acdpp-capped", "constant", "oracle", "hybrid", "released")
LIMITS = ((1e-14, 9e14), (5, 5), (1e-14, 1e-14), (9e14, 9.9e14))
ODD: dict[str, tuple[Any, ...]] = {
    "buffers": ([1], [1, 1], [10**7, 10**7], [10**7], [10**6] * 3, [1] * 200, [3, 10**5]),
    "budget": (1e-9, 1e-3, 1e6, 1e299, 1.0, 10**12),
    "assumed_mean_cost": (1e-9, 1e9, 1e299, 5.5),
    "alpha": ([0.0, 1.0], [0.5, 0.5], [1.0]),
    **dict.fromkeys(("K", "hybrid_K", "released_K"), (1, 2, 100, 10**6, 2**53)),
    "rate": (1e-300, 1e-3, 1.0, 1e3, 9_999_999.0),
    "V": (1e-300, 1e-9, 1e9, 1e299),
    "rho": (1e-300, 1e-9, 0.5, 0.999999999999),
    "rounds": (1, 2, 3),
    "steps": (1, 50),
    "eta": (1e-300, 1e-9, 10.0, 1e9, 1e200),
    "momentum": (0.5, 0.9999999999, 0.0),
    "weights": ("paper", "samples"),
    "radius": (None, 1e-300, 1e-9, 1e9, 1e299),
    "seeds": (1, 2, 40),
    "seed": (0, 1, 2**32 - 1),
    "per_seed": ([], ["partition"], ["start"], ["partition", "start"]),
    "measures": ([], ["accuracy"], ["mismatch"], ["risk"], ["risk", "mismatch", "accuracy"]),
    "diverging": ("refuse", "record"),
    "dtype": ("float32", "float64"),
    "checkpoint": (1, 2, 10**6),
    "threads": (1, None),
    "labels": ("parity", "classes"),
    "scale": ("unit", "standard", "pixels"),
    "partition": ("iid", "split", "two-class", "dirichlet"),
    "concentration": (1e-300, 1e-9, 1e-2, 1e9, 1e299),
    "per_class": (None, 1, 2, 10**6, 2**53),
    "replacement": (True, False),
    "cost": (
        *({"process": process} for process in ("uniform", "integer", "markov", "drifting")),
        *(dict(zip(("low", "high"), ends, strict=True)) for ends in LIMITS),
        *({"process": "integer", "low": 1, "high": 10**14}, {"process": "markov", "stay": 0.9999999}),
        *({"process": "drifting", "drift": drift} for drift in (0.999999, 0.0)),
    ),
    "policies": (
        *([name] for name in POLICIES),
        *(list(POLICIES), ["hybrid", "acdpp"], ["constant@K=1", "constant@K=2", "oracle@eta=1e-14"]),
        ["acdpp@steps=1", "hybrid@K=3,eta=1e8,steps=40"],
        ["released@K=1", "acdpp-capped@K=9007199254740992"],
        ["oracle@K=1", "constant@eta=0.5", "constant"],
        ["acdpp+K+cap@rho=1e-9", "acdpp+all@budget=1e-3", "released-region@rate=1e3"],
        ["acdpp+penalty@V=1e14", "constant@budget=1e14", "buy-cheap-online@V=1e-14"],
    ),
    "dataset": ("digits",),
}


def write_study(config: Path, given: dict[str, Any], field: Arena) -> None:
    """Write the usual settings with some replaced."""
    text = [f"{name} = {_toml(value) or json.dumps('none')}" for name, value in given.items()]
    usual = field.config().read_text().splitlines()
    kept = [line for line in usual if line.split(" = ")[0] not in given]
    config.write_text("\n".join([*kept, *text]), encoding="utf-8")


def odd_study(rng: random.Random, field: Arena, work: Path) -> str:
    """Odd valid settings, trained for two rounds."""
    names = rng.sample(list(ODD), rng.choice([1, 2, 3]))
    given = {"rounds": 2} | {name: rng.choice(ODD[name]) for name in names}
    field.attack = f"odd study {given}"
    config, out = work / "odd.toml", work / "out"
    write_study(config, given, field)
    words = ["train", "--config", str(config), "--out", str(out), "--json"]
    ended = start(words, work / "log", prepare=limit_memory).ended()
    if refusal := plainly(ended):
        return refusal
    again = start(["resume", str(out), "--json"], work / "again").ended()
    if any((one.status, one.out, one.sentence) != (0, ended.out, "") for one in (ended, again)):
        raise Fault("wrong", f"reading it again differs: {ended.err!r}, then {again.err!r}")
    return ""
