from __future__ import annotations

import os

import pytest

from rose import config, files, layout, trust
from rose.backends import registry
from rose.backends.base import BackendFailure
from rose.backends.options import Options, options_of
from rose.config import Settings
from rose.errors import NoStore
from rose.layout import Stores
from tests.factories import a_store
from tests.fakes import a_program, a_question

COMMAND = "reflection.command"


@pytest.fixture
def project(tmp_path):
    return a_store(tmp_path)


@pytest.fixture
def home():
    store = layout.home_store(os.environ)
    os.makedirs(store.dot)
    return store


def options(project, home=None, **environ: str) -> Options:
    # The suite's own environment may name a backend.
    own = {name: value for name, value in os.environ.items() if not name.startswith("ROSE_")}
    return options_of(Stores(project, home, ""), {**own, **environ})


def test_without_a_word_the_defaults_hold(project):
    assert options(project) == Options(Settings(), (), (), is_trusted=False)


def test_a_store_that_is_trusted_says_who_is_asked(project):
    trust.add(project, os.environ)
    config.set_value(project, COMMAND, "reflect --fast")
    config.set_value(project, "openai.model", "small")
    config.set_value(project, "spend.calls_per_day", "7")
    found = options(project)
    assert found.settings.reflection_command == "reflect --fast"
    assert (found.settings.openai_model, found.settings.spend_calls_per_day) == ("small", 7)
    assert (found.withheld, found.findings, found.why_withheld("")) == ((), (), "")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (COMMAND, "sh -c evil"),
        ("openai.base_url", "https://evil.example/v1"),
        ("openai.model", "evil"),
        ("openai.key_env", "OTHER_SECRET"),
        ("spend.calls_per_day", "9999"),
        ("spend.tokens_per_session", "999999999"),
        ("reflection.timeout_s", "3600"),
        ("recall.selector", "fork"),
        ("recall.judge", "claude"),
        ("recall.timeout_s", "8"),
    ],
)
def test_a_store_that_came_with_a_clone_sets_nothing_that_reaches_out(project, name, value):
    config.set_value(project, name, value)
    found = options(project)
    assert found.settings == Settings()
    assert found.withheld == (name,)
    assert [(f.rule, f.severity) for f in found.findings] == [("config-untrusted", "warning")]
    assert "rose trust" in found.findings[0].line()
    assert name in found.findings[0].message


@pytest.mark.parametrize("backend", ["command", "openai"])
def test_a_clone_s_program_and_endpoint_are_not_asked_and_the_refusal_names_the_way(
    tmp_path, project, backend
):
    environ = a_program(tmp_path, "evil", f"open({str(tmp_path / 'ran')!r}, 'w')")
    for name, value in (
        ("reflection.backend", backend),
        (COMMAND, "evil"),
        ("openai.base_url", "http://127.0.0.1:1/v1"),
        ("openai.model", "evil"),
    ):
        config.set_value(project, name, value)
    found = options_of(Stores(project, None, ""), environ)
    chosen = registry.choose(found.settings.reflection_backend, "claude-code", found, environ)
    assert chosen.name == backend
    with pytest.raises(BackendFailure, match="run `rose trust`") as caught:
        chosen.ask(a_question(tmp_path), 60)
    assert caught.value.kind == "unavailable"
    assert not (tmp_path / "ran").exists()
    trust.add(project, environ)
    trusted = options_of(Stores(project, None, ""), environ)
    assert trusted.settings.reflection_command == "evil"


def test_a_clone_may_choose_among_what_this_person_has_set_up(project, home):
    config.set_value(project, "reflection.backend", "openai")
    config.set_value(home, "openai.model", "mine")
    found = options(project, home)
    assert (found.settings.reflection_backend, found.settings.openai_model) == ("openai", "mine")


def test_a_choice_of_this_person_s_own_wins_over_a_clone_s(project, home):
    config.set_value(project, "reflection.backend", "openai")
    config.set_value(home, "reflection.backend", "offline")
    assert options(project, home).settings.reflection_backend == "offline"


def test_a_trusted_project_wins_over_the_home_store_and_the_environment_over_both(project, home):
    trust.add(project, os.environ)
    config.set_value(home, "openai.model", "of-home")
    config.set_value(home, COMMAND, "of-home")
    assert options(project, home).settings.openai_model == "of-home"
    config.set_value(project, "openai.model", "of-project")
    found = options(project, home)
    assert (found.settings.openai_model, found.settings.reflection_command) == (
        "of-project",
        "of-home",
    )
    named = options(project, home, ROSE_OPENAI_MODEL="of-environment", ROSE_BACKEND="offline")
    assert named.settings.openai_model == "of-environment"
    assert named.settings.reflection_backend == "offline"


@pytest.mark.parametrize(
    ("name", "of_home", "of_project"),
    [
        ("reflection.backend", "offline", "auto"),
        ("openai.model", "mine", ""),
        ("spend.calls_per_day", "0", "100"),
    ],
)
def test_a_default_that_a_trusted_project_sets_wins_over_the_home_store(
    project, home, name, of_home, of_project
):
    trust.add(project, os.environ)
    config.set_value(home, name, of_home)
    config.set_value(project, name, of_project)
    assert config.get(options(project, home).settings, name) == of_project
    config.unset(project, name)
    assert config.get(options(project, home).settings, name) == of_home


def test_the_environment_counts_in_a_clone(project):
    found = options(
        project, ROSE_REFLECT_COMMAND="mine", ROSE_OPENAI_BASE_URL="http://localhost/v1"
    )
    assert found.settings.reflection_command == "mine"
    assert found.settings.openai_base_url == "http://localhost/v1"


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("ROSE_BACKEND", "gpt"),
        ("ROSE_OPENAI_BASE_URL", "file:///etc"),
        ("ROSE_OPENAI_MODEL", "a\nb"),
    ],
)
def test_a_variable_that_is_wrong_is_a_finding_and_says_nothing(project, variable, text):
    found = options(project, **{variable: text})
    assert found.settings == Settings()
    assert [(f.rule, f.where) for f in found.findings] == [("config-value", f"${variable}")]


def test_the_home_store_alone_is_enough(home):
    config.set_value(home, COMMAND, "mine")
    assert options(None, home).settings.reflection_command == "mine"


def test_without_a_store_there_are_no_options():
    with pytest.raises(NoStore):
        options(None)


def test_where_nothing_can_be_trusted_no_program_of_a_project_runs(project):
    """Without a HOME every store may reach an agent; a program is more than that."""
    config.set_value(project, COMMAND, "evil")
    assert trust.is_trusted(project, {})
    assert options_of(Stores(project, None, ""), {}).settings.reflection_command == ""


def test_the_other_settings_are_those_of_the_project(project, home):
    config.set_value(project, "routing.max_tokens", "300")
    config.set_value(home, "routing.max_tokens", "500")
    assert options(project, home).settings.routing_max_tokens == 300


def test_an_edit_after_trust_still_cannot_hold_a_key(project):
    """The key itself has no place in a file: only the name of the variable that holds it."""
    trust.add(project, os.environ)
    files.replace(project.config, "openai:\n  key_env: sk-ant-api03-abc\n  key: sk-ant\n")
    assert options(project).settings.openai_key_env == "OPENAI_API_KEY"


@pytest.mark.parametrize(
    "text", ["reflection: {backend: oflline}\n", "reflection: [\n"], ids=["a typo", "no YAML"]
)
def test_a_config_that_cannot_be_read_asks_nobody(project, text):
    trust.add(project, os.environ)
    files.replace(project.config, text)
    assert options(project).settings.reflection_backend == "offline"


@pytest.mark.parametrize(
    ("own", "is_trusted", "others"),
    [
        ("agent", False, ("embedded", "agent")),
        ("agent", True, ("fork", "agent")),
        ("", False, ("agent", "agent")),
        ("embedded", False, ("agent", "agent")),
        ("fork", False, ("agent", "agent")),
        ("embedded", True, ("agent", "embedded")),
        ("fork", True, ("agent", "fork")),
        ("fork", False, ("embedded", "embedded")),
    ],
)
def test_the_agent_selects_where_any_store_says_so_and_no_trusted_one_before_it_says_otherwise(
    project, home, own, is_trusted, others
):
    behind, holds = others
    if own:
        config.set_value(project, "recall.selector", own)
    config.set_value(home, "recall.selector", behind)
    if is_trusted:
        trust.add(project, os.environ)
    found = options(project, home)
    assert found.settings.recall_selector == holds
    is_withheld = not is_trusted and own not in ("", "agent")
    assert found.withheld == (("recall.selector",) if is_withheld else ())
