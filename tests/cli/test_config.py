from __future__ import annotations

import pytest

from tests.clirun import run


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "home" / "project"
    folder.mkdir()
    run("init", cwd=folder)
    return folder


def test_every_setting_is_listed_with_its_value_and_its_help(project):
    run("config", "routing.max_tokens", "300", cwd=project)
    result = run("config", cwd=project)
    assert result.code == 0
    assert "routing.max_tokens        300\n" in result.out
    assert "routing.enabled           true (default)\n" in result.out
    assert max(map(len, result.out.splitlines())) <= 80


BARE = {"PATH": "/usr/bin:/bin", "ROSE_BACKEND": None}


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (["recall.judge", "claude"], ["`claude` is not on PATH", "recall.timeout_s", "is off"]),
        (["recall.judge", "command"], ["`reflection.command` is not set"]),
        (["recall.selector", "fork"], ["not on PATH", "no model is asked with less than 4"]),
        (["reflection.backend", "openai", "recall.selector", "fork"], ["looks into no lesson"]),
        (["recall.serve", "bodies", "recall.timeout_s", "8"], []),
        (["recall.selector", "agent", "recall.judge", "claude"], []),
        (["recall.judge", "off"], []),
    ],
)
def test_what_a_setting_of_recall_lacks_to_have_an_effect_is_said(project, pairs, said):
    for name, value in zip(pairs[::2], pairs[1::2], strict=True):
        done = run("config", name, value, cwd=project, env=BARE)
        assert (done.code, done.out) == (0, f"{name} = {value}\n")
    told = " ".join(done.err.split())
    assert [part for part in said if part not in told] == []
    assert ("No effect yet" in told) is bool(said)


def test_the_agent_may_be_named_by_a_store_that_is_not_trusted_and_taken_back_by_none(project):
    run("trust", "--revoke", cwd=project)
    assert "No effect" not in run("config", "recall.selector", "agent", cwd=project).err
    shown = run("doctor", "--json", cwd=project).json["checks"]
    said = [check["text"] for check in shown if check["section"] == "recall"]
    assert said == ["the working agent selects by itself; no prompt is served"]
    run("config", "--home", "recall.selector", "agent", cwd=project)
    told = " ".join(run("config", "recall.selector", "embedded", cwd=project).err.split())
    assert "No effect yet: `recall.selector` may be set only by a store that you trust" in told
    run("trust", cwd=project)
    assert "No effect" not in run("config", "recall.selector", "embedded", cwd=project).err


def test_the_list_is_json_on_request(project):
    listed = run("config", "--json", cwd=project).json
    assert {entry["key"] for entry in listed["settings"]} >= {"lessons.paths", "git.commit"}
    assert listed["findings"] == []


def test_one_setting_is_printed_bare(project):
    assert run("config", "routing.max_tokens", cwd=project).out == "800\n"
    entry = run("config", "routing.max_tokens", "--json", cwd=project).json
    assert (entry["value"], entry["default"], entry["set"]) == ("800", "800", False)


def test_a_default_that_was_set_is_no_default_until_it_is_taken_back(project):
    run("config", "routing.max_tokens", "800", cwd=project)
    assert "routing.max_tokens        800\n" in run("config", cwd=project).out
    assert run("config", "routing.max_tokens", "--json", cwd=project).json["set"] is True
    run("config", "--unset", "routing.max_tokens", cwd=project)
    assert "routing.max_tokens        800 (default)\n" in run("config", cwd=project).out


def test_a_value_is_set_and_taken_back(project):
    result = run("config", "git.commit", "auto", cwd=project)
    assert result.out == "git.commit = auto\n"
    assert (project / ".rose" / "config.yaml").read_text() == "git:\n  commit: auto\n"
    assert run("config", "--unset", "git.commit", cwd=project).out == "git.commit = off\n"
    assert (project / ".rose" / "config.yaml").read_text() == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["k", "5"], "`k` is no setting: how much a call returns is up to each call."),
        (["k"], "each call"),
        (["chars", "100"], "each call"),
        (["--unset", "windows"], "each call"),
        (["no.such", "1"], "no setting"),
        (["no.such"], "no setting"),
        (["--unset", "no.such"], "no setting"),
        (["routing.max_tokens", "many"], "0 to"),
        (["lessons.paths", "../x"], "below the project"),
        (["git.commit", "--unset", "git.commit"], "alone"),
    ],
)
def test_a_slip_in_the_words_ends_with_2_and_writes_nothing(project, words, said):
    result = run("config", *words, cwd=project)
    assert result.code == 2
    assert said in result.err
    assert not (project / ".rose" / "config.yaml").exists()


def test_a_broken_file_is_reported_and_not_rewritten(project):
    (project / ".rose" / "config.yaml").write_text("git: [\n")
    assert "config.yaml" in run("config", cwd=project).err
    result = run("config", "git.commit", "auto", cwd=project)
    assert result.code == 1
    assert (project / ".rose" / "config.yaml").read_text() == "git: [\n"


def test_a_shared_ledger_gets_its_merge_rule(project):
    run("config", "ledger.share", "commit", cwd=project)
    assert "merge=union" in (project / ".rose" / ".gitattributes").read_text()


def test_new_folders_are_in_the_index_at_once(project):
    (project / "docs").mkdir()
    (project / "docs" / "a.md").write_text("# A\n")
    run("config", "lessons.paths", "nodes,docs", cwd=project)
    assert (project / ".rose" / "index.md").read_text() == "docs/a.md - A\n"


def test_the_home_store_has_settings_of_its_own(project, tmp_path):
    assert run("config", "--home", cwd=project).code == 1
    run("init", "--home", cwd=project)
    run("config", "routing.max_tokens", "100", "--home", cwd=project)
    assert run("config", "routing.max_tokens", cwd=project).out == "800\n"
    assert run("config", "routing.max_tokens", "--home", cwd=project).out == "100\n"


def test_without_a_store_it_says_how_to_make_one(tmp_path):
    result = run("config", cwd=tmp_path)
    assert (result.code, "rose init" in result.err) == (1, True)


def test_a_change_is_told_as_json_where_that_is_asked_for(project):
    changed = run("config", "routing.max_tokens", "600", "--json", cwd=project).json
    assert (changed["value"], changed["set"]) == ("600", True)
    reset = run("config", "--unset", "routing.max_tokens", "--json", cwd=project).json
    assert (reset["value"], reset["set"]) == ("800", False)
