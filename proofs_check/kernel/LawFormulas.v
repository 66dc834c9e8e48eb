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

Definition noise_of_a_direction (rate : R) (K : nat) (h : R) (variance : R) (eta : R) (E : nat) : R
    :=
  h * variance * (1 - (1 - eta * h) ^ E) * (INR K + 2 * (1 - eta * h) ^ E * ((1 - eta * h) ^ (E * K)
    + INR K * (1 - (1 - eta * h) ^ E) - 1) / (1 - (1 - eta * h) ^ E) ^ 2) / (2 * rate * (INR K) ^ 2
    * ((1 - eta * h) ^ E + 1)).

Definition full_memory_noise_filling (a : R) (t : nat) (more : nat) : R :=
  (INR more * (1 - a ^ t) ^ 2 + INR t * (a ^ (2 * t) + 1) - 2 * a * (1 - a ^ (2 * t)) / (1 - a ^ 2))
    / (INR more + INR t) ^ 2.

Definition full_memory_noise_after (a : R) (K : nat) (more : nat) : R :=
  a ^ (2 * more) * (INR K * (a ^ (2 * K) + 1) - 2 * a * (1 - a ^ (2 * K)) / (1 - a ^ 2)) / (INR K) ^
    2 + (1 - a) * (1 - a ^ (2 * more)) * (INR K + 2 * a * (a ^ K + INR K * (1 - a) - 1) / (1 - a) ^
    2) / ((INR K) ^ 2 * (a + 1)).

Definition start_up_bound_after (a : R) (K : nat) (more : nat) : R :=
  a ^ (more + 1) * (1 - (a ^ K / a)).

Definition fill_ratio (total_buffer : R) (cost : R) (mean_cost : R) : R :=
  mean_cost * total_buffer / cost.

Definition best_rate (K : nat) (total_buffer : R) (cost : R) (mean_cost : R) : R :=
  Rmin (total_buffer / INR K) (cost / mean_cost).

Definition slope_lag (a : R) (K : nat) : R :=
  ((1 - a) * (INR K - 1) + 2) / (2 - 2 * a).
