"""The command line: it parses, calls and prints. No mathematics lives here.

| module | holds |
| --- | --- |
| `main` | the list of commands, each loaded when it is asked for, and what becomes of an error |
| `verify`, `bound`, `design`, `plot`, `predict`, `train`, `reproduce`, `federate` | a command each |
| `design_by_bound`, `design_by_prediction`, `design_buying` | the three designs of `design` |
| `report` | a package: the page, the erratum and the texts of `acdpp report` |
| `parse`, `study` | from words to exact numbers and settings; to a study |
| `output`, `drawing` | what is printed; what is drawn |
| `interrupt` | Ctrl-C |

As a library, use what lies below: `theory`, `proofs_check`, `empirics`, `figures`.
"""

__all__ = ["version"]


def version() -> str:
    """The installed version of acdpp."""
    from importlib.metadata import PackageNotFoundError  # slow to import: not before Ctrl-C is taken care of
    from importlib.metadata import version as installed

    try:
        return installed("acdpp")
    except PackageNotFoundError:  # run from a checkout that is not installed, as on a machine without pip
        return "0 (not installed)"


def __getattr__(name: str) -> str:
    if name == "__version__":
        return version()
    raise AttributeError(f"module 'acdpp' has no attribute {name!r}")
