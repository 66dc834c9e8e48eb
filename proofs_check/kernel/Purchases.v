(* Purchases: what to buy for the sum over rounds of a risk that falls as one over the samples held.
   A plan is best if it buys all it can where a sample is worth more than its price, and nothing
   where it is worth less. *)
Require Import Reals Lra Lia Psatz.
From Acdpp Require Import Sums.
Open Scope R_scope.

(* samples after round t, with those of a pilot; what they cost; the sum of one over them *)
Definition held (pilot : R) (x : nat -> R) (t : nat) : R := pilot + sum (S t) x.
Definition spent (price x : nat -> R) (t : nat) : R := sum (S t) (fun s => price s * x s).
Definition cumulative (T : nat) (pilot : R) (x : nat -> R) : R := sum T (fun t => / held pilot x t).
(* the sum from round t on *)
Definition later (T : nat) (f : nat -> R) (t : nat) : R :=
  sum T (fun s => if Nat.leb t s then f s else 0).
(* by how much a sample bought in round t lowers the sum, per sample *)
Definition value (T : nat) (pilot : R) (x : nat -> R) : nat -> R :=
  later T (fun s => / held pilot x s ^ 2).
(* At most `places` fit into a round, and after round t no more than `allowed t` may be spent. A
   total budget is allowed in every round; without borrowing it grows by the budget of a round. *)
Definition feasible (T : nat) (places : R) (price allowed x : nat -> R) : Prop :=
  forall t, (t < T)%nat -> 0 <= x t <= places /\ spent price x t <= allowed t.

Lemma prefix T t f : (t < T)%nat -> sum (S t) f = sum T (fun s => if Nat.leb s t then f s else 0).
Proof.
  intros H. replace T with (S t + (T - S t))%nat by lia. rewrite sum_split.
  rewrite (sum_ext (T - S t) _ (fun _ => 0)), sum_const, Rmult_0_r, Rplus_0_r.
  - apply sum_ext. intros i Hi. destruct (Nat.leb_spec i t); [easy|lia].
  - intros i Hi. destruct (Nat.leb_spec (S t + i) t); [lia|easy].
Qed.

Lemma by_parts T f g :
  sum T (fun t => f t * sum (S t) g) = sum T (fun s => later T f s * g s).
Proof.
  rewrite (sum_ext T _ (fun t => sum T (fun s => if Nat.leb s t then f t * g s else 0))).
  - rewrite sum_swap. apply sum_ext. intros s _. unfold later. rewrite <- sum_scal_r.
    apply sum_ext. intros t _. destruct (Nat.leb s t); ring.
  - intros t Ht. rewrite (prefix T t g Ht), <- sum_scal. apply sum_ext. intros s _.
    destruct (Nat.leb s t); ring.
Qed.

Lemma held_positive T pilot places price allowed x t : 0 < pilot ->
  feasible T places price allowed x -> (t < T)%nat -> 0 < held pilot x t.
Proof.
  intros Hp F Ht. unfold held. assert (0 <= sum (S t) x); [|lra].
  apply sum_nonneg. intros s Hs. apply (F s). lia.
Qed.

(* One over the samples lies above its tangent. *)
Lemma above_tangents T pilot x y :
  (forall t, (t < T)%nat -> 0 < held pilot x t /\ 0 < held pilot y t) ->
  cumulative T pilot x - sum T (fun t => value T pilot x t * (y t - x t)) <= cumulative T pilot y.
Proof.
  intros H. unfold value. rewrite <- by_parts. unfold cumulative.
  rewrite <- sum_minus. apply sum_le.
  intros t Ht. destruct (H t Ht) as [P Q]. rewrite sum_minus.
  replace (sum (S t) y - sum (S t) x) with (held pilot y t - held pilot x t) by (unfold held; ring).
  set (p := held pilot x t) in *. set (q := held pilot y t) in *.
  assert (E : / q - (/ p - / p ^ 2 * (q - p)) = (q - p) ^ 2 * / (p ^ 2 * q)) by (field; lra).
  assert (0 <= (q - p) ^ 2 * / (p ^ 2 * q)); [|lra].
  apply Rmult_le_pos; [apply pow2_ge_0|]. left. apply Rinv_0_lt_compat.
  apply Rmult_lt_0_compat; [now apply pow_lt|auto].
Qed.

(* A plan is best if money has prices mu, each 0 unless all that is allowed by then is spent, with
   which it buys all it can where the value of a sample is above its price times what money from
   that round on is worth, and nothing where it is below. *)
Theorem best_purchases T pilot places price allowed mu x y :
  0 < pilot -> feasible T places price allowed x -> feasible T places price allowed y ->
  (forall t, (t < T)%nat -> 0 <= mu t /\ mu t * (allowed t - spent price x t) = 0) ->
  (forall t, (t < T)%nat -> value T pilot x t < later T mu t * price t -> x t = 0) ->
  (forall t, (t < T)%nat -> later T mu t * price t < value T pilot x t -> x t = places) ->
  cumulative T pilot x <= cumulative T pilot y.
Proof.
  intros Hp Fx Fy Hm Hno Hall.
  assert (P : forall t, (t < T)%nat -> 0 < held pilot x t /\ 0 < held pilot y t)
    by (split; eapply held_positive; eauto).
  apply Rle_trans with (2 := above_tangents T pilot x y P).
  assert (A : sum T (fun t => value T pilot x t * (y t - x t))
    <= sum T (fun t => later T mu t * (price t * (y t - x t)))).
  { apply sum_le. intros t Ht. destruct (Fx t Ht) as [X _]. destruct (Fy t Ht) as [Y _].
    destruct (Rtotal_order (value T pilot x t) (later T mu t * price t)) as [L|[E|G]].
    - rewrite (Hno t Ht L) in *. nra.
    - rewrite <- Rmult_assoc, E. lra.
    - rewrite (Hall t Ht G) in *. nra. }
  rewrite <- by_parts in A.
  assert (B : sum T (fun t => mu t * sum (S t) (fun s => price s * (y s - x s))) <= 0); [|lra].
  replace 0 with (sum T (fun _ => 0)) by (rewrite sum_const; ring). apply sum_le. intros t Ht.
  destruct (Hm t Ht) as [M Z]. destruct (Fy t Ht) as [_ Y].
  rewrite (sum_ext (S t) _ (fun s => price s * y s - price s * x s)) by (intros; ring).
  rewrite sum_minus. fold (spent price y t). fold (spent price x t). nra.
Qed.
