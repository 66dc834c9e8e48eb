"""The command line: it parses, calls and prints. No mathematics lives here."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("acdpp")
except PackageNotFoundError:  # run from a checkout that is not installed, as on a machine without pip
    __version__ = "0 (not installed)"
