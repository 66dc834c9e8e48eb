"""Single numbers, proved to the digits shown by Arb balls or in exact arithmetic."""

from proofs_check.prelude import *


def exactly(domain: str, found: Any, wanted: Any) -> Evidence:
    """Evidence that an exact computation gives this value."""
    return exhaust([{}], lambda: differing(found=found, wanted=wanted), domain=domain, strength="proof")


def figures(domain: str, *found: tuple[str, Any, Any]) -> Evidence:
    """Rows of what a number is, its value (a ball or exact), and its figure to the last digit or two ends around it.

    A proof where it holds, since it is about single numbers.

    >>> figures("one number", ("√2", ball(2).sqrt(), "1.414"), ("2√2", ball(8).sqrt(), (2, 3))).outcome
    'holds'
    >>> figures("one number", ("√2", ball(2).sqrt(), "1.415")).outcome
    'fails'
    """
    return together(*(_lies(domain, *one) for one in found))


def _lies(domain: str, what: str, value: Any, figure: Any) -> Evidence:
    half = Fraction(1, 2 * 10 ** len(str(figure).partition(".")[2]))
    low, high = figure if isinstance(figure, tuple) else (Fraction(figure) - half, Fraction(figure) + half)
    name = f"{what} = {figure}" if isinstance(figure, str) else what

    def compared(relation: Any, end: Any) -> Evidence:
        points, where = [{"what": name, "end": Fraction(end)}], f"{name}: {domain}"
        return compare(lambda p: value, relation, lambda p: ball(p["end"]), points, domain=where)

    return replace(together(compared(">", low), compared("<", high)), strength="proof")
