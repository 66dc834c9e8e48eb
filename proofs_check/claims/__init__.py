"""The claims, in the paper's order: a folder for each part, a file for each result. No claim module imports another."""

# section/ module: labels, in the order in which they are shown; our own claims come last
LISTED = """
reuse/
    ages: eq:age-evolution eq:kstep-drop
    effective_size: eq:Vtilde-def-body eq:Neff-def eq:omega-l2 eq:omega-l2/normalisation
    kstep: eq:kstep-vtilde-exact
    closed_form: eq:vck-exact eq:vck-exact/range
    occupancy: eq:ck-buffer-occupancy eq:ck-training-size eq:ck-distinct-samples eq:ck-bound-detail/occupancy
bound/
    definitions: eq:local-empirical-risk eq:population-risk/minimiser ass:smooth-grad
    radicand: thm:regret-neff/radicand
    mismatch: eq:sigma-bar-Neff-app
    retention: eq:sigma-bar-Neff-app/retention
    supremum: eq:sigma-bar-Neff-app/supremum
    recursion: prop:Ropt-bound-app prop:Ropt-bound-app/one-local-step eq:Ropt-bound-app
    generalisation: lem:gen-Neff-app lem:gen-Neff-app/decreasing
    theorem1: thm:regret-neff thm:regret-neff/once thm:regret-neff/convexity thm:regret-neff/projection
        thm:regret-neff/local-steps thm:regret-neff/values thm:regret-neff/constant
    corollary1: eq:ck-bound eq:ck-bound/once
    aggregation: eq:global-aggregation/bias
design/
    optimal_k: cor:optimal-k
    finite_horizon: cor:optimal-k/finite-horizon
    feasible: eq:ck-buffer-constraint eq:kstep-opt-problem/distinct
    oracle: eq:kstep-opt-problem/oracle
    integrality: eq:lambda-def/integrality
control/
    real_penalty: eq:penalty-dpp/real
    drift: eq:dpp-upper-1
    debt_queue: eq:Z-update/start eq:cum-cost-violation/queue alg:acdpp/state
    one_dimension: eq:dpp-policy eq:dpp-policy/unimodal
    region_motive: eq:lambda-min-max/motive eq:lambda-min-max/budget
    independence: eq:independence-factorization eq:independence-factorization/any eq:comparison-feasible
    occupancy: eq:nc-Nc eq:nc-lb eq:pC-upper-explicit/early-rounds
    comparison: lem:dpp-T-slot-upper/monotone
    t_slot: lem:dpp-T-slot-upper
    cost_violation: thm:dpp-cost-constraint thm:dpp-cost-constraint/uniform
        thm:dpp-cost-constraint/one-horizon eq:cost-proof-3
    limit_penalty: eq:cost-proof-2/bounded
    largest_violation: thm:dpp-cost-constraint/largest
    buffer_violation: rem:buffer-violation rem:buffer-violation/uniform
    first_round: alg:acdpp/first-round
regret/
    decomposition: eq:omega-master eq:omega-master/drift-term
    surrogate: eq:penalty-dpp eq:app-vtilde-gap-1
    omega1: lem:omega1-order lem:omega1-order/lipschitz
    omega2: lem:omega2-order lem:omega2-order/limit lem:omega2-order/division
    pointwise: eq:app-pC-pointwise
    omega3: lem:omega3-order lem:omega3-order/lipschitz
    theorem2: thm:dpp-regret thm:dpp-regret/uniform
    sign: eq:dpp-regret
    remark1: rem:1 rem:1/sublinear rem:1/drift
    remark1_violation: rem:1/violation
experiments/
    accuracy: fig:test_acc_all fig:test_acc_all/trained fig:test_acc_all/constant
        fig:test_acc_all/constant/trained fig:test_acc_all/hybrid fig:test_acc_all/hybrid/trained
        fig:test_acc_all/oracle fig:test_acc_all/oracle/trained fig:test_acc_all/sooner-than-constant
        fig:test_acc_all/sooner-than-constant/trained fig:test_acc_all/sooner-than-hybrid
        fig:test_acc_all/sooner-than-hybrid/trained fig:test_acc_all/hybrid-faster
        fig:test_acc_all/hybrid-faster/trained fig:test_acc_all/hybrid-behind
        fig:test_acc_all/hybrid-behind/size
    memory: fig:buffer_cost_horizontal fig:buffer_cost_horizontal/every-round
    spending: fig:buffer_cost_horizontal/cost fig:buffer_cost_horizontal/cost/every-horizon
    debt: fig:buffer_cost_horizontal/debt fig:buffer_cost_horizontal/debt/bounded
beyond/
    sharper_theorem: thm:regret-neff/sharper thm:regret-neff/memory
    three_local_steps: thm:regret-neff/three-local-steps
    ten_local_steps: thm:regret-neff/ten-local-steps
    stability: thm:regret-neff/stability thm:regret-neff/stability-strong
    high_probability: thm:regret-neff/high-probability
    monotone: cor:optimal-k/monotone
    spread: thm:dpp-regret/spread
    regret_expansion: thm:dpp-regret/expansion
    log_free: thm:dpp-regret/log-free
    region_buys_nothing: thm:dpp-regret/region-buys-nothing
law/
    exact_law: law:reuse
    retention: law:reuse/retention law:reuse/limits law:reuse/small-steps
    effective_rate: law:reuse/effective-rate
    best_k: law:reuse/best-k
    finite_rounds: law:reuse/finite
    clients: law:reuse/clients law:reuse/client-hessians
    true_regret: rem:1/sublinear/risk law:reuse/regret
    local_steps: law:reuse/local-steps
    own_curvature: law:reuse/curvature law:reuse/curvature-noise
    solved_memory: law:reuse/cubic law:reuse/regression
market/
    limit: buy:limit
    full_memory: buy:full-memory buy:full-memory/trajectory buy:noise-by-age
    bursts: buy:bursts
    best_rule: buy:best-rule buy:best-rule/places
    papers_rule: buy:best-rule/paper
    online_rule: buy:online-debt buy:online-rate
    online_age: buy:online-age buy:online-age/settled
    savings: buy:savings
    gain: buy:gain
averaging/
    exact_law: law:averaged
    counts: law:averaged/counts law:averaged/decaying
    polynomial: law:averaged/constant law:averaged/polynomial
    best_weights: law:averaged/best-weights
    equal_use: law:averaged/equal-use law:averaged/bursts
    bias: law:averaged/bias
    nobody: law:averaged/nobody law:averaged/van-trees
drift/
    exact_law: law:drift
    lag: law:drift/lag
    best: law:drift/best
    retention: law:drift/retention
    slope: law:drift/slope
    cycle: law:drift/cycle
    averaged: law:drift/averaged
    freshness: law:drift/freshness
"""


def _contents(listed: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """Labels by section and module, so that one claim can be looked at without loading the others."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    section = module = ""
    for word in listed.split():
        if word.endswith("/"):
            section = word[:-1]
            found[section] = {}
        elif word.endswith(":"):
            module = word[:-1]
            found[section][module] = ()
        else:
            found[section][module] += (word,)
    return found


CONTENTS = _contents(LISTED)
