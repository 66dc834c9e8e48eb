(* Generated from theory by `python -m proofs_check.kernel.formulas`: do not edit. *)
Require Import Reals.
From Acdpp Require Import Sums.
Open Scope R_scope.

Definition omega3_round (K : R) (t : R) (rate : R) (D : R) (sigma : R) (eta : R) (B : R) (Pdim : R)
    (E : nat) (L : R) (G : R) : R :=
  10 * B * sqrt Pdim * sqrt (ln (Rmax 1 (rate * t / Pdim)) + 1) / (sqrt rate * sqrt t) + D * sigma *
    sqrt (Rmax 0 (t - K)) / (sqrt K * sqrt rate * sqrt t) + eta * INR E * sigma ^ 2 * Rmax 0 (t - K)
    / (K * rate * t) - D * sigma * sqrt (Rmax 0 ((1 - / (t + 1 / 2 - Rmin 1 t / 2) - ((Rmin 1 t) ^ 2
    - 1) / ((t + 1 / 2 - Rmin 1 t / 2) * (6 * t + 3 - 3 * Rmin 1 t))) / (K * rate * Rmin 1 t))) - 10
    * B * sqrt (ln (Rmax 1 (K * rate * t / Pdim)) + 1) * sqrt (Rmax 0 (Pdim * (/ (t + 1 / 2 - Rmin 1
    t / 2) - ((Rmin 1 t) ^ 2 - 1) / (6 * (t + 1 / 2 - Rmin 1 t / 2) ^ 2 * Rmin 1 t)) / (K * rate)))
    - eta * INR E * sigma ^ 2 * (1 - / (t + 1 / 2 - Rmin 1 t / 2) - ((Rmin 1 t) ^ 2 - 1) / ((t + 1 /
    2 - Rmin 1 t / 2) * (6 * t + 3 - 3 * Rmin 1 t))) / (K * rate * Rmin 1 t).

Definition omega3_round_as_stated (K : R) (t : R) (rate : R) (D : R) (sigma : R) (eta : R) (B : R)
    (Pdim : R) (E : nat) (L : R) (G : R) : R :=
  D * sigma * sqrt (Rmax 0 (1 / (K * rate) - 1 / (rate * t))) + eta * sigma ^ 2 * (1 / (K * rate) -
    1 / (rate * t)) + 10 * B * sqrt Pdim * sqrt (ln (Rmax 1 (rate * t / Pdim)) + 1) / (sqrt rate *
    sqrt t) - D * sigma * sqrt (Rmax 0 ((1 - / (t + 1 / 2 - Rmin 1 t / 2) - ((Rmin 1 t) ^ 2 - 1) /
    ((t + 1 / 2 - Rmin 1 t / 2) * (6 * t + 3 - 3 * Rmin 1 t))) / (K * rate * Rmin 1 t))) - 10 * B *
    sqrt (ln (Rmax 1 (K * rate * t / Pdim)) + 1) * sqrt (Rmax 0 (Pdim * (/ (t + 1 / 2 - Rmin 1 t /
    2) - ((Rmin 1 t) ^ 2 - 1) / (6 * (t + 1 / 2 - Rmin 1 t / 2) ^ 2 * Rmin 1 t)) / (K * rate))) -
    eta * sigma ^ 2 * (1 - / (t + 1 / 2 - Rmin 1 t / 2) - ((Rmin 1 t) ^ 2 - 1) / ((t + 1 / 2 - Rmin
    1 t / 2) * (6 * t + 3 - 3 * Rmin 1 t))) / (K * rate * Rmin 1 t).

Definition omega3_limit (K : R) (rate : R) (D : R) (sigma : R) (eta : R) (B : R) (Pdim : R) (E :
    nat) (L : R) (G : R) : R :=
  20 * B * (sqrt Pdim / sqrt rate - sqrt Pdim / (sqrt K * sqrt rate)).

Definition penalty_limit (K : R) (t : R) (rate : R) (D : R) (sigma : R) (eta : R) (B : R) (Pdim : R)
    (E : nat) (L : R) (G : R) : R :=
  10 * B * sqrt Pdim * sqrt (ln (Rmax 1 (rate * t / Pdim)) + 1) / (sqrt rate * sqrt t) + D * sigma *
    sqrt (Rmax 0 (t - K)) / (sqrt K * sqrt rate * sqrt t) + eta * sigma ^ 2 * Rmax 0 (t - K) / (K *
    rate * t).

Definition penalty_limit_as_stated (K : R) (t : R) (rate : R) (D : R) (sigma : R) (eta : R) (B : R)
    (Pdim : R) (E : nat) (L : R) (G : R) : R :=
  D * sigma * sqrt (Rmax 0 (1 / (K * rate) - 1 / (rate * t))) + eta * sigma ^ 2 * (1 / (K * rate) -
    1 / (rate * t)) + 10 * B * sqrt Pdim * sqrt (ln (Rmax 1 (rate * t / Pdim)) + 1) / (sqrt rate *
    sqrt t).

Definition constant_round (K : R) (t : R) (rate : R) (D : R) (sigma : R) (eta : R) (B : R) (Pdim :
    R) (E : nat) (L : R) (G : R) : R :=
  D * sigma * sqrt (Rmax 0 ((1 - / (t + 1 / 2 - Rmin K t / 2) - ((Rmin K t) ^ 2 - 1) / ((t + 1 / 2 -
    Rmin K t / 2) * (6 * t + 3 - 3 * Rmin K t))) / (rate * Rmin K t))) + 10 * B * sqrt (ln (Rmax 1
    (rate * t / Pdim)) + 1) * sqrt (Rmax 0 (Pdim * (/ (t + 1 / 2 - Rmin K t / 2) - ((Rmin K t) ^ 2 -
    1) / (6 * (t + 1 / 2 - Rmin K t / 2) ^ 2 * Rmin K t)) / rate)) + eta * INR E * sigma ^ 2 * (1 -
    / (t + 1 / 2 - Rmin K t / 2) - ((Rmin K t) ^ 2 - 1) / ((t + 1 / 2 - Rmin K t / 2) * (6 * t + 3 -
    3 * Rmin K t))) / (rate * Rmin K t).

Definition long_run_share (n : R) (D : R) (sigma : R) (eta : R) (B : R) (Pdim : R) (E : nat) (L : R)
    (G : R) : R :=
  D * sigma / sqrt n + eta * INR E * sigma ^ 2 / n.
