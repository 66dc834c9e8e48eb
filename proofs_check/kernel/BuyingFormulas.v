(* Generated from theory by `python -m proofs_check.kernel.formulas`: do not edit. *)
Require Import Reals.
From Acdpp Require Import Sums.
Open Scope R_scope.

Definition debt_update (Z : R) (cost : R) (Lambda : R) (C : R) : R :=
  Rmax 0 (Z + Lambda * cost - C).

Definition debt_ceiling (V : R) (worth : R) (places : R) (C : R) (low : R) (high : R) : R :=
  Rmax 0 (- C - Rmin (- high * places - V * worth / high) (- low * places - V * worth / low)).

Definition overspending (debt : R) (reserve : R) (rounds : R) : R :=
  (debt - reserve) / rounds.

Definition savings_price (age : R) (places : R) (C : R) : R :=
  C * age / places.

Definition purchase_drift (places : R) (C : R) (high : R) : R :=
  (Rmin (- C) (C - high * places)) ^ 2 / 2.

Definition rate_shortfall (V : R) (drift : R) (reserve : R) (rounds : R) : R :=
  drift / V + reserve ^ 2 / (2 * V * rounds).

Definition frame_shortfall (V : R) (drift : R) (frame : R) (reserve : R) (rounds : R) : R :=
  drift * frame / V + reserve ^ 2 / (2 * V * rounds).

Definition reserve_weight (reserve : R) (places : R) (C : R) : R :=
  C * reserve / places.

Definition savings_ceiling (reserve : R) (places : R) (C : R) (high : R) : R :=
  reserve + high * places - C.

Definition effective_rate (places : R) (mean_age : R) : R :=
  places / (2 * mean_age - 1).

Definition effective_from_sums (uses : R) (squares : R) : R :=
  uses ^ 2 / squares.
