"""`acdpp explore`: a page on this machine to plan on, over the predictions of `empirics` and the limits of `theory`.

| module | holds |
| --- | --- |
| `command` | the command: a server for this machine alone, and a browser |
| `page` | fields, pictures and buttons; the only module that knows the library they are made with |
| `pictures` | what is drawn, as a chart's plain options |
| `working` | what goes on behind the page: a question that is being answered, a study that trains |
| `words` | an answer in sentences |
| `planner` | what is asked, answered step by step: at once what money buys, then coarsely, then in full |
| `form` | what is typed into the page as a study, or one sentence for each field that is wrong |
"""
