"""Named studies.

`digits`: small enough for any machine, and inside the hypotheses of the corrected Theorem 1 (one distribution, convex
loss, projection), so that its measured excess risk may be set against the bound. `own`: the same for your own data,
with its classes as labels. `best`: the learner that wins on tables, where `acdpp train` begins. `descent`: the best
local descent on the digits and MNIST, with steps of at most 2/L for any number of classes.
`paper`: the paper's MNIST experiment as its text describes it, with logistic regression for the model. `released`: the
same as the authors' code runs it. Where the paper names no value (V, ρ, the constants), ours are its remark's
γ = φ = 1/2: V = √T and ρ = 1 - 1/√T.
"""

from empirics.settings.costs import CostProcess
from empirics.settings.study import Study
from theory.paper import ROUNDS

__all__ = ["PRESETS"]

_MNIST = Study(
    dataset="mnist",
    scale="pixels",
    partition="two-class",
    radius=None,
    rounds=ROUNDS,
    dtype="float32",
    measures=("accuracy",),
    threads=None,
).document()

PRESETS: dict[str, Study] = {
    "digits": Study(preset="digits", labels="parity"),
    "own": Study(),
    "best": Study(
        preset="best",
        labels="parity",
        policies=("burst-online", "burst", "constant", "oracle"),
        learner="information",
    ),
    "descent": Study(
        preset="descent",
        labels="parity",
        policies=("taper-online", "buy-cheap-online", "taper", "constant", "oracle"),
        eta=4.0,
        decay=50.0,
        average="polynomial",
        average_by=2.0,
    ),
    "paper": Study.from_document(
        _MNIST | {"preset": "paper", "policies": ["acdpp", "constant", "oracle", "hybrid"]}
    ),
    "released": Study.from_document(
        _MNIST
        | {
            "preset": "released",
            "per_class": 500,
            "replacement": False,
            "cost": CostProcess(process="integer"),
            "policies": ["released", "constant", "oracle", "hybrid"],
            "K": 10,
            "hybrid_K": 10,
            "momentum": 0.9,
            "weights": "samples",
        }
    ),
}
