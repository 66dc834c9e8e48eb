"""Training holds a chunk of rounds in memory, however many there are."""

import tracemalloc

from empirics.run import run_study
from tests.empirics.small import blobs, study

WHOLE = 8  # bytes of a number


def held(folder, rounds):
    """Bytes of Python and NumPy that a study holds on to at most, and how many admissions it decides."""
    plain = {"radius": None, "V": 10.0, "rho": 0.9, "measures": ("accuracy",), "predict": False}
    policies = ("acdpp", "constant", "hybrid", "released")
    given = study(rounds=rounds, checkpoint=10, seeds=10, policies=policies, **plain)
    seen = []
    tracemalloc.start()
    try:
        run_study(
            given, folder, dataset=blobs(), progress=lambda _: seen.append(tracemalloc.get_traced_memory()[0])
        )
    finally:
        tracemalloc.stop()
    return max(seen), rounds * given.runs * given.clients


def test_memory_grows_by_less_than_the_admissions_of_the_rounds_alone(tmp_path):
    """With many more rounds; a schedule that is held has six arrays of that size."""
    run_study(study(rounds=2), tmp_path / "warm", dataset=blobs())  # imports and caches
    (short, few), (long, many) = (held(tmp_path / str(rounds), rounds) for rounds in (20, 150))
    assert long - short < WHOLE * (many - few)
