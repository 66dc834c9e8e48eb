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
  V * worth / c + places * c <= V * worth / low + places * low \/ V * worth / c + places * c
    <= V * worth / high + places * high.
Proof.
  intros Hc. set (a := V * worth). assert (a0 : 0 < a) by (unfold a; nra).
  destruct (Rle_dec (places * (c * low)) a) as [L|L].
  - left. apply Rmult_le_reg_r with (c * low); [nra|].
    replace ((a / c + places * c) * (c * low)) with (a * low + places * c * (c * low)) by (field;
      lra).
    replace ((a / low + places * low) * (c * low)) with (a * c + places * low * (c * low))
      by (field; lra). nra.
  - right. apply Rmult_le_reg_r with (c * high); [nra|].
    replace ((a / c + places * c) * (c * high)) with (a * high + places * c * (c * high))
      by (field; lra).
    replace ((a / high + places * high) * (c * high)) with (a * c + places * high * (c * high))
      by (field; lra).
    assert (a < places * (c * high)) by (apply Rlt_le_trans with (places * (c * low));
      [lra|apply Rmult_le_compat_l; nra]). nra.
Qed.

(* Where nothing is bought at a debt times price of V times the worth or more, a debt that begins
   below the ceiling stays below it, at any prices in the interval. *)
Theorem debt_never_exceeds_the_ceiling t : debt O <= debt_ceiling V worth places C low high
  -> debt t <= debt_ceiling V worth places C low high.
Proof.
  intros H0. induction t; auto. rewrite updated. unfold debt_update.
  apply Rmax_lub; [apply Rmax_l|].
  specialize (prices t). specialize (amounts t). destruct (rule t) as [Z|Z]; [rewrite Z; lra|].
  set (c := price t) in *. assert (c0 : 0 < c) by lra.
  assert (B : debt t < V * worth / c) by (apply Rmult_lt_reg_r with c; auto;
    replace (V * worth / c * c) with (V * worth) by (field; lra); lra).
  assert (X : bought t * c <= places * c) by (apply Rmult_le_compat_r; lra).
  unfold debt_ceiling. eapply Rle_trans; [|apply Rmax_r].
  destruct (largest_at_an_end c prices) as [L|L].
  - pose proof (Rmin_l (- high * places - V * worth / high) (- low * places - V * worth / low)).
    pose proof (Rmin_r (- high * places - V * worth / high) (- low * places - V * worth / low)).
    lra.
  - pose proof (Rmin_l (- high * places - V * worth / high) (- low * places - V * worth / low)).
    lra.
Qed.

(* The mean cost exceeds the budget by no more than the debt has grown, per round. *)
Theorem mean_cost_within_the_debt T :
  (0 < T)%nat -> sum T (fun t => price t * bought t) / INR T <= C
    + overspending (debt T) (debt O) (INR T).
Proof.
  intros HT. assert (P : 0 < INR T) by now apply lt_0_INR.
  assert (A : sum T (fun t => price t * bought t - C) <= debt T - debt O).
  { rewrite <- telescope. apply sum_le. intros t _. rewrite updated. unfold debt_update.
    pose proof (Rmax_r 0 (debt t + bought t * price t - C)). lra. }
  rewrite sum_minus, sum_const in A. unfold overspending. apply Rmult_le_reg_r with (INR T); auto.
  replace (sum T (fun t => price t * bought t) / INR T * INR T)
    with (sum T (fun t => price t * bought t)) by (field; lra).
  replace ((C + (debt T - debt O) / INR T) * INR T) with (C * INR T + (debt T - debt O)) by (field;
    lra). lra.
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
Theorem a_place_stays_within T : sum T (fun t => if replaced t then price t else 0)
  + C / places * (age T - 1) <= C / places * INR T.
Proof.
  induction T; [rewrite fresh; simpl; lra|]. cbn [sum]. rewrite ages, S_INR.
  pose proof (saved T) as P.
  unfold savings_price in P. replace (C * age T / places) with (C / places * age T) in P by (field;
    lra).
  destruct (replaced T); [specialize (P eq_refl)|]; lra.
Qed.
End Place.

Section Savings.
Variables (n : nat) (reserve C high : R) (price debt : nat -> R) (age : nat -> nat -> R) (r : nat
  -> nat -> R).
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
Proof. induction t; [rewrite fresh; lra|]. rewrite ages.
destruct (rule t i) as [[_ R]|[_ R]]; rewrite R; lra. Qed.

Lemma savings_next t : savings (S t) = C + C / places * sum n (fun i => (1 - r t i) * age t i).
Proof.
  unfold savings. pose proof places_positive.
  rewrite (sum_ext n (age (S t)) (fun i => 1 + (1 - r t i) * age t i)) by (intros; rewrite ages;
    ring).
  rewrite sum_plus, sum_const. fold places. field. lra.
Qed.

Lemma replaced_range t i : 0 <= r t i <= 1.
Proof. destruct (rule t i) as [[_ R]|[_ R]]; rewrite R; lra. Qed.
Lemma bought_range t : 0 <= x t <= places.
Proof.
  split; [apply sum_nonneg; intros; apply replaced_range|]. unfold x, places.
  rewrite <- (Rmult_1_r (INR n)), <- sum_const.
  apply sum_le. intros. apply replaced_range.
Qed.

Lemma account t : debt t + savings t <= reserve + high * places.
Proof.
  pose proof places_positive as P. assert (cp : 0 < C / places) by now apply Rdiv_lt_0_compat.
  induction t.
  - rewrite start. unfold savings. rewrite (sum_ext n (age 0) (fun _ => 1)) by (intros;
      apply fresh). rewrite sum_const. fold places.
    replace (C / places * (places * 1)) with C by (field; lra). nra.
  - rewrite savings_next, updated. unfold debt_update. specialize (prices t).
    pose proof (bought_range t) as X. set (c := price t) in *. set (Z := debt t) in *.
    destruct (Rle_dec reserve Z) as [L|L].
    + (* above the reserve who is replaced had saved the price *)
      assert (U : c * x t <= C / places * sum n (fun i => r t i * age t i)).
      { unfold x. rewrite <- !sum_scal. apply sum_le. intros i _.
        destruct (rule t i) as [[A R]|[_ R]]; rewrite R; [|lra].
        fold c Z in A. unfold V, reserve_weight in A.
        assert (c * reserve <= C * reserve / places * age t i) by nra.
        assert (c <= C / places * age t i); [|lra]. apply Rmult_le_reg_r with reserve; [lra|].
        replace (C / places * age t i * reserve) with (C * reserve / places * age t i) by (field;
          lra). lra. }
      rewrite Rmax_right by nra. unfold savings in IHt.
      assert (Sp : sum n (age t) = sum n (fun i => r t i * age t i) + sum n (fun i => (1
        - r t i) * age t i)) by (rewrite <- sum_plus; apply sum_ext; intros; ring).
      rewrite Sp in IHt. lra.
    + (* below it who is kept has saved no more than the price *)
      assert (Ub : C / places * sum n (fun i => (1 - r t i) * age t i) <= (places - x t) * c).
      { replace ((places - x t) * c) with (sum n (fun i => (1 - r t i) * c)) by (unfold x, places;
          rewrite sum_scal_r, sum_minus, sum_const; ring).
        rewrite <- sum_scal. apply sum_le. intros i _.
        destruct (rule t i) as [[_ R]|[A R]]; rewrite R; [lra|].
        fold c Z in A. unfold V, reserve_weight in A.
        assert (C * reserve / places * age t i <= reserve * c) by nra.
        assert (C / places * age t i <= c); [|lra]. apply Rmult_le_reg_r with reserve; [lra|].
        replace (C / places * age t i * reserve) with (C * reserve / places * age t i) by (field;
          lra). lra. }
      assert (c * places <= high * places) by (apply Rmult_le_compat_r; lra).
      apply Rle_trans with (Rmax 0 (Z + x t * c - C) + (C + (places - x t) * c)); [lra|].
      unfold Rmax. destruct (Rle_dec 0 (Z + x t * c - C)); nra.
Qed.

(* Who buys by savings: debt and savings never exceed the reserve and a full memory at the highest
   price together, nor the debt alone the same less C. *)
Theorem debt_within_savings t :
  debt t + savings t <= reserve + high * places /\ debt t <= savings_ceiling reserve places C high.
Proof.
  pose proof (account t) as A. pose proof places_positive as P. split; [auto|].
  unfold savings_ceiling.
  assert (C <= savings t); [|lra]. unfold savings.
  replace C with (C / places * (places * 1)) at 1 by (field; lra).
  apply Rmult_le_compat_l; [left; now apply Rdiv_lt_0_compat|]. unfold places.
  rewrite <- sum_const. apply sum_le. intros. apply age_positive.
Qed.

(* Who buys by savings spends no more than the budget and one full memory at the highest price: on
   every path. *)
Theorem money_within_savings T :
  opening * places + sum T (fun t => price t * x t) <= C * INR T + high * places.
Proof.
  assert (A : sum T (fun t => price t * x t - C) <= debt T - debt O).
  { rewrite <- telescope. apply sum_le. intros t _. rewrite updated. unfold debt_update.
    pose proof (Rmax_r 0 (debt t + x t * price t - C)). lra. }
  rewrite sum_minus, sum_const, start in A. destruct (debt_within_savings T) as [_ B].
  unfold savings_ceiling in B. lra.
Qed.
End Savings.

(* ---- a full memory ---- *)

Section FullMemory.
Variables (N T : nat) (places : R) (used : nat -> nat -> R).
Hypothesis indicator : forall t i, used t i = 0 \/ used t i = 1.
Hypothesis full : forall t, sum N (used t) = places.
Hypotheses (S0 : 0 < places) (T0 : (0 < T)%nat).
Definition uses (i t : nat) : R := sum t (fun s => used s i).
(* the mean age of what is trained on, over samples and rounds: a sample's age is how often it has
   been used *)
Definition mean_age : R := sum T (fun t => sum N (fun i => used t i * uses i (S t))) / (places * INR
  T).

(* A round adds S to the uses, and 2A - 1 to the square of each count in memory: N_eff/t is S/(2
   mean age - 1). *)
Theorem effective_rate_of_a_full_memory :
  effective_from_sums (sum N (fun i => uses i T)) (sum N (fun i => uses i T ^ 2)) / INR T
    = effective_rate places mean_age.
Proof.
  assert (P : 0 < INR T) by now apply lt_0_INR.
  assert (S1 : sum N (fun i => uses i T) = places * INR T).
  { unfold uses. rewrite sum_swap. rewrite (sum_ext T _ (fun _ => places)) by (intros; apply full).
    rewrite sum_const. ring. }
  assert (S2 : forall t, sum N (fun i => uses i t ^ 2)
    = 2 * sum t (fun t => sum N (fun i => used t i * uses i (S t))) - places * INR t).
  { induction t.
    - unfold uses. simpl sum. rewrite (sum_ext N _ (fun _ => 0)) by (intros; ring).
      rewrite sum_const. simpl. ring.
    - rewrite (sum_ext N _ (fun i => uses i t ^ 2 + 2 * (used t i * uses i (S t)) - used t i)).
      + rewrite sum_minus, sum_plus, sum_scal, IHt, full, S_INR. cbn [sum]. ring.
      + intros i _. unfold uses. cbn [sum]. destruct (indicator t i) as [Z|Z]; rewrite Z; ring. }
  unfold effective_from_sums, effective_rate, mean_age. rewrite S1, S2.
  set (m := sum T (fun t => sum N (fun i => used t i * uses i (S t)))).
  destruct (Req_dec (2 * m - places * INR T) 0) as [Z|Z].
  - rewrite Z. replace (2 * (m / (places * INR T)) - 1) with ((2 * m
      - places * INR T) / (places * INR T)) by (field; split; lra). rewrite Z. unfold Rdiv.
        rewrite !Rmult_0_l, Rinv_0. ring.
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
  - intros t k H. induction k; [now rewrite Nat.add_0_r|]. rewrite Nat.add_succ_r, Hh, IHk.
    apply Rmin_right. specialize (Ha (t + k)%nat). lra.
  - intros t H. rewrite Hh. now apply Rmin_right.
Qed.

(* ---- distinct samples ---- *)

(* Every sample is trained on at least once, and a round trains on what is in memory: so in the
   mean nobody uses more distinct samples than there are places over all rounds. *)
Theorem distinct_samples (Omega : Type) (E : mean Omega) (clients T : nat) (buffer : nat -> R)
  (number : nat -> Omega -> nat) (used : nat -> nat -> nat -> Omega -> R) :
  (0 < T)%nat -> (forall m t i o, 0 <= used m t i o) ->
  (forall m i o, (i < number m o)%nat -> 1 <= sum T (fun t => used m t i o)) ->
  (forall m, integrable E (fun o => INR (number m o))) ->
  (forall m, integrable E (fun o => sum T (fun t => sum (number m o) (fun i => used m t i o)))) ->
  (forall m, (m < clients)%nat -> E (fun o => sum T (fun t => sum (number m o) (fun i => used m t i
    o))) / INR T <= buffer m) ->
  sum clients (fun m => E (fun o => INR (number m o))) <= INR T * sum clients buffer.
Proof.
  intros HT Hu H1 In Iu Hb. assert (P : 0 < INR T) by now apply lt_0_INR. rewrite <- sum_scal.
  apply sum_le. intros m Hm. specialize (Hb m Hm).
  apply Rle_trans with (E (fun o => sum T (fun t => sum (number m o) (fun i => used m t i o)))).
  - apply E_mono; auto. intros o. rewrite sum_swap.
    rewrite <- (Rmult_1_r (INR (number m o))), <- sum_const. apply sum_le. intros. now apply H1.
  - apply Rmult_le_compat_r with (r := INR T) in Hb; [|lra]. unfold Rdiv in Hb.
    rewrite Rmult_assoc, Rinv_l in Hb by lra. lra.
Qed.

(* ---- counts: the effective size is N only if all samples were used equally often ---- *)

(* The effective size is at most the number of samples, and equal to it if and only if each has
   been used equally often. *)
Theorem equal_use N (A : nat -> R) :
  (0 < N)%nat -> 0 < sum N A ->
  effective_from_sums (sum N A) (sum N (fun i => A i ^ 2)) <= INR N /\
  (effective_from_sums (sum N A) (sum N (fun i => A i ^ 2)) = INR N <-> forall i,
    (i < N)%nat -> A i = sum N A / INR N).
Proof.
  intros HN HS. assert (P : 0 < INR N) by now apply lt_0_INR. set (s := sum N A) in *.
  set (q := sum N (fun i => A i ^ 2)). set (m := s / INR N).
  assert (V : sum N (fun i => (A i - m) ^ 2) = q - s ^ 2 / INR N).
  { rewrite (sum_ext N _ (fun i => A i ^ 2 - 2 * m * A i + m ^ 2)) by (intros; ring).
    rewrite sum_plus, sum_minus, sum_scal, sum_const. fold s q. unfold m. field. lra. }
  assert (V0 : 0 <= sum N (fun i => (A i - m) ^ 2)) by (apply sum_nonneg; intros; apply pow2_ge_0).
  assert (Q : 0 < s ^ 2 / INR N) by (apply Rdiv_lt_0_compat; [apply pow_lt; lra|auto]).
  assert (Q0 : 0 < q) by lra.
  unfold effective_from_sums. split.
  - apply Rmult_le_reg_r with (q / INR N); [apply Rdiv_lt_0_compat; lra|].
    replace (s ^ 2 / q * (q / INR N)) with (s ^ 2 / INR N) by (field; lra).
    replace (INR N * (q / INR N)) with q by (field; lra). lra.
  - split.
    + intros H. assert (Z : sum N (fun i => (A i - m) ^ 2) = 0).
      { rewrite V. assert (s ^ 2 = INR N * q) by (rewrite <- H; field; lra). rewrite H0. field.
        lra. }
      assert (K : forall n f, (forall i, 0 <= f i) -> sum n f = 0 -> forall i,
        (i < n)%nat -> f i = 0).
      { clear. intros n f Hf. induction n; intros H i Hi; [lia|]. simpl in H.
        assert (0 <= sum n f) by (apply sum_nonneg; auto). specialize (Hf n) as Hn.
        destruct (Nat.eq_dec i n) as [->|]; [lra|]. apply IHn; [lra|lia]. }
      intros i Hi. pose proof (K N (fun i => (A i - m) ^ 2) (fun i => pow2_ge_0 _) Z i Hi) as X.
      simpl in X. fold m. nra.
    + intros H. assert (Z : sum N (fun i => (A i - m) ^ 2) = 0)
        by (rewrite (sum_ext N _ (fun _ => 0)) by (intros; rewrite H by auto; fold m; ring);
          rewrite sum_const; ring).
      rewrite V in Z. assert (E : q = s ^ 2 / INR N) by lra. rewrite E. field. lra.
Qed.

(* ---- the online rule against what money buys ---- *)

Section Rate.
Variables (V places C high : R).
Hypotheses (V0 : 0 < V) (S0 : 0 < places) (C0 : 0 < C).
Let drift : R := purchase_drift places C high.
Let delta : R := Rmax C (places * high - C).

Lemma drift_is : 2 * drift = delta ^ 2.
Proof.
  unfold drift, delta, purchase_drift. replace (Rmin (- C) (C - high * places))
    with (- Rmax C (places * high - C)); [field|].
  unfold Rmin, Rmax. destruct (Rle_dec C (places * high - C)), (Rle_dec (- C) (C - high * places));
    lra.
Qed.

(* A round spends between 0 and S times the highest price. *)
Lemma spent_range c x : 0 <= c <= high -> 0 <= x <= places -> - delta <= x * c - C <= delta.
Proof.
  intros Hc Hx. unfold delta. pose proof (Rmax_l C (places * high - C)).
  pose proof (Rmax_r C (places * high - C)).
  assert (0 <= x * c <= places * high) by (split; [nra|apply Rmult_le_compat; lra]). lra.
Qed.

(* Buying all where Z c < V and nothing elsewhere is the best choice of a round; with the drift of
   the squared debt: *)
Lemma round_of_the_rule Z c x y :
  0 <= Z -> 0 <= c <= high -> 0 <= y <= places -> (Z * c < V /\ x = places) \/ (V <= Z * c /\ x
    = 0) ->
  debt_update Z c x C ^ 2 / 2 - Z ^ 2 / 2 - V * x <= drift + Z * (y * c - C) - V * y.
Proof.
  intros HZ Hc Hy Hr. assert (Hx : 0 <= x <= places) by (destruct Hr as [[_ ->]|[_ ->]]; lra).
  assert (A : debt_update Z c x C ^ 2 <= (Z + x * c - C) ^ 2).
  { unfold debt_update, Rmax. destruct (Rle_dec 0 (Z + x * c - C)); [lra|].
    pose proof (pow2_ge_0 (Z + x * c - C)). lra. }
  pose proof (spent_range c x Hc Hx) as R. pose proof drift_is as D.
  assert (Q : (x * c - C) ^ 2 <= delta ^ 2) by nra.
  assert (B : (Z * c - V) * x <= (Z * c - V) * y) by (destruct Hr as [[L ->]|[L ->]]; nra). nra.
Qed.

Section Paths.
Variables (price bought debt : nat -> R).
Hypothesis prices : forall t, 0 <= price t <= high.
Hypothesis rule : forall t, (debt t * price t < V /\ bought t = places) \/ (V <= debt t * price t
  /\ bought t = 0).
Hypothesis updated : forall t, debt (S t) = debt_update (debt t) (price t) (bought t) C.
Hypothesis nonneg : 0 <= debt O.

Lemma debts t : 0 <= debt t.
Proof. destruct t; auto. rewrite updated. apply Rmax_l. Qed.

Lemma debt_moves t k : Rabs (debt (t + k)%nat - debt t) <= INR k * delta.
Proof.
  induction k; [rewrite Nat.add_0_r; replace (debt t - debt t) with 0 by ring; rewrite Rabs_R0;
    simpl; lra|].
  rewrite Nat.add_succ_r, S_INR. assert (Hx : 0 <= bought (t + k)%nat <= places)
    by (destruct (rule (t + k)) as [[_ ->]|[_ ->]]; lra).
  pose proof (spent_range _ _ (prices (t + k)) Hx) as R.
  assert (M : Rabs (debt (S (t + k)) - debt (t + k)%nat) <= delta).
  { rewrite updated. unfold debt_update. pose proof (debts (t + k)). apply Rabs_le. unfold Rmax.
    destruct (Rle_dec 0 (debt (t + k)%nat + bought (t + k)%nat * price (t + k)%nat - C)); lra. }
  replace (debt (S (t + k)) - debt t) with ((debt (S (t + k)) - debt (t + k)%nat) + (debt (t
    + k)%nat - debt t)) by ring.
  apply Rle_trans with (1 := Rabs_triang _ _). lra.
Qed.

(* A frame of F rounds, against any purchases y within it that CF pays for. *)
Lemma frame t F (y : nat -> R) :
  (forall k, 0 <= y k <= places) -> sum F (fun k => y k * price (t + k)%nat) <= C * INR F ->
  debt (t + F)%nat ^ 2 / 2 - debt t ^ 2 / 2 - V * sum F (fun k => bought (t + k)%nat)
    <= INR F ^ 2 * drift - V * sum F y.
Proof.
  intros Hy Hc.
  assert (A : forall n, (n <= F)%nat -> debt (t + n)%nat ^ 2 / 2 - debt t ^ 2 / 2
    - V * sum n (fun k => bought (t + k)%nat)
    <= sum n (fun k => drift + INR k * (2 * drift)) + debt t * (sum n (fun k => y k * price (t
      + k)%nat) - C * INR n) - V * sum n y).
  { induction n; intros Hn; [rewrite Nat.add_0_r; simpl; lra|]. specialize (IHn ltac:(lia)).
    rewrite Nat.add_succ_r, S_INR. cbn [sum].
    pose proof (round_of_the_rule _ _ _ (y n) (debts (t + n)) (prices (t + n)) (Hy n) (rule (t
      + n))) as R. rewrite <- updated in R.
    assert (Z : debt (t + n)%nat * (y n * price (t + n)%nat - C) <= debt t * (y n * price (t
      + n)%nat - C) + INR n * (2 * drift)).
    { pose proof (debt_moves t n) as M. pose proof (spent_range _ _ (prices (t + n)) (Hy n)) as Q.
      rewrite drift_is.
      assert (Rabs ((debt (t + n)%nat - debt t) * (y n * price (t + n)%nat - C))
        <= INR n * delta * delta).
      { rewrite Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos; auto. now apply Rabs_le. }
      pose proof (Rle_abs ((debt (t + n)%nat - debt t) * (y n * price (t + n)%nat - C))). nra. }
    lra. }
  specialize (A F (le_n F)). pose proof (debts t).
  assert (T : forall n, sum n (fun k => drift + INR k * (2 * drift)) = INR n ^ 2 * drift)
    by (clear; induction n; [simpl; ring|]; cbn [sum]; rewrite IHn, S_INR; ring).
  rewrite T in A. assert (debt t * (sum F (fun k => y k * price (t + k)%nat) - C * INR F) <= 0)
    by nra. lra.
Qed.

(* The online rule at prices in any order buys at least what the best purchases of each frame come
   to, less F B / V and the reserve's square. *)
Theorem online_rate_any_prices frames F (y : nat -> nat -> R) :
  (0 < F)%nat -> (0 < frames)%nat -> (forall f k, 0 <= y f k <= places) ->
  (forall f, sum F (fun k => y f k * price (f * F + k)%nat) <= C * INR F) ->
  sum frames (fun f => sum F (y f)) / INR (frames * F)
    - frame_shortfall V drift (INR F) (debt O) (INR (frames * F))
  <= sum (frames * F) bought / INR (frames * F).
Proof.
  intros HF Hm Hy Hc.
  assert (A : debt (frames * F)%nat ^ 2 / 2 - debt O ^ 2 / 2 - V * sum (frames * F) bought
    <= INR frames * (INR F ^ 2 * drift) - V * sum frames (fun f => sum F (y f))).
  { clear Hm. induction frames as [|m IH]; [simpl; lra|].
    pose proof (frame (m * F) F (y m) (Hy m) (Hc m)) as R.
    replace (S m * F)%nat with (m * F + F)%nat by lia. rewrite sum_split, S_INR. cbn [sum]. lra. }
  pose proof (debts (frames * F)) as D. pose proof (pow2_ge_0 (debt (frames * F)%nat)) as D2.
  assert (P1 : 0 < INR F) by now apply lt_0_INR. assert (P2 : 0 < INR frames) by now apply lt_0_INR.
  unfold frame_shortfall. rewrite mult_INR. set (x := sum (frames * F) bought) in *.
  set (s := sum frames (fun f => sum F (y f))) in *.
  apply Rmult_le_reg_r with (V * (INR frames * INR F)); [repeat apply Rmult_lt_0_compat; auto|].
  replace (x / (INR frames * INR F) * (V * (INR frames * INR F))) with (V * x) by (field; lra).
  match goal with |- ?l <= _ => replace l with (V * s - (INR frames * (INR F ^ 2 * drift)
    + debt O ^ 2 / 2)) by (field; lra) end. lra.
Qed.
End Paths.

(* The online rule at independent prices buys at least the rate R of any purchases that look at the
   price alone and that C pays for, less theory's shortfall. *)
Theorem online_rate_independent_prices (Omega : Type) (mu : mean Omega) (P : nat -> past mu)
  (price bought debt y : nat -> Omega -> R) reserve rate T :
  (0 < T)%nat -> 0 <= reserve -> (forall t o, 0 <= price t o <= high) -> (forall t o,
    0 <= y t o <= places) ->
  (forall t o, (debt t o * price t o < V /\ bought t o = places) \/ (V <= debt t o * price t o
    /\ bought t o = 0)) ->
  (forall o, debt O o = reserve) -> (forall t o,
    debt (S t) o = debt_update (debt t o) (price t o) (bought t o) C) ->
  (forall t, (t < T)%nat -> known (P t) (debt t) /\ mu (y t) = rate /\ forall o,
    given (P t) (fun o => y t o * price t o) o <= C) ->
  (forall t, (t <= T)%nat ->
             integrable mu (bought t) /\ integrable mu (y t) /\ integrable mu (debt t) /\
             integrable mu (fun o => debt t o ^ 2 / 2)
               /\ integrable mu (fun o => y t o * price t o) /\
             integrable mu (fun o => debt t o * (y t o * price t o))) ->
  rate - rate_shortfall V drift reserve (INR T) <= sum T (fun t => mu (bought t)) / INR T.
Proof.
  (* the rule does no worse than y in debt^2/2 - V x, of which T rounds telescope in the mean *)
  intros HT Hr Hp Hy Hrule H0 Hu Hk Hi. assert (TP : 0 < INR T) by now apply lt_0_INR.
  assert (N : forall t o, 0 <= debt t o) by (intros [|t] o; [rewrite H0; auto|rewrite Hu;
    apply Rmax_l]).
  set (l := fun t => mu (fun o => debt t o ^ 2 / 2)).
  assert (A : forall t, (t < T)%nat -> l (S t) - l t - V * mu (bought t) <= drift - V * rate).
  { intros t tT. destruct (Hi t ltac:(lia)) as (I1 & I2 & I3 & I4 & I5 & I6).
    destruct (Hi (S t) ltac:(lia)) as (_ & _ & _ & J4 & _). destruct (Hk t tT) as (K1 & Hm & Hc).
    assert (I7 : integrable mu (fun o => debt t o * (y t o * price t o * 1 - C)))
      by (apply (I_ext mu (fun o => debt t o * (y t o * price t o) - C * debt t o)); [intros;
        ring|means]).
    assert (Q : mu (fun o => debt (S t) o ^ 2 / 2 + (-1 * (debt t o ^ 2 / 2) + - V * bought t o))
        <= mu (fun o => drift + (debt t o * (y t o * price t o * 1 - C) + - V * y t o))).
    { apply E_mono; [means|means|]. intros o.
      pose proof (round_of_the_rule _ _ _ (y t o) (N t o) (Hp t o) (Hy t o) (Hrule t o)) as R.
      rewrite <- Hu in R. lra. }
    rewrite !E_plus, !E_scal, E_const, Hm in Q by means. fold (l t) (l (S t)) in Q.
    assert (Z : mu (fun o => debt t o * (y t o * price t o * 1 - C)) <= 0).
    { apply (given_at_most (P t) (debt t) (fun o => y t o * price t o)); auto. intros o.
      rewrite Rmult_1_r. apply Hc. }
    lra. }
  assert (B : sum T (fun t => l (S t) - l t - V * mu (bought t)) <= sum T (fun _ => drift
    - V * rate)) by (apply sum_le; auto).
  rewrite sum_minus, telescope, sum_scal, sum_const in B.
  assert (L0 : l O = reserve ^ 2 / 2) by (unfold l;
    rewrite (E_as mu _ (fun _ => reserve ^ 2 / 2)) by (means || (intros; now rewrite H0));
      apply E_const).
  assert (LT : 0 <= l T) by (apply E_nonneg; [now apply Hi|]; intros o;
    pose proof (pow2_ge_0 (debt T o)); lra).
  unfold rate_shortfall. set (x := sum T (fun t => mu (bought t))) in *.
  apply Rmult_le_reg_r with (V * INR T); [nra|].
  replace (x / INR T * (V * INR T)) with (V * x) by (field; lra).
  match goal with |- ?q <= _ => replace q with (INR T * (V * rate) - INR T * drift
    - reserve ^ 2 / 2) by (field; lra) end. lra.
Qed.
End Rate.
