"""The claims, in the paper's order. `README.md` lists sections, modules and labels."""

import re
from pathlib import Path


def _contents(listed: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """Labels by section and module, so that one claim can be looked at without loading the others."""
    return {
        section: {
            module: tuple(re.findall("`(.+?)`", labels))
            for module, labels in re.findall(r"^- (\w+):((?:\s+`.+?`)+)", modules, re.MULTILINE)
        }
        for section, modules in re.findall(r"^## (\w+)\n([^#]*)", listed, re.MULTILINE)
    }


CONTENTS = _contents(Path(__file__).with_name("README.md").read_text(encoding="utf-8"))
