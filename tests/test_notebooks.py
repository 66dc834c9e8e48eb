"""Notebooks show the outputs of their code.

`pytest -m slow tests/test_notebooks.py` runs them in fresh kernels and compares. The other tests check that outputs
were saved with the code shown, and that imported names exist. `python tests/test_notebooks.py [FILE]` renews outputs.
"""

import ast
import base64
import importlib
import io
import os
import re
import sys
import tempfile
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from unittest import mock

import nbformat
import pytest
from nbclient import NotebookClient
from PIL import Image

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
NOTEBOOK_BYTES_MAX = 300_000
PICTURE_COLOURS = 128
CELL_SECONDS_MAX = 600
DECIMAL = re.compile(r"\d+\.\d+(?:e[+-]?\d+)?")


def executed(path, folder):
    """Run the notebook in a kernel that starts in an empty folder and imports this tree."""
    notebook = nbformat.read(path, as_version=4)
    for cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    metadata = notebook.metadata.copy()
    where = {
        "PYTHONPATH": str(ROOT),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(folder),
        "OMP_NUM_THREADS": "1",  # tests run side by side
        "PATH": str(Path(sys.executable).parent),  # without Coq, which most readers have not
    }
    work = folder / "work"
    work.mkdir()
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS_MAX,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(work)}},
    )
    with mock.patch.dict(os.environ, where):
        client.execute()
    notebook.metadata = metadata | {"made_from": digest(notebook)}  # without the version of Python
    return notebook


def lighter(notebook):
    """Reduce the colours of the pictures, to a quarter of their size."""
    for output in (output for cell in code_cells(notebook) for output in cell.outputs):
        if "image/png" in output.get("data", {}):
            picture = Image.open(io.BytesIO(base64.b64decode(output.data["image/png"])))
            packed = io.BytesIO()
            picture.convert("RGB").quantize(PICTURE_COLOURS).save(packed, "png", optimize=True)
            output.data["image/png"] = base64.b64encode(packed.getvalue()).decode()
    return notebook


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def digest(notebook):
    """Digest of all code, saved with the outputs that it gave."""
    return sha256("\0".join(cell.source for cell in code_cells(notebook)).encode()).hexdigest()


def shown(cell):
    """Kinds and texts of a cell's outputs; pictures without their content."""
    for output in cell.outputs:
        if output.output_type == "stream":
            yield output.name, output.text
        else:
            for kind, content in sorted(output.data.items()):
                yield kind, "" if kind.startswith("image/") else content


def same(one, other):
    """Compare letter by letter, except that the last digit of a decimal may differ by one, as processors round.

    >>> same("K = 9, risk 0.1234", "K = 9, risk 0.1235"), same("risk 0.1234", "risk 0.1236"), same("9", "10")
    (True, False, False)
    """
    if DECIMAL.split(one) != DECIMAL.split(other):
        return False
    pairs = zip(*(map(Decimal, DECIMAL.findall(text)) for text in (one, other)), strict=True)
    return all(abs(a - b) < Decimal("1.5").scaleb(int(a.as_tuple().exponent)) for a, b in pairs)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_its_code_gives(path, tmp_path):
    kept = nbformat.read(path, as_version=4)
    for cell, again in zip(code_cells(kept), code_cells(executed(path, tmp_path)), strict=True):
        before, after = list(shown(cell)), list(shown(again))
        assert [kind for kind, _ in before] == [kind for kind, _ in after], cell.source
        for (_, one), (_, other) in zip(before, after, strict=True):
            assert same(one, other), f"{cell.source}\n\nshows\n\n{one}\n\nand gives\n\n{other}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_clean_and_of_this_tree(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert path.stat().st_size < NOTEBOOK_BYTES_MAX
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert notebook.metadata.made_from == digest(notebook), "python tests/test_notebooks.py renews it"
    kinds = [kind for cell in cells for kind, _ in shown(cell)]
    assert "stderr" not in kinds
    assert any(kind.startswith("image/") for kind in kinds)
    assert all(cell.metadata == {} for cell in notebook.cells)
    assert notebook.metadata.language_info == {"name": "python"}
    text = "\n".join([cell.source for cell in notebook.cells] + [t for cell in cells for _, t in shown(cell)])
    for place in (ROOT, Path.home(), tempfile.gettempdir()):
        assert f"{place}/" not in text
    code = "\n".join(re.sub("(?m)^%.*", "", cell.source) for cell in cells)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(str(node.module))
            for name in node.names:
                assert hasattr(module, name.name) or importlib.import_module(f"{node.module}.{name.name}")


if __name__ == "__main__":
    for wanted in sys.argv[1:] or map(str, NOTEBOOKS):
        with tempfile.TemporaryDirectory() as folder:
            nbformat.write(lighter(executed(Path(wanted), Path(folder))), wanted)
