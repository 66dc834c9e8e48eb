(* Constant admission after t rounds: m samples come in every round, and each is used in K rounds.
   What they weigh,
   squared and added up, is a sum over pairs of rounds;
     in closed form if the memory begins full, close to it if it begins
   empty, and in the long run the stationary noise either way.

   Cohort c is used in the rounds c-K+1, ..., c.  A memory that begins full holds the cohorts 0,
     ..., K-1 in round 0; one
   that begins empty holds cohort K-1 alone, the first to come. *)
Require Import Bool Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Acdpp Require Import Sums Mean LawFormulas LearningFormulas Law Stationary Learning.
Open Scope R_scope.

Lemma sum_product n f g : sum n f * sum n g = sum n (fun r => sum n (fun s => f r * g s)).
Proof. rewrite <- sum_scal_r. apply sum_ext. intros. now rewrite <- sum_scal. Qed.

(* ---- any memory, one client: a sum over pairs of rounds ---- *)

Section Pairs.
Variables (N : nat) (used : nat -> nat -> R) (h eta : R) (E : nat).
Let a : R := contraction h eta E.
Let n (r : nat) : R := sum N (used r).
(* what a sample weighs after t rounds, by the law of reuse *)
Definition law_weight (i t : nat) : R := weight 1 N (fun r _ => used r) h (fun _ => eta) E i t.
(* what the memories of two rounds share *)
Definition shared (r s : nat) : R := sum N (fun i => used r i * used s i) / (n r * n s).

Lemma weight_by_rounds i t :
  (forall r, (r < t)%nat -> n r <> 0) ->
  law_weight i t = (1 - a) * sum t (fun r => a ^ (t - 1 - r) * (used r i / n r)).
Proof.
  unfold law_weight. induction t; intros H; [simpl; ring|]. cbn [weight].
  rewrite IHt by (intros; apply H; lia).
  assert (Oc : occupancy 1 N (fun _ => used t) = n t) by (unfold occupancy, held; simpl; unfold n;
    ring).
  unfold left_of. rewrite Oc. destruct (Req_EM_T (n t) 0) as [Z|Z]; [now apply H in Z; [|lia]|].
  fold a.
  assert (Q : in_memory 1 (fun _ => used t) i = used t i) by (unfold in_memory; simpl; ring).
  rewrite Q.
  cbn [sum]. replace (S t - 1 - t)%nat with O by lia.
  rewrite (sum_ext t (fun r => a ^ (S t - 1 - r) * (used r i / n r)) (fun r => a * (a ^ (t - 1
    - r) * (used r i / n r)))).
  - rewrite sum_scal. simpl. ring.
  - intros r Hr. replace (S t - 1 - r)%nat with (S (t - 1 - r)) by lia. simpl. ring.
Qed.

Lemma squares_by_pairs t :
  (forall r, (r < t)%nat -> n r <> 0) ->
  sum N (fun i => law_weight i t ^ 2)
  = (1 - a) ^ 2 * sum t (fun r => sum t (fun s => a ^ (t - 1 - r) * a ^ (t - 1 - s) * shared r s)).
Proof.
  intros H. rewrite (sum_ext N _ (fun i => (1 - a) ^ 2 * sum t (fun r => sum t (fun s =>
    a ^ (t - 1 - r) * a ^ (t - 1 - s) / (n r * n s) * (used r i * used s i))))).
  - rewrite sum_scal. f_equal. rewrite sum_swap. apply sum_ext. intros r Hr. rewrite sum_swap.
    apply sum_ext. intros s Hs.
    rewrite sum_scal. unfold shared. unfold Rdiv. ring.
  - intros i _. rewrite weight_by_rounds by auto. rewrite Rpow_mult_distr. f_equal. simpl (_ ^ 2).
    rewrite Rmult_1_r, sum_product.
    apply sum_ext. intros r Hr. apply sum_ext. intros s Hs. field. split; apply H; auto.
Qed.
End Pairs.

(* ---- cohorts of m samples ---- *)

Lemma sum_by_cohort m C (f : nat -> R) : (0 < m)%nat -> sum (m * C) (fun i => f (i / m)%nat)
  = INR m * sum C f.
Proof.
  intros Hm. induction C; [rewrite Nat.mul_0_r; simpl; ring|].
  rewrite Nat.mul_succ_r, sum_split, IHC. cbn [sum].
  rewrite (sum_ext m _ (fun _ => f C)); [rewrite sum_const; ring|].
  intros i Hi. f_equal. rewrite Nat.mul_comm, Nat.div_add_l by lia. rewrite Nat.div_small by auto.
  lia.
Qed.

(* how many cohorts from first on are used in round r; how many in both r and s *)
Definition window (K first r c : nat) : R := if (Nat.max r first <=? c)%nat && (c <? r
  + K)%nat then 1 else 0.

Lemma counted from upto C : (upto <= C)%nat -> sum C (fun c => if (from <=? c)%nat && (c <?
  upto)%nat then 1 else 0) = INR (upto - from).
Proof.
  revert upto. induction C; intros upto H; [replace upto with O by lia; reflexivity|]. cbn [sum].
  destruct (Nat.eq_dec upto (S C)) as [->|].
  - rewrite (sum_ext C _ (fun c => if (from <=? c)%nat && (c <? C)%nat then 1 else 0)).
    + rewrite IHC by lia. destruct (Nat.leb_spec from C), (Nat.ltb_spec C (S C)); try lia;
        cbn [andb].
      * replace (S C - from)%nat with (S (C - from)) by lia. now rewrite S_INR.
      * replace (S C - from)%nat with (C - from)%nat by lia. ring.
    + intros c Hc. destruct (Nat.ltb_spec c (S C)), (Nat.ltb_spec c C); try lia; auto.
  - rewrite IHC by lia. destruct (Nat.leb_spec from C), (Nat.ltb_spec C upto); try lia; cbn [andb];
      ring.
Qed.

(* ---- sums over the distances of two rounds ---- *)

Section Lags.
Variables (a : R) (K : nat).
Definition lags (t : nat) : R := sum t (fun i => sum t (fun j => a ^ i * a ^ j * INR (K
  - (Nat.max i j - Nat.min i j)))).

(* the pairs that a round adds *)
Definition tail (t : nat) : R := sum t (fun i => a ^ i * INR (K - (t - i))).
Lemma lags_next t : lags (S t) = lags t + INR K * (a ^ t) ^ 2 + 2 * a ^ t * tail t.
Proof.
  unfold lags, tail. cbn [sum]. rewrite sum_plus, Nat.max_id, Nat.min_id, Nat.sub_diag, Nat.sub_0_r.
  rewrite (sum_ext t (fun i => a ^ i * a ^ t * INR (K - (Nat.max i t
    - Nat.min i t))) (fun i => a ^ t * (a ^ i * INR (K - (t - i)))))
    by (intros i Hi; replace (Nat.max i t - Nat.min i t)%nat with (t - i)%nat by lia; ring).
  rewrite (sum_ext t (fun j => a ^ t * a ^ j * INR (K - (Nat.max t j
    - Nat.min t j))) (fun i => a ^ t * (a ^ i * INR (K - (t - i)))))
    by (intros i Hi; replace (Nat.max t i - Nat.min t i)%nat with (t - i)%nat by lia; ring).
  rewrite sum_scal. ring.
Qed.

Lemma ramp n : (1 - a) ^ 2 * sum n (fun e => a ^ e * INR e) = a - INR n * a ^ n + (INR n
  - 1) * (a * a ^ n).
Proof. induction n; [simpl; ring|]. cbn [sum]. rewrite Rmult_plus_distr_l, IHn, S_INR. simpl. ring.
Qed.

Lemma tail_filling t : (t <= K)%nat ->
  (1 - a) ^ 2 * tail t = (INR K - INR t) * (1 - a) * (1 - a ^ t) + (a - INR t * a ^ t + (INR t
    - 1) * (a * a ^ t)).
Proof.
  intros H. unfold tail. rewrite (sum_ext t _ (fun i => (INR K - INR t) * a ^ i + a ^ i * INR i)).
  - rewrite sum_plus, (sum_scal t _ (fun i => a ^ i)), Rmult_plus_distr_l, ramp,
      <- (geometric a t). ring.
  - intros i Hi. rewrite !minus_INR by lia. ring.
Qed.

Lemma tail_full s : (1 - a) ^ 2 * tail (K + s) = a ^ s * (a - INR K * a ^ K + (INR K
  - 1) * (a * a ^ K)).
Proof.
  unfold tail. replace (K + s)%nat with (s + K)%nat by lia. rewrite sum_split.
  rewrite (sum_ext s _ (fun _ => 0)) by (intros i Hi; replace (K - (s + K - i))%nat with O by lia;
    simpl; ring).
  rewrite sum_const, Rmult_0_r, Rplus_0_l. rewrite (sum_ext K _ (fun e => a ^ s * (a ^ e * INR e))).
  - rewrite sum_scal, <- ramp. ring.
  - intros e He. rewrite pow_add. replace (K - (s + K - (s + e)))%nat with e by lia. ring.
Qed.

Lemma square_power t : a ^ (2 * t) = a ^ t * a ^ t.
Proof. rewrite <- pow_add. f_equal. lia. Qed.

End Lags.

Section Constant.
Variables (m K : nat) (h eta : R) (E : nat).
Hypotheses (m0 : (0 < m)%nat) (kept : (0 < K)%nat).
Let a : R := contraction h eta E.
Hypothesis range : 0 <= a < 1.

(* the noise after t rounds, times the rate m: of a memory that begins with the cohorts first, ...,
   K-1 *)
Definition noise (first t : nat) : R :=
  INR m * sum (m * (t + K)) (fun i => law_weight (m * (t
    + K)) (fun r i => window K first r (i / m)) h eta E i t ^ 2).
Definition common (first r s : nat) : nat := (Nat.min r s + K - Nat.max (Nat.max r s) first)%nat.

Lemma window_counted first t r : (r < t)%nat -> sum (m * (t
  + K)) (fun i => window K first r (i / m)) = INR m * INR (common first r r).
Proof.
  intros H. rewrite (sum_by_cohort m (t + K) (window K first r)) by auto. f_equal.
  unfold window, common.
  rewrite counted by lia. f_equal. lia.
Qed.

Lemma windows_meet first C r s : (r + K <= C)%nat ->
  sum C (fun c => window K first r c * window K first s c) = INR (common first r s).
Proof.
  intros H. rewrite (sum_ext C _ (fun c => if (Nat.max (Nat.max r s) first <=? c)%nat && (c <?
    Nat.min r s + K)%nat then 1 else 0)).
  - rewrite counted by lia. reflexivity.
  - intros c _. unfold window.
    destruct (Nat.leb_spec (Nat.max r first) c), (Nat.leb_spec (Nat.max s first) c),
      (Nat.leb_spec (Nat.max (Nat.max r s) first) c),
      (Nat.ltb_spec c (r + K)), (Nat.ltb_spec c (s + K)), (Nat.ltb_spec c (Nat.min r s + K));
        try lia; cbn [andb]; ring.
Qed.

Lemma window_shared first t r s : (r < t)%nat ->
  sum (m * (t + K)) (fun i => window K first r (i / m) * window K first s (i / m))
    = INR m * INR (common first r s).
Proof.
  intros Hr. rewrite (sum_by_cohort m (t + K) (fun c => window K first r c * window K first s c))
    by auto.
  now rewrite windows_meet by lia.
Qed.

(* what two rounds share, in cohorts *)
Definition covariance (first r s : nat) : R := INR (common first r s) / (INR (common first r r) *
  INR (common first s s)).

Lemma some_held first r : (first < K)%nat -> 0 < INR (common first r r).
Proof. intros H. apply lt_0_INR. unfold common. lia. Qed.

Lemma noise_by_pairs first t :
  (first < K)%nat ->
  noise first t = (1 - a) ^ 2 * sum t (fun r => sum t (fun s => a ^ (t - 1 - r) * a ^ (t - 1
    - s) * covariance first r s)).
Proof.
  intros Hf. assert (M : 0 < INR m) by now apply lt_0_INR. unfold noise. rewrite squares_by_pairs.
  - fold a. rewrite <- Rmult_assoc, (Rmult_comm (INR m)), Rmult_assoc. f_equal.
    rewrite <- sum_scal. apply sum_ext. intros r Hr.
    rewrite <- sum_scal. apply sum_ext. intros s Hs. unfold shared.
    rewrite !window_counted, window_shared by auto. unfold covariance.
    pose proof (some_held first r Hf). pose proof (some_held first s Hf). field. lra.
  - intros r Hr. rewrite window_counted by auto. pose proof (some_held first r Hf). nra.
Qed.

(* ---- a memory that begins full ---- *)

Lemma noise_by_lags t : noise 0 t = (1 - a) ^ 2 / INR K ^ 2 * lags a K t.
Proof.
  rewrite noise_by_pairs by auto. pose proof (lt_0_INR K kept) as P.
  rewrite <- (sum_reversed t). unfold lags, Rdiv. rewrite Rmult_assoc. f_equal.
  rewrite <- sum_scal. apply sum_ext. intros i Hi.
  rewrite <- (sum_reversed t). rewrite <- sum_scal. apply sum_ext. intros j Hj.
  unfold covariance, common.
  replace (t - 1 - (t - 1 - i))%nat with i by lia. replace (t - 1 - (t - 1 - j))%nat with j by lia.
  replace (Nat.min (t - 1 - i) (t - 1 - j) + K - Nat.max (Nat.max (t - 1 - i) (t - 1 - j)) 0)%nat
    with (K - (Nat.max i j - Nat.min i j))%nat by lia.
  replace (Nat.min (t - 1 - i) (t - 1 - i) + K - Nat.max (Nat.max (t - 1 - i) (t - 1
    - i)) 0)%nat with K by lia.
  replace (Nat.min (t - 1 - j) (t - 1 - j) + K - Nat.max (Nat.max (t - 1 - j) (t - 1
    - j)) 0)%nat with K by lia.
  field. lra.
Qed.

(* Constant admission from a full memory, up to round K: the noise is theory's closed form. *)
Theorem noise_while_filling t more : K = (t + more)%nat -> noise 0 t
  = full_memory_noise_filling a t more.
Proof.
  intros HK. rewrite noise_by_lags. assert (P : 0 < INR more + INR t) by (rewrite Rplus_comm,
    <- plus_INR, <- HK; now apply lt_0_INR).
  assert (KR : INR K = INR t + INR more) by now rewrite HK, plus_INR.
  assert (L : forall s, (s <= K)%nat -> (1 - a) ^ 2 * lags a K s
      = (INR K - INR s) * (1 - a ^ s) ^ 2 + INR s * (a ^ s * a ^ s + 1) - 2 * a * (1
        - a ^ s * a ^ s) / (1 - a ^ 2)).
  { induction s; intros Hs; [unfold lags; simpl; field; nra|].
    rewrite lags_next, !Rmult_plus_distr_l, IHs by lia.
    replace ((1 - a) ^ 2 * (2 * a ^ s * tail a K s)) with (2 * a ^ s * ((1 - a) ^ 2 * tail a K s))
      by ring.
    rewrite tail_filling by lia. rewrite S_INR. simpl pow. field. nra. }
  unfold full_memory_noise_filling. rewrite !square_power. specialize (L t ltac:(lia)).
  replace ((1 - a) ^ 2 / INR K ^ 2 * lags a K t) with ((1 - a) ^ 2 * lags a K t / INR K ^ 2)
    by (field; lra). rewrite L, KR. field. split; nra.
Qed.

(* Constant admission from a full memory, from round K on: the noise is theory's closed form. *)
Theorem noise_when_full more : noise 0 (K + more) = full_memory_noise_after a K more.
Proof.
  pose proof (lt_0_INR K kept) as P. induction more.
  - rewrite Nat.add_0_r, (noise_while_filling K 0) by lia.
    unfold full_memory_noise_filling, full_memory_noise_after. simpl (INR 0). simpl (2 * 0)%nat.
    rewrite pow_O. field. repeat split; try lra; nra.
  - rewrite Nat.add_succ_r, noise_by_lags, lags_next, !Rmult_plus_distr_l, <- noise_by_lags, IHmore.
    replace ((1 - a) ^ 2 / INR K ^ 2 * (2 * a ^ (K + more) * tail a K (K + more))) with (2 * a ^ (K
      + more) * ((1 - a) ^ 2 * tail a K (K + more)) / INR K ^ 2) by (field; lra).
    rewrite tail_full. unfold full_memory_noise_after. rewrite !square_power, !pow_add. simpl pow.
    set (p := a ^ K). set (q := a ^ more).
    field. repeat split; try lra; nra.
Qed.

(* ---- a memory that begins empty ---- *)

Lemma covariance_sym first r s : covariance first r s = covariance first s r.
Proof. unfold covariance. rewrite (Rmult_comm (INR (common first r r))). do 2 f_equal.
unfold common. f_equal; lia. Qed.

(* Two rounds have no less in common than those of full memories. *)
Lemma covariance_at_least r s : covariance 0 r s <= covariance (K - 1) r s.
Proof.
  assert (W : forall r s, (r <= s)%nat -> covariance 0 r s <= covariance (K - 1) r s).
  { clear r s. intros r s H. pose proof (some_held (K - 1) r ltac:(lia)) as P1.
    pose proof (some_held (K - 1) s ltac:(lia)) as P2.
    pose proof (lt_0_INR K kept) as P. unfold covariance.
    replace (common 0 r r) with K by (unfold common; lia).
    replace (common 0 s s) with K by (unfold common; lia).
    assert (L1 : INR (common (K - 1) r r) <= INR K) by (apply le_INR; unfold common; lia).
    assert (L2 : INR (common (K - 1) s s) <= INR K) by (apply le_INR; unfold common; lia).
    assert (L0 : 0 <= INR (common 0 r s) <= INR K) by (split; [apply pos_INR|apply le_INR;
      unfold common; lia]).
    apply Rmult_le_reg_r with (INR K * INR K * (INR (common (K - 1) r r) * INR (common (K
      - 1) s s)));
      [repeat apply Rmult_lt_0_compat; auto|].
    match goal with |- ?x <= ?y =>
      replace x with (INR (common 0 r s) * (INR (common (K - 1) r r) * INR (common (K - 1) s s)))
        by (field; lra);
      replace y with (INR (common (K - 1) r s) * (INR K * INR K)) by (field; lra) end.
    destruct (Nat.le_ge_cases s (K - 1)) as [C|C].
    - replace (common (K - 1) r s) with (common (K - 1) r r) by (unfold common; lia).
      assert (INR (common 0 r s) * INR (common (K - 1) s s) <= INR K * INR K)
        by (apply Rmult_le_compat; lra). nra.
    - replace (common (K - 1) r s) with (common 0 r s) by (unfold common; lia).
      apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat; lra. }
  destruct (Nat.le_ge_cases r s); [auto|]. rewrite (covariance_sym 0), (covariance_sym (K - 1)).
  auto.
Qed.

(* A memory that begins empty has no less noise than one that begins full. *)
Theorem noise_from_empty_not_less t : noise 0 t <= noise (K - 1) t.
Proof.
  rewrite !noise_by_pairs by lia. apply Rmult_le_compat_l; [apply pow2_ge_0|]. apply sum_le.
  intros r _. apply sum_le. intros s _.
  apply Rmult_le_compat_l; [|apply covariance_at_least]. apply Rmult_le_pos; apply pow_le; lra.
Qed.

(* As vectors of what cohorts weigh, the two models differ in the first K-1 means alone, each by a
   vector of length at
   most 1: the triangle inequality. *)
Section Vectors.
Variable t : nat.
Let C : nat := (t + K)%nat.
Definition cohorts_space : space.
Proof.
  refine {| V := nat -> R; zero := fun _ => 0; plus := fun x y c => x c + y c;
    scal := fun k x c => k * x c;
            inner := fun x y => sum C (fun c => x c * y c) |}.
  - intros z. rewrite (sum_ext C _ (fun _ => 0)) by (intros; ring). rewrite sum_const. ring.
  - intros x y z. rewrite <- sum_plus. apply sum_ext. intros; ring.
  - intros k x z. rewrite <- sum_scal. apply sum_ext. intros; ring.
  - intros x y. apply sum_ext. intros; ring.
  - intros x. apply sum_nonneg. intros. nra.
Defined.

Lemma vsum_at n (v : nat -> cohorts_space) c : vsum n v c = sum n (fun r => v r c).
Proof. induction n; simpl; [auto|now rewrite IHn]. Qed.
Lemma norm_ext (x y : cohorts_space) : (forall c, x c = y c) -> norm x = norm y.
Proof. intros H. unfold norm. f_equal. simpl. apply sum_ext. intros. now rewrite !H. Qed.
Lemma norm_vsum n (v : nat -> cohorts_space) : norm (vsum n v) <= sum n (fun r => norm (v r)).
Proof.
  induction n; simpl sum.
  - right. unfold norm. simpl. rewrite (sum_ext C _ (fun _ => 0)) by (intros; ring).
    rewrite sum_const, Rmult_0_r. apply sqrt_0.
  - apply Rle_trans with (1 := triangle (vsum n v) (v n)). lra.
Qed.
Lemma norm_scal k (x : cohorts_space) : 0 <= k -> norm (scal k x) = k * norm x.
Proof.
  intros H. unfold norm. rewrite inner_scal, inner_scal_r, <- Rmult_assoc, sqrt_mult_alt by nra.
  rewrite sqrt_square by auto. reflexivity.
Qed.

(* the mean of round r, and what is left of it *)
Let share (first r : nat) : cohorts_space := fun c => window K first r c / INR (common first r r).
Let left_of_round (r : nat) : R := (1 - a) * a ^ (t - 1 - r).
Let model (first : nat) : cohorts_space := vsum t (fun r => scal (left_of_round r) (share first r)).

Lemma shares_meet first r s : (first < K)%nat -> (r < t)%nat
  -> inner (share first r) (share first s) = covariance first r s.
Proof.
  intros Hf Hr. pose proof (some_held first r Hf). pose proof (some_held first s Hf).
  unfold covariance.
  rewrite <- (windows_meet first C r s) by (unfold C; lia). unfold share. simpl. unfold Rdiv.
  rewrite <- sum_scal_r. apply sum_ext. intros c _.
  field. lra.
Qed.

Lemma noise_is_a_length first : (first < K)%nat -> sqrt (noise first t) = norm (model first).
Proof.
  intros Hf. unfold norm. f_equal. rewrite noise_by_pairs by auto. unfold model.
  rewrite inner_vsum, <- sum_scal. apply sum_ext. intros r Hr.
  rewrite inner_scal, inner_sym, inner_vsum, <- !sum_scal. apply sum_ext. intros s Hs.
  rewrite inner_scal, inner_sym, shares_meet by auto. unfold left_of_round. ring.
Qed.

Lemma share_differs r : (r < t)%nat ->
  let u : cohorts_space := fun c => share (K - 1) r c - share 0 r c in norm u <= (if (r <? K
    - 1)%nat then 1 else 0).
Proof.
  intros Hr u. pose proof (some_held (K - 1) r ltac:(lia)) as P1. pose proof (lt_0_INR K kept) as P.
  assert (C0 : common 0 r r = K) by (unfold common; lia).
  assert (Q : inner u u = / INR (common (K - 1) r r) - / INR K).
  { transitivity (inner (share (K - 1) r) (share (K - 1) r) - 2 * (INR (common (K
      - 1) r r) / (INR (common (K - 1) r r) * INR K)) + inner (share 0 r) (share 0 r)).
    - rewrite <- (windows_meet (K - 1) C r r) at 1 by (unfold C; lia). unfold u. simpl.
      unfold Rdiv at 1. rewrite <- sum_scal_r, <- sum_scal, <- sum_minus, <- sum_plus.
      apply sum_ext. intros c _. unfold share. rewrite C0.
      assert (M : window K (K - 1) r c * window K 0 r c = window K (K - 1) r c * window K (K
        - 1) r c).
      { unfold window. destruct (Nat.leb_spec (Nat.max r (K - 1)) c),
          (Nat.leb_spec (Nat.max r 0) c), (Nat.ltb_spec c (r + K)); try lia; cbn [andb]; ring. }
      rewrite <- M. field. lra.
    - rewrite !shares_meet by (auto; lia). unfold covariance. rewrite C0. field. lra. }
  apply norm_le; [destruct (r <? K - 1)%nat; lra|]. rewrite Q. destruct (Nat.ltb_spec r (K - 1)).
  - assert (1 <= INR (common (K - 1) r r)) by (change 1 with (INR 1); apply le_INR; unfold common;
      lia).
    assert (/ INR (common (K - 1) r r) <= / 1) by (apply Rinv_le_contravar; lra).
    assert (0 < / INR K) by now apply Rinv_0_lt_compat. lra.
  - replace (common (K - 1) r r) with K by (unfold common; lia). lra.
Qed.

Lemma start_up : sqrt (noise (K - 1) t) <= sqrt (noise 0 t)
  + sum t (fun r => left_of_round r * (if (r <? K - 1)%nat then 1 else 0)).
Proof.
  assert (L0 : forall r, 0 <= left_of_round r) by (intros r; apply Rmult_le_pos; [lra|apply pow_le;
    lra]).
  rewrite !noise_is_a_length by lia. set (u := fun r => (fun c => share (K - 1) r c
    - share 0 r c) : cohorts_space).
  rewrite (norm_ext (model (K - 1)) (plus (model 0) (vsum t (fun r => scal (left_of_round r) (u
    r))))).
  - apply Rle_trans with (1 := triangle _ _). apply Rplus_le_compat_l.
    apply Rle_trans with (1 := norm_vsum _ _). apply sum_le. intros r Hr.
    rewrite norm_scal by auto. apply Rmult_le_compat_l; [auto|]. now apply share_differs.
  - intros c. transitivity (model 0 c + vsum t (fun r => scal (left_of_round r) (u r)) c);
      [|reflexivity].
    unfold model. rewrite !vsum_at, <- sum_plus. apply sum_ext. intros r _.
    unfold u. simpl. ring.
Qed.
End Vectors.

Lemma start_up_sum more :
  sum (K + more) (fun r => (1 - a) * a ^ (K + more - 1 - r) * (if (r <? K - 1)%nat then 1 else 0))
    = a ^ S more * (1 - a ^ (K - 1)).
Proof.
  replace (K + more)%nat with ((K - 1) + S more)%nat by lia. rewrite sum_split.
  rewrite (sum_ext (S more) _ (fun _ => 0)) by (intros i Hi;
    destruct (Nat.ltb_spec (K - 1 + i) (K - 1)); [lia|ring]).
  rewrite sum_const, Rmult_0_r, Rplus_0_r, <- (geometric a (K - 1)),
    <- (sum_reversed (K - 1) (fun i => a ^ i)), <- Rmult_assoc, <- sum_scal.
  apply sum_ext. intros r Hr. destruct (Nat.ltb_spec r (K - 1)); [|lia].
  replace (K - 1 + S more - 1 - r)%nat with (S more + (K - 1 - 1 - r))%nat by lia. rewrite pow_add.
  ring.
Qed.

(* A memory that begins empty has, from round K on, not much more noise: theory's bound on the
   roots. *)
Theorem noise_from_empty_not_much_more more :
  0 < a -> sqrt (noise (K - 1) (K + more)) <= sqrt (noise 0 (K + more))
    + start_up_bound_after a K more.
Proof.
  intros Ha. apply Rle_trans with (1 := start_up (K + more)). rewrite start_up_sum. right.
  unfold start_up_bound_after.
  rewrite Nat.add_1_r. do 2 f_equal. replace (a ^ K) with (a ^ S (K - 1)) by (f_equal; lia). simpl.
  field. lra.
Qed.

(* A round more never lowers the sum over pairs. *)
Lemma noise_grows t : noise 0 t <= noise 0 (S t).
Proof.
  rewrite !noise_by_lags. apply Rmult_le_compat_l.
  - apply Rmult_le_pos; [apply pow2_ge_0|]. left. apply Rinv_0_lt_compat, pow_lt, lt_0_INR, kept.
  - rewrite lags_next. assert (0 <= a ^ t) by (apply pow_le; lra). assert (0 <= tail a K t).
    { apply sum_nonneg. intros. apply Rmult_le_pos; [apply pow_le; lra|apply pos_INR]. }
    pose proof (pos_INR K). assert (0 <= INR K * (a ^ t) ^ 2) by (apply Rmult_le_pos;
      [auto|apply pow2_ge_0]). nra.
Qed.

(* In the long run the law's weights have the stationary noise, whether the memory begins full or
   empty. *)
Theorem noise_tends : is_lim_seq (noise 0) (stationary_noise a K) /\ is_lim_seq (noise (K
  - 1)) (stationary_noise a K).
Proof.
  pose proof (lt_0_INR K kept) as P. set (v := stationary_noise a K).
  assert (G : is_lim_seq (fun s => a ^ s) 0) by (apply is_lim_seq_geom; rewrite Rabs_right; lra).
  assert (G2 : is_lim_seq (fun s => a ^ s * a ^ s) 0) by (replace 0 with (0 * 0) by ring;
    apply (is_lim_seq_mult' _ _ 0 0 G G)).
  assert (F : is_lim_seq (noise 0) v).
  { apply (is_lim_seq_incr_n (noise 0) K). set (V := full_memory_noise_after a K 0).
    apply is_lim_seq_ext with (fun s => v + (V - v) * (a ^ s * a ^ s)).
    - intros s. rewrite Nat.add_comm, noise_when_full.
      unfold V, v, full_memory_noise_after, stationary_noise. rewrite !square_power. simpl (a ^ 0).
      field. repeat split; try lra; nra.
    - replace (Finite v) with (Finite (v + (V - v) * 0)) by (f_equal; ring).
      apply (is_lim_seq_plus' (fun _ => v) _ v ((V - v) * 0) (is_lim_seq_const v)).
      apply (is_lim_seq_scal_l _ (V - v) 0 G2). }
  split; auto. apply (is_lim_seq_incr_n (noise (K - 1)) K).
  set (b := fun s => a ^ S s * (1 - a ^ (K - 1))).
  assert (N0 : forall first t, (first < K)%nat -> 0 <= noise first t).
  { intros first t _. unfold noise. apply Rmult_le_pos; [apply pos_INR|]. apply sum_nonneg. intros.
    apply pow2_ge_0. }
  assert (F' : is_lim_seq (fun s => noise 0 (s + K)) v)
    by now apply (is_lim_seq_incr_n (noise 0) K).
  assert (B : is_lim_seq b 0).
  { unfold b. replace (Finite 0) with (Finite (0 * (1 - a ^ (K - 1)))) by (f_equal; ring).
    apply (is_lim_seq_scal_r (fun s => a ^ S s) (1 - a ^ (K - 1)) 0).
    apply (is_lim_seq_incr_1 (fun s => a ^ s)), G. }
  assert (R : is_lim_seq (fun s => sqrt (noise 0 (s + K))) (sqrt v)).
  { apply (is_lim_seq_continuous sqrt _ v); [|exact F']. apply continuity_pt_sqrt. left.
    now apply noise_positive. }
  apply is_lim_seq_le_le with (fun s => noise 0 (s + K)) (fun s => (sqrt (noise 0 (s + K))
    + b s) * (sqrt (noise 0 (s + K)) + b s)).
  - intros s. split; [apply noise_from_empty_not_less|].
    rewrite <- (sqrt_sqrt (noise (K - 1) (s + K))) by (apply N0; lia).
    pose proof (start_up (s + K)) as S0. rewrite (Nat.add_comm s K), start_up_sum in S0.
    rewrite (Nat.add_comm s K). fold (b s) in S0.
    apply Rmult_le_compat; try apply sqrt_pos; auto.
  - exact F'.
  - replace (Finite v) with (Finite ((sqrt v + 0) * (sqrt v + 0))) by (f_equal; rewrite Rplus_0_r;
      apply sqrt_sqrt; left; now apply noise_positive).
    apply (is_lim_seq_mult' _ _ (sqrt v + 0) (sqrt v + 0));
      apply (is_lim_seq_plus' _ _ (sqrt v) 0 R B).
Qed.

(* From a full memory the stationary noise is approached from below, by a factor a^2 a round. *)
Theorem noise_approaches :
  (forall t, noise 0 t <= stationary_noise a K) /\
  forall more, stationary_noise a K - noise 0 (K + more) = a ^ (2 * more) * (stationary_noise a K
    - noise 0 K).
Proof.
  split.
  - intros t. apply (is_lim_seq_incr_compare (noise 0) (stationary_noise a K));
      [apply noise_tends|apply noise_grows].
  - intros more. pose proof (lt_0_INR K kept).
    replace (noise 0 K) with (noise 0 (K + 0)) by (f_equal; lia). rewrite !noise_when_full.
    unfold full_memory_noise_after, stationary_noise. rewrite !square_power. simpl (a ^ 0). field.
    repeat split; try lra; nra.
Qed.
End Constant.
