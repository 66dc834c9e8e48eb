(* There are means: over finitely many outcomes, over a sequence of them, with a density on the
   line; two spaces make one, and with it there are uncorrelated copies of any variable and a past
   that knows the first of two. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Acdpp Require Import Sums Mean.
Open Scope R_scope.

(* Finitely many outcomes with chances p: the mean is the weighted sum, and everything has one. *)
Theorem finite_mean n (p : nat -> R) :
  (forall i, (i < n)%nat -> 0 <= p i) -> sum n p = 1 ->
  exists m : mean {i : nat | (i < n)%nat},
    (forall f, integrable m f) /\
    forall f : nat -> R, m (fun o => f (proj1_sig o)) = sum n (fun i => p i * f i).
Proof.
  intros Hp H1.
  set (at_ := fun (g : {i : nat | (i < n)%nat} -> R) i =>
    match Compare_dec.lt_dec i n with left H => g (exist _ i H) | right _ => 0 end).
  assert (at_ok : forall g i (H : (i < n)%nat), at_ g i = g (exist _ i H)).
  { intros g i H. unfold at_. destruct (Compare_dec.lt_dec i n) as [H'|]; [|contradiction].
    f_equal. f_equal. apply Peano_dec.le_unique. }
  unshelve eexists.
  - refine {| integrable := fun _ => True; E := fun g => sum n (fun i => p i * at_ g i) |}; auto.
    + intros f g _ _. rewrite <- sum_plus. apply sum_ext. intros i H. rewrite !(at_ok _ i H). ring.
    + intros c f _. rewrite <- sum_scal. apply sum_ext. intros i H. rewrite !(at_ok _ i H). ring.
    + intros f g _ _ L. apply sum_le. intros i H. rewrite !(at_ok _ i H).
      apply Rmult_le_compat_l; auto.
    + transitivity (sum n p); [|exact H1]. apply sum_ext. intros i H. rewrite (at_ok _ i H). ring.
  - split; [easy|]. intros f. simpl. apply sum_ext. intros i H. now rewrite (at_ok _ i H).
Qed.

(* A sequence of outcomes with chances p, as of waits: the mean is a series, of what converges
   absolutely. *)
Theorem countable_mean (p : nat -> R) :
  (forall i, 0 <= p i) -> is_series p 1 ->
  exists m : mean nat,
    (forall f, integrable m f <-> ex_series (fun i => Rabs (p i * f i))) /\
    forall f, m f = Series (fun i => p i * f i).
Proof.
  intros Hp H1. unshelve eexists.
  - refine {| integrable := fun f => ex_series (fun i => Rabs (p i * f i));
      E := fun f => Series (fun i => p i * f i) |}.
    + intros f g H. apply ex_series_ext. intros i. now rewrite H.
    + apply (ex_series_ext p); [intros i; rewrite Rmult_1_r; symmetry; now apply Rabs_pos_eq|].
      now exists 1.
    + intros f g Hf Hg. apply (ex_series_le (V := R_CompleteNormedModule) _
        (fun i => Rabs (p i * f i) + Rabs (p i * g i)));
          [|now apply (ex_series_plus (V := R_NormedModule))].
      intros i. change norm with Rabs. rewrite Rabs_Rabsolu, Rmult_plus_distr_l. apply Rabs_triang.
    + intros c f Hf. apply (ex_series_ext (fun i => Rabs c * Rabs (p i * f i))).
      * intros i. rewrite <- Rabs_mult. f_equal. ring.
      * now apply (ex_series_scal (V := R_NormedModule) (Rabs c)).
    + intros f g Hf Hg. rewrite <- Series_plus by now apply ex_series_Rabs. apply Series_ext.
      intros; ring.
    + intros c f Hf. rewrite <- Series_scal_l. apply Series_ext. intros; ring.
    + intros f g Hf Hg L. enough (0 <= Series (fun i => p i * g i) - Series (fun i => p i * f i))
        by lra.
      rewrite <- Series_minus by now apply ex_series_Rabs.
      replace 0 with (Series (fun _ => 0 * 0)) by (rewrite Series_scal_l; ring).
      apply Series_le; [|apply (ex_series_minus (V := R_NormedModule)); now apply ex_series_Rabs].
      intros i. specialize (Hp i). specialize (L i). split; nra.
    + rewrite (Series_ext _ p) by (intros; ring). now apply is_series_unique.
  - split; [intros f; reflexivity|reflexivity].
Qed.

(* Waits that end with chance 1/2 in every round: no finite number of outcomes is enough, and a
   variable without a bound has a mean and a variance. *)
Theorem waits_have_a_mean :
  exists m : mean nat,
    (forall n, m (fun i => if (n <=? i)%nat then 1 else 0) = (/ 2) ^ n) /\
    integrable m (fun i => (5 / 4) ^ i) /\ integrable m (fun i => ((5 / 4) ^ i) ^ 2).
Proof.
  set (p := fun i => / 2 * (/ 2) ^ i).
  assert (p0 : forall i, 0 < p i) by (intros i; apply Rmult_lt_0_compat; [lra|apply pow_lt; lra]).
  assert (G : forall q, 0 <= q < 1 -> is_series (fun i => / 2 * q ^ i) (/ 2 * / (1 - q))).
  { intros q Hq. apply (is_series_scal (V := R_NormedModule) (/ 2)), is_series_geom.
    rewrite Rabs_right; lra. }
  destruct (countable_mean p) as [m [Im Em]];
    [now left|replace 1 with (/ 2 * / (1 - / 2)) by field; apply G; lra|].
  assert (P : forall q, 0 <= q < 2 -> integrable m (fun i => q ^ i)).
  { intros q Hq. apply Im. assert (Q : forall i, / 2 * (q / 2) ^ i = Rabs (p i * q ^ i)).
    { intros i. unfold p, Rdiv. rewrite Rpow_mult_distr, Rabs_right; [ring|]. fold (p i).
      apply Rle_ge, Rmult_le_pos; [left; apply p0|apply pow_le; lra]. }
    exists (/ 2 * / (1 - q / 2)). apply (is_series_ext _ _ _ Q). apply G. lra. }
  exists m. repeat split.
  - intros n. rewrite Em, (Series_incr_n_aux _ n).
    + transitivity ((/ 2) ^ n * (/ 2 * / (1 - / 2))); [|field]. apply is_series_unique.
      assert (Q : forall k, (/ 2) ^ n * (/ 2 * (/ 2) ^ k) = p (n + k)%nat * (if (n <=? n
        + k)%nat then 1 else 0)).
      { intros k. destruct (Nat.leb_spec n (n + k)); [|lia]. unfold p. rewrite pow_add. ring. }
      apply (is_series_ext _ _ _ Q). apply (is_series_scal (V := R_NormedModule)), G. lra.
    + intros k Hk. destruct (Nat.leb_spec n k); [lia|ring].
  - apply P. lra.
  - apply (I_ext m (fun i => (25 / 16) ^ i)); [|apply P; lra].
    intros i. rewrite <- pow_mult, Nat.mul_comm, pow_mult. f_equal. field.
Qed.

(* A density on the line, whose integral is 1: the mean is an improper integral. *)
Theorem mean_of_a_density (density : R -> R) :
  (forall x, 0 <= density x) -> is_RInt_gen density (Rbar_locally m_infty) (Rbar_locally p_infty) 1
    ->
  exists m : mean R, forall f,
    (integrable m f <-> ex_RInt_gen (fun x => density x * f x) (Rbar_locally m_infty) (Rbar_locally
      p_infty)) /\
    m f = RInt_gen (fun x => density x * f x) (Rbar_locally m_infty) (Rbar_locally p_infty).
Proof.
  intros Hd H1. set (a := Rbar_locally m_infty) in *. set (b := Rbar_locally p_infty) in *.
  assert (Fa : ProperFilter a) by apply Rbar_locally_filter.
  assert (Fb : ProperFilter b) by apply Rbar_locally_filter.
  assert (correct : forall f : R -> R, ex_RInt_gen f a b -> is_RInt_gen f a b (RInt_gen f a b))
    by (intros f H; exact (RInt_gen_correct (V := R_CompleteNormedModule) f H)).
  (* an integral of what is not negative is not negative *)
  assert (pos : forall (f : R -> R) (l : R), (forall x, 0 <= f x) -> is_RInt_gen f a b l -> 0 <= l).
  { intros f l Hf Hl. apply Rnot_lt_le. intros A. assert (e : 0 < - l) by lra.
    assert (Near : locally l (fun y => Rabs (y - l) < - l)) by (exists (mkposreal _ e);
      intros y Hy; exact Hy).
    destruct (Hl _ Near) as [Q S [M1 HQ] [M2 HS] HQS].
    set (x := Rmin (M1 - 1) 0). set (y := Rmax (M2 + 1) 0).
    destruct (HQS x y) as [v [Hv Hb]].
    - apply HQ. unfold x. pose proof (Rmin_l (M1 - 1) 0). lra.
    - apply HS. unfold y. pose proof (Rmax_l (M2 + 1) 0). lra.
    - simpl in Hv. assert (0 <= v); [|apply Rabs_def2 in Hb; lra].
      apply (is_RInt_ge_0 f x y v); auto. unfold x, y. pose proof (Rmin_r (M1 - 1) 0).
      pose proof (Rmax_r (M2 + 1) 0). lra. }
  unshelve eexists.
  - refine {| integrable := fun f => ex_RInt_gen (fun x => density x * f x) a b;
              E := fun f => RInt_gen (fun x => density x * f x) a b |}.
    + intros f g H. apply ex_RInt_gen_ext_eq. intros x. now rewrite H.
    + exists 1. revert H1. apply is_RInt_gen_ext. apply filter_forall. intros [u v] x _. simpl.
      ring.
    + intros f g [u Hu] [v Hv]. exists (u + v). generalize (is_RInt_gen_plus _ _ _ _ Hu Hv).
      apply is_RInt_gen_ext.
      apply filter_forall. intros w x _. simpl. unfold plus. simpl. ring.
    + intros c f [u Hu]. exists (c * u). generalize (is_RInt_gen_scal _ c _ Hu).
      apply is_RInt_gen_ext.
      apply filter_forall. intros w x _. unfold scal. simpl. unfold mult. simpl. ring.
    + intros f g Hf Hg. apply is_RInt_gen_unique.
      generalize (is_RInt_gen_plus _ _ _ _ (correct _ Hf) (correct _ Hg)). apply is_RInt_gen_ext.
      apply filter_forall. intros w x _. simpl. unfold plus. simpl. ring.
    + intros c f Hf. apply is_RInt_gen_unique. generalize (is_RInt_gen_scal _ c _ (correct _ Hf)).
      apply is_RInt_gen_ext.
      apply filter_forall. intros w x _. unfold scal. simpl. unfold mult. simpl. ring.
    + intros f g Hf Hg L. pose proof (is_RInt_gen_minus _ _ _ _ (correct _ Hg) (correct _ Hf)) as M.
      apply pos in M; [unfold minus, plus, opp in M; simpl in M; lra|].
      intros x. unfold minus, plus, opp. simpl. specialize (Hd x). specialize (L x). nra.
    + apply is_RInt_gen_unique. revert H1. apply is_RInt_gen_ext. apply filter_forall.
      intros w x _. symmetry. apply Rmult_1_r.
  - intros f. split; reflexivity.
Qed.

(* ---- two spaces make one ---- *)

(* first the mean over the second variable, then over the first *)
Definition product {A B : Type} (p : mean A) (q : mean B) : mean (A * B).
Proof.
  refine {| integrable := fun f => (forall a, integrable q (fun b => f (a,
    b))) /\ integrable p (fun a => q (fun b => f (a, b)));
            E := fun f => p (fun a => q (fun b => f (a, b))) |}.
  - intros f g H [H1 H2]. assert (Hq : forall a, q (fun b => f (a, b)) = q (fun b => g (a,
      b))) by (intros; now apply E_ext).
    split; [intros a; now apply (I_ext q (fun b => f (a,
      b)))|now apply (I_ext p (fun a => q (fun b => f (a, b))))].
  - split; [intros; apply I_const|]. apply (I_ext p (fun _ => 1)); [intros;
      now rewrite E_one|apply I_const].
  - intros f g [F1 F2] [G1 G2]. split; [intros; now apply I_plus|].
    apply (I_ext p (fun a => q (fun b => f (a, b)) + q (fun b => g (a, b)))); [intros;
      now rewrite E_plus|now apply I_plus].
  - intros c f [F1 F2]. split; [intros; now apply I_scal|].
    apply (I_ext p (fun a => c * q (fun b => f (a, b)))); [intros;
      now rewrite E_scal|now apply I_scal].
  - intros f g [F1 F2] [G1 G2]. rewrite <- E_plus by auto. apply E_ext; [|intros; now apply E_plus].
    apply (I_ext p (fun a => q (fun b => f (a, b)) + q (fun b => g (a, b)))); [intros;
      now rewrite E_plus|now apply I_plus].
  - intros c f [F1 F2]. rewrite <- E_scal by auto. apply E_ext; [|intros; now apply E_scal].
    apply (I_ext p (fun a => c * q (fun b => f (a, b)))); [intros;
      now rewrite E_scal|now apply I_scal].
  - intros f g [F1 F2] [G1 G2] L. apply E_mono; auto. intros a. apply E_mono; auto.
  - rewrite (E_ext p _ (fun _ => 1)); [apply E_one| |intros; apply E_one].
    apply (I_ext p (fun _ => 1)); [intros; now rewrite E_one|apply I_const].
Defined.

(* Of what depends on one variable alone, and of a product of two such, it is what one expects. *)
Lemma product_first {A B} (p : mean A) (q : mean B) f :
  integrable p f -> integrable (product p q) (fun o => f (fst o))
    /\ product p q (fun o => f (fst o)) = p f.
Proof.
  intros H. simpl. repeat split; [intros; apply I_const|apply (I_ext p f); [intros;
    now rewrite E_const|auto]|].
  symmetry. apply E_ext; auto. intros. now rewrite E_const.
Qed.
Lemma product_second {A B} (p : mean A) (q : mean B) g :
  integrable q g -> integrable (product p q) (fun o => g (snd o))
    /\ product p q (fun o => g (snd o)) = q g.
Proof. intros H. simpl. repeat split; auto; [apply I_const|apply E_const]. Qed.
Lemma product_both {A B} (p : mean A) (q : mean B) f g :
  integrable p f -> integrable q g ->
  integrable (product p q) (fun o => f (fst o) * g (snd o))
    /\ product p q (fun o => f (fst o) * g (snd o)) = p f * q g.
Proof.
  intros Hf Hg. assert (Eq : forall a, q g * f a = q (fun b => f a * g b)) by (intros;
    rewrite E_scal by auto; ring).
  simpl. repeat split; [intros; now apply I_scal| |].
  - apply (I_ext p (fun a => q g * f a)); [exact Eq|now apply I_scal].
  - rewrite <- (E_ext p (fun a => q g * f a)) by (auto using I_scal). rewrite E_scal by auto. ring.
Qed.

(* On a product of two spaces the first variable is a past: given it, the mean is that over the
   second. *)
Theorem a_past_exists {A B : Type} (p : mean A) (q : mean B) :
  exists P : past (product p q),
    (forall g, known P (fun o => g (fst o))) /\ forall f a b, given P f (a, b) = q (fun b => f (a,
      b)).
Proof.
  unshelve eexists.
  - refine {| known := fun Z => exists g, forall o, Z o = g (fst o);
      given := fun f o => q (fun b => f (fst o, b)) |}.
    + now exists (fun _ => 1).
    + intros Z f [g Hg] [F1 F2] [G1 G2]. simpl in *.
      assert (Eq : forall a, q (fun b => Z (a, b) * f (a, b)) = g a * q (fun b => f (a, b))).
      { intros a. rewrite <- E_scal by auto. apply E_ext; auto. intros b. now rewrite Hg. }
      assert (Ec : forall a, q (fun b => Z (a, b) * q (fun b => f (a,
        b))) = g a * q (fun b => f (a, b))).
      { intros a. rewrite <- (E_const q (g a * q (fun b => f (a, b)))).
        apply E_ext; [|intros; now rewrite Hg].
        apply (I_ext q (fun _ => g a * q (fun b => f (a, b)))); [intros;
          now rewrite Hg|apply I_const]. }
      repeat split.
      * intros a. apply (I_ext q (fun _ => g a * q (fun b => f (a, b)))); [intros;
          now rewrite Hg|apply I_const].
      * apply (I_ext p (fun a => q (fun b => Z (a, b) * f (a, b)))); auto. intros a.
        now rewrite Eq, Ec.
      * apply E_ext; auto. intros a. now rewrite Eq, Ec.
  - split; [intros g; now exists g|reflexivity].
Qed.

(* For any variable with mean 0 and a variance there are N centred, uncorrelated ones with this
   variance: copies on a product of N spaces. *)
Theorem such_samples_exist {A : Type} (p : mean A) (f : A -> R) N :
  integrable p f -> integrable p (fun a => f a ^ 2) -> p f = 0 ->
  exists (Omega : Type) (mu : mean Omega) (xi : nat -> Omega -> R),
    (forall i, (i < N)%nat -> integrable mu (xi i) /\ mu (xi i) = 0) /\
    (forall i j, (i < N)%nat -> (j < N)%nat -> integrable mu (fun o => xi i o * xi j o)) /\
    (forall i j, (i < N)%nat -> (j < N)%nat -> i <> j -> mu (fun o => xi i o * xi j o) = 0) /\
    (forall i, (i < N)%nat -> mu (fun o => xi i o ^ 2) = p (fun a => f a ^ 2)).
Proof.
  intros I1 I2 E1. induction N as [|N IH]; [exists A, p, (fun _ => f); repeat split; intros; lia|].
  destruct IH as (Omega & mu & xi & H1 & H2 & H3 & H4).
  exists (A * Omega)%type, (product p mu), (fun i o => match i
    with O => f (fst o) | S j => xi j (snd o) end).
  assert (Sq : forall x : A -> R, integrable p (fun a => x a ^ 2)
    -> integrable p (fun a => x a * x a))
    by (intros x; apply I_ext; intros; ring).
  split; [|split; [|split]].
  - intros i Hi. destruct i; [destruct (product_first p mu f I1); split; congruence|].
    destruct (H1 i ltac:(lia)) as [I3 E3]. destruct (product_second p mu (xi i) I3).
    split; congruence.
  - intros i j Hi Hj. destruct i, j.
    + apply (product_first p mu (fun a => f a * f a)). now apply Sq.
    + apply (product_both p mu f (xi j)); auto. apply H1. lia.
    + apply (I_ext _ (fun o => f (fst o) * xi i (snd o))); [intros; ring|].
      apply (product_both p mu f (xi i)); auto. apply H1. lia.
    + apply (product_second p mu (fun o => xi i o * xi j o)). apply H2; lia.
  - intros i j Hi Hj Hij. destruct i, j; [lia| | |].
    + rewrite (proj2 (product_both p mu f (xi j) I1 (proj1 (H1 j ltac:(lia))))), E1. ring.
    + destruct (product_both p mu f (xi i) I1 (proj1 (H1 i ltac:(lia)))) as [Ib Eb].
      rewrite <- (E_ext (product p mu) (fun o => f (fst o) * xi i (snd o))), Eb, E1;
        [ring|auto|intros; ring].
    + rewrite (proj2 (product_second p mu (fun o => xi i o * xi j o) (H2 i j ltac:(lia)
        ltac:(lia)))). apply H3; lia.
  - intros i Hi. destruct i; [exact (proj2 (product_first p mu (fun a => f a ^ 2) I2))|].
    assert (Ii : integrable mu (fun o => xi i o ^ 2))
      by (apply (I_ext mu (fun o => xi i o * xi i o)); [intros; ring|apply H2; lia]).
    rewrite (proj2 (product_second p mu (fun o => xi i o ^ 2) Ii)). apply H4. lia.
Qed.
