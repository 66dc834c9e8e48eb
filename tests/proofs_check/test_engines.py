"""Engines, checked with planted errors: a changed constant, exponent, sign, index, a missing term."""

from functools import partial

import flint
import numpy as np
import pytest
import sympy as sp
from hypothesis import strategies as st

from proofs_check.context import Context
from proofs_check.engines import enclosure, exact, identity, limit, simulation, smt, worst_case
from proofs_check.engines.exact import retentions
from proofs_check.engines.expansion import limit_by_expansion
from theory.setting import Constants, Region

K, t, j = sp.symbols("K t j", integer=True, positive=True)
s = sp.Symbol("s", integer=True, nonnegative=True)
x = sp.Symbol("x", positive=True)


# --- identity ----------------------------------------------------------------------------------------------

UNIFORMITIES = {  # Ṽ = (Kt - first)²/(t(K²t - second)): twice the first and six times the second deficit
    "right": (K * (K - 1), K * (K - 1) * (4 * K + 1)),
    "printed constant": (K * (K - 1), K * (K - 1) * (2 * K - 1)),
    "changed constant": (K * (K - 1), K * (K - 1) * (4 * K + 2)),
    "changed exponent": (K * (K - 1), K * (K - 1) ** 2 * (4 * K + 1)),
    "changed sign": (K * (K - 1), K * (K - 1) * (4 * K - 1)),
    "shifted index": (K * (K + 1), K * (K - 1) * (4 * K + 1)),
    "missing term": (K * (K - 1), 0),
}


@pytest.mark.parametrize("name", UNIFORMITIES)
def test_a_wrong_uniformity_is_disproved_at_an_exact_point(name):
    uses, squares = (K**power * (s + 1) + identity.symbolic_sum(j**power, j, 1, K - 1) for power in (1, 2))
    t, (first, second) = K + s, UNIFORMITIES[name]
    written = 3 * (2 * K * t - first) ** 2 / (2 * t * (6 * K**2 * t - second))
    found = identity.equal(written, uses**2 / (t * squares), domain="t >= K")
    assert found.outcome == ("holds" if name == "right" else "fails")
    left, right, difference = (found.certificate[one] for one in ("left", "right", "difference"))
    assert difference == 0 if name == "right" else left != right


def test_a_symbolic_sum_without_closed_form_is_an_error_and_no_identity():
    for summand in (
        sp.Function("f")(j),
        sp.Symbol("x", positive=True) ** j,
    ):  # the latter has another form at 1
        with pytest.raises(ArithmeticError, match="no closed form"):
            identity.symbolic_sum(summand, j, 1, K)


def test_an_identity_is_tested_inside_its_domain_alone_and_at_0_where_that_is_allowed():
    difference = (K - 1) * (K - 2)
    found = identity.equal(difference, 0, domain="K <= 2", where=lambda p: p["K"] <= 2)
    assert found.outcome == "open"
    assert "differ at K=1, s=0: 0 against 1" in identity.equal(s, K, domain="all").detail
    assert identity.equal(1, 2, domain="no symbol").outcome == "fails"


def test_few_points_of_many_symbols_in_the_order_of_their_names_are_tried():
    tried = []
    many = sum(sp.symbols("a:d", positive=True), sp.Max(x, 1))  # never 0, which is not seen symbolically
    identity.equal(many, 0, domain="all", where=lambda point: tried.append(point))
    assert 100 < len(tried) <= identity.TRIED_POINTS_MAX
    assert "".join(tried[0]) == "abcdx"


# --- smt ---------------------------------------------------------------------------------------------------


def test_a_counterexample_of_the_solver_is_put_back_exactly():
    found = smt.always(x**2 >= x, given=[x < 3], domain="0 < x < 3")
    assert found.outcome == "fails"
    at = sp.Rational(found.certificate["at"]["x"])
    left, right = (sp.Rational(found.certificate[side]) for side in ("left", "right"))
    assert (left, right) == (at**2, at)
    assert left < right


def test_an_integer_statement_is_not_refuted_by_a_fraction():
    assert smt.always(K**2 >= K, domain="whole K").outcome == "holds"
    assert smt.always(sp.Ne(2 * K, 3, evaluate=False), domain="whole K").outcome == "holds"
    found = smt.always(sp.Ne(2 * K, 4), domain="whole K")
    assert (found.outcome, found.certificate["at"]) == ("fails", {"K": "2"})
    assert smt.always(sp.Ne(x**2, 2), domain="x > 0").outcome == "open"  # the counterexample is irrational


def test_roots_inside_roots_are_understood():
    nested = sp.sqrt(1 + sp.sqrt(x))
    assert smt.always(nested >= 1, domain="x > 0").outcome == "holds"
    assert smt.always(nested >= sp.sqrt(x), domain="x > 0").outcome == "fails"
    corners = smt.always(sum(i * sp.Max(x, i) for i in range(1, 6)) >= 15 * x, domain="x > 0").certificate
    assert corners["given"][1::3] == [f"corner{i} >= {i}" for i in range(1, 6)]


def test_an_empty_domain_proves_nothing():
    assert smt.always(x > 5, given=[x < 1, x > 2], domain="nowhere").outcome == "open"


def test_what_sympy_has_decided_is_refused_as_a_statement_and_as_a_premise():
    for decided in (x > 0, -1 / x**2 < 0, x**2 + 1 < 0, sp.true, sp.false):
        with pytest.raises(ValueError, match="without free symbols"):
            smt.always(decided, domain="x > 0")
        with pytest.raises(ValueError, match="a premise without free symbols"):
            smt.always(x < 2, given=[x < 1, decided], domain="x > 0")
    for collapsed in (sp.Implies(x < 1, x > 0), sp.Or(x < 1, x > 0), sp.Equivalent(x > 0, x > -1)):
        with pytest.raises(ValueError, match="without free symbols"):
            smt.always(collapsed, domain="x > 0")


def test_a_relation_kept_unevaluated_reaches_the_solver_and_can_fail():
    a = sp.Symbol("a", real=True)
    either = sp.Or(a > 0, 1 / a < 0)
    assert smt.always(either, given=[sp.Ne(a, 0)], domain="a not 0").outcome == "holds"
    assert smt.always(either, domain="any a").outcome == "open"
    assert smt.always(sp.Lt(-1 / x**2, 0, evaluate=False), domain="x > 0").outcome == "holds"
    assert smt.always(sp.Lt(1 / x**2, 0, evaluate=False), domain="x > 0").outcome == "fails"


def test_no_conjunct_drops_out_before_the_solver_sees_it():
    assert sp.And(x > 0, x**2 > x) == (x**2 > x)  # what SymPy does with a conjunct that it can decide
    with pytest.raises(ValueError, match="without free symbols"):
        smt.always([x > 0, x**2 > x], given=[x > 1], domain="x > 1")
    with pytest.raises(ValueError, match="without free symbols"):
        smt.conjunction(x > 0, x < 1)
    with pytest.raises(ValueError, match="as a list"):
        smt.always(sp.And(x < 2, x**2 < 4), given=[x < 2], domain="x < 2")
    both = [x**2 > x, x**3 > x]
    found = smt.always(both, given=[x > 1], domain="x > 1")
    assert (found.outcome, found.pieces) == ("holds", 2)
    assert smt.always([*both, x > 3], given=[x > 1], domain="x > 1").outcome == "fails"


def test_a_denominator_or_a_radicand_of_unknown_sign_leaves_the_question_open():
    y = sp.Symbol("y", real=True)
    assert smt.always(1 / y < 2, domain="all y").outcome == "open"
    some = sp.Symbol("some", nonnegative=True)
    assert smt.always(some + 1 / some > 1, domain="0 included").outcome == "open"
    assert smt.always(sp.sqrt(y) >= 0, domain="all y").outcome == "open"


# --- limits ------------------------------------------------------------------------------------------------

u = sp.Symbol("t", positive=True)
SUMMAND = sp.sqrt(sp.log(u) / u)  # its sum is asymptotic to 2 sqrt(T log T)
GAUGE = sp.sqrt(u * sp.log(u))


def test_a_wrong_order_or_constant_is_disproved():
    found = limit.equivalent(SUMMAND, u, GAUGE, 2, domain="T → ∞")
    assert found.outcome == "holds"
    assert float(found.certificate["summand/slope"]["t=1e+24"]) == pytest.approx(2, rel=0.05)
    assert found.certificate["limit of summand/slope"] == "2"
    beyond = sp.Sum(8 * 2 ** -(j**2), (j, 1, sp.oo))  # no closed form: 4.5
    wrong = [(GAUGE, constant) for constant in (1, -2, beyond)]
    wrong += [(gauge, 2) for gauge in (u ** sp.Rational(2, 3), sp.sqrt(u), sp.log(u))]
    for gauge, constant_ in wrong:  # constant, sign; exponent, missing logarithm, another order altogether
        assert limit.equivalent(SUMMAND, u, gauge, constant_, domain="T → ∞").outcome == "fails", gauge


def test_a_divergent_series_is_not_bounded_and_the_gap_between_the_tests_stays_open():
    series = {
        1 / u: (2, "fails"),
        -1 / u: (2, "fails"),
        1 / (u * sp.log(u)): (2, "open"),
        sp.sin(u): (2, "open"),
    }
    series[u ** sp.Rational(-3, 2)] = (sp.Rational(3, 2), "holds")
    for summand, (power, outcome) in series.items():
        found = limit.converges(summand, u, power=power, domain="T → ∞")
        assert (found.outcome, str(found.certificate["power"])) == (outcome, str(power))
    with pytest.raises(ValueError, match="power above 1"):
        limit.converges(1 / u, u, power=1, domain="T → ∞")


def test_a_gauge_that_stolz_cesaro_cannot_use_is_an_error():
    with pytest.raises(ArithmeticError, match="tend to infinity"):
        limit.stolz(1 / u, u, 1 / u)
    with pytest.raises(ArithmeticError, match="too fast"):
        limit.stolz(1 / u, u, sp.exp(u))


def test_a_limit_that_sympy_gets_wrong_is_not_taken():
    assert limit.limit(sp.sin(u), u) is None
    with pytest.raises(TypeError, match="no variable"):
        limit.limit(1 / (u + 1), u + 1)
    # it tends to -1/2
    wrong = u**2 * (sp.sqrt(1 - sp.exp(-u * sp.log(2)) - 1 / (u - 1)) - sp.sqrt(1 - 1 / u))
    assert (sp.limit(wrong, u, sp.oo), limit.limit(wrong, u)) == (-sp.oo, None)
    assert [limit.limit(f, u) for f in (2**u, -(2**u), u + 2**-u, 3**-u * u)] == [sp.oo, -sp.oo, sp.oo, 0]


def test_expansions_are_right_where_terms_cancel_to_several_orders():
    a, oo = sp.Symbol("a", positive=True), sp.oo
    root, logs = sp.sqrt(1 - a / u), sp.log(2 * u) + sp.log(u + sp.log(u))
    small = {  # and its limit times 1, t, t² and log²t: what sp.limit says of them, which takes seconds
        root - 1: (0, -a / 2, -oo, 0),
        root + a / (2 * u) - 1: (0, 0, -(a**2) / 8, 0),
        (1 + 1 / u) ** a - 1: (0, a, oo, 0),
        sp.log(u + a) - sp.log(u): (0, a, oo, 0),
        1 / logs - 1 / (2 * sp.log(u)): (0, -oo, -oo, -sp.log(2) / 4),
        sp.sqrt(logs + a) - sp.sqrt(logs): (0, oo, oo, oo),
        1 / (u**2 - (u - a) ** 2): (0, 1 / (2 * a), oo, 0),
        (a + 1) ** 2 - a**2 - 2 * a - 1 + 1 / u: (0, 1, oo, 0),
    }
    scales = (1, u, u**2, sp.log(u) ** 2)
    truth = {f * s: limit for f, limits in small.items() for s, limit in zip(scales, limits, strict=True)}
    # of a series without its first term
    truth[u**2 * (sp.log(1 - root) - sp.log(a / (2 * u)) - a / (4 * u))] = 3 * a**2 / 32
    for expression, true in truth.items():
        found = limit_by_expansion(expression, u)
        assert found == true or sp.simplify(found - true) == 0, expression


def test_an_expansion_that_cancels_beyond_its_depth_is_left_open():
    tenth = sum(sp.Rational((-1) ** (k + 1), k) * u**-k for k in range(1, 12))
    assert limit_by_expansion(u**12 * (sp.log(1 + 1 / u) - tenth), u) is None


# --- other engines -----------------------------------------------------------------------------------------


def test_balls_that_lie_the_wrong_way_round_disprove_and_overlapping_balls_decide_nothing():
    grid = [{"T": 10**k} for k in range(1, 16)]

    def root(p):
        return flint.arb(p["T"]).sqrt()

    def nudged(p):
        return root(p) * (1 + flint.arb(10) ** -20)

    found = enclosure.compare(root, "<", nudged, grid, domain="T to 10^15", precision=99)
    ends = [found.certificate[end]["T"] for end in ("first", "last")]
    assert (found.outcome, ends) == ("holds", [10, 10**15])
    assert (found.certificate["points"], found.certificate["bits"]) == (15, 99)
    assert enclosure.compare(nudged, "<=", root, grid, domain="T to 10^15").outcome == "fails"
    assert enclosure.compare(root, "<=", root, grid, domain="T to 10^15").outcome == "open"
    for relation, outcome in {"<=": "holds", ">=": "holds", "<": "fails", ">": "fails"}.items():
        assert (
            enclosure.compare(lambda p: p["T"], relation, lambda p: p["T"], grid, domain="").outcome
            == outcome
        )
    assert enclosure.compare(root, "<=", lambda p: flint.arb.nan(), grid, domain="").outcome == "open"
    assert enclosure.compare(lambda p: flint.arb.pos_inf(), "<=", root, grid, domain="").outcome == "open"
    with pytest.raises(ValueError, match="empty grid"):
        enclosure.compare(root, "<", nudged, [], domain="")


def test_an_error_inside_a_property_is_no_counterexample():
    with pytest.raises(ZeroDivisionError):
        exact.search(Context(), {"K": retentions()}, lambda K: 1 // 0, domain="", examples=5)


def test_an_example_that_is_drawn_twice_counts_once():
    one = exact.search(Context(), {"K": st.just(3)}, lambda K: None, domain="K = 3", examples=9)
    assert one.certificate["examples"] == 1


def _gradient_descent(square=1):
    from PEPit import PEP
    from PEPit.functions import SmoothConvexFunction

    problem = PEP()
    f = problem.declare_function(SmoothConvexFunction, L=1.0)
    minimiser, point = f.stationary_point(), problem.set_initial_point()
    problem.set_initial_condition((point - minimiser) ** 2 <= square)
    for _ in range(2):
        point = point - f.gradient(point)
    problem.set_performance_metric(f(point) - f(minimiser))
    return problem


def test_a_guarantee_below_the_tight_worst_case_fails_without_refuting_and_the_tight_one_is_accepted(capsys):
    known = 1 / (4 * 2 + 2)  # L/(4N+2), tight for gradient descent with step 1/L
    for times in (1, 2, 1 - 5e-5, 0.99, -1):
        stated = times * known
        found = worst_case.compare(_gradient_descent, stated, domain="L = 1, two steps", parameters={"L": 1})
        assert found.outcome == ("fails" if times < 1 - 1e-4 else "holds")
        assert not found.sound
        assert ("tight" in found.detail) == (abs(stated - known) < 1e-4 * known)
    nothing = worst_case.compare(partial(_gradient_descent, 1e-8), 0, domain="", parameters={})
    assert (nothing.outcome, "tight" in nothing.detail) == ("holds", True)
    assert not capsys.readouterr().out


def test_a_confidence_interval_contains_the_mean_and_excludes_what_is_far_from_it():
    values = np.random.default_rng(0).uniform(0, 1, 20_000)
    for bound, outcome in ((0.55, "holds"), (0.45, "fails"), (0.5, "open")):
        found = simulation.compare_mean(values, bound, low=0, high=1, domain="", what="uniform")
        assert found.outcome == outcome


def test_a_sample_outside_the_promised_range_is_an_error_but_for_rounding():
    with pytest.raises(ValueError, match="outside"):
        simulation.confidence(np.array([0.0, 2.0]), 0, 1)
    for sign in (1, -1):
        low, high = sorted((0.0, sign * 1e9))
        assert simulation.confidence(np.array([0.0, sign * (1e9 + 0.5)]), low, high) == (low, high)


def test_the_interval_is_the_published_empirical_bernstein_bound():
    low, high = simulation.confidence(np.tile([0.0, 1.0], 50), -9, 9, delta=0.05)
    log, variance = np.log(4 / 0.05), 25 / 99
    half = np.sqrt(2 * variance * log / 100) + 7 * 18 * log / (3 * 99)
    assert (low, high) == pytest.approx((0.5 - half, 0.5 + half))


def test_the_control_loop_stays_inside_the_region_and_books_the_debt():
    setting = Constants(D=1, sigma=1, eta=0.1, B=1, Pdim=5)
    region = Region(rate=10.0, rho=0.9)
    costs = np.random.default_rng(3).uniform(1, 10, (60, 50))
    runs = simulation.control_loop(costs, K=3, V=10.0, C=55.0, region=region, constants=setting)
    powers = 1 - region.rho ** np.arange(1, 61)[:, np.newaxis]
    assert np.all(runs.admitted >= 10 * powers - 1e-9)
    assert np.all(runs.admitted <= 10 / powers + 1e-9)
    debt = np.zeros(50)
    for before, spent in zip(runs.debt, runs.spent, strict=False):
        assert np.allclose(before, debt)
        debt = np.maximum(debt + spent - 55, 0)
