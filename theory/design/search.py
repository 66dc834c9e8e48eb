r"""The best K of 1..T at a finite horizon (`eq:kstep-opt-problem`): branch and bound, second order in a block's width.

Let \(S=\sum B_m\) and \(x=\bar cS/C\). The rate is \(r=C/\bar c\) for K <= x, where cost binds, and \(S/K\) for K >= x,
where the buffers do. A block p <= K <= q on one side of x is dropped once a lower bound on all its bounds F(K) reaches
the least F met. That lower bound needs F at p and q alone: between corners a round's terms are *concave* in K, 1/K or
K², and a concave function lies above its chord. For real 1 <= K <= t let \(y=t-\frac{K-1}2\) and

\[u=1-\frac1y-\frac{K^2-1}{6y^2},\quad w=\frac1y-\frac{K^2-1}{6Ky^2},\quad v=Kw,\qquad
  \chi=\frac u{K\,\mathrm{rate}},\quad\frac1{N_{\mathrm{eff}}}=\frac w{\mathrm{rate}};\]

for K >= t, u/K and w stay what they are at K = t. Derivatives in K have these signs:

(1) \(u''\le0\), (2) \(w'\ge0\), (3) \((\sqrt v)''\le0\) for 1 <= K <= t, and (4) \(Kw''\le w'\) for 2 <= K <= t,

because in \(j=K-1\) (in (4) \(j=K-2\)) and \(i=t-K\) each is a quotient of polynomials whose coefficients all have the
sign claimed. The tests let SymPy expand them.

**Buffers bind.** Up to K = t, \(\chi=u/S\) is concave by (1), beyond it is proportional to K, and its root is concave
with it. The generalisation term is a multiple of \(\sqrt{v\ell}\), \(\ell=1+\log^+(\kappa/K)\), with a corner at
\(\kappa=St/\mathrm{Pdim}\), where N = Pdim. As \(e=Kv'/v\) is at least 1 by (2), and 1 beyond K = t, by (3) the term is
concave below κ, above κ (where \(\ell=1\)) and across K = t, where its slope falls:

\[(\sqrt{v\ell})''=\sqrt\ell\,(\sqrt v)''
  +\frac{\sqrt v}{K^2\sqrt\ell}\Bigl(\frac12-\frac e2-\frac1{4\ell}\Bigr)\le0\qquad(K<\kappa).\]

So F sinks below its chord, \(F(K)\ge\mathrm{chord}-\frac12c\,(K-p)(q-K)\), through two kinds of corners alone:

* At K = t root and linear terms turn up. In round t = K, 3Sχ is \(\frac{K(K+10)}{(K+2)^2},\frac{K-1}{K+1},
  \frac{K-1}K\) at K-1, K, K+1. The outer two exceed the middle one by at most 8/K and 1/K, and their roots its root by
  at most 4/K and 1/(2K): the first is at least 1, the others' roots at least \(\frac{K-1}{K+1}\). So the second
  difference \(F(K-1)-2F(K)+F(K+1)\) is at most \(\bigl(D\sigma\sqrt{27/(4S)}+3\eta\sigma^2/S\bigr)/K\): one part of c.
* At K = κ the slope jumps by \(10B\sqrt{tw}/(2\kappa)<6B/\kappa\), since \(tw<\frac43\) by (2). A jump of λ lowers F
  against its chord by at most \(\lambda(K-p)(q-K)/(q-p)\): each corner in the block adds \(12B/(p(q-p))\) to c.

**Cost binds.** \(\chi=u/(rK)\), whose second derivative in s = 1/K is \(u''/(rs^3)\le0\): χ and its root are concave in
1/K up to K = t and constant beyond. Rounds p < t < q are bounded by their least, at K = t; what that loses at K = p is
most in round q, as χ at K = p rises in t and at K = t falls (t >= 2). The generalisation term is a multiple of
\(\sqrt w\): by (4) concave in K² up to K = t, rising by (2), and constant beyond. So for p >= 2 F is at least a chord
in 1/K plus a chord in K², and K = 1 is tried by itself.
"""

import heapq
import math
from functools import cache
from typing import Any

from theory.bound.constant_admission import constant_bound
from theory.bound.theorem1 import Terms, linear_term, root_term
from theory.reuse.constant import mismatch_constant
from theory.setting import Budget, Constants, SettingError

__all__ = ["Search"]


class Search:
    """Branch and bound over K: blocks of K with a lower bound on all their bounds, best first.

    `fill` is the fill ratio x, exact. `evaluations` counts the bounds that were summed over T rounds.
    """

    def __init__(self, budget: Budget, fill: Any, T: int, constants: Constants) -> None:
        self.T, self.fill, self.constants = T, fill, constants.map(float)
        self.total_buffer, self.affordable = float(budget.total_buffer), float(budget.affordable_rate)
        self.evaluations = 0
        self.terms = cache(self._terms)

    def value(self, K: int, rate: Any) -> float:
        """The bound over T rounds at K and any rate."""
        return float(constant_bound(K, float(rate), self.T, self.constants).total)

    def _rate(self, K: int) -> float:
        return self.affordable if self.fill >= K else self.total_buffer / K

    def _terms(self, K: int) -> tuple[Terms, float]:
        self.evaluations += 1
        result = constant_bound(K, self._rate(K), self.T, self.constants)
        if not math.isfinite(result.terms.total + result.error):  # no comparison would ever be certain
            raise SettingError(
                "these numbers are too large or too small for a double: the bound is not finite"
            )
        return result.terms, result.error

    def least(self, first: int, last: int) -> float:
        """A lower bound on the bound of every K in first..last, all on one side of the fill ratio.

        Up to the error of the two sums at the ends; where cost binds, first >= 2.
        """
        return self._least_at_cost(first, last) if last <= self.fill else self._least_full(first, last)

    def _least_full(self, first: int, last: int) -> float:
        """Buffers bind: the least of the chord less c/2 (K - first)(last - K), a parabola in K."""
        low, high = self.terms(first)[0].total, self.terms(last)[0].total
        width, curvature = last - first, self.curvature(first, last)
        slope = (high - low) / width
        step = min(max(width / 2 - slope / curvature, 0), width)
        return float(low + slope * step - curvature * step * (width - step) / 2)

    def curvature(self, first: int, last: int) -> float:
        """Buffers bind: the c of a block, from the turn at K = t and the corners N = Pdim inside."""
        merged, buffers = self.constants.merged, self.total_buffer
        turn = root_term(27 / (4 * buffers), merged) + linear_term(3 / buffers, merged)
        share = merged.Pdim / buffers  # in round t the corner is at K = t / share
        corners = min(math.ceil(last * share) - 1, self.T) - math.floor(first * share)
        return float(turn / (first + 1) + 12 * merged.B * max(corners, 0) / (first * (last - first)))

    def _least_at_cost(self, first: int, last: int) -> float:
        """Cost binds: the least of both chords together, at an end or where their slopes cancel."""
        (top, low), (bottom, high) = self.chords(first, first, last), self.chords(last, first, last)
        tried: list[float] = [first, last]
        if top > bottom and high > low:  # α/K + βK², α and β positive, is least at K³ = α/(2β)
            flat = math.cbrt((top - bottom) * first * last * (first + last) / (2 * (high - low)))
            tried.append(min(max(flat, first), last))
        ends = self.terms(first)[0]
        return float(min(sum(self.chords(K, first, last)) for K in tried) + ends.constant + ends.initial)

    def chords(self, K: float, first: int, last: int) -> tuple[float, float]:
        """Cost binds: lower bounds at K on root and linear terms, by a chord in 1/K, and on the third, in K²."""
        low, high = self.terms(first)[0], self.terms(last)[0]
        lost = (last - first - 1) * (self._optimisation(first, last) - self._optimisation(last, last))
        bottom = high.root + high.linear
        in_inverse = first * (last - K) / (K * (last - first))
        in_square = (K - first) * (K + first) / ((last - first) * (last + first))
        return (
            bottom + (low.root + low.linear - lost - bottom) * in_inverse,
            low.generalisation + (high.generalisation - low.generalisation) * in_square,
        )

    def _optimisation(self, K: int, t: int) -> float:
        """Root and linear terms of round t."""
        chi, merged = mismatch_constant(K, float(t), self._rate(K)), self.constants.merged
        return float(root_term(chi, merged) + linear_term(chi, merged))

    def best(self) -> int:
        """The best K: the smallest of those tried whose bound is within its error of the least."""
        edge = math.floor(self.fill)
        heap: list[tuple[float, int, int]] = []
        values: dict[int, tuple[float, float]] = {}

        def consider(first: int, last: int) -> None:
            for K in {first, last} if first <= last else ():
                terms, error = self.terms(K)
                values[K] = float(terms.total), error
            if last - first > 1:
                heapq.heappush(heap, (self.least(first, last), first, last))

        consider(1, 1)
        consider(2, min(edge, self.T))
        consider(edge + 1, self.T)
        while heap:
            least, error = min(values.values())
            if heap[0][0] >= least - 2 * error:
                break  # no K is left whose bound differs from the best beyond its error
            _, first, last = heapq.heappop(heap)
            middle = max(math.isqrt(first * last), first + 1)
            consider(first, middle)
            consider(middle, last)
        least, error = min(values.values())
        return min(K for K, (value, own_error) in values.items() if value <= least + error + own_error)
