"""`acdpp` and `python -m acdpp`: Ctrl-C is taken care of first, then all the rest is imported."""

from acdpp import interrupt

__all__ = ["main"]


def main() -> None:
    """The entry point."""
    interrupt.watch()
    try:
        from acdpp.main import main

        main()
    finally:
        interrupt.finished()


if __name__ == "__main__":
    main()
