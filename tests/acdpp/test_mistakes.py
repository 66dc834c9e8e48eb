"""Mistakes on the command line: each gets one line and a failing exit, and leaves nothing behind."""

import os
import shlex
from pathlib import Path

import pytest

from tests.acdpp.program import refusal, several

PAPER = "--buffers 8,9,10,11,12,8,9,10,11,12 --budget 55 --mean-cost 5.5"
EXTREME, NINES = "D=1,sigma=1e100,eta=1e100,B=1,Pdim=1", "9" * 5000
SAMPLES = "".join(f"{k % 7},{k},{'ab'[k % 3 % 2]}\n" for k in range(60))
FILES = {
    "prices.csv": "day,price\n1,2\n2,3\n",
    "text.json": "no json",
    "empty.json": "{}",
    "samples.csv": f"size,weight,kind\n{SAMPLES}",
    "hole.csv": f"size,weight,kind\n3,,a\n{SAMPLES}",
    "word.csv": f"size,weight,kind\n3,x,a\n{SAMPLES}",
    "one.csv": "size,kind\n" + 9 * "1,a\n",
    "nothing.csv": "",
    "short.csv": "2\n3\n",
    "given.toml": '[cost]\nprocess = "trace"\nfile = "given:ndarray"\n',
}
OWN = "--dataset csv:samples.csv --label kind"
LATE = {  # refused before a pilot looks at the samples, and tells what it chose
    "--cost csv:prices.csv": "prices.csv has 2 columns: name the one with the prices",
    "--cost csv:prices.csv,column=cost": "no column 'cost'",
    "--cost csv:nowhere.csv": "nowhere.csv cannot be read",
    "--cost-trace prices.csv": "--cost csv:FILE",
    "--cost-column=price": "--cost csv:FILE,column=NAME",
}
PLAYED = LATE | {
    "--cost csv:prices.csv,column=price": "the trace has 2 prices and the study 500 rounds",
    "--policies constant,nowhere:Mine": "there is no policy at 'nowhere:Mine'",
    "--policies oracle@K=5": "oracle keeps samples for 1 round",
    "--device abacus": "device must be cpu or cuda",
}
MISTAKES = {  # by the words that they follow
    "": {
        "bound constant --K 2.5": "--K must be a whole number",
        "bound constant --K ten": "--K must be a number",
        "bound constant --K 1e400": "between 1e-100 and 1e100",
        "bound constant --rate inf": "--rate must be a number",
        f"design --buffers {NINES} --budget 1 --mean-cost 1": "between 1e-100 and 1e100",
        f"design {PAPER} --horizon 1e12 --constants {EXTREME}": "too large or too small",
        f"bound constant --horizon 1e15 --constants {EXTREME}": "too large or too small",
        "verify --claim eq:nothing": "there is no claim 'eq:nothing'",
        "verify --seed nan": "--seed",
        "verify --jobs 0": "--jobs",
        "verify --profile slow": "--profile",
        "bound constant --horizon 0": "--horizon must be a whole number",
        "bound constant --horizon 1e99": "at most 10^15",
        "bound constant --rate -1": "rate must be a positive finite number",
        "bound constant --constants D=1": "needs sigma",
        "bound constant --constants D=1,foo=2": "names D, sigma",
        "bound constant --constants D=0,sigma=1,eta=1,B=1,Pdim=1": "D must be a positive",
        "bound constant --constants D=1,D=1,sigma=1,eta=1,B=1,Pdim=1": "twice",
        "bound constant --constants D=1,sigma=1,eta=1,B=1,Pdim=1,E=2,G=1": "smoothness L",
        "bound nothing": "no such command",
        "bound buffer-violation": "--rho",
        "bound cost-violation --rho 0.9": "--budget",
        "bound memory --form stated": "no such option '--form'",
        "bound stability": "give G and L too",
        "bound stability --constants D=1,sigma=1,eta=1,B=1,Pdim=1,G=1": "give L too",
        "bound stability --constants D=1,sigma=1,eta=3,B=1,Pdim=1,G=1,L=1": "eta of at most 2/L",
        "bound stability --confidence 1": "strictly between 0 and 1",
        "bound omega2 --rho 1": "strictly between 0 and 1",
        "design --buffers '' --budget 1 --mean-cost 1": "at least one number",
        "design --buffers 8,,9 --budget 1 --mean-cost 1": "--buffers must be a number",
        "design --buffers 1,0 --budget 1 --mean-cost 1": "buffer 2 must be",
        "design --buffers @missing.txt --budget 1 --mean-cost 1": "cannot read 'missing.txt' (No such file",
        "design --buffers 1 --budget 0 --mean-cost 1": "cost budget C",
        "design --budget 1 --mean-cost 1": "--buffers",
        f"design {PAPER} --cost uniform:1:10": "acdpp buy and acdpp plan take prices",
        "design --policy buy-cheap --cost 2": "acdpp buy",
        "design --drift 0.001 --contraction 0.9": "acdpp keep says",
        "design --contraction 0.9": "acdpp keep and acdpp buy",
        f"design --by=prediction --dataset digits {PAPER}": "acdpp plan",
        "design --dataset digits --pilot 90": "acdpp plan",
        "plan --horizon 9": "give --rounds",
        "plan --policies constant": "acdpp predict",
        "predict --model lenet": "acdpp train takes other models",
        "federate --seeds 3": "one seed, --seed",
        "nonsense": "nonsense",
    },
    f"keep {PAPER}": {
        "--drift -1": "--drift must be at least 0",
        "--drift 0.1 --contraction 1": "at least 0 and below 1",
        "--drift 0.1 --contraction=-0.1": "at least 0 and below 1",
        "--drift 0.1 --horizon 9": "--horizon",
        "--drift 0.1 --pilot 90": "--pilot",
        "--drift 0.1 --buffers 1e9": "more than 10^6 rounds",
    },
    "buy": {
        "": "--cost",
        "--cost uniform:10:1": "--cost needs positive prices, the lower first, such as uniform:1:10",
        "--cost 0": "--cost needs positive prices",
        "--cost cheap": "--cost must be a number such as",
        "--cost uniform:1": "--cost is uniform:LOW:HIGH, integer:LOW:HIGH, csv:FILE or one price",
        "--cost normal:1:2": "--cost is uniform:LOW:HIGH, integer:LOW:HIGH, csv:FILE or one price",
        "--cost integer:1:2.5": "--cost integer needs whole ends",
        "--cost integer:1:1e9": "--cost integer needs whole ends",
        "--cost uniform:1:10 --budget 1e-9": "the budget replaces a sample too rarely",
        "--cost uniform:1:10 --contraction 1": "--contraction must lie between 0 and 1, such as 0.9",
        "--cost uniform:1:10 --mean-cost 5.5": "no such option '--mean-cost'",
        "--cost csv:nowhere.csv": "nowhere.csv cannot be read",
        "--cost csv:prices.csv": "prices.csv has 2 columns: name the one with the prices",
    },
    "federate": {
        "--clients 0": "--clients must be a whole number",
        "--budget much": "--budget must be a number",
        "--policy acdpp,constant": "one policy",
        "--clients 1e6": "at most",
        "--patience -1": "--patience",
        "--resume none": "acdpp federate takes no --resume: acdpp resume DIR continues a result",
        "--export app --simulation": "acdpp deploy writes an app",
    },
    "plot": {
        "uniformity --K 0": "--K",
        "uniformity --K 1000": "K from 1 to 200",
        "omegas --K 1": "at least 2",
        "omegas --horizon 1e16": "10^15",
        "bound-vs-T --horizon 1e16": "10^15",
        "bound-vs-T --constants D=1": "--constants needs",
        "mismatch --K 150": "rounds",
        "design --horizon 1e13": "10^12",
        "control --rho 1": "rho",
        "prices --cost normal:1:10": "--cost is uniform:LOW:HIGH, integer:LOW:HIGH, markov",
        "prices --buffers 8,1/2": "buffers",
        "prices --cost-column price": "acdpp plot prices takes no --cost-column",
        "prices --cost csv:nowhere.csv": "nowhere.csv cannot be read",
        "prices --budget 0": "budget",
        "learning nowhere": "no result",
        "prices nowhere --seed 3": "acdpp plot measured-prices nowhere",
        "measured-prices nowhere": "no result",
        "frontier --cost markov:1:10": "--cost is uniform:LOW:HIGH, integer:LOW:HIGH, csv:FILE or one",
        "frontier --buffers 1 --no-risk": "at least 2",
        "mismatch nowhere --K 3": "acdpp plot measured-mismatch nowhere",
        "all --result nowhere": "no result",
    },
    f"train {OWN} --out never-made": PLAYED
    | {
        "--on nowhere --device cuda": "--on takes ray",  # which another machine may have
        "--shards 2": "give --on too",
        "--out prices.csv": "is a file: give a folder",
        "--policies adaptive --cost csv:prices.csv,column=price": "the trace has 2 prices",
        "--out prices.csv/below": "nothing can be written there",
        "--rounds 1e12": "make room, or take fewer rounds",
    },
    f"predict {OWN} --out never-made": PLAYED
    | {
        "--steps 1,": "--steps must be a number",
        "--policies adaptive": "listens to losses, which are unknown",
        "--out prices.csv": "already exists",
        "--rounds 1e12": "do not fit into memory",
    },
    f"plan {OWN} --buffers 8,9 --budget 9": LATE
    | {
        "--cost 2 --steps 1,": "--steps must be a number",
        "--cost 2 --rounds 1e12": "do not fit into memory",
        "--cost 2 --device abacus": "device must be cpu or cuda",
    },
    f"federate {OWN}": LATE
    | {
        "--policy oracle@K=5": "oracle keeps samples for 1 round",
        "--out prices.csv": "is a file: give a folder",
    },
    f"deploy {OWN} --fit": LATE
    | {
        "--policy oracle@K=5": "oracle keeps samples for 1 round",
        "--out prices.csv": "is not empty",
        "--out prices.csv/below": "prices.csv/below",
        "--simulation": "no such option '--simulation'",
    },
    "train --rounds 12 --seeds 2": {
        "--policies acdp": "there is no policy 'acdp'",
        "--resume nowhere": "acdpp resume DIR continues a result",
        "--model mine": "there is no model 'mine'",
        "--sweep K": "a sweep is a setting and its values",
        "--dataset npz:nowhere.npz": "nowhere.npz",
        "--preset paper --out never-made": "mnist",
    },
    "predict --rounds 3 --policies constant,oracle --out out": {
        "--pilot 0": "--pilot must be a whole number",
        "--pilot many": "--pilot must be a number",
        "--dataset npz:nowhere.npz": "nowhere.npz",
        "--steps 0": "--steps must be a whole number",
        "--out /dev/null": "already exists",
        "--out /dev/null/x.csv": "cannot be used",
    },
    "plan --budget 22 --cost 5.5 --online --rounds 3": {
        "--mean-cost 5.5": "give --cost PRICE --online",
        "--out /dev/null": "already exists",
        "--out /dev/null/best.toml": "parent folder",
        "--buffers 4.5,5": "buffers",
        "--buffers 4,5,7 --pilot 1e6": "got 1000000",
        "--buffers 4,5,7 --learner descent --eta 0": "eta must",
        "--rounds 1e12 --buffers 4,5,7": "do not fit into memory",
    },
    "reproduce": {
        "": "'dataset'",
        "digits": "dataset",
        "mnist --eta fast": "--eta must be a number",
        "mnist --seeds 0": "--seeds must be a whole number",
        "mnist --explain": "acdpp explain trains every departure",
        "mnist --resume nowhere": "acdpp resume DIR continues a result",
    },
    "explain": {"mnist --worlds text": "worlds", "mnist --policies acdpp": "no such option '--policies'"},
    "resume": {"": "'result'", "nowhere": "is no result", "nowhere --rounds 1.5": "is no result"},
    "report --out new": {
        "--verdicts nowhere.json": "cannot read verdicts from 'nowhere.json'",
        "--verdicts text.json": "it is no JSON",
        "--verdicts empty.json": "holds no verdicts of this version",
        "--claim eq:vck-exact": "give its output to --verdicts",
        "--result nowhere": "nowhere",
        "--out new.html": "'new.html' is named like a file: give --out .",
    },
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        Path(name).write_text(content)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [(f"{before} {words}", said) for before, rows in MISTAKES.items() for words, said in rows.items()],
    ids=lambda words: words[:60],
)
def test_a_mistake_gets_one_line_and_a_failing_exit_and_leaves_nothing(words, complaint):
    assert complaint.lower() in refusal(*shlex.split(words)).lower()
    assert set(os.listdir()) == set(FILES)


PLAN = "plan --out best.toml --buffers 8,9"
EARLY = {  # for which no sample need be trained on
    f"{PLAN} {OWN} --cost 2 --budget 1e-9": "buys no sample in 500 rounds, at prices of 2 or more",
    f"{PLAN} {OWN} --cost 2 --budget 0.0041": "too rarely to tell the best rule",
    f"{PLAN} {OWN} --cost 2 --online --budget 0.0039": "buys no sample in 500 rounds, at prices of 2 or more:",
    f"{PLAN} {OWN} --cost 2 --budget 0": "budget must lie in",
    f"{PLAN} {OWN} --cost 2 --budget inf": "--budget must be a number",
    f"{PLAN} {OWN} --cost 2 --budget 9 --buffers=-1,2": "from 1 to 10,000,000, got -1",
    f"{PLAN} {OWN} --cost 2 --budget 9 --rounds 0": "--rounds must be a whole number of at least 1",
    f"{PLAN} {OWN} --budget 9 --cost csv:nothing.csv": "holds no price",
    f"{PLAN} {OWN} --budget 9 --cost csv:short.csv": "2 prices and the study 500 rounds",
    f"{PLAN} {OWN} --cost 2 --budget 9 --label class": "no column 'class' for the label",
    f"{PLAN} {OWN} --cost 2 --budget 9 --dataset csv:one.csv": "two classes or more",
    f"{PLAN} {OWN} --cost 2 --budget 9 --dataset csv:hole.csv": "is empty in row 1",
    f"{PLAN} {OWN} --cost 2 --budget 9 --dataset csv:word.csv": "holds 'x' in row 1",
    f"{PLAN} {OWN} --cost 2 --budget 9 --dataset csv:nowhere.csv": "cannot be read",
    f"train {OWN} --dataset csv:~no-such-user/f.csv": "~no-such-user/f.csv cannot be read (No such file",
    f"train {OWN} --dataset csv:hole.csv": "is empty in row 1",
    f"train {OWN} --dataset csv:{300 * 'f'}.csv": "f.csv cannot be read (File name too long)",
    "train --config given.toml": "'given:ndarray' were handed over in Python: hand them over again as cost=",
    f"predict {OWN} --cost csv:short.csv": "2 prices and the study 500 rounds",
}


def test_nonsense_is_refused_before_torch_is_loaded():
    """All in one process, which begins without it."""
    told = zip(EARLY.items(), several(*EARLY), strict=True)
    for (words, complaint), (status, out, err, loaded) in told:
        assert (status, out, len(err.splitlines()), err[:7]) == (2, "", 1, "acdpp: "), words
        assert complaint in err
        assert "torch" not in loaded, words
    assert set(os.listdir()) == set(FILES)


def test_what_a_budget_cannot_buy_is_the_cheapest_of_the_rounds_of_a_trace():
    words = shlex.split(f"{PLAN} {OWN} --budget 0.01 --cost csv:many.csv")
    for cheap, said in (
        (7, "replaces a sample too rarely"),
        (900, "in 500 rounds, at prices of 100 or more"),
    ):
        Path("many.csv").write_text("".join(f"{1 if k == cheap else 100}\n" for k in range(20_001)))
        assert said in refusal(*words)
