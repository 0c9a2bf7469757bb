from __future__ import annotations

import os

import pytest

from rose import config, layout
from rose.errors import UsageError
from rose.findings import Refused


@pytest.fixture
def store(tmp_path):
    (tmp_path / "project" / ".rose").mkdir(parents=True)
    return layout.project_store(str(tmp_path / "project"))


def write(store, text):
    with open(store.config, "w", encoding="utf-8", newline="") as stream:
        stream.write(text)


def content(store):
    with open(store.config, encoding="utf-8", newline="") as stream:
        return stream.read()


def test_without_a_file_the_defaults_hold(store):
    assert config.read(store) == (config.Settings(), [])


def test_every_setting_has_a_field_of_its_default():
    settings = config.Settings()
    texts = {name: config.get(settings, name) for name in config.KEYS}
    assert texts["routing.max_tokens"] == "800"
    assert texts["lessons.paths"] == "nodes"
    assert len(texts) == len(config.Settings.__slots__)


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("routing:\n  max_tokens: 300\n", "routing_max_tokens", 300),
        ("routing.max_tokens: 300\n", "routing_max_tokens", 300),
        ("routing: {enabled: no}\n", "routing_enabled", False),
        ("routing:\n  enabled: Off\n", "routing_enabled", False),
        ("routing:\n  repeat: every-prompt\n", "routing_repeat", "every-prompt"),
        ("recall:\n  serve: pointers\n", "recall_serve", "pointers"),
        ("recall: {serve: off, max_tokens: 0}\n", "recall_max_tokens", 0),
        ("lessons:\n  paths: docs\n", "lessons_paths", ("docs",)),
        ("lessons:\n  paths: [docs/, ./nodes, docs]\n", "lessons_paths", ("docs", "nodes")),
        ("lessons:\n  paths:\n    - .claude/skills\n", "lessons_paths", (".claude/skills",)),
        ("\ufeffgit:\r\n  commit: auto\r\n", "git_commit", "auto"),
    ],
)
def test_an_override_is_read(store, text, field, value):
    write(store, text)
    settings, findings = config.read(store)
    assert (getattr(settings, field), findings) == (value, [])


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("routing:\n  max_tokens: many\n", "config-value"),
        ("routing:\n  max_tokens: -1\n", "config-value"),
        ("routing:\n  max_tokens: [1]\n", "config-value"),
        ("routing:\n  enabled: maybe\n", "config-value"),
        ("ledger: {share: public}\n", "config-value"),
        ("lessons:\n  paths: []\n", "config-value"),
        ("lessons:\n  paths: ../other\n", "config-value"),
        ("lessons:\n  paths: a/../../b\n", "config-value"),
        ("lessons:\n  paths: /etc\n", "config-value"),
        ("lessons:\n  paths: ~/notes\n", "config-value"),
        ("lessons:\n  paths: .\n", "config-value"),
        ("lessons:\n  paths: .rose/routing\n", "config-value"),
        ("lessons:\n  paths: [.git]\n", "config-value"),
        ("lessons:\n  paths: [lib/.GIT/hooks]\n", "config-value"),
        ('lessons:\n  paths: "a\\nb"\n', "config-value"),
        ("lessons:\n  paths: [{a: b}]\n", "config-value"),
        ("routing:\n  colour: red\n", "config-unknown"),
        ("routing: 3\n", "config-unknown"),
        ("- a\n", "frontmatter"),
        ("<<<<<<< ours\na: 1\n>>>>>>> theirs\n", "frontmatter"),
        ("routing:\n\tmax_tokens: 3\n", "frontmatter"),
    ],
)
def test_a_slip_is_a_finding_and_the_defaults_hold(store, text, rule):
    write(store, text)
    settings, findings = config.read(store)
    assert settings == config.Settings()
    assert [finding.rule for finding in findings] == [rule]
    assert findings[0].where.startswith(store.config)


def test_one_slip_leaves_the_other_overrides_alone(store):
    write(store, "routing:\n  max_tokens: many\n  repeat: every-prompt\ngit:\n  commit: auto\n")
    settings, findings = config.read(store)
    assert (settings.routing_repeat, settings.git_commit) == ("every-prompt", "auto")
    assert len(findings) == 1


@pytest.mark.parametrize("raw", [b"\xff\xfea\0", b"a: \xe9\n"])
def test_a_file_that_is_no_text_is_a_finding(store, raw):
    with open(store.config, "wb") as stream:
        stream.write(raw)
    settings, findings = config.read(store)
    assert settings == config.Settings()
    assert [finding.rule for finding in findings] == ["config-unreadable"]


def test_a_folder_in_place_of_the_file_is_a_finding(store):
    os.mkdir(store.config)
    assert [finding.rule for finding in config.read(store)[1]] == ["config-unreadable"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("routing.max_tokens", "300"),
        ("routing.enabled", "false"),
        ("lessons.paths", "nodes, docs, .claude/skills"),
        ("git.commit", "auto"),
        ("ledger.share", "commit"),
    ],
)
def test_what_is_set_is_read_back(store, name, text):
    config.set_value(store, name, text)
    settings, findings = config.read(store)
    assert (config.get(settings, name), findings) == (text, [])


def test_the_file_holds_overrides_only(store):
    config.set_value(store, "routing.max_tokens", "300")
    config.set_value(store, "routing.repeat", "every-prompt")
    config.unset(store, "routing.max_tokens")
    assert content(store) == "routing:\n  repeat: every-prompt\n"
    config.unset(store, "routing.repeat")
    assert content(store) == ""


def test_a_default_that_was_set_stays_and_is_told_from_one_that_was_not(store):
    config.set_value(store, "routing.max_tokens", "800")
    assert content(store) == "routing:\n  max_tokens: 800\n"
    assert config.read(store) == (config.Settings(), [])
    write(store, "routing.max_tokens: 800\nopenai:\n  model: ''\nno: 1\ngit:\n  commit: x\n")
    assert config.overrides(store) == {"routing.max_tokens": 800, "openai.model": ""}


def test_comments_and_foreign_keys_survive_a_change(store):
    write(store, "# ours\nother: 1 # why\n\ngit:\n  commit: auto\n# end\n")
    config.set_value(store, "routing.max_tokens", "300")
    assert content(store) == (
        "# ours\nother: 1 # why\n\ngit:\n  commit: auto\n# end\nrouting:\n  max_tokens: 300\n"
    )


def test_the_line_ends_of_the_file_are_kept(store):
    write(store, "git:\r\n  commit: auto\r\n")
    config.set_value(store, "routing.max_tokens", "300")
    assert content(store) == "git:\r\n  commit: auto\r\nrouting:\r\n  max_tokens: 300\r\n"


def test_a_key_that_was_written_with_its_dot_is_taken_over(store):
    write(store, "routing.max_tokens: 300\n")
    config.set_value(store, "routing.max_tokens", "800")
    assert config.read(store) == (config.Settings(), [])


@pytest.mark.parametrize(
    ("name", "text"), [("routing.max_tokens", "x"), ("lessons.paths", ""), ("no.such", "1")]
)
def test_a_bad_value_is_refused_and_nothing_is_written(store, name, text):
    with pytest.raises(UsageError):
        config.set_value(store, name, text)
    assert not os.path.exists(store.config)


@pytest.mark.parametrize("text", ["{}", '{git: {commit: "auto"}, recall: {serve: pointers}}\n'])
def test_a_file_in_braces_is_read_and_not_rewritten(store, text):
    write(store, text)
    assert config.read(store)[1] == []
    with pytest.raises(Refused) as refused:
        config.set_value(store, "recall.serve", "bodies")
    assert [one.where for one in refused.value.findings] == [store.config]
    assert content(store) == text


def test_a_file_that_cannot_be_read_is_not_rewritten(store):
    write(store, "routing: [\nunclosed\n")
    with pytest.raises(Refused):
        config.set_value(store, "git.commit", "auto")
    assert content(store) == "routing: [\nunclosed\n"
