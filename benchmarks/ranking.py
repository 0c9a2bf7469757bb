"""A simulated world, driven through the product's own fold, evidence, rank and fit.

200 rules, room for 25. Each rule applies in a share of the sessions and pays with its own
probability when it is shown. 60 rules are there at the start, the others arrive over time, and
at half time a fifth of them swap their worth. A session is one ledger line; what a rule is
worth in it is 1 when it pays and -0.5 when it wastes. Regret is the share of an oracle's value
that the ranking misses.

    python benchmarks/ranking.py [--seeds 16] [--first 0] [--only NAME]...

Seeds differ far more than rankings do, so each ranking is also compared with the product's seed
by seed. A ranking picked from this table has to be run again on seeds that it was not picked on.
"helped - wasted" and the smoothed rate come out the same: ties go to more helped, and no more
rules than there is room for ever have a positive record, so both choose the same rules.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, replace

import numpy as np

from rose.routing import cases, evidence, layer, rank
from rose.routing.cases import Case
from rose.routing.rules import Rule

RULES = 200
ROOM = 25
SESSIONS = 1_000
START = 60
LINE_TOKENS = 20
HEADING = layer.Heading(("heading",))
# The heading is one line too; all lines cost the same, so the room is a number of rules.
CAP = layer.Cap((ROOM + 1) * LINE_TOKENS, lambda _: LINE_TOKENS, lambda _: LINE_TOKENS)
MARKS = (100, 300, 500, 1_000)


@dataclass(frozen=True)
class World:
    """How often rules apply: the script's spread, or one share for all."""

    name: str
    share: float | None = None

    def draw(self, random):
        if self.share is None:
            return np.clip(random.beta(1.2, 8, RULES), 0.01, 0.9)
        return np.full(RULES, self.share)


WORLDS = (World("as it stands"), World("3 % of sessions", 0.03), World("1 % of sessions", 0.01))


def ucb(optimism, prior):
    def score(s):
        net = s.helped - s.wasted / 2
        return net / (s.seen + prior) + math.sqrt(optimism / (s.seen + 1))

    return score


def mean(s):
    return (s.helped + 1) / (s.helped + s.wasted + 2)


def counts(s):
    return s.helped - s.wasted


def shrunk(optimism, prior, root):
    """Return optimism that fades with another root than the square."""

    def score(s):
        net = s.helped - s.wasted / 2
        return net / (s.seen + prior) + math.sqrt(optimism) / (s.seen + 1) ** root

    return score


def by_spread(optimism, prior):
    """Return optimism in proportion to what the rule's own outcomes vary."""

    def score(s):
        net = s.helped - s.wasted / 2
        weight = s.seen + prior
        spread = (s.helped + s.wasted / 4 + 1) / weight
        return net / weight + math.sqrt(optimism * spread / (s.seen + 1))

    return score


SCORES = {
    "product": rank.score,
    "smoothed rate": mean,
    "helped - wasted": counts,
    "prior 5": ucb(0.05, 5),
    "prior 20": ucb(0.05, 20),
    "optimism 0.01": ucb(0.01, 10),
    "optimism 0.02": ucb(0.02, 10),
    "optimism 0.03": ucb(0.03, 10),
    "optimism 0.1": ucb(0.1, 10),
    "cube root": shrunk(0.05, 10, 1 / 3),
    "root 0.7": shrunk(0.05, 10, 0.7),
    "linear": shrunk(0.05, 10, 1.0),
    "by spread 0.1": by_spread(0.1, 10),
    "by spread 0.3": by_spread(0.3, 10),
    "by spread 1": by_spread(1.0, 10),
}


@dataclass
class Run:
    """One seed of one world; the record is kept folded, session by session."""

    regret: float
    shares: dict[int, float]


def simulate(score, world, seed):
    random = np.random.default_rng(seed)
    applies, pays = world.draw(random), random.beta(1.5, 1.5, RULES)
    later = np.sort(random.integers(1, SESSIONS * 3 // 4, RULES - START))
    arrives = np.concatenate([np.zeros(START, int), later])
    rules = [Rule(f"r_{i:06x}", f"kind {i}", "read nodes/") for i in range(RULES)]
    standings = {rule.id: evidence.Standing() for rule in rules}
    missed = possible = 0.0
    shares = {}
    for session in range(SESSIONS):
        if session == SESSIONS // 2:
            moved = random.permutation(RULES)[: RULES // 5]
            pays[moved] = 1 - pays[moved]
        there = np.flatnonzero(arrives <= session)
        value = applies * (pays - 0.5 * (1 - pays))
        best = there[np.argsort(-value[there])][:ROOM]
        shown = choose([rules[i] for i in there], standings, score)
        missed += value[best].sum() - value[shown].sum()
        possible += value[best].sum()
        line = outcome(session, shown, applies, pays, random)
        standings = add(standings, rules, line)
        if session + 1 in MARKS:
            shares[session + 1] = len(set(best) & set(shown)) / ROOM
    return Run(missed / possible, shares)


def choose(there, standings, score):
    """Return the numbers of the rules that the product's own ranking and fit put in the layer."""
    kept_score, rank.score = rank.score, score
    try:
        ranked = rank.order(there, standings, dict.fromkeys((r.id for r in there), LINE_TOKENS))
    finally:
        rank.score = kept_score
    entries = [layer.Entry(rule.id, "line", standings[rule.id].seen) for rule in ranked]
    fit = layer.fit(entries, HEADING, CAP)
    return np.array([int(entry.id.removeprefix("r_"), base=16) for entry in fit.kept])


def outcome(session, shown, applies, pays, random):
    """Return the ledger line of a session in which some of the shown rules apply."""
    ids = [f"r_{i:06x}" for i in shown]
    applied, paid = random.random(len(shown)) < applies[shown], random.random(len(shown))
    verdicts = {
        rule_id: "followed-useful" if p < pays[i] else "followed-useless"
        for rule_id, i, a, p in zip(ids, shown, applied, paid, strict=True)
        if a
    }
    case = Case(f"s{session}", session + 1, 1, sent=ids, delivered=tuple(ids), verdicts=verdicts)
    return cases.line_of(case)


def add(standings, rules, line):
    """Return the standings with one more session; evidence is additive, a test holds it to that."""
    fresh = evidence.standings(rules, cases.fold([line]).cases, lambda lesson: lesson)
    return {
        rule_id: replace(
            old,
            helped=old.helped + fresh[rule_id].helped,
            wasted=old.wasted + fresh[rule_id].wasted,
            seen=old.seen + fresh[rule_id].seen,
        )
        for rule_id, old in standings.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", choices=SCORES, action="append")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    print(f"seeds {seeds.start} to {seeds.stop - 1}; share of the true best {ROOM} at {MARKS}")
    print(f"{'ranking':18} {'world':16} regret   against the product    share")
    base = {
        world: np.array([simulate(rank.score, world, s).regret for s in seeds]) for world in WORLDS
    }
    for name in options.only or SCORES:
        for world in WORLDS:
            runs = [simulate(SCORES[name], world, seed) for seed in seeds]
            regret = np.array([run.regret for run in runs])
            more = regret - base[world]
            error = more.std(ddof=1) / math.sqrt(len(more)) if len(more) > 1 else math.nan
            shares = [np.mean([run.shares[mark] for run in runs]) for mark in MARKS]
            shown = "  ".join(f"{share:.2f}" for share in shares)
            against = f"{more.mean():+.3f} (s.e. {error:.3f})"
            print(
                f"{name:18} {world.name:16} {regret.mean():6.3f}   {against:22} {shown}", flush=True
            )


if __name__ == "__main__":
    main()
