"""Files of a result flipped, cut, lost, swapped or foreign: a sentence that names the file, or the true result."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.attack.arena import LONGER, ROUNDS, Arena, Outcome, first_of, start

__all__ = ["DAMAGES", "cases", "damage", "damage_somewhere", "expectation"]

KINDS = ("finished", "unfinished", "torn")
WRITERS = ("resume", "extend")
READERS = (*WRITERS, "read", "plot")


def _flip(path: Path, rng: random.Random, field: Arena) -> None:
    content = bytearray(path.read_bytes() or b"\0")
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def _truncate(path: Path, rng: random.Random, field: Arena) -> None:
    os.truncate(path, rng.randrange(max(path.stat().st_size, 1)))


def _lengthen(path: Path, rng: random.Random, field: Arena) -> None:
    path.write_bytes(path.read_bytes() + rng.randbytes(rng.randrange(1, 50)))


def _empty(path: Path, rng: random.Random, field: Arena) -> None:
    path.write_bytes(b"")


def _delete(path: Path, rng: random.Random, field: Arena) -> None:
    path.unlink()


def _directory(path: Path, rng: random.Random, field: Arena) -> None:
    path.unlink()
    path.mkdir()


def _noise(path: Path, rng: random.Random, field: Arena) -> None:
    path.write_bytes(rng.randbytes(rng.randrange(1, 3000)))


def _of_another_study(path: Path, rng: random.Random, field: Arena) -> None:
    """The same file of a study of more rounds; or any of its files, if it has none of this name."""
    other = field.home / f"truth-{LONGER}"
    twin = other / path.name
    shutil.copyfile(twin if twin.exists() else other / "rounds.parquet", path)


def _of_this_study(path: Path, rng: random.Random, field: Arena) -> None:
    """Another file of the same folder."""
    root = path.parent if (path.parent / "settings.json").exists() else path.parent.parent
    others = sorted(
        f for f in root.rglob("*") if f.is_file() and f != path and f.read_bytes() != path.read_bytes()
    )
    shutil.copyfile(rng.choice(others), path)


def _dangling(path: Path, rng: random.Random, field: Arena) -> None:
    path.unlink()
    path.symlink_to(rng.choice([path.name, "nowhere"]))


def _latin(path: Path, rng: random.Random, field: Arena) -> None:
    path.write_bytes('{"für": "é"}'.encode("latin-1"))


def _other_json(path: Path, rng: random.Random, field: Arena) -> None:
    """JSON, but not what was there."""
    texts = [
        "null",
        "[]",
        "{}",
        "3",
        '"x"',
        '{"study": {}}',
        '{"format": 2}',
        '{"format": 2, "study": {}}',
        "NaN",
    ]
    texts += [
        '{"sha256": ' + "9" * 5000 + "}",
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"sha256": "' + "0" * 64 + '"}',
    ]
    texts += ['{"format": [], "study": 1, "sha256": null}', '{"\\ud800": 1}']
    path.write_text(rng.choice(texts))


def _edited(path: Path, rng: random.Random, field: Arena) -> None:
    """One value exchanged, the rest as it was."""
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


def _unreadable(path: Path, rng: random.Random, field: Arena) -> None:
    path.chmod(0)


DAMAGES: dict[str, Callable[[Path, random.Random, Arena], None]] = {
    "flip a bit of": _flip,
    "truncate": _truncate,
    "lengthen": _lengthen,
    "empty": _empty,
    "delete": _delete,
    "make a directory of": _directory,
    "write noise into": _noise,
    "take from another study": _of_another_study,
    "exchange by another file of the study": _of_this_study,
    "make a dangling link of": _dangling,
    "write latin-1 into": _latin,
    "write other JSON into": _other_json,
    "edit": _edited,
    "forbid to read": _unreadable,
}


def _listed(folder: Path) -> set[str]:
    """What the settings say belongs to the result."""
    document = json.loads((folder / "settings.json").read_text())
    progress = document["progress"]
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
    """What is in a folder, apart from the lock."""
    return {
        f.relative_to(folder).as_posix(): f.read_bytes()
        if f.is_file() and os.access(f, os.R_OK)
        else "no file"
        for f in folder.rglob("*")
        if f.name != ".lock"
    }


def damage(kind: str, file: str, how: str, rng: random.Random, field: Arena, work: Path) -> Outcome:
    """Damage one file of a folder; use the folder; put the file back; use it again."""
    out, whole = work / "out", getattr(field, kind)()
    shutil.copytree(whole, out)
    DAMAGES[how](out / file, rng, field)
    attack = f"{how} {file} of a{'n' if kind[0] == 'u' else ''} {kind} result"
    reader = rng.choice(READERS if kind == "finished" else WRITERS)
    expected = expectation(whole, out, file, reader)
    found = _use(file, expected, reader, field, out, work, f"{attack}, {reader}")
    if found.bad or expected == "ok":
        return found
    path = out / file
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    path.unlink(missing_ok=True)
    shutil.copyfile(whole / file, path)
    rounds = LONGER if found.verdict == "ok" and reader == "extend" else None
    return first_of(field.resume(out, work / "again", f"{attack}, put back", rounds)) or found


def expectation(whole: Path, out: Path, file: str, reader: str) -> str:
    """What is to come of it: refused, ok, or any of both."""
    path = out / file
    plain = path.is_file() and not path.is_symlink() and os.access(path, os.R_OK)
    if plain and _means_the_same(file, (whole / file).read_bytes(), path.read_bytes()):
        return "ok"
    if file in _listed(whole):
        unread = reader not in WRITERS and file.startswith("state-")  # to read takes no state
        return "ok" if unread else "refused"
    harmless = plain or not os.path.lexists(path) or reader not in WRITERS
    # a left-over or a lock that is a folder or a link may keep writers out
    return "ok" if harmless else "any"


def _means_the_same(file: str, before: bytes, after: bytes) -> bool:
    if file != "settings.json":
        return before == after
    try:  # as text, because 1 is not true and not 1.0
        texts = [json.dumps(json.loads(content), sort_keys=True) for content in (before, after)]
        return texts[0] == texts[1]
    except (ValueError, RecursionError):
        return False


def _use(file: str, expected: str, reader: str, field: Arena, out: Path, work: Path, attack: str) -> Outcome:
    """One use of the folder. If it is refused, then by the file's name, and nothing has changed."""
    resume = ["train", "--resume", str(out), "--json"]
    words = {
        "read": ["plot", "risk-vs-bound", str(out), "--out", str(work / "plots")],
        "plot": ["plot", "learning", str(out), "--out", str(work / "plots")],
        "resume": resume,
        "extend": [*resume, "--rounds", str(LONGER)],
    }[reader]
    before = _snapshot(out)
    ended = start(words, work / "log").ended()
    if reader not in WRITERS and ended.status == 0:
        found = field.judge_folder(out, attack) or Outcome("ok", attack)
    else:
        found = field.judge(ended, attack, LONGER if reader == "extend" else ROUNDS, folder=out)
    if found.bad:
        return found
    if found.verdict == "refused":
        if expected == "ok":
            return Outcome("lost", attack, found.said)
        if Path(file).name not in found.said and not (file == "settings.json" and str(out) in found.said):
            return Outcome("wrong", attack, f"it does not name the file: {found.said}")
        if expected == "refused" and _snapshot(out) != before:
            return Outcome("wrong", attack, "it was refused and yet changed")
    elif expected == "refused":
        return Outcome("wrong", attack, "the damage went unnoticed")
    return found


def damage_somewhere(rng: random.Random, field: Arena, work: Path) -> Outcome:
    """Any of these, or whole files in the wrong place."""
    if rng.random() < 0.25:
        return rearranged(rng, field, work)
    return damage(*rng.choice(list(cases(field))), rng, field, work)


# --- whole files in the wrong place ------------------------------------------------------------------------


def rearranged(rng: random.Random, field: Arena, work: Path) -> Outcome:
    """Parts swapped, repeated, added or taken away, and files that do not belong."""
    out = work / "out"
    how = rng.choice(list(REARRANGEMENTS))
    kind = rng.choice(["unfinished", "torn"]) if how not in ("stranger", "note") else rng.choice(KINDS)
    shutil.copytree(getattr(field, kind)(), out)
    named, harmless = REARRANGEMENTS[how](out, rng, field)
    attack = f"{how} in a {kind} result"
    reader = rng.choice(["resume", "extend"])
    rounds = LONGER if reader == "extend" else ROUNDS
    words = ["train", "--resume", str(out), "--json", "--rounds", str(rounds)]
    before = _snapshot(out)
    found = field.judge(start(words, work / "log").ended(), attack, rounds, folder=out)
    if found.bad:
        return found
    if harmless:
        if (out / named).exists() and found.verdict == "ok":
            return found
        return Outcome("lost", attack, found.said or f"{named} has gone")
    if found.verdict == "ok":
        return Outcome("wrong", attack, "it went unnoticed")
    if not any(name in found.said for name in named.split("|")):
        return Outcome("wrong", attack, f"it does not name {named}: {found.said}")
    return found if _snapshot(out) == before else Outcome("wrong", attack, "it was refused and yet changed")


Rearranged = tuple[str, bool]
PART, NEXT = "000000000001-000000000003.parquet", "000000000004-000000000006.parquet"


def _swap(out: Path, rng: random.Random, field: Arena) -> Rearranged:
    one, other = (out / "parts" / name for name in (PART, NEXT))
    one.rename(out / "aside")
    other.rename(one)
    (out / "aside").rename(other)
    return f"{PART}|{NEXT}", False


def _repeat(out: Path, rng: random.Random, field: Arena) -> Rearranged:
    name = rng.choice(
        ["000000000001-000000000006.parquet", "000000000002-000000000004.parquet", "copy.parquet"]
    )
    shutil.copyfile(out / "parts" / PART, out / "parts" / name)
    return name, False


def _shift(out: Path, rng: random.Random, field: Arena) -> Rearranged:
    (out / "parts" / NEXT).rename(out / "parts" / "000000000005-000000000007.parquet")
    return f"{NEXT}|000000000005-000000000007.parquet", False


def _take_all(out: Path, rng: random.Random, field: Arena) -> Rearranged:
    shutil.rmtree(out / "parts")
    return PART, False


def _file_for_parts(out: Path, rng: random.Random, field: Arena) -> Rearranged:
    shutil.rmtree(out / "parts")
    (out / "parts").write_text("no folder")
    return f"{PART}|parts", False


def _foreign_part(out: Path, rng: random.Random, field: Arena) -> Rearranged:
    name = rng.choice(["thesis.tex", "ünï.parquet", "000000000008-000000000009.parquet", "-", "a\nb"])
    (out / "parts" / name).write_text("precious")
    return name.split("\n")[0], False


def _foreign_folder(out: Path, rng: random.Random, field: Arena) -> Rearranged:
    (out / "parts" / "more").mkdir()
    return "more", False


def _foreign_file(out: Path, rng: random.Random, field: Arena) -> Rearranged:
    name = rng.choice(["thesis.tex", "notes", "state.npz", "ünï", "rounds.csv"])
    (out / name).write_text("precious")
    return name, True


def _foreign_tree(out: Path, rng: random.Random, field: Arena) -> Rearranged:
    (out / "plots" / "drafts").mkdir(parents=True)
    (out / "plots" / "drafts" / "a.png").write_text("precious")
    return "plots/drafts/a.png", True


REARRANGEMENTS: dict[str, Callable[[Path, random.Random, Arena], Rearranged]] = {
    "parts swapped": _swap,
    "a part repeated": _repeat,
    "a part renamed": _shift,
    "no parts": _take_all,
    "a file for the parts": _file_for_parts,
    "a foreign file in parts": _foreign_part,
    "a foreign folder in parts": _foreign_folder,
    "stranger": _foreign_file,
    "note": _foreign_tree,
}
