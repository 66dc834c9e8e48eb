(* Means: positive linear functionals that give a constant its value.  Every finite probability space has one. *)
Require Import Reals Lra Lia Psatz.
From Acdpp Require Import Sums.
Open Scope R_scope.

Record mean (Omega : Type) : Type := {
  E :> (Omega -> R) -> R;
  E_plus : forall f g, E (fun o => f o + g o) = E f + E g;
  E_scal : forall c f, E (fun o => c * f o) = c * E f;
  E_mono : forall f g, (forall o, f o <= g o) -> E f <= E g;
  E_one : E (fun _ => 1) = 1
}.
Arguments E {Omega}.
Arguments E_plus {Omega}.
Arguments E_scal {Omega}.
Arguments E_mono {Omega}.
Arguments E_one {Omega}.

(* Finitely many outcomes with chances p: the mean is the weighted sum. *)
Lemma finite_mean n (p : nat -> R) :
  (forall i, (i < n)%nat -> 0 <= p i) -> sum n p = 1 ->
  exists m : mean {i : nat | (i < n)%nat},
    forall f : nat -> R, m (fun o => f (proj1_sig o)) = sum n (fun i => p i * f i).
Proof.
  intros Hp H1.
  set (at_ := fun (g : {i : nat | (i < n)%nat} -> R) i =>
    match Compare_dec.lt_dec i n with left H => g (exist _ i H) | right _ => 0 end).
  assert (at_ok : forall g i (H : (i < n)%nat), at_ g i = g (exist _ i H)).
  { intros g i H. unfold at_. destruct (Compare_dec.lt_dec i n) as [H'|]; [|contradiction]. f_equal. f_equal. apply Peano_dec.le_unique. }
  unshelve eexists.
  - refine {| E := fun g => sum n (fun i => p i * at_ g i) |}.
    + intros f g. rewrite <- sum_plus. apply sum_ext. intros i H. rewrite !(at_ok _ i H). ring.
    + intros c f. rewrite <- sum_scal. apply sum_ext. intros i H. rewrite !(at_ok _ i H). ring.
    + intros f g L. apply sum_le. intros i H. rewrite !(at_ok _ i H). apply Rmult_le_compat_l; auto.
    + transitivity (sum n p); [|exact H1]. apply sum_ext. intros i H. rewrite (at_ok _ i H). ring.
  - intros f. simpl. apply sum_ext. intros i H. now rewrite (at_ok _ i H).
Qed.

Section Facts.
Context {Omega : Type} (m : mean Omega).

Lemma E_ext f g : (forall o, f o = g o) -> m f = m g.
Proof. intros H. apply Rle_antisym; apply E_mono; intros o; rewrite H; lra. Qed.
Lemma E_const c : m (fun _ => c) = c.
Proof. rewrite (E_ext _ (fun o => c * 1)) by (intros; ring). rewrite E_scal, E_one. ring. Qed.
Lemma E_minus f g : m (fun o => f o - g o) = m f - m g.
Proof. rewrite (E_ext _ (fun o => f o + -1 * g o)) by (intros; ring). rewrite E_plus, E_scal. ring. Qed.
Lemma E_sum n (f : nat -> Omega -> R) : m (fun o => sum n (fun i => f i o)) = sum n (fun i => m (f i)).
Proof. induction n; simpl; [apply E_const|]. now rewrite E_plus, IHn. Qed.
Lemma E_nonneg f : (forall o, 0 <= f o) -> 0 <= m f.
Proof. intros H. rewrite <- (E_const 0). now apply E_mono. Qed.
(* the square of the mean is at most the mean of the square *)
Lemma E_jensen f : (m f) ^ 2 <= m (fun o => f o ^ 2).
Proof.
  assert (H : 0 <= m (fun o => (f o - m f) ^ 2)) by (apply E_nonneg; intros; apply pow2_ge_0).
  rewrite (E_ext _ (fun o => f o ^ 2 + (-2 * m f) * f o + (m f) ^ 2)) in H by (intros; ring).
  rewrite E_plus, E_plus, E_scal, E_const in H. lra.
Qed.
End Facts.

(* What the past says: a mean given it.  What the past knows can be taken out of it, and its mean is the mean. *)
Record past {Omega : Type} (m : mean Omega) : Type := {
  known : (Omega -> R) -> Prop;
  given : (Omega -> R) -> (Omega -> R);
  tower : forall f, m (given f) = m f;
  take_out : forall Z f, known Z -> forall o, given (fun o => Z o * f o) o = Z o * given f o;
  given_plus : forall f g o, given (fun o => f o + g o) o = given f o + given g o;
  given_scal : forall c f o, given (fun o => c * f o) o = c * given f o;
  given_mono : forall f g, (forall o, f o <= g o) -> forall o, given f o <= given g o;
  given_const : forall c o, given (fun _ => c) o = c
}.
Arguments known {Omega m}.
Arguments given {Omega m}.

Section Past.
Context {Omega : Type} {m : mean Omega} (P : past m).
Lemma given_ext f g : (forall o, f o = g o) -> forall o, given P f o = given P g o.
Proof. intros H o. apply Rle_antisym; apply given_mono; intros; rewrite H; lra. Qed.
Lemma given_affine a b f o : given P (fun o => f o * a - b) o = given P f o * a - b.
Proof.
  rewrite (given_ext _ (fun o => a * f o + (fun _ => - b) o)) by (intros; ring).
  rewrite given_plus, given_scal, given_const. ring.
Qed.
End Past.
