"""A finding: what is wrong in a file or a draft, where, and what would repair it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rose.errors import RoseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault; `where` is a path, a path with a line, or the name of a field."""

    rule: str
    where: str
    message: str
    repair: str
    severity: Severity = "error"
    expected: str | None = None

    def line(self) -> str:
        """Return the finding as one line for a terminal."""
        return f"{self.where}: {self.rule}: {self.message} {self.repair}".rstrip()

    def as_json(self) -> dict[str, str]:
        """Return the finding as the object that `--json` prints."""
        fields = {
            "rule": self.rule,
            "where": self.where,
            "message": self.message,
            "repair": self.repair,
            "severity": self.severity,
        }
        return fields if self.expected is None else {**fields, "expected": self.expected}


class Refused(RoseError):
    """A draft was turned down; nothing was written."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__("\n".join(finding.line() for finding in findings))
        self.findings = tuple(findings)


def errors(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that stop an acceptance."""
    return [finding for finding in findings if finding.severity == "error"]
