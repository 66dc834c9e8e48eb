(* Regret: the third correction Omega_3 is asymptotic to a multiple of sqrt(T log T), and so not
   O(log T). *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Acdpp Require Import Sums RegretFormulas.
Open Scope R_scope.

(* ---- limits ---- *)

Lemma eventually_above (u : nat -> R) M : is_lim_seq u p_infty -> eventually (fun n => M < u n).
Proof. intros H. apply is_lim_seq_spec in H. exact (H M). Qed.
Lemma log_grows : is_lim_seq (fun n => ln (INR n)) p_infty.
Proof. apply (is_lim_comp_seq ln INR p_infty p_infty is_lim_ln_p);
  [now exists O|apply is_lim_seq_INR]. Qed.
Lemma inverse_log : is_lim_seq (fun n => / ln (INR n)) 0.
Proof. apply (is_lim_seq_inv _ p_infty); [apply log_grows|easy]. Qed.
Lemma inverse_INR : is_lim_seq (fun n => / INR n) 0.
Proof. apply (is_lim_seq_inv _ p_infty); [apply is_lim_seq_INR|easy]. Qed.
Lemma sqrt_grows : is_lim sqrt p_infty p_infty.
Proof. exact (is_lim_sqrt_p (fun x => x) p_infty (is_lim_id p_infty)). Qed.
Lemma inverse_root : is_lim_seq (fun n => / sqrt (INR n)) 0.
Proof.
  apply (is_lim_seq_inv _ p_infty); [|easy].
  apply (is_lim_comp_seq sqrt INR p_infty p_infty sqrt_grows); [now exists O|apply is_lim_seq_INR].
Qed.
Lemma sqrt_limit u (l : R) : 0 <= l -> is_lim_seq u l -> is_lim_seq (fun n => sqrt (u n)) (sqrt l).
Proof. intros Hl H. apply (is_lim_seq_continuous sqrt u l); [now apply continuity_pt_sqrt|auto].
Qed.

(* Stolz and Cesaro: quotients of sums follow those of their terms. *)
Lemma stolz (u v : nat -> R) (l : R) :
  (forall n, v n < v (S n)) -> is_lim_seq v p_infty ->
  is_lim_seq (fun n => (u (S n) - u n) / (v (S n) - v n)) l -> is_lim_seq (fun n => u n / v n) l.
Proof.
  intros Hi Hv Hq. apply is_lim_seq_spec. intros eps. apply is_lim_seq_spec in Hq.
  destruct (Hq (mkposreal (eps / 2) (is_pos_div_2 eps))) as [N HN]. simpl in HN.
  (* from N on u differs from l v by what it did there, and eps/2 of what v has grown *)
  assert (A : forall k, Rabs (u (N + k)%nat - u N - l * (v (N + k)%nat - v N)) <= eps / 2 * (v (N
    + k)%nat - v N)).
  { induction k; [rewrite Nat.add_0_r; replace (u N - u N - l * (v N - v N)) with 0 by ring;
      rewrite Rabs_R0; lra|].
    rewrite Nat.add_succ_r. set (n := (N + k)%nat) in *. specialize (HN n ltac:(unfold n; lia)).
    specialize (Hi n).
    set (du := u (S n) - u n) in *. set (dv := v (S n) - v n) in *.
    assert (P : 0 < dv) by (unfold dv; lra).
    assert (D : Rabs (du - l * dv) <= eps / 2 * dv).
    { replace (du - l * dv) with ((du / dv - l) * dv) by (field; lra).
      rewrite Rabs_mult, (Rabs_right dv) by lra. apply Rmult_le_compat_r; lra. }
    replace (u (S n) - u N - l * (v (S n) - v N)) with ((u n - u N - l * (v n - v N)) + (du
      - l * dv)) by (unfold du, dv; ring).
    apply Rle_trans with (1 := Rabs_triang _ _). unfold dv in *. lra. }
  set (c := Rabs (u N - l * v N) + eps / 2 * Rabs (v N)).
  destruct (eventually_above v (Rmax 0 (2 * c / eps)) Hv) as [M HM]. exists (Nat.max N M).
  intros n Hn.
  specialize (HM n ltac:(lia)). specialize (A (n - N)%nat).
  replace (N + (n - N))%nat with n in A by lia.
  assert (V0 : 0 < v n) by (pose proof (Rmax_l 0 (2 * c / eps)); lra).
  assert (V1 : c < eps / 2 * v n).
  { pose proof (Rmax_r 0 (2 * c / eps)). pose proof (cond_pos eps).
    assert (2 * c / eps < v n) by lra.
    apply Rmult_lt_compat_l with (r := eps / 2) in H1; [|lra].
    replace (eps / 2 * (2 * c / eps)) with c in H1 by (field; lra). exact H1. }
  replace (u n / v n - l) with ((u n - l * v n) / v n) by (field; lra). unfold Rdiv.
  rewrite Rabs_mult, (Rabs_right (/ v n)) by (left; now apply Rinv_0_lt_compat).
  apply Rmult_lt_reg_r with (v n); auto. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  replace (u n - l * v n) with ((u n - u N - l * (v n - v N)) + (u N - l * v N)) by ring.
  apply Rle_lt_trans with (1 := Rabs_triang _ _). unfold c in V1.
  pose proof (Rle_abs (- v N)) as Q. rewrite Rabs_Ropp in Q. pose proof (cond_pos eps).
  assert (- (eps / 2 * v N) <= eps / 2 * Rabs (v N)) by nra. lra.
Qed.

(* ---- the scale sqrt(T log T) ---- *)

Definition scale (n : nat) : R := sqrt (INR n * ln (INR n)).

Lemma scale_positive n : (2 <= n)%nat -> 1 < INR n /\ 0 < ln (INR n) /\ 0 < scale n.
Proof.
  intros H. assert (P : 1 < INR n) by (change 1 with (INR 1); apply lt_INR; lia).
  assert (L : 0 < ln (INR n)) by (rewrite <- ln_1; apply ln_increasing; lra).
  repeat split; auto. apply sqrt_lt_R0. nra.
Qed.

Lemma log_step t : 0 < t -> 0 <= t * (ln (t + 1) - ln t) <= 1.
Proof.
  intros Ht. rewrite <- ln_div by lra. replace ((t + 1) / t) with (1 + / t) by (field; lra).
  pose proof (Rinv_0_lt_compat t Ht) as I. split.
  - apply Rmult_le_pos; [lra|]. rewrite <- ln_1. left. apply ln_increasing; lra.
  - assert (ln (1 + / t) <= / t). { apply Rle_trans with (ln (exp (/ t))); [|rewrite ln_exp; lra].
    destruct (Rle_lt_or_eq_dec _ _ (exp_ineq1_le (/ t))) as [L|L]; [left; apply ln_increasing;
      [lra|exact L]|right; now rewrite L]. }
    apply Rmult_le_compat_l with (r := t) in H; [|lra]. rewrite Rinv_r in H; lra.
Qed.

(* A step of the scale, over sqrt(log t / t), tends to 1/2. *)
Lemma scale_step : is_lim_seq (fun n => (scale (S n)
  - scale n) * sqrt (INR (S n) / ln (INR (S n)))) (1 / 2).
Proof.
  set (t := fun n => INR (S n)). set (r := fun n => INR n * (ln (INR n + 1) - ln (INR n))).
  set (w := fun n => INR n * ln (INR n) / (t n * ln (t n))).
  assert (E0 : is_lim_seq (fun n => / ln (t n)) 0)
    by (apply (is_lim_seq_incr_1 (fun n => / ln (INR n))), inverse_log).
  assert (LR : is_lim_seq (fun n => r n * / ln (t n)) 0).
  { apply is_lim_seq_le_le_loc with (fun _ => 0) (fun n => / ln (t n));
      [|apply is_lim_seq_const|exact E0]. exists 2%nat. intros n Hn.
    assert (P : 0 < INR n) by (apply lt_0_INR; lia). pose proof (log_step (INR n) P) as Q.
    fold (r n) in Q.
    assert (0 < / ln (t n)) by (apply Rinv_0_lt_compat; rewrite <- ln_1; apply ln_increasing;
      [lra|]; unfold t; change 1 with (INR 1); apply lt_INR; lia).
    split; [apply Rmult_le_pos; lra|]. rewrite <- (Rmult_1_l (/ ln (t n))) at 2.
    apply Rmult_le_compat_r; lra. }
  (* w = (t ln t - ln t - r) / (t ln t) = 1 - 1/t - r/(t ln t) *)
  assert (LW : is_lim_seq w 1).
  { apply is_lim_seq_ext_loc with (fun n => 1 - / t n - / t n * (r n * / ln (t n))).
    - exists 2%nat. intros n Hn. assert (P : 0 < INR n) by (apply lt_0_INR; lia). unfold w, r, t.
      rewrite S_INR.
      assert (0 < ln (INR n + 1)) by (rewrite <- ln_1; apply ln_increasing; lra). field. lra.
    - replace 1 with (1 - 0 - 0 * 0) at 1 by ring.
      assert (I : is_lim_seq (fun n => / t n) 0) by (apply (is_lim_seq_incr_1 (fun n => / INR n)),
        inverse_INR).
      apply (is_lim_seq_minus' (fun n => 1 - / t n) (fun n => / t n * (r n * / ln (t n))) (1
        - 0) (0 * 0)).
      + apply (is_lim_seq_minus' (fun _ => 1) _ 1 0 (is_lim_seq_const _) I).
      + apply (is_lim_seq_mult' _ _ 0 0 I LR). }
  apply is_lim_seq_ext_loc with (fun n => (1 + r n * / ln (t n)) * / (1 + sqrt (w n))).
  - exists 2%nat. intros n Hn. assert (P : 1 < INR n) by (change 1 with (INR 1); apply lt_INR; lia).
    unfold scale. change (INR (S n)) with (t n).
    assert (T : t n = INR n + 1) by (unfold t; apply S_INR).
    assert (L0 : 0 < ln (INR n)) by (rewrite <- ln_1; apply ln_increasing; lra).
    assert (L1 : 0 < ln (t n)) by (rewrite <- ln_1; apply ln_increasing; lra).
    assert (X : 0 < t n * ln (t n)) by nra. assert (Y : 0 < INR n * ln (INR n)) by nra.
    assert (SW : sqrt (w n) = sqrt (INR n * ln (INR n)) / sqrt (t n * ln (t n))) by (unfold w;
      apply sqrt_div_alt; auto).
    assert (SX : 0 < sqrt (t n * ln (t n))) by now apply sqrt_lt_R0.
    assert (SY : 0 < sqrt (INR n * ln (INR n))) by now apply sqrt_lt_R0.
    assert (SM : sqrt (t n / ln (t n)) = sqrt (t n * ln (t n)) / ln (t n)).
    { rewrite sqrt_div_alt by auto. rewrite sqrt_mult by lra.
      assert (0 < sqrt (ln (t n))) by now apply sqrt_lt_R0.
      transitivity (sqrt (t n) * sqrt (ln (t n)) / (sqrt (ln (t n)) * sqrt (ln (t n)))); [field;
        lra|now rewrite sqrt_sqrt by lra]. }
    rewrite SW, SM. pose proof (sqrt_sqrt _ (Rlt_le _ _ X)) as QX.
    pose proof (sqrt_sqrt _ (Rlt_le _ _ Y)) as QY.
    set (a := sqrt (t n * ln (t n))) in *. set (b := sqrt (INR n * ln (INR n))) in *.
    assert (D : (a - b) * (a + b) = ln (t n) + r n) by (unfold r; rewrite <- T;
      replace ((a - b) * (a + b)) with (a * a - b * b) by ring; rewrite QX, QY, T; ring).
    replace ((1 + r n * / ln (t n)) * / (1 + b / a)) with ((ln (t n) + r n) / ln (t n) * (a / (a
      + b))) by (field; lra).
    rewrite <- D. field. lra.
  - replace (1 / 2) with ((1 + 0) * / (1 + sqrt 1)) by (rewrite sqrt_1; field).
    apply (is_lim_seq_mult' _ _ (1 + 0) (/ (1 + sqrt 1))).
    + apply (is_lim_seq_plus' (fun _ => 1) _ 1 0 (is_lim_seq_const _) LR).
    + apply (is_lim_seq_inv _ (1 + sqrt 1)).
      * apply (is_lim_seq_plus' (fun _ => 1) _ 1 (sqrt 1) (is_lim_seq_const _)).
        apply sqrt_limit; [lra|exact LW].
      * intros Q. injection Q. rewrite sqrt_1. lra.
Qed.

Lemma scale_grows : is_lim_seq scale p_infty.
Proof.
  apply (is_lim_comp_seq sqrt (fun n => INR n * ln (INR n)) p_infty p_infty sqrt_grows);
    [now exists O|].
  apply (is_lim_seq_mult _ _ p_infty p_infty p_infty); [apply is_lim_seq_INR|apply log_grows|easy].
Qed.
Lemma scale_rises n : (1 <= n)%nat -> scale n < scale (S n).
Proof.
  intros Hn. assert (1 <= INR n) by (change 1 with (INR 1); now apply le_INR). unfold scale.
  apply sqrt_lt_1_alt. rewrite S_INR.
  assert (0 <= ln (INR n)) by (rewrite <- ln_1; destruct (Rle_lt_or_eq_dec _ _ H) as [L|L]; [left;
    apply ln_increasing; lra|rewrite <- L; lra]).
  assert (ln (INR n) < ln (INR n + 1)) by (apply ln_increasing; lra). split; nra.
Qed.

(* What is c sqrt(log t / t) in round t adds up to 2c sqrt(T log T). *)
Lemma sum_over_scale (round : nat -> R) (c : R) :
  is_lim_seq (fun n => round n * sqrt (INR n / ln (INR n))) c ->
  is_lim_seq (fun T => sum T (fun i => round (S i)) / scale T) (2 * c).
Proof.
  intros A. set (w := fun n => sqrt (INR n / ln (INR n))). fold (w 0%nat) in A.
  apply is_lim_seq_incr_1.
  apply (stolz (fun n => sum (S n) (fun i => round (S i))) (fun n => scale (S n))).
  - intros n. apply scale_rises. lia.
  - apply (is_lim_seq_incr_1 scale), scale_grows.
  - assert (Q : is_lim_seq (fun n => round (S n) * w (S n) / ((scale (S n)
      - scale n) * w (S n))) (2 * c)).
    { replace (2 * c) with (c / (1 / 2)) by field.
      apply (is_lim_seq_div' _ _ c (1 / 2)); [|apply scale_step|lra].
      apply (is_lim_seq_incr_1 (fun n => round n * w n)), A. }
    apply (is_lim_seq_incr_1 (fun n => round (S n) * w (S n) / ((scale (S n)
      - scale n) * w (S n)))) in Q.
    apply is_lim_seq_ext with (2 := Q). intros n. cbn [sum].
    assert (P : 0 < w (S (S n))).
    { apply sqrt_lt_R0, Rdiv_lt_0_compat; [apply lt_0_INR; lia|]. rewrite <- ln_1.
      apply ln_increasing; [lra|].
      change 1 with (INR 1). apply lt_INR. lia. }
    pose proof (scale_rises (S n) ltac:(lia)). field. lra.
Qed.

(* What is a positive multiple of sqrt(T log T) in the end exceeds every multiple of log T. *)
Lemma above_every_logarithm (u : nat -> R) (l M : R) :
  is_lim_seq (fun T => u T / scale T) l -> 0 < l -> eventually (fun T => M * ln (INR T) < u T).
Proof.
  intros H Hl. assert (h : 0 < l / 2) by lra. apply is_lim_seq_spec in H.
  destruct (H (mkposreal _ h)) as [N1 H1]. simpl in H1.
  (* log T is less than any multiple of sqrt(T log T) in the end *)
  assert (R : is_lim_seq (fun n => sqrt (ln (INR n) * / INR n)) 0).
  { rewrite <- sqrt_0. apply sqrt_limit; [lra|].
    apply (is_lim_comp_seq (fun x => ln x / x) INR p_infty 0 is_lim_div_ln_p);
      [now exists O|apply is_lim_seq_INR]. }
  apply is_lim_seq_spec in R. pose proof (Rabs_pos M) as M0.
  assert (e : 0 < l / 2 / (Rabs M + 1)) by (apply Rdiv_lt_0_compat; lra).
  destruct (R (mkposreal _ e)) as [N2 H2]. simpl in H2. exists (Nat.max 2 (Nat.max N1 N2)).
  intros n Hn.
  specialize (H1 n ltac:(lia)). specialize (H2 n ltac:(lia)).
  destruct (scale_positive n ltac:(lia)) as (P & L0 & SP).
  assert (O : l / 2 * scale n < u n).
  { apply Rabs_def2 in H1. destruct H1 as [_ H1]. assert (A : l / 2 < u n / scale n) by lra.
    apply Rmult_lt_compat_r with (r := scale n) in A; auto.
    replace (u n / scale n * scale n) with (u n) in A by (field; lra). exact A. }
  rewrite Rminus_0_r, Rabs_right in H2 by (apply Rle_ge, sqrt_pos).
  assert (LS : ln (INR n) = sqrt (ln (INR n) * / INR n) * scale n).
  { unfold scale. rewrite <- sqrt_mult; [|apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat;
      lra]|apply Rmult_le_pos; lra].
    replace (ln (INR n) * / INR n * (INR n * ln (INR n))) with (ln (INR n) * ln (INR n)) by (field;
      lra). now rewrite sqrt_square by lra. }
  apply Rle_lt_trans with (2 := O). apply Rle_trans with ((Rabs M + 1) * ln (INR n));
    [apply Rmult_le_compat_r; [lra|pose proof (Rle_abs M); lra]|].
  rewrite LS, <- Rmult_assoc. apply Rmult_le_compat_r; [lra|].
  apply Rmult_lt_compat_l with (r := Rabs M + 1) in H2; [|lra].
  replace ((Rabs M + 1) * (l / 2 / (Rabs M + 1))) with (l / 2) in H2 by (field; lra). lra.
Qed.

(* ---- Omega_3 ---- *)

Section Omega3.
Variables (D sigma eta B Pdim rate K L G : R) (E : nat).
Hypotheses (D0 : 0 < D) (s0 : 0 < sigma) (eta0 : 0 < eta) (B0 : 0 < B) (P0 : 0 < Pdim) (r0 : 0 <
  rate) (K1 : 1 <= K).

(* what the three terms of a round are from round K on; `step` is eta E, or eta as printed *)
Definition third (t : R) : R :=
  10 * B * (sqrt Pdim * sqrt (ln (Rmax 1 (rate * t / Pdim)) + 1) / (sqrt rate * sqrt t)
            - sqrt (ln (Rmax 1 (K * rate * t / Pdim)) + 1) * sqrt (Pdim / (K * rate * t))).
Definition two (step t : R) : R :=
  D * sigma * (sqrt ((t - K) / (K * rate * t)) - sqrt ((t - 1) / (K * rate * t)))
    - step * sigma ^ 2 * ((K - 1) / (K * rate * t)).

Lemma round_from_K t : K <= t -> omega3_round K t rate D sigma eta B Pdim E L G = third t
  + two (eta * INR E) t.
Proof.
  intros H. unfold omega3_round, third, two. rewrite (Rmin_left 1 t), (Rmax_right 0 (t - K)) by lra.
  assert (A1 : (1 - / (t + 1 / 2 - 1 / 2) - (1 ^ 2 - 1) / ((t + 1 / 2 - 1 / 2) * (6 * t + 3
    - 3 * 1))) / (K * rate * 1) = (t - 1) / (K * rate * t)) by (field; repeat split; lra).
  assert (A2 : Pdim * (/ (t + 1 / 2 - 1 / 2) - (1 ^ 2 - 1) / (6 * (t + 1 / 2
    - 1 / 2) ^ 2 * 1)) / (K * rate) = Pdim / (K * rate * t)) by (field; repeat split; lra).
  assert (Q : 0 < K * rate * t) by (apply Rmult_lt_0_compat; nra).
  rewrite A1, A2. rewrite (Rmax_right 0 ((t - 1) / _)),
    (Rmax_right 0 (Pdim / _)) by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
  assert (A3 : eta * INR E * sigma ^ 2 * (1 - / (t + 1 / 2 - 1 / 2) - (1 ^ 2 - 1) / ((t + 1 / 2
    - 1 / 2) * (6 * t + 3 - 3 * 1))) / (K * rate * 1) = eta * INR E * sigma ^ 2 * ((t
        - 1) / (K * rate * t))) by (field; repeat split; lra).
  rewrite A3. rewrite (sqrt_div_alt (t - K)) by auto.
  rewrite (sqrt_mult (K * rate)), (sqrt_mult K) by nra.
  assert (0 < sqrt K) by (apply sqrt_lt_R0; lra).
  assert (0 < sqrt rate) by (apply sqrt_lt_R0; lra). assert (0 < sqrt t) by (apply sqrt_lt_R0; lra).
  field. repeat split; lra.
Qed.

Lemma round_as_stated_from_K t : K <= t -> omega3_round_as_stated K t rate D sigma eta B Pdim E L G
  = third t + two eta t.
Proof.
  intros H. unfold omega3_round_as_stated, third, two. rewrite (Rmin_left 1 t) by lra.
  assert (Q : 0 < K * rate * t) by (apply Rmult_lt_0_compat; nra).
  assert (A0 : 1 / (K * rate) - 1 / (rate * t) = (t - K) / (K * rate * t)) by (field; repeat split;
    lra).
  assert (A1 : (1 - / (t + 1 / 2 - 1 / 2) - (1 ^ 2 - 1) / ((t + 1 / 2 - 1 / 2) * (6 * t + 3
    - 3 * 1))) / (K * rate * 1) = (t - 1) / (K * rate * t)) by (field; repeat split; lra).
  assert (A2 : Pdim * (/ (t + 1 / 2 - 1 / 2) - (1 ^ 2 - 1) / (6 * (t + 1 / 2
    - 1 / 2) ^ 2 * 1)) / (K * rate) = Pdim / (K * rate * t)) by (field; repeat split; lra).
  rewrite A0, A1, A2. rewrite (Rmax_right 0 ((t - K) / _)), (Rmax_right 0 ((t - 1) / _)),
    (Rmax_right 0 (Pdim / _))
    by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
  assert (A3 : eta * sigma ^ 2 * (1 - / (t + 1 / 2 - 1 / 2) - (1 ^ 2 - 1) / ((t + 1 / 2
    - 1 / 2) * (6 * t + 3 - 3 * 1))) / (K * rate * 1) = eta * sigma ^ 2 * ((t
        - 1) / (K * rate * t))) by (field; repeat split; lra).
  rewrite A3. assert (0 < sqrt rate) by (apply sqrt_lt_R0; lra).
  assert (0 < sqrt t) by (apply sqrt_lt_R0; lra). field. repeat split; lra.
Qed.

Definition constant : R := 10 * B * (sqrt (Pdim / rate) - sqrt (Pdim / (K * rate))).

(* The third terms of Lambda t and K Lambda t samples: 1 + log N over log t tends to 1. *)
Lemma third_limit : is_lim_seq (fun n => third (INR n) * sqrt (INR n / ln (INR n))) constant.
Proof.
  set (c1 := 1 + ln (rate / Pdim)). set (c2 := 1 + ln (K * rate / Pdim)).
  assert (A : forall c, is_lim_seq (fun n => sqrt (1 + c * / ln (INR n))) 1).
  { intros c. replace (Finite 1) with (Finite (sqrt 1)) by now rewrite sqrt_1.
    apply sqrt_limit; [lra|]. replace (Finite 1) with (Finite (1 + c * 0)) by (f_equal; ring).
    apply (is_lim_seq_plus' (fun _ => 1) _ 1 (c * 0) (is_lim_seq_const _)).
    apply (is_lim_seq_scal_l _ c 0 inverse_log). }
  apply is_lim_seq_ext_loc with (fun n => 10 * B * (sqrt (Pdim / rate) * sqrt (1
    + c1 * / ln (INR n)) - sqrt (Pdim / (K * rate)) * sqrt (1 + c2 * / ln (INR n)))).
  - destruct (eventually_above INR (Pdim / rate) is_lim_seq_INR) as [N1 H1].
    destruct (eventually_above _ (Rabs c1 + Rabs c2) log_grows) as [N2 H2].
    exists (Nat.max 2 (Nat.max N1 N2)). intros n Hn. specialize (H1 n ltac:(lia)).
    specialize (H2 n ltac:(lia)).
    assert (P : 1 < INR n) by (change 1 with (INR 1); apply lt_INR; lia).
    assert (L0 : 0 < ln (INR n)) by (rewrite <- ln_1; apply ln_increasing; lra).
    assert (M1 : 1 < rate * INR n / Pdim).
    { apply Rmult_lt_reg_r with Pdim; auto. unfold Rdiv.
      rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra.
      apply Rmult_lt_compat_l with (r := rate) in H1; auto.
      replace (rate * (Pdim / rate)) with Pdim in H1 by (field; lra). lra. }
    assert (M2 : 1 < K * rate * INR n / Pdim) by (replace (K * rate * INR n / Pdim)
      with (K * (rate * INR n / Pdim)) by (field; lra); nra).
    unfold third. rewrite !Rmax_right by lra.
    assert (rp : 0 < rate / Pdim) by (apply Rdiv_lt_0_compat; lra).
    assert (krp : 0 < K * rate / Pdim) by (apply Rdiv_lt_0_compat; nra).
    assert (E1 : ln (rate * INR n / Pdim) + 1 = ln (INR n) + c1) by (unfold c1;
      replace (rate * INR n / Pdim) with (rate / Pdim * INR n) by (field; lra);
        rewrite ln_mult by lra; ring).
    assert (E2 : ln (K * rate * INR n / Pdim) + 1 = ln (INR n) + c2) by (unfold c2;
      replace (K * rate * INR n / Pdim) with (K * rate / Pdim * INR n) by (field; lra);
        rewrite ln_mult by lra; ring).
    rewrite E1, E2. pose proof (Rabs_pos c1). pose proof (Rabs_pos c2).
    pose proof (Rle_abs (- c1)) as R1. pose proof (Rle_abs (- c2)) as R2.
    rewrite Rabs_Ropp in R1, R2.
    assert (F1 : sqrt (1 + c1 * / ln (INR n)) = sqrt (ln (INR n) + c1) / sqrt (ln (INR n)))
      by (rewrite <- sqrt_div_alt by auto; f_equal; field; lra).
    assert (F2 : sqrt (1 + c2 * / ln (INR n)) = sqrt (ln (INR n) + c2) / sqrt (ln (INR n)))
      by (rewrite <- sqrt_div_alt by auto; f_equal; field; lra).
    rewrite F1, F2. rewrite (sqrt_div_alt (INR n)) by auto.
    rewrite (sqrt_div_alt Pdim rate) by auto. rewrite (sqrt_div_alt Pdim (K * rate)) by nra.
    rewrite (sqrt_div_alt Pdim (K * rate * INR n)) by (apply Rmult_lt_0_compat; nra).
    rewrite (sqrt_mult (K * rate) (INR n)) by nra.
    assert (0 < sqrt (ln (INR n))) by now apply sqrt_lt_R0.
    assert (0 < sqrt (INR n)) by (apply sqrt_lt_R0; lra).
    assert (0 < sqrt rate) by (apply sqrt_lt_R0; lra).
    assert (0 < sqrt (K * rate)) by (apply sqrt_lt_R0; nra).
    field. repeat split; lra.
  - unfold constant. replace (10 * B * (sqrt (Pdim / rate) - sqrt (Pdim / (K * rate))))
      with (10 * B * (sqrt (Pdim / rate) * 1 - sqrt (Pdim / (K * rate)) * 1)) by ring.
    apply (is_lim_seq_scal_l _ (10 * B) (sqrt (Pdim / rate) * 1 - sqrt (Pdim / (K * rate)) * 1)).
    apply (is_lim_seq_minus' _ _ (sqrt (Pdim / rate) * 1) (sqrt (Pdim / (K * rate)) * 1)).
    + apply (is_lim_seq_scal_l _ (sqrt (Pdim / rate)) 1 (A c1)).
    + apply (is_lim_seq_scal_l _ (sqrt (Pdim / (K * rate))) 1 (A c2)).
Qed.

(* The first two terms differ by order 1/t: roots do by the difference of the radicands over their
   sum. *)
Lemma two_limit step : 0 <= step -> is_lim_seq (fun n => two step (INR n) * sqrt (INR n / ln (INR
  n))) 0.
Proof.
  intros Hs. set (q := K * rate). assert (Q : 0 < q) by (unfold q; nra). set (d := (K - 1) / q).
  assert (d0 : 0 <= d) by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
  set (C := D * sigma * (d * sqrt (2 * q)) + step * sigma ^ 2 * d).
  destruct (eventually_above INR (K + 2) is_lim_seq_INR) as [N1 H1].
  destruct (eventually_above _ 1 log_grows) as [N2 H2].
  apply is_lim_seq_le_le_loc with (fun n => - C * / sqrt (INR n)) (fun _ => 0).
  - exists (Nat.max N1 N2). intros n Hn. specialize (H1 n ltac:(lia)).
    specialize (H2 n ltac:(lia)). set (t := INR n) in *.
    set (x := (t - K) / (K * rate * t)). set (y := (t - 1) / (K * rate * t)).
    assert (tq : 0 < K * rate * t) by (fold q; apply Rmult_lt_0_compat; lra).
    assert (X : 0 <= x) by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
    assert (YX : y - x = d / t) by (unfold y, x, d, q; field; repeat split; lra).
    assert (dt : 0 <= d / t) by (apply Rmult_le_pos; [auto|left; apply Rinv_0_lt_compat; lra]).
    assert (Y : / (2 * q) <= y). { unfold y, q.
    apply Rmult_le_reg_r with (2 * (K * rate * t)); [lra|].
    replace (/ (2 * (K * rate)) * (2 * (K * rate * t))) with t by (field; repeat split; nra).
      replace ((t - 1) / (K * rate * t) * (2 * (K * rate * t))) with (2 * (t - 1)) by (field;
        repeat split; nra). lra. }
    assert (RQ : 0 < sqrt (2 * q)) by (apply sqrt_lt_R0; lra).
    assert (SY : / sqrt (2 * q) <= sqrt y) by (rewrite <- sqrt_inv by lra; now apply sqrt_le_1_alt).
    assert (YP : 0 < sqrt y) by (apply Rlt_le_trans with (2 := SY), Rinv_0_lt_compat, RQ).
    assert (S0 : sqrt x <= sqrt y) by (apply sqrt_le_1_alt; lra).
    assert (SD : sqrt y - sqrt x <= d / t * sqrt (2 * q)).
    { assert (M : (sqrt y - sqrt x) * sqrt y <= d / t).
      { pose proof (sqrt_sqrt x X). pose proof (sqrt_sqrt y ltac:(lra)). pose proof (sqrt_pos x).
        nra. }
      assert (SI : 1 <= sqrt y * sqrt (2 * q)) by (apply Rmult_le_compat_r
        with (r := sqrt (2 * q)) in SY; [rewrite Rinv_l in SY|]; lra).
      apply Rle_trans with ((sqrt y - sqrt x) * (sqrt y * sqrt (2 * q))); [|rewrite <- Rmult_assoc;
        apply Rmult_le_compat_r; lra].
      rewrite <- (Rmult_1_r (sqrt y - sqrt x)) at 1. apply Rmult_le_compat_l; lra. }
    assert (TW : - (C / t) <= two step t <= 0).
    { unfold two. fold x y. replace ((K - 1) / (K * rate * t)) with (d / t) by (unfold d, q; field;
        repeat split; nra).
      assert (0 <= step * sigma ^ 2 * (d / t)) by (apply Rmult_le_pos; [apply Rmult_le_pos;
        [auto|apply pow2_ge_0]|auto]).
      assert (0 < D * sigma) by nra. assert (D * sigma * (sqrt y - sqrt x)
        <= D * sigma * (d / t * sqrt (2 * q))) by (apply Rmult_le_compat_l; lra).
      assert (0 <= D * sigma * (sqrt y - sqrt x)) by (apply Rmult_le_pos; lra).
      replace (C / t) with (D * sigma * (d / t * sqrt (2 * q)) + step * sigma ^ 2 * (d / t))
        by (unfold C; field; lra). split; nra. }
    assert (RT : 0 < sqrt t) by (apply sqrt_lt_R0; lra).
    assert (M : 0 <= sqrt (t / ln t) <= sqrt t).
    { split; [apply sqrt_pos|]. apply sqrt_le_1_alt. apply Rmult_le_reg_r with (ln t); [lra|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra. }
    assert (C0 : 0 <= C / t). { destruct TW. lra. }
    split; [|nra]. apply Rle_trans with (- (C / t) * sqrt t).
    + right. rewrite <- (sqrt_sqrt t) at 2 by lra. field. lra.
    + destruct TW as [TL TU]. assert (- (C / t) * sqrt t <= - (C / t) * sqrt (t / ln t)) by nra.
      assert (- (C / t) * sqrt (t / ln t) <= two step t * sqrt (t / ln t))
        by (apply Rmult_le_compat_r; lra). lra.
  - replace 0 with (- C * 0) by ring. apply (is_lim_seq_scal_l _ (- C) 0 inverse_root).
  - apply is_lim_seq_const.
Qed.

Lemma sum_limit (round : R -> R) step :
  0 <= step -> (forall t, K <= t -> round t = third t + two step t) ->
  is_lim_seq (fun T => sum T (fun i => round (INR (S i))) / scale T) (2 * constant).
Proof.
  intros Hs Hr. apply (sum_over_scale (fun n => round (INR n))).
  destruct (eventually_above INR K is_lim_seq_INR) as [N HN].
  apply is_lim_seq_ext_loc with (fun n => third (INR n) * sqrt (INR n / ln (INR n))
    + two step (INR n) * sqrt (INR n / ln (INR n))).
  - exists N. intros n Hn. rewrite Hr by (left; now apply HN). ring.
  - replace constant with (constant + 0) by ring.
    apply (is_lim_seq_plus' _ _ constant 0 third_limit (two_limit step Hs)).
Qed.

(* theory's constant *)
Lemma constant_is : omega3_limit K rate D sigma eta B Pdim E L G = 2 * constant.
Proof.
  unfold omega3_limit, constant. rewrite !sqrt_div_alt, sqrt_mult by nra.
  assert (0 < sqrt rate) by (apply sqrt_lt_R0; lra).
  assert (0 < sqrt K) by (apply sqrt_lt_R0; lra). field. lra.
Qed.

(* Omega_3 over sqrt(T log T) tends to theory's constant. *)
Theorem omega3_limit_holds :
  is_lim_seq (fun T => sum T (fun i => omega3_round K (INR (S i)) rate D sigma eta B Pdim E L G) /
    scale T)
    (omega3_limit K rate D sigma eta B Pdim E L G).
Proof. rewrite constant_is. apply (sum_limit (fun t => omega3_round K t rate D sigma eta B Pdim E L
  G) (eta * INR E)); [apply Rmult_le_pos; [lra|apply pos_INR]|apply round_from_K]. Qed.

Lemma omega3_as_stated_limit :
  is_lim_seq (fun T => sum T (fun i => omega3_round_as_stated K (INR (S i)) rate D sigma eta B Pdim
    E L G) / scale T) (2 * constant).
Proof. apply (sum_limit (fun t => omega3_round_as_stated K t rate D sigma eta B Pdim E L G) eta);
  [lra|apply round_as_stated_from_K]. Qed.

Lemma constant_positive : 1 < K -> 0 < constant.
Proof.
  intros HK. unfold constant. apply Rmult_lt_0_compat; [lra|].
  enough (sqrt (Pdim / (K * rate)) < sqrt (Pdim / rate)) by lra. apply sqrt_lt_1_alt.
  split; [left; apply Rdiv_lt_0_compat; nra|].
  apply Rmult_lt_compat_l; auto. apply Rinv_lt_contravar; nra.
Qed.

(* With reuse the constant is positive, so that no multiple of log T bounds the printed Omega_3. *)
Theorem omega3_is_not_logarithmic M :
  1 < K ->
  eventually (fun T => M * ln (INR T)
                       < sum T (fun i => omega3_round_as_stated K (INR (S i)) rate D sigma eta B
                         Pdim E L G)).
Proof. intros HK. apply (above_every_logarithm _ (2 * constant) M omega3_as_stated_limit).
pose proof (constant_positive HK). lra. Qed.
End Omega3.

(* ---- the limiting penalty is bounded ---- *)

(* 1 + log+ of t times as many is at most t times 1 + log+: log t <= t - 1. *)
Lemma log_plus_grows_slower x t : 0 < x -> 1 <= t -> 1 + ln (Rmax 1 (x * t)) <= t * (1
  + ln (Rmax 1 x)).
Proof.
  intros Hx Ht. assert (L0 : 0 <= ln (Rmax 1 x)).
  { rewrite <- ln_1. destruct (Rle_lt_or_eq_dec _ _ (Rmax_l 1 x)) as [L|L]; [left;
      apply ln_increasing; lra|rewrite <- L; lra]. }
  assert (T : ln t <= t - 1).
  { pose proof (exp_ineq1_le (t - 1)) as X. replace (1 + (t - 1)) with t in X by ring.
    rewrite <- (ln_exp (t - 1)).
    destruct (Rle_lt_or_eq_dec _ _ X) as [Y|Y]; [left; apply ln_increasing; lra|right;
      now rewrite <- Y]. }
  assert (M : ln (Rmax 1 (x * t)) <= ln (Rmax 1 x) + ln t).
  { pose proof (Rmax_l 1 x). rewrite <- ln_mult by lra.
    assert (A : Rmax 1 (x * t) <= Rmax 1 x * t) by (apply Rmax_lub; [nra|apply Rmult_le_compat_r;
      [lra|apply Rmax_r]]).
    pose proof (Rmax_l 1 (x * t)). destruct (Rle_lt_or_eq_dec _ _ A) as [Y|Y]; [left;
      apply ln_increasing; lra|right; now rewrite Y]. }
  nra.
Qed.

Section Bounded.
Variables (D sigma eta B Pdim rate K L G : R) (E : nat).
Hypotheses (D0 : 0 < D) (s0 : 0 < sigma) (eta0 : 0 < eta) (B0 : 0 < B) (P0 : 0 < Pdim) (r0 : 0 <
  rate) (K1 : 1 <= K).
(* the limits of the first two terms, and the third term of round 1 *)
Definition most : R := eta * sigma ^ 2 / (K * rate) + D * sigma * sqrt (/ (K * rate))
  + 10 * B * sqrt (Pdim / rate) * sqrt (ln (Rmax 1 (rate / Pdim)) + 1).

Lemma third_falls t : 1 <= t ->
  10 * B * sqrt Pdim * sqrt (ln (Rmax 1 (rate * t / Pdim)) + 1) / (sqrt rate * sqrt t)
    <= 10 * B * sqrt (Pdim / rate) * sqrt (ln (Rmax 1 (rate / Pdim)) + 1).
Proof.
  intros Ht. assert (rp : 0 < rate / Pdim) by now apply Rdiv_lt_0_compat.
  pose proof (log_plus_grows_slower (rate / Pdim) t rp Ht) as G1.
  replace (rate / Pdim * t) with (rate * t / Pdim) in G1 by (field; lra).
  assert (sr : 0 < sqrt rate) by now apply sqrt_lt_R0.
  assert (st : 0 < sqrt t) by (apply sqrt_lt_R0; lra).
  assert (sp : 0 < sqrt Pdim) by now apply sqrt_lt_R0.
  assert (S1 : sqrt (ln (Rmax 1 (rate * t / Pdim)) + 1) <= sqrt t * sqrt (ln (Rmax 1 (rate / Pdim))
    + 1)).
  { rewrite <- sqrt_mult_alt by lra. apply sqrt_le_1_alt. lra. }
  rewrite (sqrt_div_alt Pdim rate) by auto. apply Rmult_le_reg_r with (sqrt rate * sqrt t); [nra|].
  replace (10 * B * sqrt Pdim * sqrt (ln (Rmax 1 (rate * t / Pdim))
    + 1) / (sqrt rate * sqrt t) * (sqrt rate * sqrt t))
        with (10 * B * sqrt Pdim * sqrt (ln (Rmax 1 (rate * t / Pdim)) + 1)) by (field; lra).
  replace (10 * B * (sqrt Pdim / sqrt rate) * sqrt (ln (Rmax 1 (rate / Pdim))
    + 1) * (sqrt rate * sqrt t)) with (10 * B * sqrt Pdim * (sqrt t * sqrt (ln (Rmax 1 (rate /
        Pdim)) + 1))) by (field; lra).
  apply Rmult_le_compat_l; [nra|auto].
Qed.

(* With the true occupancy no limiting penalty exceeds the limits of its first two terms and the
   third term of round 1. *)
Theorem limiting_penalty_is_bounded t : 1 <= t -> penalty_limit K t rate D sigma eta B Pdim E L G
  <= most.
Proof.
  intros Ht. unfold penalty_limit, most. pose proof (third_falls t Ht).
  assert (Q : 0 < K * rate) by nra. assert (X : 0 <= Rmax 0 (t - K) <= t) by (split;
    [apply Rmax_l|apply Rmax_lub; lra]). set (g := Rmax 0 (t - K)) in *.
  assert (sk : 0 < sqrt K) by (apply sqrt_lt_R0; lra).
  assert (sr : 0 < sqrt rate) by now apply sqrt_lt_R0.
  assert (st : 0 < sqrt t) by (apply sqrt_lt_R0; lra).
  assert (A1 : D * sigma * sqrt g / (sqrt K * sqrt rate * sqrt t)
    <= D * sigma * sqrt (/ (K * rate))).
  { rewrite sqrt_inv by auto. rewrite sqrt_mult by lra.
    assert (sqrt g <= sqrt t) by (apply sqrt_le_1_alt; lra).
    apply Rmult_le_reg_r with (sqrt K * sqrt rate * sqrt t); [repeat apply Rmult_lt_0_compat;
      auto|].
    replace (D * sigma * sqrt g / (sqrt K * sqrt rate * sqrt t) * (sqrt K * sqrt rate * sqrt t))
      with (D * sigma * sqrt g) by (field; lra).
    replace (D * sigma * / (sqrt K * sqrt rate) * (sqrt K * sqrt rate * sqrt t))
      with (D * sigma * sqrt t) by (field; lra). apply Rmult_le_compat_l; nra. }
  assert (A2 : eta * sigma ^ 2 * g / (K * rate * t) <= eta * sigma ^ 2 / (K * rate)).
  { apply Rmult_le_reg_r with (K * rate * t); [nra|].
    replace (eta * sigma ^ 2 * g / (K * rate * t) * (K * rate * t)) with (eta * sigma ^ 2 * g)
      by (field; repeat split; lra).
    replace (eta * sigma ^ 2 / (K * rate) * (K * rate * t)) with (eta * sigma ^ 2 * t) by (field;
      repeat split; lra). apply Rmult_le_compat_l; [apply Rmult_le_pos; [lra|apply pow2_ge_0]|lra].
      }
  lra.
Qed.

(* From round K on the printed limiting penalty does not exceed that either. *)
Theorem limiting_penalty_as_stated_is_bounded t : K <= t
  -> penalty_limit_as_stated K t rate D sigma eta B Pdim E L G <= most.
Proof.
  intros Ht. apply Rle_trans with (2 := limiting_penalty_is_bounded t ltac:(lra)).
  unfold penalty_limit, penalty_limit_as_stated. right.
  assert (Q : 0 < K * rate * t) by (apply Rmult_lt_0_compat; nra).
  assert (A0 : 1 / (K * rate) - 1 / (rate * t) = (t - K) / (K * rate * t)) by (field; repeat split;
    lra).
  rewrite A0, (Rmax_right 0 (t - K)) by lra.
  rewrite (Rmax_right 0 ((t - K) / _)) by (apply Rmult_le_pos; [lra|left;
    now apply Rinv_0_lt_compat]).
  rewrite (sqrt_div_alt (t - K)) by auto. rewrite (sqrt_mult (K * rate)), (sqrt_mult K) by nra.
  field. 
  assert (0 < sqrt K) by (apply sqrt_lt_R0; lra). assert (0 < sqrt rate) by now apply sqrt_lt_R0.
  assert (0 < sqrt t) by (apply sqrt_lt_R0; lra). repeat split; lra.
Qed.
End Bounded.
