"""Damaged, lost, swapped or foreign files of a result: a sentence that names the file, or the true result."""

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from tests.attack.arena import LONGER, ROUNDS, Arena, Fault, accept, start

KINDS = ("finished", "unfinished", "torn")
WRITERS = ("resume", "extend")
READERS = (*WRITERS, "risk-vs-bound", "learning")  # or a figure


def _flip(path: Path, rng: random.Random, field: Arena) -> None:
    content = bytearray(path.read_bytes() or b"\0")
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def _instead(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


def _of_another_study(path: Path, rng: random.Random, field: Arena) -> None:
    """The file of this name, or another file, of a study with more rounds."""
    other = field.home / f"truth-{LONGER}"
    twin = other / path.name
    shutil.copyfile(twin if twin.exists() else other / "rounds.parquet", path)


def _of_this_study(path: Path, rng: random.Random, field: Arena) -> None:
    """Another file of the same folder."""
    root = path.parent if (path.parent / "settings.json").exists() else path.parent.parent
    content = path.read_bytes()
    others = sorted(f for f in root.rglob("*") if f.is_file() and f.read_bytes() != content)
    shutil.copyfile(rng.choice(others), path)


def _other_json(path: Path, rng: random.Random, field: Arena) -> None:
    """Other valid or invalid JSON."""
    texts = ["null", "[]", "{}", "3", '"x"', "NaN", '{"study": {}}', '{"format": 2}', '{"\\ud800": 1}']
    texts += ['{"format": 2, "study": {}}', '{"format": [], "study": 1, "sha256": null}']
    texts += ["[" * 100_000, '{"a":' * 100_000]
    texts += [f'{{"sha256": {"9" * 5000}}}', f'{{"sha256": "{"0" * 64}"}}']
    path.write_text(rng.choice(texts))


def _edited(path: Path, rng: random.Random, field: Arena) -> None:
    """One value replaced."""
    try:
        document = json.loads(path.read_text())
    except ValueError:
        _flip(path, rng, field)
        return
    place = document
    while True:
        key = rng.choice(list(place))
        if not isinstance(place[key], dict) or not place[key] or rng.random() < 0.1:
            break
        place = place[key]
    place[key] = rng.choice([None, 0, -1, 5, "acdpp", [], {}, True, 1e300])
    path.write_text(json.dumps(document))


DAMAGES: dict[str, Callable[[Path, random.Random, Arena], object]] = {
    "flip a bit of": _flip,
    "truncate": lambda path, rng, _: os.truncate(path, rng.randrange(max(path.stat().st_size, 1))),
    "lengthen": lambda path, rng, _: path.write_bytes(path.read_bytes() + rng.randbytes(20)),
    "empty": lambda path, rng, _: path.write_bytes(b""),
    "delete": lambda path, rng, _: path.unlink(),
    "make a directory of": lambda path, rng, _: _instead(path, Path.mkdir),
    "write noise into": lambda path, rng, _: path.write_bytes(rng.randbytes(rng.randrange(1, 3000))),
    "take from another study": _of_another_study,
    "exchange by another file of the study": _of_this_study,
    "make a dangling link of": lambda path, rng, _: _instead(
        path, lambda gone: gone.symlink_to(rng.choice([gone.name, "nowhere"]))
    ),
    "write latin-1 into": lambda path, rng, _: path.write_bytes('{"für": "é"}'.encode("latin-1")),
    "write other JSON into": _other_json,
    "edit": _edited,
    "forbid to read": lambda path, rng, _: path.chmod(0),
}


def _listed(folder: Path) -> set[str]:
    """The files of the result according to its settings."""
    progress = json.loads((folder / "settings.json").read_text())["progress"]
    names = {"settings.json", progress["state"], *(part["file"] for part in progress["parts"])}
    return names | ({"summary.json"} if progress["summary_sha256"] else set())


def cases(field: Arena) -> Iterator[tuple[str, str, str]]:
    """Every kind of folder, file and damage."""
    for kind in KINDS:
        whole = getattr(field, kind)()
        for path in sorted(whole.rglob("*")):
            if path.is_file():
                for name in DAMAGES:
                    if name != "forbid to read" or os.geteuid() != 0:
                        yield kind, path.relative_to(whole).as_posix(), name


def _snapshot(folder: Path) -> dict[str, bytes | str]:
    """The content of a folder, except the lock."""
    files = [path for path in folder.rglob("*") if path.name != ".lock"]
    readable = {path for path in files if path.is_file() and os.access(path, os.R_OK)}
    return {str(path): path.read_bytes() if path in readable else "no file" for path in files}


def damage(kind: str, file: str, how: str, rng: random.Random, field: Arena, work: Path) -> str:
    """Damage a file of a folder, use the folder, restore the file, and use the folder again."""
    out, whole = work / "out", getattr(field, kind)()
    shutil.copytree(whole, out)
    DAMAGES[how](out / file, rng, field)
    reader = rng.choice(READERS if kind == "finished" else WRITERS)
    field.attack = f"{how} {file} of a{'n' if kind[0] == 'u' else ''} {kind} result, {reader}"
    expected = expectation(whole, out, file, reader)
    names = (Path(file).name, *([str(out)] if file == "settings.json" else []))
    refusal = _use(names, expected, reader, field, out, work)
    if expected == "ok":
        return refusal
    path = out / file
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    path.unlink(missing_ok=True)
    shutil.copyfile(whole / file, path)
    field.attack += ", put back"
    field.resume(out, work / "again", LONGER if not refusal and reader == "extend" else None)
    return refusal


def expectation(whole: Path, out: Path, file: str, reader: str) -> str:
    """The expected outcome: refused, ok, or any."""
    path = out / file
    plain = path.is_file() and not path.is_symlink() and os.access(path, os.R_OK)
    if plain and _means_the_same(file, (whole / file).read_bytes(), path.read_bytes()):
        return "ok"
    if file in _listed(whole):
        unread = reader not in WRITERS and file.startswith("state-")  # reading needs no state
        return "ok" if unread else "refused"
    harmless = plain or not os.path.lexists(path) or reader not in WRITERS
    # remains or a lock that is a folder or a link may block writers
    return "ok" if harmless else "any"


def _means_the_same(file: str, before: bytes, after: bytes) -> bool:
    if file != "settings.json":
        return before == after
    try:  # as text, because 1 is not true and not 1.0
        one, other = (json.dumps(json.loads(content), sort_keys=True) for content in (before, after))
        return one == other
    except (ValueError, RecursionError):
        return False


def _use(names: Sequence[str], expected: str, reader: str, field: Arena, out: Path, work: Path) -> str:
    """Use the folder once; a refusal must have one of the names and change nothing."""
    drawing = ["plot", reader, str(out), "--out", str(work / "plots")]
    words = field.words(reader, out) if reader in WRITERS else drawing
    before = _snapshot(out)
    ended = start(words, work / "log").ended()
    if reader not in WRITERS and ended.status == 0:
        accept(field.judge_folder(out))
        refusal = ""
    else:
        refusal = field.judge(ended, LONGER if reader == "extend" else ROUNDS, folder=out)
    if expected == "ok":
        accept(refusal)
    elif refusal and not any(name in refusal for name in names):
        raise Fault("wrong", f"it does not name {names}: {refusal}")
    if expected == "refused" and not refusal:
        raise Fault("wrong", "the damage went unnoticed")
    if expected == "refused" and _snapshot(out) != before:
        raise Fault("wrong", "it was refused and yet changed")
    return refusal


def damage_somewhere(rng: random.Random, field: Arena, work: Path) -> str:
    """A random damage, or whole files in the wrong place."""
    if rng.random() < 0.25:
        return rearranged(rng, field, work)
    return damage(*rng.choice(list(cases(field))), rng, field, work)


def rearranged(rng: random.Random, field: Arena, work: Path) -> str:
    """Parts swapped, repeated, added or removed, and foreign files."""
    out, how = work / "out", rng.choice([*REARRANGEMENTS, *HARMLESS])
    kind, reader = rng.choice(KINDS if how in HARMLESS else KINDS[1:]), rng.choice(WRITERS)
    shutil.copytree(getattr(field, kind)(), out)
    rearrange, names = REARRANGEMENTS.get(how, (lambda _: _put(out / how), ()))
    rearrange(out / "parts")
    field.attack = f"{how} in a {kind} result"
    refusal = _use(names, "ok" if how in HARMLESS else "refused", reader, field, out, work)
    if how in HARMLESS and not (out / how).exists():
        raise Fault("lost", f"{how} has gone")
    return refusal


def _exchange(one: Path, other: Path) -> None:
    aside = one.rename(one.with_name("aside"))
    other.rename(one)
    aside.rename(other)


def _put(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("precious")


PART, NEXT, LATER = (f"{n:012}-{n + 2:012}.parquet" for n in (1, 4, 5))
COPIES = ("000000000001-000000000006.parquet", "000000000002-000000000004.parquet", "copy.parquet")
FOREIGN = ("thesis.tex", "ünï.parquet", "000000000008-000000000009.parquet", "-", "a\nb")
HARMLESS = ("thesis.tex", "notes", "state.npz", "ünï", "rounds.csv", "plots/drafts/a.png")
# changes of a folder's parts, and the names of which a refusal has one
REARRANGEMENTS: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "parts swapped": (lambda parts: _exchange(parts / PART, parts / NEXT), (PART, NEXT)),
    "a part renamed": (lambda parts: (parts / NEXT).rename(parts / LATER), (NEXT, LATER)),
    "no parts": (shutil.rmtree, (PART,)),
    "a file for the parts": (lambda parts: (shutil.rmtree(parts), _put(parts)), (PART, "parts")),
    "a foreign folder in parts": (lambda parts: (parts / "more").mkdir(), ("more",)),
}
for name in COPIES:
    copied = partial(lambda parts, name: shutil.copyfile(parts / PART, parts / name), name=name)
    REARRANGEMENTS[f"a part repeated as {name}"] = (copied, (name,))
for name in FOREIGN:
    added = partial(lambda parts, name: _put(parts / name), name=name)
    REARRANGEMENTS[f"{name!r} in parts"] = (added, (name.split("\n")[0],))
