(* What nobody beats: whoever buys, by whatever rule, and whatever is learned from it.  A Gaussian
   sample adds its
   precision to that of the prior, and no estimate has a smaller mean square than the variance that
     is left. *)
Require Import Reals Lra Lia Psatz.
From Acdpp Require Import Sums Mean NobodyFormulas.
Open Scope R_scope.

(* ---- what a sample says ---- *)

(* The exponents of a Gaussian prior and of N Gaussian samples add up to that of one Gaussian: its
   precision is that of the
   prior and 1/s of each sample, whatever their values; what is left over does not know theta. *)
Theorem precision_adds_up s tau (z : nat -> R) N :
  0 < s -> 0 < tau ->
  exists centre rest, forall theta,
    theta ^ 2 / tau + sum N (fun i => (z i - theta) ^ 2 / s) = (INR N / s + / tau) * (theta
      - centre) ^ 2 + rest.
Proof.
  intros Hs Ht. induction N as [|N IH].
  - exists 0, 0. intros theta. simpl. field. lra.
  - destruct IH as (c & r & H). set (P := INR N / s + / tau).
    assert (P0 : 0 < P).
    { unfold P. assert (0 <= INR N / s) by (apply Rmult_le_pos; [apply pos_INR|left;
        now apply Rinv_0_lt_compat]).
      pose proof (Rinv_0_lt_compat tau Ht). lra. }
    assert (Q0 : 0 < P + / s) by (pose proof (Rinv_0_lt_compat s Hs); lra).
    exists ((P * c + z N / s) / (P + / s)), (r + P / s / (P + / s) * (z N - c) ^ 2). intros theta.
    cbn [sum]. rewrite <- Rplus_assoc, H. fold P. rewrite S_INR.
    replace ((INR N + 1) / s + / tau) with (P + / s) by (unfold P; field; lra).
    assert (N0 : P * s + 1 <> 0) by nra. field. repeat split; try lra; auto. 
Qed.

(* ---- no estimate is better than the variance that is left ---- *)

Section Learner.
Context {Omega : Type} (mu : mean Omega) (seen : past mu).
Variables (theta guess samples : Omega -> R) (s tau : R).
Hypotheses (s0 : 0 < s) (tau0 : 0 < tau).
Let centre : Omega -> R := given seen theta.
(* an estimate looks at what was seen *)
Hypothesis looks_back : known seen (fun o => centre o - guess o).
Hypothesis counts : forall o, 0 <= samples o.
(* Bayes: given what was seen, the variance of theta is one over the precision *)
Hypothesis posterior : forall o, given seen (fun o => (theta o - centre o) ^ 2) o
  = / (samples o / s + / tau).
Hypothesis have_means :
  integrable mu theta /\ integrable mu samples /\ integrable mu (fun o => (theta o
    - centre o) ^ 2) /\
  integrable mu (fun o => (centre o - guess o) ^ 2) /\ integrable mu (fun o => (centre o
    - guess o) * theta o).

Lemma precision_positive x : 0 <= x -> 0 < x / s + / tau.
Proof.
  intros H. assert (0 <= x / s) by (apply Rmult_le_pos; [auto|left; now apply Rinv_0_lt_compat]).
  pose proof (Rinv_0_lt_compat tau tau0). lra.
Qed.

(* The error is what is left of theta, and what the estimate misses besides; the two do not mix. *)
Lemma at_least_the_variance :
  integrable mu (fun o => / (samples o / s + / tau)) /\
  mu (fun o => / (samples o / s + / tau)) <= mu (fun o => (theta o - guess o) ^ 2).
Proof.
  destruct have_means as (I1 & I2 & I3 & I4 & I5).
  destruct (tower seen _ I3) as [I6 E6]. destruct (projects mu seen _ theta looks_back I1 I5) as [I7
    E7].
  assert (Iv : integrable mu (fun o => / (samples o / s + / tau)))
    by now apply (I_ext mu _ _ posterior).
  split; auto. rewrite <- (E_ext mu _ _ I6 posterior), <- E6.
  rewrite (E_as mu (fun o => (theta o - guess o) ^ 2) (fun o => (theta o - centre o) ^ 2
    + (centre o - guess o) ^ 2
    + 2 * ((centre o - guess o) * theta o - (centre o - guess o) * given seen theta o)))
        by (means || (intros; unfold centre; ring)).
  rewrite !E_plus, E_scal, E_minus, E7 by means.
  assert (0 <= mu (fun o => (centre o - guess o) ^ 2)) by (apply E_nonneg; [auto|intros;
    apply pow2_ge_0]). lra.
Qed.

(* 1/x lies above its tangent at the mean: so the mean of one over the precision is at least one
   over its mean. *)
Lemma jensen : / (mu samples / s + / tau) <= mu (fun o => / (samples o / s + / tau)).
Proof.
  destruct have_means as (I1 & I2 & _). destruct at_least_the_variance as [Iv _].
  set (y := mu samples / s + / tau). assert (y0 : 0 < y) by (apply precision_positive, E_nonneg;
    auto).
  apply Rle_trans with (mu (fun o => (2 / y - / tau / y ^ 2) + (- / s / y ^ 2) * samples o)).
  - rewrite E_plus, E_const, E_scal by means. right.
    assert (M : mu samples = s * (y - / tau)) by (unfold y; field; lra). rewrite M. field.
    repeat split; lra.
  - apply E_mono; [means|auto|]. intros o. set (x := samples o / s + / tau).
    assert (x0 : 0 < x) by now apply precision_positive.
    assert (X : samples o = s * (x - / tau)) by (unfold x; field; lra).
    rewrite X. apply Rmult_le_reg_r with (x * y ^ 2); [apply Rmult_lt_0_compat;
      [auto|now apply pow_lt]|].
    replace ((2 / y - / tau / y ^ 2 + - / s / y ^ 2 * (s * (x - / tau))) * (x * y ^ 2))
      with (2 * x * y - x ^ 2) by (field; lra).
    replace (/ x * (x * y ^ 2)) with (y ^ 2) by (field; lra). pose proof (pow2_ge_0 (x - y)). nra.
Qed.

Lemma risk_of_a_direction h most : 0 <= h -> mu samples <= most -> bayes_risk most h s tau
  <= h / 2 * mu (fun o => (theta o - guess o) ^ 2).
Proof.
  intros Hh Hm. destruct have_means as (_ & I2 & _). destruct at_least_the_variance as [_ V].
  pose proof jensen as J.
  assert (N0 : 0 <= mu samples) by now apply E_nonneg.
  assert (F : / (most / s + / tau) <= / (mu samples / s + / tau)).
  { apply Rinv_le_contravar; [now apply precision_positive|]. apply Rplus_le_compat_r.
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|auto]. }
  apply Rle_trans with (h / 2 * / (most / s + / tau)).
  - right. unfold bayes_risk. assert (0 < s + tau * most) by nra. field. repeat split; lra.
  - apply Rmult_le_compat_l; lra.
Qed.
End Learner.

(* ---- what money buys, in the mean ---- *)

(* x <= c x / threshold + S (1 - c / threshold)^+ in every round: whoever buys, clairvoyant or not.
   *)
Lemma most_that_money_buys {Omega : Type} (mu : mean Omega) (bought price : nat -> Omega
  -> R) places cost threshold rate debt T :
  0 < threshold -> (forall t o, 0 <= bought t o <= places) ->
  (forall t, integrable mu (bought t)) -> (forall t,
    integrable mu (fun o => price t o * bought t o)) ->
  (forall t, integrable mu (fun o => Rmax 0 (1 - price t o / threshold))) ->
  (forall t, places * mu (fun o => Rmax 0 (1 - price t o / threshold)) + cost / threshold = rate) ->
  mu (fun o => sum T (fun t => price t o * bought t o)) <= cost * INR T + debt ->
  mu (fun o => sum T (fun t => bought t o)) <= most_samples rate threshold (INR T) debt.
Proof.
  intros Ht Hx Ib Ic Ip Hr Hc. rewrite (E_sum mu T (fun t o => price t o * bought t o)) in Hc
    by auto. rewrite E_sum by auto.
  apply Rle_trans with (sum T (fun t => / threshold * mu (fun o => price t o * bought t o) + (rate
    - cost / threshold))).
  - apply sum_le. intros t _. rewrite <- (Hr t).
    replace (places * mu (fun o => Rmax 0 (1 - price t o / threshold)) + cost / threshold
      - cost / threshold)
      with (places * mu (fun o => Rmax 0 (1 - price t o / threshold))) by ring.
    rewrite <- !E_scal, <- E_plus by means. apply E_mono; [auto|means|]. intros o.
    specialize (Hx t o).
    replace (bought t o) with (/ threshold * (price t o * bought t o) + (1
      - price t o / threshold) * bought t o) at 1 by (field; lra).
    apply Rplus_le_compat_l. rewrite (Rmult_comm places).
    pose proof (Rmax_l 0 (1 - price t o / threshold)).
    pose proof (Rmax_r 0 (1 - price t o / threshold)).
    apply Rle_trans with (Rmax 0 (1 - price t o / threshold) * bought t o);
      [apply Rmult_le_compat_r; lra|apply Rmult_le_compat_l; lra].
  - rewrite sum_plus, sum_scal, sum_const. unfold most_samples.
    assert (I : 0 < / threshold) by now apply Rinv_0_lt_compat.
    apply Rmult_le_compat_l with (r := / threshold) in Hc; [|lra]. unfold Rdiv in *. nra.
Qed.

(* Nobody beats the Bayes risk of the most samples that money buys. *)
Theorem nobody_beats {Omega : Type} (mu : mean Omega) (seen : past mu) directions (h s tau : nat
  -> R)
  (theta guess : nat -> Omega -> R) (bought price : nat -> Omega
    -> R) places cost threshold rate debt T
  (samples := fun o => sum T (fun t => bought t o)) :
  (forall j, 0 <= h j) -> (forall j, 0 < s j) -> (forall j, 0 < tau j) ->
  (* whoever learns: given all that was seen, a direction has the variance of the posterior *)
  (forall j, known seen (fun o => given seen (theta j) o - guess j o)) ->
  (forall j o, given seen (fun o => (theta j o - given seen (theta j) o) ^ 2) o
    = / (samples o / s j + / tau j)) ->
  (forall j, integrable mu (theta j) /\ integrable mu samples /\ integrable mu (fun o => (theta j o
    - given seen (theta j) o) ^ 2) /\
     integrable mu (fun o => (given seen (theta j) o - guess j o) ^ 2) /\
     integrable mu (fun o => (given seen (theta j) o - guess j o) * theta j o)) ->
  (* whoever buys: at most S samples a round, within the budget and the debt, in the mean *)
  0 < threshold -> (forall t o, 0 <= bought t o <= places) ->
  (forall t, integrable mu (bought t)) -> (forall t,
    integrable mu (fun o => price t o * bought t o)) ->
  (forall t, integrable mu (fun o => Rmax 0 (1 - price t o / threshold))) ->
  (forall t, places * mu (fun o => Rmax 0 (1 - price t o / threshold)) + cost / threshold = rate) ->
  mu (fun o => sum T (fun t => price t o * bought t o)) <= cost * INR T + debt ->
  sum directions (fun j => bayes_risk (most_samples rate threshold (INR T) debt) (h j) (s j) (tau
    j))
  <= sum directions (fun j => h j / 2 * mu (fun o => (theta j o - guess j o) ^ 2)).
Proof.
  intros Hh Hs Ht Hk Hp Hi H0 Hx Ib Ic Ip Hr Hc. apply sum_le. intros j _.
  apply (risk_of_a_direction mu seen (theta j) (guess j) samples); auto.
  - intros o. apply sum_nonneg. intros. apply Hx.
  - now apply (most_that_money_buys mu bought price places cost threshold rate debt T).
Qed.

(* What is above the Bayes risk of every prior is above its limit: no guarantee for all theta is
   below that. *)
Theorem no_guarantee_is_below samples h s guarantee :
  0 < samples -> 0 < h -> 0 < s -> (forall tau,
    0 < tau -> bayes_risk samples h s tau <= guarantee) ->
  least_risk samples h s <= guarantee.
Proof.
  intros HN Hh Hs H. unfold least_risk, bayes_risk in *. set (a := h * s / 2).
  assert (a0 : 0 < a) by (unfold a; nra).
  replace (h * s / (2 * samples)) with (a / samples) by (unfold a; field; lra).
  assert (G : forall e, 0 < e -> a / (samples + e) <= guarantee).
  { intros e He. specialize (H (s / e) ltac:(now apply Rdiv_lt_0_compat)).
    replace (h * (s / e) * s / (2 * (s + s / e * samples))) with (a / (samples + e)) in H
      by (unfold a; field; repeat split; nra). exact H. }
  apply Rnot_lt_le. intros A. assert (g0 : 0 < guarantee).
  { apply Rlt_le_trans with (a / (samples + 1)); [apply Rdiv_lt_0_compat; lra|apply G; lra]. }
  assert (E : samples < a / guarantee).
  { apply Rmult_lt_reg_r with guarantee; auto.
    replace (a / guarantee * guarantee) with a by (field; lra).
    apply Rmult_lt_compat_r with (r := samples) in A; auto.
    replace (a / samples * samples) with a in A by (field; lra). lra. }
  specialize (G ((a / guarantee - samples) / 2) ltac:(lra)).
  set (m := samples + (a / guarantee - samples) / 2) in *.
  assert (m < a / guarantee) by (unfold m; lra). assert (m0 : 0 < m) by (unfold m; lra).
  apply Rmult_le_compat_r with (r := m) in G; [|lra].
  replace (a / m * m) with a in G by (field; lra).
  apply Rmult_lt_compat_r with (r := guarantee) in H0; auto.
  replace (a / guarantee * guarantee) with a in H0 by (field; lra). lra.
Qed.

(* On every path: whoever buys up to S a round, clairvoyant or not, for no more than C T + D in all,
   buys at most this, for
   every price of money in samples. *)
Theorem what_money_buys (bought price : nat -> R) places cost debt multiplier T :
  0 <= multiplier -> (forall t, 0 <= bought t <= places) ->
  sum T (fun t => price t * bought t) <= cost * INR T + debt ->
  sum T bought <= multiplier * (cost * INR T + debt)
    + places * sum T (fun t => Rmax 0 (1 - multiplier * price t)).
Proof.
  intros Hl Hx Hc.
  apply Rle_trans with (sum T (fun t =>
    multiplier * (price t * bought t) + places * Rmax 0 (1 - multiplier * price t))).
  - apply sum_le. intros t _. specialize (Hx t). pose proof (Rmax_l 0 (1 - multiplier * price t)).
    pose proof (Rmax_r 0 (1 - multiplier * price t)).
    assert ((1 - multiplier * price t) * bought t <= Rmax 0 (1 - multiplier * price t) * bought t)
      by (apply Rmult_le_compat_r; lra).
    assert (Rmax 0 (1 - multiplier * price t) * bought t <= places * Rmax 0 (1
      - multiplier * price t))
      by (rewrite Rmult_comm; apply Rmult_le_compat_r; lra). lra.
  - rewrite sum_plus, !sum_scal. apply Rplus_le_compat_r. now apply Rmult_le_compat_l.
Qed.
