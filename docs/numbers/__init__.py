"""The numbers of the pages, written into them from the committed results: `python -m docs.numbers`.

A page carries `<!--=EXPRESSION-->text<!--/-->`, and the text is what the expression gives, formatted as in an
f-string: `<!--=learner.over_bound("digits-3000","taper"):.2f-->1.28<!--/-->`. A table is written the same way. The
names in an expression are the modules of this folder and the functions of `results`.

| module | numbers |
| --- | --- |
| `results` | reading result files; ranges and intervals in words |
| `section7` | the paper's experiments |
| `learner` | means of models, tapered bursts, the lower bound |
| `buying` | buying at low prices |
| `drift` | populations that move |
| `claims` | verdicts of the ledger |
| `accuracy` | predictions against measurements, and notes on them |
| `tables` | learners on tables |
| `others` | predictions, bounds, plans, the federation |
| `renew` | writing them into the pages |
"""
