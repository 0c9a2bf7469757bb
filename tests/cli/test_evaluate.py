from __future__ import annotations

import pytest

from tests import clirun, factories
from tests.evaluate import streams


def test_a_stream_is_replayed_and_its_figures_are_printed(tmp_path):
    folder = streams.write(tmp_path / "small", 40)
    picks = tmp_path / "picks.jsonl"
    done = clirun.run(
        "eval", "stream", folder, "--reader", "layer", "--picks", str(picks), cwd=tmp_path
    )
    assert done.code == 0
    assert "small (cold): 40 tasks, 4 lessons" in done.out
    assert "control poisoned" in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    assert len(picks.read_text().splitlines()) == 40


def test_the_same_stream_gives_the_same_bytes_under_any_hash_seed(tmp_path):
    folder = streams.write(tmp_path / "small", 40)
    printed = set()
    for seed in "012345":
        picks = tmp_path / f"{seed}.jsonl"
        words = ("eval", "stream", folder, "--json", "--picks", str(picks))
        done = clirun.run_child(*words, cwd=tmp_path, env={"PYTHONHASHSEED": seed})
        printed.add((done.code, done.out, picks.read_text()))
    assert len(printed) == 1
    assert next(iter(printed))[0] == 0


def test_an_unknown_reader_or_mode_is_a_usage_error(tmp_path):
    folder = streams.write(tmp_path / "small", 8)
    for words in (("--reader", "bm25"), ("--mode", "hot")):
        done = clirun.run("eval", "stream", folder, *words, cwd=tmp_path)
        assert done.code == 2


def test_the_effect_of_a_rule_over_the_record_is_shown(tmp_path):
    store = factories.a_store(tmp_path)
    for name in ("a", "b", "c", "d"):
        body = "suite" if name != "d" else "nothing"
        factories.a_lesson_file(store, f"nodes/{name}.md", f"# {name}\n\nThe {body} {name}.\n")
    rule = factories.a_rule_file(
        store, when="", match=["word:suite"], then="read nodes/d.md", origin="reflection"
    )
    line = {"session": "s1", "rows": 1, "task": "the suite", "kinds": ["word:suite"], "used": ["d"]}
    factories.a_ledger_line(store, lambda _n: line)
    done = clirun.run("eval", "rules", "--json", cwd=store.base)
    assert done.code == 0
    assert done.json[rule] == {"met": 1, "changed": 1, "gained": 1, "lost": 0, "sessions": ["s1"]}
    told = clirun.run("eval", "rules", cwd=store.base)
    assert told.out.splitlines() == [
        f"{rule}  met 1 past task, changed 1: 1 gained, 0 lost",
        "          When the task mentions `suite`: read nodes/d.md",
    ]


def test_rules_that_no_past_task_met_are_named_with_the_reason(tmp_path):
    store = factories.a_store(tmp_path)
    factories.a_lesson_file(store, "nodes/d.md", "# d\n")
    told = {"then": "read nodes/d.md", "origin": "reflection"}
    idle = factories.a_rule_file(store, id="r_00000a", when="", match=["word:docs"], **told)
    bare = factories.a_rule_file(store, id="r_00000b", when="a word alone", **told)
    skip = factories.a_rule_file(
        store, id="r_00000c", when="", match=["word:suite"], effect="skip", **told
    )
    done = clirun.run("eval", "rules", cwd=store.base)
    assert (done.code, done.err.count("No past task that used a lesson")) == (0, 1)
    line = {"session": "s1", "rows": 1, "task": "the suite", "kinds": ["word:suite"], "used": ["d"]}
    factories.a_ledger_line(store, lambda _n: line)
    done = clirun.run("eval", "rules", cwd=store.base)
    assert f"{skip}  met 1 past task; a skip rule, which this reader does not follow" in done.out
    assert f"1 rule met no past task that used a lesson: {idle}\n" in done.out
    assert f"1 rule without `match`, so no task is known to meet it: {bare}\n" in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    assert done.err == ""


def test_a_store_without_rules_has_nothing_to_leave_out(tmp_path):
    store = factories.a_store(tmp_path)
    done = clirun.run("eval", "rules", cwd=store.base)
    assert (done.code, done.out) == (0, "")
    assert "nothing to leave out" in done.err


def test_the_figures_are_named_as_their_columns_are_and_explained(tmp_path):
    folder = streams.write(tmp_path / "small", 40)
    told = clirun.run("eval", "stream", folder, cwd=tmp_path).out
    assert [name in told for name in ("r3", "noise3", "ndcg")] == [False] * 3
    assert "test, R@3 less that of bm25: " in told
    assert "served: lessons a task." in " ".join(told.split())
    assert max(map(len, told.splitlines())) <= 80


def test_picks_are_written_over_nothing(tmp_path):
    folder = streams.write(tmp_path / "small", 8)
    (tmp_path / "picks.jsonl").write_text("mine")
    done = clirun.run("eval", "stream", folder, "--picks", "picks.jsonl", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err == "rose: picks.jsonl is there already. Name a new file.\n"
    assert (tmp_path / "picks.jsonl").read_text() == "mine"


def test_a_folder_without_a_stream_is_named_once_with_what_belongs_there(tmp_path):
    done = clirun.run("eval", "stream", str(tmp_path), cwd=tmp_path)
    assert done.code == 1
    assert done.err == (
        f"rose: {tmp_path}/episodes.jsonl cannot be read: No such file or directory. "
        "DIR holds lessons.jsonl and episodes.jsonl.\n"
    )


def test_a_stream_that_is_no_text_is_said_to_be_none(tmp_path):
    (tmp_path / "episodes.jsonl").write_bytes(b"\xff\xfe")
    done = clirun.run("eval", "stream", str(tmp_path), cwd=tmp_path)
    assert (done.code, "it is no text in UTF-8" in done.err) == (1, True)


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_without_a_rule_no_bar_is_left_on_a_terminal(tmp_path, term):
    store = factories.a_store(tmp_path)
    done = clirun.run_on_terminal("eval", "rules", cwd=store.base, TERM=term)
    assert done.out == "No rule is in the layer, so there is nothing to leave out.\n"


@pytest.mark.parametrize(("term", "is_drawn"), [("xterm", True), ("dumb", False)])
def test_a_bar_is_drawn_only_where_it_can_be_taken_back(tmp_path, term, is_drawn):
    folder = streams.write(tmp_path / "small", 40)
    done = clirun.run_on_terminal("eval", "stream", folder, cwd=tmp_path, TERM=term, NO_COLOR="1")
    assert ("Replaying" in done.out, "\x1b[" in done.out) == (is_drawn, is_drawn)
    assert "\x1b[3" not in done.out
    assert "small (cold): 40 tasks, 4 lessons" in done.out
