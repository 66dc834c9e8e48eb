"""Prices and purchases: what a budget buys, when to buy and replace, and the lower bound for every learner."""
