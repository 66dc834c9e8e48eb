"""Some attacks of each kind, all damages of single files, and thousands of wrong settings.

`python -m benchmarks.attack --hours 1` runs many more.
"""

import random
import shutil
import sys
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from empirics.results.folder import Folder, read_result
from tests.attack import bad_settings, damage, interrupts, kills, races, terminals
from tests.attack.arena import Arena, Attack, Fault, arena
from theory.setting import SettingError

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="forks, and looks into /proc"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    return arena(tmp_path_factory.mktemp("attack") / "field")


ATTACKS = {  # with the number of seeds
    races.race: 1,
    races.race_for_default_names: 1,
    races.race_of_reading: 1,
    kills.kill_somewhere: 2,
    kills.out_of_space: 2,
    kills.broken_study: 2,
    damage.damage_somewhere: 1,
    bad_settings.wrong_setting: 2,
    bad_settings.odd_study: 2,
    partial(interrupts.interrupt, anew=0): 2,
}


@pytest.mark.parametrize(
    ("attack", "seed"), [(one, n) for one, count in ATTACKS.items() for n in range(count)]
)
def test_an_attack(attack: Attack, seed: int, field: Arena, tmp_path: Path) -> None:
    try:
        attack(random.Random(seed), field, tmp_path)
    except Fault as fault:
        fault.add_note(field.attack)
        raise


def test_every_damage_of_every_file_is_refused_by_name_or_harmless(field: Arena, tmp_path: Path) -> None:
    for n, (kind, file, how) in enumerate(damage.cases(field)):
        whole, out = getattr(field, kind)(), tmp_path / str(n)
        shutil.copytree(whole, out)
        damage.DAMAGES[how](out / file, random.Random(n), field)
        for reader in ("read", "resume") if kind == "finished" else ("resume",):
            expected, said = damage.expectation(whole, out, file, reader), ""
            try:
                if reader == "read":
                    assert read_result(out).rows.equals(read_result(whole).rows)
                else:
                    with Folder.continued(out):
                        pass
            except SettingError as error:
                said = str(error)
            assert expected == "any" or (expected == "refused") == bool(said), (how, file, kind, reader, said)
            assert not said or Path(file).name in said or (file == "settings.json" and str(out) in said)


def test_every_wrong_value_of_every_setting_gets_a_sentence() -> None:
    for name, value in product(bad_settings.NAMES, bad_settings.VALUES):
        bad_settings.wrong_value(name, value)


LIMITED = [("help", "stdout full", True), ("error", "C", True), ("design", "C", False)]
LIMITED += [("version", "1 columns", False)]


@pytest.mark.parametrize(("command", "place", "refused"), LIMITED)
def test_a_limited_terminal(command: str, place: str, refused: bool, field: Arena, tmp_path: Path) -> None:
    assert bool(terminals.in_place(command, place, field, tmp_path)) == refused
