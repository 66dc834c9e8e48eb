"""The command line: it parses, calls and prints. It has no mathematics of its own.

| module | holds |
| --- | --- |
| `main` | the list of commands, each loaded when it runs, and the handling of errors |
| `verify`, `bound`, `design`, `keep`, `buy`, `plot` | commands on the theory |
| `predict`, `plan`, `train`, `resume`, `export`, `federate`, `deploy` | commands on a study |
| `reproduce`, `explain` | the paper's experiments, and what carries their reported gain |
| `report`, `explore` | packages: page, erratum and texts of `acdpp report`; the planning page |
| `options`, `study`, `fit` | options, each declared once; from options to a study; `--fit` |
| `parse` | from text to exact numbers and prices |
| `output`, `summary`, `drawing`, `watch` | printing, the summary of a study, figures as files, curves in the terminal |
| `interrupt` | Ctrl-C |

As a library, use the layers below: `theory`, `proofs_check`, `empirics`, `figures`.
"""

__all__ = ["version"]


def version() -> str:
    """The installed version of acdpp."""
    from importlib.metadata import PackageNotFoundError  # slow to import: after Ctrl-C is handled
    from importlib.metadata import version as installed

    try:
        return installed("acdpp")
    except PackageNotFoundError:  # a checkout that is not installed
        return "0 (not installed)"


def __getattr__(name: str) -> str:
    if name == "__version__":
        return version()
    raise AttributeError(f"module 'acdpp' has no attribute {name!r}")
