(* Generated from theory by `python -m proofs_check.kernel.formulas`: do not edit. *)
Require Import Reals.
From Acdpp Require Import Sums.
Open Scope R_scope.

Definition root_term (chi : R) (D : R) (sigma : R) (eta : R) (B : R) (Pdim : R) (E : nat) (L : R) (G
    : R) : R :=
  D * sigma * sqrt chi.

Definition linear_term (chi : R) (D : R) (sigma : R) (eta : R) (B : R) (Pdim : R) (E : nat) (L : R)
    (G : R) : R :=
  chi * eta * INR E * sigma ^ 2.

Definition per_round_constant (D : R) (sigma : R) (eta : R) (B : R) (Pdim : R) (E : nat) (L : R) (G
    : R) : R :=
  G * eta * (G * INR E + D * L * (INR E - 1) / 2).

Definition initial_term (D : R) (sigma : R) (eta : R) (B : R) (Pdim : R) (E : nat) (L : R) (G : R) :
    R :=
  D ^ 2 / (2 * eta * INR E).

Definition root_term_as_stated (mismatch : R) (D : R) (sigma : R) (eta : R) (B : R) (Pdim : R) (E :
    nat) (L : R) (G : R) : R :=
  D * sigma * sqrt mismatch.

Definition linear_term_as_stated (mismatch : R) (D : R) (sigma : R) (eta : R) (B : R) (Pdim : R) (E
    : nat) (L : R) (G : R) : R :=
  eta * mismatch * sigma ^ 2.

Definition generalisation_term_as_printed (inverse_effective : R) (N : R) (D : R) (sigma : R) (eta :
    R) (B : R) (Pdim : R) (E : nat) (L : R) (G : R) : R :=
  10 * B * sqrt Pdim * sqrt inverse_effective * sqrt (ln (N / Pdim) + 1).

Definition generalisation_term (inverse_effective : R) (N : R) (D : R) (sigma : R) (eta : R) (B : R)
    (Pdim : R) (E : nat) (L : R) (G : R) : R :=
  10 * B * sqrt Pdim * sqrt inverse_effective * sqrt (ln (Rmax 1 (N / Pdim)) + 1).

Definition per_round_constant_as_stated (D : R) (sigma : R) (eta : R) (B : R) (Pdim : R) (E : nat)
    (L : R) (G : R) : R :=
  eta * (5 * G ^ 2 + D * G * L * sqrt (8 * INR E - 8) / sqrt (INR E)) / 2 + G ^ 2 * L ^ 2 * eta ^ 3
    * (4 * INR E - 4) / (2 * INR E).

Definition initial_term_as_stated (D : R) (sigma : R) (eta : R) (B : R) (Pdim : R) (E : nat) (L : R)
    (G : R) : R :=
  D ^ 2 / (2 * eta).
