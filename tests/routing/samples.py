"""What the tests of routing and check are made of: rules, cases, stores, strategies."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from rose import refresh
from rose.config import Settings
from rose.hosts.base import Region
from rose.layout import Store, Stores, project_store
from rose.routing import evidence, rules, targets
from rose.routing import features as featuring
from rose.routing.cases import Case
from rose.routing.layer import Cap
from rose.routing.rules import Rule
from rose.store import lessons as shelves

if TYPE_CHECKING:
    from rose.routing.survey import Ground


def a_rule(rule_id: str = "r_000001", **fields: Any) -> Rule:
    """Return a rule; what is not given is sound."""
    given: dict[str, Any] = {
        "when": f"the task is of kind {rule_id}",
        "then": "read nodes/testing/ before running pytest",
        "targets": ("nodes/testing/",),
    }
    return Rule(id=rule_id, **{**given, **fields})


def a_case(n: int = 1, **fields: Any) -> Case:
    return Case(**{"session": f"s{n}", "n": n, "rows": 10, **fields})


def a_store(folder: Any) -> Store:
    """Return a project store on disk with two lessons."""
    store = project_store(str(folder / "project"))
    write(f"{store.base}/nodes/testing/db.md", "# Start the database\n\nRun make db.\n")
    write(f"{store.base}/nodes/deploy/rollback.md", "# Roll back\n\nRun make rollback.\n")
    os.makedirs(store.routing)
    return store


def a_home(folder: Any) -> Store:
    base = str(folder / "house" / ".rose")
    write(f"{base}/nodes/style.md", "# Style\n")
    os.makedirs(f"{base}/routing")
    return Store(base, base, "home")


def stores_of(project: Store | None = None, home: Store | None = None) -> Stores:
    return Stores(project, home, "a test.")


def ground(store: Store, **settings: Any) -> Ground:
    chosen = Settings(**settings)
    return refresh.ground_of(shelves.Holding(store, chosen, shelves.scan(store, chosen)))


def write(path: str, text: str | bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text.encode() if isinstance(text, str) else text)


def put(store: Store, *taught: Rule) -> None:
    """Write rules into a store as files."""
    for rule in taught:
        write(f"{store.routing}/{rule.id}.md", rules.render(rule))


def record(store: Store, *lines: dict[str, Any], writer: str = "0123456789ab") -> None:
    """Write ledger lines into a store."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    write(f"{store.ledger('local')}/{writer}.jsonl", text)


def regions(*texts: str, kind: str = "result") -> tuple[Region, ...]:
    """Return texts as the regions of a session."""
    return tuple(Region(number, kind, text) for number, text in enumerate(texts, 1))


def tree(folder: str) -> dict[str, bytes]:
    """Return every file below a folder with its bytes."""
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


def length_cap(max_tokens: int, max_bytes: int = 9_500) -> Cap:
    """Return a cap under which a token is a character, the line feed included."""
    return Cap(max_tokens, lambda line: len(line) + 1, len, max_bytes)


rule_ids = st.integers(0, 0xFFFFFF).map(lambda number: f"r_{number:06x}")
words = st.sampled_from(["docs", "pytest", "deploy", "database", "api"])
paths = st.sampled_from(["nodes/a.md", "nodes/b/", "nodes/b/c.md", "nodes/*/c.md", "nodes/**/d.md"])
features = st.one_of(
    words.map("word:{}".format),
    words.map("command:{}".format),
    st.sampled_from(["folder:a/", "folder:a/b/", "folder:c/"]),
)
verdicts = st.sampled_from(
    ["followed-useful", "followed-useless", "misled", "ignored", "not-applicable", "unknown"]
)
some_ids = st.lists(st.sampled_from(["r_00000a", "r_00000b", "r_00000c"]), max_size=3)
lessons = st.lists(st.sampled_from(["a", "b/c", "x/d", "z"]), max_size=3)


@st.composite
def ledger_lines(draw: Any) -> dict[str, Any]:
    """Draw a ledger line of one of a few sessions, sometimes an undone mark."""
    session, n = draw(st.sampled_from("pqrs")), draw(st.integers(1, 12))
    if draw(st.integers(0, 4)) == 0:
        return {"session": session, "n": n, "undone": True}
    return {
        "v": 1,
        "session": session,
        "n": n,
        "rows": draw(st.integers(0, 4)),
        "kinds": draw(st.lists(features, max_size=3)),
        "sent": draw(some_ids),
        "delivered": draw(st.one_of(st.none(), some_ids)),
        "used": draw(lessons),
        "rules": draw(st.dictionaries(st.sampled_from(["r_00000a", "r_00000b"]), verdicts)),
    }


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=6,
)


def contribution(rule, case, lesson_path):
    """Say what a case says about a rule, without the indexes of `evidence.standings`."""
    if case.n <= rule.born:
        return None
    verdict = case.verdicts.get(rule.id, evidence.UNKNOWN)
    if verdict != evidence.UNKNOWN:
        return evidence.VERDICTS.get(verdict, evidence.SEEN)
    if rule.match and rule.effect == "prefer" and featuring.features_meet(rule.match, case.kinds):
        used = [lesson_path(lesson) for lesson in case.used]
        if not used:
            return evidence.SEEN
        hit = any(targets.matches(t, p) for t in rule.targets for p in used)
        return evidence.HIT if hit else evidence.MISS
    return evidence.SEEN if case.delivered is not None and rule.id in case.delivered else None
