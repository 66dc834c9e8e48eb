(* Learning: a round of projected local steps on convex losses, in any inner-product space, and T of
   them. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Acdpp Require Import Sums Mean LearningFormulas.
Open Scope R_scope.

(* What is needed of a space: sums, multiples, and a product that is linear, symmetric and not
   negative. *)
Record space : Type := {
  V :> Type;
  zero : V;
  plus : V -> V -> V;
  scal : R -> V -> V;
  inner : V -> V -> R;
  inner_zero : forall z, inner zero z = 0;
  inner_plus : forall x y z, inner (plus x y) z = inner x z + inner y z;
  inner_scal : forall a x z, inner (scal a x) z = a * inner x z;
  inner_sym : forall x y, inner x y = inner y x;
  inner_pos : forall x, 0 <= inner x x
}.
Arguments zero {s}.
Arguments plus {s}.
Arguments scal {s}.
Arguments inner {s}.

Section Space.
Context {X : space}.
Implicit Types x y z : X.

Definition minus x y : X := plus x (scal (-1) y).
Definition norm x : R := sqrt (inner x x).

Lemma inner_minus x y z : inner (minus x y) z = inner x z - inner y z.
Proof. unfold minus. rewrite inner_plus, inner_scal. ring. Qed.
Lemma inner_plus_r x y z : inner z (plus x y) = inner z x + inner z y.
Proof. now rewrite !(inner_sym _ z), inner_plus. Qed.
Lemma inner_scal_r a x z : inner z (scal a x) = a * inner z x.
Proof. now rewrite !(inner_sym _ z), inner_scal. Qed.
Lemma inner_minus_r x y z : inner z (minus x y) = inner z x - inner z y.
Proof. now rewrite !(inner_sym _ z), inner_minus. Qed.

Lemma norm_nonneg x : 0 <= norm x.
Proof. apply sqrt_pos. Qed.
Lemma norm_square x : norm x * norm x = inner x x.
Proof. apply sqrt_sqrt, inner_pos. Qed.
Lemma norm_le x r : 0 <= r -> inner x x <= r * r -> norm x <= r.
Proof. intros Hr H. unfold norm. rewrite <- (sqrt_square r) by auto. now apply sqrt_le_1_alt. Qed.

(* Cauchy and Schwarz: |x - c y|^2 is not negative for any c. *)
Lemma cauchy_schwarz x y : inner x y <= norm x * norm y.
Proof.
  set (a := inner x x). set (b := inner y y). set (c := inner x y).
  assert (H : c * c <= a * b).
  { assert (Q : forall k, 0 <= a - 2 * k * c + k * k * b).
    { intros k. pose proof (inner_pos X (minus x (scal k y))) as P.
      rewrite inner_minus, !inner_minus_r, !inner_scal, !inner_scal_r, (inner_sym _ y x) in P.
      fold a b c in P. lra. }
    pose proof (inner_pos X x). pose proof (inner_pos X y). fold a in H. fold b in H0.
    destruct (Req_dec b 0) as [Z|Z].
    - destruct (Req_dec c 0) as [Y|Y]; [rewrite Y; nra|]. specialize (Q ((a + 1) / (2 * c))).
      rewrite Z in Q.
      replace (2 * ((a + 1) / (2 * c)) * c) with (a + 1) in Q by (field; auto). lra.
    - specialize (Q (c / b)). assert (0 < b) by lra.
      replace (a - 2 * (c / b) * c + c / b * (c / b) * b) with ((a * b - c * c) / b) in Q
        by (field; lra).
      apply Rmult_le_compat_r with (r := b) in Q; [|lra].
      replace ((a * b - c * c) / b * b) with (a * b - c * c) in Q by (field; lra). lra. }
  unfold norm. rewrite <- sqrt_mult by apply inner_pos. fold a b.
  destruct (Rle_dec c 0); [apply Rle_trans with 0; [auto|apply sqrt_pos]|].
  rewrite <- (sqrt_square c) by lra. now apply sqrt_le_1_alt.
Qed.

Lemma triangle x y : norm (plus x y) <= norm x + norm y.
Proof.
  apply norm_le; [pose proof (norm_nonneg x); pose proof (norm_nonneg y); lra|].
  rewrite inner_plus, !inner_plus_r, (inner_sym _ y x). pose proof (cauchy_schwarz x y).
  rewrite <- !norm_square. lra.
Qed.

(* Weighted sums of vectors. *)
Fixpoint vsum (n : nat) (v : nat -> X) : X := match n
  with O => zero | S m => plus (vsum m v) (v m) end.
Lemma inner_vsum n v z : inner (vsum n v) z = sum n (fun i => inner (v i) z).
Proof. induction n; simpl; [apply inner_zero|]. now rewrite inner_plus, IHn. Qed.

(* ---- projection ---- *)

Definition convex (Theta : X -> Prop) : Prop :=
  forall p x t, Theta p -> Theta x -> 0 <= t <= 1 -> Theta (plus p (scal t (minus x p))).
Definition nearest (Theta : X -> Prop) (y p : X) : Prop :=
  Theta p /\ forall z, Theta z -> inner (minus y p) (minus y p) <= inner (minus y z) (minus y z).

(* The nearest point of a convex set lies in it, and is no farther from any of its points. *)
Theorem projection Theta y p x :
  convex Theta -> nearest Theta y p -> Theta x -> Theta p /\ inner (minus p x) (minus p x)
    <= inner (minus y x) (minus y x).
Proof.
  intros Hc [Hp Hn] Hx. split; [exact Hp|]. set (u := inner (minus y p) (minus x p)).
  set (q := inner (minus x p) (minus x p)).
  assert (K : forall t, 0 < t <= 1 -> 2 * u <= t * q).
  { intros t Ht. specialize (Hn _ (Hc p x t Hp Hx (conj (Rlt_le _ _ (proj1 Ht)) (proj2 Ht)))).
    assert (E : inner (minus y (plus p (scal t (minus x p)))) (minus y (plus p (scal t (minus x
      p))))
                = inner (minus y p) (minus y p) - 2 * t * u + t * t * q).
    { unfold u, q. repeat rewrite ?inner_minus, ?inner_minus_r, ?inner_plus, ?inner_plus_r,
        ?inner_scal, ?inner_scal_r, ?inner_minus, ?inner_minus_r.
      rewrite (inner_sym _ p y), (inner_sym _ x y), (inner_sym _ x p). ring. }
    rewrite E in Hn. nra. }
  assert (Q : 0 <= q) by apply inner_pos.
  assert (U : u <= 0).
  { apply Rnot_lt_le. intros L. destruct (Rle_dec q u) as [A|A]; [specialize (K 1); lra|].
    assert (0 < q) by lra. assert (W : 0 < u / q <= 1).
    { split; [now apply Rdiv_lt_0_compat|]. apply Rmult_le_reg_r with q; auto. unfold Rdiv.
      rewrite Rmult_assoc, Rinv_l by lra. lra. }
    specialize (K _ W). replace (u / q * q) with u in K by (field; lra). lra. }
  assert (E : inner (minus y x) (minus y x) = inner (minus y p) (minus y p) - 2 * u
    + inner (minus p x) (minus p x)).
  { unfold u. repeat rewrite ?inner_minus, ?inner_minus_r.
    rewrite (inner_sym _ p y), (inner_sym _ x y), (inner_sym _ x p). ring. }
  pose proof (inner_pos X (minus y p)). lra.
Qed.

(* ---- one round, on one path ---- *)

Section Round.
Variables (Theta : X -> Prop) (D eta L G : R) (E clients : nat).
Hypotheses (eta0 : 0 < eta) (L0 : 0 < L) (G0 : 0 < G) (E1 : (0 < E)%nat).
Hypothesis Theta_convex : convex Theta.
Hypothesis diameter : forall x y, Theta x -> Theta y -> norm (minus x y) <= D.
Variables (theta star after : X).
Hypotheses (theta_in : Theta theta) (star_in : Theta star).
(* clients, their weights, the gradients of their memories and the local steps *)
Variables (w : nat -> R) (grad : nat -> X -> X) (local : nat -> nat -> X).
Hypothesis w0 : forall m, (m < clients)%nat -> 0 <= w m.
Hypothesis w1 : sum clients w = 1.
Hypothesis start : forall m, local m O = theta.
Hypothesis stepped : forall m e, local m (S e) = minus (local m e) (scal eta (grad m (local m e))).
Hypothesis bounded : forall m e, (e < E)%nat -> norm (grad m (local m e)) <= G.
Hypothesis lipschitz : forall m e, (e < E)%nat ->
  norm (minus (grad m (local m e)) (grad m theta)) <= L * norm (minus (local m e) theta).
Let average : X := vsum clients (fun m => scal (w m) (local m E)).
Hypothesis projected : nearest Theta average after.
(* the gradient of the memory, that over all samples, and the convex objective that it belongs to *)
Let memory : X := vsum clients (fun m => scal (w m) (grad m theta)).
Variables (all : X) (gap : R).
Hypothesis objective_convex : gap <= inner all (minus theta star).
Let x : X := minus theta star.
Let mismatch : R := norm (minus all memory).

(* e local steps of at most eta G lead at most eta e G away *)
Lemma away m e : (e <= E)%nat -> norm (minus (local m e) theta) <= eta * INR e * G.
Proof.
  induction e; intros He.
  - rewrite start. apply norm_le; [simpl; lra|]. rewrite inner_minus, !inner_minus_r. simpl. nra.
  - rewrite stepped, S_INR. set (d := minus (local m e) theta) in *. set (g := grad m (local m e)).
    apply Rle_trans with (norm (plus d (scal (- eta) g))).
    + right. unfold norm. f_equal. unfold d.
      repeat rewrite ?inner_minus, ?inner_minus_r, ?inner_plus, ?inner_plus_r, ?inner_scal,
        ?inner_scal_r, ?inner_minus, ?inner_minus_r. ring.
    + pose proof (triangle d (scal (- eta) g)). pose proof (bounded m e He) as B. fold g in B.
      assert (I : norm d <= eta * INR e * G) by (apply IHe; lia).
      assert (norm (scal (- eta) g) <= eta * G).
      { apply norm_le; [nra|]. rewrite inner_scal, inner_scal_r, <- norm_square.
        pose proof (norm_nonneg g).
        assert (Q : norm g * norm g <= G * G) by (apply Rmult_le_compat; auto).
        replace (- eta * (- eta * (norm g * norm g))) with (eta * eta * (norm g * norm g)) by ring.
        replace (eta * G * (eta * G)) with (eta * eta * (G * G)) by ring.
        apply Rmult_le_compat_l; [nra|auto]. }
      lra.
Qed.

Lemma x_at_most : norm x <= D.
Proof. now apply diameter. Qed.

Lemma local_inner m e z : inner (local m e) z = inner theta z
  - eta * sum e (fun i => inner (grad m (local m i)) z).
Proof. induction e; [rewrite start; simpl; ring|]. rewrite stepped, inner_minus, inner_scal, IHe.
simpl. ring. Qed.

(* The local gradients point as the memory's does, up to the drift of the local steps. *)
Lemma drift m e : (e < E)%nat -> inner (grad m theta) x - L * (eta * INR e * G) * D
  <= inner (grad m (local m e)) x.
Proof.
  intros He. pose proof (cauchy_schwarz (minus (grad m theta) (grad m (local m e))) x) as C.
  rewrite inner_minus in C.
  assert (N : norm (minus (grad m theta) (grad m (local m e))) <= L * (eta * INR e * G)).
  { apply Rle_trans with (norm (minus (grad m (local m e)) (grad m theta))).
    - right. unfold norm. f_equal. rewrite !inner_minus, !inner_minus_r. ring.
    - apply Rle_trans with (1 := lipschitz m e He). apply Rmult_le_compat_l; [lra|]. apply away.
      lia. }
  pose proof x_at_most. pose proof (norm_nonneg x).
  pose proof (norm_nonneg (minus (grad m theta) (grad m (local m e)))).
  assert (norm (minus (grad m theta) (grad m (local m e))) * norm x <= L * (eta * INR e * G) * D)
    by (apply Rmult_le_compat; auto).
  lra.
Qed.

Lemma sum_rounds_counted n : 2 * sum n INR = INR n * (INR n - 1).
Proof. induction n; [simpl; ring|]. cbn [sum]. rewrite S_INR. lra. Qed.

Definition moved : X := vsum clients (fun m => scal (w m) (vsum E (fun e => grad m (local m e)))).

Lemma average_inner z : inner average z = inner theta z - eta * inner moved z.
Proof.
  unfold average, moved. rewrite !inner_vsum.
  rewrite (sum_ext clients _ (fun m => w m * inner theta z
    - eta * (w m * sum E (fun i => inner (grad m (local m i)) z))))
    by (intros; rewrite inner_scal, local_inner; ring).
  rewrite sum_minus, sum_scal_r, w1, sum_scal.
  rewrite (sum_ext clients (fun i => inner (scal (w i) _) z) (fun m => w m * sum E (fun i => inner
    (grad m (local m i)) z)))
    by (intros; rewrite inner_scal, inner_vsum; ring).
  ring.
Qed.

Lemma moved_at_most : norm moved <= INR E * G.
Proof.
  assert (B : inner moved moved <= INR E * G * norm moved).
  { unfold moved at 1. rewrite inner_vsum. apply Rle_trans
      with (sum clients (fun m => w m * (INR E * (G * norm moved)))).
    - apply sum_le. intros m Hm. rewrite inner_scal, inner_vsum. apply Rmult_le_compat_l; auto.
      rewrite <- sum_const. apply sum_le.
      intros e He. apply Rle_trans with (1 := cauchy_schwarz _ _).
      apply Rmult_le_compat_r; [apply norm_nonneg|now apply bounded].
    - rewrite sum_scal_r, w1. lra. }
  rewrite <- norm_square in B. pose proof (norm_nonneg moved). pose proof (pos_INR E).
  apply Rnot_lt_le. intros A. assert (0 < norm moved) by nra. nra.
Qed.

Lemma moved_along : INR E * inner memory x - eta * L * G * D * (INR E * (INR E - 1) / 2)
  <= inner moved x.
Proof.
  unfold moved, memory. rewrite !inner_vsum.
  apply Rle_trans with (sum clients (fun m => w m * (INR E * inner (grad m theta) x
    - eta * L * G * D * (INR E * (INR E - 1) / 2)))).
  - right. rewrite (sum_ext clients (fun m => w m * (INR E * inner (grad m theta) x
      - eta * L * G * D * (INR E * (INR E - 1) / 2)))
      (fun m => INR E * (inner (scal (w m) (grad m theta)) x)
        - w m * (eta * L * G * D * (INR E * (INR E - 1) / 2)))) by (intros; rewrite inner_scal;
            ring).
    rewrite sum_minus, sum_scal, sum_scal_r, w1. ring.
  - apply sum_le. intros m Hm. rewrite inner_scal, inner_vsum. apply Rmult_le_compat_l; auto.
    apply Rle_trans with (sum E (fun e => inner (grad m theta) x - eta * L * G * D * INR e)).
    + right. rewrite sum_minus, sum_const, sum_scal. pose proof (sum_rounds_counted E). nra.
    + apply sum_le. intros e He. pose proof (drift m e He). nra.
Qed.

(* On every path: what a round does to the squared distance from any point of the set. *)
Lemma round_path :
  inner (minus after star) (minus after star)
  <= inner x x - 2 * eta * INR E * gap + 2 * eta * INR E * (D * mismatch)
     + eta ^ 2 * D * L * G * (INR E * (INR E - 1)) + (eta * INR E * G) ^ 2.
Proof.
  apply Rle_trans with (1 := proj2 (projection _ _ _ _ Theta_convex projected star_in)).
  assert (Ex : inner (minus average star) (minus average star) = inner x x
    - 2 * eta * inner moved x + eta ^ 2 * inner moved moved).
  { unfold x. rewrite !inner_minus, !inner_minus_r.
    rewrite !average_inner, (inner_sym _ star average), average_inner, (inner_sym _ theta average),
      average_inner.
    rewrite (inner_sym _ moved average), average_inner.
    rewrite (inner_sym _ theta moved), (inner_sym _ star theta). ring. }
  rewrite Ex. pose proof moved_along as A. pose proof moved_at_most as M.
  pose proof (norm_nonneg moved) as N. rewrite <- (norm_square moved).
  assert (S2 : norm moved * norm moved <= (INR E * G) * (INR E * G)) by (apply Rmult_le_compat;
    auto).
  assert (P : gap - D * mismatch <= inner memory x).
  { pose proof (cauchy_schwarz (minus all memory) x) as C. rewrite inner_minus in C.
    fold mismatch in C.
    assert (mismatch * norm x <= mismatch * D) by (apply Rmult_le_compat_l;
      [apply norm_nonneg|apply x_at_most]).
    pose proof objective_convex. fold x in H0. lra. }
  assert (EE : 0 < INR E) by now apply lt_0_INR.
  assert (INR E * (gap - D * mismatch) <= INR E * inner memory x) by (apply Rmult_le_compat_l; lra).
  assert (eta ^ 2 * (norm moved * norm moved) <= eta ^ 2 * (INR E * G * (INR E * G)))
    by (apply Rmult_le_compat_l; [nra|auto]).
  assert (2 * eta * (INR E * (gap - D * mismatch) - eta * L * G * D * (INR E * (INR E - 1) / 2))
    <= 2 * eta * inner moved x) by (apply Rmult_le_compat_l; lra).
  nra.
Qed.
End Round.

(* A round from theta to after: E local steps of every client on the gradients of its memory, an
   average with weights that add up to 1, a projection. `all` is a gradient whose objective is
   convex: it falls by at most <all, x> on the way to star. For E = 1 the condition with L says
   nothing. *)
Definition a_round (Theta : X -> Prop) (eta L G : R) (E : nat) (theta star after : X) (gap mismatch
  : R) : Prop :=
  exists (clients : nat) (w : nat -> R) (grad : nat -> X -> X) (local : nat -> nat -> X) (all : X),
    (forall m, (m < clients)%nat -> 0 <= w m) /\ sum clients w = 1 /\
    (forall m, local m O = theta) /\
    (forall m e, local m (S e) = minus (local m e) (scal eta (grad m (local m e)))) /\
    (forall m e, (e < E)%nat -> norm (grad m (local m e)) <= G) /\
    (forall m e, (e < E)%nat ->
      norm (minus (grad m (local m e)) (grad m theta)) <= L * norm (minus (local m e) theta)) /\
    nearest Theta (vsum clients (fun m => scal (w m) (local m E))) after /\
    gap <= inner all (minus theta star) /\
    mismatch = norm (minus all (vsum clients (fun m => scal (w m) (grad m theta)))).

Definition apart (x y : X) : R := inner (minus x y) (minus x y).

(* ---- in the mean ---- *)

Section Rounds.
Variables (Theta : X -> Prop) (D sigma eta B Pdim L G : R) (E : nat).
Hypotheses (D0 : 0 < D) (sigma0 : 0 < sigma) (eta0 : 0 < eta) (L0 : 0 < L) (G0 : 0 < G) (E1 : (0 <
  E)%nat).
Hypothesis Theta_convex : convex Theta.
Hypothesis diameter : forall x y, Theta x -> Theta y -> norm (minus x y) <= D.
Variables (Omega : Type) (mu : mean Omega) (star : X).
Hypothesis star_in : Theta star.

Lemma steps_positive : 0 < eta * INR E.
Proof. apply Rmult_lt_0_compat; [auto|now apply lt_0_INR]. Qed.

(* What a round is about has means: the distances before and after, the gap, the mismatch and its
   square. *)
Definition has_means (theta after : Omega -> X) (gap mismatch : Omega -> R) : Prop :=
  integrable mu (fun o => apart (theta o) star) /\ integrable mu (fun o => apart (after o) star) /\
  integrable mu gap /\ integrable mu mismatch /\ integrable mu (fun o => mismatch o ^ 2).

(* A mean square of at most sigma^2 chi bounds the mean (Jensen). *)
Lemma mean_mismatch (mismatch : Omega -> R) chi :
  integrable mu mismatch -> integrable mu (fun o => mismatch o ^ 2) ->
  0 <= chi -> mu (fun o => mismatch o ^ 2) <= sigma ^ 2 * chi -> mu mismatch <= sigma * sqrt chi.
Proof.
  intros I1 I2 H0 H. pose proof (E_jensen mu mismatch I1 I2).
  assert (S : 0 <= sigma * sqrt chi) by (apply Rmult_le_pos; [lra|apply sqrt_pos]).
  apply Rnot_lt_le. intros A. assert ((sigma * sqrt chi) ^ 2 = sigma ^ 2 * chi) by (simpl;
    pose proof (sqrt_sqrt chi H0); nra). nra.
Qed.

(* The recursion without the linear term, and with half of what stands with G^2. *)
Theorem recursion_sharper (theta after : Omega -> X) (gap mismatch : Omega -> R) chi :
  (forall o, Theta (theta o)) -> (forall o, a_round Theta eta L G E (theta o) star (after o) (gap o)
    (mismatch o)) ->
  has_means theta after gap mismatch -> 0 <= chi -> mu (fun o => mismatch o ^ 2)
    <= sigma ^ 2 * chi ->
  mu (fun o => apart (after o) star)
  <= mu (fun o => apart (theta o) star) - 2 * (eta * INR E) * mu gap
     + 2 * (eta * INR E) * (root_term chi D sigma eta B Pdim E L G + eta * INR E * G ^ 2 / 2
         + eta * D * L * G * (INR E - 1) / 2).
Proof.
  intros Hin Hr (I1 & I2 & I3 & I4 & I5) H0 Hm. pose proof steps_positive as P.
  pose proof (mean_mismatch mismatch chi I4 I5 H0 Hm) as M.
  set (c := eta ^ 2 * D * L * G * (INR E * (INR E - 1)) + (eta * INR E * G) ^ 2).
  apply Rle_trans with (mu (fun o => apart (theta o) star + (- (2 * (eta * INR E))) * gap o
    + 2 * (eta * INR E) * D * mismatch o + c)).
  - apply E_mono; [auto|means|]. intros o. destruct (Hr o) as (clients & w & grad & local & all & H1
      & H2 & H3 & H4 & H5 & H6 & H7 & H8 & H9).
    pose proof (round_path Theta D eta L G E clients eta0 L0 G0 E1 Theta_convex diameter (theta o)
      star (after o) (Hin o) star_in
      w grad local H1 H2 H3 H4 H5 H6 H7 all (gap o) H8) as R. rewrite <- H9 in R. unfold apart, c.
      lra.
  - rewrite !E_plus, !E_scal, E_const by means. unfold root_term, c.
    assert (2 * (eta * INR E) * D * mu mismatch <= 2 * (eta * INR E) * D * (sigma * sqrt chi))
      by (apply Rmult_le_compat_l; nra).
    nra.
Qed.

(* The recursion, corrected: gap to star, eta E for eta. *)
Theorem recursion (theta after : Omega -> X) (gap mismatch : Omega -> R) chi :
  (forall o, Theta (theta o)) -> (forall o, a_round Theta eta L G E (theta o) star (after o) (gap o)
    (mismatch o)) ->
  has_means theta after gap mismatch -> 0 <= chi -> mu (fun o => mismatch o ^ 2)
    <= sigma ^ 2 * chi ->
  mu (fun o => apart (after o) star)
  <= mu (fun o => apart (theta o) star) - 2 * (eta * INR E) * mu gap
     + 2 * (eta * INR E) * (linear_term chi D sigma eta B Pdim E L G
         + per_round_constant D sigma eta B Pdim E L G
                            + root_term chi D sigma eta B Pdim E L G).
Proof.
  intros Hin Hr Hi H0 Hm. pose proof (recursion_sharper theta after gap mismatch chi Hin Hr Hi H0
    Hm) as R. pose proof steps_positive as P.
  apply Rle_trans with (1 := R). unfold linear_term, per_round_constant.
  assert (0 <= chi * eta * INR E * sigma ^ 2) by (replace (chi * eta * INR E * sigma ^ 2)
    with (chi * (eta * INR E) * sigma ^ 2) by ring; apply Rmult_le_pos; nra).
  assert (0 <= eta * INR E * G ^ 2) by (apply Rmult_le_pos; nra).
  apply Rplus_le_compat_l. apply Rmult_le_compat_l; nra.
Qed.

(* ---- T rounds ---- *)

Variables (T : nat) (theta : nat -> Omega -> X) (gap mismatch : nat -> Omega -> R) (chi : nat -> R).
Hypothesis inside : forall o, Theta (theta O o).
Hypothesis rounds : forall t o, a_round Theta eta L G E (theta t o) star (theta (S t) o) (gap t o)
  (mismatch t o).
Hypothesis means : forall t, has_means (theta t) (theta (S t)) (gap t) (mismatch t).
Hypothesis chi0 : forall t, 0 <= chi t.
Hypothesis small : forall t, mu (fun o => mismatch t o ^ 2) <= sigma ^ 2 * chi t.

Lemma stays t o : Theta (theta t o).
Proof. destruct t; [apply inside|]. destruct (rounds t o) as (? & ? & ? & ? & ? & _ & _ & _ & _ & _
  & _ & [H _] & _). exact H. Qed.

(* The cumulative optimisation error: divided by 2 eta E the squared distances telescope, and D^2/(2
   eta E) is paid once. *)
Theorem cumulative_optimisation :
  sum T (fun t => mu (gap t))
  <= initial_term D sigma eta B Pdim E L G
     + sum T (fun t => linear_term (chi t) D sigma eta B Pdim E L G
         + root_term (chi t) D sigma eta B Pdim E L G)
     + INR T * per_round_constant D sigma eta B Pdim E L G.
Proof.
  pose proof steps_positive as P. set (d := fun t => mu (fun o => apart (theta t o) star)).
  assert (S1 : sum T (fun t => mu (gap t)) <= sum T (fun t => - / (2 * (eta * INR E)) * (d (S t)
    - d t)
      + (linear_term (chi t) D sigma eta B Pdim E L G + root_term (chi t) D sigma eta B Pdim E L G
          + per_round_constant D sigma eta B Pdim E L G))).
  { apply sum_le. intros t _. pose proof (recursion (theta t) (theta (S t)) (gap t) (mismatch t)
      (chi t) (stays t) (rounds t) (means t) (chi0 t) (small t)) as R.
    fold (d t) (d (S t)) in R. set (k := 2 * (eta * INR E)) in *. assert (0 < k) by (unfold k; lra).
    apply Rmult_le_reg_l with k; [auto|]. rewrite Rmult_plus_distr_l.
    replace (k * (- / k * (d (S t) - d t))) with (d t - d (S t)) by (field; lra). lra. }
  rewrite sum_plus, sum_scal, telescope, sum_plus, sum_const in S1.
  assert (D1 : d O <= D * D).
  { unfold d. rewrite <- (E_const mu (D * D)). apply E_mono; [apply (means O)|apply I_const|].
    intros o. unfold apart. rewrite <- norm_square.
    apply Rmult_le_compat; try apply norm_nonneg; now apply diameter. }
  assert (D2 : 0 <= d T) by (apply E_nonneg; [apply (means T)|intros; apply inner_pos]).
  assert (- / (2 * (eta * INR E)) * (d T - d O) <= initial_term D sigma eta B Pdim E L G).
  { assert (0 < INR E) by now apply lt_0_INR. unfold initial_term.
    apply Rmult_le_reg_l with (2 * (eta * INR E)); [lra|].
    replace (2 * (eta * INR E) * (- / (2 * (eta * INR E)) * (d T - d O))) with (d O - d T)
      by (field; lra).
    replace (2 * (eta * INR E) * (D ^ 2 / (2 * eta * INR E))) with (D * D) by (field; split; lra).
    lra. }
  lra.
Qed.

(* Theorem 1, corrected, from three statistical facts: the squared mismatch has mean at most sigma^2
   chi, the objective is unbiased at star, and it deviates by no more than the generalisation term
   from the population's risk. *)
Theorem theorem_1 (population : X -> R) (objective : nat -> Omega -> X
  -> R) (inverse_effective N : nat -> R) :
  (forall t o, gap t o = objective t o (theta t o) - objective t o star) ->
  (forall t, integrable mu (fun o => objective t o star)) ->
  (forall t, integrable mu (fun o => population (theta t o) - objective t o (theta t o))) ->
  (forall t, mu (fun o => objective t o star) = population star) ->
  (forall t, mu (fun o => population (theta t o) - objective t o (theta t o))
             <= generalisation_term (inverse_effective t) (N t) D sigma eta B Pdim E L G) ->
  sum T (fun t => mu (fun o => population (theta t o) - population star))
  <= initial_term D sigma eta B Pdim E L G
     + sum T (fun t => linear_term (chi t) D sigma eta B Pdim E L G
         + root_term (chi t) D sigma eta B Pdim E L G
                       + generalisation_term (inverse_effective t) (N t) D sigma eta B Pdim E L G)
     + INR T * per_round_constant D sigma eta B Pdim E L G.
Proof.
  intros Hg I1 I2 Hu Hd. pose proof cumulative_optimisation as C.
  assert (S1 : sum T (fun t => mu (fun o => population (theta t o) - population star))
    <= sum T (fun t => mu (gap t) + generalisation_term (inverse_effective t) (N t) D sigma eta B
      Pdim E L G)).
  { apply sum_le. intros t _.
    destruct (means t) as (_ & _ & I3 & _).
    assert (I4 : integrable mu (fun o => objective t o star + - population star)) by (apply I_plus;
      [auto|apply I_const]).
    rewrite (E_as mu _ (fun o => (population (theta t o) - objective t o (theta t o)) + (gap t o
      + (objective t o star + - population star))))
      by ((intros; rewrite Hg; ring) || auto using I_plus).
    rewrite !E_plus, Hu, E_const by auto using I_plus, I_const. specialize (Hd t). lra. }
  rewrite sum_plus in S1. rewrite (sum_plus T (fun t => linear_term (chi t) D sigma eta B Pdim E L G
    + root_term (chi t) D sigma eta B Pdim E L G)). lra.
Qed.
End Rounds.

(* One local step: the printed right-hand side is right, once the gap is that to star. *)
Theorem one_local_step Theta D sigma eta B Pdim L G (Omega : Type) (mu : mean Omega) star
  (theta after : Omega -> X) (gap mismatch : Omega -> R) chi :
  0 < D -> 0 < sigma -> 0 < eta -> 0 < L -> 0 < G -> convex Theta ->
  (forall x y, Theta x -> Theta y -> norm (minus x y) <= D) -> Theta star ->
  (forall o, Theta (theta o)) -> (forall o, a_round Theta eta L G 1 (theta o) star (after o) (gap o)
    (mismatch o)) ->
  has_means Omega mu star theta after gap mismatch -> 0 <= chi -> mu (fun o => mismatch o ^ 2)
    <= sigma ^ 2 * chi ->
  mu (fun o => apart (after o) star)
  <= mu (fun o => apart (theta o) star) - 2 * eta * mu gap
     + 2 * eta * (linear_term_as_stated chi D sigma eta B Pdim 1 L G
         + per_round_constant_as_stated D sigma eta B Pdim 1 L G
                  + root_term_as_stated chi D sigma eta B Pdim 1 L G).
Proof.
  intros HD Hs He HL HG Hc Hd Hst Hin Hr Hi H0 Hm.
  pose proof (recursion_sharper Theta D sigma eta B Pdim L G 1 HD Hs He HL HG (le_n 1) Hc Hd Omega
    mu star Hst theta after gap mismatch chi Hin Hr Hi H0 Hm) as R.
  simpl (INR 1) in R. rewrite Rmult_1_r in R. apply Rle_trans with (1 := R).
  unfold linear_term_as_stated, per_round_constant_as_stated, root_term_as_stated, root_term.
  simpl (INR 1).
  replace (8 * 1 - 8) with 0 by ring. rewrite sqrt_0. replace (4 * 1 - 4) with 0 by ring.
  assert (0 <= eta * chi * sigma ^ 2) by (apply Rmult_le_pos; nra).
  assert (0 <= eta * G ^ 2) by (apply Rmult_le_pos; nra).
  unfold Rdiv. rewrite !Rmult_0_r, !Rmult_0_l. apply Rplus_le_compat_l.
  apply Rmult_le_compat_l; nra.
Qed.

(* ---- the printed theorem, with its constant in every round ---- *)

(* On a convex set no excess risk is above D G: the mean value on the segment. The printed constant
   of a round is larger. *)
Lemma excess_at_most Theta D G (F : X -> R) (grad : X -> X) theta star :
  0 < D -> 0 < G -> convex Theta -> (forall x y, Theta x -> Theta y -> norm (minus x y) <= D) ->
  Theta theta -> Theta star -> (forall x, Theta x -> norm (grad x) <= G) ->
  let way s := plus star (scal s (minus theta star)) in
  (forall s, 0 <= s <= 1 -> is_derive (fun s => F (way s)) s (inner (grad (way s)) (minus theta
    star))) ->
  F (way 1) - F (way 0) <= D * G.
Proof.
  intros HD HG Hc Hd Ht Hs Hg way Hder.
  destruct (MVT_gen (fun s => F (way s)) 0 1 (fun s => inner (grad (way s)) (minus theta star))) as
    [c [Hi E]].
  - rewrite Rmin_left, Rmax_right by lra. intros s H. apply Hder. lra.
  - rewrite Rmin_left, Rmax_right by lra. intros s H. apply continuity_pt_filterlim.
    apply (ex_derive_continuous (fun s => F (way s))). eexists. now apply Hder.
  - rewrite Rmin_left, Rmax_right in Hi by lra. rewrite E. replace (1 - 0) with 1 by ring.
    rewrite Rmult_1_r.
    apply Rle_trans with (1 := cauchy_schwarz _ _). rewrite (Rmult_comm D).
    apply Rmult_le_compat; try apply norm_nonneg.
    + apply Hg. now apply Hc.
    + now apply Hd.
Qed.

(* On a convex set of diameter at most D, with gradients of at most G there and a mismatch that is
   not negative, the printed bound holds for any models in the set, however they come about. *)
Theorem printed_theorem_is_empty Theta D sigma eta B Pdim (E : nat) L G T (F : X -> R) (grad : X
  -> X) (theta : nat -> X) star
  (mismatch inverse_effective N : nat -> R) :
  0 < D -> 0 < sigma -> 0 < eta -> 0 < B -> 0 < Pdim -> (0 < E)%nat -> 0 < L -> 0 < G ->
  convex Theta -> (forall x y, Theta x -> Theta y -> norm (minus x y) <= D) ->
  (forall t, Theta (theta t)) -> Theta star -> (forall x, Theta x -> norm (grad x) <= G) ->
  (forall t s, 0 <= s <= 1 -> is_derive (fun s => F (plus star (scal s (minus (theta t) star)))) s
                                (inner (grad (plus star (scal s (minus (theta t) star)))) (minus
                                  (theta t) star))) ->
  (forall t, F (plus star (scal 1 (minus (theta t) star))) = F (theta t)) ->
  (forall t, F (plus star (scal 0 (minus (theta t) star))) = F star) ->
  (forall t, 0 <= mismatch t) ->
  sum T (fun t => F (theta t) - F star)
  <= sum T (fun t => linear_term_as_stated (mismatch t) D sigma eta B Pdim E L G
    + root_term_as_stated (mismatch t) D sigma eta B Pdim E L G
       + generalisation_term_as_printed (inverse_effective t) (N t) D sigma eta B Pdim E L G
       + (initial_term_as_stated D sigma eta B Pdim E L G
           + per_round_constant_as_stated D sigma eta B Pdim E L G)).
Proof.
  intros HD Hs He HB HP HE HL HG Hc Hd Ht Hst Hg Hder H1 H0 Hm. apply sum_le. intros t _.
  pose proof (excess_at_most Theta D G F grad (theta t) star HD HG Hc Hd (Ht t) Hst Hg (Hder t)) as
    X1. cbv beta zeta in X1. rewrite H1, H0 in X1.
  assert (EE : 1 <= INR E) by (change 1 with (INR 1); apply le_INR; lia).
  unfold linear_term_as_stated, root_term_as_stated, generalisation_term_as_printed,
    initial_term_as_stated, per_round_constant_as_stated.
  specialize (Hm t). assert (A1 : 0 <= eta * mismatch t * sigma ^ 2) by (apply Rmult_le_pos; nra).
  assert (A2 : 0 <= D * sigma * sqrt (mismatch t)) by (apply Rmult_le_pos; [nra|apply sqrt_pos]).
  assert (A3 : 0 <= 10 * B * sqrt Pdim * sqrt (inverse_effective t) * sqrt (ln (N t / Pdim) + 1))
    by (repeat apply Rmult_le_pos; try apply sqrt_pos; lra).
  assert (A4 : 0 <= G ^ 2 * L ^ 2 * eta ^ 3 * (4 * INR E - 4) / (2 * INR E)).
  { apply Rmult_le_pos; [|apply Rlt_le, Rinv_0_lt_compat; lra]. apply Rmult_le_pos; [|lra].
    apply Rmult_le_pos; [apply Rmult_le_pos; apply pow2_ge_0|apply pow_le; lra]. }
  assert (A5 : 0 <= D * G * L * sqrt (8 * INR E - 8) / sqrt (INR E)).
  { apply Rmult_le_pos; [apply Rmult_le_pos;
      [|apply sqrt_pos]|apply Rlt_le, Rinv_0_lt_compat, sqrt_lt_R0; lra].
    apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; lra. }
  (* the inequality of the means: D^2/(2 eta) + 5 eta G^2/2 is at least sqrt 5 D G *)
  assert (A6 : D * G <= D ^ 2 / (2 * eta) + eta * (5 * G ^ 2) / 2).
  { apply Rmult_le_reg_r with (2 * eta); [lra|]. field_simplify; [|lra].
    pose proof (pow2_ge_0 (D - eta * G)). nra. }
  nra.
Qed.
(* What holds against every point of the set holds against the infimum, attained or not. *)
Theorem against_the_infimum (Theta : X -> Prop) (F : X -> R) (risk : nat -> R) T b inf :
  (forall x, Theta x -> sum T (fun t => risk t - F x) <= b) ->
  (forall epsilon, 0 < epsilon -> exists x, Theta x /\ F x <= inf + epsilon) ->
  sum T (fun t => risk t - inf) <= b.
Proof.
  intros H Hi. apply Rnot_lt_le. intros A. rewrite sum_minus, sum_const in A.
  set (g := sum T risk - INR T * inf - b). assert (G : 0 < g) by (unfold g; lra).
  assert (I : 0 <= INR T) by apply pos_INR. set (e := g / (INR T + 1)).
  assert (e0 : 0 < e) by (apply Rdiv_lt_0_compat; lra).
  assert (e1 : INR T * e = g - e) by (unfold e; field; lra).
  destruct (Hi e e0) as [x [Hx L]]. specialize (H x Hx). rewrite sum_minus, sum_const in H.
  assert (INR T * F x <= INR T * (inf + e)) by (apply Rmult_le_compat_l; auto). unfold g in *. lra.
Qed.

(* Weights that add up to 1 and do not look at values: the objective is unbiased at any fixed point.
   *)
Theorem unbiased (Omega : Type) (mu : mean Omega) n (weight : nat -> R) (loss : nat -> Omega
  -> R) risk :
  sum n weight = 1 -> (forall i, (i < n)%nat -> integrable mu (loss i)) -> (forall i,
    (i < n)%nat -> mu (loss i) = risk) ->
  mu (fun o => sum n (fun i => weight i * loss i o)) = risk.
Proof.
  intros H1 Il Hl. rewrite (E_sum mu n (fun i o => weight i * loss i o)) by auto using I_scal.
  rewrite (sum_ext n _ (fun i => weight i * risk)) by (intros; rewrite E_scal, Hl; auto).
  rewrite sum_scal_r, H1. ring.
Qed.
End Space.
