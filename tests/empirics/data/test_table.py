"""A table of samples is the arrays in its columns; whatever is wrong with it is one sentence."""

import os
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from empirics.data import Columns, as_dataset, files, from_mapping, from_table
from empirics.run import run_study
from empirics.settings.drift import Drift
from empirics.training.problem import make_problem
from tests.empirics.small import refused, study

N = 40
A, B = np.random.default_rng(0).normal(size=(2, N)).round(3)
KINDS = np.arange(N) % 3
WORDS = [("ant", "bee", "cat")[k] for k in KINDS]
OWNER = [f"client {(7 * i) % 4}" for i in range(N)]
HOURS = np.random.default_rng(1).permutation(N)
MOMENTS = [datetime.fromtimestamp(3600 * int(h), UTC) for h in HOURS]
EAST = timezone(timedelta(hours=2))
MIXED = [m.astimezone(EAST).isoformat() if i % 2 else f"{m:%Y-%m-%d %H:%M}" for i, m in enumerate(MOMENTS)]
DAYS = np.arange(N) % 28
NAMED = Columns("kind", "when", "who")


def written(place, kind, /, **columns):
    """The file of a table with these columns, as a data set is named."""
    made, path = pa.table(columns), place / f"mine.{kind}"
    (csv.write_csv if kind == "csv" else parquet.write_table)(made, str(path))
    return f"{kind}:{path}"


def said(place, text, columns=NAMED, kind="csv"):
    path = place / f"wrong.{kind}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return refused(as_dataset, f"{kind}:{path}", None, columns)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_is_the_arrays_of_its_columns(kind, tmp_path):
    """Words are numbered by the alphabet; the order of columns is that of the features."""
    times = {
        "numbers": (HOURS * 3600.0, HOURS * 3600.0),
        "decimals": ([Decimal(3600 * int(h)) for h in HOURS], HOURS * 3600.0),
        "moments": ([one.replace(tzinfo=None) for one in MOMENTS], HOURS * 3600.0),
        "with a zone": ([one.isoformat() for one in MOMENTS], HOURS * 3600.0),
        "mixed words": (MIXED, HOURS * 3600.0),
        "dates": ([datetime(2000, 1, 1 + i % 28).date() for i in range(N)], 946684800 + DAYS * 86400.0),
    }
    for what, (given, meant) in times.items():
        name = written(tmp_path, kind, when=given, a=A, who=OWNER, b=B, kind=WORDS)
        client = np.array([int(words[-1]) for words in OWNER])
        wanted = from_mapping({"x": np.stack([A, B], 1), "y": KINDS, "time": meant, "client": client})
        found = as_dataset(name, None, NAMED)
        assert (found.digest, found.dated) == (wanted.digest, what not in ("numbers", "decimals"))
    name = written(tmp_path, kind, a=A, b=B > 0, y=KINDS)
    assert as_dataset(name, None, Columns("y")).digest == as_dataset((np.stack([A, B > 0], 1), KINDS)).digest


def test_a_table_of_a_spreadsheet_is_the_same_table(tmp_path):
    """Spaces beside commas, semicolons and decimal commas, tabs, and empty cells beyond the last change nothing."""
    wanted = as_dataset(written(tmp_path, "parquet", a=A, b=B > 0, kind=WORDS), None, Columns("kind"))
    rows = list(zip(map(str, A), (str(b).upper() for b in B > 0), WORDS, strict=True))
    for text in (
        "\n".join(f"{a}, {b} , {word}" for a, b, word in [("a", "b", "kind"), *rows]),
        "\n".join(f"{a.replace('.', ',')};{b};{word}" for a, b, word in [("a", "b", "kind"), *rows]),
        "\t".join(["a", "b", "kind\n"]) + "\n".join(map("\t".join, rows)),
        "\n\na\tb\tkind\n" + "\n".join("\t".join(row).replace(".", ",") for row in rows),
        "\r\n".join(["\ufeffa,b,kind,,", *(",".join([*row, "", ""]) for row in rows), ",,,,", " ,,,,"]),
    ):
        (tmp_path / "mine.csv").write_text(text, encoding="utf-8", newline="")
        found = as_dataset(f"csv:{tmp_path / 'mine.csv'}", None, Columns("kind"))
        assert (found.digest, found.class_names) == (wanted.digest, wanted.class_names)


def test_cells_of_a_spreadsheet_mean_what_they_say(tmp_path):
    """Commas of labels and clients are no decimal points; padded 0 and 1 are numbers; words in quotes have commas."""
    rows = [f"{i % 5},{i};0,5; {i % 2};{('10,1', '10,10')[i % 2]};{i % 3},0" for i in range(N)]
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(['when;a;"b, of u, v, x, y, and z";who;kind', *rows]))
    found = as_dataset(f"csv:{path}", None, NAMED).as_stream()
    assert found.class_names == ("0,0", "1,0", "2,0")
    assert found.client.tolist() == [i % 2 for i in range(N)]
    assert found.time.tolist() == [float(f"{i % 5}.{i}") for i in range(N)]
    path.write_text("\n".join(["when,kind,a", *(f" {i % 2}, {i % 2},{i}" for i in range(N))]))
    assert as_dataset(f"csv:{path}", None, Columns("kind", "when")).as_stream().time.max() == 1
    head, good = "a;b;kind", ["1,5;2;x", "1;2;y"] * 9
    for words, bad in {
        "'a', is a feature and holds '1,5' in row 1: make it numbers, with points for decimals": "1.234;2;x",
        "'a', is a feature and holds '1.234,5' in row 19: make it": "1.234,5;2;x",
        "'a', is a feature and holds 'two' in row 19: make it numbers, or": "two;2;x",
        "'a', is empty in row 19": "NA;NaN;null",
        "'b', is empty in row 19": "3;;x",
    }.items():
        assert words in said(tmp_path, "\n".join([head, *good, bad]), Columns("kind"))


def test_times_may_be_moments_of_numpy_and_clients_numbers():
    moments = np.array([one.replace(tzinfo=None) for one in MOMENTS], "datetime64[s]")
    data = from_mapping({"x": A, "y": KINDS, "time": moments, "client": 5 + KINDS}).as_stream()
    assert data.time.tolist() == data.arrivals.time.tolist() == (HOURS * 3600.0).tolist()
    assert data.arrivals.dated
    assert data.client.tolist() == KINDS.tolist()
    wrong = moments.copy()
    wrong[3] = np.datetime64("nat", "s")
    assert "time must have a finite number" in refused(from_mapping, {"x": A, "y": KINDS, "time": wrong})
    assert "client must have a whole" in refused(from_mapping, {"x": A, "y": KINDS, "client": KINDS[1:]})


def test_each_client_learns_its_own_samples_in_their_order(tmp_path):
    name = written(tmp_path, "csv", when=HOURS, a=A, who=OWNER, kind=WORDS)
    given = {"dataset": name, "label_column": "kind", "time_column": "when", "client_column": "who"}
    few = {"buffers": (3, 3, 3, 3), "rounds": 4, "policies": ("constant",)}
    setting = study(**given, **few, partition="client", drift=Drift(kind="order"))
    streams = make_problem(setting).streams
    for m, pool in enumerate(streams.pools[0]):
        mine = [i for i in np.argsort(HOURS) if OWNER[i] == f"client {m}"]
        assert pool.tolist() == mine
    summary = run_study(setting, tmp_path / "out")
    assert np.isfinite(summary["policies"]["constant"]["final_risk"]["mean"])
    fewer, out = study(**given, partition="client", buffers=(3, 3)), tmp_path / "no"
    assert "of 4 clients, and there are 2 buffers" in refused(run_study, fewer, out)
    assert "no client ids" in refused(run_study, study(partition="client"), out, dataset=(A, KINDS))
    assert 'give partition = "client" too' in refused(study, **given)
    assert "a column of csv:FILE" in refused(study, label_column="kind")


def test_what_is_wrong_with_a_table_is_said_with_the_column_and_the_row(tmp_path):
    rows = [f"{i},{a},{k},c" for i, a, k in zip(HOURS, A, WORDS, strict=True)]
    head = "when,a,kind,who"
    whole, timeless = "\n".join([head, *rows]), Columns("kind", client="who")

    def having(row, text):
        return "\n".join([head, *rows[: row - 1], text, *rows[row:]])

    def dated(*days):
        return "\n".join([head, *(f"2026-02-{day},1,ant,c" for day in days)])

    for words, (text, columns) in {
        "no column 'label' for the label: it has 'when', 'a'": (whole, Columns("label")),
        "named, by --label or label_column": (whole, Columns(time="when")),
        "different columns": (whole, Columns("kind", "kind")),
        "'a', is a feature and holds 'two' in row 3": (having(3, "1,two,ant,c"), NAMED),
        "'who', is a feature and holds 'c' in row 1": (whole, Columns("kind", "when")),
        "'a', is empty in row 7": (having(7, "1,,ant,c"), NAMED),
        "'a', is empty in row 8": (having(8, "1,NaN,ant,c"), NAMED),
        "'a', is empty in row 9": (having(9, "1, ,ant,c"), NAMED),
        "'a', has inf in row 8": (having(8, "1,inf,ant,c"), NAMED),
        "'kind', is empty in row 2": (having(2, "1,2,,c"), NAMED),
        "'when', is empty in row 2": (having(2, ",2,ant,c"), NAMED),
        "'when', has 'noon' in row 4": (having(4, "noon,2,ant,c"), NAMED),
        "'when', has '2026-02-03' in row 4": (having(4, "2026-02-03,2,ant,c"), NAMED),
        "'when', has '2026-02-30' in row 1": (having(1, "2026-02-30,2,ant,c"), NAMED),
        "'when', has '2026-02-30' in row 3": (dated("28", "28", "30", "28"), NAMED),
        "'when', is a feature and holds '2026-02-01' in row 1": (dated("01", "02"), timeless),
        "'when', has '12:30:00' in row 1": ("\n".join([head, *["12:30:00,1,ant,c"] * 9]), NAMED),
        "'when', has 'True' in row 1": ("\n".join([head, *["true,1,ant,c"] * 9]), NAMED),
        "'a', is a feature and holds '0,5' in row 6": (having(6, '1,"0,5",ant,c'), NAMED),
        "no name for column 2": ("when,,kind,who\n" + "\n".join(rows), NAMED),
        "no name for column 5": (",\n".join([head, *rows, f"{rows[0]},x"]), NAMED),
        "wrong.csv is not text in UTF-8": (whole.encode("utf-16"), NAMED),
        "Expected 4 columns, got 2": (having(4, "1,2"), NAMED),
        "holds no sample": (head + "\n", NAMED),
        "cannot be read as a table": ("", NAMED),
        "'kind', is not text in UTF-8": (having(4, "1,2,\udcff,c").encode("utf-8", "surrogateescape"), NAMED),
        "two columns 'a'": ("a,a,kind\n1,2,x", Columns("kind")),
        "has no feature": ("kind\nx\ny", Columns("kind")),
        "must hold two classes": ("\n".join(["a,kind", *["1,x"] * 9]), Columns("kind")),
        "got 0.5": ("\n".join(["a,kind", *["1,0.5"] * 9]), Columns("kind")),
    }.items():
        assert words.lower() in said(tmp_path, text, columns).lower(), words
    assert "cannot be read as a table" in said(tmp_path, "PAR1 and no more", kind="parquet")
    assert "not a plain file" in refused(as_dataset, f"csv:{os.devnull}", None, NAMED)
    assert "No such file" in refused(as_dataset, "parquet:nowhere.parquet", None, NAMED)
    for kind in ("csv:", "parquet:"):
        assert "needs the name of a file" in refused(as_dataset, kind, None, NAMED)


def test_a_table_that_memory_cannot_hold_is_not_read(tmp_path, monkeypatch):
    name = written(tmp_path, "csv", a=A, kind=WORDS)
    sizes = {name: (tmp_path / "mine.csv").stat().st_size}
    parquet.write_table(
        pa.table({"a": A, "kind": WORDS}), str(tmp_path / "mine.parquet"), row_group_size=N // 2
    )
    stored = parquet.ParquetFile(tmp_path / "mine.parquet").metadata
    sizes[f"parquet:{tmp_path / 'mine.parquet'}"] = sum(stored.row_group(k).total_byte_size for k in range(2))
    for name, size in sizes.items():
        monkeypatch.setattr(files, "memory", lambda size=size: 4 * size)
        assert as_dataset(name, None, Columns("kind")).classes == 3
        monkeypatch.setattr(files, "memory", lambda size=size: 4 * size - 1)
        assert "bytes of memory, and there are" in refused(as_dataset, name, None, Columns("kind"))


def test_a_data_frame_is_its_columns_without_its_index():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": A, "kind": pd.Categorical(WORDS), "b": B, "when": MOMENTS, "who": OWNER})
    found = from_table(frame, label="kind", time="when", client="who")
    plain = from_mapping(
        {"x": np.stack([A, B], 1), "y": KINDS, "time": 3600 * HOURS, "client": [int(o[-1]) for o in OWNER]}
    )
    assert found.digest == plain.digest
    shuffled = frame.drop(columns=["when", "who"]).iloc[HOURS]  # has an index of its own
    for one in (found, from_table(shuffled, label="kind")):
        assert (one.train_x.shape[1:], one.class_names) == ((2,), ("ant", "bee", "cat"))
    both = from_table(shuffled[:30], shuffled[["b", "kind", "a"]][30:], label="kind")
    assert (len(both.train_y), len(both.test_y)) == (30, 10)
    assert np.allclose(both.test_x, np.stack([A, B], 1)[HOURS[30:]])


def test_numbers_and_words_of_two_tables_are_the_same_classes():
    train, test = (pa.table({"a": A, "kind": list(map(kind, KINDS))}) for kind in (int, str))
    found = from_table(train, test, label="kind")
    assert (found.class_names, found.test_y.tolist()) == (("0", "1", "2"), found.train_y.tolist())


def test_what_is_wrong_with_a_table_in_python_is_one_sentence():
    good = pa.table({"a": A, "kind": WORDS})
    assert "hand over empirics.from_table" in refused(as_dataset, good)
    assert "the table must be a data frame, an Arrow table" in refused(from_table, [1, 2], label="kind")
    assert "the table has no column 'kin' for the label" in refused(from_table, good, label="kin")
    other = pa.table({"b": A, "kind": WORDS})
    assert "the test table should have the features a" in refused(from_table, good, other, label="kind")
    rare = pa.table({"a": A[:3], "kind": ["ant", "zebu", "yak"]})
    assert "the test set has the class 'yak'" in refused(from_table, good, rare, label="kind")
    lists = pa.table({"a": [[1.0, 2.0], [3.0]] * 20, "kind": WORDS})
    assert "is to have lists of one length, got 2, 1" in refused(from_table, lists, label="kind")
    lists = pa.table({"a": [[1.0, None]] * 40, "kind": WORDS})
    assert "column 'a', is empty in row 2" in refused(from_table, lists, label="kind")
    two = pa.table({"a": [[1.0, 2.0]] * 40, "b": A, "kind": WORDS})
    assert "is to be the only feature: leave it out, or b" in refused(from_table, two, label="kind")
    days = pa.table({"a": [datetime(2000, 1, 1 + day).date() for day in DAYS], "kind": WORDS})
    assert "holds '2000-01-01' in row 1: make it numbers" in refused(from_table, days, label="kind")
    words = pa.table({"a": list(map(str, A)), "kind": WORDS})
    assert f"holds '{A[0]}' in row 1: make it numbers" in refused(from_table, words, label="kind")


def test_a_data_set_of_hugging_face_is_its_columns_and_its_labels_have_names():
    datasets = pytest.importorskip("datasets")
    images = np.arange(N * 6, dtype=np.float32).reshape(N, 2, 3)
    kinds = datasets.ClassLabel(names=["ant", "bee", "cat"])
    shape = datasets.Features({"pixels": datasets.Array2D((2, 3), "float32"), "kind": kinds})
    made = datasets.Dataset.from_dict({"pixels": images, "kind": KINDS}, features=shape)
    found = from_table(made, label="kind")
    assert found.digest == from_mapping({"x": images, "y": KINDS}).digest
    assert (found.train_x.shape[1:], found.class_names) == ((2, 3), ("ant", "bee", "cat"))
    order = made.select(HOURS)
    other = from_mapping({"x": images[HOURS], "y": KINDS[HOURS]})
    assert from_table(order, label="kind").digest == other.digest
    splits = datasets.DatasetDict({"train": order.select(range(30)), "test": order.select(range(30, N))})
    assert np.array_equal(from_table(splits, label="kind").test_x, images[HOURS[30:]])
    stream = made.to_iterable_dataset()
    assert "is a stream of samples and is not read to its end" in refused(from_table, stream, label="kind")
    columns = datasets.Features({"a": datasets.Value("float32"), "kind": kinds})
    unlabelled = datasets.Dataset.from_dict({"a": A, "kind": [-1, 1] * (N // 2)}, features=columns)
    assert "has the label -1, and names for 0 to 2" in refused(from_table, unlabelled, label="kind")


def test_moments_are_rounded_where_they_are_fine_and_refused_beyond_all_calendars():
    def given(first, unit):
        when = pa.array([first + k for k in range(40)], pa.timestamp(unit))
        return pa.table({"a": np.arange(40.0), "kind": [0, 1] * 20, "when": when})

    assert np.ptp(from_table(given(980, "ns"), label="kind", time="when").time) == pytest.approx(1e-6)
    far = refused(from_table, given(2**60, "s"), label="kind", time="when")
    assert "column 'when', has a timestamp beyond all" in far
