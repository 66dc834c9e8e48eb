(* Information: a server that adds up gradient and curvature of samples with quadratic losses. Its
   model is the minimiser over all samples ever bought, at whatever models, however often and for
   however long they were asked: nothing of retention is left. *)
Require Import Reals Lra Lia Psatz.
From Acdpp Require Import Sums Mean Law NobodyFormulas.
Open Scope R_scope.

(* Sample i has the loss h/2 (x - z)^2 and the weight w. What a client sends of it, asked at the
   model x: its curvature and its gradient. *)
Definition loss (h z x : R) : R := h / 2 * (x - z) ^ 2.
Definition gradient (h z x : R) : R := h * (x - z).
(* what the server adds up of n samples, asked at the models x *)
Definition curvatures (n : nat) (w h : nat -> R) : R := sum n (fun i => w i * h i).
Definition toward (n : nat) (w h z x : nat -> R) : R :=
  sum n (fun i => w i * (h i * x i - gradient (h i) (z i) (x i))).
(* the model: the minimum of A x^2/2 - b x + prior (x - start)^2/2 *)
Definition informed (A b prior start : R) : R := (b + prior * start) / (A + prior).
Definition objective (n : nat) (w h z : nat -> R) (prior start x : R) : R :=
  sum n (fun i => w i * loss (h i) (z i) x) + prior / 2 * (x - start) ^ 2.

Lemma gradient_at_any_model h z x w : w * (h * x - gradient h z x) = w * (h * z).
Proof. unfold gradient. ring. Qed.

(* Asked at other models, the same samples add up to the same. *)
Theorem sums_forget_models n w h z x y : toward n w h z x = toward n w h z y.
Proof. unfold toward. apply sum_ext. intros. now rewrite !gradient_at_any_model. Qed.

(* The model has the least loss over all samples ever bought, prior included, and no other has. *)
Theorem informed_is_best n w h z x prior start other
  (model := informed (curvatures n w h) (toward n w h z x) prior start) :
  0 < curvatures n w h + prior ->
  objective n w h z prior start other
  = objective n w h z prior start model + (curvatures n w h + prior) / 2 * (other - model) ^ 2.
Proof.
  intros H. set (A := curvatures n w h) in *. set (b := toward n w h z x) in *.
  assert (Q : forall v, objective n w h z prior start v
    = (A + prior) / 2 * v ^ 2 - (b + prior * start) * v
      + (sum n (fun i => w i * (h i / 2 * z i ^ 2)) + prior / 2 * start ^ 2)).
  { intros v. unfold objective, loss.
    rewrite (sum_ext n _ (fun i => v ^ 2 / 2 * (w i * h i)
      + (- v * (w i * (h i * x i - gradient (h i) (z i) (x i))) + w i * (h i / 2 * z i ^ 2))))
      by (intros; unfold gradient; field).
    rewrite sum_plus, sum_scal. rewrite sum_plus, sum_scal. fold A. fold b. unfold A, b, curvatures,
      toward. field. }
  rewrite (Q other), (Q model). unfold model, informed. field. lra.
Qed.

(* ---- the law, along directions of one curvature ---- *)

Section Risk.
Context {Omega : Type} (mu : mean Omega).
Variables (N directions : nat) (h variance star start : nat -> R) (z : nat -> nat -> Omega -> R).
Let off (j i : nat) (o : Omega) : R := z j i o - star j.
Hypothesis means_are : forall j i, (i < N)%nat -> integrable mu (z j i) /\ mu (z j i) = star j.
Hypothesis have_products : forall j i k, (i < N)%nat -> (k < N)%nat
  -> integrable mu (fun o => off j i o * off j k o).
Hypothesis uncorrelated : forall j i k,
  (i < N)%nat -> (k < N)%nat -> i <> k -> mu (fun o => off j i o * off j k o) = 0.
Hypothesis spread : forall j i, (i < N)%nat -> mu (fun o => off j i o ^ 2) = variance j.

(* The mean excess risk, whatever the models at which samples were asked, which may depend on all
   that came. *)
Theorem information_risk (w : nat -> R) prior (x : nat -> nat -> Omega -> R)
  (known := fun j => curvatures N w (fun _ => h j) + prior) :
  (forall j, 0 < known j) ->
  mu (fun o => sum directions (fun j => h j / 2 * (informed (curvatures N w (fun _ => h j))
    (toward N w (fun _ => h j) (fun i => z j i o) (fun i => x j i o)) prior (start j) - star j)
      ^ 2))
  = sum directions (fun j => h j / 2 * ((prior / known j * (start j - star j)) ^ 2
    + variance j * sum N (fun i => (w i * h j / known j) ^ 2))).
Proof.
  intros H. apply (mean_excess mu N directions h variance star z means_are have_products
    uncorrelated spread _ (fun j => prior / known j * (start j - star j))
    (fun j i => w i * h j / known j)).
  intros j o. specialize (H j). unfold combined, informed, toward.
  rewrite (sum_ext N (fun i => w i * h j / known j * (z j i o - star j))
    (fun i => / known j * (w i * (h j * z j i o)) + - (star j / known j) * (w i * h j)))
    by (intros; field; lra).
  rewrite sum_plus, !sum_scal. fold (curvatures N w (fun _ => h j)).
  rewrite (sum_ext N (fun i => w i * (h j * x j i o - gradient (h j) (z j i o) (x j i o)))
    (fun i => w i * (h j * z j i o))) by (intros; apply gradient_at_any_model).
  assert (A : curvatures N w (fun _ => h j) = known j - prior) by (unfold known; ring).
  rewrite A. field. lra.
Qed.

(* Without a prior and with equal weights it is the lower bound for every N, not in the long run
   alone. *)
Theorem information_meets_the_bound (x : nat -> nat -> Omega -> R) : (0 < N)%nat ->
  (forall j, 0 < h j) ->
  mu (fun o => sum directions (fun j => h j / 2 *
    (informed (curvatures N (fun _ => 1) (fun _ => h j)) (toward N (fun _ => 1) (fun _ => h j)
      (fun i => z j i o) (fun i => x j i o)) 0 (start j) - star j) ^ 2))
  = sum directions (fun j => least_risk (INR N) (h j) (variance j)).
Proof.
  intros HN Hh. assert (n0 : 0 < INR N) by now apply lt_0_INR.
  assert (A : forall j, curvatures N (fun _ => 1) (fun _ => h j) = INR N * h j)
    by (intros; unfold curvatures; rewrite (sum_ext N _ (fun _ => h j)) by (intros; ring);
      apply sum_const).
  rewrite information_risk by (intros j; rewrite A; specialize (Hh j); nra).
  apply sum_ext. intros j _. specialize (Hh j). rewrite A, sum_const. unfold least_risk. field.
  split; nra.
Qed.
End Risk.

(* Clients with shares alpha that buy N each, with the weights that make the shares right: the noise
   is at least that of equal weights. *)
Theorem clients_in_proportion_are_best clients (alpha bought : nat -> R) :
  (forall m, (m < clients)%nat -> 0 < bought m) -> sum clients alpha = 1 ->
  1 <= sum clients bought * sum clients (fun m => alpha m ^ 2 / bought m).
Proof.
  intros Hb Ha. assert (N0 : forall m, (m < clients)%nat -> bought m <> 0)
    by (intros m Hm; specialize (Hb m Hm); lra).
  pose proof (cauchy clients bought (fun m => alpha m / bought m)) as C.
  rewrite (sum_ext clients _ alpha), Ha in C by (intros m Hm; field; auto).
  rewrite (sum_ext clients (fun m => alpha m ^ 2 / bought m)
    (fun m => bought m * (alpha m / bought m) ^ 2)) by (intros m Hm; field; auto).
  apply Rle_trans with (1 ^ 2); [lra|]. apply C. intros m Hm. left. auto.
Qed.
