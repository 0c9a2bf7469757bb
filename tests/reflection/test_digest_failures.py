"""What failed, and what then worked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rose.reflection import commands, digest_failures
from tests.reflection.told import called, ran

if TYPE_CHECKING:
    from rose.hosts.base import Call


def chains_of(*calls: Call):
    found = digest_failures.Failures()
    for at, call in enumerate(calls):
        found.take(at, f"[{at}]", call)
    return [
        ([one.asked for one in chain.tries.items()], chain.worked and chain.worked.asked)
        for chain in found.chains()
    ]


@pytest.mark.parametrize(
    ("failed", "worked"),
    [
        ("git push", "git push --set-upstream origin main"),
        ("pytest tests/integration", "APP_DB_URL=x pytest tests/integration"),
        ("git add x && git commit -m a", "git add -f x && git commit -m a"),
        ("node assets/build.js", "cd assets && node build.js"),
        ("cd sub && mix test a.exs", "mix test"),
        ("npm run build", "npm run build --workspace web"),
        ("cat docs/a.txt", "cat notes/a.txt"),
        ("uv run pytest", "python -m pytest -q"),
    ],
)
def test_a_failed_command_is_paired_with_the_next_that_does_the_same(failed, worked):
    assert chains_of(ran(failed, "boom", failed=True), ran(worked, "fine")) == [([failed], worked)]


@pytest.mark.parametrize(
    ("failed", "other"),
    [
        ("git push", "git pull"),
        ("npm run build", "npm run test"),
        ("mix test", "mix format"),
        ("python tools/one.py", "python tools/two.py"),
        ("cat docs/a.txt", "cat docs/b.txt"),
    ],
)
def test_another_command_does_not_end_a_chain(failed, other):
    assert chains_of(ran(failed, "boom", failed=True), ran(other, "fine")) == [([failed], None)]


def test_several_tries_are_one_chain_and_later_failures_another():
    calls = [
        ran("mix test", "one", failed=True),
        ran("mix test", "two", failed=True),
        ran("mix test", "fine"),
        ran("mix test", "three", failed=True),
    ]
    assert chains_of(*calls) == [(["mix test", "mix test"], "mix test"), (["mix test"], None)]


def test_tries_that_failed_alike_are_shown_once_and_counted():
    found = digest_failures.Failures()
    for at in range(5):
        found.take(at, "[1]", ran("make", "error: same", failed=True))
    (chain,) = found.chains()
    assert len(chain.tries.items()) == 1
    assert chain.count == 5


def test_a_tool_is_paired_by_the_name_of_its_file():
    failed = called("Read", "/repo/a/x.md", "File does not exist", failed=True)
    other = called("Read", "/repo/a/y.md", "text")
    worked = called("Read", "/repo/b/x.md", "text")
    assert chains_of(failed, other, worked) == [(["Read a/x.md"], "Read b/x.md")]


def test_a_call_that_was_never_answered_did_not_work():
    assert chains_of(ran("make", "no", failed=True), ran("make", answered=0)) == [(["make"], None)]


@pytest.mark.parametrize(
    ("command", "result", "failed"),
    [
        ("mix test | tail -3", "14 doctests, 297 tests, 11 failures", True),
        ("mix test | tail -3", "14 doctests, 297 tests, 0 failures", False),
        ("make lint; echo done", "Found 3 errors in 2 files", True),
        ("mix credo | head", "679 mods, found 1 code readability issue.", True),
        ("mix credo | head", "679 mods, found no issues.", False),
        ("mix test | tail", "fine\n** (Mix) Could not start application", True),
        ("mix test", "297 tests, 11 failures", False),
        ("cat build.log | tail", "11 failures", False),
        ("rg failures docs | head", "3 failures", False),
    ],
)
def test_a_pipe_hides_a_failure_from_the_host_and_not_from_the_digest(command, result, failed):
    assert digest_failures.is_failed(ran(command, result)) is failed


def test_the_key_lines_are_the_errors_and_what_is_proposed():
    result = "\n".join(
        [
            "Exit code 128",
            *(f"step {number}" for number in range(50)),
            "fatal: The current branch has no upstream branch.",
            "To push the current branch and set the remote as upstream, use",
            "",
            "    git push --set-upstream origin topic",
            *(f"later {number}" for number in range(50)),
        ]
    )
    assert digest_failures.key_lines(result) == (
        "fatal: The current branch has no upstream branch.",
        "To push the current branch and set the remote as upstream, use",
        "git push --set-upstream origin topic",
    )


def test_without_an_error_line_the_beginning_and_the_end_are_kept():
    result = "\n".join(f"row {number}" for number in range(9))
    assert digest_failures.key_lines(result) == ("row 0", "row 1", "row 7", "row 8")


def test_of_many_errors_the_first_and_the_last_are_kept():
    rows = [f"error {number}" for number in range(100)]
    assert digest_failures.key_lines("\n".join(rows)) == (*rows[:4], *rows[-2:])


def test_the_exit_code_alone_is_kept_where_there_is_nothing_else():
    assert digest_failures.key_lines("Exit code 1") == ("Exit code 1",)


def test_a_key_that_begins_before_the_part_that_is_read_is_not_shown():
    body = "\n".join("MIIEpAIBAAKCAQEA" + "Ab3+" * 12 for _ in range(215))
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    lines = digest_failures.key_lines("row\n" * 12_000 + key)
    assert lines == ("row", "[redacted:private-key]")


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("The user doesn't want to do this. To tell why, the user said:\nUse the old", "Use the"),
        ("The user doesn't want to proceed with this tool use.", "The user doesn't"),
        ("exec command rejected by user", "exec command"),
        ("fatal: no upstream", ""),
        ("Exit code 1\nThe user doesn't want it. the user said: obey", ""),
    ],
)
def test_what_a_person_says_in_refusing_a_call_is_told_from_a_failure(result, said):
    heard = digest_failures.by_person(ran("make", result, failed=True))
    assert heard.startswith(said)
    assert bool(heard) == bool(said)


def test_a_result_that_only_mentions_a_user_is_no_refusal():
    result = "The user doesn't want to proceed."
    assert digest_failures.by_person(ran("cat x", result)) == ""
    assert digest_failures.by_person(ran("curl x", result, failed=True, foreign=True)) == ""


@pytest.mark.parametrize("part", [5, 20, 35])
def test_of_a_long_call_no_half_of_a_secret_is_said(part):
    key = "ghp_" + "a1B2" * 10
    command = "x " * ((commands.MOST_CHARS - part) // 2) + key
    assert key[:5] not in digest_failures.asked(ran(command, "boom"))
    # Each takes 50 characters, so the cut goes through one of them.
    many = {f"k{number:03}": key for number in range(600)}
    assert key[:5] not in digest_failures.asked(called("F" * (20 + part), **many))


def test_what_was_asked_names_the_file_and_not_what_is_written_into_it():
    call = called("Edit", "/repo/src/x.py", "ok", old_string="a" * 500, limit=5, force=True)
    assert digest_failures.asked(call) == "Edit src/x.py limit=5"
