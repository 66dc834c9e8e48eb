(* The largest buffer violation inside the region, in closed form, and what it tends to. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Acdpp Require Import Sums Mean ReuseFormulas Reuse ControlFormulas LawFormulas Lambert Control.
Open Scope R_scope.

Section Largest.
Variables (rate rho : R) (K : nat).
Hypotheses (positive : 0 < rate) (inside : 0 < rho < 1) (kept : (0 < K)%nat).
Let h (s : nat) : R := rho ^ S s / (1 - rho ^ S s).
Definition largest (T : nat) : R :=
  sum T (fun s => region_maximum rate rho (S s) * INR (Nat.min K (T - s))) - INR K * rate * INR T.
(* the last rounds are counted less *)
Definition late (T : nat) : R := sum (Nat.min K T) (fun i => h (T - Nat.min K T + i) * (INR K
  - INR (Nat.min K T) + INR i)).

Lemma counted_less T : sum T (fun s => h s * INR (Nat.min K (T - s))) = INR K * lambert rho T
  - late T.
Proof.
  set (k := Nat.min K T). replace (sum T (fun s => h s * INR (Nat.min K (T - s))))
    with (sum T (fun s => INR K * h s - h s * (INR K - INR (Nat.min K (T - s)))))
      by (apply sum_ext; intros; ring).
  rewrite sum_minus, sum_scal. fold (lambert rho T). f_equal. unfold late. fold k.
  replace T with ((T - k) + k)%nat at 1 by lia. rewrite sum_split.
  rewrite (sum_ext (T - k) _ (fun _ => 0)) by (intros s Hs; rewrite Nat.min_l by lia; ring).
  rewrite sum_const, Rmult_0_r, Rplus_0_l.
  apply sum_ext. intros i Hi. rewrite Nat.min_r by lia. f_equal.
  replace (T - (T - k + i))%nat with (k - i)%nat by lia. rewrite minus_INR by lia. ring.
Qed.

(* The largest buffer violation inside the region is theory's closed form. *)
Theorem buffer_violation_closed T : largest T = buffer_excess_maximum K T rate rho.
Proof.
  unfold largest. set (k := Nat.min K T).
  rewrite (sum_ext T _ (fun s => rate * INR (Nat.min K (T - s)) + rate * (h s * INR (Nat.min K (T
    - s))))) by (intros; rewrite (top_is rate rho inside); unfold h; ring).
  rewrite sum_plus, !sum_scal, counted_less.
  assert (C : 2 * sum T (fun s => INR (Nat.min K (T - s))) = 2 * INR k * INR T - INR k * (INR k
    - 1)).
  { pose proof (first_uses K T) as F. cbv zeta in F. fold k in F. rewrite <- F. f_equal.
    rewrite <- (sum_reversed T (fun i => INR (Nat.min K (i + 1)))). apply sum_ext. intros.
    do 2 f_equal. lia. }
  unfold buffer_excess_maximum. rewrite Rmin_INR. fold k.
  assert (L : sum k (fun i => (fun s : nat => rho ^ s * (INR K + INR s - INR T - 1) / (1
    - rho ^ s)) ((1 + T - k)%nat + i)%nat) = late T).
  { unfold late. fold k. apply sum_ext. intros i Hi. unfold h.
    replace (1 + T - k + i)%nat with (S (T - k + i)) by (unfold k; lia).
    rewrite S_INR, plus_INR, minus_INR by lia. pose proof (pow_below_one rho (T - k + i) inside).
    field. lra. }
  assert (Q : INR k = INR K \/ INR k = INR T) by (unfold k;
    destruct (Nat.min_spec K T) as [[_ ->]|[_ ->]]; auto).
  match goal with |- context [sum k ?f] => replace (sum k f) with (late T) by (rewrite <- L;
    apply sum_ext; intros; cbv beta; unfold Rdiv; ring) end.
  replace (sum T (fun s => INR (Nat.min K (T - s)))) with ((2 * INR k * INR T - INR k * (INR k
    - 1)) / 2) by lra.
  cbv beta. fold (lambert rho T). destruct Q as [Q|Q]; rewrite Q; field.
Qed.

Lemma h_falls s d : h (s + d) <= h s.
Proof. induction d; [rewrite Nat.add_0_r; lra|]. rewrite Nat.add_succ_r.
apply Rle_trans with (2 := IHd). apply (summand_falls rho inside). Qed.

(* Of the closed form only the late rounds are lost. *)
Lemma limit_of_the_largest (whole : R) :
  is_lim_seq (lambert rho) whole -> is_lim_seq (fun T => Rmax 0 (largest T)) (Rmax 0 (INR K * rate *
    (whole - (INR K - 1) / 2))).
Proof.
  intros HS. assert (KP : 1 <= INR K) by (change 1 with (INR 1); apply le_INR; lia).
  assert (H0 : is_lim_seq h 0).
  { unfold h. replace 0 with (0 / (1 - 0)) by field.
    assert (P : is_lim_seq (fun n => rho ^ S n) 0)
      by (apply (is_lim_seq_incr_1 (fun n => rho ^ n)), is_lim_seq_geom; rewrite Rabs_right; lra).
    apply (is_lim_seq_div' _ _ 0 (1 - 0)); [auto| |lra].
    apply (is_lim_seq_minus' (fun _ => 1) _ 1 0 (is_lim_seq_const _) P). }
  assert (HL : is_lim_seq late 0).
  { apply (is_lim_seq_incr_n late K). apply is_lim_seq_le_le
      with (fun _ => 0) (fun n => INR K * INR K * h n).
    - intros n. unfold late. replace (Nat.min K (n + K)) with K by lia.
      replace (n + K - K)%nat with n by lia. split.
      + apply sum_nonneg. intros i Hi. apply Rmult_le_pos;
          [apply (summand_nonneg rho (n + i) inside)|]. pose proof (pos_INR i). lra.
      + rewrite Rmult_assoc, <- sum_const. apply sum_le. intros i Hi. pose proof (h_falls n i).
        pose proof (summand_nonneg rho (n + i) inside) as P. fold (h (n + i)) in P.
        assert (INR i <= INR K) by (apply le_INR; lia). pose proof (pos_INR i).
        replace (INR K - INR K + INR i) with (INR i) by ring. rewrite (Rmult_comm (INR K)).
        apply Rmult_le_compat; lra.
    - apply is_lim_seq_const.
    - replace 0 with (INR K * INR K * 0) by ring. apply (is_lim_seq_scal_l _ (INR K * INR K) 0 H0).
      }
  assert (L : is_lim_seq largest (INR K * rate * (whole - (INR K - 1) / 2))).
  { apply is_lim_seq_ext_loc with (fun T => rate * (INR K * lambert rho T - late T - INR K * (INR K
      - 1) / 2)).
    - exists K. intros T HT. unfold largest.
      rewrite (sum_ext T _ (fun s => rate * INR (Nat.min K (T - s))
        + rate * (h s * INR (Nat.min K (T - s))))) by (intros; rewrite (top_is rate rho inside);
            unfold h; ring).
      rewrite sum_plus, !sum_scal, counted_less.
      assert (C : 2 * sum T (fun s => INR (Nat.min K (T - s))) = 2 * INR K * INR T - INR K * (INR K
        - 1)).
      { pose proof (first_uses K T) as F. cbv zeta in F. rewrite (Nat.min_l K T) in F by auto.
        rewrite <- F. f_equal.
        rewrite <- (sum_reversed T (fun i => INR (Nat.min K (i + 1)))). apply sum_ext. intros.
        do 2 f_equal. lia. }
      nra.
    - replace (INR K * rate * (whole - (INR K - 1) / 2)) with (rate * (INR K * whole - 0
        - INR K * (INR K - 1) / 2)) by field.
      apply (is_lim_seq_scal_l _ rate (INR K * whole - 0 - INR K * (INR K - 1) / 2)).
      apply (is_lim_seq_minus' _ (fun _ => INR K * (INR K - 1) / 2) (INR K * whole
        - 0) (INR K * (INR K - 1) / 2)); [|apply is_lim_seq_const].
      apply (is_lim_seq_minus' _ _ (INR K * whole) 0);
        [apply (is_lim_seq_scal_l _ (INR K) whole HS)|exact HL]. }
  apply (is_lim_seq_continuous (Rmax 0) largest); [|exact L].
  intros eps He. exists eps. split; auto. intros y [_ Hy]. simpl in *. unfold R_dist in *.
  apply Rle_lt_trans with (2 := Hy).
  unfold Rmax. set (x := INR K * rate * (whole - (INR K - 1) / 2)).
  destruct (Rle_dec 0 y), (Rle_dec 0 x); unfold Rabs; repeat destruct (Rcase_abs _); lra.
Qed.

(* Over ever more rounds the largest buffer violation tends to a limit, as the sum in it does. *)
Theorem buffer_violation_limit : exists whole : R, is_lim_seq (lambert rho) whole /\
  is_lim_seq (fun T => Rmax 0 (largest T)) (Rmax 0 (INR K * rate * (whole - (INR K - 1) / 2))).
Proof.
  destruct (lambert_converges rho inside) as [whole H]. exists whole.
  split; [auto|now apply limit_of_the_largest].
Qed.
End Largest.

(* ---- the supremum over all horizons ---- *)

Section Supremum.
Variables (rate rho : R) (K : nat).
Hypotheses (positive : 0 < rate) (inside : 0 < rho < 1) (kept : (0 < K)%nat).
Let top (s : nat) : R := region_maximum rate rho (S s).
Let held (t : nat) : R := memory K top t.
Let excess (T : nat) : R := largest rate rho K T.

Lemma excess_step T : excess (S T) = excess T + (held T - INR K * rate).
Proof.
  unfold excess, largest. change (fun s => region_maximum rate rho (S s) * INR (Nat.min K (S T
    - s))) with (fun s => top s * INR (Nat.min K (S T - s))).
  change (fun s => region_maximum rate rho (S s) * INR (Nat.min K (T - s)))
    with (fun s => top s * INR (Nat.min K (T - s))).
  rewrite <- (memory_counted K top (S T)), <- (memory_counted K top T). cbn [sum]. rewrite S_INR.
  fold (held T). ring.
Qed.

Lemma more_than_rate s : rate < top s.
Proof. unfold top. rewrite (top_is rate rho inside). pose proof (pow_below_one rho s inside).
assert (0 < rho ^ S s / (1 - rho ^ S s)) by (apply Rdiv_lt_0_compat; lra). nra. Qed.

(* from round K on K admissions above the rate are held *)
Lemma full_holds_more t : (K <= S t)%nat -> INR K * rate < held t.
Proof.
  intros H. unfold held, memory. replace (S t) with ((S t - K) + K)%nat by lia. rewrite sum_split.
  apply Rlt_le_trans with (sum K (fun i => top (S t - K + i))).
  - rewrite <- sum_const. apply sum_lt; auto. intros. apply more_than_rate.
  - rewrite <- (Rplus_0_l (sum K _)) at 1. apply Rplus_le_compat.
    + apply sum_nonneg. intros i Hi. destruct (in_memory K i t); [pose proof (more_than_rate i)|];
        lra.
    + apply sum_le. intros i Hi. unfold in_memory. destruct (Nat.leb_spec (S t - K + i) t); [|lia].
      destruct (Nat.ltb_spec t (S t - K + i + K)); [cbn [andb]; lra|lia].
Qed.

(* before, nothing leaves *)
Lemma filling_grows t : (S t < K)%nat -> held t <= held (S t).
Proof.
  intros H. unfold held, memory. cbn [sum].
  assert (E : forall n, (n <= S t)%nat -> sum n (fun s => if in_memory K s t then top s else 0)
    <= sum n (fun s => if in_memory K s (S t) then top s else 0)).
  { intros n Hn. apply sum_le. intros s Hs. unfold in_memory.
    destruct (Nat.leb_spec s t), (Nat.ltb_spec t (s + K)), (Nat.leb_spec s (S t)),
      (Nat.ltb_spec (S t) (s + K)); cbn [andb]; try lia; lra. }
  pose proof (E (S t) (le_n _)) as L. cbn [sum] in L.
  assert (0 <= if in_memory K (S t) (S t) then top (S t) else 0)
    by (destruct (in_memory K (S t) (S t)); [pose proof (more_than_rate (S t))|]; lra). lra.
Qed.

Lemma once_full_always j t : (j <= t)%nat -> INR K * rate < held j -> INR K * rate < held t.
Proof.
  intros H. induction H; auto. intros A. specialize (IHle A).
  destruct (Nat.lt_ge_cases (S m) K) as [L|L]; [pose proof (filling_grows m L);
    lra|apply full_holds_more; lia].
Qed.

(* Once it is positive the excess grows strictly, so that no horizon attains its limit. *)
Lemma grows_from_then_on T k : 0 < excess T -> excess T + 0 <= excess (T + k)%nat /\ excess (T
  + k)%nat < excess (S (T + k)).
Proof.
  intros H.
  assert (J : exists j, (j < T)%nat /\ INR K * rate < held j).
  { clear k. induction T as [|m IH]; [unfold excess, largest in H; simpl in H; lra|].
    rewrite excess_step in H.
    destruct (Rlt_dec (INR K * rate) (held m)) as [L|L]; [exists m; split; [lia|auto]|].
    destruct IH as [j [Hj A]]; [lra|]. exists j. split; [lia|auto]. }
  destruct J as [j [Hj A]]. assert (G : forall n,
    excess (T + n)%nat < excess (S (T + n))) by (intros n; rewrite excess_step;
      pose proof (once_full_always j (T + n) ltac:(lia) A); lra).
  split; auto. induction k; [rewrite Nat.add_0_r; lra|]. rewrite Nat.add_succ_r. specialize (G k).
  lra.
Qed.

(* The limit is above every horizon's violation, if that is positive: a supremum that none attains.
   *)
Theorem buffer_violation_supremum (whole : R) T :
  is_lim_seq (lambert rho) whole -> 0 < excess T -> Rmax 0 (excess T) < INR K * rate * (whole
    - (INR K - 1) / 2).
Proof.
  intros HS H. rewrite Rmax_right by lra. destruct (grows_from_then_on T 0 H) as [_ G].
  rewrite Nat.add_0_r in G. apply Rlt_le_trans with (1 := G).
  assert (H1 : 0 < excess (S T)) by lra.
  assert (L : Rbar_le (excess (S T)) (Rmax 0 (INR K * rate * (whole - (INR K - 1) / 2)))).
  { apply (is_lim_seq_le (fun _ => excess (S T)) (fun k => Rmax 0 (largest rate rho K (k + S T)))).
    - intros k. apply Rle_trans with (2 := Rmax_r _ _).
      destruct (grows_from_then_on (S T) k H1) as [A _]. rewrite (Nat.add_comm k).
      unfold excess in A at 2. lra.
    - apply is_lim_seq_const.
    - apply (is_lim_seq_incr_n (fun T => Rmax 0 (largest rate rho K T)) (S T)).
      now apply limit_of_the_largest. }
  simpl in L. revert L. unfold Rmax. destruct (Rle_dec 0 (INR K * rate * (whole - (INR K
    - 1) / 2))); lra.
Qed.
End Supremum.

(* ---- the region buys nothing ---- *)

Section Nothing.
Variables (K clients : nat) (buffer : nat -> R) (cost mean_cost : R).
Hypotheses (kept : (0 < K)%nat) (C0 : 0 < cost) (c0 : 0 < mean_cost).
Hypothesis buffers : forall m, (m < clients)%nat -> 0 <= buffer m.
Let total_buffer : R := sum clients buffer.
Hypothesis some : 0 < total_buffer.
Let rate : R := best_rate K total_buffer cost mean_cost.

Lemma rate_affordable : 0 < rate /\ mean_cost * rate <= cost /\ INR K * rate <= total_buffer.
Proof.
  assert (KP : 0 < INR K) by now apply lt_0_INR. unfold rate, best_rate. repeat split.
  - apply Rmin_glb_lt; apply Rdiv_lt_0_compat; auto.
  - apply Rle_trans with (mean_cost * (cost / mean_cost)); [apply Rmult_le_compat_l;
      [lra|apply Rmin_r]|right; field; lra].
  - apply Rle_trans with (INR K * (total_buffer / INR K)); [apply Rmult_le_compat_l;
      [lra|apply Rmin_l]|right; field; lra].
Qed.

Lemma memory_of_constant t : memory K (fun _ => rate) t = rate * INR (Nat.min K (S t)).
Proof.
  pose proof (memory_counted K (fun _ => rate) t) as A.
  pose proof (memory_counted K (fun _ => rate) (S t)) as B. cbn [sum] in B. rewrite A in B.
  rewrite !sum_scal in B.
  assert (F : forall T, 2 * sum T (fun s => INR (Nat.min K (T - s)))
    = 2 * INR (Nat.min K T) * INR T - INR (Nat.min K T) * (INR (Nat.min K T) - 1)).
  { intros T. pose proof (first_uses K T) as F. cbv zeta in F. rewrite <- F. f_equal.
    rewrite <- (sum_reversed T (fun i => INR (Nat.min K (i + 1)))). apply sum_ext. intros.
    do 2 f_equal. lia. }
  pose proof (F t) as F0. pose proof (F (S t)) as F1. rewrite S_INR in F1.
  replace (S t - t)%nat with 1%nat in B by lia.
  assert (M : INR (Nat.min K 1) = 1) by (replace (Nat.min K 1) with 1%nat by lia; reflexivity).
  rewrite M in B. cbn [sum] in F1. replace (S t - t)%nat with 1%nat in F1 by lia. rewrite M in F1.
  set (x := sum t (fun s => INR (Nat.min K (t - s)))) in *.
  set (y := sum t (fun s => INR (Nat.min K (S t - s)))) in *.
  assert (E : memory K (fun _ => rate) t = rate * (y + 1 - x)) by lra. rewrite E. f_equal.
  destruct (Nat.lt_ge_cases t K) as [L|L].
  - rewrite (Nat.min_r K (S t)) in * by lia. rewrite (Nat.min_r K t) in F0 by lia.
    rewrite S_INR in *. lra.
  - rewrite (Nat.min_l K (S t)) in * by lia. rewrite (Nat.min_l K t) in F0 by lia. lra.
Qed.

(* At the largest affordable rate constant admission keeps every buffer in every round and the
   budget at every horizon, whenever no round's mean cost is above the mean. *)
Theorem constant_admission_violates_nothing (Omega : Type) (E : mean Omega) (price : nat -> Omega
  -> R) T :
  (forall t, integrable E (price t)) -> (forall t, E (price t) <= mean_cost) ->
  violation T cost (fun t => E (fun o => price t o * rate)) = 0 /\
  forall t m, (m < clients)%nat -> buffer m / total_buffer * memory K (fun _ => rate) t <= buffer m.
Proof.
  intros Ip Hp. destruct rate_affordable as (r0 & r1 & r2). split.
  - unfold violation. apply Rmax_left. apply Rle_trans with (sum T (fun _ => cost) - cost * INR T);
      [|rewrite sum_const; right; ring].
    apply Rplus_le_compat_r. apply sum_le. intros t _.
    rewrite (E_as E _ (fun o => rate * price t o)) by (means || (intros; ring)).
    rewrite E_scal by auto.
    apply Rle_trans with (2 := r1). rewrite Rmult_comm. apply Rmult_le_compat_r; [lra|auto].
  - intros t m Hm. rewrite memory_of_constant. specialize (buffers m Hm).
    assert (rate * INR (Nat.min K (S t)) <= total_buffer) by (apply Rle_trans with (2 := r2);
      rewrite Rmult_comm; apply Rmult_le_compat_r; [lra|apply le_INR; lia]).
    apply Rmult_le_reg_r with total_buffer; auto.
    replace (buffer m / total_buffer * (rate * INR (Nat.min K (S t))) * total_buffer)
      with (buffer m * (rate * INR (Nat.min K (S t)))) by (field; lra).
    apply Rmult_le_compat_l; auto.
Qed.
End Nothing.
