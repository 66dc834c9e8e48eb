"""The quick part of the attacks: some of each kind, all damages of one file, and thousands of wrong settings.

`python -m benchmarks.attack --hours 1` is the long part.
"""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path

import pytest

from empirics.records.folder import Folder, read_result
from tests.attack import bad_settings, damage, interrupts, kills, races, resumes, terminals
from tests.attack.arena import Arena, Outcome, arena
from theory.setting import SettingError

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="forks, and looks into /proc"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    return arena(tmp_path_factory.mktemp("attack") / "field")


def stands(outcome: Outcome) -> None:
    assert not outcome.bad, f"{outcome.verdict}: {outcome.attack}\n{outcome.said}"


@pytest.mark.parametrize("seed", range(3))
def test_writers_and_readers_at_once(seed: int, field: Arena, tmp_path: Path) -> None:
    stands(races.race(random.Random(seed), field, tmp_path))


def test_default_names_at_once(field: Arena, tmp_path: Path) -> None:
    stands(races.race_for_default_names(random.Random(0), field, tmp_path))


def test_reading_while_it_is_extended(field: Arena, tmp_path: Path) -> None:
    stands(races.race_of_reading(random.Random(0), field, tmp_path))


@pytest.mark.parametrize("seed", range(5))
def test_a_kill_or_a_failing_disk_at_some_file_operation(seed: int, field: Arena, tmp_path: Path) -> None:
    stands(kills.kill_somewhere(random.Random(seed), field, tmp_path))


@pytest.mark.parametrize("seed", range(3))
def test_any_study_killed_or_extended(seed: int, field: Arena, tmp_path: Path) -> None:
    stands(resumes.broken_study(random.Random(seed), field, tmp_path))


def test_kills_again_and_again(field: Arena, tmp_path: Path) -> None:
    stands(kills.killed_again_and_again(random.Random(1), field, tmp_path))


@pytest.mark.parametrize("seed", range(2))
def test_a_full_disk(seed: int, field: Arena, tmp_path: Path) -> None:
    stands(kills.out_of_space(random.Random(seed), field, tmp_path))


@pytest.mark.parametrize("seed", range(3))
def test_a_damaged_file_and_the_whole_command(seed: int, field: Arena, tmp_path: Path) -> None:
    stands(damage.damage_somewhere(random.Random(seed), field, tmp_path))


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
    for outcome in bad_settings.every_document():
        stands(outcome)


@pytest.mark.parametrize("seed", range(8))
def test_a_wrong_setting_on_the_command_line(seed: int, field: Arena, tmp_path: Path) -> None:
    stands(bad_settings.wrong_setting(random.Random(seed), field, tmp_path))


@pytest.mark.parametrize("seed", range(3))
def test_an_odd_study_trains_or_is_refused(seed: int, field: Arena, tmp_path: Path) -> None:
    stands(bad_settings.odd_study(random.Random(seed), field, tmp_path))


@pytest.mark.parametrize("command", ["help", "design", "train", "train json", "show config", "wrong folder"])
def test_a_terminal_that_cannot_show_everything(command: str, field: Arena, tmp_path: Path) -> None:
    stands(terminals.in_encoding(command, "ascii", field, tmp_path))


def test_a_terminal_that_shows_nothing(field: Arena, tmp_path: Path) -> None:
    stands(terminals.in_place("help", "stdout full", field, tmp_path))


@pytest.mark.parametrize("seed", range(3))
def test_an_interrupt(seed: int, field: Arena, tmp_path: Path) -> None:
    stands(interrupts.interrupt(random.Random(seed), field, tmp_path, fresh=0))
