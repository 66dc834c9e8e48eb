(* Constant admission in the long run: the stationary noise v(a, K), how it depends on K, and the
   best K. *)
Require Import Reals Lra Lia Psatz.
From Acdpp Require Import Sums LawFormulas.
Open Scope R_scope.

(* ---- pairs of K rounds ---- *)

(* a row of the matrix a^|i-j|, both ways from the diagonal, and all K of them *)
Definition row (a : R) (k : nat) : R := 1 + 2 * sum k (fun d => a ^ S d).
Definition pairs (a : R) (K : nat) : R := sum K (row a).

Lemma pairs_are_pairs a K : sum K (fun i => sum K (fun j => a ^ (Nat.max i j - Nat.min i j)))
  = pairs a K.
Proof.
  induction K; [easy|]. unfold pairs in *. cbn [sum].
  rewrite (sum_ext K (fun i => sum K (fun j => a ^ (Nat.max i j - Nat.min i j)) + a ^ (Nat.max i K
    - Nat.min i K))
    (fun i => sum K (fun j => a ^ (Nat.max i j - Nat.min i j)) + a ^ S (K - 1 - i))) by (intros;
      do 2 f_equal; lia).
  rewrite sum_plus, IHK. rewrite (sum_ext K (fun j => a ^ (Nat.max K j
    - Nat.min K j)) (fun j => a ^ S (K - 1 - j))) by (intros; f_equal; lia).
  rewrite (sum_reversed K (fun d => a ^ S d)). rewrite Nat.max_id, Nat.min_id, Nat.sub_diag.
  unfold row. simpl. ring.
Qed.

Lemma pairs_closed a K : (1 - a) ^ 2 * pairs a K = INR K * (1 - a ^ 2) - 2 * a * (1 - a ^ K).
Proof.
  unfold pairs. induction K; [simpl; ring|]. cbn [sum]. rewrite Rmult_plus_distr_l, IHK, S_INR.
  unfold row.
  pose proof (geometric_tail a K) as G. replace ((1 - a) ^ 2 * (1
    + 2 * sum K (fun d => a ^ S d)))
    with ((1 - a) ^ 2 + 2 * (1 - a) * ((1 - a) * sum K (fun d => a ^ S d))) by ring. rewrite G.
    simpl. ring.
Qed.

Section Stationary.
Variable a : R.
Hypothesis range : 0 <= a < 1.
Lemma power_range d : 0 <= a ^ d <= 1.
Proof. apply pow_range. lra. Qed.

Lemma INR_pos K : (0 < K)%nat -> 0 < INR K.
Proof. apply lt_0_INR. Qed.

(* theory's closed form is (1-a)/(1+a) times the mean of a^|i-j| over all pairs of K rounds *)
Theorem noise_is_a_mean_of_pairs K :
  (0 < K)%nat ->
  stationary_noise a K = (1 - a) / (1 + a) * (sum K (fun i => sum K (fun j => a ^ (Nat.max i j
    - Nat.min i j))) / INR K ^ 2).
Proof.
  intros HK. rewrite pairs_are_pairs. pose proof (INR_pos K HK).
  pose proof (pairs_closed a K) as P. unfold stationary_noise.
  assert (E : pairs a K = (INR K * (1 - a ^ 2) - 2 * a * (1 - a ^ K)) / (1 - a) ^ 2)
    by (rewrite <- P; field; lra).
  rewrite E. field. repeat split; lra.
Qed.

Lemma noise_of_pairs K : (0 < K)%nat -> stationary_noise a K = (1 - a) / (1
  + a) * (pairs a K / INR K ^ 2).
Proof. intros. now rewrite noise_is_a_mean_of_pairs, pairs_are_pairs. Qed.

(* ---- how it depends on K ---- *)

Lemma row_grows k : row a k <= row a (S k).
Proof. unfold row. cbn [sum]. pose proof (power_range (S k)). lra. Qed.

Lemma row_monotone k l : (k <= l)%nat -> row a k <= row a l.
Proof. induction 1; [lra|]. apply Rle_trans with (1 := IHle). apply row_grows. Qed.

(* Powers fall, so that the first ones average more than all. *)
Lemma first_average_more k K : (k <= K)%nat -> INR k * sum K (fun d => a ^ S d)
  <= INR K * sum k (fun d => a ^ S d).
Proof.
  intros H. assert (A : INR k * a ^ S k <= sum k (fun d => a ^ S d)).
  { rewrite <- sum_const. apply sum_le. intros i Hi. replace (S k) with (S i + (k - i))%nat by lia.
    rewrite pow_add.
    pose proof (power_range (S i)). pose proof (power_range (k - i)). nra. }
  induction H; [lra|]. cbn [sum]. rewrite S_INR. assert (B : a ^ S m <= a ^ S k).
  { replace (S m) with (S k + (m - k))%nat by lia. rewrite pow_add. pose proof (power_range (S k)).
    pose proof (power_range (m - k)). nra. }
  assert (INR k * a ^ S m <= INR k * a ^ S k) by (apply Rmult_le_compat_l; [apply pos_INR|auto]).
  lra.
Qed.

(* The stationary noise v falls in K: rows of a^|i-j| rise by falling amounts, so they lie above the
   chord. *)
Theorem noise_falls K : (0 < K)%nat -> stationary_noise a (S K) < stationary_noise a K.
Proof.
  intros HK. rewrite !noise_of_pairs by lia. pose proof (INR_pos K HK) as KP.
  apply Rmult_lt_compat_l; [apply Rdiv_lt_0_compat; lra|].
  set (s := sum K (fun d => a ^ S d)).
  assert (L : INR K * pairs a K >= INR K * INR K + s * INR K * (INR K - 1)).
  { apply Rle_ge. unfold pairs. rewrite <- sum_scal.
    apply Rle_trans with (sum K (fun k => INR K + 2 * s * INR k)).
    - right. rewrite sum_plus, sum_const, sum_scal.
      pose proof (sum_INR K) as T. nra.
    - apply sum_le. intros k Hk. unfold row. pose proof (first_average_more k K ltac:(lia)) as F.
      fold s in F. lra. }
  assert (SB : s < INR K).
  { unfold s. rewrite <- (Rmult_1_r (INR K)), <- sum_const. apply sum_lt; auto. intros i _. simpl.
    pose proof (power_range i). nra. }
  assert (P : pairs a (S K) = pairs a K + (1 + 2 * s)) by (unfold pairs; cbn [sum]; unfold row;
    fold s; ring).
  rewrite P, S_INR. apply Rmult_lt_reg_r with (INR K ^ 2 * (INR K + 1) ^ 2 * INR K);
    [repeat apply Rmult_lt_0_compat; try apply pow_lt; lra|].
  field_simplify; [|lra|lra]. set (x := INR K) in *. set (y := pairs a K) in *.
  assert (x * ((2 * x + 1) * (x * y) - x * x * x * (1 + 2 * s)) > 0).
  { assert ((2 * x + 1) * (x * y) >= (2 * x + 1) * (x * x + s * x * (x - 1))) by nra.
    assert ((2 * x + 1) * (x * x + s * x * (x - 1)) - x * x * x * (1 + 2 * s) = x * (x + 1) * (x
      - s)) by ring.
    assert (0 < x * (x + 1) * (x - s)) by (repeat apply Rmult_lt_0_compat; lra). nra. }
  nra.
Qed.

(* K v is (1-a)/(1+a) times the mean of K rows: it grows by what the next row is above that. *)
Lemma product_grows K : (0 < K)%nat ->
  INR (S K) * stationary_noise a (S K) - INR K * stationary_noise a K
  = (1 - a) / (1 + a) * (INR K * row a K - pairs a K) / (INR K * (INR K + 1)).
Proof.
  intros HK. rewrite !noise_of_pairs by lia. pose proof (INR_pos K HK).
  change (pairs a (S K)) with (pairs a K + row a K). rewrite S_INR. field. repeat split; lra.
Qed.

(* Rows rise, so their mean does: K v never falls. *)
Theorem product_rises K : (0 < K)%nat -> INR K * stationary_noise a K
  <= INR (S K) * stationary_noise a (S K).
Proof.
  intros HK. pose proof (product_grows K HK) as G. pose proof (INR_pos K HK).
  assert (L : pairs a K <= INR K * row a K) by (unfold pairs; rewrite <- sum_const; apply sum_le;
    intros; apply row_monotone; lia).
  enough (0 <= (1 - a) / (1 + a) * (INR K * row a K - pairs a K) / (INR K * (INR K + 1))) by lra.
  apply Rle_mult_inv_pos; [|nra].
  apply Rmult_le_pos; [apply Rlt_le, Rdiv_lt_0_compat; lra|lra].
Qed.

(* K v rises strictly, unless a = 0. *)
Theorem product_rises_strictly K :
  0 < a -> (0 < K)%nat -> INR K * stationary_noise a K < INR (S K) * stationary_noise a (S K).
Proof.
  intros Ha HK. pose proof (product_grows K HK) as G. pose proof (INR_pos K HK).
  assert (L : pairs a K < INR K * row a K).
  { unfold pairs. rewrite <- sum_const. apply sum_lt; auto. intros i Hi.
    apply Rlt_le_trans with (row a (S i)); [|apply row_monotone; lia].
    unfold row. cbn [sum]. assert (0 < a ^ S i) by now apply pow_lt. lra. }
  enough (0 < (1 - a) / (1 + a) * (INR K * row a K - pairs a K) / (INR K * (INR K + 1))) by lra.
  apply Rdiv_lt_0_compat; [|nra].
  apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra|lra].
Qed.

Lemma noise_monotone k K : (0 < k <= K)%nat -> stationary_noise a K <= stationary_noise a k.
Proof. intros [H0 H]. induction H; [lra|]. pose proof (noise_falls m ltac:(lia)). lra. Qed.
Lemma product_monotone k K : (0 < k <= K)%nat -> INR k * stationary_noise a k
  <= INR K * stationary_noise a K.
Proof. intros [H0 H]. induction H; [lra|]. pose proof (product_rises m ltac:(lia)). lra. Qed.
Lemma noise_positive K : (0 < K)%nat -> 0 < stationary_noise a K.
Proof.
  intros HK. rewrite noise_of_pairs by auto. pose proof (INR_pos K HK).
  apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra|].
  apply Rdiv_lt_0_compat; [|apply pow_lt; lra]. unfold pairs.
  replace 0 with (sum K (fun _ => 0)) by (rewrite sum_const; ring). apply sum_lt; auto.
  intros i _. unfold row. assert (0 <= sum i (fun d => a ^ S d)) by (apply sum_nonneg; intros;
    apply power_range). lra.
Qed.

(* ---- bounds ---- *)

(* Keeping samples never adds noise: no power of a is above 1. *)
Theorem noise_at_most_one_round K : (0 < K)%nat -> stationary_noise a K <= (1 - a) / (1 + a).
Proof.
  intros HK. rewrite noise_of_pairs by auto. pose proof (INR_pos K HK).
  rewrite <- (Rmult_1_r ((1 - a) / (1 + a))) at 2.
  apply Rmult_le_compat_l; [apply Rlt_le, Rdiv_lt_0_compat; lra|].
  apply Rmult_le_reg_r with (INR K ^ 2); [apply pow_lt; lra|]. unfold Rdiv.
  rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by (apply pow_nonzero; lra).
  rewrite <- pairs_are_pairs. apply Rle_trans with (sum K (fun _ => INR K * 1));
    [|rewrite sum_const; right; ring].
  apply sum_le. intros. rewrite <- sum_const. apply sum_le. intros. apply power_range.
Qed.

Lemma total_distance K : 3 * sum K (fun i => sum K (fun j => INR (Nat.max i j - Nat.min i j)))
  = INR K * (INR K ^ 2 - 1).
Proof.
  induction K; [simpl; ring|]. cbn [sum].
  rewrite (sum_ext K (fun i => sum K (fun j => INR (Nat.max i j - Nat.min i j)) + INR (Nat.max i K
    - Nat.min i K))
    (fun i => sum K (fun j => INR (Nat.max i j - Nat.min i j)) + (INR K - INR i)))
    by (intros; f_equal; rewrite <- minus_INR by lia; f_equal; lia).
  rewrite sum_plus. rewrite (sum_ext K (fun j => INR (Nat.max K j - Nat.min K j)) (fun j => INR K
    - INR j)) by (intros; rewrite <- minus_INR by lia; f_equal; lia).
  rewrite Nat.max_id, Nat.min_id, Nat.sub_diag. simpl (INR 0). rewrite sum_minus, sum_const.
  pose proof (sum_INR K) as T.
  change (sum K (fun i => INR i)) with (sum K INR). rewrite S_INR. nra.
Qed.

(* a^x is convex, so the mean of a^|i-j| is at least a to the mean distance. *)
Theorem noise_at_least K : 0 < a -> (0 < K)%nat -> Rpower a (mean_lag K) * ((1 - a) / (1 + a))
  <= stationary_noise a K.
Proof.
  intros Ha HK. rewrite noise_of_pairs by auto. pose proof (INR_pos K HK) as KP. rewrite Rmult_comm.
  apply Rmult_le_compat_l; [apply Rlt_le, Rdiv_lt_0_compat; lra|].
  apply Rmult_le_reg_r with (INR K ^ 2); [apply pow_lt; lra|]. unfold Rdiv.
  rewrite Rmult_assoc, Rinv_l, Rmult_1_r by (apply pow_nonzero; lra).
  set (m := mean_lag K). set (c := Rpower a m). set (l := ln a).
  assert (T : forall d, c * (1 + (INR d - m) * l) <= a ^ d).
  { intros d. rewrite <- Rpower_pow by auto. replace (INR d) with (m + (INR d - m)) at 2 by ring.
    rewrite Rpower_plus. fold c.
    apply Rmult_le_compat_l; [left; apply exp_pos|]. unfold Rpower. fold l.
    pose proof (exp_ineq1_le ((INR d - m) * l)). lra. }
  rewrite <- pairs_are_pairs.
  apply Rle_trans with (sum K (fun i => sum K (fun j => c * (1 + (INR (Nat.max i j - Nat.min i j)
    - m) * l)))).
  - right. rewrite (sum_ext K _ (fun i => c * (1 - m * l) * INR K
      + c * l * sum K (fun j => INR (Nat.max i j - Nat.min i j)))).
    + rewrite sum_plus, sum_const, sum_scal. pose proof (total_distance K) as D.
      replace (sum K (fun i => sum K (fun j => INR (Nat.max i j - Nat.min i j))))
        with (m * INR K ^ 2); [ring|].
      unfold m, mean_lag. apply Rmult_eq_reg_l with 3; [|lra]. rewrite D. field. lra.
    + intros i _. rewrite <- sum_scal. rewrite (sum_ext K (fun j => c * (1 + (INR (Nat.max i j
        - Nat.min i j) - m) * l))
        (fun j => c * (1 - m * l) + c * l * INR (Nat.max i j - Nat.min i j))) by (intros; ring).
        rewrite sum_plus, sum_const. ring.
  - apply sum_le. intros. apply sum_le. intros. apply T.
Qed.

(* ---- a slope: noise times lag ---- *)

(* Behind a slope, less noise is paid for with lag: their product has a floor, whatever K. *)
Theorem noise_times_lag K : (0 < K)%nat -> 1 <= stationary_noise a K * (2 * slope_lag a K - 1).
Proof.
  intros HK. pose proof (INR_pos K HK) as KP. rewrite noise_of_pairs by auto.
  pose proof (pairs_closed a K) as P.
  (* 1 + a^(K-1) >= a^d + a^(K-1-d): pairs from both ends *)
  assert (M : 2 * sum K (fun d => a ^ d) <= INR K * (1 + a ^ (K - 1))).
  { rewrite <- sum_const. apply Rle_trans with (sum K (fun d => a ^ d + a ^ (K - 1 - d))).
    - right. rewrite (sum_plus K (fun d => a ^ d) (fun d => a ^ (K - 1 - d))),
        (sum_reversed K (fun d => a ^ d)). ring.
    - apply sum_le. intros d Hd. replace (a ^ (K - 1)) with (a ^ d * a ^ (K - 1 - d))
        by (rewrite <- pow_add; f_equal; lia).
      pose proof (power_range d). pose proof (power_range (K - 1 - d)). nra. }
  pose proof (geometric a K) as G. assert (AK : a * a ^ (K - 1) = a ^ K) by (destruct K; [lia|];
    simpl; rewrite Nat.sub_0_r; ring).
  unfold slope_lag. apply Rmult_le_reg_r with ((1 + a) * INR K ^ 2 * (1 - a) ^ 2);
    [repeat apply Rmult_lt_0_compat; try apply pow_lt; lra|].
  replace ((1 - a) / (1 + a) * (pairs a K / INR K ^ 2) * (2 * (((1 - a) * (INR K - 1) + 2) / (2
    - 2 * a)) - 1) * ((1 + a) * INR K ^ 2 * (1 - a) ^ 2))
    with (((1 - a) ^ 2 * pairs a K) * ((1 - a) * (INR K - 2) + 2)) by (field; repeat split; lra).
  rewrite P. set (S := sum K (fun d => a ^ d)) in *. set (x := INR K) in *. set (p := a ^ K) in *.
  assert (0 <= a * (x * (1 + a ^ (K - 1)) - 2 * S)) by (apply Rmult_le_pos; lra).
  assert (0 <= (1 - a) * (a * x + x * p - 2 * a * S)) by (apply Rmult_le_pos; [lra|];
    rewrite <- AK; nra).
  assert (2 * a * ((1 - a) * (a * x + x * p - 2 * a * S)) = 2 * a * ((1 - a) * (a * x + x * p)
    - 2 * a * (1 - p))) by (rewrite <- G; ring).
  assert (0 <= 2 * a * ((1 - a) * (a * x + x * p - 2 * a * S))) by (apply Rmult_le_pos; lra). nra.
Qed.

(* Behind a slope K = 1 has, at some step, the same lag as any K and no more noise. *)
Theorem no_retention_is_better K :
  (0 < K)%nat -> exists b, 0 <= b < 1 /\ slope_lag b 1 = slope_lag a K /\ stationary_noise b 1
    <= stationary_noise a K.
Proof.
  intros HK. pose proof (INR_pos K HK) as KP.
  assert (K1 : 1 <= INR K) by (change 1 with (INR 1); apply le_INR; lia).
  set (L := slope_lag a K). assert (HL : 1 <= L).
  { unfold L, slope_lag. apply Rmult_le_reg_r with (2 - 2 * a); [lra|]. unfold Rdiv.
    rewrite Rmult_assoc, Rinv_l by lra. nra. }
  exists (1 - / L). assert (I : 0 < / L <= 1) by (split; [apply Rinv_0_lt_compat;
    lra|rewrite <- Rinv_1; apply Rinv_le_contravar; lra]).
  split; [lra|]. split; [unfold slope_lag; simpl; field; lra|].
  pose proof (noise_times_lag K HK) as N. fold L in N.
  replace (stationary_noise (1 - / L) 1) with (/ (2 * L - 1)).
  - apply Rmult_le_reg_r with (2 * L - 1); [lra|]. rewrite Rinv_l by lra. lra.
  - unfold stationary_noise. simpl. field. repeat split; lra.
Qed.
End Stationary.

(* ---- the best K ---- *)

Section Best.
Variables (directions : nat) (a worth : nat -> R) (total_buffer cost mean_cost : R).
Hypothesis ranges : forall j, 0 <= a j < 1.
Hypothesis worths : forall j, 0 <= worth j.  (* h s^2 / 2 *)
Hypotheses (B0 : 0 < total_buffer) (C0 : 0 < cost) (c0 : 0 < mean_cost).
Let x : R := fill_ratio total_buffer cost mean_cost.
Let floor (K : nat) (rate : R) : R := sum directions (fun j => worth j * stationary_noise (a j) K) /
  rate.

Let best (K : nat) : R := best_rate K total_buffer cost mean_cost.

Lemma floor_nonneg K : (0 < K)%nat -> 0 <= sum directions (fun j => worth j * stationary_noise (a j)
  K).
Proof. intros HK. apply sum_nonneg. intros j _. apply Rmult_le_pos; auto. left.
now apply noise_positive. Qed.

Lemma x_is : x * cost = mean_cost * total_buffer.
Proof. unfold x, fill_ratio. field. lra. Qed.

(* Up to x the money binds: the rate stays, and v falls in K. *)
Lemma up_to_x down K rate : (0 < K <= down)%nat -> INR down <= x -> 0 < rate ->
  mean_cost * rate <= cost -> floor down (best down) <= floor K rate.
Proof.
  intros HK Hx Hr Hc. pose proof (lt_0_INR down ltac:(lia)). pose proof x_is.
  replace (best down) with (cost / mean_cost).
  - unfold floor. apply Rle_trans
      with (sum directions (fun j => worth j * stationary_noise (a j) K) / (cost / mean_cost)).
    + apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, Rdiv_lt_0_compat; lra|].
      apply sum_le. intros j _. apply Rmult_le_compat_l; auto. apply noise_monotone; auto; lia.
    + apply Rmult_le_compat_l; [apply floor_nonneg; lia|]. apply Rinv_le_contravar; auto.
      apply Rmult_le_reg_r with mean_cost; auto.
      replace (cost / mean_cost * mean_cost) with cost by (field; lra). lra.
  - symmetry. apply Rmin_right. apply Rmult_le_reg_r with (mean_cost * INR down); [nra|].
    replace (cost / mean_cost * (mean_cost * INR down)) with (cost * INR down) by (field; lra).
    replace (total_buffer / INR down * (mean_cost * INR down)) with (mean_cost * total_buffer)
      by (field; lra). nra.
Qed.

(* From x on the buffers bind: the floor is K v over them, and K v rises. *)
Lemma from_x_on up K rate : (0 < up <= K)%nat -> x <= INR up -> 0 < rate ->
  INR K * rate <= total_buffer -> floor up (best up) <= floor K rate.
Proof.
  intros HK Hx Hr HB. pose proof (lt_0_INR up ltac:(lia)). pose proof (lt_0_INR K ltac:(lia)).
  pose proof x_is.
  assert (F : forall k, (0 < k)%nat -> floor k (total_buffer / INR k)
    = / total_buffer * sum directions (fun j => worth j * (INR k * stationary_noise (a j) k))).
  { intros k Hk. pose proof (lt_0_INR k Hk). unfold floor.
    rewrite (sum_ext _ (fun j => worth j * (INR k * _)) (fun j =>
      INR k * (worth j * stationary_noise (a j) k))) by (intros; ring).
    rewrite sum_scal. field. lra. }
  replace (best up) with (total_buffer / INR up).
  - apply Rle_trans with (floor K (total_buffer / INR K)).
    + rewrite !F by lia. apply Rmult_le_compat_l; [apply Rlt_le, Rinv_0_lt_compat; lra|].
      apply sum_le. intros j _. apply Rmult_le_compat_l; auto. apply product_monotone; auto; lia.
    + apply Rmult_le_compat_l; [apply floor_nonneg; lia|]. apply Rinv_le_contravar; auto.
      apply Rmult_le_reg_r with (INR K); auto.
      replace (total_buffer / INR K * INR K) with total_buffer by (field; lra). lra.
  - symmetry. apply Rmin_left. apply Rmult_le_reg_r with (mean_cost * INR up); [nra|].
    replace (cost / mean_cost * (mean_cost * INR up)) with (cost * INR up) by (field; lra).
    replace (total_buffer / INR up * (mean_cost * INR up)) with (mean_cost * total_buffer)
      by (field; lra). nra.
Qed.

Lemma best_of_floors (down up K : nat) (rate : R) :
  (0 < down)%nat -> (0 < up)%nat -> (INR down <= x \/ down = 1%nat) -> x < INR down + 1 -> x
    <= INR up -> INR up < x + 1 ->
  (0 < K)%nat -> 0 < rate -> mean_cost * rate <= cost -> INR K * rate <= total_buffer ->
  floor down (best down) <= floor K rate \/ floor up (best up) <= floor K rate.
Proof.
  intros Hd Hu Hdx Hd1 Hux Hu1 HK Hr Hc HB. destruct (Rle_dec (INR K) x) as [A|A].
  - left. assert (D : (K <= down)%nat)
      by (enough (K < down + 1)%nat by lia; apply INR_lt; rewrite plus_INR; simpl; lra).
    apply up_to_x; auto. destruct Hdx as [X|X]; auto. subst down. now replace 1%nat with K by lia.
  - right. apply from_x_on; auto. split; auto.
    enough (up < K + 1)%nat by lia. apply INR_lt. rewrite plus_INR. simpl. lra.
Qed.
End Best.

(* theory's floor of a direction is the stationary noise of its contraction *)
Lemma floor_of_a_direction rate K h variance eta E :
  (0 < K)%nat -> 0 < rate -> 0 <= contraction h eta E < 1 ->
  noise_of_a_direction rate K h variance eta E
  = h * variance / 2 * stationary_noise (contraction h eta E) K / rate.
Proof.
  intros HK Hr Ha. pose proof (lt_0_INR K HK).
  unfold noise_of_a_direction, stationary_noise, contraction in *.
  rewrite pow_mult. set (b := (1 - eta * h) ^ E) in *. field. repeat split; lra.
Qed.

(* Whatever K and rate the budgets allow, one of the two whole numbers next to x has no larger noise
   floor. *)
Theorem best_retention directions (h variance : nat -> R) eta E total_buffer cost mean_cost
  (x := fill_ratio total_buffer cost mean_cost)
  (floor := fun K rate => sum directions (fun j => noise_of_a_direction rate K (h j) (variance j)
    eta E))
  (down up K : nat) rate :
  (forall j, 0 <= h j) -> (forall j, 0 <= variance j) -> (forall j,
    0 <= contraction (h j) eta E < 1) ->
  0 < total_buffer -> 0 < cost -> 0 < mean_cost ->
  (0 < down)%nat -> (0 < up)%nat -> (INR down <= x \/ down = 1%nat) -> x < INR down + 1 -> x
    <= INR up -> INR up < x + 1 ->
  (0 < K)%nat -> 0 < rate -> mean_cost * rate <= cost -> INR K * rate <= total_buffer ->
  floor down (best_rate down total_buffer cost mean_cost) <= floor K rate \/
  floor up (best_rate up total_buffer cost mean_cost) <= floor K rate.
Proof.
  intros Hh Hv Ha HB HC Hc Hd Hu H1 H2 H3 H4 HK Hr H5 H6.
  assert (F : forall k r, (0 < k)%nat -> 0 < r -> floor k r
      = sum directions (fun j => h j * variance j / 2 * stationary_noise (contraction (h j) eta E)
        k) / r).
  { intros k r Hk Hr'. unfold floor. rewrite (sum_ext directions _ (fun j => h j * variance j / 2 *
      stationary_noise (contraction (h j) eta E) k * / r)).
    - now rewrite sum_scal_r.
    - intros j _. now rewrite floor_of_a_direction by auto. }
  assert (BR : forall k, (0 < k)%nat -> 0 < best_rate k total_buffer cost mean_cost).
  { intros k Hk. unfold best_rate. pose proof (lt_0_INR k Hk).
    apply Rmin_glb_lt; now apply Rdiv_lt_0_compat. }
  rewrite !F by auto. apply (best_of_floors directions (fun j => contraction (h j) eta E) (fun j =>
    h j * variance j / 2)); auto.
  intros j. specialize (Hh j). specialize (Hv j). apply Rmult_le_pos; [now apply Rmult_le_pos|lra].
Qed.

(* Behind a slope g no step of K = 1 has a smaller risk than the one that solves this equation, or
   than 1 where the slope is so steep that none does. *)
Theorem best_step_behind_a_slope nu g step other :
  0 < nu -> 0 < step <= 1 -> 0 < other <= 1 ->
  nu * step ^ 3 = g ^ 2 * (2 - step) ^ 2 \/ step = 1 /\ nu <= g ^ 2 ->
  nu * stationary_noise (1 - step) 1 + g ^ 2 * slope_lag (1 - step) 1 ^ 2
  <= nu * stationary_noise (1 - other) 1 + g ^ 2 * slope_lag (1 - other) 1 ^ 2.
Proof.
  intros Hn Hs Ho He.
  assert (V : forall x, 0 < x <= 1 -> stationary_noise (1 - x) 1 = x / (2 - x)) by (intros x Hx;
    unfold stationary_noise; simpl; field; lra).
  assert (L : forall x, 0 < x <= 1 -> slope_lag (1 - x) 1 = / x) by (intros x Hx; unfold slope_lag;
    simpl; field; lra).
  rewrite !V, !L by auto.
  (* tangents at the step *)
  assert (T1 : step / (2 - step) + 2 * (other - step) / (2 - step) ^ 2 <= other / (2 - other)).
  { apply Rmult_le_reg_r with ((2 - step) ^ 2 * (2 - other)); [apply Rmult_lt_0_compat;
      [apply pow_lt; lra|lra]|].
    replace ((step / (2 - step) + 2 * (other - step) / (2 - step) ^ 2) * ((2 - step) ^ 2 * (2
      - other)))
      with (step * (2 - step) * (2 - other) + 2 * (other - step) * (2 - other)) by (field; lra).
    replace (other / (2 - other) * ((2 - step) ^ 2 * (2 - other))) with (other * (2 - step) ^ 2)
      by (field; lra).
    pose proof (pow2_ge_0 (other - step)). nra. }
  assert (T2 : (/ step) ^ 2 - 2 * (other - step) / step ^ 3 <= (/ other) ^ 2).
  { apply Rmult_le_reg_r with (step ^ 3 * other ^ 2); [apply Rmult_lt_0_compat; apply pow_lt; lra|].
    replace (((/ step) ^ 2 - 2 * (other - step) / step ^ 3) * (step ^ 3 * other ^ 2))
      with ((3 * step - 2 * other) * other ^ 2) by (field; lra).
    replace ((/ other) ^ 2 * (step ^ 3 * other ^ 2)) with (step ^ 3) by (field; lra).
    assert (0 <= (other - step) ^ 2 * (2 * other + step)) by (apply Rmult_le_pos;
      [apply pow2_ge_0|lra]). nra. }
  assert (M1 : nu * (step / (2 - step) + 2 * (other - step) / (2 - step) ^ 2) <= nu * (other / (2
    - other))) by (apply Rmult_le_compat_l; lra).
  assert (M2 : g ^ 2 * ((/ step) ^ 2 - 2 * (other - step) / step ^ 3) <= g ^ 2 * (/ other) ^ 2)
    by (apply Rmult_le_compat_l; [apply pow2_ge_0|auto]).
  (* the risk does not fall from the step to the other *)
  assert (Z : g ^ 2 * (2 * (other - step) / step ^ 3)
    <= nu * (2 * (other - step) / (2 - step) ^ 2)).
  { destruct He as [He|[-> Hg]]; [|simpl; nra]. right.
    replace (g ^ 2) with (nu * step ^ 3 / (2 - step) ^ 2) by (rewrite He; field; lra). field. lra. }
  lra.
Qed.
