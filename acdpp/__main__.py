"""`acdpp` and `python -m acdpp`: Ctrl-C is handled first, then everything else is imported."""

from acdpp import interrupt

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    interrupt.watch()
    try:
        from acdpp.main import main

        main()
    finally:
        interrupt.finished()


if __name__ == "__main__":
    main()
