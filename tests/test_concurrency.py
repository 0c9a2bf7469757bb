"""Many processes on one store, some of them killed: nothing lost, nothing torn."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from rose import files, layout
from rose.routing import cases, evidence, ledger, table
from tests.factories import a_ledger_line, a_lesson_file, a_rule_file, a_store

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RULE = "r_0000aa"
RUN = (
    "import sys; sys.path.insert(0, sys.argv[1]); from tests.test_concurrency import {0}; {0}({1})"
)


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path)
    a_lesson_file(made, "nodes/testing/db.md")
    a_rule_file(made, id=RULE, when="the task runs the tests", then="read nodes/testing/")
    return made


def a_case(n: int, session: str) -> dict[str, object]:
    return cases.line_of(
        cases.Case(
            session=session,
            n=n,
            rows=1,
            sent=(RULE,),
            delivered=(RULE,),
            used=("testing/db",),
            verdicts={RULE: "followed-useful"},
        )
    )


def credit(base: str, writer: int, sessions: int) -> None:
    """Credit the rule once a session, as a reflection does."""
    store = layout.project_store(base)
    for number in range(sessions):
        name = f"w{writer}-s{number}"
        a_ledger_line(store, lambda n, name=name: a_case(n, name))


def credit_and_say(base: str, writer: int) -> None:
    """Credit for ever, saying each session once it is on disk."""
    store = layout.project_store(base)
    for number in range(1_000_000):
        name = f"w{writer}-s{number}"
        a_ledger_line(store, lambda n, name=name: a_case(n, name))
        os.write(1, f"{name}\n".encode())


def mint(base: str, writer: int) -> None:
    """Write rules and take some away, as people and reflections do."""
    store = layout.project_store(base)
    for number in range(20):
        rule_id = f"r_{writer:02x}{number:04x}"
        a_rule_file(store, id=rule_id, when=f"the task is {rule_id}", then="read nodes/testing/")
        if number % 2:
            table.delete(store, rule_id)


def helped(store) -> int:
    record = ledger.read(store)
    rules = table.read(store, ("nodes",)).rules
    found = evidence.standings(rules, record.cases, lambda lesson: f"nodes/{lesson}.md")
    return found[RULE].helped


def test_eight_processes_of_fifty_sessions_give_four_hundred_credits(store):
    context = multiprocessing.get_context("spawn")
    work = [context.Process(target=credit, args=(store.base, n, 50)) for n in range(8)]
    work += [context.Process(target=mint, args=(store.base, n)) for n in range(2)]
    for process in work:
        process.start()
    for process in work:
        process.join(120)
    assert [process.exitcode for process in work] == [0] * len(work)
    assert helped(store) == 400
    assert len({case.n for case in ledger.read(store).cases}) == 400
    assert len(table.read(store, ("nodes",)).rules) == 1 + 2 * 10


def test_a_writer_that_is_killed_loses_nothing_that_it_said(store):
    """SIGKILL at random moments; the seed only varies the moments, never the claim."""
    moments = random.Random(7)
    said: set[str] = set()
    for writer in range(6):
        with subprocess.Popen(
            [sys.executable, "-c", RUN.format("credit_and_say", f"{store.base!r}, {writer}"), ROOT],
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            first = process.stdout.readline()
            time.sleep(moments.uniform(0, 0.05))
            process.send_signal(signal.SIGKILL)
            rest = process.stdout.read()
        said |= {name for name in (first + rest).decode().split("\n") if name}
    kept = {case.session for case in ledger.read(store).cases}
    assert len(said) >= 6
    assert len(said - kept) == 0
    credit(store.base, 99, 1)
    assert "w99-s0" in {case.session for case in ledger.read(store).cases}


def test_a_replace_that_is_killed_leaves_the_old_file_or_the_new_one(store):
    path = os.path.join(store.local, "big.txt")
    old, new = "a" * 3_000_000, "b" * 3_000_000
    files.replace(path, old)
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from rose import files\n"
        f"while True: files.replace({path!r}, 'b' * 3_000_000); files.replace({path!r}, "
        "'a' * 3_000_000)"
    )
    moments = random.Random(3)
    seen = set()
    for _ in range(8):
        with subprocess.Popen([sys.executable, "-c", script, ROOT]) as process:
            time.sleep(0.1 + moments.uniform(0, 0.05))
            process.kill()
        seen.add(files.read_text(path))
    assert seen <= {old, new}
