"""The wordings of questions: a folder of Markdown files whose `{{slots}}` are filled with data."""

from __future__ import annotations

import functools
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rose import files

if TYPE_CHECKING:
    from collections.abc import Mapping

_SLOT = re.compile(r"\{\{([a-z]+)\}\}")


@dataclass(frozen=True, slots=True)
class Prompts:
    """The wordings beside a module, given by its file."""

    module: str

    def text(self, name: str) -> str:
        return _read(os.path.join(os.path.dirname(os.path.abspath(self.module)), "prompts", name))

    def filled(self, name: str, slots: Mapping[str, str]) -> str:
        """Return a wording with its slots filled; what is filled in is not looked at again."""
        return _SLOT.sub(lambda slot: slots[slot[1]], self.text(name))


@functools.cache
def _read(path: str) -> str:
    return files.read_text(f"{path}.md")
