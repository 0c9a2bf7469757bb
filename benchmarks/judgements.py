"""What rerank, filter and compress bring and cost, and what leaving out repeated text would.

    python benchmarks/judgements.py judge DATA [local] [lexical]
    python benchmarks/judgements.py dedup DATA [local]

DATA is a folder of selection data sets. Each task of the test split gets the ten lessons that the
product's own search ranks highest among those alive then; which of them the work used is the label.
There is no label for the parts of a lesson that costs no model: taken are the units of used lessons
that share a rare term with the task, one that at most a twentieth of the lessons hold. That favours
whatever looks for words, so the lexical judge is there for scale, not as a rival.

`local` needs the extra `semantic`.
"""

from __future__ import annotations

import collections
import json
import math
import os
import sqlite3
import statistics
import sys

import harness  # noqa: F401 - puts the checkout on the path

from rose import text as texts
from rose.reflection import spans
from rose.selection import compress, index_rows, index_score, rerank, units
from rose.selection import filter as filtering
from rose.selection import terms as telling
from rose.selection.judge import Passage
from rose.selection.judge_local import LocalJudge

TEN = 10
RARE = 0.05
THRESHOLDS = (0.4, 0.5, 0.6)
SETS = ("pytest", "telegraf", "metatool")


class Lexical:
    """The share of a query's words, by their worth, that a text holds. For scale alone."""

    name = "lexical"
    # Picked on the training split, as the local judge's are.
    half = {"rerank": 0.16, "filter": 0.16, "compress": 0.05}  # noqa: RUF012

    def __init__(self, worth) -> None:
        self.worth = worth

    def score(self, mode, query, items):
        wanted = {term: self.worth[term] for term in set(telling.terms(query))}
        whole = sum(wanted.values()) or 1
        found = {}
        for item in items:
            text = item.text if mode == "compress" else item.document
            held = sum(wanted[term] for term in set(telling.terms(text)) & wanted.keys()) / whole
            found[item.id] = held / (held + self.half[mode])
        return found


class Data:
    """One set: its lessons in a search index, and its tasks with their ten candidates."""

    def __init__(self, folder: str) -> None:
        self.lessons = {row["id"]: row for row in _jsonl(folder, "lessons")}
        self.episodes = [e for e in _jsonl(folder, "episodes") if e["split"] == "test"]
        connection = sqlite3.connect(":memory:", isolation_level=None)
        index_rows.create(connection)
        holding = collections.Counter()
        for name, row in self.lessons.items():
            path = f"{row['path'][6:-3]} {row['title']}"
            words = index_rows.words_of(path, f"{row['title']}\n{row['body']}")
            index_rows.put(connection, index_rows.Page(name, name, "v", words))
            holding.update(set(telling.terms(row["body"])))
        self.volume = index_score.Volume(connection)
        count = len(self.lessons)
        self.rare = {term for term, n in holding.items() if n <= RARE * count}
        self.worth = collections.defaultdict(
            float,
            {t: math.log(1 + (count - n + 0.5) / (n + 0.5)) for t, n in holding.items()},
        )

    def ten(self, episode) -> list[str]:
        """Return the best of the lessons that were alive when the task came."""
        asked = texts.words(episode["prompt"])
        found = index_score.best([self.volume], [None], asked, len(self.lessons))
        seq = episode["seq"]

        def is_alive(row):
            return row["born_seq"] <= seq and (row["died_seq"] is None or seq < row["died_seq"])

        return [name for name, _ in found if is_alive(self.lessons[name])][:TEN]

    def passage(self, name: str) -> Passage:
        row = self.lessons[name]
        return Passage(row["body"], (f"path: {row['path']}", f"title: {row['title']}"))

    def cases(self):
        for episode in self.episodes:
            ten = self.ten(episode)
            if ten:
                yield episode["prompt"], ten, set(episode["used"])


def _jsonl(folder, name):
    with open(os.path.join(folder, f"{name}.jsonl"), encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def _judge(name, data):
    if name == "lexical":
        return Lexical(data.worth)
    return LocalJudge()


def order(data, judge, cases) -> None:
    """Print where the used lessons of the ten stand, before and after."""
    before, after = collections.defaultdict(list), collections.defaultdict(list)
    for query, ten, used in cases:
        if not used & set(ten):
            continue
        ranked = rerank.rerank(judge, query, [data.passage(name) for name in ten])
        for kept, names in ((before, ten), (after, [ten[one.at] for one in ranked])):
            hits = [name in used for name in names]
            kept["MRR"].append(1 / (hits.index(True) + 1))
            kept["R@3"].append(sum(hits[:3]) / sum(hits))
    told = [
        f"{name} {statistics.mean(before[name]):.3f} -> {statistics.mean(after[name]):.3f}"
        for name in before
    ]
    print(f"  order: {', '.join(told)} ({len(before['MRR'])} tasks)", flush=True)


def membership(data, judge, cases) -> None:
    """Print what a filter leaves of the ten, and what a shorter list of the same size would."""
    found = collections.defaultdict(collections.Counter)
    for query, ten, used in cases:
        sizes = [len(data.lessons[name]["body"]) for name in ten]
        scores = {one.at: one.score for one in filtering.keep(judge, query, _all(data, ten), 0)}
        needed = {at for at, name in enumerate(ten) if name in used}
        for threshold in THRESHOLDS:
            kept = {at for at, score in scores.items() if score >= threshold}
            _count(found[threshold], sizes, needed, kept)
        for k in range(1, TEN):
            _count(found[f"k={k}"], sizes, needed, set(range(k)))
    for threshold in THRESHOLDS:
        one = found[threshold]
        saved = 1 - one["chars"] / one["all chars"]
        rest = [found[f"k={k}"] for k in range(1, TEN)]
        rival = min(rest, key=lambda r: abs(1 - r["chars"] / r["all chars"] - saved))
        print(
            f"  membership at {threshold}: {_share(one)}; {one['empty']} of {one['needing']} tasks "
            f"left without any | the first {rest.index(rival) + 1} instead: {_share(rival)}",
            flush=True,
        )


def _all(data, ten):
    return [data.passage(name) for name in ten]


def _count(found, sizes, needed, kept) -> None:
    found["lessons"] += len(sizes)
    found["kept"] += len(kept)
    found["all chars"] += sum(sizes)
    found["chars"] += sum(sizes[at] for at in kept if at < len(sizes))
    found["needed"] += len(needed)
    found["lost"] += len(needed - kept)
    found["needing"] += bool(needed)
    found["empty"] += bool(needed) and not needed & kept


def _share(one) -> str:
    hits = one["needed"] - one["lost"]
    return (
        f"characters saved {1 - one['chars'] / one['all chars']:.0%}, "
        f"used lessons lost {one['lost'] / one['needed']:.1%}, "
        f"precision {one['needed'] / one['lessons']:.3f} -> {hits / max(1, one['kept']):.3f}"
    )


def extent(data, judge, cases) -> None:
    """Print what compressing leaves of the used lessons, and of all ten."""
    found = collections.defaultdict(collections.Counter)
    for query, ten, used in cases:
        passages = _all(data, ten)
        rare = set(telling.terms(query)) & data.rare
        for threshold in THRESHOLDS:
            one = found[threshold]
            made = {c.at: c for c in compress.compress(judge, query, passages, threshold)}
            for at, name in enumerate(ten):
                body = data.lessons[name]["body"]
                kept = {unit.start for unit in made[at].units} if at in made else set()
                one["all chars"] += len(body)
                one["chars"] += len(made[at].text()) if at in made else 0
                if name not in used or not body.strip():
                    continue
                one["used"] += 1
                one["dropped"] += not kept
                one["used chars"] += len(body)
                one["used kept"] += len(made[at].text()) if at in made else 0
                for unit in units.split(body):
                    if rare & set(telling.terms(unit.text)):
                        one["labelled"] += 1
                        one["labelled kept"] += unit.start in kept
    for threshold, one in found.items():
        print(
            f"  extent at {threshold}: characters saved {1 - one['chars'] / one['all chars']:.0%} "
            f"of all, {1 - one['used kept'] / one['used chars']:.0%} of used lessons; of these "
            f"{one['dropped'] / one['used']:.1%} dropped whole; units with a rare term of the task "
            f"kept {one['labelled kept'] / one['labelled']:.1%}",
            flush=True,
        )


def judge(folder: str, *names: str) -> None:
    for name in SETS:
        data = Data(os.path.join(folder, name))
        cases = list(data.cases())
        for judging in names or ("local", "lexical"):
            who = _judge(judging, data)
            print(f"{name}, {who.name}: {len(cases)} tasks", flush=True)
            order(data, who, cases)
            membership(data, who, cases)
            extent(data, who, cases)


def _exact(_judge):
    seen = set()

    def is_repeated(text):
        known = texts.normalise(text)
        is_known = known in seen
        seen.add(known)
        return is_known

    return is_repeated


def _alike(least):
    """Return a maker of what tells a unit that shares most of its words with an earlier one."""

    def make(_judge):
        seen = []

        def is_repeated(text):
            own = frozenset(texts.words(text))
            is_known = any(len(own & other) >= least * len(own | other) for other in seen if own)
            seen.append(own)
            return is_known

        return is_repeated

    return make


def _near(least):
    """Return a maker of what tells a unit whose vector is near to that of an earlier one."""

    def make(judge):
        seen = []

        def is_repeated(text):
            own = judge.vector(text)
            is_known = any(float(own @ other) >= least for other in seen)
            seen.append(own)
            return is_known

        return is_repeated

    return make


class Vectors(LocalJudge):
    """The local judge's vectors, each made once."""

    def __init__(self) -> None:
        super().__init__()
        self.known = {}
        self.score("compress", "", [])

    def vector(self, text):
        if text not in self.known:
            self.known[text] = self._vectors([text])[0]
        return self.known[text]


def dedup(folder: str, *names: str) -> None:
    """Print what leaving out units that say again what an earlier one said would save and lose."""
    ways = {"the same": _exact, "9 of 10 words": _alike(0.9), "7 of 10 words": _alike(0.7)}
    judge = None
    if "local" in names:
        judge = Vectors()
        ways |= {"likeness 0.95": _near(0.95), "likeness 0.85": _near(0.85)}
    for name in SETS:
        data = Data(os.path.join(folder, name))
        cases = list(data.cases())
        split = {lesson: units.split(row["body"]) for lesson, row in data.lessons.items()}
        facts = {
            lesson: {unit: set(spans.spans(unit.text, row["path"])) for unit in split[lesson]}
            for lesson, row in data.lessons.items()
        }
        for way, make in ways.items():
            one = collections.Counter()
            for _, ten, used in cases:
                _leave_out(one, make(judge), [(x, split[x], facts[x]) for x in ten], used)
            print(
                f"{name}, {way}: characters saved {one['saved'] / one['chars']:.1%}; facts kept "
                f"anywhere {one['kept'] / one['facts']:.1%}, in the used lesson that states them "
                f"{one['kept in place'] / max(1, one['used facts']):.1%}; of {one['used']} used "
                f"lessons {one['touched']} lose a fact",
                flush=True,
            )


def _leave_out(one, is_repeated, lessons, used) -> None:
    every, rest = set(), set()
    for name, parts, facts in lessons:
        left = set()
        for part in parts:
            one["chars"] += len(part.text)
            every |= facts[part]
            if is_repeated(part.text):
                one["saved"] += len(part.text)
            else:
                left |= facts[part]
        rest |= left
        if name in used:
            own = set().union(*facts.values())
            one["used"] += 1
            one["used facts"] += len(own)
            one["kept in place"] += len(own & left)
            one["touched"] += not own <= left
    one["facts"] += len(every)
    one["kept"] += len(every & rest)


if __name__ == "__main__":
    {"judge": judge, "dedup": dedup}[sys.argv[1]](*sys.argv[2:])
