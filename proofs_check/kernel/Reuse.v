(* Reuse: how often samples have been used, and what follows from these counts alone.

   Rounds are counted from 0, so cohort j of t rounds has been there for t - j of them. A cohort may
   be any amount of samples: `amount j` is what round j admits, and every sum over samples is a sum
   over cohorts with these weights. *)
Require Import Reals Lra Lia Psatz.
From Acdpp Require Import Sums ReuseFormulas.
Open Scope R_scope.

(* A round admits, then trains, then drops what has been used K times: cohort j is trained on in
   rounds j, ..., j+K-1. *)
Definition in_memory (K j round : nat) : bool := (j <=? round)%nat && (round <? j + K)%nat.
Fixpoint uses (K j t : nat) : nat :=
  match t with O => O | S r => uses K j r + (if in_memory K j r then 1 else 0) end%nat.

Lemma uses_counted K j t : uses K j t = Nat.min K (t - j).
Proof.
  induction t; cbn [uses]; [lia|]. rewrite IHt. unfold in_memory.
  destruct (Nat.leb_spec j t), (Nat.ltb_spec t (j + K)); cbn [andb]; lia.
Qed.

(* A cohort's uses, counted round by round, are theory's number for its age: min(K, age). *)
Theorem uses_are_counted K j t :
  (j < t)%nat -> INR (uses K j t) = uses_kstep (INR (t - j)) (INR K).
Proof.
  intros H. rewrite uses_counted. unfold uses_kstep.
  destruct (Nat.le_ge_cases K (t - j)) as [L|L]; pose proof (le_INR _ _ L) as P.
  - now rewrite Nat.min_l, Rmin_left.
  - now rewrite Nat.min_r, Rmin_right.
Qed.

Section Counts.
Variables (t : nat) (amount A : nat -> R).
Hypothesis some : forall j, (j < t)%nat -> 0 <= amount j.

Definition total (f : nat -> R) : R := sum t (fun j => amount j * f j).
Definition size : R := total (fun _ => 1).
Definition first : R := total A.
Definition second : R := total (fun j => A j ^ 2).
(* uniformity: the squared mean over the mean of the squares *)
Definition uniformity : R := (first / size) ^ 2 / (second / size).
(* the variance is taken over N, not N - 1 *)
Definition variance : R := total (fun j => (A j - first / size) ^ 2) / size.
Definition share (j : nat) : R := A j / first.

Lemma total_ext f g : (forall j, (j < t)%nat -> f j = g j) -> total f = total g.
Proof. intros H. apply sum_ext. intros j Hj. now rewrite H. Qed.
Lemma total_plus f g : total (fun j => f j + g j) = total f + total g.
Proof. unfold total. rewrite <- sum_plus. apply sum_ext. intros; ring. Qed.
Lemma total_minus f g : total (fun j => f j - g j) = total f - total g.
Proof. unfold total. rewrite <- sum_minus. apply sum_ext. intros; ring. Qed.
Lemma total_scal c f : total (fun j => c * f j) = c * total f.
Proof. unfold total. rewrite <- sum_scal. apply sum_ext. intros; ring. Qed.
Lemma total_nonneg f : (forall j, (j < t)%nat -> 0 <= f j) -> 0 <= total f.
Proof. intros H. apply sum_nonneg. intros j Hj. apply Rmult_le_pos; auto. Qed.
Lemma total_le f g : (forall j, (j < t)%nat -> f j <= g j) -> total f <= total g.
Proof. intros H. apply sum_le. intros j Hj. apply Rmult_le_compat_l; auto. Qed.
Lemma square_of_the_mean : first ^ 2 <= size * second.
Proof.
  unfold first, second, size, total. pose proof (cauchy t amount A some) as H.
  replace (sum t (fun j => amount j * 1)) with (sum t amount) by (apply sum_ext; intros; ring).
  exact H.
Qed.

(* The uniformity as the paper defines it, by mean and variance, is that of the two sums. *)
Theorem uniformity_by_variance :
  0 < size -> 0 < first ->
  (first / size) ^ 2 / ((first / size) ^ 2 + variance) = uniformity /\ uniformity
    = first ^ 2 / (size * second).
Proof.
  intros HN HF. pose proof square_of_the_mean as C.
  assert (HS : 0 < second) by nra.
  assert (V : variance = second / size - (first / size) ^ 2).
  { unfold variance. set (m := first / size).
    replace (total (fun j => (A j - m) ^ 2)) with (second - 2 * m * first + m ^ 2 * size).
    - unfold m. field. lra.
    - unfold second. change first with (total A). unfold size.
      rewrite <- !total_scal, <- total_minus, <- total_plus.
      apply total_ext. intros; ring. }
  rewrite V. unfold uniformity. split; [|field; lra].
  replace ((first / size) ^ 2 + (second / size - (first / size) ^ 2)) with (second / size) by ring.
  reflexivity.
Qed.

(* The uniformity lies in (0, 1]. *)
Theorem uniformity_range : 0 < size -> 0 < first -> 0 < uniformity <= 1.
Proof.
  intros HN HF. pose proof square_of_the_mean as C. assert (HS : 0 < second) by nra.
  destruct uniformity_by_variance as [_ ->]; auto.
  split; [apply Rdiv_lt_0_compat; nra|].
  apply Rmult_le_reg_r with (size * second); [nra|]. field_simplify; [lra|split; lra].
Qed.

(* Effective size: N times the uniformity, Kish's one over the sum of squared shares, at most N. *)
Theorem effective_size :
  0 < size -> 0 < first ->
  size * uniformity = effective_from_sums first second /\
  total (fun j => share j ^ 2) = / effective_from_sums first second /\
  effective_from_sums first second <= size.
Proof.
  intros HN HF. pose proof square_of_the_mean as C. assert (HS : 0 < second) by nra.
  destruct uniformity_by_variance as [_ U]; auto. unfold effective_from_sums. repeat split.
  - rewrite U. field. lra.
  - unfold share. rewrite (total_ext _ (fun j => / first ^ 2 * A j ^ 2)) by (intros; field; lra).
    rewrite total_scal. fold second. field. lra.
  - apply Rmult_le_reg_r with second; [auto|]. field_simplify; lra.
Qed.

(* Where samples are whole the effective size is at least 1. *)
Theorem effective_at_least_one :
  (forall j, (j < t)%nat -> 0 <= A j) -> (forall j,
    (j < t)%nat -> amount j = 0 \/ 1 <= amount j) -> 0 < first ->
  1 <= effective_from_sums first second.
Proof.
  intros HA HW HF. unfold effective_from_sums.
  assert (E : second <= first ^ 2).
  { assert (P : forall j, (j < t)%nat -> amount j * A j <= first).
    { intros j Hj. unfold first, total. clear HF. revert HA some Hj. generalize t.
      intros n HA0 H0 Hj.
      induction n; [lia|]. simpl. assert (0 <= sum n (fun i => amount i * A i))
        by (apply sum_nonneg; intros; apply Rmult_le_pos; auto).
      destruct (Nat.eq_dec j n) as [->|]; [lra|].
      assert (0 <= amount n * A n) by (apply Rmult_le_pos; auto).
      assert (amount j * A j <= sum n (fun i => amount i * A i)) by (apply IHn; auto; lia). lra. }
    unfold second. simpl (first ^ 2). rewrite Rmult_1_r. change first with (total A) at 1.
    rewrite Rmult_comm, <- total_scal. apply sum_le. intros j Hj. specialize (P j Hj).
    specialize (HA j Hj).
    destruct (HW j Hj) as [Z|Z]; [rewrite Z; lra|]. assert (A j <= amount j * A j) by nra. nra. }
  assert (0 < second).
  { pose proof square_of_the_mean. assert (0 <= second) by (apply total_nonneg; intros;
      apply pow2_ge_0).
    assert (0 <= size) by (apply total_nonneg; intros; lra). nra. }
  apply Rmult_le_reg_r with second; [auto|]. field_simplify; lra.
Qed.
End Counts.

(* ---- K-step retention, any admissions ---- *)

Section Kstep.
Variables (K t : nat) (amount : nat -> R).
Hypothesis kept : (0 < K)%nat.
Hypothesis some : forall j, (j < t)%nat -> 0 <= amount j.

Definition counts (j : nat) : R := INR (uses K j t).
(* the deficits as theory adds them up: over the ages of what is in memory, the newest first *)
Definition newest (f : R -> R -> R) : R :=
  sum (Nat.min K t) (fun i => f (INR (i + 1)) (INR K) * amount (t - 1 - i)%nat).

(* Older cohorts lack nothing, so that the sum over the memory is a sum over all. *)
Lemma newest_all f :
  (forall age, (K <= age)%nat -> f (INR age) (INR K) = 0) ->
  newest f = sum t (fun j => f (INR (t - j)) (INR K) * amount j).
Proof.
  intros H. set (g := fun i => f (INR (i + 1)) (INR K) * amount (t - 1 - i)%nat).
  replace (sum t (fun j => f (INR (t - j)) (INR K) * amount j)) with (sum t g).
  - unfold newest. fold g. replace (sum t g) with (sum (Nat.min K t + (t - Nat.min K t)) g)
      by (f_equal; lia).
    rewrite sum_split. rewrite (sum_ext (t - Nat.min K t) _ (fun _ => 0)); [rewrite sum_const;
      ring|].
    intros i Hi. unfold g. rewrite H by lia. ring.
  - rewrite <- (sum_reversed t g). apply sum_ext. intros j Hj. unfold g.
    f_equal; f_equal; f_equal; lia.
Qed.

Lemma uses_late age : (K <= age)%nat -> uses_kstep (INR age) (INR K) = INR K.
Proof. intros H. unfold uses_kstep. now apply Rmin_left, le_INR. Qed.

(* K N less the first deficit is the sum of all uses. *)
Theorem first_by_deficit :
  first t amount counts = INR K * size t amount - newest first_deficit.
Proof.
  rewrite newest_all.
  - unfold first, size, total. rewrite <- sum_scal, <- sum_minus. apply sum_ext. intros j Hj.
    unfold counts. rewrite uses_are_counted by auto. unfold first_deficit, uses_kstep. ring.
  - intros age H. unfold first_deficit. fold (uses_kstep (INR age) (INR K)).
    rewrite uses_late; auto. ring.
Qed.

(* K^2 N less the second deficit is the sum of the squares of all uses. *)
Theorem second_by_deficit :
  second t amount counts = INR K ^ 2 * size t amount - newest second_deficit.
Proof.
  rewrite newest_all.
  - unfold second, size, total. rewrite <- sum_scal, <- sum_minus. apply sum_ext. intros j Hj.
    unfold counts. rewrite uses_are_counted by auto. unfold second_deficit, uses_kstep. ring.
  - intros age H. unfold second_deficit. fold (uses_kstep (INR age) (INR K)).
    rewrite uses_late; auto. ring.
Qed.

Lemma counts_one j : (j < t)%nat -> 1 <= counts j.
Proof. intros H. unfold counts. rewrite uses_counted. change 1 with (INR 1). apply le_INR. lia. Qed.

Lemma first_above_size : size t amount <= first t amount counts.
Proof. apply total_le; auto. intros j Hj. now apply counts_one. Qed.

(* The uniformity by the two boundary deficits, as printed, is exact in every round. *)
Theorem uniformity_by_deficits :
  0 < size t amount ->
  uniformity t amount counts
  = uniformity_from_deficits (size t amount) (newest first_deficit) (newest second_deficit) (INR K).
Proof.
  intros HN. assert (0 < first t amount counts) by (pose proof first_above_size; lra).
  destruct (uniformity_by_variance t amount counts some) as [_ ->]; auto.
  unfold uniformity_from_deficits. rewrite first_by_deficit, second_by_deficit. do 3 f_equal. ring.
Qed.

(* Mismatch: the squared distance between the shares of use and equal shares of the memory. *)
Definition held (j : nat) : R := if (t - j <=? K)%nat then 1 else 0.
Definition occupancy : R := total t amount held.
Definition used_in_memory : R := total t amount (fun j => counts j * held j).
Definition mismatch : R :=
  total t amount (fun j => (share t amount counts j - held j / occupancy) ^ 2).

Lemma held_square j : held j * held j = held j.
Proof. unfold held. destruct (t - j <=? K)%nat; ring. Qed.

(* The mismatch, a sum of squared differences of shares, is theory's formula in the sums of uses. *)
Theorem mismatch_by_sums :
  0 < occupancy ->
  mismatch = mismatch_from_sums occupancy (first t amount counts) (second t amount counts)
    used_in_memory.
Proof.
  intros Hn. assert (HF : 0 < first t amount counts).
  { pose proof first_above_size. assert (occupancy <= size t amount); [|lra].
    apply total_le; auto. intros j _. unfold held. destruct (t - j <=? K)%nat; lra. }
  unfold mismatch, mismatch_from_sums, share. set (F := first t amount counts) in *.
  set (n := occupancy) in *.
  rewrite (total_ext t amount _ (fun j => / n ^ 2 * held j + / F ^ 2 * counts j ^ 2
    - 2 / (F * n) * (counts j * held j))).
  - rewrite total_minus, total_plus, !total_scal.
    fold occupancy used_in_memory (second t amount counts).
    fold n. field. lra.
  - intros j _. replace (held j) with (held j * held j) at 2 by apply held_square. field. lra.
Qed.

(* What is gone was used K times, more than the memory on average: so the mismatch is at least 1/n -
   1/N_eff. *)
Theorem mismatch_at_least_printed :
  0 < occupancy ->
  / occupancy - / effective_from_sums (first t amount counts) (second t amount counts) <= mismatch.
Proof.
  intros Hn. rewrite mismatch_by_sums by auto. unfold mismatch_from_sums, effective_from_sums.
  set (n := occupancy) in *. set (F := first t amount counts). set (Q := second t amount counts).
  set (W := used_in_memory). set (gone := size t amount - n).
  assert (O : n <= size t amount) by (apply total_le; auto; intros j _; unfold held;
    destruct (t - j <=? K)%nat; lra).
  assert (K1 : forall j, counts j * (1 - held j) = INR K * (1 - held j)).
  { intros j. unfold counts, held. rewrite uses_counted. destruct (Nat.leb_spec (t - j) K); [ring|].
    rewrite Nat.min_l by lia. ring. }
  assert (HF : F = W + INR K * gone).
  { unfold F, first. unfold W, used_in_memory, gone, n, occupancy, size.
    rewrite <- total_minus, <- total_scal, <- total_plus.
    apply total_ext. intros j _. rewrite <- K1. ring. }
  set (QQ := total t amount (fun j => counts j ^ 2 * held j)).
  assert (HQ : Q = QQ + INR K ^ 2 * gone).
  { unfold Q, second, QQ, gone, n, occupancy, size.
    rewrite <- total_minus, <- total_scal, <- total_plus.
    apply total_ext. intros j _. specialize (K1 j).
    transitivity (counts j ^ 2 * held j + counts j * (counts j * (1 - held j))); [ring|].
    rewrite K1. transitivity (counts j ^ 2 * held j + INR K * (counts j * (1 - held j))); [ring|].
    rewrite K1. ring. }
  assert (C : W ^ 2 <= n * QQ).
  { pose proof (cauchy t (fun j => amount j * held j) counts) as C.
    unfold W, used_in_memory, QQ, n, occupancy, total.
    replace (sum t (fun j => amount j * (counts j * held j)))
      with (sum t (fun i => amount i * held i * counts i)) by (apply sum_ext; intros; ring).
    replace (sum t (fun j => amount j * (counts j ^ 2 * held j)))
      with (sum t (fun i => amount i * held i * counts i ^ 2)) by (apply sum_ext; intros; ring).
    apply C. intros j Hj. apply Rmult_le_pos; auto. unfold held. destruct (t - j <=? K)%nat; lra. }
  assert (L : W <= INR K * n).
  { unfold W, used_in_memory, n, occupancy. rewrite <- total_scal. apply total_le; auto. intros j _.
    apply Rmult_le_compat_r; [unfold held; destruct (t - j <=? K)%nat; lra|]. unfold counts.
    rewrite uses_counted. apply le_INR. lia. }
  assert (F0 : 0 < F) by (pose proof first_above_size; unfold F; lra).
  assert (KK : 0 < INR K) by now apply lt_0_INR.
  assert (G : 0 <= gone) by (unfold gone; lra).
  assert (Q0 : 0 < Q). { pose proof (square_of_the_mean t amount counts some). fold F Q in H. nra. }
  (* all that is left: W F <= n Q *)
  assert (E : W * F <= n * Q). { rewrite HF, HQ.
  assert (gone * W <= gone * (INR K * n)) by (apply Rmult_le_compat_l; auto). nra. }
  assert (I : / (F ^ 2 / Q) = Q / F ^ 2) by (field; split; lra). rewrite I.
  apply Rmult_le_reg_r with (n * F ^ 2); [apply Rmult_lt_0_compat; nra|].
  field_simplify; [|lra|lra]. nra.
Qed.
End Kstep.

(* ---- constant admission ---- *)

Lemma Rmin_INR a b : Rmin (INR a) (INR b) = INR (Nat.min a b).
Proof.
  destruct (Nat.le_ge_cases a b) as [L|L]; pose proof (le_INR _ _ L).
  - now rewrite Nat.min_l, Rmin_left.
  - now rewrite Nat.min_r, Rmin_right.
Qed.

(* While the memory fills up k is the round, after that it is K: one more round either way. *)
Lemma first_uses K t (k := INR (Nat.min K t)) :
  2 * sum t (fun i => INR (Nat.min K (i + 1))) = 2 * k * INR t - k * (k - 1).
Proof.
  subst k. induction t; [rewrite Nat.min_0_r; simpl; ring|].
  cbn [sum]. rewrite Rmult_plus_distr_l, IHt, S_INR. destruct (Nat.lt_ge_cases t K).
  - rewrite !Nat.min_r by lia. rewrite plus_INR, !S_INR. simpl (INR 0). ring.
  - rewrite !Nat.min_l by lia. ring.
Qed.

Lemma second_uses K t (k := INR (Nat.min K t)) :
  6 * sum t (fun i => INR (Nat.min K (i + 1)) ^ 2) = 6 * k ^ 2 * INR t - k * (k - 1) * (4 * k + 1).
Proof.
  subst k. induction t; [rewrite Nat.min_0_r; simpl; ring|].
  cbn [sum]. rewrite Rmult_plus_distr_l, IHt, S_INR. destruct (Nat.lt_ge_cases t K).
  - rewrite !Nat.min_r by lia. rewrite plus_INR, !S_INR. simpl (INR 0). ring.
  - rewrite !Nat.min_l by lia. ring.
Qed.

Section Constant.
Variables (K t : nat) (rate : R).
Hypothesis (kept : (0 < K)%nat) (begun : (0 < t)%nat) (admitted : 0 < rate).
Let amount (_ : nat) : R := rate.
Let k : R := INR (Nat.min K t).
Let T : R := INR t.

Lemma k_range : 1 <= k <= T.
Proof. unfold k, T. split; [change 1 with (INR 1)|]; apply le_INR; lia. Qed.

Lemma by_age (f : nat -> R) : total t amount (fun j => f (t - j)%nat) = rate * sum t (fun i => f (i
  + 1)%nat).
Proof.
  unfold total, amount. rewrite sum_scal. f_equal.
  rewrite <- (sum_reversed t (fun i => f (i + 1)%nat)).
  apply sum_ext. intros j Hj. f_equal. lia.
Qed.

Lemma constant_size : size t amount = rate * T.
Proof. unfold size. rewrite (by_age (fun _ => 1)), sum_const. fold T. ring. Qed.

Lemma constant_first : first t amount (counts K t) = rate * (2 * k * T - k * (k - 1)) / 2.
Proof.
  unfold first. rewrite (total_ext _ _ _ (fun j => INR (Nat.min K (t - j)))) by (intros;
    unfold counts; now rewrite uses_counted).
  rewrite (by_age (fun a => INR (Nat.min K a))). pose proof (first_uses K t) as H. cbv zeta in H.
  fold k T in H. nra.
Qed.

Lemma constant_second : second t amount (counts K t) = rate * (6 * k ^ 2 * T - k * (k - 1) * (4 * k
  + 1)) / 6.
Proof.
  unfold second. rewrite (total_ext _ _ _ (fun j => INR (Nat.min K (t - j)) ^ 2)) by (intros;
    unfold counts; now rewrite uses_counted).
  rewrite (by_age (fun a => INR (Nat.min K a) ^ 2)). pose proof (second_uses K t) as H.
  cbv zeta in H. fold k T in H. nra.
Qed.

(* Ages up to K, each with as many samples: k of them. *)
Lemma young (f : nat -> R) :
  total t amount (fun j => f (t - j)%nat * held K t j) = rate * sum (Nat.min K t) (fun i => f (i
    + 1)%nat).
Proof.
  unfold held. rewrite (by_age (fun a => f a * (if (a <=? K)%nat then 1 else 0))). f_equal.
  replace t with (Nat.min K t + (t - Nat.min K t))%nat at 1 by lia. rewrite sum_split.
  rewrite (sum_ext (t - Nat.min K t) _ (fun _ => 0)).
  - rewrite sum_const, Rmult_0_r, Rplus_0_r. apply sum_ext. intros i Hi.
    destruct (Nat.leb_spec (i + 1) K); [ring|lia].
  - intros i Hi. destruct (Nat.leb_spec (Nat.min K t + i + 1) K); [lia|ring].
Qed.

(* The memory of a round holds the last K cohorts, or as many as there are. *)
Theorem constant_occupancy : occupancy K t amount = occupancy_constant (INR K) (INR t) rate.
Proof.
  unfold occupancy, occupancy_constant. rewrite (total_ext _ _ _ (fun j => 1 * held K t j))
    by (intros; ring).
  rewrite (young (fun _ => 1)), sum_const, Rmin_INR. ring.
Qed.

Lemma constant_occupancy_k : occupancy K t amount = rate * k.
Proof. rewrite constant_occupancy. unfold occupancy_constant. now rewrite Rmin_INR. Qed.

Lemma constant_used_in_memory : used_in_memory K t amount = rate * k * (k + 1) / 2.
Proof.
  unfold used_in_memory. rewrite (total_ext _ _ _ (fun j => INR (Nat.min K (t - j)) * held K t j))
    by (intros; unfold counts; now rewrite uses_counted).
  rewrite (young (fun a => INR (Nat.min K a))). pose proof (first_uses K (Nat.min K t)) as H.
  cbv zeta in H.
  replace (Nat.min K (Nat.min K t)) with (Nat.min K t) in H by lia. fold k in H. nra.
Qed.

Lemma amounts j : (j < t)%nat -> 0 <= amount j.
Proof. unfold amount. intros; lra. Qed.

Ltac signs := pose proof k_range; assert (0 < rate * T) by (apply Rmult_lt_0_compat; lra);
  assert (0 < 2 * T - k + 1) by lra; assert (0 < 6 * k * T - (k - 1) * (4 * k + 1)) by nra.

(* The uniformity under constant admission, by theory's corrected closed form: exact in every round.
   *)
Theorem uniformity_closed : uniformity t amount (counts K t) = uniformity_constant (INR K) (INR t).
Proof.
  signs. assert (HF : 0 < first t amount (counts K t)) by (rewrite constant_first; nra).
  destruct (uniformity_by_variance t amount (counts K t) amounts) as [_ ->];
    [rewrite constant_size; auto|auto|].
  rewrite constant_size, constant_first, constant_second. unfold uniformity_constant.
  rewrite Rmin_INR. fold k T.
  field. repeat split; try lra; nra.
Qed.

(* One over the effective size under constant admission: theory's closed form, in every round. *)
Theorem effective_closed :
  / effective_from_sums (first t amount (counts K t)) (second t amount (counts K t))
  = inverse_effective_constant (INR K) (INR t) rate.
Proof.
  signs. unfold effective_from_sums, inverse_effective_constant.
  rewrite constant_first, constant_second, Rmin_INR. fold k T.
  field. repeat split; try lra; nra.
Qed.

(* The mismatch under constant admission: theory's closed form, in every round. *)
Theorem mismatch_closed : mismatch K t amount = mismatch_constant (INR K) (INR t) rate.
Proof.
  signs. rewrite mismatch_by_sums; [|exact kept|exact amounts|rewrite constant_occupancy_k; nra].
  unfold mismatch_from_sums, mismatch_constant.
  rewrite constant_occupancy_k, constant_used_in_memory, constant_first, constant_second, Rmin_INR.
  fold k T.
  field. repeat split; try lra; nra.
Qed.

(* The printed closed form: in a full memory its inverse exceeds the true one by this, which is 0
   for K = 1 alone. *)
Theorem printed_uniformity_is_off :
  (K <= t)%nat ->
  / uniformity_constant_as_stated (INR K) (INR t) - / uniformity t amount (counts K t)
  = 4 * INR t * (INR K ^ 2 - 1) / (3 * INR K * (2 * INR t - INR K + 1) ^ 2).
Proof.
  intros L. signs. rewrite uniformity_closed.
  unfold uniformity_constant_as_stated, uniformity_constant.
  assert (E : INR K = k) by (unfold k; now rewrite Nat.min_l). rewrite Rmin_INR. fold k T.
  rewrite E.
  field. repeat split; try lra; nra.
Qed.

(* For K > 1 and a full memory the printed form is strictly too small. *)
Theorem printed_uniformity_is_false :
  (2 <= K <= t)%nat -> uniformity_constant_as_stated (INR K) (INR t) < uniformity t amount (counts K
    t).
Proof.
  intros [L2 L]. signs. rewrite uniformity_closed.
  unfold uniformity_constant_as_stated, uniformity_constant.
  assert (E : INR K = k) by (unfold k; now rewrite Nat.min_l). rewrite Rmin_INR. fold k T.
  rewrite E.
  assert (2 <= k) by (rewrite <- E; change 2 with (INR 2); apply le_INR; lia).
  assert (P : 0 < 6 * T * k ^ 2 - (4 * k + 1) * (k - 1) * k) by nra.
  assert (Q : 6 * T * k ^ 2 - (4 * k + 1) * (k - 1) * k < 6 * T * k ^ 2 - k * (k - 1) * (2 * k
    - 1)) by nra.
  replace (2 * k * T - k * (k - 1)) with (2 * T * k - (k - 1) * k) by ring.
  replace (6 * k * T - 3 * k * (k - 1)) with (6 * T * k - 3 * (k - 1) * k) by ring.
  apply Rmult_lt_compat_l; [|apply Rinv_lt_contravar;
    [apply Rmult_lt_0_compat; apply Rmult_lt_0_compat; lra|apply Rmult_lt_compat_l; lra]].
  replace ((2 * T * k - (k - 1) * k) * (6 * T * k - 3 * (k - 1) * k)) with (3 * (k * (2 * T - k
    + 1)) ^ 2) by ring.
  apply Rmult_lt_0_compat; [lra|]. apply pow_lt. nra.
Qed.

(* What the printed closed form divides by is K times a whole number less 1: for K > 1 no multiple
   of K, and so not 0. *)
Theorem printed_uniformity_is_defined : 6 * INR K * INR t <> (INR K - 1) * (2 * INR K - 1).
Proof.
  intros E. destruct (Nat.eq_dec K 1) as [->|N1].
  - simpl in E. assert (0 < INR t) by (apply lt_0_INR; lia). lra.
  - assert (E2 : (6 * K * t + 3 * K = 2 * K * K + 1)%nat).
    { apply INR_eq. rewrite !plus_INR, !mult_INR. simpl (INR 1).
      replace (INR 6) with 6 by (simpl; ring). replace (INR 3) with 3 by (simpl; ring).
      replace (INR 2) with 2 by (simpl; ring). lra. }
    assert (K * (6 * t + 3 - 2 * K) = 1)%nat by nia. nia.
Qed.

(* Where the printed closed form vanishes, and where it is negative. *)
Theorem printed_uniformity_sign :
  (uniformity_constant_as_stated (INR K) (INR t) = 0 <-> 2 * INR t = INR K - 1) /\
  (uniformity_constant_as_stated (INR K) (INR t) < 0 <-> 6 * INR K * INR t < (INR K
    - 1) * (2 * INR K - 1)).
Proof.
  signs. assert (HK : 1 <= INR K) by (change 1 with (INR 1); apply le_INR; lia). fold T.
  set (x := INR K) in *.
  pose proof printed_uniformity_is_defined as D. fold T x in D.
  assert (F : uniformity_constant_as_stated x T = 3 * (x * (2 * T - x
    + 1)) ^ 2 / (2 * T * (x * (6 * x * T - (x - 1) * (2 * x - 1))))).
  { unfold uniformity_constant_as_stated. field. repeat split; try lra; nra. }
  rewrite F. set (den := 6 * x * T - (x - 1) * (2 * x - 1)) in *.
  assert (den <> 0) by (unfold den; lra).
  set (num := 2 * T - x + 1). assert (0 < T) by lra.
  assert (S : forall z, z = 3 * (x * num) ^ 2 / (2 * T * (x * den)) -> z * den
    = 3 * x * num ^ 2 / (2 * T)) by (intros z ->; field; repeat split; lra).
  specialize (S _ eq_refl). set (z := 3 * (x * num) ^ 2 / (2 * T * (x * den))) in *.
  assert (P : 0 <= num ^ 2) by apply pow2_ge_0.
  assert (c : 0 < 3 * x / (2 * T)) by (apply Rdiv_lt_0_compat; lra).
  replace (3 * x * num ^ 2 / (2 * T)) with (3 * x / (2 * T) * num ^ 2) in S by (field; lra).
  assert (N0 : num ^ 2 = 0 -> num = 0) by (intros; nra).
  split; split; intros given.
  - assert (Z : num = 0) by (apply N0; nra). unfold num in Z; lra.
  - assert (Z : num = 0) by (unfold num; lra). rewrite Z in S.
    assert (z * den = 0) by (rewrite S; ring). nra.
  - destruct (Rtotal_order den 0) as [L|[L|L]]; [unfold den in L; lra|lra|]. exfalso. nra.
  - assert (L : den < 0) by (unfold den; lra).
    assert (num <> 0). { intros Z. unfold num, den in *. assert (E : T = (x - 1) / 2) by lra.
    rewrite E in L. nra. }
    assert (0 < num ^ 2) by nra. nra.
Qed.
End Constant.
