"""The command line over `theory`: it parses, calls and prints. No mathematics lives here."""

from importlib.metadata import version

__version__ = version("acdpp")
