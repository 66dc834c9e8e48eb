(* Generated from theory by `python -m proofs_check.kernel.formulas`: do not edit. *)
Require Import Reals.
From Acdpp Require Import Sums.
Open Scope R_scope.

Definition contraction (h : R) (eta : R) (E : nat) : R :=
  (1 - eta * h) ^ E.

Definition stationary_noise (a : R) (K : nat) : R :=
  (1 - a) * (INR K + 2 * a * (a ^ K + INR K * (1 - a) - 1) / (1 - a) ^ 2) / ((INR K) ^ 2 * (a + 1)).

Definition mean_lag (K : nat) : R :=
  ((INR K) ^ 2 - 1) / (3 * INR K).

Definition fill_ratio (total_buffer : R) (cost : R) (mean_cost : R) : R :=
  mean_cost * total_buffer / cost.

Definition best_rate (K : nat) (total_buffer : R) (cost : R) (mean_cost : R) : R :=
  Rmin (total_buffer / INR K) (cost / mean_cost).

Definition slope_lag (a : R) (K : nat) : R :=
  ((1 - a) * (INR K - 1) + 2) / (2 - 2 * a).

Definition tracking_risk (noise : R) (drift : R) : R :=
  drift / 2 + sqrt (drift ^ 2 + 4 * drift * noise) / 2.

Definition tracking_step (noise : R) (drift : R) : R :=
  drift / (drift / 2 + sqrt (drift ^ 2 + 4 * drift * noise) / 2).
