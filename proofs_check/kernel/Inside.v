(* Inside the region: whatever a policy looks at, its regret is that of constant admission, to first
   order.

   Admissions inside the region differ from the rate by amounts
     with a finite sum.  So samples and uses grow like those of
   constant admission, up to a bounded rest, and the memory tends to K rate. *)
Require Import Reals Lra Lia Psatz.
Require ClassicalEpsilon.
From Coquelicot Require Import Coquelicot.
From Acdpp Require Import Sums ReuseFormulas Reuse ControlFormulas Lambert Control.
From Acdpp Require Import LearningFormulas RegretFormulas Regret Design.
Open Scope R_scope.

Lemma sum_Rabs n f : Rabs (sum n f) <= sum n (fun i => Rabs (f i)).
Proof. induction n; simpl; [rewrite Rabs_R0; lra|]. apply Rle_trans with (1 := Rabs_triang _ _).
lra. Qed.

(* What differs from l t by a bounded amount is l over t in the end. *)
Lemma linear_growth (u : nat -> R) (l A : R) : (forall t,
  Rabs (u t - l * INR t) <= A) -> is_lim_seq (fun t => u t / INR t) l.
Proof.
  intros H. apply is_lim_seq_le_le_loc with (fun t => l - A * / INR t) (fun t => l + A * / INR t).
  - exists 1%nat. intros t Ht. assert (P : 0 < INR t) by (apply lt_0_INR; lia). specialize (H t).
    apply Rabs_le_between in H.
    split; apply Rmult_le_reg_r with (INR t); auto; field_simplify; lra.
  - replace (Finite l) with (Finite (l - A * 0)) by (f_equal; ring).
    apply (is_lim_seq_minus' (fun _ => l) _ l (A * 0) (is_lim_seq_const _)).
    apply (is_lim_seq_scal_l _ A 0 inverse_INR).
  - replace (Finite l) with (Finite (l + A * 0)) by (f_equal; ring).
    apply (is_lim_seq_plus' (fun _ => l) _ l (A * 0) (is_lim_seq_const _)).
    apply (is_lim_seq_scal_l _ A 0 inverse_INR).
Qed.

(* ---- uniformly ---- *)

(* What holds in the limit whatever is chosen for each round holds uniformly: or else a bad choice
   would be left. *)
Lemma uniformly (X : Type) (good : X -> Prop) (some : X) (f : X -> nat -> R) (l : R) :
  good some -> (forall chosen, (forall t, good (chosen t))
    -> is_lim_seq (fun t => f (chosen t) t) l) ->
  forall eps, 0 < eps -> eventually (fun t => forall x, good x -> Rabs (f x t - l) < eps).
Proof.
  intros Hs H eps He. set (bad := fun t x => good x /\ ~ Rabs (f x t - l) < eps).
  set (chosen := fun t => match ClassicalEpsilon.excluded_middle_informative (exists x,
    bad t x) with
    | left P => proj1_sig (ClassicalEpsilon.constructive_indefinite_description _ P) | right _ =>
      some end).
  assert (C : forall t, good (chosen t) /\ forall x,
    good x -> ~ Rabs (f x t - l) < eps -> bad t (chosen t)).
  { intros t. unfold chosen. destruct (ClassicalEpsilon.excluded_middle_informative (exists x,
      bad t x)) as [P|P].
    - destruct (ClassicalEpsilon.constructive_indefinite_description _ P) as [x Hx]. simpl.
      split; [apply Hx|auto].
    - split; auto. intros x H1 H2. exfalso. apply P. now exists x. }
  assert (L := H chosen (fun t => proj1 (C t))). apply is_lim_seq_spec in L.
  destruct (L (mkposreal eps He)) as [N HN].
  exists N. intros t Ht x Hx. specialize (HN t Ht). simpl in HN.
  destruct (Rlt_dec (Rabs (f x t - l)) eps) as [Y|Y]; auto. destruct (proj2 (C t) x Hx Y) as [_ Z].
  contradiction.
Qed.

Definition weight_of (t : nat) : R := sqrt (INR t / ln (INR t)).
Definition order (t : nat) : R := sqrt (ln (INR t) / INR t).

Lemma order_times_weight t : (2 <= t)%nat -> 0 < order t /\ order t * weight_of t = 1.
Proof.
  intros H. assert (P : 1 < INR t) by (change 1 with (INR 1); apply lt_INR; lia).
  assert (L : 0 < ln (INR t)) by (rewrite <- ln_1; apply ln_increasing; lra).
  unfold order, weight_of.
  split; [apply sqrt_lt_R0, Rdiv_lt_0_compat; lra|].
  rewrite <- sqrt_mult_alt by (left; apply Rdiv_lt_0_compat; lra).
  replace (ln (INR t) / INR t * (INR t / ln (INR t))) with 1 by (field; lra). apply sqrt_1.
Qed.

Lemma orders_add_up : is_lim_seq (fun T => sum T (fun i => order (S i)) / scale T) 2.
Proof.
  replace (Finite 2) with (Finite (2 * 1)) by (f_equal; ring). apply (sum_over_scale order 1).
  apply is_lim_seq_ext_loc with (fun _ => 1); [|apply is_lim_seq_const]. exists 2%nat. intros t Ht.
  symmetry. now apply order_times_weight.
Qed.

(* What is c sqrt(log t / t) in round t, uniformly, adds up to 2c sqrt(T log T), uniformly. *)
Lemma uniform_sums (X : Type) (good : X -> Prop) (f : X -> nat -> R) (c : R) (most : nat -> R) :
  (forall eps, 0 < eps -> eventually (fun t => forall x,
    good x -> Rabs (f x t * weight_of t - c) < eps)) ->
  (forall t x, good x -> Rabs (f x (S t)) <= most t) ->
  forall eps, 0 < eps -> eventually (fun T => forall x,
    good x -> Rabs (sum T (fun i => f x (S i)) / scale T - 2 * c) < eps).
Proof.
  intros H Hm eps He. destruct (H (eps / 8) ltac:(lra)) as [N HN]. set (M := S (S N)).
  set (C := sum M (fun i => most i + Rabs c * order (S i))).
  assert (O0 : forall t, 0 <= order t) by (intros; apply sqrt_pos).
  (* from round M on each term is within eps/8 of c times the order *)
  assert (A : forall k x, good x -> Rabs (sum (M + k) (fun i => f x (S i) - c * order (S i))) <= C
    + eps / 8 * sum (M + k) (fun i => order (S i))).
  { intros k x Hx. rewrite !sum_split. apply Rle_trans with (1 := Rabs_triang _ _).
    rewrite Rmult_plus_distr_l, <- Rplus_assoc.
    apply Rplus_le_compat.
    - apply Rle_trans with C.
      + apply Rle_trans with (1 := sum_Rabs _ _). apply sum_le. intros i _.
        apply Rle_trans with (1 := Rabs_triang _ _).
        rewrite Rabs_Ropp, Rabs_mult, (Rabs_pos_eq (order _)) by auto. apply Rplus_le_compat_r.
        now apply Hm.
      + assert (0 <= eps / 8 * sum M (fun i => order (S i))) by (apply Rmult_le_pos;
          [lra|apply sum_nonneg; auto]). lra.
    - apply Rle_trans with (1 := sum_Rabs _ _). rewrite <- sum_scal. apply sum_le. intros i _.
      set (t := S (M + i)).
      destruct (order_times_weight t ltac:(unfold t, M; lia)) as [O1 O2].
      specialize (HN t ltac:(unfold t, M; lia) x Hx).
      replace (f x t - c * order t) with ((f x t * weight_of t - c) * order t)
        by (replace ((f x t * weight_of t - c) * order t) with (f x t * (order t * weight_of t)
          - c * order t) by ring; rewrite O2; ring).
      rewrite Rabs_mult, (Rabs_pos_eq (order t)) by lra. apply Rmult_le_compat_r; lra. }
  assert (L := orders_add_up). apply is_lim_seq_spec in L.
  assert (e2 : 0 < Rmin 1 (eps / 4 / (Rabs c + 1))).
  { apply Rmin_glb_lt; [lra|]. apply Rdiv_lt_0_compat; [lra|]. pose proof (Rabs_pos c). lra. }
  destruct (L (mkposreal _ e2)) as [N1 H1]. simpl in H1.
  destruct (eventually_above scale (4 * (C + 1) / eps) scale_grows) as [N2 H2].
  exists (Nat.max M (Nat.max N1 N2)). intros T HT x Hx. specialize (H1 T ltac:(lia)).
  specialize (H2 T ltac:(lia)).
  specialize (A (T - M)%nat x Hx). replace (M + (T - M))%nat with T in A by lia.
  rewrite sum_minus, sum_scal in A.
  set (S1 := sum T (fun i => f x (S i))) in *. set (S2 := sum T (fun i => order (S i))) in *.
  assert (P : 1 < INR T) by (change 1 with (INR 1); apply lt_INR; unfold M in *; lia).
  assert (L0 : 0 < ln (INR T)) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (SP : 0 < scale T) by (apply sqrt_lt_R0; nra).
  assert (C0 : 0 <= C) by (apply sum_nonneg; intros; apply Rplus_le_le_0_compat;
    [apply Rle_trans with (2 := Hm i x Hx); apply Rabs_pos|apply Rmult_le_pos;
      [apply Rabs_pos|auto]]).
  assert (C1 : C < eps / 4 * scale T).
  { apply Rmult_lt_compat_l with (r := eps / 4) in H2; [|lra].
    replace (eps / 4 * (4 * (C + 1) / eps)) with (C + 1) in H2 by (field; lra). lra. }
  assert (X1 : Rabs (S2 / scale T - 2) < 1) by (apply Rlt_le_trans with (1 := H1), Rmin_l).
  assert (X2 : Rabs c * Rabs (S2 / scale T - 2) <= eps / 4).
  { pose proof (Rabs_pos c). apply Rle_trans with ((Rabs c + 1) * (eps / 4 / (Rabs c + 1)));
      [|right; field; lra].
    apply Rmult_le_compat; try apply Rabs_pos; [lra|]. left.
    apply Rlt_le_trans with (1 := H1), Rmin_r. }
  assert (X3 : S2 < 3 * scale T).
  { apply Rabs_def2 in X1. destruct X1 as [X1 _].
    apply Rmult_lt_reg_r with (/ scale T); [now apply Rinv_0_lt_compat|].
    replace (3 * scale T * / scale T) with 3 by (field; lra). unfold Rdiv in X1. lra. }
  replace (S1 / scale T - 2 * c) with ((S1 - c * S2) * / scale T + c * (S2 / scale T - 2))
    by (field; lra).
  apply Rle_lt_trans with (1 := Rabs_triang _ _).
  rewrite !Rabs_mult, (Rabs_pos_eq (/ scale T)) by (left; now apply Rinv_0_lt_compat).
  assert (Y : Rabs (S1 - c * S2) * / scale T < 5 * eps / 8).
  { apply Rmult_lt_reg_r with (scale T); auto. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. nra. }
  lra.
Qed.

(* ---- admissions inside the region ---- *)

Section Inside.
Variables (rate rho : R) (K : nat).
Hypotheses (positive : 0 < rate) (inside : 0 < rho < 1) (kept : (0 < K)%nat).
Definition inside_region (amount : nat -> R) : Prop :=
  forall j, region_minimum rate rho (S j) <= amount j <= region_maximum rate rho (S j).
Let c : R := rate / (1 - rho).
Let m : R := rate + c.
Let q : R := INR K * rate.

Lemma c_positive : 0 < c.
Proof. apply Rdiv_lt_0_compat; lra. Qed.
Lemma K_positive : 0 < INR K.
Proof. now apply lt_0_INR. Qed.
Lemma q0 : 0 < q.
Proof. pose proof K_positive. unfold q. nra. Qed.

(* any policy inside the region, another in every round if need be *)
Section Selected.
Variable chosen : nat -> nat -> R.
Hypothesis region : forall t, inside_region (chosen t).

Lemma near t j (amount := chosen t) : Rabs (amount j - rate) <= c * rho ^ S j.
Proof.
  subst amount. pose proof (region t j) as [L H]. rewrite (low_is rate rho inside) in L.
  rewrite (top_is rate rho inside) in H.
  pose proof (pow_below_one rho j inside) as P. pose proof c_positive.
  assert (Q : rho ^ S j / (1 - rho ^ S j) <= rho ^ S j / (1 - rho)).
  { apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; [lra|]. simpl.
    assert (rho ^ j <= 1) by (rewrite <- (pow1 j); apply pow_incr; lra). nra. }
  assert (R1 : rate <= c) by (unfold c; apply Rmult_le_reg_r with (1 - rho); [lra|];
    field_simplify; nra).
  apply Rabs_le_between. replace (c * rho ^ S j) with (rate * (rho ^ S j / (1 - rho)))
    by (unfold c; field; lra).
  split; [|nra]. assert (rho ^ S j <= rho ^ S j / (1 - rho)); [|nra].
  apply Rmult_le_reg_r with (1 - rho); [lra|]. field_simplify; nra.
Qed.

Lemma amount_range t j (amount := chosen t) : 0 <= amount j <= m.
Proof.
  pose proof (region t j) as [L _]. fold amount in L.
  pose proof (low_below rate rho positive inside j). pose proof (near t j) as N. fold amount in N.
  apply Rabs_le_between in N. pose proof (pow_below_one rho j inside). pose proof c_positive.
  unfold m. split; [lra|nra].
Qed.

(* ---- samples and uses ---- *)

Lemma size_near t (amount := chosen t) : Rabs (size t amount - rate * INR t) <= c / (1 - rho).
Proof.
  replace (size t amount - rate * INR t) with (sum t (fun j => amount j - rate)).
  - apply Rle_trans with (1 := sum_Rabs _ _).
    apply Rle_trans with (sum t (fun j => c * rho ^ S j)); [apply sum_le; intros; apply near|].
    rewrite sum_scal. apply Rmult_le_compat_l; [left; apply c_positive|].
    pose proof (geometric_tail rho t) as G.
    apply Rmult_le_reg_l with (1 - rho); [lra|]. rewrite G, Rinv_r by lra.
    assert (0 <= rho ^ t) by (apply pow_le; lra). nra.
  - rewrite sum_minus, sum_const. unfold size, total.
    rewrite (sum_ext t (fun j => amount j * 1) amount) by (intros; ring). ring.
Qed.

Lemma newest_bounded f M t (amount := chosen t) : 0 <= M -> (forall i,
  (i < K)%nat -> 0 <= f (INR (i + 1)) (INR K) <= M) ->
  Rabs (newest K t amount f) <= INR K * (M * m).
Proof.
  intros HM Hf. pose proof (amount_range t 0) as A0. fold amount in A0. unfold newest.
  assert (B : 0 <= sum (Nat.min K t) (fun i => f (INR (i + 1)) (INR K) * amount (t - 1 - i)%nat)
    <= INR (Nat.min K t) * (M * m)).
  { split; [apply sum_nonneg; intros; apply Rmult_le_pos; [apply Hf; lia|apply (amount_range t)]|].
    rewrite <- sum_const. apply sum_le. intros i Hi. specialize (Hf i ltac:(lia)).
    pose proof (amount_range t (t - 1 - i)) as A1. fold amount in A1.
    apply Rmult_le_compat; lra. }
  rewrite Rabs_pos_eq by lra. apply Rle_trans with (1 := proj2 B). apply Rmult_le_compat_r; [nra|].
  apply le_INR. lia.
Qed.

Lemma deficits i : (i < K)%nat ->
  0 <= first_deficit (INR (i + 1)) (INR K) <= INR K /\ 0 <= second_deficit (INR (i + 1)) (INR K)
    <= INR K ^ 2.
Proof.
  intros Hi. assert (L : 0 <= INR (i + 1) <= INR K) by (split; [apply pos_INR|apply le_INR; lia]).
  unfold first_deficit, second_deficit. rewrite Rmin_right by lra. split; nra.
Qed.

Lemma uses_near t (amount := chosen t) : Rabs (first t amount (counts K t) - q * INR t)
  <= INR K * (c / (1 - rho)) + INR K * (INR K * m).
Proof.
  rewrite first_by_deficit by auto. pose proof K_positive.
  replace (INR K * size t amount - newest K t amount first_deficit - q * INR t)
    with (INR K * (size t amount - rate * INR t) + - newest K t amount first_deficit) by (unfold q;
      ring).
  apply Rle_trans with (1 := Rabs_triang _ _).
  rewrite Rabs_Ropp, Rabs_mult, (Rabs_pos_eq (INR K)) by lra. apply Rplus_le_compat.
  - apply Rmult_le_compat_l; [lra|apply size_near].
  - apply newest_bounded; [lra|]. intros i Hi. apply (deficits i Hi).
Qed.

Lemma squares_near t (amount := chosen t) :
  Rabs (second t amount (counts K t) - INR K * q * INR t) <= INR K ^ 2 * (c / (1 - rho))
    + INR K * (INR K ^ 2 * m).
Proof.
  rewrite second_by_deficit by auto. pose proof K_positive.
  replace (INR K ^ 2 * size t amount - newest K t amount second_deficit - INR K * q * INR t)
    with (INR K ^ 2 * (size t amount - rate * INR t) + - newest K t amount second_deficit)
      by (unfold q; ring).
  apply Rle_trans with (1 := Rabs_triang _ _).
  rewrite Rabs_Ropp, Rabs_mult, (Rabs_pos_eq (INR K ^ 2)) by nra. apply Rplus_le_compat.
  - apply Rmult_le_compat_l; [nra|apply size_near].
  - apply newest_bounded; [nra|]. intros i Hi. apply (deficits i Hi).
Qed.

(* ---- the memory ---- *)

Lemma power_small n : rho ^ S n <= / (1 - rho) * / INR (S n).
Proof.
  assert (I : 0 < INR (S n)) by (apply lt_0_INR; lia). pose proof (geometric rho (S n)) as G.
  pose proof (pow_below_one rho n inside).
  assert (L : INR (S n) * rho ^ S n <= sum (S n) (fun i => rho ^ i)).
  { rewrite <- sum_const. apply sum_le. intros i Hi. replace (S n) with (i + (S n - i))%nat by lia.
    rewrite pow_add.
    assert (0 <= rho ^ i) by (apply pow_le; lra).
    assert (rho ^ (S n - i) <= 1) by (rewrite <- (pow1 (S n - i)); apply pow_incr; lra). nra. }
  apply Rmult_le_reg_r with (INR (S n) * (1 - rho)); [nra|].
  replace (/ (1 - rho) * / INR (S n) * (INR (S n) * (1 - rho))) with 1 by (field; lra). nra.
Qed.

Let A : R := INR K * (INR K * (c * / (1 - rho))).
Lemma memory_near t (amount := chosen t) : (K <= t)%nat -> Rabs (occupancy K t amount - q)
  <= A * / INR t.
Proof.
  intros Ht. assert (P : 0 < INR t) by (apply lt_0_INR; lia). pose proof K_positive.
  pose proof c_positive.
  assert (O : occupancy K t amount = sum K (fun i => amount (t - K + i)%nat)).
  { unfold occupancy, total. replace t with ((t - K) + K)%nat at 1 by lia. rewrite sum_split.
    rewrite (sum_ext (t - K) _ (fun _ => 0)); [rewrite sum_const, Rmult_0_r, Rplus_0_l|].
    - apply sum_ext. intros i Hi. unfold held.
      destruct (Nat.leb_spec (t - (t - K + i)) K); [ring|lia].
    - intros j Hj. unfold held. destruct (Nat.leb_spec (t - j) K); [lia|ring]. }
  rewrite O. replace (sum K (fun i => amount (t - K + i)%nat) - q) with (sum K (fun i => amount (t
    - K + i)%nat - rate))
    by (rewrite sum_minus, sum_const; unfold q; ring).
  apply Rle_trans with (1 := sum_Rabs _ _). apply Rle_trans with (sum K (fun _ => INR K * (c * / (1
    - rho)) * / INR t)); [|rewrite sum_const; unfold A; right; ring].
  apply sum_le. intros i Hi. apply Rle_trans with (1 := near t _).
  apply Rle_trans with (c * (/ (1 - rho) * / INR (S (t - K + i)))).
  - apply Rmult_le_compat_l; [lra|apply power_small].
  - replace (INR K * (c * / (1 - rho)) * / INR t) with (c * (/ (1 - rho) * (INR K * / INR t)))
      by ring.
    apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; lra|].
    assert (I : 0 < INR (S (t - K + i))) by (apply lt_0_INR; lia).
    apply Rmult_le_reg_r with (INR (S (t - K + i)) * INR t); [nra|].
    replace (/ INR (S (t - K + i)) * (INR (S (t - K + i)) * INR t)) with (INR t) by (field; lra).
    replace (INR K * / INR t * (INR (S (t - K + i)) * INR t)) with (INR K * INR (S (t - K + i)))
      by (field; lra).
    rewrite <- mult_INR. apply le_INR. nia.
Qed.

Lemma memory_limit : is_lim_seq (fun t => occupancy K t (chosen t)) q.
Proof.
  apply is_lim_seq_le_le_loc with (fun t => q - A * / INR t) (fun t => q + A * / INR t).
  - exists K. intros t Ht. pose proof (memory_near t Ht) as N. apply Rabs_le_between in N. lra.
  - replace (Finite q) with (Finite (q - A * 0)) by (f_equal; ring).
    apply (is_lim_seq_minus' (fun _ => q) _ q (A * 0) (is_lim_seq_const _)).
    apply (is_lim_seq_scal_l _ A 0 inverse_INR).
  - replace (Finite q) with (Finite (q + A * 0)) by (f_equal; ring).
    apply (is_lim_seq_plus' (fun _ => q) _ q (A * 0) (is_lim_seq_const _)).
    apply (is_lim_seq_scal_l _ A 0 inverse_INR).
Qed.

Let n (t : nat) : R := occupancy K t (chosen t).
Let U (t : nat) : R := first t (chosen t) (counts K t).
Let Q (t : nat) : R := second t (chosen t) (counts K t).
Let N (t : nat) : R := size t (chosen t).
Let W (t : nat) : R := used_in_memory K t (chosen t).
Let inverse_effective (t : nat) : R := / effective_from_sums (U t) (Q t).

Lemma eventually_all : eventually (fun t => (K <= t)%nat /\ 0 < INR t /\ 0 < n t /\ 0 < U t
  /\ 0 < Q t).
Proof.
  pose proof q0 as Q0. pose proof K_positive.
  destruct (eventually_positive _ q Q0 memory_limit) as [M1 H1].
  destruct (eventually_positive _ q Q0 (linear_growth _ q _ uses_near)) as [M2 H2].
  destruct (eventually_positive _ (INR K * q) ltac:(nra) (linear_growth _ (INR K * q) _
    squares_near)) as [M3 H3].
  exists (S (Nat.max K (Nat.max M1 (Nat.max M2 M3)))). intros t Ht.
  assert (P : 0 < INR t) by (apply lt_0_INR; lia).
  specialize (H1 t ltac:(lia)). specialize (H2 t ltac:(lia)). specialize (H3 t ltac:(lia)).
  cbv beta in *.
  assert (pos : forall x, 0 < x / INR t -> 0 < x).
  { intros x Hx. apply Rmult_lt_compat_r with (r := INR t) in Hx; auto. unfold Rdiv in Hx.
    rewrite Rmult_assoc, Rinv_l in Hx by lra. lra. }
  repeat split; auto; try lia; apply pos; auto.
Qed.

Lemma inverse_near : is_lim_seq (fun t => INR t * inverse_effective t) (/ rate).
Proof.
  pose proof q0. pose proof K_positive. destruct eventually_all as [M HM].
  apply is_lim_seq_ext_loc with (fun t => Q t / INR t * / (U t / INR t * (U t / INR t))).
  - exists M. intros t Ht. destruct (HM t Ht) as (_ & P & _ & PU & PQ).
    unfold inverse_effective, effective_from_sums. field. lra.
  - replace (Finite (/ rate)) with (Finite (INR K * q * / (q * q))) by (f_equal; unfold q; field;
      lra).
    apply (is_lim_seq_mult' _ _ (INR K * q) (/ (q * q)) (linear_growth _ _ _ squares_near)).
    apply (is_lim_seq_inv _ (q * q)); [|intros Z; injection Z; nra].
    apply (is_lim_seq_mult' _ _ q q); apply (linear_growth _ _ _ uses_near).
Qed.

Lemma inverse_memory_near : is_lim_seq (fun t => sqrt (INR t) * (/ n t - / q)) 0.
Proof.
  pose proof q0 as Q0. destruct eventually_all as [M HM].
  assert (Z : is_lim_seq (fun t => A / q * (/ sqrt (INR t) * / n t)) 0).
  { replace (Finite 0) with (Finite (A / q * (0 * / q))) by (f_equal; ring).
    apply (is_lim_seq_scal_l _ (A / q) (0 * / q)).
    apply (is_lim_seq_mult' _ _ 0 (/ q) inverse_root). apply (is_lim_seq_inv _ q memory_limit).
    intros E. injection E. lra. }
  assert (B : eventually (fun t => Rabs (sqrt (INR t) * (/ n t - / q))
    <= A / q * (/ sqrt (INR t) * / n t))).
  { exists M. intros t Ht. destruct (HM t Ht) as (HK & P & Pn & _).
    assert (SP : 0 < sqrt (INR t)) by now apply sqrt_lt_R0.
    pose proof (memory_near t HK) as D. fold (n t) in D.
    replace (sqrt (INR t) * (/ n t - / q)) with (- (n t - q) * (sqrt (INR t) / (n t * q)))
      by (field; lra).
    assert (F : 0 < sqrt (INR t) / (n t * q)) by (apply Rdiv_lt_0_compat; nra).
    rewrite Rabs_mult, Rabs_Ropp, (Rabs_pos_eq (_ / _)) by lra.
    apply Rle_trans with (A * / INR t * (sqrt (INR t) / (n t * q))); [apply Rmult_le_compat_r;
      lra|].
    right. rewrite <- (sqrt_sqrt (INR t)) at 1 by lra. field. lra. }
  apply is_lim_seq_le_le_loc with (fun t => - (A / q * (/ sqrt (INR t) * / n t))) (fun t => A / q *
    (/ sqrt (INR t) * / n t)); auto.
  - destruct B as [M' HB]. exists M'. intros t Ht. specialize (HB t Ht).
    apply Rabs_le_between in HB. lra.
  - replace (Finite 0) with (Finite (- 0)) by (f_equal; ring).
    apply (is_lim_seq_opp (fun t => A / q * (/ sqrt (INR t) * / n t)) 0), Z.
Qed.

Lemma root_inverse : is_lim_seq (fun t => sqrt (INR t) * inverse_effective t) 0.
Proof.
  apply is_lim_seq_ext_loc with (fun t => / sqrt (INR t) * (INR t * inverse_effective t)).
  - exists 1%nat. intros t Ht. assert (P : 0 < INR t) by (apply lt_0_INR; lia).
    assert (0 < sqrt (INR t)) by now apply sqrt_lt_R0.
    rewrite <- (sqrt_sqrt (INR t)) at 2 by lra. field. lra.
  - replace (Finite 0) with (Finite (0 * / rate)) by (f_equal; ring).
    apply (is_lim_seq_mult' _ _ 0 (/ rate) inverse_root inverse_near).
Qed.

(* the mismatch, and its printed form *)
Lemma mismatch_near : is_lim_seq (fun t => sqrt (INR t) * (mismatch K t (chosen t) - / q)) 0.
Proof.
  pose proof q0 as Q0. pose proof K_positive as KP. destruct eventually_all as [M HM].
  assert (some : forall t j, (j < t)%nat -> 0 <= chosen t j) by (intros t j _;
    apply (amount_range t j)).
  assert (L : is_lim_seq (fun t => sqrt (INR t) * (2 * W t / (n t * U t))) 0).
  { assert (Z : is_lim_seq (fun t => 2 * INR K * (/ sqrt (INR t) * / (U t / INR t))) 0).
    { replace (Finite 0) with (Finite (2 * INR K * (0 * / q))) by (f_equal; ring).
      apply (is_lim_seq_scal_l _ (2 * INR K) (0 * / q)).
      apply (is_lim_seq_mult' _ _ 0 (/ q) inverse_root).
      apply (is_lim_seq_inv _ q (linear_growth _ _ _ uses_near)). intros E. injection E. lra. }
    apply is_lim_seq_le_le_loc with (fun _ => 0) (fun t => 2 * INR K * (/ sqrt (INR t) * / (U t /
      INR t))); auto; [|apply is_lim_seq_const].
    exists M. intros t Ht. destruct (HM t Ht) as (HK & P & Pn & PU & _).
    assert (SP : 0 < sqrt (INR t)) by now apply sqrt_lt_R0.
    assert (W0 : 0 <= W t <= INR K * n t).
    { unfold W, used_in_memory, n, occupancy. split.
      - apply (total_nonneg t (chosen t) (some t)). intros j Hj.
        apply Rmult_le_pos; [apply pos_INR|]. unfold held. destruct (t - j <=? K)%nat; lra.
      - rewrite <- total_scal. apply (total_le t (chosen t) (some t)). intros j _.
        apply Rmult_le_compat_r; [unfold held; destruct (t - j <=? K)%nat; lra|].
        unfold counts. rewrite uses_counted. apply le_INR. lia. }
    assert (F : 0 < sqrt (INR t) / (n t * U t)) by (apply Rdiv_lt_0_compat; nra).
    replace (sqrt (INR t) * (2 * W t / (n t * U t))) with (2 * W t * (sqrt (INR t) / (n t * U t)))
      by (field; lra).
    split; [apply Rmult_le_pos; lra|]. apply Rle_trans
      with (2 * (INR K * n t) * (sqrt (INR t) / (n t * U t))); [apply Rmult_le_compat_r; lra|].
    right. rewrite <- (sqrt_sqrt (INR t)) at 3 by lra. field. lra. }
  apply is_lim_seq_ext_loc with (fun t => sqrt (INR t) * (/ n t - / q)
    + sqrt (INR t) * inverse_effective t - sqrt (INR t) * (2 * W t / (n t * U t))).
  - exists M. intros t Ht. destruct (HM t Ht) as (HK & P & Pn & PU & PQ).
    rewrite (mismatch_by_sums K t (chosen t) kept (some t) Pn).
    unfold mismatch_from_sums, inverse_effective, effective_from_sums.
    fold (n t) (U t) (Q t) (W t). field. lra.
  - replace (Finite 0) with (Finite (0 + 0 - 0)) by (f_equal; ring).
    apply (is_lim_seq_minus' _ _ (0 + 0) 0); [|exact L].
    apply (is_lim_seq_plus' _ _ 0 0 inverse_memory_near root_inverse).
Qed.

Lemma printed_mismatch_near : is_lim_seq (fun t => sqrt (INR t) * (/ n t - inverse_effective t
  - / q)) 0.
Proof.
  apply is_lim_seq_ext with (fun t => sqrt (INR t) * (/ n t - / q)
    - sqrt (INR t) * inverse_effective t); [intros; ring|].
  replace (Finite 0) with (Finite (0 - 0)) by (f_equal; ring).
  apply (is_lim_seq_minus' _ _ 0 0 inverse_memory_near root_inverse).
Qed.

End Selected.

(* ---- the regret ---- *)

Let least : R := rate * (1 - rho).
Let bound : R := (INR K + 1) * / least.
(* In every round, mismatch and inverse effective size are bounded, whoever decides: each sum is at
   least what the
   last admission adds to it. *)
Lemma every_round amount t (U := first t amount (counts K t)) (Q := second t amount (counts K t)) (n
  := occupancy K t amount) :
  inside_region amount -> (0 < t)%nat ->
  0 <= mismatch K t amount <= bound /\ 0 <= / effective_from_sums U Q <= bound /\
  Rabs (/ n - / effective_from_sums U Q) <= bound /\ size t amount <= rate * INR t + c / (1 - rho).
Proof.
  intros Hr Ht. pose proof K_positive as KP.
  assert (some : forall j, (j < t)%nat -> 0 <= amount j) by (intros j _;
    apply (amount_range (fun _ => amount) (fun _ => Hr) O j)).
  assert (l0 : 0 < least) by (unfold least; nra).
  assert (il : 0 < / least) by now apply Rinv_0_lt_compat.
  assert (newest_ : forall j, least <= amount j).
  { intros j. apply Rle_trans with (2 := proj1 (Hr j)). rewrite (low_is rate rho inside).
    unfold least. pose proof (pow_below_one rho j inside).
    assert (rho ^ S j <= rho) by (simpl; assert (rho ^ j <= 1) by (rewrite <- (pow1 j);
      apply pow_incr; lra); nra). nra. }
  assert (last : forall f, (forall j, 0 <= f j) -> least * f (t - 1)%nat <= total t amount f).
  { intros f Hf. unfold total. replace t with (S (t - 1)) at 2 by lia. cbn [sum].
    assert (0 <= sum (t - 1) (fun j => amount j * f j)) by (apply sum_nonneg; intros;
      apply Rmult_le_pos; [apply some; lia|auto]).
    assert (least * f (t - 1)%nat <= amount (t - 1)%nat * f (t - 1)%nat)
      by (apply Rmult_le_compat_r; auto). lra. }
  assert (N1 : least <= n).
  { apply Rle_trans with (least * held K t (t - 1)); [|apply last; intros j; unfold held;
      destruct (t - j <=? K)%nat; lra].
    unfold held. destruct (Nat.leb_spec (t - (t - 1)) K); [lra|lia]. }
  assert (S1 : least <= size t amount) by (apply Rle_trans with (least * 1);
    [lra|apply (last (fun _ => 1)); intros; lra]).
  pose proof (first_above_size K t amount kept some) as U1. fold U in U1.
  assert (QK : Q <= INR K * U).
  { unfold Q, U, second, first. rewrite <- total_scal. apply (total_le t amount some). intros j _.
    assert (0 <= counts K t j <= INR K) by (unfold counts; split;
      [apply pos_INR|rewrite uses_counted; apply le_INR; lia]). simpl. nra. }
  assert (Q1 : 0 < Q) by (pose proof (square_of_the_mean t amount (counts K t) some) as S;
    fold U Q in S; nra).
  assert (U0 : 0 < U) by lra. assert (n0 : 0 < n) by lra.
  assert (I : / effective_from_sums U Q = Q / U ^ 2) by (unfold effective_from_sums; field; lra).
  rewrite I.
  assert (In : 0 < / n <= / least) by (split; [now apply Rinv_0_lt_compat|apply Rinv_le_contravar;
    lra]).
  assert (Iq : 0 <= Q / U ^ 2 <= INR K * / least).
  { split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat, pow_lt, U0]|].
    apply Rle_trans with (INR K * / U).
    - apply Rmult_le_reg_r with (U ^ 2); [now apply pow_lt|].
      replace (Q / U ^ 2 * U ^ 2) with Q by (field; lra).
      replace (INR K * / U * U ^ 2) with (INR K * U) by (field; lra). lra.
    - apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra. }
  assert (W0 : 0 <= used_in_memory K t amount).
  { apply (total_nonneg t amount some). intros j Hj. apply Rmult_le_pos; [apply pos_INR|].
    unfold held. destruct (t - j <=? K)%nat; lra. }
  assert (M0 : 0 <= mismatch K t amount) by (apply (total_nonneg t amount some); intros;
    apply pow2_ge_0).
  assert (M1 : mismatch K t amount <= / n + Q / U ^ 2).
  { rewrite (mismatch_by_sums K t amount kept some n0). unfold mismatch_from_sums. fold n U Q.
    assert (0 <= 2 * used_in_memory K t amount / (n * U)) by (apply Rmult_le_pos; [lra|left;
      apply Rinv_0_lt_compat; nra]). lra. }
  unfold bound. repeat split; try lra.
  - apply Rabs_le_between. lra.
  - pose proof (size_near (fun _ => amount) (fun _ => Hr) t) as N. cbv zeta in N.
    apply Rabs_le_between in N. lra.
Qed.

Variables (D sigma eta B Pdim L G : R) (E : nat).
Hypotheses (D0 : 0 < D) (s0 : 0 < sigma) (eta0 : 0 < eta) (B0 : 0 < B) (P0 : 0 < Pdim).

(* a round of the bound on a path of admissions: corrected, and as printed but for log+ *)
Definition inverse_effective (amount : nat -> R) (t : nat) : R :=
  / effective_from_sums (first t amount (counts K t)) (second t amount (counts K t)).
Definition a_round_of_the_bound (amount : nat -> R) (t : nat) : R :=
  root_term (mismatch K t amount) D sigma eta B Pdim E L G
    + linear_term (mismatch K t amount) D sigma eta B Pdim E L G
  + generalisation_term (inverse_effective amount t) (size t amount) D sigma eta B Pdim E L G.
Definition a_printed_round (amount : nat -> R) (t : nat) : R :=
  let printed := / occupancy K t amount - inverse_effective amount t in
  root_term_as_stated printed D sigma eta B Pdim E L G
    + linear_term_as_stated printed D sigma eta B Pdim E L G
  + generalisation_term (inverse_effective amount t) (size t amount) D sigma eta B Pdim E L G.

Lemma constant_inside : inside_region (fun _ => rate).
Proof. intros j. apply (constant_is_inside rate rho positive inside j). Qed.

(* Each round's excess is c sqrt(log t / t) whatever is chosen, so uniformly; the early rounds are
   bounded;
   so the sums are, too; and the oracle's sum, of the same share, is subtracted. *)
Lemma uniform_regret (chi : (nat -> R) -> nat -> R) (round : (nat -> R) -> nat
  -> R) step (E' : nat) :
  step = eta * INR E' ->
  (forall chosen, (forall t, inside_region (chosen t))
    -> is_lim_seq (fun t => sqrt (INR t) * (chi (chosen t) t - / q)) 0) ->
  (forall amount t, inside_region amount -> (0 < t)%nat -> Rabs (chi amount t) <= bound) ->
  (forall amount t, round amount t
     = three_terms D sigma B Pdim (chi amount) (inverse_effective amount) (fun t => size t amount)
       step t) ->
  forall eps, 0 < eps -> eventually (fun T => forall amount, inside_region amount ->
    Rabs ((sum T (fun i => round amount (S i))
      - sum T (fun i => constant_round 1 (INR (S i)) q D sigma eta B Pdim E' L G)) / scale T
          - omega3_limit (INR K) rate D sigma eta B Pdim E L G) < eps).
Proof.
  intros Hs Hc Hb Hr eps He. pose proof q0 as Q0.
  assert (k1 : 1 <= INR K) by (change 1 with (INR 1); apply le_INR; lia).
  set (limit := D * sigma / sqrt q + step * sigma ^ 2 / q).
  set (f := fun amount t => round amount t - limit).
  set (w := fun t => sqrt (INR t / ln (INR t))).
  assert (F1 : forall e, 0 < e -> eventually (fun t => forall a,
    inside_region a -> Rabs (f a t * w t - 10 * B * sqrt (Pdim / rate)) < e)).
  { apply (uniformly (nat -> R) inside_region (fun _ => rate) (fun a t => f a t * w t) _
      constant_inside). intros chosen Hi.
    assert (X := excess_limit D sigma B Pdim P0 (fun t => chi (chosen t) t) (fun t =>
      inverse_effective (chosen t) t)
      (fun t => size t (chosen t)) q rate step Q0 positive (Hc chosen Hi) (inverse_near chosen Hi)
        (linear_growth _ _ _ (size_near chosen Hi))).
    apply is_lim_seq_ext with (2 := X). intros t. unfold f, w, limit. rewrite Hr.
    unfold three_terms. reflexivity. }
  set (most := fun t => D * sigma * sqrt bound + Rabs (step * sigma ^ 2) * bound
    + 10 * B * sqrt Pdim * sqrt bound * sqrt (ln (Rmax 1 ((rate * INR (S t) + c / (1
        - rho)) / Pdim)) + 1) + Rabs limit).
  assert (F2 : forall t a, inside_region a -> Rabs (f a (S t)) <= most t).
  { intros t a Ha. destruct (every_round a (S t) Ha ltac:(lia)) as (_ & I & _ & N).
    fold (inverse_effective a (S t)) in I.
    specialize (Hb a (S t) Ha ltac:(lia)). unfold f, most.
    apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_Ropp. apply Rplus_le_compat_r.
    rewrite Hr. unfold three_terms. apply Rle_trans with (1 := Rabs_triang _ _).
    assert (G1 : 1 <= Rmax 1 (size (S t) a / Pdim) <= Rmax 1 ((rate * INR (S t) + c / (1
      - rho)) / Pdim)).
    { split; [apply Rmax_l|]. apply Rle_max_compat_l.
      apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|auto]. }
    apply Rplus_le_compat.
    - apply Rle_trans with (1 := Rabs_triang _ _).
      rewrite !Rabs_mult, (Rabs_pos_eq (sqrt _)) by apply sqrt_pos.
      rewrite (Rabs_pos_eq D), (Rabs_pos_eq sigma),
        (Rabs_pos_eq (sigma ^ 2)) by (try apply pow2_ge_0; lra). apply Rplus_le_compat.
      + apply Rmult_le_compat_l; [nra|]. apply sqrt_le_1_alt. apply Rle_trans with (2 := Hb).
        apply Rle_abs.
      + apply Rmult_le_compat_l; [apply Rmult_le_pos; [apply Rabs_pos|apply pow2_ge_0]|exact Hb].
    - rewrite Rabs_pos_eq by (repeat apply Rmult_le_pos; try apply sqrt_pos; lra).
      apply Rmult_le_compat; try apply sqrt_pos; [repeat apply Rmult_le_pos; try apply sqrt_pos;
        lra| |].
      + apply Rmult_le_compat_l; [repeat apply Rmult_le_pos; try apply sqrt_pos; lra|].
        apply sqrt_le_1_alt. lra.
      + apply sqrt_le_1_alt. apply Rplus_le_compat_r.
        destruct (Rle_lt_or_eq_dec _ _ (proj2 G1)) as [Y|Y]; [left; apply ln_increasing;
          lra|rewrite Y; lra]. }
  destruct (uniform_sums (nat -> R) inside_region f (10 * B * sqrt (Pdim / rate)) most F1 F2 (eps /
    2) ltac:(lra)) as [N1 H1].
  assert (O := constant_rounds D sigma eta B Pdim L G E' P0 1 q ltac:(lra) Q0).
  rewrite Rmult_1_l in O.
  apply is_lim_seq_spec in O. assert (e2 : 0 < eps / 2) by lra.
  destruct (O (mkposreal _ e2)) as [N2 H2]. cbn [pos] in H2.
  exists (Nat.max N1 N2). intros T HT a Ha. specialize (H1 T ltac:(lia) a Ha).
  specialize (H2 T ltac:(lia)).
  rewrite (constant_is D sigma eta B Pdim rate (INR K) L G E) by auto. unfold constant. fold q.
  set (o := sum T (fun i => constant_round 1 (INR (S i)) q D sigma eta B Pdim E' L G)) in *.
  set (x := sum T (fun i => round a (S i))).
  assert (X1 : sum T (fun i => f a (S i)) = x - INR T * limit) by (unfold f, x;
    now rewrite sum_minus, sum_const). rewrite X1 in H1.
  replace (long_run_share q D sigma eta B Pdim E' L G) with limit in H2 by (unfold long_run_share,
    limit; now rewrite Hs).
  replace ((x - o) / scale T - 2 * (10 * B * (sqrt (Pdim / rate) - sqrt (Pdim / q))))
    with (((x - INR T * limit) / scale T - 2 * (10 * B * sqrt (Pdim / rate))) - ((o
      - INR T * limit) / scale T - 20 * B * sqrt (Pdim / q)))
    by (unfold Rdiv; ring).
  apply Rle_lt_trans with (1 := Rabs_triang _ _). rewrite Rabs_Ropp. lra.
Qed.

(* Every policy inside the region, whatever it looks at, T and V among it: its regret, by the
   corrected bounds, is the same
   multiple of sqrt(T log T), uniformly over all of them. *)
Theorem regret_of_every_policy eps : 0 < eps ->
  eventually (fun T => forall amount, inside_region amount ->
    Rabs ((sum T (fun i => a_round_of_the_bound amount (S i))
           - sum T (fun i => constant_round 1 (INR (S i)) (INR K * rate) D sigma eta B Pdim E L G))
               / scale T
          - omega3_limit (INR K) rate D sigma eta B Pdim E L G) < eps).
Proof.
  apply (uniform_regret (fun amount t => mismatch K t amount) a_round_of_the_bound (eta * INR E) E
    eq_refl).
  - intros chosen Hi. now apply mismatch_near.
  - intros amount t Hi Ht. destruct (every_round amount t Hi Ht) as (M & _).
    rewrite Rabs_pos_eq; lra.
  - intros amount t. unfold a_round_of_the_bound, three_terms, root_term, linear_term,
      generalisation_term. ring.
Qed.

(* With the printed mismatch and step the regret of every policy is the same multiple of sqrt(T log
   T), uniformly. *)
Theorem printed_regret_of_every_policy eps : 0 < eps ->
  eventually (fun T => forall amount, inside_region amount ->
    Rabs ((sum T (fun i => a_printed_round amount (S i))
           - sum T (fun i => constant_round 1 (INR (S i)) (INR K * rate) D sigma eta B Pdim 1 L G))
               / scale T
          - omega3_limit (INR K) rate D sigma eta B Pdim E L G) < eps).
Proof.
  apply (uniform_regret (fun amount t => / occupancy K t amount
    - inverse_effective amount t) a_printed_round eta 1).
  - simpl. ring.
  - intros chosen Hi. now apply printed_mismatch_near.
  - intros amount t Hi Ht. apply (every_round amount t Hi Ht).
  - intros amount t. unfold a_printed_round, three_terms, root_term_as_stated,
      linear_term_as_stated, generalisation_term. cbv zeta. ring.
Qed.

(* So the printed theorem, V and rho fixed, is true and says less: every policy's regret over T
   tends to 0, uniformly. *)
Theorem printed_regret_is_sublinear eps : 0 < eps ->
  eventually (fun T => forall amount, inside_region amount ->
    Rabs (sum T (fun i => a_printed_round amount (S i))
          - sum T (fun i => constant_round 1 (INR (S i)) (INR K * rate) D sigma eta B Pdim 1 L G)) <
              eps * INR T).
Proof.
  intros He. destruct (printed_regret_of_every_policy 1 ltac:(lra)) as [N1 H1].
  set (l := omega3_limit (INR K) rate D sigma eta B Pdim E L G) in *.
  assert (Sm := scale_is_smaller). apply is_lim_seq_spec in Sm.
  assert (e : 0 < eps / (Rabs l + 1)) by (pose proof (Rabs_pos l); apply Rdiv_lt_0_compat; lra).
  destruct (Sm (mkposreal _ e)) as [N2 H2]. simpl in H2. exists (Nat.max 2 (Nat.max N1 N2)).
  intros T HT amount Ha.
  specialize (H1 T ltac:(lia) amount Ha). specialize (H2 T ltac:(lia)).
  assert (P : 1 < INR T) by (change 1 with (INR 1); apply lt_INR; lia).
  assert (L0 : 0 < ln (INR T)) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (SP : 0 < scale T) by (apply sqrt_lt_R0; nra).
  match type of H1 with Rabs (?d / _ - _) < _ => set (x := d) in * end. pose proof (Rabs_pos l).
  assert (X : Rabs x < (Rabs l + 1) * scale T).
  { replace x with (x / scale T * scale T) by (field; lra).
    rewrite Rabs_mult, (Rabs_pos_eq (scale T)) by lra. apply Rmult_lt_compat_r; auto.
    pose proof (Rabs_triang (x / scale T - l) l) as Y.
    replace (x / scale T - l + l) with (x / scale T) in Y by ring. lra. }
  rewrite Rminus_0_r, Rabs_pos_eq in H2 by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat;
    lra]).
  apply Rlt_trans with (1 := X). apply Rmult_lt_compat_r with (r := INR T * (Rabs l + 1)) in H2;
    [|nra].
  replace (scale T / INR T * (INR T * (Rabs l + 1))) with ((Rabs l + 1) * scale T) in H2 by (field;
    lra).
  replace (eps / (Rabs l + 1) * (INR T * (Rabs l + 1))) with (eps * INR T) in H2 by (field; lra).
  exact H2.
Qed.

(* With V growing as T does no constant saves the printed theorem: with reuse the regret of every
   policy exceeds any multiple of log T. *)
Theorem printed_regret_is_not_logarithmic M : (1 < K)%nat ->
  eventually (fun T => forall amount, inside_region amount ->
    M * ln (INR T) < sum T (fun i => a_printed_round amount (S i))
                     - sum T (fun i => constant_round 1 (INR (S i)) (INR K * rate) D sigma eta B
                         Pdim 1 L G)).
Proof.
  intros HK. assert (k1 : 1 < INR K) by (change 1 with (INR 1); now apply lt_INR).
  set (l := omega3_limit (INR K) rate D sigma eta B Pdim E L G).
  assert (l0 : 0 < l) by (unfold l; rewrite (constant_is D sigma eta B Pdim rate (INR K) L G E)
    by lra; pose proof (constant_positive B Pdim rate (INR K) B0 P0 positive k1); lra).
  destruct (printed_regret_of_every_policy (l / 2) ltac:(lra)) as [N1 H1]. fold l in H1.
  assert (R : is_lim_seq (fun T => l / 2 * scale T / scale T) (l / 2)).
  { apply is_lim_seq_ext_loc with (fun _ => l / 2); [|apply is_lim_seq_const]. exists 2%nat.
    intros T HT. assert (P : 1 < INR T) by (change 1 with (INR 1); apply lt_INR; lia).
    assert (0 < ln (INR T)) by (rewrite <- ln_1; apply ln_increasing; lra).
    assert (0 < scale T) by (apply sqrt_lt_R0; nra). field. lra. }
  destruct (above_every_logarithm _ _ M R ltac:(lra)) as [N2 H2].
  exists (Nat.max 2 (Nat.max N1 N2)). intros T HT amount Ha.
  specialize (H1 T ltac:(lia) amount Ha). specialize (H2 T ltac:(lia)).
  apply Rlt_trans with (1 := H2).
  assert (P : 1 < INR T) by (change 1 with (INR 1); apply lt_INR; lia).
  assert (L0 : 0 < ln (INR T)) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (SP : 0 < scale T) by (apply sqrt_lt_R0; nra).
  match type of H1 with Rabs (?d / _ - _) < _ => set (x := d) in * end. apply Rabs_def2 in H1.
  destruct H1 as [_ H1].
  assert (A : l / 2 < x / scale T) by lra. apply Rmult_lt_compat_r with (r := scale T) in A; auto.
  replace (x / scale T * scale T) with x in A by (field; lra). exact A.
Qed.
End Inside.
