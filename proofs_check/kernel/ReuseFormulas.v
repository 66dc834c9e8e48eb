(* Generated from theory by `python -m proofs_check.kernel.formulas`: do not edit. *)
Require Import Reals.
From Acdpp Require Import Sums.
Open Scope R_scope.

Definition uses_kstep (age : R) (K : R) : R :=
  Rmin K age.

Definition first_deficit (age : R) (K : R) : R :=
  K - Rmin K age.

Definition second_deficit (age : R) (K : R) : R :=
  K ^ 2 - (Rmin K age) ^ 2.

Definition uniformity_from_deficits (N : R) (first : R) (second : R) (K : R) : R :=
  (K * N - first) ^ 2 / (N * (N * K ^ 2 - second)).

Definition effective_from_sums (uses : R) (squares : R) : R :=
  uses ^ 2 / squares.

Definition mismatch_from_sums (n : R) (uses : R) (squares : R) (in_memory : R) : R :=
  / n + squares / uses ^ 2 - 2 * in_memory / (n * uses).

Definition occupancy_constant (K : R) (t : R) (rate : R) : R :=
  rate * Rmin K t.

Definition uniformity_constant (K : R) (t : R) : R :=
  (2 * t * Rmin K t - (Rmin K t - 1) * Rmin K t) * (6 * t * Rmin K t - 3 * (Rmin K t - 1) * Rmin K
    t) / (2 * t * (6 * t * (Rmin K t) ^ 2 - (4 * Rmin K t + 1) * (Rmin K t - 1) * Rmin K t)).

Definition uniformity_constant_as_stated (K : R) (t : R) : R :=
  (2 * K * t - K * (K - 1)) * (6 * K * t - 3 * K * (K - 1)) / (2 * t * (6 * t * K ^ 2 - K * (K - 1)
    * (2 * K - 1))).

Definition inverse_effective_constant (K : R) (t : R) (rate : R) : R :=
  (/ (t + 1 / 2 - Rmin K t / 2) - ((Rmin K t) ^ 2 - 1) / (6 * (t + 1 / 2 - Rmin K t / 2) ^ 2 * Rmin
    K t)) / rate.

Definition mismatch_constant (K : R) (t : R) (rate : R) : R :=
  (1 - / (t + 1 / 2 - Rmin K t / 2) - ((Rmin K t) ^ 2 - 1) / ((t + 1 / 2 - Rmin K t / 2) * (6 * t +
    3 - 3 * Rmin K t))) / (rate * Rmin K t).
