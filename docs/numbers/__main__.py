"""Renew the numbers of all pages."""

from docs.numbers.renew import PAGES, renewed

for page in PAGES:
    text = page.read_text(encoding="utf-8")
    if (new := renewed(text)) != text:
        page.write_text(new, encoding="utf-8")
        print(f"renewed {page.name}")
