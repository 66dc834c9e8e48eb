(* Finite sums over the real numbers: sum n f is f 0 + ... + f (n-1). *)
Require Import Reals Lra Lia Psatz.
Open Scope R_scope.

Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S m => sum m f + f m end.

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof. induction n; simpl; intros H; [easy|]. rewrite IHn, H; auto. Qed.

Lemma sum_plus n f g : sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n; simpl; lra. Qed.

Lemma sum_minus n f g : sum n (fun i => f i - g i) = sum n f - sum n g.
Proof. induction n; simpl; lra. Qed.

Lemma sum_scal n c f : sum n (fun i => c * f i) = c * sum n f.
Proof. induction n; simpl; lra. Qed.

Lemma sum_scal_r n c f : sum n (fun i => f i * c) = sum n f * c.
Proof. induction n; simpl; lra. Qed.

Lemma sum_const n c : sum n (fun _ => c) = INR n * c.
Proof. induction n; [simpl; lra|]. rewrite S_INR. simpl. lra. Qed.

Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n; simpl; intros H; [lra|].
  apply Rplus_le_compat; auto.
Qed.

Lemma sum_nonneg n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum n f.
Proof. intros H. replace 0 with (sum n (fun _ => 0)) by (rewrite sum_const; ring).
now apply sum_le. Qed.

Lemma sum_lt n f g :
  (0 < n)%nat -> (forall i, (i < n)%nat -> f i < g i) -> sum n f < sum n g.
Proof.
  destruct n; [lia|]. intros _ H. simpl. apply Rplus_le_lt_compat; auto.
  apply sum_le. intros; left; auto.
Qed.

Lemma sum_split n m f : sum (n + m) f = sum n f + sum m (fun i => f (n + i)%nat).
Proof.
  induction m; simpl; [rewrite Nat.add_0_r; lra|].
  rewrite Nat.add_succ_r. simpl. rewrite IHm. lra.
Qed.

Lemma sum_head n f : sum (S n) f = f 0%nat + sum n (fun i => f (S i)).
Proof. induction n; simpl in *; lra. Qed.

(* The same terms from the last to the first. *)
Lemma sum_reversed n f : sum n (fun i => f (n - 1 - i)%nat) = sum n f.
Proof.
  induction n; [easy|]. rewrite sum_head. cbn [sum]. rewrite <- IHn.
  replace (S n - 1 - 0)%nat with n by lia. rewrite Rplus_comm. f_equal.
  apply sum_ext. intros i Hi. f_equal. lia.
Qed.

Lemma sum_swap n m (f : nat -> nat -> R) :
  sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n; simpl; [rewrite sum_const; ring|]. now rewrite IHn, sum_plus.
Qed.

(* What is added from round to round adds up to what there is in the end. *)
Lemma telescope n (z : nat -> R) : sum n (fun i => z (S i) - z i) = z n - z O.
Proof. induction n; simpl; lra. Qed.

Lemma sum_INR n : 2 * sum n INR = INR n * (INR n - 1).
Proof. induction n; [simpl; ring|]. cbn [sum]. rewrite S_INR. lra. Qed.

Lemma geometric x n : (1 - x) * sum n (fun i => x ^ i) = 1 - x ^ n.
Proof. induction n; simpl; [ring|]. rewrite Rmult_plus_distr_l, IHn. ring. Qed.

Lemma geometric_tail x n : (1 - x) * sum n (fun i => x ^ S i) = x * (1 - x ^ n).
Proof.
  rewrite (sum_ext n (fun i => x ^ S i) (fun i => x * x ^ i)) by (intros; simpl; ring).
  rewrite (sum_scal n x (fun i => x ^ i)).
  transitivity (x * ((1 - x) * sum n (fun i => x ^ i))); [ring|now rewrite geometric].
Qed.

Lemma pow_range x d : 0 <= x <= 1 -> 0 <= x ^ d <= 1.
Proof. split; [apply pow_le; lra|]. rewrite <- (pow1 d). apply pow_incr. lra. Qed.

(* Powers fall: a later one is at most the mean of those before it. *)
Lemma power_below_the_sum x n m :
  0 <= x <= 1 -> (n <= m)%nat -> INR n * x ^ m <= sum n (fun i => x ^ i).
Proof.
  intros Hx H. rewrite <- sum_const. apply sum_le. intros i Hi.
  replace m with (i + (m - i))%nat by lia. rewrite pow_add.
  pose proof (pow_range x i Hx). pose proof (pow_range x (m - i) Hx). nra.
Qed.

(* Weighted squares: none is below 0, so that of the mean is at most the mean of the squares. *)
Lemma cauchy n (w x : nat -> R) :
  (forall i, (i < n)%nat -> 0 <= w i) ->
  (sum n (fun i => w i * x i)) ^ 2 <= sum n w * sum n (fun i => w i * x i ^ 2).
Proof.
  intros Hw. set (W := sum n w). set (M := sum n (fun i => w i * x i)).
  set (Q := sum n (fun i => w i * x i ^ 2)).
  assert (HW : 0 <= W) by now apply sum_nonneg.
  assert (E : forall c, 0 <= Q - 2 * c * M + c * c * W).
  { intros c. replace (Q - 2 * c * M + c * c * W) with (sum n (fun i => w i * (x i - c) ^ 2)).
    - apply sum_nonneg. intros i Hi. apply Rmult_le_pos; [auto|apply pow2_ge_0].
    - unfold Q, M, W. rewrite <- !sum_scal, <- sum_minus, <- sum_plus. apply sum_ext. intros; ring.
      }
  destruct (Req_dec W 0) as [Z|Z].
  - rewrite Z. destruct (Req_dec M 0) as [Y|Y]; [rewrite Y; lra|].
    specialize (E ((Q + 1) / (2 * M))). rewrite Z in E.
    replace (2 * ((Q + 1) / (2 * M)) * M) with (Q + 1) in E by (field; auto). lra.
  - specialize (E (M / W)).
    replace (Q - 2 * (M / W) * M + M / W * (M / W) * W) with ((Q * W - M ^ 2) / W) in E by (field;
      auto).
    assert (0 < W) by lra. apply Rmult_le_compat_r with (r := W) in E; [|lra].
    replace ((Q * W - M ^ 2) / W * W) with (Q * W - M ^ 2) in E by (field; auto). lra.
Qed.
