"""Attack the command line for as long as you like, and count: 0 tracebacks, 0 wrong results, 0 lost.

The attacks are those of `tests/attack`, with fresh seeds until the time is up; first every kill and every failure at
every file operation, every damage of every file and every wrong setting, once each. A fault is shown with the seed
that makes it again (`--only KIND --seed S --count 1`; races depend on timing as well). Exit status 1 if there is any.
"""

import json
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, product
from pathlib import Path
from pkgutil import resolve_name

from rich.console import Console
from rich.table import Table

from benchmarks.common import hardware, parser_of, settings
from tests.attack import bad_settings, damage, kills
from tests.attack.arena import BAD, Arena, Attack, Fault, arena

Plan = Iterator[tuple[str, Attack]]
KINDS = settings("attack")["kinds"]
ATTACKS: dict[str, Attack] = {kind: resolve_name(f"tests.attack.{one['of']}") for kind, one in KINDS.items()}
VERDICTS = ("ok", "refused", *BAD)


def _all_once(field: Arena, chosen: list[str]) -> Plan:
    """Attacks that can be listed in full."""
    if "damage" in chosen:
        yield from (("damage", partial(damage.damage, *case)) for case in damage.cases(field))
    for scene in kills.SCENES if "kill" in chosen else ():
        total = kills.operations(scene, field, field.home / f"counting {scene}")
        for how in ("kill", "ENOSPC", "EIO+"):
            yield from (("kill", partial(kills.kill_at, at, scene, how)) for at in range(1, total + 2))


def _endless(rng: random.Random, chosen: list[str], listed: Plan) -> Plan:
    """Attacks at random, before each of them two of those listed, until these run out."""
    while True:
        yield from islice(listed, 2)
        kind = rng.choices(chosen, [KINDS[name]["weight"] for name in chosen])[0]
        yield kind, ATTACKS[kind]


class Tally:
    """Counts by kind and verdict, and the faults."""

    def __init__(self, out: Path | None) -> None:
        self.counts, self.faults = Counter[tuple[str, str]](), 0
        self.out = out.open("a", encoding="utf-8") if out else None

    def add(self, kind: str, seed: int | None, field: Arena, attack: Callable[[], str]) -> None:
        try:
            said = attack()
            verdict = "refused" if said else "ok"
        except Fault as fault:
            verdict, said = fault.verdict, fault.said
        except Exception:
            verdict, said = "traceback", traceback.format_exc()[-3000:]
        self.counts.update([(kind, verdict), ("all", verdict)])
        if self.out:
            line = {"kind": kind, "seed": seed, "verdict": verdict, "attack": field.attack, "said": said}
            self.out.write(json.dumps(line) + "\n")
            self.out.flush()
        if verdict in BAD:
            self.faults += 1
            again = "" if seed is None else f" (--only {kind} --seed {seed} --count 1)"
            print(f"\n{verdict.upper()}: {field.attack}{again}\n{said}", flush=True)

    def table(self, console: Console) -> None:
        table = Table("attack", *VERDICTS, "all")
        for kind in (*sorted({kind for kind, _ in self.counts} - {"all"}), "all"):
            row = [self.counts[kind, verdict] for verdict in VERDICTS]
            table.add_row(kind, *(f"{count:,}" for count in (*row, sum(row))))
        console.print(table)


def main() -> int:
    parser = parser_of("attack", __doc__)
    given = parser.parse_args()
    chosen = list(KINDS) if given.only is None else given.only.split(",")
    if unknown := set(chosen) - set(KINDS):
        parser.error(f"there is no kind {', '.join(unknown)}: choose from {', '.join(KINDS)}")
    seconds = 3600 * given.hours if given.hours else 60 * given.minutes
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(10**9)
    print(f"{hardware()}; first seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="attack-", ignore_cleanup_errors=True) as folder:
        field, tally = arena(Path(folder) / "field"), Tally(given.out)
        begun = shown = time.monotonic()
        if "settings" in chosen and given.count is None:
            for name, value in product(bad_settings.NAMES, bad_settings.VALUES):
                field.attack = f"{name} = {repr(value)[:60]}"
                tally.add("settings", None, field, partial(bad_settings.wrong_value, name, value))
        listed = _all_once(field, chosen) if given.count is None else iter(())
        for n, (kind, attack) in enumerate(_endless(random.Random(seed), chosen, listed)):
            if time.monotonic() - begun > seconds or n == given.count:
                break
            work = Path(folder) / f"work-{n}"
            work.mkdir()
            field.attack = "the attack itself"
            given_seed = seed + n if attack is ATTACKS[kind] else None
            tally.add(kind, given_seed, field, partial(attack, random.Random(seed + n), field, work))
            shutil.rmtree(work, ignore_errors=True)
            if time.monotonic() - shown > 20:
                shown = time.monotonic()
                progress = f"{shown - begun:,.0f} s of {seconds:,.0f}"
                print(f"{progress}: {n + 1:,} attacks, {tally.faults} faults", flush=True)
        tally.table(Console(width=100))
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
