"""`acdpp explore`: a planning page on this machine, over the predictions of `empirics` and the limits of `theory`.

| module | holds |
| --- | --- |
| `command` | the command: a server for this machine only, and a browser |
| `page`, `fields` | the page and its widgets, with NiceGUI |
| `labels`, `page.css` | labels and hints of the fields; the style |
| `pictures` | the charts, as plain options |
| `working` | threads: one answers the question, one trains |
| `words` | an answer in sentences |
| `planner` | the question, answered step by step: what the budget buys, coarse curves, full curves, the search |
| `form` | from the typed fields to a study, or one sentence per wrong field |
"""
