(* The largest buffer violation inside the region, in closed form, and what it tends to. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Acdpp Require Import Sums ReuseFormulas Reuse ControlFormulas Lambert Control.
Open Scope R_scope.

Section Largest.
Variables (rate rho : R) (K : nat).
Hypotheses (positive : 0 < rate) (inside : 0 < rho < 1) (kept : (0 < K)%nat).
Let h (s : nat) : R := rho ^ S s / (1 - rho ^ S s).
Definition largest (T : nat) : R :=
  sum T (fun s => region_maximum rate rho (S s) * INR (Nat.min K (T - s))) - INR K * rate * INR T.
(* the last rounds are counted less *)
Definition late (T : nat) : R := sum (Nat.min K T) (fun i => h (T - Nat.min K T + i) * (INR K - INR (Nat.min K T) + INR i)).

Lemma counted_less T : sum T (fun s => h s * INR (Nat.min K (T - s))) = INR K * lambert rho T - late T.
Proof.
  set (k := Nat.min K T). replace (sum T (fun s => h s * INR (Nat.min K (T - s)))) with (sum T (fun s => INR K * h s - h s * (INR K - INR (Nat.min K (T - s))))) by (apply sum_ext; intros; ring).
  rewrite sum_minus, sum_scal. fold (lambert rho T). f_equal. unfold late. fold k.
  replace T with ((T - k) + k)%nat at 1 by lia. rewrite sum_split.
  rewrite (sum_ext (T - k) _ (fun _ => 0)) by (intros s Hs; rewrite Nat.min_l by lia; ring). rewrite sum_const, Rmult_0_r, Rplus_0_l.
  apply sum_ext. intros i Hi. rewrite Nat.min_r by lia. f_equal. replace (T - (T - k + i))%nat with (k - i)%nat by lia. rewrite minus_INR by lia. ring.
Qed.

(* theory's closed form *)
Theorem buffer_violation_closed T : largest T = buffer_excess_maximum K T rate rho.
Proof.
  unfold largest. set (k := Nat.min K T).
  rewrite (sum_ext T _ (fun s => rate * INR (Nat.min K (T - s)) + rate * (h s * INR (Nat.min K (T - s))))) by (intros; rewrite (top_is rate rho inside); unfold h; ring).
  rewrite sum_plus, !sum_scal, counted_less.
  assert (C : 2 * sum T (fun s => INR (Nat.min K (T - s))) = 2 * INR k * INR T - INR k * (INR k - 1)).
  { pose proof (first_uses K T) as F. cbv zeta in F. fold k in F. rewrite <- F. f_equal. rewrite <- (sum_reversed T (fun i => INR (Nat.min K (i + 1)))). apply sum_ext. intros. do 2 f_equal. lia. }
  unfold buffer_excess_maximum. rewrite Rmin_INR. fold k.
  assert (L : sum k (fun i => (fun s : nat => rho ^ s * (INR K + INR s - INR T - 1) / (1 - rho ^ s)) ((1 + T - k)%nat + i)%nat) = late T).
  { unfold late. fold k. apply sum_ext. intros i Hi. unfold h. replace (1 + T - k + i)%nat with (S (T - k + i)) by (unfold k; lia).
    rewrite S_INR, plus_INR, minus_INR by lia. pose proof (pow_below_one rho (T - k + i) inside). field. lra. }
  assert (Q : INR k = INR K \/ INR k = INR T) by (unfold k; destruct (Nat.min_spec K T) as [[_ ->]|[_ ->]]; auto).
  match goal with |- context [sum k ?f] => replace (sum k f) with (late T) by (rewrite <- L; apply sum_ext; intros; cbv beta; unfold Rdiv; ring) end.
  replace (sum T (fun s => INR (Nat.min K (T - s)))) with ((2 * INR k * INR T - INR k * (INR k - 1)) / 2) by lra.
  cbv beta. fold (lambert rho T). destruct Q as [Q|Q]; rewrite Q; field.
Qed.

Lemma h_falls s d : h (s + d) <= h s.
Proof. induction d; [rewrite Nat.add_0_r; lra|]. rewrite Nat.add_succ_r. apply Rle_trans with (2 := IHd). apply (summand_falls rho inside). Qed.

(* Over ever more rounds: of the closed form only the late rounds are lost. *)
Theorem buffer_violation_limit (whole : R) :
  is_lim_seq (lambert rho) whole -> is_lim_seq (fun T => Rmax 0 (largest T)) (Rmax 0 (INR K * rate * (whole - (INR K - 1) / 2))).
Proof.
  intros HS. assert (KP : 1 <= INR K) by (change 1 with (INR 1); apply le_INR; lia).
  assert (H0 : is_lim_seq h 0).
  { unfold h. replace 0 with (0 / (1 - 0)) by field. assert (P : is_lim_seq (fun n => rho ^ S n) 0) by (apply (is_lim_seq_incr_1 (fun n => rho ^ n)), is_lim_seq_geom; rewrite Rabs_right; lra).
    apply (is_lim_seq_div' _ _ 0 (1 - 0)); [auto| |lra]. apply (is_lim_seq_minus' (fun _ => 1) _ 1 0 (is_lim_seq_const _) P). }
  assert (HL : is_lim_seq late 0).
  { apply (is_lim_seq_incr_n late K). apply is_lim_seq_le_le with (fun _ => 0) (fun n => INR K * INR K * h n).
    - intros n. unfold late. replace (Nat.min K (n + K)) with K by lia. replace (n + K - K)%nat with n by lia. split.
      + apply sum_nonneg. intros i Hi. apply Rmult_le_pos; [apply (summand_nonneg rho (n + i) inside)|]. pose proof (pos_INR i). lra.
      + rewrite Rmult_assoc, <- sum_const. apply sum_le. intros i Hi. pose proof (h_falls n i). pose proof (summand_nonneg rho (n + i) inside) as P. fold (h (n + i)) in P.
        assert (INR i <= INR K) by (apply le_INR; lia). pose proof (pos_INR i). replace (INR K - INR K + INR i) with (INR i) by ring. rewrite (Rmult_comm (INR K)). apply Rmult_le_compat; lra.
    - apply is_lim_seq_const.
    - replace 0 with (INR K * INR K * 0) by ring. apply (is_lim_seq_scal_l _ (INR K * INR K) 0 H0). }
  assert (L : is_lim_seq largest (INR K * rate * (whole - (INR K - 1) / 2))).
  { apply is_lim_seq_ext_loc with (fun T => rate * (INR K * lambert rho T - late T - INR K * (INR K - 1) / 2)).
    - exists K. intros T HT. unfold largest.
      rewrite (sum_ext T _ (fun s => rate * INR (Nat.min K (T - s)) + rate * (h s * INR (Nat.min K (T - s))))) by (intros; rewrite (top_is rate rho inside); unfold h; ring).
      rewrite sum_plus, !sum_scal, counted_less.
      assert (C : 2 * sum T (fun s => INR (Nat.min K (T - s))) = 2 * INR K * INR T - INR K * (INR K - 1)).
      { pose proof (first_uses K T) as F. cbv zeta in F. rewrite (Nat.min_l K T) in F by auto. rewrite <- F. f_equal.
        rewrite <- (sum_reversed T (fun i => INR (Nat.min K (i + 1)))). apply sum_ext. intros. do 2 f_equal. lia. }
      nra.
    - replace (INR K * rate * (whole - (INR K - 1) / 2)) with (rate * (INR K * whole - 0 - INR K * (INR K - 1) / 2)) by field.
      apply (is_lim_seq_scal_l _ rate (INR K * whole - 0 - INR K * (INR K - 1) / 2)).
      apply (is_lim_seq_minus' _ (fun _ => INR K * (INR K - 1) / 2) (INR K * whole - 0) (INR K * (INR K - 1) / 2)); [|apply is_lim_seq_const].
      apply (is_lim_seq_minus' _ _ (INR K * whole) 0); [apply (is_lim_seq_scal_l _ (INR K) whole HS)|exact HL]. }
  apply (is_lim_seq_continuous (Rmax 0) largest); [|exact L].
  intros eps He. exists eps. split; auto. intros y [_ Hy]. simpl in *. unfold R_dist in *. apply Rle_lt_trans with (2 := Hy).
  unfold Rmax. set (x := INR K * rate * (whole - (INR K - 1) / 2)). destruct (Rle_dec 0 y), (Rle_dec 0 x); unfold Rabs; repeat destruct (Rcase_abs _); lra.
Qed.
End Largest.
