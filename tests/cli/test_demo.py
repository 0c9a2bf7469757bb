from __future__ import annotations

import os
import re
import shutil

from rose import layout
from rose.cli import demo
from tests import clirun

RECORDED = os.path.join(demo.DATA, "transcripts")


def test_the_demo_learns_a_rule_credits_it_and_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    done = clirun.run("demo", cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.out.count("printed nothing: there is no rule yet") == 2
    assert "match     word:integration" in done.out
    assert 'evidence  "The integration tests are red on my branch' in done.out
    rule = "\n- When the task mentions `integration`: read nodes/testing/integration-db.md\n   ---"
    assert rule in done.out
    assert "was followed-useful" in done.out
    assert "helped 1, wasted 0, seen 1" in done.out
    assert re.search(r"routing {4}1 selection rule over 15 lessons {2}\(ratio 0.07", done.out)
    home = layout.home_store(os.environ)
    assert home is not None
    assert not os.path.exists(home.base)
    assert os.listdir(tmp_path) == ["home"]


def changed(tmp_path, name: str, *changes: tuple[str, str]) -> str:
    """Return a folder of the recorded sessions, in one of which some texts are changed."""
    folder = os.path.join(tmp_path, "recorded")
    shutil.copytree(RECORDED, folder)
    path = os.path.join(folder, f"{name}.jsonl")
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)
    return folder


def test_a_lesson_that_the_second_session_only_reads_teaches_nothing(tmp_path):
    folder = changed(
        tmp_path,
        "work-2",
        ('"command": "export APP_DB_URL=sqlite:///tmp/app.db && pytest', '"command": "pytest'),
        ('"command": "pytest tests/integration"', '"command": "make check"'),
    )
    done = clirun.run("demo", "--transcripts", folder, cwd=tmp_path)
    assert done.code == 0, done.err
    assert "used none that shows" in done.out
    assert "no rule: no lesson was used twice" in done.out


def test_a_second_task_in_other_words_teaches_another_condition(tmp_path):
    folder = changed(tmp_path, "work-2", ("The integration tests are red", "The suite is red"))
    done = clirun.run("demo", "--transcripts", folder, cwd=tmp_path)
    assert done.code == 0, done.err
    assert "match     word:" not in done.out
    assert "match     folder:tests/integration/" in done.out


def test_a_third_session_that_reads_something_else_gives_no_credit_and_the_folder_may_be_kept(
    tmp_path,
):
    path = "nodes/testing/integration-db.md"
    folder = changed(tmp_path, "work-routed", (path, "nodes/api/paging.md"))
    done = clirun.run("demo", "--keep", "--transcripts", folder, cwd=tmp_path)
    assert done.code == 0, done.err
    assert "was ignored" in done.out
    assert "helped 0," in done.out
    kept = re.search(r"to look at: (\S+)", done.out)
    assert kept is not None
    assert os.path.isdir(os.path.join(kept[1], "shop", ".rose", "routing"))
    shutil.rmtree(kept[1])
