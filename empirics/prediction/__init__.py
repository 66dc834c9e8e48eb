r"""Predicted learning curves before anything is trained: the law of reuse on a study's own problem.

**What is predicted.** For every policy of a study the expected excess risk, \(\mathbb EF_P(\theta(t))-F_P(\theta^*)\),
after every round, cumulative, final and in the long run (noise floor), with standard errors; for logistic regression,
binary or multinomial, on a ball. `empirics.predict.predict_study` is the entry; `empirics.planning` searches with it.

**The way of a prediction**, in the order of the modules:

| module | question that it answers |
| --- | --- |
| `pilot` | What if only a pilot sample is known? Which standard errors does it cause? |
| `loss_landscape` | Can this problem be predicted? Minimiser, curvature, noise, leverage of samples |
| `eigenbasis`, `subsample` | Along which directions? How is a population of more than 10,000 samples reduced? |
| `decided_rounds` | What do the policies buy and keep, before anything is trained? |
| `curves` | Which runs are followed together, for how long? `StudyForecaster.forecasts` is the main loop |
| `risk_curve` | Which rounds are observed, when has a curve settled? `RiskCurve.play` |
| `moments` | Mean and variance of θ by one round: `MomentRecursion.step`; its expected risk |
| `memory` | Which samples are in memory, with which weight? How far is a model behind a random walk? |
| `mean_path`, `local_steps` | What do E local steps do to the mean, to a distance, to a sample's weight? |
| `observation`, `residuals` | What residual, curvature and noise does a sample of some age show? |
| `stationary` | All later rounds in closed form; the noise floor by the plain law |
| `forecast`, `result` | One policy's curve with errors and caveats; the whole prediction as document and files |
| `best_constant` | Which K, rate, step size and E are best for constant admission? |
| `drift_speed`, `drift_retention` | How fast do samples with times drift? How long should they be kept? |
| `time_estimate` | How long will it take? Does `acdpp train` wait for it? |
| `accuracy`, `cuda_graph` | How often are samples observed? How is a GPU kept busy? |

**Three accuracies** (`accuracy.Accuracy`), by observations of samples per doubling of the rounds:

| accuracy | observations | used by | costs and error |
| --- | --- | --- | --- |
| FULL | 4 | everything that is reported | 1; within a few per cent of training, see docs/predict.md |
| SEARCH | 2, gradients linear between them | `planning.search`, `drift_retention` | about two thirds; 3 % off FULL |
| COARSE | 1, few local steps, some risks interpolated | first answers of `acdpp explore` | least; 10 % off FULL |

**Slow oracles**, each compared in a test: training itself for the whole (`tests/empirics/prediction/test_moments.py`,
`test_means_of_models.py`, `test_drifting_populations.py`); `theory.law` for large memories and for `memory`;
derivatives for `loss_landscape`; integrals, inverses and fixed points for `residuals`; FULL for SEARCH and COARSE;
the whole population for `subsample`; round by round for `stationary` and for rounds computed together; plain calls for
`cuda_graph`; recorded numbers for all (`tests/empirics/recorded.json`).

**Symbols and words**

| here | meaning |
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
| observe | compute residuals, curvature and noise of all samples; constant until the next observation |
| settled | predicted from half as many rounds: the rest is known in closed form |
| part, `mix` | of a drifting population: one of the two that it is a mixture of; the weight of the second |
| q, `drift`; lag | variance of the optimum's walk per round; squared distance behind it |
"""
