(* The law of reuse: for quadratic losses with one Hessian the mean excess risk is a transient and a
   noise, exactly.

   Work along an eigenvector of the Hessian, with eigenvalue h; distances are measured from the
   optimum. Rounds and samples are counted from 0. `used t m i` is 1 if sample i is in the memory of
   client m in round t, else 0; any numbers that are not negative will do. *)
Require Import Reals Lra Lia Psatz.
From Acdpp Require Import Sums Mean LawFormulas.
Open Scope R_scope.

(* ---- what independent samples add up to ---- *)

Section Noise.
Context {Omega : Type} (mu : mean Omega).
Variables (samples : nat) (xi : nat -> Omega -> R) (v : nat -> R).
Hypothesis have_means : forall i, (i < samples)%nat -> integrable mu (xi i).
Hypothesis have_products : forall i j,
  (i < samples)%nat -> (j < samples)%nat -> integrable mu (fun o => xi i o * xi j o).
Hypothesis centred : forall i, (i < samples)%nat -> mu (xi i) = 0.
Hypothesis uncorrelated : forall i j,
  (i < samples)%nat -> (j < samples)%nat -> i <> j -> mu (fun o => xi i o * xi j o) = 0.
Hypothesis spread : forall i, (i < samples)%nat -> mu (fun o => xi i o ^ 2) = v i.

Definition combined (N : nat) (x : R) (b : nat -> R) (o : Omega) : R := x
  + sum N (fun i => b i * xi i o).

(* One sample more adds its square, and mixed terms of mean 0. *)
Lemma no_mixed_terms N x b :
  (N <= samples)%nat ->
  integrable mu (fun o => combined N x b o ^ 2) /\
  mu (fun o => combined N x b o ^ 2) = x ^ 2 + sum N (fun i => b i ^ 2 * v i).
Proof.
  induction N; intros H; unfold combined in *; cbn [sum].
  - assert (Q : forall o : Omega, x ^ 2 = (x + 0) ^ 2) by (intros; ring).
    split; [apply (I_ext mu _ _ Q), I_const|]. rewrite <- (E_ext mu _ _ (I_const mu _) Q), E_const.
    ring.
  - destruct IHN as [I1 E1]; [lia|].
    assert (I2 : integrable mu (fun o => xi N o ^ 2))
      by (apply (I_ext mu (fun o => xi N o * xi N o)); [intros; ring|apply have_products; lia]).
    set (more := fun o => x * xi N o + sum N (fun i => b i * (xi i o * xi N o))).
    assert (I3 : integrable mu more).
    { apply I_plus; [apply I_scal, have_means; lia|].
      apply (I_sum mu N (fun i o => b i * (xi i o * xi N o))).
      intros i Hi. apply I_scal, have_products; lia. }
    assert (E3 : mu more = 0).
    { unfold more. rewrite E_plus, E_scal, centred by (try apply I_scal; try apply have_means;
        try lia;
        apply (I_sum mu N (fun i o => b i * (xi i o * xi N o))); intros;
          apply I_scal, have_products; lia).
      rewrite (E_sum mu N (fun i o => b i * (xi i o * xi N o))) by (intros;
        apply I_scal, have_products; lia).
      rewrite (sum_ext N _ (fun _ => 0)); [rewrite sum_const; ring|].
      intros i Hi. rewrite E_scal, uncorrelated by (try apply have_products; lia). ring. }
    assert (Q : forall o, (x + sum N (fun i => b i * xi i o)) ^ 2 + (2 * b N * more o
      + b N ^ 2 * xi N o ^ 2)
                          = (x + (sum N (fun i => b i * xi i o) + b N * xi N o)) ^ 2).
    { intros o. unfold more.
      rewrite (sum_ext N (fun i => b i * (xi i o * xi N o)) (fun i => b i * xi i o * xi N o))
        by (intros; ring).
      rewrite sum_scal_r. ring. }
    split; [apply (I_ext mu _ _ Q); means|].
    rewrite (E_as mu _ _ (fun o => eq_sym (Q o)) ltac:(means)), !E_plus, !E_scal, E1, E3,
      spread by (means || lia). ring.
Qed.
End Noise.

(* ---- a round ---- *)

(* E steps of a client on the mean of its samples *)
Fixpoint local_steps (eta h : R) (E : nat) (x z : R) : R :=
  match E with O => x | S e => let y := local_steps eta h e x z in y - eta * (h * (y - z)) end.

Lemma local_steps_contract eta h E x z :
  local_steps eta h E x z = contraction h eta E * x + (1 - contraction h eta E) * z.
Proof. unfold contraction. induction E; simpl in *; [ring|]. rewrite IHE. ring. Qed.

Section Round.
Variables (clients N : nat) (used : nat -> nat -> R).
Hypothesis counts : forall m i, 0 <= used m i.
Definition held (m : nat) : R := sum N (used m).
Definition occupancy : R := sum clients held.
Definition in_memory (i : nat) : R := sum clients (fun m => used m i).

(* the server weighs clients by what they hold; without samples nothing happens *)
Definition one_round (eta h : R) (E : nat) (z : nat -> R) (x : R) : R :=
  if Req_EM_T occupancy 0 then x
  else sum clients (fun m => held m / occupancy * local_steps eta h E x (sum N (fun i => used m i *
    z i) / held m)).

(* A sum of terms that are not negative is 0 only if each is. *)
Lemma sum_zero n f : (forall i, 0 <= f i) -> sum n f = 0 -> forall i, (i < n)%nat -> f i = 0.
Proof.
  intros Hf. induction n; intros H i Hi; [lia|]. simpl in H.
  assert (0 <= sum n f) by (apply sum_nonneg; auto).
  specialize (Hf n) as Hn. assert (sum n f = 0) by lra. destruct (Nat.eq_dec i n) as [->|]; [lra|].
  apply IHn; [auto|lia].
Qed.

Lemma occupancy_of_samples : occupancy = sum N in_memory.
Proof. unfold occupancy, held, in_memory. apply sum_swap. Qed.

(* Whatever the split over clients: the pooled memory decides. *)
Lemma clients_merge eta h E z x :
  occupancy <> 0 ->
  one_round eta h E z x
  = contraction h eta E * x + (1 - contraction h eta E) * sum N (fun i => in_memory i / occupancy *
    z i).
Proof.
  intros Ho. unfold one_round. destruct (Req_EM_T occupancy 0); [contradiction|].
  set (a := contraction h eta E).
  rewrite (sum_ext clients _ (fun m => a * x / occupancy * held m + (1
    - a) / occupancy * sum N (fun i => used m i * z i))).
  - rewrite sum_plus, !sum_scal. fold occupancy. rewrite sum_swap.
    rewrite (sum_ext N (fun j => sum clients (fun i => used i j * z j)) (fun i => occupancy *
      (in_memory i / occupancy * z i)))
      by (intros; rewrite sum_scal_r; fold (in_memory i); field; auto).
    rewrite sum_scal. field. auto.
  - intros m Hm. rewrite local_steps_contract. fold a. destruct (Req_dec (held m) 0) as [Z|Z].
    + rewrite (sum_ext N (fun i => used m i * z i) (fun _ => 0)).
      * rewrite sum_const, Z. unfold Rdiv. ring.
      * intros i Hi. rewrite (sum_zero N (used m)); auto. ring.
    + field. auto.
Qed.
End Round.

(* ---- any number of rounds ---- *)

Section Rounds.
Variables (clients N : nat) (used : nat -> nat -> nat -> R) (h : R) (eta : nat -> R) (E : nat).
Hypothesis counts : forall t m i, 0 <= used t m i.
Let n t : R := occupancy clients N (used t).
Let q t i : R := in_memory clients (used t) i.
(* what a round leaves of a distance: everything, where there is no sample *)
Definition left_of (t : nat) : R := if Req_EM_T (n t) 0 then 1 else contraction h (eta t) E.

Fixpoint model (z : nat -> R) (x : R) (t : nat) : R :=
  match t with O => x | S r => one_round clients N (used r) (eta r) h E z (model z x r) end.
(* what is left of the start, and what a sample weighs *)
Fixpoint left (t : nat) : R := match t with O => 1 | S r => left_of r * left r end.
Fixpoint weight (i t : nat) : R :=
  match t with O => 0 | S r => left_of r * weight i r + (1 - left_of r) * (q r i / n r) end.

(* A model is a sum of the start and of samples, with weights that do not depend on their values. *)
Theorem model_is_linear z x t : model z x t = left t * x + sum N (fun i => weight i t * z i).
Proof.
  induction t; simpl.
  - rewrite (sum_ext N _ (fun _ => 0)) by (intros; ring). rewrite sum_const. ring.
  - unfold left_of. fold (n t). destruct (Req_EM_T (n t) 0) as [Z|Z].
    + unfold one_round. fold (n t). destruct (Req_EM_T (n t) 0); [|contradiction]. rewrite IHt.
      rewrite (sum_ext N (fun i => (1 * weight i t + (1
        - 1) * (q t i / n t)) * z i) (fun i => weight i t * z i)) by (intros; ring). ring.
    + rewrite clients_merge; auto. fold (n t). rewrite IHt.
      rewrite (sum_ext N (fun i => (contraction h (eta t) E * weight i t + (1
        - contraction h (eta t) E) * (q t i / n t)) * z i)
        (fun i => contraction h (eta t) E * (weight i t * z i) + (1
          - contraction h (eta t) E) * (in_memory clients (used t) i / n t * z i)))
        by (intros; unfold q; ring).
      rewrite sum_plus, !sum_scal. ring.
Qed.

(* The weights of start and samples in a model add up to 1. *)
Theorem weights_add_up t : left t + sum N (fun i => weight i t) = 1.
Proof.
  induction t; simpl.
  - rewrite sum_const. ring.
  - rewrite sum_plus, !sum_scal. unfold left_of. destruct (Req_EM_T (n t) 0) as [Z|Z]; [lra|].
    rewrite (sum_ext N (fun i => q t i / n t) (fun i => / n t * q t i)) by (intros; field; auto).
    rewrite sum_scal.
    unfold q. rewrite <- occupancy_of_samples. fold (n t). rewrite Rinv_l by auto.
    set (a := contraction h (eta t) E). nra.
Qed.

Section Risk.
Context {Omega : Type} (mu : mean Omega).
Variables (xi : nat -> Omega -> R) (variance : R).
Hypothesis have_means : forall i, (i < N)%nat -> integrable mu (xi i).
Hypothesis have_products : forall i j, (i < N)%nat -> (j < N)%nat
  -> integrable mu (fun o => xi i o * xi j o).
Hypothesis centred : forall i, (i < N)%nat -> mu (xi i) = 0.
Hypothesis uncorrelated : forall i j,
  (i < N)%nat -> (j < N)%nat -> i <> j -> mu (fun o => xi i o * xi j o) = 0.
Hypothesis spread : forall i, (i < N)%nat -> mu (fun o => xi i o ^ 2) = variance.

Lemma mean_square_of x b :
  integrable mu (fun o => combined xi N x b o ^ 2) /\
  mu (fun o => combined xi N x b o ^ 2) = x ^ 2 + variance * sum N (fun i => b i ^ 2).
Proof.
  destruct (no_mixed_terms mu N xi (fun _ => variance) have_means have_products centred uncorrelated
    spread N x b) as [I1 ->];
    [auto|]. split; auto. rewrite sum_scal_r. ring.
Qed.

End Risk.

(* Backwards: u(t) = p(t) + a(t) u(t+1) collects what later models keep of a round. *)
Fixpoint collected (p : nat -> R) (t k : nat) : R := (* from round t, k rounds to come *)
  match k with O => 0 | S j => p t + left_of t * collected p (S t) j end.

Lemma collected_shift p t k x b :
  (forall i, b i = weight i t) -> x = left t ->
  sum k (fun j => p (t + j)%nat * left (t + j)) = collected p t k * x /\
  forall i, sum k (fun j => p (t + j)%nat * weight i (t + j))
    = collected p t k * b i
      + sum (k - 1) (fun j => (1 - left_of (t + j)) * collected p (S t + j) (k - 1 - j) * (q (t
          + j) i / n (t + j))).
Proof.
  revert t x b. induction k; intros t x b Hb Hx.
  - simpl. split; [ring|]. intros. ring.
  - destruct (IHk (S t) (left (S t)) (fun i => weight i (S t)) (fun _ => eq_refl) eq_refl) as [I1
      I2]. split.
    + rewrite sum_head, Nat.add_0_r. rewrite (sum_ext k _ (fun j => p (S t + j)%nat * left (S t
        + j))) by (intros; do 2 f_equal; lia).
      rewrite I1. simpl left at 2. simpl collected. rewrite Hx. ring.
    + intros i. rewrite sum_head, Nat.add_0_r.
      rewrite (sum_ext k _ (fun j => p (S t + j)%nat * weight i (S t + j))) by (intros;
        do 2 f_equal; lia).
      rewrite I2. simpl weight at 2. simpl collected. rewrite Hb.
      replace (S k - 1)%nat with k by lia. destruct k.
      * simpl. ring.
      * rewrite sum_head. rewrite Nat.add_0_r. replace (S k - 1)%nat with k by lia.
        replace (S k - 0)%nat with (S k) by lia.
        replace (sum k (fun i0 => (1 - left_of (t + S i0)) * collected p (S (t + S i0)) (S k
          - S i0) * (q (t + S i0) i / n (t + S i0))))
          with (sum k (fun j => (1 - left_of (S t + j)) * collected p (S (S (t + j))) (k
            - j) * (q (S t + j) i / n (S t + j))));
          [replace (S k - 0)%nat with (S k) by lia; ring|].
        apply sum_ext. intros j _. replace (t + S j)%nat with (S t + j)%nat by lia. reflexivity.
Qed.

(* A mean of models has the weights that are collected from the last round backwards. *)
Theorem collected_backwards p T :
  sum T (fun t => p t * left t) = collected p 0 T /\
  forall i, sum T (fun t => p t * weight i t)
    = sum (T - 1) (fun t => (1 - left_of t) * collected p (S t) (T - 1 - t) * (q t i / n t)).
Proof.
  destruct (collected_shift p 0 T 1 (fun _ => 0) (fun _ => eq_refl) eq_refl) as [H1 H2]. split.
  - rewrite <- (Rmult_1_r (collected p 0 T)), <- H1. apply sum_ext. easy.
  - intros i. specialize (H2 i). rewrite Rmult_0_r, Rplus_0_l in H2. exact H2.
Qed.

(* A running mean adds w of the newest model; three sums over all samples follow from round to
   round. *)
Theorem squares_forwards i_c i_b t w (c b : nat -> R) :
  (forall i, c i = weight i t) -> (forall i, q t i ^ 2 = q t i) -> n t <> 0 ->
  i_c = sum N (fun i => q t i * c i) -> i_b = sum N (fun i => q t i * b i) ->
  let a := left_of t in
  let new i := weight i (S t) in
  let kept i := (1 - w) * b i + w * new i in
  let squares := a ^ 2 * sum N (fun i => c i ^ 2) + 2 * a * ((1 - a) / n t) * i_c + (1
    - a) ^ 2 / n t in
  let crossed := a * sum N (fun i => c i * b i) + (1 - a) / n t * i_b in
  sum N (fun i => new i ^ 2) = squares /\ sum N (fun i => new i * b i) = crossed /\
  sum N (fun i => kept i * new i) = (1 - w) * crossed + w * squares /\
  sum N (fun i => kept i ^ 2) = (1 - w) ^ 2 * sum N (fun i => b i ^ 2) + 2 * w * (1 - w) * crossed
    + w ^ 2 * squares.
Proof.
  intros Hc Hq Hn Hic Hib a new kept squares crossed.
  assert (Nw : forall i, new i = a * c i + (1 - a) / n t * q t i) by (intros; unfold new; simpl;
    rewrite Hc; fold a; field; auto).
  assert (Q : sum N (q t) = n t) by (unfold q, n; now rewrite <- occupancy_of_samples).
  assert (S1 : sum N (fun i => new i ^ 2) = squares).
  { rewrite (sum_ext N _ (fun i => a ^ 2 * c i ^ 2 + 2 * a * ((1 - a) / n t) * (q t i * c i) + ((1
      - a) / n t) ^ 2 * q t i)).
    - rewrite !sum_plus, !sum_scal, Q, <- Hic. unfold squares. field. auto.
    - intros i _. rewrite Nw. rewrite <- (Hq i) at 3. ring. }
  assert (S2 : sum N (fun i => new i * b i) = crossed).
  { rewrite (sum_ext N _ (fun i => a * (c i * b i) + (1 - a) / n t * (q t i * b i))) by (intros;
      rewrite Nw; ring).
    rewrite sum_plus, !sum_scal, <- Hib. reflexivity. }
  repeat split; auto.
  - unfold kept. rewrite (sum_ext N _ (fun i => (1 - w) * (new i * b i) + w * new i ^ 2))
      by (intros; ring).
    now rewrite sum_plus, !sum_scal, S1, S2.
  - unfold kept. rewrite (sum_ext N _ (fun i => (1 - w) ^ 2 * b i ^ 2 + 2 * w * (1
      - w) * (new i * b i) + w ^ 2 * new i ^ 2)) by (intros; ring).
    now rewrite !sum_plus, !sum_scal, S1, S2.
Qed.
End Rounds.

(* Steps of one size: what is left is a power, one factor for each round that had samples. *)
Fixpoint trained (clients N : nat) (used : nat -> nat -> nat -> R) (t : nat) : nat :=
  match t with O => O | S r => (trained clients N used r
    + if Req_EM_T (occupancy clients N (used r)) 0 then 0 else 1)%nat end.

(* A round with samples leaves the same factor of a distance, a round without leaves all. *)
Theorem transient_is_a_power clients N used h eta E t :
  left clients N used h (fun _ => eta) E t = contraction h eta E ^ trained clients N used t.
Proof.
  induction t; [reflexivity|]. simpl. rewrite IHt. unfold left_of.
  destruct (Req_EM_T (occupancy clients N (used t)) 0); [rewrite Nat.add_0_r; ring|].
  rewrite Nat.add_1_r. reflexivity.
Qed.

Lemma trained_grows clients N used r t : (r <= t)%nat -> (trained clients N used r
  <= trained clients N used t)%nat.
Proof. induction 1; [lia|]. simpl. destruct (Req_EM_T (occupancy clients N (used m)) 0); lia. Qed.

(* A weight is the sum that the law states: a factor for each round with samples that has followed a
   use. *)
Theorem weight_is_a_sum clients N used h eta E i t (k := trained clients N used) (a := contraction h
  eta E) :
  weight clients N used h (fun _ => eta) E i t
  = (1 - a) * sum t (fun r => if Req_EM_T (occupancy clients N (used r)) 0 then 0
                              else a ^ (k t - k (S r)) * (in_memory clients (used r) i / occupancy
                                clients N (used r))).
Proof.
  induction t; [simpl; ring|]. cbn [weight sum]. unfold left_of. fold a. rewrite IHt.
  destruct (Req_EM_T (occupancy clients N (used t)) 0) as [Z|Z].
  - rewrite (sum_ext t (fun r => if Req_EM_T (occupancy clients N (used r)) 0 then 0 else a ^ (k (S
      t) - k (S r)) * (in_memory clients (used r) i / occupancy clients N (used r)))
      (fun r => if Req_EM_T (occupancy clients N (used r)) 0 then 0 else a ^ (k t
        - k (S r)) * (in_memory clients (used r) i / occupancy clients N (used r)))); [ring|].
    intros r Hr. destruct (Req_EM_T (occupancy clients N (used r)) 0); [auto|]. do 3 f_equal.
    unfold k. cbn [trained]. destruct (Req_EM_T (occupancy clients N (used t)) 0);
      [lia|contradiction].
  - rewrite (sum_ext t (fun r => if Req_EM_T (occupancy clients N (used r)) 0 then 0 else a ^ (k (S
      t) - k (S r)) * (in_memory clients (used r) i / occupancy clients N (used r)))
      (fun r => a * (if Req_EM_T (occupancy clients N (used r)) 0 then 0 else a ^ (k t
        - k (S r)) * (in_memory clients (used r) i / occupancy clients N (used r))))).
    + rewrite sum_scal, Nat.sub_diag. simpl pow. ring.
    + intros r Hr. destruct (Req_EM_T (occupancy clients N (used r)) 0); [ring|].
      pose proof (trained_grows clients N used (S r) t ltac:(lia)) as G. fold k in G.
      replace (k (S t) - k (S r))%nat with (S (k t - k (S r))); [simpl; ring|]. unfold k in *.
      cbn [trained] in *. destruct (Req_EM_T (occupancy clients N (used t)) 0); [contradiction|lia].
Qed.

(* The risk of a quadratic loss: half the eigenvalue times the mean square, direction by direction.
   *)
Theorem risk_of_quadratic_losses (Omega : Type) (mu : mean Omega) d (h : nat -> R) (z : nat
  -> Omega -> R) (star theta : nat -> R) :
  (forall j, integrable mu (z j)) -> (forall j, integrable mu (fun o => z j o ^ 2)) -> (forall j,
    mu (z j) = star j) ->
  mu (fun o => sum d (fun j => h j / 2 * (theta j - z j o) ^ 2))
    - mu (fun o => sum d (fun j => h j / 2 * (star j - z j o) ^ 2))
  = sum d (fun j => h j / 2 * (theta j - star j) ^ 2).
Proof.
  intros I1 I2 Hz.
  assert (Q : forall x : nat -> R, mu (fun o => sum d (fun j => h j / 2 * (x j - z j o) ^ 2))
      = sum d (fun j => h j / 2 * (x j ^ 2 - 2 * x j * star j + mu (fun o => z j o ^ 2)))).
  { intros x. rewrite (E_as mu _ (fun o => sum d (fun j => h j / 2 * x j ^ 2 +
      - (h j * x j) * z j o + h j / 2 * z j o ^ 2)))
      by ((intros o; apply sum_ext; intros; field) || means).
    rewrite (E_sum mu d (fun j o => h j / 2 * x j ^ 2 + - (h j * x j) * z j o
      + h j / 2 * z j o ^ 2)) by (intros; means).
    apply sum_ext. intros j _. rewrite !E_plus, E_const, !E_scal, Hz by means. field. }
  rewrite !Q, <- sum_minus. apply sum_ext. intros j _. field.
Qed.

(* ---- the law ---- *)

Section Excess.
Context {Omega : Type} (mu : mean Omega).
Variables (N directions : nat) (h variance star start : nat -> R) (z : nat -> nat -> Omega -> R).
(* sample i along direction j, from its mean *)
Let off (j i : nat) (o : Omega) : R := z j i o - star j.
Hypothesis means_are : forall j i, (i < N)%nat -> integrable mu (z j i) /\ mu (z j i) = star j.
Hypothesis have_products : forall j i k, (i < N)%nat -> (k < N)%nat
  -> integrable mu (fun o => off j i o * off j k o).
Hypothesis uncorrelated : forall j i k,
  (i < N)%nat -> (k < N)%nat -> i <> k -> mu (fun o => off j i o * off j k o) = 0.
Hypothesis spread : forall j i, (i < N)%nat -> mu (fun o => off j i o ^ 2) = variance j.

(* What is a fixed number and a weighted sum of such samples along each direction. *)
Lemma mean_excess (error : nat -> Omega -> R) (l : nat -> R) (b : nat -> nat -> R) :
  (forall j o, error j o = combined (off j) N (l j) (b j) o) ->
  mu (fun o => sum directions (fun j => h j / 2 * error j o ^ 2))
  = sum directions (fun j => h j / 2 * (l j ^ 2 + variance j * sum N (fun i => b j i ^ 2))).
Proof.
  intros S.
  assert (M : forall j, integrable mu (fun o => error j o ^ 2) /\ mu (fun o => error j o ^ 2)
    = l j ^ 2 + variance j * sum N (fun i => b j i ^ 2)).
  { intros j. destruct (mean_square_of N mu (off j) (variance j)) with (x := l j) (b := b j)
      as [I1 E1]; auto.
    - intros i Hi. apply I_minus; [now apply means_are|apply I_const].
    - intros i Hi. destruct (means_are j i Hi) as [I2 E2]. unfold off.
      rewrite E_minus, E_const, E2 by (auto; apply I_const). ring.
    - split; [apply (I_ext mu _ _ (fun o => f_equal (fun y => y ^ 2) (eq_sym (S j o)))), I1|].
      now rewrite (E_as mu _ _ (fun o => f_equal (fun y => y ^ 2) (S j o)) I1). }
  rewrite (E_sum mu directions (fun j o => h j / 2 * error j o ^ 2)) by (intros; apply I_scal, M).
  apply sum_ext. intros j _. destruct (M j) as [I1 E1]. now rewrite E_scal, E1 by auto.
Qed.

Variables (clients : nat) (used : nat -> nat -> nat -> R) (eta : nat -> R) (E : nat).
Hypothesis counts : forall t m i, 0 <= used t m i.
Let theta (j : nat) (o : Omega) (t : nat) : R :=
  model clients N used (h j) eta E (fun i => z j i o) (start j) t.
Let left (j t : nat) : R := left clients N used (h j) eta E t.
Let weight (j i t : nat) : R := weight clients N used (h j) eta E i t.

(* Weights add up to 1, so that the distance to star is the same sum of distances. *)
Lemma distance j o t : theta j o t - star j
  = left j t * (start j - star j) + sum N (fun i => weight j i t * off j i o).
Proof.
  unfold theta, left, weight, off. rewrite model_is_linear by auto.
  pose proof (weights_add_up clients N used (h j) eta E t) as W.
  rewrite (sum_ext N (fun i => Law.weight clients N used (h j) eta E i t * (z j i o - star j))
    (fun i => Law.weight clients N used (h j) eta E i t * z j i o
      - star j * Law.weight clients N used (h j) eta E i t)) by (intros; ring).
  rewrite sum_minus, sum_scal. nra.
Qed.

(* The law of reuse: the mean excess risk over all directions is, of each, what is left of the
   start, squared, and the variance times the sum of squared weights. *)
Theorem law_of_reuse t :
  mu (fun o => sum directions (fun j => h j / 2 * (theta j o t - star j) ^ 2))
  = sum directions (fun j => h j / 2 * ((left j t * (start j - star j)) ^ 2
    + variance j * sum N (fun i => weight j i t ^ 2))).
Proof. apply (mean_excess (fun j o => theta j o t - star j)). intros. apply distance. Qed.

(* The law for a mean of models, with any weights that add up to 1: the same with what is left of
   the start, and what samples weigh, in the mean. *)
Theorem law_of_averages T (p : nat -> R) : sum T p = 1 ->
  mu (fun o => sum directions (fun j =>
    h j / 2 * (sum T (fun t => p t * theta j o t) - star j) ^ 2))
  = sum directions (fun j => h j / 2 * ((sum T (fun t => p t * left j t) * (start j - star j)) ^ 2
    + variance j * sum N (fun i => sum T (fun t => p t * weight j i t) ^ 2))).
Proof.
  intros P. apply (mean_excess (fun j o => sum T (fun t => p t * theta j o t) - star j)).
  intros j o. unfold combined.
  replace (sum T (fun t => p t * theta j o t) - star j)
    with (sum T (fun t => p t * (theta j o t - star j))).
  - rewrite (sum_ext N (fun i => sum T (fun t => p t * weight j i t) * off j i o) (fun i =>
      sum T (fun t => p t * weight j i t * off j i o))) by (intros; now rewrite sum_scal_r).
    rewrite sum_swap, <- sum_scal_r, <- sum_plus. apply sum_ext. intros t _.
    rewrite distance, Rmult_plus_distr_l, <- sum_scal, Rmult_assoc. f_equal.
    apply sum_ext. intros; ring.
  - rewrite (sum_ext T _ (fun t => p t * theta j o t - p t * star j)) by (intros; ring).
    rewrite sum_minus, sum_scal_r, P. ring.
Qed.
End Excess.

(* ---- a world that moves ---- *)

(* The optimum of round s is a path plus the changes of a walk so far; sample i comes from round
   `came i` and lies xi from its optimum. A model is a sum of the start and of samples, with weights
   that add up to 1. *)
Section Drift.
Context {Omega : Type} (mu : mean Omega).
Variables (N t : nat) (came : nat -> nat) (path : nat -> R) (start first_weight : R) (b : nat -> R).
Hypothesis earlier : forall i, (i < N)%nat -> (came i < t)%nat.
Hypothesis all_weights : first_weight + sum N b = 1.
Variables (xi change : nat -> Omega -> R) (variance walk : R).
Let world s o : R := path s + sum s (fun l => change l o).
Let model_error t' o : R := first_weight * start + sum N (fun i => b i * (world (came i) o
  + xi i o)) - world t' o.
(* what is older than change l *)
Definition older (l : nat) : R := first_weight
  + sum N (fun i => if (came i <=? l)%nat then b i else 0).
Definition bias (t' : nat) : R := first_weight * start + sum N (fun i => b i * path (came i))
  - path t'.
(* changes and samples: centred and uncorrelated, as one family *)
Let source (k : nat) : Omega -> R := if (k <? t)%nat then change k else xi (k - t).
Hypothesis have_means : forall k, (k < t + N)%nat -> integrable mu (source k).
Hypothesis have_products : forall k k',
  (k < t + N)%nat -> (k' < t + N)%nat -> integrable mu (fun o => source k o * source k' o).
Hypothesis centred : forall k, (k < t + N)%nat -> mu (source k) = 0.
Hypothesis uncorrelated : forall k k',
  (k < t + N)%nat -> (k' < t + N)%nat -> k <> k' -> mu (fun o => source k o * source k' o) = 0.
Hypothesis of_walk : forall l, (l < t)%nat -> mu (fun o => change l o ^ 2) = walk.
Hypothesis of_samples : forall i, (i < N)%nat -> mu (fun o => xi i o ^ 2) = variance.

Lemma sum_prefix T T' f : (T <= T')%nat -> (forall l,
  (T <= l < T')%nat -> f l = 0) -> sum T' f = sum T f.
Proof.
  intros H Hz. replace T' with (T + (T' - T))%nat by lia. rewrite sum_split.
  rewrite (sum_ext (T' - T) (fun i => f (T + i)%nat) (fun _ => 0)) by (intros; apply Hz; lia).
  rewrite sum_const. ring.
Qed.

Lemma seen_later i o T : (came i <= T)%nat -> sum (came i) (fun l => change l o)
  = sum T (fun l => (if (came i <=? l)%nat then 0 else 1) * change l o).
Proof.
  intros H. replace T with (came i + (T - came i))%nat by lia. rewrite sum_split.
  rewrite (sum_ext (T - came i) _ (fun _ => 0)); [rewrite sum_const, Rmult_0_r, Rplus_0_r|].
  - apply sum_ext. intros l Hl. destruct (Nat.leb_spec (came i) l); [lia|ring].
  - intros l Hl. destruct (Nat.leb_spec (came i) (came i + l)); [ring|lia].
Qed.

Lemma error_by_changes T o : (T <= t)%nat -> (forall i, (i < N)%nat -> (came i <= T)%nat) ->
  model_error T o = bias T - sum T (fun l => older l * change l o) + sum N (fun i => b i * xi i o).
Proof.
  intros HT He. unfold model_error, world, bias.
  rewrite (sum_ext N (fun i => b i * (path (came i) + sum (came i) (fun l => change l o) + xi i o))
    (fun i => b i * path (came i) + sum T (fun l => b i * ((if (came i <=? l)%nat then 0 else 1) *
      change l o)) + b i * xi i o)).
  - rewrite !sum_plus, sum_swap.
    assert (E : sum T (fun l => change l o) - sum T (fun l => sum N (fun i => b i * ((if (came i <=?
      l)%nat then 0 else 1) * change l o)))
                = sum T (fun l => older l * change l o)).
    { rewrite <- sum_minus. apply sum_ext. intros l _. unfold older.
      rewrite (sum_ext N (fun i => b i * ((if (came i <=? l)%nat then 0 else 1) * change l o))
        (fun i => (b i - (if (came i <=? l)%nat then b i else 0)) * change l o)) by (intros;
          destruct (came i <=? l)%nat; ring).
      rewrite sum_scal_r, sum_minus. replace (sum N b) with (1 - first_weight) by lra. ring. }
    lra.
  - intros i Hi. rewrite (seen_later i o T) by auto. rewrite sum_scal. ring.
Qed.

Lemma mean_square T : (T <= t)%nat -> (forall i, (i < N)%nat -> (came i <= T)%nat) ->
  mu (fun o => model_error T o ^ 2)
  = bias T ^ 2 + walk * sum T (fun l => older l ^ 2) + variance * sum N (fun i => b i ^ 2).
Proof.
  intros HT He.
  (* one family: the changes first, then the samples, each scaled to variance 1 by its weight *)
  set (w := fun k => if (k <? t)%nat then (if (k <? T)%nat then - older k else 0) else b (k
    - t)%nat).
  assert (S1 : forall o, model_error T o = bias T + sum (t + N) (fun k => w k * source k o)).
  { intros o. rewrite error_by_changes by auto. rewrite sum_split.
    rewrite (sum_prefix T t (fun k => w k * source k o) HT).
    - rewrite (sum_ext T (fun k => w k * source k o) (fun l => -1 * (older l * change l o))).
      + rewrite sum_scal. rewrite (sum_ext N (fun i => w (t + i)%nat * source (t
          + i) o) (fun i => b i * xi i o)); [ring|].
        intros i Hi. unfold w, source. destruct (Nat.ltb_spec (t + i) t); [lia|].
        now replace (t + i - t)%nat with i by lia.
      + intros l Hl. unfold w, source. destruct (Nat.ltb_spec l t); [|lia].
        destruct (Nat.ltb_spec l T); [ring|lia].
    - intros l Hl. unfold w, source. destruct (Nat.ltb_spec l t); [|lia].
      destruct (Nat.ltb_spec l T); [lia|ring]. }
  destruct (no_mixed_terms mu (t + N) source (fun k => mu (fun o => source k o ^ 2)) have_means
    have_products centred
    uncorrelated (fun _ _ => eq_refl) (t + N) (bias T) w (le_n _)) as [I1 E1]. unfold combined in *.
  rewrite (E_as mu _ _ (fun o => f_equal (fun y => y ^ 2) (S1 o)) I1), E1.
  rewrite sum_split, (sum_prefix T t (fun k => w k ^ 2 * mu (fun o => source k o ^ 2)) HT).
  - rewrite (sum_ext T (fun k => w k ^ 2 * mu (fun o => source k o ^ 2)) (fun l => walk * older l ^
      2)).
    + rewrite sum_scal. rewrite (sum_ext N (fun i => w (t + i)%nat ^ 2 * mu (fun o => source (t
        + i) o ^ 2)) (fun i => variance * b i ^ 2)); [rewrite sum_scal; ring|].
      intros i Hi. unfold w, source. destruct (Nat.ltb_spec (t + i) t); [lia|].
      replace (t + i - t)%nat with i by lia. rewrite of_samples by auto. ring.
    + intros l Hl. unfold w, source. destruct (Nat.ltb_spec l t); [|lia].
      destruct (Nat.ltb_spec l T); [|lia]. rewrite of_walk by auto. ring.
  - intros l Hl. unfold w. destruct (Nat.ltb_spec l t); [|lia].
    destruct (Nat.ltb_spec l T); [lia|ring].
Qed.

(* The law under drift, in one direction and for any weights that add up to 1: bias along the path,
   lag behind the walk, noise. *)
Theorem law_of_drift :
  mu (fun o => model_error t o ^ 2) = bias t ^ 2 + walk * sum t (fun l => older l ^ 2)
    + variance * sum N (fun i => b i ^ 2).
Proof. apply mean_square; auto. intros i Hi. specialize (earlier i Hi). lia. Qed.

(* The newest change has been seen by no sample, so judged by the world a round earlier the lag is
   `walk` less. *)
Theorem lag_a_round_earlier :
  (0 < t)%nat ->
  older (t - 1) = 1 /\
  mu (fun o => model_error (t - 1) o ^ 2) + walk
  = bias (t - 1) ^ 2 + walk * sum t (fun l => older l ^ 2) + variance * sum N (fun i => b i ^ 2).
Proof.
  intros Ht. assert (O : older (t - 1) = 1).
  { unfold older. rewrite (sum_ext N _ b); [auto|]. intros i Hi. specialize (earlier i Hi).
    destruct (Nat.leb_spec (came i) (t - 1)); [auto|lia]. }
  split; auto. rewrite mean_square by (try lia; intros i Hi; specialize (earlier i Hi); lia).
  replace (sum t (fun l => older l ^ 2)) with (sum (t - 1) (fun l => older l ^ 2) + older (t
    - 1) ^ 2) by (destruct t; [lia|]; simpl; now rewrite Nat.sub_0_r).
  rewrite O. ring.
Qed.
End Drift.
