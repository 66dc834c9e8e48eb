(* Generated from theory by `python -m proofs_check.kernel.formulas`: do not edit. *)
Require Import Reals.
From Acdpp Require Import Sums.
Open Scope R_scope.

Definition debt_update (Z : R) (cost : R) (Lambda : R) (C : R) : R :=
  Rmax 0 (Z + Lambda * cost - C).

Definition region_minimum (rate : R) (rho : R) (t : nat) : R :=
  rate * (1 - exp (INR t * ln rho)).

Definition region_maximum (rate : R) (rho : R) (t : nat) : R :=
  rate / (1 - exp (INR t * ln rho)).

Definition lambert_bound (rho : R) : R :=
  - (sqrt rho * ln (1 - sqrt rho) / (1 - rho)).

Definition cost_violation_rate (rho : R) : R :=
  - (ln (1 - rho) / (1 - rho)).

Definition cost_violation_rate_as_stated (T : nat) (V : R) (rho : R) : R :=
  sqrt (V * INR T + V / (1 - rho)).

Definition cost_violation_least (T : nat) (rho : R) (C : R) : R :=
  C * (rho + rho ^ (T + 1) / (1 - rho)).

Definition cost_excess_maximum (T : nat) (rate : R) (rho : R) (mean_cost : R) (C : R) : R :=
  INR T * (mean_cost * rate - C) + mean_cost * rate * sum T (fun i => (fun tau : nat => rho ^ tau /
    (1 - rho ^ tau)) (S i)).

Definition cost_violation_by_peak (T : nat) (rate : R) (rho : R) (peak : R) : R :=
  peak * rate * sum T (fun i => (fun tau : nat => rho ^ tau / (1 - rho ^ tau)) (S i)).

Definition buffer_violation_bound (K : nat) (T : nat) (rate : R) (rho : R) : R :=
  rate * INR K * sum T (fun i => (fun tau : nat => rho ^ tau / (1 - rho ^ tau)) (S i)).

Definition buffer_excess_maximum (K : nat) (T : nat) (rate : R) (rho : R) : R :=
  rate * (2 * INR K * sum T (fun i => (fun tau : nat => rho ^ tau / (1 - rho ^ tau)) (S i)) - 2 *
    sum (Nat.min K T) (fun i => (fun s : nat => rho ^ s * (INR K + INR s - INR T - 1) / (1 - rho ^
    s)) ((1 + T - (Nat.min K T))%nat + i)%nat) - (2 * INR K - Rmin (INR K) (INR T) - 1) * Rmin (INR
    K) (INR T)) / 2.
