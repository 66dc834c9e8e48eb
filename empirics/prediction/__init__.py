r"""Predicted learning curves before anything is trained: the law of reuse on a study's own problem.

`empirics.predict.predict_study(study)` is the entry. For every policy it gives the expected excess risk
\(\mathbb EF_P(\theta(t))-F_P(\theta^*)\) after every round, cumulative, final and in the long run (noise floor), with
standard errors; for logistic regression, binary or multinomial, on a ball. `empirics.planning` searches with it.

**The idea.** Nothing is sampled: mean and variance of θ(t) are carried from round to round. A sample stays in its
client's memory for K rounds, so θ is pulled its way, its residual shrinks, and what it adds to the noise is known. How
residuals, curvature and noise of all samples change along the mean path is computed in some rounds (*observed*), and
taken as constant in between. Once a curve has settled, all later rounds follow in closed form.

**The modules**, in the order of a prediction:

| module | question that it answers |
| --- | --- |
| `pilot` | What if only a pilot sample is known? Which standard errors does it cause? |
| `predictable` | Can this problem be predicted? |
| `loss_landscape` | Minimiser, curvature, noise, leverage of samples |
| `eigenbasis`, `subsample` | Along which directions? How is a population of more than 10,000 samples reduced? |
| `study_forecaster` | `StudyForecaster.forecasts`, the main loop: which runs are followed together, for how long? |
| `decided_rounds` | What do the policies buy and keep, before anything is trained? |
| `risk_curve` | `RiskCurve.play`: which rounds are observed, when has a curve settled? |
| `moments` | `MomentRecursion.step`: mean and variance of θ after one round, and the expected risk |
| `memory` | Which samples are in memory, with which weight? How far is a model behind a random walk? |
| `mean_path`, `local_steps` | What do E local steps do to the mean, to a distance, to a sample's weight? |
| `observation`, `residuals` | What residual, curvature and noise does a sample of some age show? |
| `informed` | What will a server have learnt that adds up information? |
| `stationary` | All later rounds in closed form; the noise floor by the plain law |
| `forecast`, `result` | One policy's curve with errors and caveats; the whole prediction as document and files |
| `best_constant` | Which K, rate, step size and E are best for constant admission? |
| `drift_speed`, `drift_retention` | How fast do samples with times drift? How long should they be kept? |
| `time_estimate` | How long will it take? Does `acdpp train` wait for it? |
| `accuracy`, `cuda_graph` | FULL for what is reported, SEARCH and COARSE for searches; how is a GPU kept busy? |

Each has a slow oracle that a test compares it with: training for the whole, `theory.law` for large memories,
derivatives for `loss_landscape`, integrals and inverses for `residuals`, the whole population for `subsample`, round by
round for `stationary`, FULL for the other accuracies, and recorded numbers for all.

| symbol or word | meaning |
| --- | --- |
| θ, `theta`, mean path | expected parameters after each round |
| S, `scatter` | variance of θ around the mean path, by direction |
| h, `curvature`; μ, `multiplier` | eigenvalue of ∇²F_P(θ*); multiplier of the ball |
| s², `noise` | variance of ∇ℓ at θ* |
| a, `contraction`, `left` | share of a distance that a round leaves |
| ψ, `weight`; λ, `pull` | weight of a sample in θ in its own favour; the resulting shift of its own logits |
| `leverage`, `products`, `probes` | \|z\|² of all samples along each direction; zzᵀ of some samples |
| `damping`, `saturation` | shares of a fresh residual, and of a pull, that a used sample still has |
| row, column, lump | a run; a group of alike clients of a run; directions of nearly equal curvature |
| cohort, age class | samples admitted in one round; fresh, used or old samples |
| part, `mix` | of a drifting population: one of the two that it is a mixture of; the weight of the second |
| q, `drift`; lag | variance of the optimum's walk per round; squared distance behind it |
"""
