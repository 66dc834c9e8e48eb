(* Buying: what a debt can reach, what savings pay for, and how a full memory is used. *)
Require Import Reals Lra Lia Psatz.
From Acdpp Require Import Sums Mean BuyingFormulas.
Open Scope R_scope.

(* ---- the debt of a rule that buys only where Z c < V w ---- *)

Section Debt.
Variables (V worth places C low high : R).
Hypotheses (V0 : 0 < V) (w0 : 0 < worth) (S0 : 0 < places) (low0 : 0 < low).
Variables (price bought debt : nat -> R).
Hypothesis prices : forall t, low <= price t <= high.
Hypothesis amounts : forall t, 0 <= bought t <= places.
Hypothesis rule : forall t, bought t = 0 \/ debt t * price t < V * worth.
Hypothesis updated : forall t, debt (S t) = debt_update (debt t) (price t) (bought t) C.
Hypothesis C0 : 0 < C.

(* V w / c + S c is convex in c, so that it is largest at an end. *)
Lemma largest_at_an_end c : low <= c <= high ->
  V * worth / c + places * c <= V * worth / low + places * low \/ V * worth / c + places * c <= V * worth / high + places * high.
Proof.
  intros Hc. set (a := V * worth). assert (a0 : 0 < a) by (unfold a; nra). destruct (Rle_dec (places * (c * low)) a) as [L|L].
  - left. apply Rmult_le_reg_r with (c * low); [nra|].
    replace ((a / c + places * c) * (c * low)) with (a * low + places * c * (c * low)) by (field; lra).
    replace ((a / low + places * low) * (c * low)) with (a * c + places * low * (c * low)) by (field; lra). nra.
  - right. apply Rmult_le_reg_r with (c * high); [nra|].
    replace ((a / c + places * c) * (c * high)) with (a * high + places * c * (c * high)) by (field; lra).
    replace ((a / high + places * high) * (c * high)) with (a * c + places * high * (c * high)) by (field; lra).
    assert (a < places * (c * high)) by (apply Rlt_le_trans with (places * (c * low)); [lra|apply Rmult_le_compat_l; nra]). nra.
Qed.

(* A debt that begins below the ceiling stays below it, at any prices in the interval. *)
Theorem debt_never_exceeds_the_ceiling t : debt O <= debt_ceiling V worth places C low high -> debt t <= debt_ceiling V worth places C low high.
Proof.
  intros H0. induction t; auto. rewrite updated. unfold debt_update. apply Rmax_lub; [apply Rmax_l|].
  specialize (prices t). specialize (amounts t). destruct (rule t) as [Z|Z]; [rewrite Z; lra|].
  set (c := price t) in *. assert (c0 : 0 < c) by lra.
  assert (B : debt t < V * worth / c) by (apply Rmult_lt_reg_r with c; auto; replace (V * worth / c * c) with (V * worth) by (field; lra); lra).
  assert (X : bought t * c <= places * c) by (apply Rmult_le_compat_r; lra).
  unfold debt_ceiling. eapply Rle_trans; [|apply Rmax_r].
  destruct (largest_at_an_end c prices) as [L|L].
  - pose proof (Rmin_l (- high * places - V * worth / high) (- low * places - V * worth / low)).
    pose proof (Rmin_r (- high * places - V * worth / high) (- low * places - V * worth / low)). lra.
  - pose proof (Rmin_l (- high * places - V * worth / high) (- low * places - V * worth / low)). lra.
Qed.

(* The mean cost exceeds the budget by no more than the debt has grown, per round. *)
Theorem mean_cost_within_the_debt T :
  (0 < T)%nat -> sum T (fun t => price t * bought t) / INR T <= C + overspending (debt T) (debt O) (INR T).
Proof.
  intros HT. assert (P : 0 < INR T) by now apply lt_0_INR.
  assert (A : sum T (fun t => price t * bought t - C) <= debt T - debt O).
  { rewrite <- telescope. apply sum_le. intros t _. rewrite updated. unfold debt_update. pose proof (Rmax_r 0 (debt t + bought t * price t - C)). lra. }
  rewrite sum_minus, sum_const in A. unfold overspending. apply Rmult_le_reg_r with (INR T); auto.
  replace (sum T (fun t => price t * bought t) / INR T * INR T) with (sum T (fun t => price t * bought t)) by (field; lra).
  replace ((C + (debt T - debt O) / INR T) * INR T) with (C * INR T + (debt T - debt O)) by (field; lra). lra.
Qed.
End Debt.

(* ---- savings: a place pays for a new sample only what it has saved ---- *)

Section Place.
Variables (places C : R) (price age : nat -> R) (replaced : nat -> bool).
Hypotheses (S0 : 0 < places) (C0 : 0 < C).
Hypothesis fresh : age O = 1.
Hypothesis ages : forall t, age (S t) = if replaced t then 1 else age t + 1.
Hypothesis saved : forall t, replaced t = true -> price t <= savings_price (age t) places C.

(* What a place has paid, and what its sample's age has saved, is at most C/S per round. *)
Theorem a_place_stays_within T : sum T (fun t => if replaced t then price t else 0) + C / places * (age T - 1) <= C / places * INR T.
Proof.
  induction T; [rewrite fresh; simpl; lra|]. cbn [sum]. rewrite ages, S_INR. pose proof (saved T) as P.
  unfold savings_price in P. replace (C * age T / places) with (C / places * age T) in P by (field; lra).
  destruct (replaced T); [specialize (P eq_refl)|]; lra.
Qed.
End Place.

Section Savings.
Variables (n : nat) (reserve C high : R) (price debt : nat -> R) (age : nat -> nat -> R) (r : nat -> nat -> R).
Let places : R := INR n.
Let V : R := reserve_weight reserve places C.
Hypotheses (n0 : (0 < n)%nat) (C0 : 0 < C) (large : C <= reserve).
Hypothesis prices : forall t, 0 <= price t <= high.
(* replaced (1) if Z c < V A, kept (0) if not *)
Hypothesis rule : forall t i,
  (debt t * price t < V * age t i /\ r t i = 1) \/ (V * age t i <= debt t * price t /\ r t i = 0).
Hypothesis ages : forall t i, age (S t) i = r t i * 1 + (1 - r t i) * (age t i + 1).
Let x t : R := sum n (r t).
Hypothesis updated : forall t, debt (S t) = debt_update (debt t) (price t) (x t) C.
(* round 1 has filled the memory *)
Variable opening : R.
Hypothesis opened : 0 <= opening <= high.
Hypothesis start : debt O = reserve + opening * places - C.
Hypothesis fresh : forall i, age O i = 1.

Lemma places_positive : 0 < places.
Proof. now apply lt_0_INR. Qed.
Definition savings (t : nat) : R := C / places * sum n (age t).

Lemma age_positive t i : 1 <= age t i.
Proof. induction t; [rewrite fresh; lra|]. rewrite ages. destruct (rule t i) as [[_ R]|[_ R]]; rewrite R; lra. Qed.

Lemma savings_next t : savings (S t) = C + C / places * sum n (fun i => (1 - r t i) * age t i).
Proof.
  unfold savings. pose proof places_positive. rewrite (sum_ext n (age (S t)) (fun i => 1 + (1 - r t i) * age t i)) by (intros; rewrite ages; ring).
  rewrite sum_plus, sum_const. fold places. field. lra.
Qed.

Lemma replaced_range t i : 0 <= r t i <= 1.
Proof. destruct (rule t i) as [[_ R]|[_ R]]; rewrite R; lra. Qed.
Lemma bought_range t : 0 <= x t <= places.
Proof.
  split; [apply sum_nonneg; intros; apply replaced_range|]. unfold x, places. rewrite <- (Rmult_1_r (INR n)), <- sum_const.
  apply sum_le. intros. apply replaced_range.
Qed.

(* Debt and savings together never exceed the reserve and one full memory at the highest price. *)
Lemma account t : debt t + savings t <= reserve + high * places.
Proof.
  pose proof places_positive as P. assert (cp : 0 < C / places) by now apply Rdiv_lt_0_compat.
  induction t.
  - rewrite start. unfold savings. rewrite (sum_ext n (age 0) (fun _ => 1)) by (intros; apply fresh). rewrite sum_const. fold places.
    replace (C / places * (places * 1)) with C by (field; lra). nra.
  - rewrite savings_next, updated. unfold debt_update. specialize (prices t). pose proof (bought_range t) as X. set (c := price t) in *. set (Z := debt t) in *.
    destruct (Rle_dec reserve Z) as [L|L].
    + (* above the reserve who is replaced had saved the price *)
      assert (U : c * x t <= C / places * sum n (fun i => r t i * age t i)).
      { unfold x. rewrite <- !sum_scal. apply sum_le. intros i _. destruct (rule t i) as [[A R]|[_ R]]; rewrite R; [|lra].
        fold c Z in A. unfold V, reserve_weight in A. assert (c * reserve <= C * reserve / places * age t i) by nra.
        assert (c <= C / places * age t i); [|lra]. apply Rmult_le_reg_r with reserve; [lra|]. replace (C / places * age t i * reserve) with (C * reserve / places * age t i) by (field; lra). lra. }
      rewrite Rmax_right by nra. unfold savings in IHt.
      assert (Sp : sum n (age t) = sum n (fun i => r t i * age t i) + sum n (fun i => (1 - r t i) * age t i)) by (rewrite <- sum_plus; apply sum_ext; intros; ring).
      rewrite Sp in IHt. lra.
    + (* below it who is kept has saved no more than the price *)
      assert (Ub : C / places * sum n (fun i => (1 - r t i) * age t i) <= (places - x t) * c).
      { replace ((places - x t) * c) with (sum n (fun i => (1 - r t i) * c)) by (unfold x, places; rewrite sum_scal_r, sum_minus, sum_const; ring).
        rewrite <- sum_scal. apply sum_le. intros i _. destruct (rule t i) as [[_ R]|[A R]]; rewrite R; [lra|].
        fold c Z in A. unfold V, reserve_weight in A. assert (C * reserve / places * age t i <= reserve * c) by nra.
        assert (C / places * age t i <= c); [|lra]. apply Rmult_le_reg_r with reserve; [lra|]. replace (C / places * age t i * reserve) with (C * reserve / places * age t i) by (field; lra). lra. }
      assert (c * places <= high * places) by (apply Rmult_le_compat_r; lra).
      apply Rle_trans with (Rmax 0 (Z + x t * c - C) + (C + (places - x t) * c)); [lra|].
      unfold Rmax. destruct (Rle_dec 0 (Z + x t * c - C)); nra.
Qed.

(* So the debt never exceeds the reserve by more than a full memory at the highest price, less C. *)
Theorem debt_within_savings t : debt t <= savings_ceiling reserve places C high.
Proof.
  pose proof (account t) as A. pose proof places_positive as P. unfold savings_ceiling.
  assert (C <= savings t); [|lra]. unfold savings. replace C with (C / places * (places * 1)) at 1 by (field; lra).
  apply Rmult_le_compat_l; [left; now apply Rdiv_lt_0_compat|]. unfold places. rewrite <- sum_const. apply sum_le. intros. apply age_positive.
Qed.

(* The budget, and one full memory at the highest price: on every path. *)
Theorem money_within_savings T :
  opening * places + sum T (fun t => price t * x t) <= C * INR T + high * places.
Proof.
  assert (A : sum T (fun t => price t * x t - C) <= debt T - debt O).
  { rewrite <- telescope. apply sum_le. intros t _. rewrite updated. unfold debt_update. pose proof (Rmax_r 0 (debt t + x t * price t - C)). lra. }
  rewrite sum_minus, sum_const, start in A. pose proof (debt_within_savings T) as B. unfold savings_ceiling in B. lra.
Qed.
End Savings.

(* ---- a full memory ---- *)

Section FullMemory.
Variables (N T : nat) (places : R) (used : nat -> nat -> R).
Hypothesis indicator : forall t i, used t i = 0 \/ used t i = 1.
Hypothesis full : forall t, sum N (used t) = places.
Hypotheses (S0 : 0 < places) (T0 : (0 < T)%nat).
Definition uses (i t : nat) : R := sum t (fun s => used s i).
(* the mean age of what is trained on, over samples and rounds: a sample's age is how often it has been used *)
Definition mean_age : R := sum T (fun t => sum N (fun i => used t i * uses i (S t))) / (places * INR T).

(* A round adds S to the uses, and 2A - 1 to the square of each count in memory: N_eff/t is S/(2 mean age - 1). *)
Theorem effective_rate_of_a_full_memory :
  effective_from_sums (sum N (fun i => uses i T)) (sum N (fun i => uses i T ^ 2)) / INR T = effective_rate places mean_age.
Proof.
  assert (P : 0 < INR T) by now apply lt_0_INR.
  assert (S1 : sum N (fun i => uses i T) = places * INR T).
  { unfold uses. rewrite sum_swap. rewrite (sum_ext T _ (fun _ => places)) by (intros; apply full). rewrite sum_const. ring. }
  assert (S2 : forall t, sum N (fun i => uses i t ^ 2) = 2 * sum t (fun t => sum N (fun i => used t i * uses i (S t))) - places * INR t).
  { induction t.
    - unfold uses. simpl sum. rewrite (sum_ext N _ (fun _ => 0)) by (intros; ring). rewrite sum_const. simpl. ring.
    - rewrite (sum_ext N _ (fun i => uses i t ^ 2 + 2 * (used t i * uses i (S t)) - used t i)).
      + rewrite sum_minus, sum_plus, sum_scal, IHt, full, S_INR. cbn [sum]. ring.
      + intros i _. unfold uses. cbn [sum]. destruct (indicator t i) as [Z|Z]; rewrite Z; ring. }
  unfold effective_from_sums, effective_rate, mean_age. rewrite S1, S2. set (m := sum T (fun t => sum N (fun i => used t i * uses i (S t)))).
  destruct (Req_dec (2 * m - places * INR T) 0) as [Z|Z].
  - rewrite Z. replace (2 * (m / (places * INR T)) - 1) with ((2 * m - places * INR T) / (places * INR T)) by (field; split; lra). rewrite Z. unfold Rdiv. rewrite !Rmult_0_l, Rinv_0. ring.
  - field. repeat split; lra.
Qed.
End FullMemory.

(* The newest B samples are kept: never more, and once there are B, always B. *)
Theorem capacity_holds B (admitted held : nat -> R) :
  (forall t, 0 <= admitted t) -> (forall t, held (S t) = Rmin (held t + admitted t) B) ->
  (forall t, held (S t) <= B) /\ (forall t k, held t = B -> held (t + k)%nat = B) /\
  (forall t, B <= held t + admitted t -> held (S t) = B).
Proof.
  intros Ha Hh. repeat split.
  - intros t. rewrite Hh. apply Rmin_r.
  - intros t k H. induction k; [now rewrite Nat.add_0_r|]. rewrite Nat.add_succ_r, Hh, IHk. apply Rmin_right. specialize (Ha (t + k)%nat). lra.
  - intros t H. rewrite Hh. now apply Rmin_right.
Qed.

(* ---- distinct samples ---- *)

(* Every sample is trained on at least once, and a round trains on what is in memory: so nobody uses more distinct samples
   than there are places over all rounds; the oracle, which fills all places with fresh ones, uses as many. *)
Theorem distinct_samples (Omega : Type) (E : mean Omega) (clients T : nat) (buffer : nat -> R)
  (number : nat -> Omega -> nat) (used : nat -> nat -> nat -> Omega -> R) :
  (0 < T)%nat -> (forall m t i o, 0 <= used m t i o) ->
  (forall m i o, (i < number m o)%nat -> 1 <= sum T (fun t => used m t i o)) ->
  (forall m, (m < clients)%nat -> E (fun o => sum T (fun t => sum (number m o) (fun i => used m t i o))) / INR T <= buffer m) ->
  sum clients (fun m => E (fun o => INR (number m o))) <= INR T * sum clients buffer.
Proof.
  intros HT Hu H1 Hb. assert (P : 0 < INR T) by now apply lt_0_INR. rewrite <- sum_scal. apply sum_le. intros m Hm. specialize (Hb m Hm).
  apply Rle_trans with (E (fun o => sum T (fun t => sum (number m o) (fun i => used m t i o)))).
  - apply E_mono. intros o. rewrite sum_swap. rewrite <- (Rmult_1_r (INR (number m o))), <- sum_const. apply sum_le. intros. now apply H1.
  - apply Rmult_le_compat_r with (r := INR T) in Hb; [|lra]. unfold Rdiv in Hb. rewrite Rmult_assoc, Rinv_l in Hb by lra. lra.
Qed.

(* All places filled with fresh samples in every round. *)
Theorem oracle_uses_as_many (clients T : nat) (buffer : nat -> R) :
  sum clients (fun m => sum T (fun _ => buffer m)) = INR T * sum clients buffer.
Proof. rewrite <- sum_scal. apply sum_ext. intros. apply sum_const. Qed.

(* ---- counts: the effective size is N only if all samples were used equally often ---- *)

Theorem equal_use N (A : nat -> R) :
  (0 < N)%nat -> 0 < sum N A ->
  effective_from_sums (sum N A) (sum N (fun i => A i ^ 2)) <= INR N /\
  (effective_from_sums (sum N A) (sum N (fun i => A i ^ 2)) = INR N <-> forall i, (i < N)%nat -> A i = sum N A / INR N).
Proof.
  intros HN HS. assert (P : 0 < INR N) by now apply lt_0_INR. set (s := sum N A) in *. set (q := sum N (fun i => A i ^ 2)). set (m := s / INR N).
  assert (V : sum N (fun i => (A i - m) ^ 2) = q - s ^ 2 / INR N).
  { rewrite (sum_ext N _ (fun i => A i ^ 2 - 2 * m * A i + m ^ 2)) by (intros; ring). rewrite sum_plus, sum_minus, sum_scal, sum_const. fold s q. unfold m. field. lra. }
  assert (V0 : 0 <= sum N (fun i => (A i - m) ^ 2)) by (apply sum_nonneg; intros; apply pow2_ge_0).
  assert (Q : 0 < s ^ 2 / INR N) by (apply Rdiv_lt_0_compat; [apply pow_lt; lra|auto]). assert (Q0 : 0 < q) by lra.
  unfold effective_from_sums. split.
  - apply Rmult_le_reg_r with (q / INR N); [apply Rdiv_lt_0_compat; lra|]. replace (s ^ 2 / q * (q / INR N)) with (s ^ 2 / INR N) by (field; lra).
    replace (INR N * (q / INR N)) with q by (field; lra). lra.
  - split.
    + intros H. assert (Z : sum N (fun i => (A i - m) ^ 2) = 0).
      { rewrite V. assert (s ^ 2 = INR N * q) by (rewrite <- H; field; lra). rewrite H0. field. lra. }
      assert (K : forall n f, (forall i, 0 <= f i) -> sum n f = 0 -> forall i, (i < n)%nat -> f i = 0).
      { clear. intros n f Hf. induction n; intros H i Hi; [lia|]. simpl in H. assert (0 <= sum n f) by (apply sum_nonneg; auto). specialize (Hf n) as Hn.
        destruct (Nat.eq_dec i n) as [->|]; [lra|]. apply IHn; [lra|lia]. }
      intros i Hi. pose proof (K N (fun i => (A i - m) ^ 2) (fun i => pow2_ge_0 _) Z i Hi) as X. simpl in X. fold m. nra.
    + intros H. assert (Z : sum N (fun i => (A i - m) ^ 2) = 0) by (rewrite (sum_ext N _ (fun _ => 0)) by (intros; rewrite H by auto; fold m; ring); rewrite sum_const; ring).
      rewrite V in Z. assert (E : q = s ^ 2 / INR N) by lra. rewrite E. field. lra.
Qed.
