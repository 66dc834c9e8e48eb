(* Control: the cost-debt queue, the region of admissions, and what they can violate.

   Rounds are counted from 0: round t of the paper is t - 1 here, so that its region has the power
   rho^(t+1). *)
Require Import Reals Lra Lia Psatz.
From Acdpp Require Import Sums Mean ReuseFormulas Reuse ControlFormulas Lambert.
Open Scope R_scope.

(* ---- the queue ---- *)

Section Queue.
Variables (C : R) (cost admitted debt : nat -> R).
Hypothesis empty : debt O = 0.
Hypothesis updated : forall t, debt (S t) = debt_update (debt t) (cost t) (admitted t) C.

Lemma debt_nonneg t : 0 <= debt t.
Proof. destruct t; [lra|]. rewrite updated. apply Rmax_l. Qed.

(* A round never lowers the debt by more than it saves; added up, the debt is at least what was
   overspent. *)
Lemma debt_bounds_overspending T : sum T (fun t => cost t * admitted t - C) <= debt T.
Proof.
  replace (debt T) with (debt T - debt O) by lra. rewrite <- telescope. apply sum_le. intros t _.
  rewrite updated. unfold debt_update. pose proof (Rmax_r 0 (debt t + admitted t * cost t - C)).
  lra.
Qed.
End Queue.

Definition violation (T : nat) (C : R) (spent : nat -> R) : R := Rmax 0 (sum T spent - C * INR T).

(* The violation of the budget, which is about means, is at most the mean debt. *)
Theorem violation_at_most_mean_debt (Omega : Type) (E : mean Omega) C (cost admitted debt : nat
  -> Omega -> R) T :
  (forall o, debt O o = 0) ->
  (forall t o, debt (S t) o = debt_update (debt t o) (cost t o) (admitted t o) C) ->
  (forall t, (t < T)%nat -> integrable E (fun o => cost t o * admitted t o))
    -> integrable E (debt T) ->
  violation T C (fun t => E (fun o => cost t o * admitted t o)) <= E (debt T).
Proof.
  intros H0 HS Is Id. unfold violation. apply Rmax_lub.
  - apply E_nonneg; auto. intros o. apply (debt_nonneg C (fun t => cost t o) (fun t => admitted t o)
      (fun t => debt t o)); auto.
  - assert (Ia : integrable E (fun o => sum T (fun t => cost t o * admitted t o)))
      by now apply (I_sum E T (fun t o => cost t o * admitted t o)).
    rewrite <- (E_sum E T (fun t o => cost t o * admitted t o)) by auto.
    replace (C * INR T) with (E (fun _ => sum T (fun _ => C))) by (rewrite E_const, sum_const;
      ring).
    rewrite <- E_minus by means. apply E_mono; [means|auto|]. intros o. rewrite <- sum_minus.
    apply (debt_bounds_overspending C (fun t => cost t o) (fun t => admitted t o) (fun t => debt t
      o)); auto.
Qed.

(* Debt is known from the past; if the mean cost given the past is affordable, it does not pay to be
   in debt. *)
Theorem affordable_given_the_past (Omega : Type) (E : mean Omega) (P : past E) (debt cost : Omega
  -> R) rate C :
  known P debt -> (forall o, 0 <= debt o) -> (forall o, given P cost o * rate <= C) ->
  integrable E debt -> integrable E cost -> integrable E (fun o => debt o * cost o) ->
  E (fun o => debt o * (cost o * rate - C)) <= 0.
Proof. intros. now apply (given_at_most P). Qed.

(* ---- the region ---- *)

Section Region.
Variables (rate rho C : R).
Hypotheses (positive : 0 < rate) (inside : 0 < rho < 1) (budget : 0 < C).

Lemma power t : exp (INR t * ln rho) = rho ^ t.
Proof. rewrite <- Rpower_pow by lra. reflexivity. Qed.

Let low t : R := region_minimum rate rho (S t).
Let top t : R := region_maximum rate rho (S t).

Lemma low_is t : low t = rate * (1 - rho ^ S t).
Proof. unfold low, region_minimum. now rewrite power. Qed.
Lemma top_is t : top t = rate * (1 + rho ^ S t / (1 - rho ^ S t)).
Proof. unfold top, region_maximum. rewrite power. pose proof (pow_below_one rho t inside). field.
lra. Qed.
Lemma top_above t : rate <= top t.
Proof. rewrite top_is. pose proof (summand_nonneg rho t inside). nra. Qed.
Lemma low_below t : 0 < low t <= rate.
Proof. rewrite low_is. pose proof (pow_below_one rho t inside). split; nra. Qed.

(* Constant admission lies inside the region, in every round. *)
Theorem constant_is_inside t : low t <= rate <= top t.
Proof. pose proof (low_below t). pose proof (top_above t). lra. Qed.

Lemma lambert_is T : sum T (fun i => (fun tau : nat => rho ^ tau / (1 - rho ^ tau)) (S i))
  = lambert rho T.
Proof. reflexivity. Qed.

(* -- cost -- *)

Section Policy.
Variables (Omega : Type) (E : mean Omega) (cost admitted : nat -> Omega -> R) (T : nat).
Hypothesis costs : forall t o, (t < T)%nat -> 0 <= cost t o.
Hypothesis have_means : forall t, (t < T)%nat -> integrable E (cost t).
Hypothesis spending_has_means : forall t, (t < T)%nat
  -> integrable E (fun o => cost t o * admitted t o).
Let spent t : R := E (fun o => cost t o * admitted t o).
Let price t : R := E (cost t).

Lemma price_nonneg t : (t < T)%nat -> 0 <= price t.
Proof. intros. apply E_nonneg; auto. Qed.

Lemma spent_at_most t : (t < T)%nat -> (forall o,
  admitted t o <= top t) -> spent t <= price t * top t.
Proof.
  intros Ht H. unfold spent, price. rewrite Rmult_comm, <- (E_scal E (top t) (cost t)) by auto.
  apply E_mono; [auto|means|]. intros o. rewrite Rmult_comm.
  apply Rmult_le_compat_r; auto.
Qed.

(* Whatever costs and admissions have to do with each other: no policy inside the region violates
   the budget by more than always admitting the most, whose violation is the one on the right. *)
Theorem worst_policy :
  (forall t o, (t < T)%nat -> low t <= admitted t o <= top t) ->
  violation T C spent <= violation T C (fun t => price t * top t).
Proof.
  intros H. unfold violation. apply Rle_max_compat_l. apply Rplus_le_compat_r. apply sum_le.
  intros t Ht.
  apply spent_at_most; auto. intros o. apply H; auto.
Qed.

(* Always admitting the most attains the largest violation of the budget. *)
Theorem worst_policy_attains :
  (forall t o, (t < T)%nat -> admitted t o = top t) ->
  violation T C spent = violation T C (fun t => price t * top t).
Proof.
  intros H. unfold violation. f_equal. f_equal. apply sum_ext. intros t Ht. unfold spent, price.
  rewrite Rmult_comm, <- (E_scal E (top t) (cost t)) by auto. apply E_ext; auto. intros o.
  rewrite H by auto. ring.
Qed.

(* With one mean cost in every round the largest violation is theory's closed form. *)
Theorem worst_violation_of_one_mean c :
  (forall t, (t < T)%nat -> price t = c) ->
  violation T C (fun t => price t * top t) = Rmax 0 (cost_excess_maximum T rate rho c C).
Proof.
  intros H. unfold violation, cost_excess_maximum. rewrite lambert_is. f_equal. unfold lambert.
  rewrite (sum_ext T (fun t => price t * top t) (fun t => c * rate + c * rate * (rho ^ S t / (1
    - rho ^ S t))))
    by (intros; rewrite H, top_is by auto; ring).
  rewrite sum_plus, sum_const, sum_scal. ring.
Qed.

Hypothesis most : forall t o, (t < T)%nat -> admitted t o <= top t.

Lemma overspent_at_most :
  sum T spent - C * INR T
  <= sum T (fun t => (price t * rate - C) * (1 + rho ^ S t / (1 - rho ^ S t))) + C * lambert rho T.
Proof.
  replace (C * INR T) with (sum T (fun _ => C)) by (rewrite sum_const; ring).
  unfold lambert. rewrite <- sum_scal, <- sum_plus, <- sum_minus. apply sum_le. intros t Ht.
  assert (spent t <= price t * top t) by (apply spent_at_most; auto). rewrite top_is in H. lra.
Qed.

(* Summation by parts: weights that fall, and prefixes that are not positive. *)
Lemma abel (w d : nat -> R) n :
  (forall t, (t < n)%nat -> 0 <= w (S t) <= w t) -> (0 <= w O) -> (forall t,
    (t <= n)%nat -> sum t d <= 0) ->
  sum n (fun t => d t * w t) <= 0.
Proof.
  intros Hw H0 Hd.
  enough (sum n (fun t => d t * w t) <= sum n d * w (n - 1)%nat).
  { assert (0 <= w (n - 1)%nat). { destruct n; [exact H0|]. simpl. rewrite Nat.sub_0_r.
    destruct n; [auto|]. apply Hw. lia. }
    specialize (Hd n (le_n n)). nra. }
  induction n; [simpl; lra|]. cbn [sum]. replace (S n - 1)%nat with n by lia.
  assert (I : sum n (fun t => d t * w t) <= sum n d * w (n - 1)%nat) by (apply IHn; intros;
    [apply Hw|apply Hd]; lia).
  destruct n; [simpl in *; lra|]. replace (S n - 1)%nat with n in I by lia.
  assert (sum (S n) d <= 0) by (apply Hd; lia). assert (w (S n) <= w n) by (apply Hw; lia). nra.
Qed.

Lemma summand_falls t : rho ^ S (S t) / (1 - rho ^ S (S t)) <= rho ^ S t / (1 - rho ^ S t).
Proof.
  pose proof (pow_below_one rho t inside). pose proof (pow_below_one rho (S t) inside).
  assert (rho ^ S (S t) <= rho ^ S t) by (simpl; simpl in *; nra).
  apply Rmult_le_reg_r with ((1 - rho ^ S (S t)) * (1 - rho ^ S t)); [apply Rmult_lt_0_compat;
    lra|].
  field_simplify; lra.
Qed.

Lemma zero_violation b : 0 <= b -> sum T spent - C * INR T <= b -> violation T C spent <= b.
Proof. intros. now apply Rmax_lub. Qed.

(* If constant admission can pay the costs up to every round, the violation is bounded
   whatever T, of every policy that admits no more than the region's most. *)
Theorem violation_bounded :
  (forall t, (t <= T)%nat -> rate * sum t price <= C * INR t) ->
  violation T C spent <= C * lambert rho T /\ C * lambert rho T <= C * lambert_bound rho.
Proof.
  intros H. split.
  - apply zero_violation; [pose proof (lambert_nonneg rho T inside); nra|].
    pose proof overspent_at_most. enough (sum T (fun t => (price t * rate - C) * (1
      + rho ^ S t / (1 - rho ^ S t))) <= 0) by lra.
    apply abel.
    + intros t _. pose proof (summand_falls t). pose proof (summand_nonneg rho (S t) inside). lra.
    + pose proof (summand_nonneg rho 0 inside). lra.
    + intros t Ht. rewrite sum_minus, sum_const, sum_scal_r. specialize (H t Ht). lra.
  - apply Rmult_le_compat_l; [lra|]. now apply lambert_above.
Qed.

(* Always the most, at mean cost C/rate: the bound on the violation is attained. *)
Theorem violation_attained :
  (forall t o, (t < T)%nat -> admitted t o = top t) -> (forall t,
    (t < T)%nat -> price t = C / rate) ->
  violation T C spent = C * lambert rho T.
Proof.
  intros Ha Hp. rewrite worst_policy_attains by auto.
  rewrite (worst_violation_of_one_mean (C / rate)) by auto.
  unfold cost_excess_maximum. rewrite lambert_is. pose proof (lambert_nonneg rho T inside).
  replace (INR T * (C / rate * rate - C) + C / rate * rate * lambert rho T)
    with (C * lambert rho T) by (field; lra).
  apply Rmax_right. nra.
Qed.

(* If constant admission can pay the costs over the whole horizon alone, and none has a mean above a
   peak: a bound on every policy's violation. *)
Theorem violation_by_peak peak :
  rate * sum T price <= C * INR T -> (forall t, (t < T)%nat -> price t <= peak) ->
  violation T C spent <= cost_violation_by_peak T rate rho peak.
Proof.
  intros H Hp. assert (P0 : T <> O -> 0 <= peak). { intros N.
  apply Rle_trans with (price 0); [apply price_nonneg|apply Hp]; lia. }
  unfold cost_violation_by_peak. rewrite lambert_is. pose proof (lambert_nonneg rho T inside) as L.
  assert (B : 0 <= peak * rate * lambert rho T).
  { destruct (Nat.eq_dec T 0) as [->|N]; [unfold lambert; simpl; lra|]. specialize (P0 N).
    apply Rmult_le_pos; nra. }
  apply zero_violation; auto.
  assert (S1 : sum T spent <= sum T (fun t => rate * price t + peak * rate * (rho ^ S t / (1
    - rho ^ S t)))).
  { apply sum_le. intros t Ht. assert (X : spent t <= price t * top t) by (apply spent_at_most;
      auto). rewrite top_is in X.
    pose proof (summand_nonneg rho t inside).
    assert (price t * rate * (rho ^ S t / (1 - rho ^ S t)) <= peak * rate * (rho ^ S t / (1
      - rho ^ S t))).
    { apply Rmult_le_compat_r; auto. apply Rmult_le_compat_r; [lra|auto]. } lra. }
  rewrite sum_plus, sum_scal, sum_scal in S1. fold (lambert rho T) in S1. lra.
Qed.
End Policy.

(* The printed rate grows with T, the violation does not: so one constant serves all T, for fixed V
   and rho. *)
Theorem printed_rate_holds V bound (vio : nat -> R) :
  0 < V -> (forall T, vio T <= bound * lambert_bound rho) -> 0 < bound ->
  exists M, forall T, (1 <= T)%nat -> vio T <= M * cost_violation_rate_as_stated T V rho.
Proof.
  intros HV Hv Hb. exists (bound * lambert_bound rho / sqrt V). intros T HT.
  assert (U : 0 <= lambert_bound rho) by (pose proof (lambert_above rho 0 inside) as U; exact U).
  assert (SV : 0 < sqrt V) by now apply sqrt_lt_R0.
  assert (R : sqrt V <= cost_violation_rate_as_stated T V rho).
  { unfold cost_violation_rate_as_stated. apply sqrt_le_1_alt.
    assert (1 <= INR T) by (change 1 with (INR 1); now apply le_INR).
    assert (0 < V / (1 - rho)) by (apply Rdiv_lt_0_compat; lra). nra. }
  apply Rle_trans with (bound * lambert_bound rho / sqrt V * sqrt V); [|apply Rmult_le_compat_l;
    [|auto]].
  - replace (bound * lambert_bound rho / sqrt V * sqrt V) with (bound * lambert_bound rho)
      by (field; lra). auto.
  - apply Rmult_le_pos; [nra|]. apply Rlt_le, Rinv_0_lt_compat, SV.
Qed.

(* All cost in round 1, which has no debt yet and admits the most: the violation is a multiple of T.
   *)
Theorem all_cost_in_round_1 (Omega : Type) (E : mean Omega) (cost admitted : nat -> Omega -> R) T :
  (1 <= T)%nat -> (forall o, admitted O o = top O) -> (forall t o, (1 <= t)%nat -> cost t o = 0) ->
  integrable E (cost O) -> E (cost O) = INR T * C / rate ->
  violation T C (fun t => E (fun o => cost t o * admitted t o)) = C * INR T / (1 - rho) - C * INR T.
Proof.
  intros HT Ha Hc I0 Hm. unfold violation. destruct T; [lia|]. rewrite sum_head.
  rewrite (sum_ext T _ (fun _ => 0)).
  - rewrite sum_const, (E_as _ _ (fun o => top O * cost O o)) by (means || (intros; rewrite Ha;
      ring)).
    rewrite E_scal, Hm, top_is by auto. simpl (rho ^ 1). rewrite Rmult_1_r.
    replace (rate * (1 + rho / (1 - rho)) * (INR (S T) * C / rate) + INR T * 0 - C * INR (S T))
      with (C * INR (S T) / (1 - rho) - C * INR (S T)) by (field; lra).
    apply Rmax_right. assert (0 < INR (S T)) by (apply lt_0_INR; lia).
    replace (C * INR (S T) / (1 - rho) - C * INR (S T)) with (C * INR (S T) * (rho / (1 - rho)))
      by (field; lra).
    apply Rmult_le_pos; [nra|]. apply Rlt_le, Rdiv_lt_0_compat; lra.
  - intros t Ht. rewrite (E_as _ _ (fun _ => 0)) by (means || (intros; rewrite Hc by lia; ring)).
    apply E_const.
Qed.

(* Round 1 admits the most, later ones at least the least, at prices of mean C/rate that are never
   negative: what was spent first is never quite repaid. *)
Theorem never_repaid (Omega : Type) (E : mean Omega) (cost admitted : nat -> Omega -> R) T :
  (1 <= T)%nat -> (forall o, admitted O o = top O) -> (forall t o,
    (1 <= t)%nat -> low t <= admitted t o) ->
  (forall t o, 0 <= cost t o) -> (forall t, E (cost t) = C / rate) ->
  (forall t, integrable E (cost t)) -> (forall t,
    integrable E (fun o => cost t o * admitted t o)) ->
  cost_violation_least T rho C <= violation T C (fun t => E (fun o => cost t o * admitted t o)) /\
  0 < cost_violation_least T rho C.
Proof.
  intros HT Ha Hl Hc M Ic Is.
  assert (pos : 0 < cost_violation_least T rho C).
  { unfold cost_violation_least. assert (0 < rho ^ (T + 1)) by (apply pow_lt; lra).
    assert (0 < rho ^ (T + 1) / (1 - rho)) by (apply Rdiv_lt_0_compat; lra). nra. }
  split; auto. unfold violation. match goal with |- _ <= Rmax 0 ?x => apply Rle_trans with x;
    [|apply (Rmax_r 0)] end.
  destruct T as [|T]; [lia|]. rewrite sum_head.
  assert (L : forall t, (t < T)%nat -> C * (1 - rho ^ S (S t))
    <= E (fun o => cost (S t) o * admitted (S t) o)).
  { intros t _. apply Rle_trans with (E (fun o => low (S t) * cost (S t) o)).
    - rewrite E_scal, M, low_is by auto. right. field. lra.
    - apply E_mono; [means|auto|]. intros o. rewrite Rmult_comm. apply Rmult_le_compat_l; auto.
      apply Hl. lia. }
  apply sum_le in L. rewrite (E_as _ _ (fun o => top O * cost O o)) by (means || (intros;
    rewrite Ha; ring)).
  rewrite E_scal, M, top_is by auto. unfold cost_violation_least.
  rewrite sum_scal, sum_minus, sum_const in L. pose proof (geometric rho T) as G.
  replace (sum T (fun i => rho ^ S (S i))) with (rho ^ 2 * sum T (fun i => rho ^ i)) in L
    by (rewrite <- sum_scal; apply sum_ext; intros; simpl; ring).
  assert (X : sum T (fun i => rho ^ i) = (1 - rho ^ T) / (1 - rho)) by (rewrite <- G; field; lra).
  rewrite X in L.
  rewrite S_INR. replace (S T + 1)%nat with (S (S T)) by lia. cbn [pow] in *.
  set (p := rho ^ T) in *. set (rest := sum T (fun i => E (fun o => cost (S i) o * admitted (S i)
    o))) in *.
  replace (rate * (1 + rho * 1 / (1 - rho * 1)) * (C / rate)) with (C / (1 - rho)) by (field; lra).
  apply Rle_trans with (C / (1 - rho) + C * (INR T * 1 - rho * (rho * 1) * ((1 - p) / (1 - rho)))
    - C * (INR T + 1)); [right; field; lra|lra].
Qed.

(* -- buffers -- *)

(* A sample of round s is in memory in K rounds, or in as many as are left. *)
Definition memory (K : nat) (admitted : nat -> R) (t : nat) : R :=
  sum (S t) (fun s => if in_memory K s t then admitted s else 0).

Lemma memory_counted K admitted T :
  sum T (memory K admitted) = sum T (fun s => admitted s * INR (Nat.min K (T - s))).
Proof.
  induction T; [easy|]. cbn [sum]. rewrite IHT. unfold memory. cbn [sum].
  rewrite <- Rplus_assoc, <- sum_plus. f_equal.
  - apply sum_ext. intros s Hs. unfold in_memory. destruct (Nat.leb_spec s T); [|lia].
    destruct (Nat.ltb_spec T (s + K)); cbn [andb].
    + rewrite !Nat.min_r by lia. replace (S T - s)%nat with (S (T - s)) by lia. rewrite S_INR. ring.
    + rewrite !Nat.min_l by lia. ring.
  - unfold in_memory. rewrite Nat.leb_refl. replace (S T - T)%nat with 1%nat by lia.
    destruct (Nat.ltb_spec T (T + K)); cbn [andb].
    + rewrite Nat.min_r by lia. simpl. ring.
    + replace K with O by lia. simpl. ring.
Qed.

Section Buffers.
Variables (K T : nat) (clients : nat) (buffer : nat -> R) (admitted : nat -> R).
Hypothesis kept : (0 < K)%nat.
Let total_buffer : R := sum clients buffer.
Hypothesis buffers : forall m, (m < clients)%nat -> 0 <= buffer m.
Hypothesis filled : total_buffer = INR K * rate.
(* the admission is split in proportion to the buffers *)
Let share m : R := buffer m / total_buffer.
Definition buffer_violation (n : nat -> nat -> R) : R :=
  sum clients (fun m => Rmax 0 (sum T (fun t => n m t - buffer m))).

Lemma total_positive : 0 < total_buffer.
Proof. rewrite filled. apply Rmult_lt_0_compat; [now apply lt_0_INR|lra]. Qed.

(* All clients violate, or none does. *)
Lemma violation_of_all :
  buffer_violation (fun m t => share m * memory K admitted t)
  = Rmax 0 (sum T (fun t => memory K admitted t - total_buffer)).
Proof.
  pose proof total_positive as P. unfold buffer_violation.
  set (x := sum T (fun t => memory K admitted t - total_buffer)).
  rewrite (sum_ext clients _ (fun m => share m * Rmax 0 x)).
  - rewrite sum_scal_r. unfold share. rewrite (sum_ext clients _ (fun m => / total_buffer * buffer
      m)) by (intros; field; lra).
    rewrite sum_scal. fold total_buffer. field. lra.
  - intros m Hm. replace (sum T (fun t => share m * memory K admitted t - buffer m))
      with (share m * x).
    + assert (0 <= share m) by (apply Rmult_le_pos; [auto|apply Rlt_le, Rinv_0_lt_compat, P]).
      unfold Rmax. destruct (Rle_dec 0 x), (Rle_dec 0 (share m * x)); nra.
    + unfold x. rewrite <- sum_scal. apply sum_ext. intros. unfold share. field. lra.
Qed.

(* Admissions split in proportion to the buffers, which K rounds of the rate fill: no path inside
   the region, nor the mean of paths, violates these by more than the positive part in the middle,
   which is bounded whatever T. *)
Theorem buffer_violation_bounded :
  (forall s, (s < T)%nat -> 0 <= admitted s <= top s) ->
  buffer_violation (fun m t => share m * memory K admitted t)
    <= Rmax 0 (sum T (fun s => top s * INR (Nat.min K (T - s))) - INR K * rate * INR T) /\
  Rmax 0 (sum T (fun s => top s * INR (Nat.min K (T - s))) - INR K * rate * INR T)
    <= buffer_violation_bound K T rate rho /\
  buffer_violation_bound K T rate rho <= INR K * rate * lambert_bound rho.
Proof.
  intros Ha. assert (KK : 0 < INR K) by now apply lt_0_INR.
  assert (KR : 0 < INR K * rate) by nra.
  repeat split.
  - rewrite violation_of_all, sum_minus, sum_const, memory_counted. apply Rle_max_compat_l.
    rewrite filled.
    apply Rplus_le_compat; [|right; ring]. apply sum_le. intros s Hs.
    apply Rmult_le_compat_r; [apply pos_INR|]. now apply Ha.
  - unfold buffer_violation_bound. rewrite lambert_is. apply Rmax_lub.
    + pose proof (lambert_nonneg rho T inside). nra.
    + replace (rate * INR K * lambert rho T) with (sum T (fun s => top s * INR K)
        - INR K * rate * INR T).
      * apply Rplus_le_compat_r. apply sum_le. intros s Hs.
        apply Rmult_le_compat_l; [|apply le_INR; lia].
        pose proof (top_above s). lra.
      * rewrite (sum_ext T (fun s => top s * INR K) (fun s => rate * INR K
          + rate * INR K * (rho ^ S s / (1 - rho ^ S s)))) by (intros; rewrite top_is; ring).
        rewrite sum_plus, sum_const, sum_scal. fold (lambert rho T). ring.
  - unfold buffer_violation_bound. rewrite lambert_is. rewrite (Rmult_comm rate).
    apply Rmult_le_compat_l; [lra|]. now apply lambert_above.
Qed.

(* Always admitting the most violates the buffers by that positive part. *)
Theorem buffer_violation_attained :
  (forall s, (s < T)%nat -> admitted s = top s) ->
  buffer_violation (fun m t => share m * memory K admitted t)
  = Rmax 0 (sum T (fun s => top s * INR (Nat.min K (T - s))) - INR K * rate * INR T).
Proof.
  intros Ha. rewrite violation_of_all, sum_minus, sum_const, memory_counted, filled. f_equal.
  f_equal; [|ring].
  apply sum_ext. intros s Hs. now rewrite Ha.
Qed.
End Buffers.
End Region.

(* ---- what the region says of reuse and of money in the long run ---- *)

Section LongRun.
Variables (rate rho C : R).
Hypotheses (positive : 0 < rate) (inside : 0 < rho < 1) (budget : 0 < C).

(* No count exceeds K, so the squares add up to at most K times the uses: 1 - uniformity is at most
   the deficit's share. *)
Theorem uniformity_gap K t amount :
  (0 < K)%nat -> (forall j, (j < t)%nat -> 0 <= amount j) -> 0 < size t amount ->
  1 - uniformity t amount (counts K t) <= newest K t amount first_deficit / (INR K * size t amount).
Proof.
  intros HK Ha HN. assert (KK : 0 < INR K) by now apply lt_0_INR.
  pose proof (first_above_size K t amount HK Ha) as F1.
  set (F := first t amount (counts K t)) in *. set (N := size t amount) in *.
  destruct (uniformity_by_variance t amount (counts K t) Ha) as [_ U]; [auto|fold F; lra|].
  rewrite U. fold F N. set (Q := second t amount (counts K t)).
  assert (QF : Q <= INR K * F).
  { unfold Q, second, F, first. rewrite <- total_scal. apply total_le; auto. intros j _.
    pose proof (pos_INR (uses K j t)). fold (counts K t j) in H.
    assert (counts K t j <= INR K) by (unfold counts; rewrite uses_counted; apply le_INR; lia).
    simpl. nra. }
  assert (Q0 : 0 < Q). { pose proof (square_of_the_mean t amount (counts K t) Ha) as S.
  fold F N Q in S. nra. }
  pose proof (first_by_deficit K t amount HK) as D. fold F N in D.
  assert (E : newest K t amount first_deficit = INR K * N - F) by (rewrite D; ring). rewrite E.
  replace ((INR K * N - F) / (INR K * N)) with (1 - F / (INR K * N)) by (field; lra).
  enough (F / (INR K * N) <= F ^ 2 / (N * Q)) by lra.
  apply Rmult_le_reg_r with (INR K * N * Q); [apply Rmult_lt_0_compat; nra|].
  replace (F / (INR K * N) * (INR K * N * Q)) with (F * Q) by (field; lra).
  replace (F ^ 2 / (N * Q) * (INR K * N * Q)) with (F * (INR K * F)) by (field; lra).
  apply Rmult_le_compat_l; lra.
Qed.

(* Inside the region the deficit is bounded and N grows like t: 1 - uniformity is O(1/t). *)
Theorem uniformity_gap_in_the_region K t amount :
  (0 < K)%nat -> (forall j, (j < t)%nat -> region_minimum rate rho (S j) <= amount j
    <= region_maximum rate rho (S j)) ->
  2 / (1 - rho) <= INR t -> 1 - uniformity t amount (counts K t) <= (INR K - 1) / (1 - rho) / INR t.
Proof.
  intros HK Ha Ht. assert (KK : 1 <= INR K) by (change 1 with (INR 1); apply le_INR; lia).
  assert (h : 0 < / (1 - rho)) by (apply Rinv_0_lt_compat; lra).
  assert (tp : 0 < INR t) by (apply Rlt_le_trans with (2 / (1 - rho)); [unfold Rdiv; nra|auto]).
  assert (Ha' : forall j, (j < t)%nat -> 0 <= amount j) by (intros j Hj;
    pose proof (low_below rate rho positive inside j); specialize (Ha j Hj); lra).
  assert (N : rate * INR t / 2 <= size t amount).
  { unfold size, total. apply Rle_trans with (sum t (fun j => rate * (1 - rho ^ S j))).
    - rewrite sum_scal, sum_minus, sum_const. pose proof (geometric_tail rho t) as G.
      assert (X : sum t (fun i => rho ^ S i) <= / (1 - rho)).
      { apply Rmult_le_reg_l with (1 - rho); [lra|]. rewrite G, Rinv_r by lra.
        assert (0 <= rho ^ t) by (apply pow_le; lra). nra. }
      unfold Rdiv in Ht. nra.
    - apply sum_le. intros j Hj. rewrite Rmult_1_r, <- (low_is rate rho inside). now apply Ha. }
  assert (N0 : 0 < size t amount) by nra. apply Rle_trans
    with (1 := uniformity_gap K t amount HK Ha' N0).
  assert (Dm : newest K t amount first_deficit <= rate / (1 - rho) * (INR K * (INR K - 1) / 2)).
  { unfold newest. apply Rle_trans with (sum (Nat.min K t) (fun i => (INR K - INR (i
      + 1)) * (rate / (1 - rho)))).
    - apply sum_le. intros i Hi. assert (Li : INR (i + 1) <= INR K) by (apply le_INR; lia).
      unfold first_deficit. rewrite Rmin_right by auto.
      apply Rmult_le_compat_l; [lra|]. apply Rle_trans with (region_maximum rate rho (S (t - 1
        - i))); [apply Ha; lia|].
      unfold region_maximum. rewrite power by auto. apply Rmult_le_compat_l; [lra|].
      apply Rinv_le_contravar; [lra|].
      pose proof (pow_below_one rho (t - 1 - i) inside). assert (rho ^ S (t - 1 - i) <= rho).
      { simpl. assert (rho ^ (t - 1 - i) <= 1) by (rewrite <- (pow1 (t - 1 - i)); apply pow_incr;
          lra). assert (0 <= rho ^ (t - 1 - i)) by (apply pow_le; lra). nra. } lra.
    - rewrite sum_scal_r. assert (rp : 0 < rate / (1 - rho)) by (apply Rdiv_lt_0_compat; lra).
      enough (sum (Nat.min K t) (fun i => INR K - INR (i + 1)) <= INR K * (INR K - 1) / 2) by nra.
      assert (G : forall m, (m <= K)%nat -> 2 * sum m (fun i => INR K - INR (i + 1))
        = INR m * (2 * INR K - INR m - 1)).
      { induction m; intros Hm; [simpl; ring|]. cbn [sum]. rewrite Rmult_plus_distr_l, IHm by lia.
        replace (m + 1)%nat with (S m) by lia. rewrite !S_INR. ring. }
      pose proof (G (Nat.min K t) ltac:(lia)) as G1.
      assert (M : INR (Nat.min K t) = INR K \/ INR (Nat.min K t) <= INR K - 1).
      { destruct (Nat.eq_dec (Nat.min K t) K) as [Q|Q]; [left; now rewrite Q|right].
        change 1 with (INR 1). rewrite <- (minus_INR K 1) by lia. apply le_INR. lia. }
      set (m := INR (Nat.min K t)) in *. destruct M as [->|M]; [lra|].
      assert (0 <= (INR K - m) * (INR K - m - 1)) by (apply Rmult_le_pos; lra). nra. }
  apply Rmult_le_reg_r with (INR K * size t amount * (INR t * (1 - rho)));
    [apply Rmult_lt_0_compat; [nra|apply Rmult_lt_0_compat; lra]|].
  replace (newest K t amount first_deficit / (INR K * size t amount) * (INR K * size t amount * (INR
    t * (1 - rho)))) with (newest K t amount first_deficit * (INR t * (1 - rho))) by (field; lra).
  replace ((INR K - 1) / (1 - rho) / INR t * (INR K * size t amount * (INR t * (1 - rho))))
    with ((INR K - 1) * INR K * size t amount) by (field; lra).
  apply Rle_trans with (rate / (1 - rho) * (INR K * (INR K - 1) / 2) * (INR t * (1 - rho)));
    [apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|auto]|].
  replace (rate / (1 - rho) * (INR K * (INR K - 1) / 2) * (INR t * (1 - rho))) with ((INR K
    - 1) * INR K * (rate * INR t / 2)) by (field; lra).
  apply Rmult_le_compat_l; [nra|auto].
Qed.

(* A summand is at most 1/((1-rho) t), and these add up to a logarithm. *)
Lemma harmonic T : (0 < T)%nat -> sum T (fun i => / INR (S i)) <= 1 + ln (INR T).
Proof.
  intros HT. induction T; [lia|]. destruct (Nat.eq_dec T 0) as [->|N]; [simpl;
    rewrite Rinv_1, ln_1; lra|].
  cbn [sum]. specialize (IHT ltac:(lia)). assert (P : 0 < INR T) by (apply lt_0_INR; lia).
  rewrite S_INR.
  enough (/ (INR T + 1) <= ln (INR T + 1) - ln (INR T)) by lra.
  replace (ln (INR T + 1) - ln (INR T)) with (ln ((INR T + 1) / INR T)) by (unfold Rdiv;
    rewrite ln_mult, ln_Rinv; try lra; now apply Rinv_0_lt_compat).
  (* ln x >= 1 - 1/x *)
  assert (L : forall x, 0 < x -> 1 - / x <= ln x).
  { intros x Hx. assert (ln (/ x) <= / x - 1).
    { pose proof (exp_ineq1_le (/ x - 1)) as X.
      assert (ix : 0 < / x) by now apply Rinv_0_lt_compat.
      replace (1 + (/ x - 1)) with (/ x) in X by ring.
      rewrite <- (ln_exp (/ x - 1)). destruct (Rle_lt_or_eq_dec _ _ X) as [Y|Y]; [left;
        apply ln_increasing; lra|right; now rewrite Y at 1]. }
    rewrite ln_Rinv in H by auto. lra. }
  specialize (L ((INR T + 1) / INR T) ltac:(apply Rdiv_lt_0_compat; lra)).
  replace (1 - / ((INR T + 1) / INR T)) with (/ (INR T + 1)) in L by (field; lra). exact L.
Qed.

Lemma lambert_logarithmic T : (0 < T)%nat -> lambert rho T <= (1 + ln (INR T)) / (1 - rho).
Proof.
  intros HT. apply Rle_trans with (sum T (fun i => / (1 - rho) * / INR (S i))).
  - apply sum_le. intros t _. pose proof (pow_below_one rho t inside) as P.
    assert (I : 0 < INR (S t)) by (apply lt_0_INR; lia).
    pose proof (geometric rho (S t)) as G.
    pose proof (power_below_the_sum rho (S t) (S t) ltac:(lra) (le_n _)) as L.
    apply Rmult_le_reg_r with ((1 - rho ^ S t) * INR (S t) * (1 - rho));
      [repeat apply Rmult_lt_0_compat; lra|].
    replace (rho ^ S t / (1 - rho ^ S t) * ((1 - rho ^ S t) * INR (S t) * (1 - rho)))
      with (INR (S t) * rho ^ S t * (1 - rho)) by (field; lra).
    replace (/ (1 - rho) * / INR (S t) * ((1 - rho ^ S t) * INR (S t) * (1 - rho))) with (1
      - rho ^ S t) by (field; lra). rewrite <- G. nra.
  - rewrite sum_scal. unfold Rdiv. rewrite Rmult_comm.
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|now apply harmonic].
Qed.

(* At mean cost C/rate no policy inside the region spends more than the budget and a logarithm over
   T. *)
Theorem long_run_spending (Omega : Type) (E : mean Omega) (cost admitted : nat -> Omega -> R) T :
  (0 < T)%nat -> (forall t o, 0 <= cost t o) -> (forall t o,
    admitted t o <= region_maximum rate rho (S t)) ->
  (forall t, integrable E (cost t)) -> (forall t,
    integrable E (fun o => cost t o * admitted t o)) ->
  (forall t, E (cost t) = C / rate) ->
  sum T (fun t => E (fun o => cost t o * admitted t o)) / INR T <= C + C * ((1 + ln (INR T)) / ((1
    - rho) * INR T)).
Proof.
  intros HT Hc Ha Ic Is Hm. assert (P : 0 < INR T) by now apply lt_0_INR.
  destruct (violation_bounded rate rho C inside budget Omega E cost admitted T) as [V _]; auto.
  - intros t _. rewrite (sum_ext t (fun t => E (cost t)) (fun _ => C / rate)) by auto.
    rewrite sum_const. right. field. lra.
  - pose proof (lambert_logarithmic T HT) as L. unfold violation in V.
    pose proof (Rmax_r 0 (sum T (fun t => E (fun o => cost t o * admitted t o)) - C * INR T)) as M.
    apply Rmult_le_reg_r with (INR T); auto. unfold Rdiv at 1.
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    replace ((C + C * ((1 + ln (INR T)) / ((1 - rho) * INR T))) * INR T) with (C * INR T + C * ((1
      + ln (INR T)) / (1 - rho))) by (field; lra).
    assert (C * lambert rho T <= C * ((1 + ln (INR T)) / (1 - rho))) by (apply Rmult_le_compat_l;
      lra). lra.
Qed.
End LongRun.

(* ---- at a fixed mean a constant memory is best ---- *)

Section Motive.
Variables (T : nat) (n : nat -> R) (m : R).
Hypothesis sizes : forall t, (t < T)%nat -> 0 < n t.
Hypothesis m0 : 0 < m.
Hypothesis average : sum T n = INR T * m.

(* what lies above its tangent at the mean has the smallest sum where it is constant *)
Lemma above_the_tangent (f : R -> R) slope :
  (forall t, (t < T)%nat -> f m + slope * (n t - m) <= f (n t)) -> INR T * f m
    <= sum T (fun t => f (n t)).
Proof.
  intros H. apply Rle_trans with (sum T (fun t => f m + slope * (n t - m))); [|now apply sum_le].
  rewrite sum_plus, sum_scal, sum_minus, !sum_const, average. right. ring.
Qed.

(* At a given mean a constant memory has the least sum of 1/n and of 1/sqrt n, which lie above their
   tangents. *)
Theorem constant_memory_is_best :
  INR T * / m <= sum T (fun t => / n t) /\ INR T * / sqrt m <= sum T (fun t => / sqrt (n t)).
Proof.
  split.
  - apply (above_the_tangent Rinv (- / m ^ 2)). intros t Ht. specialize (sizes t Ht).
    apply Rmult_le_reg_r with (n t * m ^ 2); [apply Rmult_lt_0_compat; [auto|apply pow_lt; lra]|].
    replace ((/ m + - / m ^ 2 * (n t - m)) * (n t * m ^ 2)) with (n t * (2 * m - n t)) by (field;
      lra). replace (/ n t * (n t * m ^ 2)) with (m ^ 2) by (field; lra).
      pose proof (pow2_ge_0 (n t - m)). nra.
  - apply (above_the_tangent (fun x => / sqrt x) (- / (2 * (sqrt m) ^ 3))). intros t Ht.
    specialize (sizes t Ht).
    assert (A : 0 < sqrt (n t)) by now apply sqrt_lt_R0.
    assert (B : 0 < sqrt m) by now apply sqrt_lt_R0.
    pose proof (sqrt_sqrt (n t) ltac:(lra)) as SA. pose proof (sqrt_sqrt m ltac:(lra)) as SB.
    set (a := sqrt (n t)) in *. set (b := sqrt m) in *. rewrite <- SA, <- SB.
    apply Rmult_le_reg_r with (2 * a * b ^ 3); [apply Rmult_lt_0_compat; [lra|apply pow_lt; lra]|].
    replace ((/ b + - / (2 * b ^ 3) * (a * a - b * b)) * (2 * a * b ^ 3)) with (3 * a * b ^ 2
      - a ^ 3) by (field; lra). replace (/ a * (2 * a * b ^ 3)) with (2 * b ^ 3) by (field; lra).
    assert (0 <= (a - b) ^ 2 * (a + 2 * b)) by (apply Rmult_le_pos; [apply pow2_ge_0|lra]). nra.
Qed.

(* And of sqrt(1/n - 1/N), which is convex up to n = 3N/4: at a given mean a constant memory is
   best. *)
Theorem constant_memory_is_best_for_the_root N :
  (forall t, (t < T)%nat -> 4 * n t <= 3 * N) -> 4 * m <= 3 * N ->
  INR T * sqrt (/ m - / N) <= sum T (fun t => sqrt (/ n t - / N)).
Proof.
  intros Hn Hm. assert (N0 : 0 < N) by lra. set (c := / N).
  assert (c0 : 0 < c) by now apply Rinv_0_lt_compat.
  assert (third : forall x, 0 < x -> 4 * x <= 3 * N -> c / 3 <= / x - c).
  { intros x Hx H. unfold c. apply Rmult_le_reg_r with (3 * x * N); [nra|].
    replace (/ N / 3 * (3 * x * N)) with x by (field; lra).
    replace ((/ x - / N) * (3 * x * N)) with (3 * N - 3 * x) by (field; lra). lra. }
  set (v := sqrt (/ m - c)). assert (V : v * v = / m - c) by (apply sqrt_sqrt;
    pose proof (third m m0 Hm); lra).
  assert (V3 : c / 3 <= v * v) by (rewrite V; now apply third).
  assert (v0 : 0 < v) by (apply sqrt_lt_R0; pose proof (third m m0 Hm); lra).
  apply (above_the_tangent (fun x => sqrt (/ x - c)) (- / (2 * m ^ 2 * v))). intros t Ht.
  specialize (sizes t Ht). specialize (Hn t Ht). fold v.
  set (u := sqrt (/ n t - c)). assert (U : u * u = / n t - c) by (apply sqrt_sqrt;
    pose proof (third _ sizes Hn); lra).
  assert (U3 : c / 3 <= u * u) by (rewrite U; now apply third).
  assert (u0 : 0 < u) by (apply sqrt_lt_R0; pose proof (third _ sizes Hn); lra).
  assert (En : n t = / (u * u + c)) by (rewrite U; replace (/ n t - c + c) with (/ n t) by ring;
    now rewrite Rinv_inv).
  assert (Em : m = / (v * v + c)) by (rewrite V; replace (/ m - c + c) with (/ m) by ring;
    now rewrite Rinv_inv).
  rewrite En, Em. set (p := u * u + c). set (q := v * v + c).
  assert (p0 : 0 < p) by (unfold p; lra). assert (q0 : 0 < q) by (unfold q; lra).
  assert (UV : c / 3 <= u * v). { destruct (Rle_dec u v); nra. }
  apply Rmult_le_reg_r with (2 * v * p); [nra|].
  replace ((v + - / (2 * (/ q) ^ 2 * v) * (/ p - / q)) * (2 * v * p)) with (2 * v * v * p + q * (p
    - q)) by (field; lra).
  assert (0 <= (u - v) ^ 2 * (v * (2 * u + v) - c)) by (apply Rmult_le_pos; [apply pow2_ge_0|nra]).
  unfold p, q. nra.
Qed.
End Motive.
