(* The Lambert sum of rho^t/(1 - rho^t) over t = 1, ..., T, and the logarithm that bounds it. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Acdpp Require Import Sums ControlFormulas.
Open Scope R_scope.

Definition lambert (rho : R) (T : nat) : R := sum T (fun i => rho ^ S i / (1 - rho ^ S i)).

Lemma pow_below_one rho t : 0 < rho < 1 -> 0 < rho ^ S t < 1.
Proof.
  intros [H0 H1]. split; [now apply pow_lt|]. induction t; simpl in *; [lra|].
  assert (0 < rho * rho ^ t) by (apply Rmult_lt_0_compat; [lra|now apply pow_lt]). nra.
Qed.

Lemma summand_nonneg rho t : 0 < rho < 1 -> 0 <= rho ^ S t / (1 - rho ^ S t).
Proof. intros H. pose proof (pow_below_one rho t H). apply Rlt_le, Rdiv_lt_0_compat; lra. Qed.

Lemma lambert_nonneg rho T : 0 < rho < 1 -> 0 <= lambert rho T.
Proof. intros H. apply sum_nonneg. intros. now apply summand_nonneg. Qed.

(* Partial sums of the logarithm's series lie below it: the difference starts at 0 and has the slope
   q^n/(1-q). *)
Definition log_partial (n : nat) (q : R) : R := sum n (fun i => q ^ S i / INR (S i)).

Lemma log_partial_derive n q : is_derive (log_partial n) q (sum n (fun i => q ^ i)).
Proof.
  induction n; [apply @is_derive_const|]. apply @is_derive_plus; [apply IHn|].
  auto_derive; [easy|]. change (match n with 0%nat => 1 | S _ => INR n + 1 end) with (INR (S n)).
  field. apply not_0_INR. lia.
Qed.

Lemma log_series_below n q : 0 <= q < 1 -> log_partial n q <= - ln (1 - q).
Proof.
  intros [H0 H1]. set (f := fun x => - ln (1 - x) - log_partial n x).
  enough (f 0 <= f q).
  { unfold f in H. replace (log_partial n 0) with 0 in H.
    - replace (1 - 0) with 1 in H by ring. rewrite ln_1 in H. lra.
    - unfold log_partial. rewrite (sum_ext _ _ (fun _ => 0)); [now rewrite sum_const, Rmult_0_r|].
      intros. rewrite pow_i by lia. unfold Rdiv. ring. }
  destruct (Req_dec q 0) as [->|N]; [lra|].
  destruct (MVT_gen f 0 q (fun x => / (1 - x) - sum n (fun i => x ^ i))) as [c [Hc E]].
  - rewrite Rmin_left, Rmax_right by lra. intros x Hx. unfold f.
    apply @is_derive_minus; [|apply log_partial_derive].
    auto_derive; [lra|]. field. lra.
  - rewrite Rmin_left, Rmax_right by lra. intros x Hx. apply continuity_pt_filterlim.
    apply (ex_derive_continuous f). eexists. unfold f.
    apply @is_derive_minus; [|apply log_partial_derive].
    auto_derive; [lra|reflexivity].
  - rewrite Rmin_left, Rmax_right in Hc by lra.
    assert (0 <= / (1 - c) - sum n (fun i => c ^ i)).
    { pose proof (geometric c n) as G. assert (0 <= c ^ n) by (apply pow_le; lra).
      apply Rmult_le_reg_l with (1 - c); [lra|].
      rewrite Rmult_0_r, Rmult_minus_distr_l, G, Rinv_r by lra. lra. }
    nra.
Qed.

(* Of a geometric sum, t terms average at least the middle one: pairs do, by the inequality of the
   means. *)
Lemma middle q t : 0 < q -> INR (S t) * q ^ t <= sum (S t) (fun i => (q * q) ^ i).
Proof.
  intros Hq. set (f := fun i => (q * q) ^ i).
  assert (D : 2 * sum (S t) f = sum (S t) (fun i => f i + f (t - i)%nat)).
  { rewrite sum_plus. replace (sum (S t) (fun i => f (t - i)%nat)) with (sum (S t) f); [ring|].
    rewrite <- (sum_reversed (S t) f). apply sum_ext. intros. f_equal. lia. }
  enough (2 * (INR (S t) * q ^ t) <= 2 * sum (S t) f) by lra.
  rewrite D, <- Rmult_assoc, (Rmult_comm 2), Rmult_assoc, <- (sum_const (S t) (2 * q ^ t)).
  apply sum_le. intros i Hi. unfold f. rewrite !Rpow_mult_distr.
  replace (q ^ t) with (q ^ i * q ^ (t - i)) by (rewrite <- pow_add; f_equal; lia).
  pose proof (pow2_ge_0 (q ^ i - q ^ (t - i))). nra.
Qed.

Lemma summand_above q t : 0 < q < 1 ->
  (q * q) ^ S t / (1 - (q * q) ^ S t) <= q / (1 - q * q) * (q ^ S t / INR (S t)).
Proof.
  intros Hq. assert (Hqq : 0 < q * q < 1) by nra. pose proof (pow_below_one (q * q) t Hqq) as P.
  pose proof (geometric (q * q) (S t)) as G. pose proof (middle q t (proj1 Hq)) as M.
  assert (I : 0 < INR (S t)) by (apply lt_0_INR; lia). assert (Qt : 0 < q ^ t) by now apply pow_lt.
  rewrite <- G. set (g := sum (S t) (fun i => (q * q) ^ i)) in *.
  assert (Hg : 0 < g) by nra.
  apply Rmult_le_reg_r with ((1 - q * q) * g * INR (S t)); [apply Rmult_lt_0_compat; nra|].
  replace ((q * q) ^ S t / ((1 - q * q) * g) * ((1 - q * q) * g * INR (S t)))
    with ((q * q) ^ S t * INR (S t)) by (field; nra).
  replace (q / (1 - q * q) * (q ^ S t / INR (S t)) * ((1 - q * q) * g * INR (S t)))
    with (q * q ^ S t * g) by (field; nra).
  rewrite Rpow_mult_distr. simpl pow. assert (0 < q * q * q ^ t) by nra.
  replace (q * q ^ t * (q * q ^ t) * INR (S t)) with (q * q * q ^ t * (INR (S t) * q ^ t)) by ring.
  replace (q * (q * q ^ t) * g) with (q * q * q ^ t * g) by ring. apply Rmult_le_compat_l; lra.
Qed.

(* The sum over any number of rounds is at most theory's bound. *)
Theorem lambert_above rho T : 0 < rho < 1 -> lambert rho T <= lambert_bound rho.
Proof.
  intros H. set (q := sqrt rho). assert (Q : q * q = rho) by (apply sqrt_sqrt; lra).
  assert (Hq : 0 < q < 1) by (split; [apply sqrt_lt_R0; lra|]; nra).
  unfold lambert_bound. fold q. rewrite <- Q.
  replace (- (q * ln (1 - q) / (1 - q * q))) with (q / (1 - q * q) * (- ln (1 - q))) by (field;
    nra).
  apply Rle_trans with (q / (1 - q * q) * log_partial T q).
  - unfold lambert, log_partial. rewrite <- sum_scal. apply sum_le. intros. now apply summand_above.
  - apply Rmult_le_compat_l; [apply Rlt_le, Rdiv_lt_0_compat; nra|]. apply log_series_below. lra.
Qed.

Lemma lambert_converges rho : 0 < rho < 1 ->
  exists whole : R, is_lim_seq (lambert rho) whole.
Proof.
  intros H. apply (ex_finite_lim_seq_incr _ (lambert_bound rho)); intros T;
    [|now apply lambert_above].
  unfold lambert. cbn [sum]. pose proof (pow_below_one rho T H).
  assert (0 < rho ^ S T / (1 - rho ^ S T)) by (apply Rdiv_lt_0_compat; lra). lra.
Qed.

(* theory's bound on the sum is below log(2/(1-rho))/(1-rho), for 1 + sqrt rho < 2. *)
Theorem lambert_bound_below rho : 0 < rho < 1 -> lambert_bound rho < ln (2 / (1 - rho)) / (1 - rho).
Proof.
  intros H. set (q := sqrt rho). assert (Q : q * q = rho) by (apply sqrt_sqrt; lra).
  assert (Hq : 0 < q < 1) by (split; [apply sqrt_lt_R0; lra|]; nra).
  unfold lambert_bound. fold q. rewrite <- Q.
  assert (L : - ln (1 - q) < ln (2 / (1 - q * q))).
  { rewrite <- ln_Rinv by lra. apply ln_increasing; [apply Rinv_0_lt_compat; lra|].
    apply Rmult_lt_reg_r with (1 - q * q); [nra|].
    replace (2 / (1 - q * q) * (1 - q * q)) with 2 by (field; nra).
    replace (/ (1 - q) * (1 - q * q)) with (1 + q) by (field; lra). lra. }
  assert (0 < - ln (1 - q)) by (rewrite <- ln_Rinv by lra; rewrite <- ln_1; apply ln_increasing;
    [lra|]; apply Rmult_lt_reg_r with (1 - q); [lra|]; rewrite Rinv_l; lra).
  replace (- (q * ln (1 - q) / (1 - q * q))) with (q * - ln (1 - q) / (1 - q * q)) by (field; nra).
  apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat; nra|]. nra.
Qed.

(* From below: 1 - rho^t is at most t(1 - rho), and the logarithm's series has a rest that vanishes.
   *)
Lemma summand_below rho t : 0 < rho < 1 -> rho ^ S t / INR (S t) / (1 - rho) <= rho ^ S t / (1
  - rho ^ S t).
Proof.
  intros H. pose proof (pow_below_one rho t H) as P. pose proof (geometric rho (S t)) as G.
  assert (I : 0 < INR (S t)) by (apply lt_0_INR; lia).
  assert (L : sum (S t) (fun i => rho ^ i) <= INR (S t)).
  { rewrite <- (Rmult_1_r (INR (S t))), <- sum_const. apply sum_le. intros i _.
    rewrite <- (pow1 i). apply pow_incr. lra. }
  unfold Rdiv. rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. rewrite <- Rinv_mult.
  apply Rinv_le_contravar; [lra|]. rewrite <- G. rewrite Rmult_comm. apply Rmult_le_compat_r; lra.
Qed.

Lemma log_series_rest n q : 0 < q < 1 -> - ln (1 - q) <= log_partial n q + q ^ n / (1 - q).
Proof.
  intros [H0 H1]. set (f := fun x => - ln (1 - x) - log_partial n x).
  destruct (MVT_gen f 0 q (fun x => / (1 - x) - sum n (fun i => x ^ i))) as [c [Hc E]].
  - rewrite Rmin_left, Rmax_right by lra. intros x Hx. unfold f.
    apply @is_derive_minus; [|apply log_partial_derive].
    auto_derive; [lra|]. field. lra.
  - rewrite Rmin_left, Rmax_right by lra. intros x Hx. apply continuity_pt_filterlim.
    apply (ex_derive_continuous f). eexists. unfold f.
    apply @is_derive_minus; [|apply log_partial_derive].
    auto_derive; [lra|reflexivity].
  - rewrite Rmin_left, Rmax_right in Hc by lra. unfold f in E.
    replace (log_partial n 0) with 0 in E.
    2:{ unfold log_partial. rewrite (sum_ext _ _ (fun _ => 0)); [now rewrite sum_const, Rmult_0_r|].
        intros. rewrite pow_i by lia. unfold Rdiv. ring. }
    replace (1 - 0) with 1 in E by ring. rewrite ln_1 in E.
    assert (B : / (1 - c) - sum n (fun i => c ^ i) <= q ^ n / (1 - q)).
    { pose proof (geometric c n) as G. replace (/ (1 - c) - sum n (fun i => c ^ i))
        with (c ^ n * / (1 - c)).
      - apply Rmult_le_compat; [apply pow_le; lra|apply Rlt_le, Rinv_0_lt_compat;
          lra|apply pow_incr; lra|apply Rinv_le_contravar; lra].
      - replace (c ^ n) with (1 - (1 - c) * sum n (fun i => c ^ i)) by lra. field. lra. }
    assert (0 <= q ^ n / (1 - q)) by (apply Rmult_le_pos; [apply pow_le;
      lra|apply Rlt_le, Rinv_0_lt_compat; lra]).
    nra.
Qed.

(* Whatever bounds all partial sums is at least theory's lower rate, log(1/(1-rho))/(1-rho). *)
Theorem lambert_below rho bound :
  0 < rho < 1 -> (forall T, lambert rho T <= bound) -> cost_violation_rate rho <= bound.
Proof.
  intros H Hb. apply Rnot_lt_le. intros L. set (gap := (cost_violation_rate rho - bound) * (1
    - rho) * (1 - rho)).
  assert (G : 0 < gap) by (unfold gap; apply Rmult_lt_0_compat; [nra|lra]).
  destruct (pow_lt_1_zero rho) with (y := gap) as [n Hn]; [rewrite Rabs_right; lra|exact G|].
  specialize (Hn n (le_n n)). rewrite Rabs_right in Hn by (left; apply pow_lt; lra).
  pose proof (log_series_rest n rho H) as R. specialize (Hb n).
  assert (P : log_partial n rho / (1 - rho) <= lambert rho n).
  { unfold log_partial, lambert. unfold Rdiv at 1. rewrite <- sum_scal_r. apply sum_le. intros.
    now apply summand_below. }
  unfold cost_violation_rate in *.
  assert (S : rho ^ n / (1 - rho) < gap / (1 - rho)) by (apply Rmult_lt_compat_r;
    [apply Rinv_0_lt_compat|]; lra).
  apply Rmult_le_compat_r with (r := 1 - rho) in P; [|lra].
  replace (log_partial n rho / (1 - rho) * (1 - rho)) with (log_partial n rho) in P by (field; lra).
  assert (E2 : gap / (1 - rho) = (- (ln (1 - rho) / (1 - rho)) - bound) * (1 - rho))
    by (unfold gap; field; lra).
  replace ((- (ln (1 - rho) / (1 - rho)) - bound) * (1 - rho)) with (- ln (1 - rho) - bound * (1
    - rho)) in E2 by (field; lra).
  nra.
Qed.
