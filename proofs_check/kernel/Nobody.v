(* What nobody beats: whoever buys, by whatever rule, and whatever is learned from it. A Gaussian
   sample adds its precision to that of the prior, and no estimate has a smaller mean square than
   the variance that is left. *)
Require Import Reals Lra Lia Psatz.
From Acdpp Require Import Sums Mean Means NobodyFormulas.
Open Scope R_scope.

(* ---- what a sample says ---- *)

Lemma precision_positive s tau x : 0 < s -> 0 < tau -> 0 <= x -> 0 < x / s + / tau.
Proof.
  intros Hs Ht H. pose proof (Rinv_0_lt_compat tau Ht).
  assert (0 <= x / s) by (apply Rmult_le_pos; [auto|left; now apply Rinv_0_lt_compat]). lra.
Qed.

(* The exponents of a Gaussian prior and of N Gaussian samples add up to that of one Gaussian: its
   precision is that of the prior and 1/s of each sample, whatever their values; what is left over
   does not know theta. *)
Theorem precision_adds_up s tau (z : nat -> R) N :
  0 < s -> 0 < tau ->
  exists centre rest, forall theta,
    theta ^ 2 / tau + sum N (fun i => (z i - theta) ^ 2 / s) = (INR N / s + / tau) * (theta
      - centre) ^ 2 + rest.
Proof.
  intros Hs Ht. induction N as [|N IH].
  - exists 0, 0. intros theta. simpl. field. lra.
  - destruct IH as (c & r & H). set (P := INR N / s + / tau).
    assert (P0 : 0 < P) by (apply precision_positive; auto; apply pos_INR).
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
(* An estimate looks at what was seen. Bayes: given that, the variance of theta is one over the
   precision. *)
Definition learns : Prop :=
  known seen (fun o => centre o - guess o) /\
  (forall o, given seen (fun o => (theta o - centre o) ^ 2) o = / (samples o / s + / tau)) /\
  integrable mu theta /\ integrable mu samples /\
  integrable mu (fun o => (theta o - centre o) ^ 2) /\
  integrable mu (fun o => (centre o - guess o) ^ 2) /\
  integrable mu (fun o => (centre o - guess o) * theta o).
Hypothesis learning : learns.
Hypothesis counts : forall o, 0 <= samples o.

(* The error is what is left of theta, and what the estimate misses besides; the two do not mix. *)
Lemma at_least_the_variance :
  integrable mu (fun o => / (samples o / s + / tau)) /\
  mu (fun o => / (samples o / s + / tau)) <= mu (fun o => (theta o - guess o) ^ 2).
Proof.
  destruct learning as (looks_back & posterior & I1 & I2 & I3 & I4 & I5).
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
  destruct learning as (_ & _ & I1 & I2 & _). destruct at_least_the_variance as [Iv _].
  set (y := mu samples / s + / tau). assert (y0 : 0 < y) by (apply precision_positive; auto;
    now apply E_nonneg).
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
  intros Hh Hm. destruct learning as (_ & _ & _ & I2 & _). destruct at_least_the_variance as [_ V].
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

(* x <= m c x + S (1 - m c)^+ in every round: whoever buys, clairvoyant or not, and whatever a unit
   of money is worth. *)
Lemma a_round (bought places price m : R) :
  0 <= bought <= places -> bought <= m * (price * bought) + places * Rmax 0 (1 - m * price).
Proof.
  intros H. pose proof (Rmax_l 0 (1 - m * price)). pose proof (Rmax_r 0 (1 - m * price)). nra.
Qed.

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
    unfold Rdiv. rewrite (Rmult_comm (price t o) (/ threshold)). now apply a_round.
  - rewrite sum_plus, sum_scal, sum_const. unfold most_samples.
    assert (I : 0 < / threshold) by now apply Rinv_0_lt_compat.
    apply Rmult_le_compat_l with (r := / threshold) in Hc; [|lra]. unfold Rdiv in *. nra.
Qed.

(* Nobody who learns so beats the Bayes risk of the most samples that money buys. *)
Theorem nobody_beats {Omega : Type} (mu : mean Omega) (seen : past mu) directions (h s tau : nat
  -> R)
  (theta guess : nat -> Omega -> R) (bought price : nat -> Omega
    -> R) places cost threshold rate debt T
  (samples := fun o => sum T (fun t => bought t o)) :
  (forall j, 0 <= h j) -> (forall j, 0 < s j) -> (forall j, 0 < tau j) ->
  (forall j, learns mu seen (theta j) (guess j) samples (s j) (tau j)) ->
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
  intros Hh Hs Ht Hl H0 Hx Ib Ic Ip Hr Hc. apply sum_le. intros j _.
  apply (risk_of_a_direction mu seen (theta j) (guess j) samples); auto.
  - intros o. apply sum_nonneg. intros. apply Hx.
  - now apply (most_that_money_buys mu bought price places cost threshold rate debt T).
Qed.

(* What is above the Bayes risk of every prior is above its limit, over all directions together. *)
Lemma above_every_prior directions samples (h s : nat -> R) guarantee
  (least := sum directions (fun j => least_risk samples (h j) (s j))) :
  0 < samples -> (forall j, 0 <= h j) -> (forall j, 0 < s j) ->
  (forall tau, 0 < tau -> sum directions (fun j => bayes_risk samples (h j) (s j) tau) <= guarantee)
  -> least <= guarantee.
Proof.
  (* a prior of variance tau takes at most A / tau away *)
  intros HN Hh Hs H.
  set (A := sum directions (fun j => least_risk samples (h j) (s j) * (s j / samples))).
  assert (L : forall j, 0 <= least_risk samples (h j) (s j)).
  { intros j. apply Rle_mult_inv_pos; [|lra]. apply Rmult_le_pos; [auto|now left]. }
  assert (A0 : 0 <= A) by (apply sum_nonneg; intros; apply Rmult_le_pos;
    [auto|left; now apply Rdiv_lt_0_compat]).
  assert (B : forall tau, 0 < tau -> least - / tau * A <= guarantee).
  { intros tau Ht. apply Rle_trans with (2 := H tau Ht). unfold A, least.
    rewrite <- sum_scal, <- sum_minus. apply sum_le. intros j _. specialize (Hs j).
    set (x := s j / (tau * samples)). assert (X : 0 < x) by (apply Rdiv_lt_0_compat; nra).
    replace (bayes_risk samples (h j) (s j) tau) with (least_risk samples (h j) (s j) * / (1 + x)).
    - replace (least_risk samples (h j) (s j) - / tau * (least_risk samples (h j) (s j) * (s j /
        samples))) with (least_risk samples (h j) (s j) * (1 - x)) by (unfold x; field; lra).
      apply Rmult_le_compat_l; auto. apply Rmult_le_reg_r with (1 + x); [lra|].
      rewrite Rinv_l by lra. nra.
    - unfold least_risk, bayes_risk, x. field. repeat split; nra. }
  apply Rnot_lt_le. intros C. assert (d0 : 0 < least - guarantee) by lra.
  specialize (B ((A + 1) / (least - guarantee)) ltac:(apply Rdiv_lt_0_compat; lra)).
  set (d := least - guarantee) in *.
  replace (/ ((A + 1) / d) * A) with (d * (A / (A + 1))) in B by (field; lra).
  assert (A / (A + 1) < 1) by (apply Rmult_lt_reg_r with (A + 1); [lra|]; field_simplify; lra).
  unfold d in *. nra.
Qed.

(* A guarantee for every theta is one for the mean over every prior. Whoever learns as above, and
   buys as above, has none below the limit, whatever is bought and guessed for each prior. *)
Theorem no_guarantee_is_below directions (h s : nat -> R) places cost threshold rate debt T
  guarantee :
  (forall j, 0 <= h j) -> (forall j, 0 < s j) -> 0 < threshold ->
  0 < most_samples rate threshold (INR T) debt ->
  (forall tau, 0 < tau -> exists (Omega : Type) (mu : mean Omega) (seen : past mu)
    (theta guess bought price : nat -> Omega -> R),
    (forall j,
      learns mu seen (theta j) (guess j) (fun o => sum T (fun t => bought t o)) (s j) tau) /\
    (forall t o, 0 <= bought t o <= places) /\
    (forall t, integrable mu (bought t) /\ integrable mu (fun o => price t o * bought t o) /\
      integrable mu (fun o => Rmax 0 (1 - price t o / threshold)) /\
      places * mu (fun o => Rmax 0 (1 - price t o / threshold)) + cost / threshold = rate) /\
    mu (fun o => sum T (fun t => price t o * bought t o)) <= cost * INR T + debt /\
    sum directions (fun j => h j / 2 * mu (fun o => (theta j o - guess j o) ^ 2)) <= guarantee) ->
  sum directions (fun j => least_risk (most_samples rate threshold (INR T) debt) (h j) (s j))
  <= guarantee.
Proof.
  intros Hh Hs Ht HN H. apply above_every_prior; auto. intros tau tau0.
  destruct (H tau tau0) as (Omega & mu & seen & theta & guess & bought & price & L & Bx & I & M
    & G).
  apply Rle_trans with (2 := G).
  apply (nobody_beats mu seen directions h s (fun _ => tau) theta guess bought price places cost
    threshold rate debt T); auto; intros t; now destruct (I t) as (I1 & I2 & I3 & I4).
Qed.

(* On every path: whoever buys up to S a round, clairvoyant or not, for no more than C T + D in all,
   buys at most this, for every price of money in samples. *)
Theorem what_money_buys (bought price : nat -> R) places cost debt multiplier T :
  0 <= multiplier -> (forall t, 0 <= bought t <= places) ->
  sum T (fun t => price t * bought t) <= cost * INR T + debt ->
  sum T bought <= multiplier * (cost * INR T + debt)
    + places * sum T (fun t => Rmax 0 (1 - multiplier * price t)).
Proof.
  intros Hl Hx Hc.
  apply Rle_trans with (sum T (fun t =>
    multiplier * (price t * bought t) + places * Rmax 0 (1 - multiplier * price t))).
  - apply sum_le. intros t _. now apply a_round.
  - rewrite sum_plus, !sum_scal. apply Rplus_le_compat_r. now apply Rmult_le_compat_l.
Qed.

(* ---- such learners exist ---- *)

Lemma a_coin : exists m : mean bool,
  (forall f, integrable m f) /\ forall f, m f = (f true + f false) / 2.
Proof.
  unshelve eexists.
  - refine {| integrable := fun _ => True; E := fun f => (f true + f false) / 2 |}; auto;
      intros; try field.
    pose proof (H1 true). pose proof (H1 false). lra.
  - split; [easy|reflexivity].
Qed.

(* What nobody_beats asks for can be met, along one direction, for any number of samples and any
   purchases that add up to it, since every variable has a mean; and then its bound is attained: the
   guess is the part of theta that is seen, and the variance of the other is the posterior's. *)
Theorem such_a_learner_exists h s tau samples : 0 < s -> 0 < tau -> 0 <= samples ->
  exists (Omega : Type) (mu : mean Omega) (seen : past mu) (theta guess : Omega -> R),
    learns mu seen theta guess (fun _ => samples) s tau /\ (forall f, integrable mu f) /\
    mu theta = 0 /\ mu (fun o => theta o ^ 2) = tau /\
    h / 2 * mu (fun o => (theta o - guess o) ^ 2) = bayes_risk samples h s tau.
Proof.
  intros Hs Ht HN. destruct a_coin as (c & Ic & Ec). destruct (a_past_exists c c) as (P & Pk & Pg).
  set (v := / (samples / s + / tau)). pose proof (precision_positive s tau samples Hs Ht HN) as Q.
  assert (V0 : 0 < v) by now apply Rinv_0_lt_compat.
  assert (V1 : v <= tau).
  { unfold v. rewrite <- (Rinv_inv tau) at 2.
    apply Rinv_le_contravar; [now apply Rinv_0_lt_compat|].
    assert (0 <= samples / s) by (apply Rmult_le_pos; [auto|left; now apply Rinv_0_lt_compat]).
    lra. }
  set (sign := fun b : bool => if b then 1 else -1).
  set (x := sqrt (tau - v)). set (y := sqrt v).
  assert (X : x ^ 2 = tau - v) by (unfold x; rewrite pow2_sqrt; lra).
  assert (Y : y ^ 2 = v) by (unfold y; rewrite pow2_sqrt; lra).
  set (theta := fun o : bool * bool => x * sign (fst o) + y * sign (snd o)).
  set (guess := fun o : bool * bool => x * sign (fst o)).
  assert (I : forall f, integrable (product c c) f) by (intros f; simpl; auto).
  assert (M : forall f, product c c f
    = (f (true, true) + f (true, false) + f (false, true) + f (false, false)) / 4)
    by (intros f; simpl; rewrite !Ec; field).
  assert (G : forall o, given P theta o = guess o).
  { intros [a b]. rewrite Pg, Ec. unfold theta, guess. simpl. field. }
  exists (bool * bool)%type, (product c c), P, theta, guess.
  split; [split; [|split; [|auto]]|split; [auto|split; [|split]]].
  - replace (fun o => given P theta o - guess o)
      with (fun o : bool * bool => (fun _ : bool => 0) (fst o)).
    + apply (Pk (fun _ => 0)).
    + apply FunctionalExtensionality.functional_extensionality. intros o. rewrite G. ring.
  - intros [a b]. rewrite Pg, Ec, !G. unfold theta, guess. simpl. fold v. rewrite <- Y. simpl.
    field.
  - rewrite M. unfold theta. simpl. field.
  - rewrite M. unfold theta. simpl. replace tau with (x ^ 2 + y ^ 2) by lra. simpl. field.
  - rewrite M. unfold theta, guess. simpl.
    replace (h / 2 * _) with (h / 2 * y ^ 2) by (simpl; field). rewrite Y. unfold v, bayes_risk.
    field. repeat split; nra.
Qed.
