r"""The law of reuse along the path: mean and variance of θ(t) for a curved loss, round by round, nothing sampled.

Around the mean path \(\bar\theta(t)\) the parameters scatter with variance \(S_k\) in direction k. A sample that was in
memory before has pulled θ its own way, by a weight \(\psi_k\) which is what the law of reuse computes, so that its
logits are no longer those of a fresh sample, and its residual is smaller:

\[\rho_i=r(u_i-\lambda_i\rho_i)\approx(1+\lambda_iW_i)^{-1}r_i,\qquad\lambda_i=\sum_k\psi_k|z_{ik}|^2,\]

curvature and noise shrink alike, \(W_i\to(1+\lambda_iW_i)^{-1}W_i\). Within a round the same happens faster, for a
client has few samples: over E steps its own pulls add up by a kernel, and they decay by the curvature of the *other*
samples in its memory, \((1-1/n_m)h\). A curved loss sees θ through its scatter: residuals and curvatures are averaged
over logits of variance \(\sum_kS_k|z_{ik}|^2\). The ball holds \(\|\bar\theta\|^2+\sum_kS_k\) at r², and takes what
scatters along its radius.

With one Hessian for all samples nothing of this changes anything, and what is left is the law itself: exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.prediction.cohorts import Cohorts, Memories
from empirics.prediction.landscape import Landscape
from empirics.prediction.samples import (
    View,
    chances,
    covariance,
    mean_damping,
    product,
    resolved,
    saturation,
    scattered,
    settled,
    shifted,
    total,
    view,
)
from empirics.prediction.settled import Settled
from empirics.prediction.ways import Kind, Ways
from empirics.training.model import Descent

__all__ = ["Closure"]

SETTLED = 256  # rounds that are always played
OCTAVE = 4  # in how many rounds of each doubling the closure looks at the samples anew
EARLY = 16  # rounds in which all that happens first happens
LONG = 32  # rounds after which a sample counts as old
AWAY = 3  # times too much or too little is no longer chance
FAR = 0.1  # what may be left to go, of the risk
NEAR = 0.04  # what was foretold and what is: half as many rounds later it is four times as near
Floats = NDArray[np.float64]


class Closure:
    """Mean path and scatter of all rows; `play` gives the expected excess risk at θ(1), θ(2), …

    Rows share the number of local steps; the step size may be each row's own.
    A column is a group of clients of a row. `steep` is the curvature with which ½ΣhS is the risk of the scatter.
    """

    def __init__(self, landscape: Landscape, descent: Descent, memories: Memories, start: Tensor) -> None:
        self.land, self.memories = landscape, memories
        self.groups = len(landscape.groups)
        eta = descent.eta
        if isinstance(eta, Tensor):
            eta = eta.repeat_interleave(self.groups)[:, None]
        self.descent = replace(descent, eta=eta)
        x = landscape.model.population.x
        self.theta = start.to(x).expand(memories.rows, landscape.model.size).clone()
        self.before = self.theta
        self.cohorts = Cohorts(x, memories, self.groups, len(landscape.size))
        self.S = self.cohorts.gone
        self.p = landscape.groups.T.repeat(1, memories.rows)
        self.p_probes = landscape.of_probes.repeat(1, memories.rows)
        every = len(landscape.probes) == len(x)
        self.probes: Tensor | slice = slice(None) if every else landscape.probes  # a slice copies nothing
        self.x_probes = x[self.probes]
        self.everyone = landscape.model.population.weights[0][:, None]
        self.round = 0
        self.ways: Ways  # of the round in which the closure last looked
        self.shift: list[Tensor] = []  # at each local step, as last seen: from chances to residuals shown
        self.left = torch.ones_like(self.S)  # of a distance, by the last round
        self.forced = torch.zeros_like(self.S)  # Σ of what rounds add to S
        self.earlier = [(0, self.forced)]  # and since when, at some earlier rounds
        self.fitted = torch.zeros_like(self.S[:, 0])  # of a fresh sample's residual, within a round, at most
        self.counts: Tensor | None = None  # of the cohorts, in the last round
        self.foretold: dict[int, Settled] = {}
        self.settled: Settled | None = None
        self._anchor()

    def _anchor(self) -> None:
        """What turns the probes' curvature and noise at the minimiser into those of the whole population."""
        land, model = self.land, self.land.model
        logits = model.logits(land.best.theta, model.population.x)
        p = self.everyone[land.probes] / self.everyone[land.probes].sum()
        probed = view(logits[land.probes], torch.zeros_like(p))
        r = model.residual(logits, model.targets[:, None])[land.probes]
        curvature = land.along(p[..., None, None] * probed.curvature)[0] / land.size
        slope = land.squares(self._probed_slope(p, r))[0]
        noise = land.along(p[..., None, None] * r[..., None] * r[..., None, :])[0] - slope
        self.to_curvature, self.to_noise = _Anchor(land.curvature, curvature), _Anchor(land.noise, noise)

    def _probed_slope(self, p: Tensor, residual: Tensor) -> Tensor:
        """The mean gradient over the probes, (columns, parameters)."""
        model = self.land.model
        scaled = (p[..., None] * residual).flatten(1)
        return (scaled.T @ self.x_probes).view(-1, model.size)

    def _on_device(self, values: NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.theta.device)

    # --- risk ----------------------------------------------------------------------------------------------

    def excess_risk(self, *, anew: bool) -> tuple[Tensor, Tensor]:
        """Expected excess risk at θ(t), and of it what the mean path has, (rows,) each."""
        model = self.land.model
        logits = model.logits(self.theta, model.population.x)
        mean = (self.everyone * model.losses(logits, model.population.y)).sum(0) - self.land.best.risk
        if anew:
            self._bend(logits)
        return mean + 0.5 * (self.steep * self.S).sum(1), mean

    def _bend(self, logits: Tensor) -> None:
        land, model = self.land, self.land.model
        p = self.everyone[land.probes] / self.everyone[land.probes].sum()
        flat = view(logits[land.probes], torch.zeros_like(logits[land.probes][..., 0])).curvature
        self.steep = self.to_curvature(land.along(p[..., None, None] * flat) / land.size)
        variance = land.leverage @ (self.S / land.size).T
        moves, weights = scattered(variance, model.outputs)
        moved = logits[..., None, :] + moves
        losses = model.losses(moved.flatten(1, 2), model.population.y).view(moved.shape[:-1]) @ weights
        seen = (self.everyone * (losses - model.losses(logits, model.population.y))).sum(0)
        plain = 0.5 * (self.everyone * view(logits, torch.zeros_like(variance)).steepness * variance).sum(0)
        freedom = max(model.outputs - 1, 1)
        self.steep = (
            self.steep * torch.where(plain > 0, seen / (freedom * plain).clamp(min=1e-300), 1)[:, None]
        )

    # --- a round -------------------------------------------------------------------------------------------

    def step(self, *, anew: bool) -> None:
        """One round; `anew`: look at the samples again, or take them as they were last seen."""
        t, memories, cohorts = self.round, self.memories, self.cohorts
        starts, ends, admitted = (
            self._on_device(array[t]) for array in (memories.starts, memories.ends, memories.admissions)
        )
        if self.counts is not None:
            cohorts.leave(self.counts, starts)
        cohorts.enter(t, admitted, ends)
        counts = self.counts = cohorts.counts(starts)
        n = counts.sum(0)  # (rows, groups, 1)
        if self.groups == 1:
            share, w = ((ends > starts).sum(1)[:, None, None] / n), torch.ones_like(n)
        else:
            share, w = (
                torch.where(n > 0, 1 / n.clamp(min=1), 0),
                self._on_device(memories.weights[t])[..., None],
            )
        age = _kind_of_age(t - cohorts.entered)
        if anew:
            self.shift, self.ways = [], Ways(share.flatten(0, 1), self._of_columns(self.S), self.descent)
            for kind in sorted(set(age.tolist())):
                mine = counts * (age == kind)[:, None, None, None]
                own = (mine * cohorts.own).sum(0) / mine.sum(0).clamp(min=1)
                part = mine.sum(0) / n.clamp(min=1)
                self.ways.kinds[kind] = Kind(
                    own.flatten(0, 1), part.flatten(0, 1), used=kind > 0, short=kind < 2
                )
        self.before, local = self.theta, self._train(anew=anew)
        self.theta = (w * local.view(*w.shape[:2], -1)).sum(1)
        ways = self.ways
        gains = [ways.kind(number) for number in age.tolist()]
        shape, each = (*w.shape[:2], -1), w / n.clamp(min=1)
        left = (w * ways.keep.view(shape)).sum(1)
        own, noisy = (
            torch.stack([getattr(g, name).view(shape) for g in gains]) for name in ("gain", "noisy")
        )
        cohorts.train(left, each * own, each * noisy, left[:, None] + each * (1 - left[:, None]))
        self.left = left * self._project(counts)
        before, self.S = self.S, cohorts.variance(counts)
        self.forced = self.forced + self.S - self.left.square() * before
        self.round += 1

    def _of_columns(self, rows: Tensor) -> Tensor:
        return rows.repeat_interleave(self.groups, 0)

    def _project(self, counts: Tensor) -> Tensor:
        """Onto the ball; returns the factors, (rows, lumps)."""
        variance, first = self.cohorts.variance(counts), int(self.land.on_the_ball)
        norm = (self.theta.square().sum(1) + variance[:, first:].sum(1)).sqrt()
        factor = (self.land.radius / norm.clamp(min=self.land.radius))[:, None]
        factors = factor.repeat(1, variance.shape[1])
        if first:
            factors[:, :1] *= factor == 1
        self.theta = factor * self.theta
        self.cohorts.scale(factors)
        return factors

    def _train(self, *, anew: bool) -> Tensor:
        """E local steps of all columns."""
        model, descent = self.land.model, self.descent
        theta = self._of_columns(self.theta)
        velocity = torch.zeros_like(theta)
        for e in range(descent.steps):
            logits = model.logits(theta, model.population.x)
            q = chances(logits)
            if anew:
                looks = _looks_within(e, self.round)
                self.shift.append(
                    self.p[..., None] * (self._look(logits, q, e) - q) if looks else self.shift[-1]
                )
                self.ways.advance()
            gradient = model.weighted_inputs(torch.addcmul(self.shift[e], self.p[..., None], q))
            velocity = gradient if descent.momentum == 0 else descent.momentum * velocity + gradient
            theta = theta - descent.eta * velocity
        return theta

    def _look(self, logits: Tensor, q: Tensor, e: int) -> Tensor:
        """The residuals that samples show at this local step on average; curvature and noise of each kind follow."""
        land, model, ways = self.land, self.land.model, self.ways
        targets, probes, p = model.targets[:, None], self.probes, self.p_probes[..., None, None]
        variance = land.leverage @ ways.scatter(land.size)
        kernels = [land.leverage @ weights.T for weights in ways.weights_since_looks()]
        steps = (
            next(
                later
                for later in count(e + 1)
                if _looks_within(later, self.round) or later == self.descent.steps
            )
            - e
        )
        if e == 0:
            ways.first = logits
        fresh = view(logits, variance)
        residual, smoothed = q - targets, fresh.chances - q  # and what scatter adds to it
        others = logits + ways.share * (ways.first - logits)  # where the others alone would take a sample
        seen: Any = 0
        ways.curvature = torch.zeros_like(ways.keep)
        for kind in ways.kinds.values():
            here = others - total(k[..., None] * shown for k, shown in zip(kernels, kind.shown, strict=True))
            pull = land.leverage @ kind.own.T
            again = View(shifted(here, smoothed), fresh.bend)
            if kind.used:
                if not kind.shown:
                    kind.saturation = saturation(self.p, here, targets, pull, again, smoothed)
                pull = pull / kind.saturation
                here, again = settled(here, targets, pull, again, smoothed)
            shown = again.chances - targets
            kind.shown.append(shown)
            W = View(again.chances[probes], again.bend[probes]).curvature
            before = total(k[probes][..., None, None] * D for k, D in zip(kernels, kind.damped, strict=True))
            D = resolved(W, pull[probes], before)
            kind.damped.append(D)
            spread = covariance(here[probes], variance[probes])
            kind.pulled, kind.answered = kind.pulled + steps * shown[probes], kind.answered + steps * D
            square = kind.pulled[..., None] * kind.pulled[..., None, :]
            if kind.short:  # else scatter comes and goes while the sample stays, and averages out
                square = square + product(product(kind.answered, spread), kind.answered.mT)
            slope = land.squares(self._probed_slope(self.p_probes, kind.pulled))
            kind.see(self.to_noise(land.along(p * square) - slope).clamp(min=0), steps)
            kind.damping = mean_damping(self.p, residual, shown)[:, None]
            if not kind.used:
                self.fitted = torch.maximum(self.fitted, 1 - kind.damping.view(-1, self.groups).amin(1))
            seen = seen + kind.part * shown
            ways.curvature += kind.part * self.to_curvature(land.along(p * product(D, W)) / land.size)
        return torch.as_tensor(seen)

    # --- all rounds ----------------------------------------------------------------------------------------

    def play(
        self, until: int, *, settle: bool = False, progress: Callable[[int], None] = lambda done: None
    ) -> tuple[Floats, Floats]:
        """On to this round: expected excess risk and the mean path's, now and after every round, (·, rows) each.

        With `settle` it stops, and is `settled`, where the state of half as many rounds had foretold the risk to 4 %
        and what is left of the mean path's way is worth a tenth of it at most: slow is not settled.
        """
        found: list[Tensor] = []
        with torch.no_grad():
            while True:
                anew, last = _looks(self.round + 1), self.round == until
                found.append(torch.stack(self.excess_risk(anew=anew or last)))
                if _marks(self.round) and self.round not in self.foretold:
                    self.earlier = [*self.earlier[-3:], (self.round, self.forced)]
                    self.foretold[self.round] = Settled.of(self)
                    if settle and self._as_foretold():
                        self.settled = self.foretold[self.round]
                        break
                if last:
                    break
                self.step(anew=anew)
                progress(self.round)
        risk, path = torch.stack(found).transpose(0, 1).cpu().numpy()
        return risk, path

    def _as_foretold(self) -> bool:
        past, now = self.foretold.get(self.round // 2), self.foretold[self.round]
        if past is None or self.round < SETTLED:
            return False
        missed = (past.risks([self.round])[0][0] - now.now).abs()
        return bool(torch.all((missed <= NEAR * now.now) & (now.doubt <= FAR * now.now)))


class _Anchor:
    """What turns the probes' values, by lump, into the whole population's: what is right at the minimiser.

    Some lumps hardly any probe may know, as pixels that are nearly always dark: these change like all others together.
    """

    def __init__(self, exact: Tensor, probed: Tensor) -> None:
        self.exact, self.known = exact, (probed * AWAY > exact) & (probed < AWAY * exact)
        self.factor = torch.where(self.known, exact / probed.clamp(min=torch.finfo(exact.dtype).tiny), 0)

    def __call__(self, probed: Tensor) -> Tensor:
        found = self.factor * probed
        change = found.sum(-1, keepdim=True) / (self.exact * self.known).sum()
        return torch.where(self.known, found, change * self.exact)


def _looks(t: int) -> bool:
    """Whether the closure looks at the samples in round t: `OCTAVE` times in every doubling."""
    octave: int = 2 ** (t.bit_length() - 1)
    return t % max(octave // OCTAVE, 1) == 0


def _looks_within(step: int, t: int) -> bool:
    """Whether it does at a local step of such a round, counted from 0: ever less, and less when a path is under way."""
    octave: int = 2 ** (step.bit_length() - 1) if step else 1
    return step % (max(octave // 2, 1) if t < EARLY else octave) == 0


def _kind_of_age(age: Tensor) -> Tensor:
    """0 for what is fresh, 1 for what was used before, 2 for what has been for long."""
    return (age > 0).long() + (age >= LONG).long()


def _marks(t: int) -> bool:
    """Powers of two, and half as many again."""
    return t > 1 and t in (2 ** (t.bit_length() - 1), 3 * 2 ** (t.bit_length() - 2))
