from __future__ import annotations

import pytest

from rose.routing import retire
from rose.routing.evidence import Standing
from tests.routing.samples import a_rule

HARMFUL = Standing(live_helped=3, live_wasted=7, verdicts=10)


def _due(standing: Standing, **fields: object) -> list[str]:
    rule = a_rule(**{"origin": "reflection", **fields})
    return [one.reason for one in retire.due([rule], {rule.id: standing})]


@pytest.mark.parametrize(
    ("standing", "reason"),
    [
        (Standing(unchosen=100), "not chosen in the last 100 sessions that were sent rules"),
        (HARMFUL, "helped 3, wasted 7 in 10 verdicts"),
    ],
)
def test_a_rule_that_had_its_chance_is_due(standing, reason):
    assert _due(standing) == [reason]


@pytest.mark.parametrize(
    "standing",
    [
        Standing(unchosen=99),
        Standing(live_helped=3, live_wasted=6, verdicts=9),
        Standing(live_helped=4, live_wasted=8, verdicts=12),
        Standing(wasted=50, seen=50),
    ],
)
def test_a_rule_that_may_yet_help_stays(standing):
    assert _due(standing) == []


@pytest.mark.parametrize(
    "fields",
    [{"origin": "manual"}, {"approval": "approved"}, {"status": "proposed"}, {"status": "retired"}],
)
def test_a_persons_rule_never_retires_by_itself(fields):
    assert _due(HARMFUL, **fields) == []
