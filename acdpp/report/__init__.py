"""`acdpp report`: what was decided and measured, as a page, an erratum, Markdown or JSON, from one document.

| module | holds |
| --- | --- |
| `command` | the command: decide or read, gather, write |
| `contents` | what every format tells: cases, recorded figures, results |
| `drawn` | figures as SVG that takes on the colours of a page |
| `page` | the HTML page, with `page.html`, `page.css` and `page.js` beside it |
| `mathml` | formulas, for browsers |
| `erratum`, `line_breaks` | the erratum, in LaTeX; where its wide formulas are broken |
| `markdown` | the report in Markdown |
| `findings` | counterexamples in words, the smallest first |
| `escapes` | texts, labels and formulas for LaTeX |
"""
