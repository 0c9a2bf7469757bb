"""Kinds: the features that code observes of a task."""

from __future__ import annotations

from rose import layout
from rose.hosts.base import Call
from rose.reflection.kinds import Kinds
from rose.reflection.places import Places

STORE = layout.project_store("/repo")


def collect(*calls: Call, task=""):
    kinds = Kinds(Places(STORE, "/repo"), ("nodes", "docs/lessons"))
    kinds.take_prompt(task)
    for call in calls:
        kinds.take_call(call)
    return kinds.features()


def a_call(name="Read", command=None, paths=(), cwd="/repo"):
    return Call(1, 0, name, {}, command=command, paths=paths, cwd=cwd)


def test_words_commands_and_folders_come_sorted():
    found = collect(
        a_call("Bash", command="pytest tests/integration"),
        a_call(paths=("/repo/src/app/main.py",)),
        task="Run the integration suite",
    )
    assert found == tuple(sorted(found))
    assert {"command:pytest", "folder:tests/integration/", "folder:src/app/"} <= set(found)
    assert "word:integration" in found
    assert "word:the" not in found


def test_lessons_and_the_store_are_no_folders_of_the_task():
    found = collect(
        a_call(
            paths=(
                "/repo/nodes/testing/a.md",
                "/repo/docs/lessons/b.md",
                "/repo/.rose/index.md",
                "/etc/hosts",
                "/repo/README.md",
            )
        ),
        a_call("Bash", command="cat nodes/testing/a.md ../x/y.py"),
    )
    assert found == ()


def test_a_deep_folder_is_cut_at_three_levels():
    assert collect(a_call(paths=("/repo/a/b/c/d/e.py",))) == ("folder:a/b/c/",)


def test_a_hidden_file_is_no_folder():
    assert collect(a_call(paths=("/repo/apps/web/.env",))) == ("folder:apps/web/",)


def test_a_command_may_run_in_a_subfolder():
    found = collect(a_call("Bash", command="cd web && vitest src/a.test.ts"))
    assert found == ("command:vitest", "folder:web/src/")


def test_there_are_at_most_64_features():
    calls = [a_call("Bash", command=f"tool{n} src{n}/a/x.py") for n in range(200)]
    found = collect(*calls, task=" ".join(f"subject{chr(97 + n % 26)}{n}" for n in range(200)))
    assert len(found) <= 64


def test_a_secret_never_becomes_a_feature():
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    found = collect(a_call("Bash", command=f"./{token} src/{token}/x.py"))
    assert token not in " ".join(found)
