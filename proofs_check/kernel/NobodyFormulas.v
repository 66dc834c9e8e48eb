(* Generated from theory by `python -m proofs_check.kernel.formulas`: do not edit. *)
Require Import Reals.
From Acdpp Require Import Sums.
Open Scope R_scope.

Definition bayes_risk (samples : R) (h : R) (variance : R) (prior : R) : R :=
  h * prior * variance / (2 * (variance + prior * samples)).

Definition least_risk (samples : R) (h : R) (variance : R) : R :=
  h * variance / (2 * samples).

Definition most_samples (rate : R) (threshold : R) (rounds : R) (debt : R) : R :=
  debt / threshold + rate * rounds.
