"""Numbers that Section 7 of the paper states about its experiments, as floats."""

from theory.paper import ROUNDS, RUNS, Experiment
from theory.paper import SECTION7 as EXACT
from theory.setting import Constants

__all__ = ["CODE_K", "CODE_V", "PENALTY", "ROUNDS", "RUNS", "SECTION7", "TRAINED", "Stated"]

Stated = Experiment[float]
SECTION7 = {dataset: said.rounded() for dataset, said in EXACT.items()}
# a learning rate with which the oracle reaches the text's target, where it does not with the text's; the default of the
# released code
TRAINED = {"mnist": 0.1}
# the penalty's constants, V and K, which only the released code names
PENALTY = Constants(D=1000.0, sigma=10.0, eta=1.0, B=1000.0, Pdim=100.0)
CODE_K = {"mnist": 6, "cifar10": 6, "imagenette": 5}
CODE_V = {"mnist": 1000.0, "cifar10": 10000.0, "imagenette": 3000.0}
