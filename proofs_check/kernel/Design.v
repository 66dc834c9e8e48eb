(* Design: constant admission in the long run, and the K that Corollary 2 should name.

   Round t of the corrected bound is, but for what is of smaller order, the share of K rate samples
   in memory and a third term of 10 B sqrt(Pdim log t / (rate t)). So the bounds of T rounds compare
   by occupancy first, then by rate. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Acdpp Require Import Sums LearningFormulas RegretFormulas LawFormulas Regret.
Open Scope R_scope.

Section Constants.
Variables (D sigma eta B Pdim L G : R) (E : nat).
Hypotheses (D0 : 0 < D) (s0 : 0 < sigma) (eta0 : 0 < eta) (B0 : 0 < B) (P0 : 0 < Pdim).
Let round (K rate t : R) : R := constant_round K t rate D sigma eta B Pdim E L G.
Let share (n : R) : R := long_run_share n D sigma eta B Pdim E L G.

Lemma eventually_positive (u : nat -> R) (l : R) : 0 < l -> is_lim_seq u l
  -> eventually (fun n => 0 < u n).
Proof.
  intros Hl H. apply is_lim_seq_spec in H. destruct (H (mkposreal l Hl)) as [N HN]. exists N.
  intros n Hn.
  specialize (HN n Hn). simpl in HN. apply Rabs_def2 in HN. lra.
Qed.
Lemma root_of_positive_part x : sqrt (Rmax 0 x) = sqrt x.
Proof. unfold Rmax. destruct (Rle_dec 0 x); auto. rewrite sqrt_0, sqrt_neg_0; lra. Qed.

(* ---- any rounds whose mismatch tends to 1/q, and whose samples grow like rate t ---- *)

Section Sequences.
Variables (chi inverse N : nat -> R) (q rate step : R).
Hypotheses (q0 : 0 < q) (r0 : 0 < rate).
Hypothesis mismatch_near : is_lim_seq (fun n => sqrt (INR n) * (chi n - / q)) 0.
Hypothesis inverse_near : is_lim_seq (fun n => INR n * inverse n) (/ rate).
Hypothesis samples_near : is_lim_seq (fun n => N n / INR n) rate.
(* the three terms of round n *)
Definition three_terms (n : nat) : R :=
  D * sigma * sqrt (chi n) + step * sigma ^ 2 * chi n
  + 10 * B * sqrt Pdim * sqrt (inverse n) * sqrt (ln (Rmax 1 (N n / Pdim)) + 1).
Let limit : R := D * sigma / sqrt q + step * sigma ^ 2 / q.

Lemma chi_limit : is_lim_seq chi (/ q).
Proof.
  apply is_lim_seq_ext_loc with (fun n => / q + / sqrt (INR n) * (sqrt (INR n) * (chi n - / q))).
  - exists 1%nat. intros n Hn. assert (0 < sqrt (INR n)) by (apply sqrt_lt_R0, lt_0_INR; lia).
    field. lra.
  - replace (Finite (/ q)) with (Finite (/ q + 0 * 0)) by (f_equal; ring).
    apply (is_lim_seq_plus' (fun _ => / q) _ (/ q) (0 * 0) (is_lim_seq_const _)).
    apply (is_lim_seq_mult' _ _ 0 0 inverse_root mismatch_near).
Qed.

Lemma root_near : is_lim_seq (fun n => sqrt (INR n) * (sqrt (chi n) - sqrt (/ q))) 0.
Proof.
  assert (IQ : 0 < / q) by now apply Rinv_0_lt_compat.
  assert (SQ : 0 < sqrt (/ q)) by now apply sqrt_lt_R0.
  destruct (eventually_positive chi (/ q) IQ chi_limit) as [M HM].
  apply is_lim_seq_ext_loc with (fun n => sqrt (INR n) * (chi n - / q) * / (sqrt (chi n)
    + sqrt (/ q))).
  - exists M. intros n Hn. specialize (HM n Hn). pose proof (sqrt_lt_R0 _ HM).
    rewrite <- (sqrt_sqrt (chi n)) at 1 by lra. rewrite <- (sqrt_sqrt (/ q)) at 1 by lra. field.
    lra.
  - replace (Finite 0) with (Finite (0 * / (sqrt (/ q) + sqrt (/ q)))) by (f_equal; ring).
    apply (is_lim_seq_mult' _ _ 0 (/ (sqrt (/ q) + sqrt (/ q))) mismatch_near).
    apply (is_lim_seq_inv _ (sqrt (/ q) + sqrt (/ q))); [|intros Z; injection Z; lra].
    apply (is_lim_seq_plus' _ (fun _ => sqrt (/ q)) (sqrt (/ q)) (sqrt (/ q)));
      [|apply is_lim_seq_const].
    apply sqrt_limit; [lra|exact chi_limit].
Qed.

(* 1 + log N over log t tends to 1 *)
Lemma log_limit : is_lim_seq (fun n => (ln (Rmax 1 (N n / Pdim)) + 1) / ln (INR n)) 1.
Proof.
  assert (rp : 0 < rate / Pdim) by now apply Rdiv_lt_0_compat.
  set (u := fun n => N n / INR n / Pdim).
  assert (U : is_lim_seq u (rate / Pdim)) by apply (is_lim_seq_scal_r _ (/ Pdim) rate samples_near).
  destruct (eventually_positive (fun n => u n - rate / Pdim / 2) (rate / Pdim / 2)) as [M1 H1];
    [lra| |].
  { replace (Finite (rate / Pdim / 2)) with (Finite (rate / Pdim - rate / Pdim / 2)) by (f_equal;
      field; lra).
    apply (is_lim_seq_minus' _ (fun _ => rate / Pdim / 2) (rate / Pdim) (rate / Pdim / 2) U
      (is_lim_seq_const _)). }
  destruct (eventually_above INR (2 * Pdim / rate) is_lim_seq_INR) as [M2 H2].
  apply is_lim_seq_ext_loc with (fun n => 1 + (1 + ln (u n)) * / ln (INR n)).
  - exists (Nat.max 2 (Nat.max M1 M2)). intros n Hn. specialize (H1 n ltac:(lia)).
    specialize (H2 n ltac:(lia)). cbv beta in H1.
    destruct (scale_positive n ltac:(lia)) as (P & L0 & _).
    assert (Q : N n / Pdim = u n * INR n) by (unfold u; field; lra).
    assert (1 <= u n * INR n).
    { apply Rle_trans with (rate / Pdim / 2 * (2 * Pdim / rate)); [right; field; lra|].
      assert (0 < 2 * Pdim / rate) by (apply Rdiv_lt_0_compat; lra). apply Rmult_le_compat; lra. }
    rewrite Q, Rmax_right, ln_mult by lra. field. lra.
  - replace (Finite 1) with (Finite (1 + (1 + ln (rate / Pdim)) * 0)) by (f_equal; ring).
    apply (is_lim_seq_plus' (fun _ => 1) _ 1 ((1 + ln (rate / Pdim)) * 0) (is_lim_seq_const _)).
    apply (is_lim_seq_mult' _ _ (1 + ln (rate / Pdim)) 0); [|exact inverse_log].
    apply (is_lim_seq_plus' (fun _ => 1) _ 1 (ln (rate / Pdim)) (is_lim_seq_const _)).
    apply (is_lim_seq_continuous ln u (rate / Pdim)); [|exact U].
    apply derivable_continuous_pt. exists (/ (rate / Pdim)). now apply derivable_pt_lim_ln.
Qed.

(* Times sqrt(n / log n) what the first two terms have above their limit vanishes, and the third
   term tends to its constant. *)
Lemma excess_limit :
  is_lim_seq (fun n => (three_terms n - limit) * sqrt (INR n / ln (INR n))) (10 * B * sqrt (Pdim /
    rate)).
Proof.
  assert (ir : 0 < / rate) by now apply Rinv_0_lt_compat.
  destruct (eventually_positive _ _ ir inverse_near) as [M1 H1].
  destruct (eventually_positive _ 1 ltac:(lra) log_limit) as [M2 H2].
  assert (IL : is_lim_seq (fun n => / sqrt (ln (INR n))) 0).
  { apply (is_lim_seq_inv _ p_infty); [|easy].
    apply (is_lim_comp_seq sqrt (fun n => ln (INR n)) p_infty p_infty sqrt_grows);
      [now exists O|apply log_grows]. }
  apply is_lim_seq_ext_loc with (fun n =>
    (D * sigma * (sqrt (INR n) * (sqrt (chi n) - sqrt (/ q)))
      + step * sigma ^ 2 * (sqrt (INR n) * (chi n - / q)))
      * / sqrt (ln (INR n))
    + 10 * B * sqrt Pdim * (sqrt ((ln (Rmax 1 (N n / Pdim))
        + 1) / ln (INR n)) * sqrt (INR n * inverse n))).
  - exists (Nat.max 2 (Nat.max M1 M2)). intros n Hn. specialize (H1 n ltac:(lia)).
    specialize (H2 n ltac:(lia)).
    destruct (scale_positive n ltac:(lia)) as (P & L0 & _).
    assert (SL : 0 < sqrt (ln (INR n))) by now apply sqrt_lt_R0.
    assert (0 < sqrt q) by now apply sqrt_lt_R0.
    unfold three_terms, limit. rewrite (sqrt_mult_alt (INR n)) by lra.
    rewrite !sqrt_div_alt by auto. rewrite sqrt_inv by auto.
    field. repeat split; lra.
  - replace (Finite (10 * B * sqrt (Pdim / rate)))
      with (Finite ((D * sigma * 0 + step * sigma ^ 2 * 0) * 0
        + 10 * B * sqrt Pdim * (sqrt 1 * sqrt (/ rate))))
      by (f_equal; unfold Rdiv; rewrite sqrt_1, sqrt_mult_alt by lra; ring).
    apply (is_lim_seq_plus' _ _ ((D * sigma * 0
      + step * sigma ^ 2 * 0) * 0) (10 * B * sqrt Pdim * (sqrt 1 * sqrt (/ rate)))).
    + apply (is_lim_seq_mult' _ _ (D * sigma * 0 + step * sigma ^ 2 * 0) 0); [|exact IL].
      apply (is_lim_seq_plus' _ _ (D * sigma * 0) (step * sigma ^ 2 * 0)).
      * apply (is_lim_seq_scal_l _ (D * sigma) 0 root_near).
      * apply (is_lim_seq_scal_l _ (step * sigma ^ 2) 0 mismatch_near).
    + apply (is_lim_seq_scal_l _ (10 * B * sqrt Pdim) (sqrt 1 * sqrt (/ rate))).
      apply (is_lim_seq_mult' _ _ (sqrt 1) (sqrt (/ rate))); apply sqrt_limit; try lra;
        [exact log_limit|exact inverse_near].
Qed.

End Sequences.

(* ---- constant admission ---- *)

Section OneK.
Variables (K rate : R).
Hypotheses (K1 : 1 <= K) (r0 : 0 < rate).
Let q : R := K * rate.
Let y (n : nat) : R := INR n + 1 / 2 - K / 2.
(* mismatch and inverse effective size from round K on *)
Let chi (n : nat) : R := (1 - / y n - (K ^ 2 - 1) / (y n * (6 * INR n + 3 - 3 * K))) / (rate * K).
Let inverse (n : nat) : R := (/ y n - (K ^ 2 - 1) / (6 * y n ^ 2 * K)) / rate.
Let seen (n : nat) : R := rate * INR n.

Lemma q_positive : 0 < q.
Proof. unfold q. nra. Qed.

Lemma y_positive : eventually (fun n => K < INR n /\ 0 < y n).
Proof.
  destruct (eventually_above INR K is_lim_seq_INR) as [N HN]. exists N. intros n Hn.
  specialize (HN n Hn). unfold y. lra.
Qed.

Lemma round_in_the_long_run n : K < INR n -> round K rate (INR n)
  = three_terms chi inverse seen (eta * INR E) n.
Proof.
  intros H. unfold round, constant_round, three_terms, chi, inverse, seen.
  rewrite Rmin_left by lra. fold (y n).
  rewrite !root_of_positive_part. unfold Rdiv.
  rewrite (Rmult_assoc Pdim), (sqrt_mult_alt Pdim) by lra. ring.
Qed.

Lemma over_y : is_lim_seq (fun n => INR n / y n) 1.
Proof.
  set (c := 1 / 2 - K / 2). destruct y_positive as [N HN].
  apply is_lim_seq_ext_loc with (fun n => / (1 + c * / INR n)).
  - exists (S N). intros n Hn. destruct (HN n ltac:(lia)) as [H1 H2]. unfold y, c in *. field.
    split; lra.
  - replace (Finite 1) with (Rbar_inv (1 + c * 0)) by (simpl; f_equal; field). apply is_lim_seq_inv.
    + apply (is_lim_seq_plus' (fun _ => 1) _ 1 (c * 0) (is_lim_seq_const _)).
      apply (is_lim_seq_scal_l _ c 0 inverse_INR).
    + intros Z. injection Z. lra.
Qed.
Lemma inverse_y : is_lim_seq (fun n => / y n) 0.
Proof.
  destruct y_positive as [N HN]. apply is_lim_seq_ext_loc with (fun n => INR n / y n * / INR n).
  - exists N. intros n Hn. destruct (HN n Hn). field. lra.
  - replace (Finite 0) with (Finite (1 * 0)) by (f_equal; ring).
    apply (is_lim_seq_mult' _ _ 1 0 over_y inverse_INR).
Qed.
Lemma root_over_y : is_lim_seq (fun n => sqrt (INR n) / y n) 0.
Proof.
  destruct y_positive as [N HN]. apply is_lim_seq_ext_loc
    with (fun n => INR n / y n * / sqrt (INR n)).
  - exists N. intros n Hn. destruct (HN n Hn). assert (0 < sqrt (INR n)) by (apply sqrt_lt_R0; lra).
    rewrite <- (sqrt_sqrt (INR n)) at 1 by lra. field. lra.
  - replace (Finite 0) with (Finite (1 * 0)) by (f_equal; ring).
    apply (is_lim_seq_mult' _ _ 1 0 over_y inverse_root).
Qed.

(* the mismatch is 1/(K rate) up to order 1/t *)
Lemma chi_near : is_lim_seq (fun n => sqrt (INR n) * (chi n - / q)) 0.
Proof.
  destruct y_positive as [N HN]. set (c := (K ^ 2 - 1) / 6).
  apply is_lim_seq_ext_loc with (fun n => - / q * (sqrt (INR n) / y n * (1 + c * / y n))).
  - exists N. intros n Hn. destruct (HN n Hn). unfold chi, q, c.
    replace (6 * INR n + 3 - 3 * K) with (6 * y n) by (unfold y; field).
    field. repeat split; lra.
  - replace (Finite 0) with (Finite (- / q * (0 * (1 + c * 0)))) by (f_equal; ring).
    apply (is_lim_seq_scal_l _ (- / q) (0 * (1 + c * 0))).
    apply (is_lim_seq_mult' _ _ 0 (1 + c * 0) root_over_y).
    apply (is_lim_seq_plus' (fun _ => 1) _ 1 (c * 0) (is_lim_seq_const _)).
    apply (is_lim_seq_scal_l _ c 0 inverse_y).
Qed.
(* the effective size is rate t, up to a factor that tends to 1 *)
Lemma inverse_limit : is_lim_seq (fun n => INR n * inverse n) (/ rate).
Proof.
  destruct y_positive as [N HN]. set (c := (K ^ 2 - 1) / (6 * K)).
  apply is_lim_seq_ext_loc with (fun n => / rate * (INR n / y n * (1 - c * / y n))).
  - exists N. intros n Hn. destruct (HN n Hn). unfold inverse, c. field. repeat split; lra.
  - replace (Finite (/ rate)) with (Finite (/ rate * (1 * (1 - c * 0)))) by (f_equal; ring).
    apply (is_lim_seq_scal_l _ (/ rate) (1 * (1 - c * 0))).
    apply (is_lim_seq_mult' _ _ 1 (1 - c * 0) over_y).
    apply (is_lim_seq_minus' (fun _ => 1) _ 1 (c * 0) (is_lim_seq_const _)).
    apply (is_lim_seq_scal_l _ c 0 inverse_y).
Qed.
Lemma seen_limit : is_lim_seq (fun n => seen n / INR n) rate.
Proof.
  apply is_lim_seq_ext_loc with (fun _ => rate); [|apply is_lim_seq_const].
  exists 1%nat. intros n Hn. assert (0 < INR n) by (apply lt_0_INR; lia). unfold seen. field. lra.
Qed.

Lemma constant_rounds :
  is_lim_seq (fun T => (sum T (fun i => round K rate (INR (S i)))
    - INR T * share q) / scale T) (20 * B * sqrt (Pdim / rate)).
Proof.
  replace (20 * B * sqrt (Pdim / rate)) with (2 * (10 * B * sqrt (Pdim / rate))) by ring.
  apply is_lim_seq_ext with (fun T => sum T (fun i => (fun n => round K rate (INR n)
    - share q) (S i)) / scale T);
    [intros T; now rewrite sum_minus, sum_const|].
  apply (sum_over_scale (fun n => round K rate (INR n) - share q)). destruct y_positive as [N HN].
  apply is_lim_seq_ext_loc with (2 := excess_limit chi inverse seen q rate (eta * INR E) q_positive
    r0 chi_near inverse_limit seen_limit).
  exists N. intros n Hn. rewrite round_in_the_long_run by apply (HN n Hn). reflexivity.
Qed.
End OneK.

(* ---- two retentions, two rates ---- *)

Lemma scale_is_smaller : is_lim_seq (fun T => scale T / INR T) 0.
Proof.
  assert (R : is_lim_seq (fun n => sqrt (ln (INR n) * / INR n)) 0).
  { rewrite <- sqrt_0. apply sqrt_limit; [lra|].
    apply (is_lim_comp_seq (fun x => ln x / x) INR p_infty 0 is_lim_div_ln_p);
      [now exists O|apply is_lim_seq_INR]. }
  apply is_lim_seq_ext_loc with (2 := R). exists 1%nat. intros n Hn.
  assert (P : 0 < INR n) by (apply lt_0_INR; lia).
  change (ln (INR n) * / INR n) with (ln (INR n) / INR n). rewrite sqrt_div_alt by auto.
  unfold scale. rewrite sqrt_mult_alt by lra. assert (0 < sqrt (INR n)) by now apply sqrt_lt_R0.
  transitivity (sqrt (INR n) * sqrt (ln (INR n)) / (sqrt (INR n) * sqrt (INR n))); [field;
    lra|now rewrite sqrt_sqrt by lra].
Qed.

Lemma average_round K rate : 1 <= K -> 0 < rate ->
  is_lim_seq (fun T => sum T (fun i => round K rate (INR (S i))) / INR T) (share (K * rate)).
Proof.
  intros HK Hr. pose proof (constant_rounds K rate HK Hr) as A.
  apply is_lim_seq_ext_loc with (fun T => share (K * rate)
    + (sum T (fun i => round K rate (INR (S i)))
        - INR T * share (K * rate)) / scale T * (scale T / INR T)).
  - exists 2%nat. intros n Hn. destruct (scale_positive n Hn) as (P & _ & SP). field. lra.
  - replace (Finite (share (K * rate))) with (Finite (share (K * rate)
      + 20 * B * sqrt (Pdim / rate) * 0)) by (f_equal; ring).
    apply (is_lim_seq_plus' (fun _ => _) _ _ _ (is_lim_seq_const _)).
    apply (is_lim_seq_mult' _ _ _ 0 A scale_is_smaller).
Qed.

(* The regret of constant admission, against an oracle that replaces all K rate samples in every
   round, is theory's multiple of sqrt(T log T) in the end. *)
Theorem constant_regret K rate : 1 <= K -> 0 < rate ->
  is_lim_seq (fun T => (sum T (fun i => constant_round K (INR (S i)) rate D sigma eta B Pdim E L G)
                        - sum T (fun i => constant_round 1 (INR (S i)) (K * rate) D sigma eta B Pdim
                            E L G)) / scale T)
    (omega3_limit K rate D sigma eta B Pdim E L G).
Proof.
  intros HK Hr. assert (Q : 0 < K * rate) by nra.
  assert (A := is_lim_seq_minus' _ _ _ _ (constant_rounds K rate HK Hr) (constant_rounds 1 (K *
    rate) ltac:(lra) Q)).
  rewrite (constant_is D sigma eta B Pdim rate K L G E) by auto. unfold constant.
  replace (2 * (10 * B * (sqrt (Pdim / rate) - sqrt (Pdim / (K * rate)))))
    with (20 * B * sqrt (Pdim / rate) - 20 * B * sqrt (Pdim / (K * rate))) by ring.
  apply is_lim_seq_ext with (2 := A). intros T. rewrite Rmult_1_l. unfold round, Rdiv. ring.
Qed.

(* ---- the best K ---- *)

Hypothesis E1 : (0 < E)%nat.
Lemma share_falls less more : 0 < less < more -> share more < share less.
Proof.
  intros H. unfold share, long_run_share. assert (S1 : 0 < sqrt less) by (apply sqrt_lt_R0; lra).
  assert (S2 : sqrt less < sqrt more) by (apply sqrt_lt_1_alt; lra).
  assert (EP : 0 < INR E) by now apply lt_0_INR.
  assert (/ sqrt more < / sqrt less) by (apply Rinv_lt_contravar; [nra|auto]).
  assert (/ more < / less) by (apply Rinv_lt_contravar; [nra|lra]).
  assert (0 < eta * INR E * sigma ^ 2) by (apply Rmult_lt_0_compat; [nra|now apply pow_lt]).
  unfold Rdiv.
  assert (D * sigma * / sqrt more < D * sigma * / sqrt less) by (apply Rmult_lt_compat_l; nra).
  assert (eta * INR E * sigma ^ 2 * / more < eta * INR E * sigma ^ 2 * / less)
    by (apply Rmult_lt_compat_l; auto). lra.
Qed.

Let bound (K : nat) (rate : R) (T : nat) : R := sum T (fun i => round (INR K) rate (INR (S i))).

Lemma one_at_least K : (0 < K)%nat -> 1 <= INR K.
Proof. intros. change 1 with (INR 1). apply le_INR. lia. Qed.

(* Who holds more has the smaller bound in the end. *)
Lemma more_is_better K rate K' rate' : (0 < K)%nat -> (0 < K')%nat -> 0 < rate -> 0 < rate' ->
  INR K' * rate' < INR K * rate -> eventually (fun T => bound K rate T < bound K' rate' T).
Proof.
  intros HK HK' Hr Hr' H. pose proof (one_at_least K HK) as k1.
  pose proof (one_at_least K' HK') as k2.
  pose proof (share_falls (INR K' * rate') (INR K * rate) ltac:(split; [nra|auto])) as S.
  assert (A := is_lim_seq_minus' _ _ _ _ (average_round (INR K') rate' k2 Hr') (average_round (INR
    K) rate k1 Hr)).
  destruct (eventually_positive _ _ ltac:(apply Rlt_Rminus, S) A) as [N HN].
  exists (Datatypes.S N). intros T HT. specialize (HN T ltac:(lia)). cbv beta in HN.
  assert (P : 0 < INR T) by (apply lt_0_INR; lia). unfold bound.
  set (x := sum T (fun i => round (INR K) rate _)) in *.
  set (z := sum T (fun i => round (INR K') rate' _)) in *.
  apply Rmult_lt_compat_r with (r := INR T) in HN; auto.
  replace ((z / INR T - x / INR T) * INR T) with (z - x) in HN by (field; lra). lra.
Qed.

(* Who holds as much by a higher rate has, too. *)
Lemma fresher_is_better K rate K' rate' : (0 < K)%nat -> (0 < K')%nat -> 0 < rate' < rate ->
  INR K' * rate' = INR K * rate -> eventually (fun T => bound K rate T < bound K' rate' T).
Proof.
  intros HK HK' Hr H. pose proof (one_at_least K HK) as k1. pose proof (one_at_least K' HK') as k2.
  assert (A := is_lim_seq_minus' _ _ _ _ (constant_rounds (INR K') rate' k2 ltac:(lra))
    (constant_rounds (INR K) rate k1 ltac:(lra))).
  assert (C : 0 < 20 * B * sqrt (Pdim / rate') - 20 * B * sqrt (Pdim / rate)).
  { assert (sqrt (Pdim / rate) < sqrt (Pdim / rate')); [|nra]. apply sqrt_lt_1_alt.
    split; [left; apply Rdiv_lt_0_compat; lra|].
    apply Rmult_lt_compat_l; auto. apply Rinv_lt_contravar; nra. }
  destruct (eventually_positive _ _ C A) as [N HN]. exists (Nat.max 2 N). intros T HT.
  specialize (HN T ltac:(lia)). cbv beta in HN. rewrite H in HN.
  destruct (scale_positive T ltac:(lia)) as (P & L0 & SP).
  apply Rmult_lt_compat_r with (r := scale T) in HN; auto. unfold bound.
  set (x := sum T (fun i => round (INR K) rate _)) in *.
  set (z := sum T (fun i => round (INR K') rate' _)) in *.
  match type of HN with _ < ?e * _ => replace (e * scale T) with (z - x) in HN by (field; lra) end.
  lra.
Qed.

(* Corollary 2, corrected: the smallest K that fills the buffers within the budget, against every
   K at every rate that buffers and budget allow, but for itself. What the bounds have besides, the
   one-time term and the constant of a round, is the same for all. *)
Theorem optimal_k total_buffer cost mean_cost rate (best K : nat) (x := fill_ratio total_buffer cost
  mean_cost) :
  0 < total_buffer -> 0 < cost -> 0 < mean_cost -> (0 < best)%nat -> x <= INR best -> (INR best < x
    + 1 \/ best = 1%nat) ->
  (0 < K)%nat -> 0 < rate -> INR K * rate <= total_buffer -> mean_cost * rate <= cost ->
  ~ (K = best /\ rate = total_buffer / INR best) ->
  best_rate best total_buffer cost mean_cost = total_buffer / INR best /\
  eventually (fun T =>
    sum T (fun i => constant_round (INR best) (INR (S i)) (best_rate best total_buffer cost
      mean_cost) D sigma eta B Pdim E L G)
    < sum T (fun i => constant_round (INR K) (INR (S i)) rate D sigma eta B Pdim E L G)).
Proof.
  intros HB HC Hc Hb Hx Hs HK Hr room paid Hne. pose proof (one_at_least best Hb) as b1.
  pose proof (one_at_least K HK) as k1.
  assert (X : x * cost = mean_cost * total_buffer) by (unfold x, fill_ratio; field; lra).
  assert (full : best_rate best total_buffer cost mean_cost = total_buffer / INR best).
  { unfold best_rate. apply Rmin_left. apply Rmult_le_reg_r with (mean_cost * INR best); [nra|].
    replace (cost / mean_cost * (mean_cost * INR best)) with (cost * INR best) by (field; lra).
    replace (total_buffer / INR best * (mean_cost * INR best)) with (mean_cost * total_buffer)
      by (field; lra). nra. }
  split; auto. rewrite full. destruct room as [less|fills].
  - apply more_is_better; auto; [apply Rdiv_lt_0_compat; lra|].
    now replace (INR best * (total_buffer / INR best)) with total_buffer by (field; lra).
  - (* a K that fills the buffers within the budget is at least x, and so larger than the best *)
    assert (own : rate = total_buffer / INR K) by (rewrite <- fills; field; lra).
    assert (F : x <= INR K) by (apply Rmult_le_reg_r with cost; nra).
    assert (B1 : (best < K)%nat).
    { destruct (Nat.eq_dec K best) as [->|ne]; [tauto|]. destruct Hs as [Hs| ->]; [|lia].
      assert (best < K + 1)%nat; [|lia]. apply INR_lt. rewrite plus_INR. simpl. lra. }
    rewrite own. apply fresher_is_better; auto; [|field; lra].
    apply lt_INR in B1. split; [apply Rdiv_lt_0_compat; lra|]. apply Rmult_lt_compat_l; auto.
    apply Rinv_lt_contravar; nra.
Qed.

(* ---- the costless oracle, which replaces all n samples in every round ---- *)

(* The costless oracle, n fresh samples a round, has a smaller bound than K-step retention with the
   same memory, in the end. *)
Theorem fresh_beats_kept n K : 0 < n -> (1 < K)%nat ->
  eventually (fun T => sum T (fun i => constant_round 1 (INR (S i)) n D sigma eta B Pdim E L G)
                       < sum T (fun i => constant_round (INR K) (INR (S i)) (n / INR K) D sigma eta
                         B Pdim E L G)).
Proof.
  intros Hn HK. assert (k1 : 1 < INR K) by (change 1 with (INR 1); now apply lt_INR).
  apply (fresher_is_better 1 n K (n / INR K)); try lia; [|simpl; field; lra].
  split; [apply Rdiv_lt_0_compat; lra|].
  apply Rmult_lt_reg_r with (INR K); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
Qed.

(* A buffer that is filled once and kept has no mismatch and the third term of n samples for ever.
   Which of the two is better in the end is decided by the long-run share of a round; if that is
   equal, the frozen one is. *)
Theorem fresh_against_frozen n (frozen := generalisation_term (/ n) n D sigma eta B Pdim E L G) : 0
  < n ->
  (long_run_share n D sigma eta B Pdim E L G < frozen
   -> eventually (fun T => sum T (fun i => constant_round 1 (INR (S i)) n D sigma eta B Pdim E L G)
     < INR T * frozen)) /\
  (frozen <= long_run_share n D sigma eta B Pdim E L G
   -> eventually (fun T => INR T * frozen < sum T (fun i => constant_round 1 (INR (S i)) n D sigma
     eta B Pdim E L G))).
Proof.
  intros Hn. split; intros H.
  - assert (A := average_round 1 n ltac:(lra) Hn). rewrite Rmult_1_l in A.
    destruct (eventually_positive _ _ ltac:(apply Rlt_Rminus,
      H) (is_lim_seq_minus' _ _ _ _ (is_lim_seq_const frozen) A)) as [N HN].
    exists (S N). intros T HT. specialize (HN T ltac:(lia)). cbv beta in HN.
    assert (P : 0 < INR T) by (apply lt_0_INR; lia).
    change (fun i => constant_round 1 (INR (S i)) n D sigma eta B Pdim E L G)
      with (fun i => round 1 n (INR (S i))).
    set (x := sum T _) in *. apply Rmult_lt_compat_r with (r := INR T) in HN; auto.
    replace ((frozen - x / INR T) * INR T) with (INR T * frozen - x) in HN by (field; lra). lra.
  - assert (A := constant_rounds 1 n ltac:(lra) Hn). rewrite Rmult_1_l in A.
    assert (C : 0 < 20 * B * sqrt (Pdim / n)) by (apply Rmult_lt_0_compat;
      [lra|apply sqrt_lt_R0, Rdiv_lt_0_compat; lra]).
    destruct (eventually_positive _ _ C A) as [N HN]. exists (Nat.max 2 N). intros T HT.
    specialize (HN T ltac:(lia)). cbv beta in HN.
    destruct (scale_positive T ltac:(lia)) as (P & L0 & SP).
    change (fun i => constant_round 1 (INR (S i)) n D sigma eta B Pdim E L G)
      with (fun i => round 1 n (INR (S i))).
    set (x := sum T _) in *. apply Rmult_lt_compat_r with (r := scale T) in HN; auto.
    replace ((x - INR T * share n) / scale T * scale T) with (x - INR T * share n) in HN by (field;
      lra).
    unfold share in HN. nra.
Qed.
End Constants.
