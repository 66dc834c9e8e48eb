(* Means: what integrals have in common, and no more than that. A mean is defined for some
   functions, the integrable ones; it is linear and keeps order, and the mean of 1 is 1. Means.v has
   examples, with and without a density. *)
Require Import Reals Lra Lia Psatz.
From Acdpp Require Import Sums.
Open Scope R_scope.

Record mean (Omega : Type) : Type := {
  integrable : (Omega -> R) -> Prop;
  E :> (Omega -> R) -> R;
  I_ext : forall f g, (forall o, f o = g o) -> integrable f -> integrable g;
  I_one : integrable (fun _ => 1);
  I_plus : forall f g, integrable f -> integrable g -> integrable (fun o => f o + g o);
  I_scal : forall c f, integrable f -> integrable (fun o => c * f o);
  E_plus : forall f g, integrable f -> integrable g -> E (fun o => f o + g o) = E f + E g;
  E_scal : forall c f, integrable f -> E (fun o => c * f o) = c * E f;
  E_mono : forall f g, integrable f -> integrable g -> (forall o, f o <= g o) -> E f <= E g;
  E_one : E (fun _ => 1) = 1
}.
Arguments integrable {Omega}.
Arguments E {Omega}.
Arguments I_ext {Omega}.
Arguments I_one {Omega}.
Arguments I_plus {Omega}.
Arguments I_scal {Omega}.
Arguments E_plus {Omega}.
Arguments E_scal {Omega}.
Arguments E_mono {Omega}.
Arguments E_one {Omega}.

Section Facts.
Context {Omega : Type} (m : mean Omega).

Lemma I_const c : integrable m (fun _ => c).
Proof. apply (I_ext m (fun _ => c * 1)); [intros; ring|]. apply I_scal, I_one. Qed.
Lemma I_minus f g : integrable m f -> integrable m g -> integrable m (fun o => f o - g o).
Proof. intros. apply (I_ext m (fun o => f o + -1 * g o)); [intros; ring|].
now apply I_plus, I_scal. Qed.
Lemma I_sum n (f : nat -> Omega -> R) :
  (forall i, (i < n)%nat -> integrable m (f i)) -> integrable m (fun o => sum n (fun i => f i o)).
Proof. induction n; intros H; simpl; [apply I_const|]. apply I_plus; auto. Qed.

Lemma E_ext f g : integrable m f -> (forall o, f o = g o) -> m f = m g.
Proof.
  intros If H. assert (Ig : integrable m g) by now apply (I_ext m f).
  apply Rle_antisym; apply E_mono; auto; intros o; rewrite H; lra.
Qed.
(* the same where the new form is the integrable one *)
Lemma E_as f g : (forall o, f o = g o) -> integrable m g -> m f = m g.
Proof. intros H Ig. symmetry. now apply E_ext. Qed.
Lemma E_const c : m (fun _ => c) = c.
Proof.
  rewrite (E_ext _ (fun o => c * 1)) by (auto using I_const; intros; ring).
  rewrite E_scal by apply I_one. rewrite E_one. ring.
Qed.
Lemma E_minus f g : integrable m f -> integrable m g -> m (fun o => f o - g o) = m f - m g.
Proof.
  intros If Ig. rewrite (E_ext _ (fun o => f o + -1 * g o)) by (auto using I_minus; intros; ring).
  rewrite E_plus, E_scal by auto using I_scal. ring.
Qed.
Lemma E_sum n (f : nat -> Omega -> R) :
  (forall i, (i < n)%nat -> integrable m (f i)) -> m (fun o => sum n (fun i => f i o))
    = sum n (fun i => m (f i)).
Proof.
  induction n; intros H; simpl; [apply E_const|]. rewrite E_plus by auto using I_sum.
  now rewrite IHn by auto.
Qed.
Lemma E_nonneg f : integrable m f -> (forall o, 0 <= f o) -> 0 <= m f.
Proof. intros If H. rewrite <- (E_const 0). apply E_mono; auto using I_const. Qed.

(* the square of the mean is at most the mean of the square *)
Lemma E_jensen f : integrable m f -> integrable m (fun o => f o ^ 2) -> (m f) ^ 2
  <= m (fun o => f o ^ 2).
Proof.
  intros I1 I2.
  assert (I3 : integrable m (fun o => f o ^ 2 + (-2 * m f) * f o + (m f) ^ 2))
    by (repeat apply I_plus; auto using I_scal, I_const).
  assert (H : 0 <= m (fun o => f o ^ 2 + (-2 * m f) * f o + (m f) ^ 2)).
  { apply E_nonneg; auto. intros o. replace (_ + _) with ((f o - m f) ^ 2) by ring.
    apply pow2_ge_0. }
  rewrite !E_plus, E_scal, E_const in H by auto using I_plus, I_scal, I_const. lra.
Qed.
End Facts.

(* What integrability follows from that of the parts. *)
Ltac means := solve [repeat first
  [ assumption | simple apply I_const | simple apply I_plus | simple apply I_minus | simple apply
    I_scal | simple apply I_sum; intros | solve [auto] ]].

(* What the past says. A mean given it has the same mean as the variable itself, also after
   multiplication by what the past knows: this is what defines it, and all that is used. *)
Record past {Omega : Type} (m : mean Omega) : Type := {
  known : (Omega -> R) -> Prop;
  given : (Omega -> R) -> (Omega -> R);
  known_one : known (fun _ => 1);
  projects : forall Z f, known Z -> integrable m f -> integrable m (fun o => Z o * f o) ->
    integrable m (fun o => Z o * given f o) /\ m (fun o => Z o * f o) = m (fun o => Z o * given f o)
}.
Arguments known {Omega m}.
Arguments given {Omega m}.

Section Past.
Context {Omega : Type} {m : mean Omega} (P : past m).

Lemma tower f : integrable m f -> integrable m (given P f) /\ m f = m (given P f).
Proof.
  intros If. assert (I1 : integrable m (fun o => 1 * f o)) by now apply I_scal.
  destruct (projects m P (fun _ => 1) f (known_one m P) If I1) as [I2 E2].
  assert (I3 : integrable m (given P f)) by (apply (I_ext m (fun o => 1 * given P f o)); [intros;
    ring|auto]).
  split; auto. rewrite !E_scal in E2 by auto. lra.
Qed.

(* What the past knows, times what is at most b given it. *)
Lemma given_at_most Z f c b :
  known P Z -> (forall o, 0 <= Z o) -> (forall o, given P f o * c <= b) ->
  integrable m Z -> integrable m f -> integrable m (fun o => Z o * f o) ->
  m (fun o => Z o * (f o * c - b)) <= 0.
Proof.
  intros Hk HZ Hb IZ If IZf. destruct (projects m P Z f Hk If IZf) as [I2 E2].
  rewrite (E_as m _ (fun o => c * (Z o * f o) - b * Z o)) by (means || (intros; ring)).
  rewrite E_minus, !E_scal, E2 by means.
  assert (L : m (fun o => c * (Z o * given P f o)) <= m (fun o => b * Z o));
    [|rewrite !E_scal in L by means; lra].
  apply E_mono; [means|means|]. intros o. specialize (HZ o). specialize (Hb o). nra.
Qed.
End Past.
