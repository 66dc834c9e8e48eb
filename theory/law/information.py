r"""The law of a server that adds up information, exact for quadratic losses.

A client sends the gradient \(g_i\) and the curvature \(H_i\) of a sample at some model \(\theta_i\). The server keeps
\(A=\sum w_iH_i\) and \(b=\sum w_i(H_i\theta_i-g_i)\), and its model is the minimiser of
\(\tfrac12\theta^\top A\theta-b^\top\theta+\tfrac\lambda2|\theta-\theta(1)|^2\). For quadratic losses
\(H_i\theta_i-g_i=H_iz_i\) at every model: when, at which model, how often and for how many rounds a sample was asked
does not matter, and the model is the minimiser over all samples ever bought. So it has no retention, no step size and
no mean of models. Along an eigendirection of the common curvature, with weights \(w_i\) of the samples,

\[\theta=\frac{\lambda\theta(1)+h\sum w_iz_i}{\lambda+h\sum w_i}.\]

Weights differ where old samples fade or where clients that buy unequally are to count as the objective says. Where
curvatures differ from sample to sample the model is still that minimiser, and noisier: `theory.law.curved` has it for
Gaussian inputs, as `regression_floor`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theory.law.averaging import halved
from theory.law.quadratic import ExcessRisk
from theory.numbers.algebra import ratio

__all__ = ["information_risk", "unequal_clients"]


def information_risk(
    bought: Sequence[Any], *, h: Any, variance: Any, start: Any, prior: Any = 0, keep: Any = 1
) -> ExcessRisk:
    r"""Expected excess risk after every round with the samples `bought` in it; exact.

    Before a round what is known of earlier samples is multiplied by `keep`. Without prior there is no model before the
    first sample, and what is told of it is that of θ(1).

    >>> information_risk([1, 3], h=[2], variance=[1], start=[4]).total.tolist()
    [Fraction(4, 1), Fraction(1, 1), Fraction(1, 4)]
    """
    weight, squares = 0, 0
    transient, noise = [], []
    scale, spread, distance = (np.array(list(one), dtype=object) for one in (h, variance, start))
    for more in (0, *bought):
        weight, squares = keep * weight + more, keep**2 * squares + more
        known = [prior + value * weight for value in scale]
        left = [ratio(prior, all_) if weight or prior else 1 for all_ in known]
        own = [ratio(value, all_) if weight else 0 for value, all_ in zip(scale, known, strict=True)]
        transient.append(sum(halved(scale * distance) * np.array(left, dtype=object) ** 2))
        noise.append(squares * sum(halved(scale * spread) * np.array(own, dtype=object) ** 2))
    return ExcessRisk(np.array(transient, dtype=object), np.array(noise, dtype=object))


def unequal_clients(bought: Sequence[Any], shares: Sequence[Any]) -> Any:
    r"""\(N\sum_m\alpha_m^2/N_m\): noise of the right weights over that of equal ones, at least 1; exact.

    A sample of client m weighs \(\alpha_mN/N_m\), so that the minimiser is that of \(\sum\alpha_mF_m\) in the mean. It
    is 1 if and only if clients buy in proportion to their shares.

    >>> unequal_clients([1, 3], [ratio(1, 4), ratio(3, 4)]), unequal_clients([2, 2], [ratio(1, 4), ratio(3, 4)])
    (Fraction(1, 1), Fraction(5, 4))
    """
    return sum(bought) * sum(ratio(share**2, own) for own, share in zip(bought, shares, strict=True))
