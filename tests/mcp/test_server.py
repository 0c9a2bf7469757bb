"""The server as an agent program meets it: a process, the SDK's own client, real stores."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys

import pytest

from rose.mcp import server as door
from rose.mcp import tools
from rose.selection import trace
from tests.clirun import run, run_child
from tests.factories import a_lesson_file, a_store

mcp = pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TEXT = "# Database\n\nThe tests need port 5432.\n"

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    },
}


@pytest.fixture
def store(tmp_path):
    made = a_store(tmp_path / "home")
    a_lesson_file(made, "nodes/testing/db.md", TEXT)
    a_lesson_file(made, "nodes/deploy/canary.md", "# Canary\n\nShip to one host first.\n")
    return made


def serving(use, cwd, words=(), **environ):
    """Return what `use` makes of a session with a server that runs in a folder."""
    own = {**os.environ, "PYTHONPATH": ROOT, **environ}
    arguments = ["-m", "rose", "mcp", *words]
    program = mcp.StdioServerParameters(command=sys.executable, args=arguments, cwd=cwd, env=own)

    async def talk():
        async with mcp.stdio_client(program) as streams, mcp.ClientSession(*streams) as session:
            hello = await session.initialize()
            return await use(session, hello)

    return asyncio.run(talk())


def called(cwd, calls, words=(), **environ):
    """Return the results of some calls, one after the other."""

    async def use(session, _hello):
        return [await session.call_tool(name, given) for name, given in calls]

    return serving(use, cwd, words, **environ)


def text_of(result):
    [block] = result.content
    return block.text


def test_the_three_tools_are_offered_as_reading_only_and_lessons_as_data(store):
    async def use(session, hello):
        return hello, (await session.list_tools()).tools

    hello, offered = serving(use, store.base)
    assert (hello.server_info.name, hello.instructions) == ("rose", tools.ABOUT)
    assert [tool.name for tool in offered] == ["search", "open", "explain"]
    assert all(tool.annotations.read_only_hint for tool in offered)
    assert [tool.input_schema for tool in offered] == [tool.schema() for tool in tools.TOOLS]


def test_results_have_the_fields_of_the_commands_and_the_same_in_words(store):
    calls = [
        ("search", {"query": "database"}),
        ("open", {"lesson": "db"}),
        ("explain", {"subject": "db", "query": "database"}),
    ]
    found, opened, explained = called(store.base, calls)
    printed = run("search", "database", "--json", cwd=store.base).json
    assert found.structured_content == {"rows": printed, "said": []}
    assert text_of(found).startswith("1. testing/db - Database")
    assert opened.structured_content["text"] == TEXT
    assert text_of(opened).endswith(TEXT.rstrip())
    assert explained.structured_content["recall"]["offered"] is True
    assert not any(one.is_error for one in (found, opened, explained))


def test_what_cannot_be_answered_is_an_error_of_the_call_and_the_server_goes_on(store):
    wrong = [
        ("open", {"lesson": "zebra"}, "No lesson 'zebra'. `rose list` lists them."),
        ("search", {"query": "x", "k": 10**30}, "`k` must be a whole number from 1 to 20."),
        ("search", {"query": "x", "more": 1}, "No argument 'more'; there are `query`, "),
        ("drop", {}, "No tool 'drop'."),
    ]
    calls = [call[:2] for call in wrong]
    *failed, found = called(store.base, [*calls, ("search", {"query": "database"})])
    assert [text_of(one)[: len(said)] for one, (_, _, said) in zip(failed, wrong, strict=True)] == [
        said for _, _, said in wrong
    ]
    assert all(one.is_error and one.structured_content is None for one in failed)
    assert not found.is_error


def test_what_was_shown_is_recorded_for_the_session_of_the_program(store):
    calls = [("search", {"query": "database"}), ("open", {"lesson": "db"})]
    called(store.base, calls, CLAUDE_CODE_SESSION_ID="s-1")
    found = [(row["kind"], row["session"]) for row in trace.latest(store, 9)]
    assert found == [("search", "s-1"), ("evidence", "s-1")]


def test_the_session_that_comes_with_a_call_goes_before_that_of_the_process(store):
    async def use(session, _hello):
        given = {"query": "database"}
        for meta in ({"sessionId": "s-2"}, {"sessionId": 3}, {"sessionId": "x" * 999}, {}):
            await session.call_tool("search", given, meta=meta)

    serving(use, store.base, CLAUDE_CODE_SESSION_ID="s-1")
    found = [row["session"] for row in trace.latest(store, 9)]
    assert found == ["s-2", "s-1", "s-1", "s-1"]


def test_calls_made_at_once_are_all_answered(store):
    async def use(session, _hello):
        asked = [session.call_tool("search", {"query": "database"}) for _ in range(8)]
        return await asyncio.gather(*asked)

    found = serving(use, store.base, CLAUDE_CODE_SESSION_ID="s-1")
    assert [len(one.structured_content["rows"]) for one in found] == [1] * 8
    assert len(trace.latest(store, 99)) == 8


def test_a_lesson_that_was_written_meanwhile_is_found(store):
    async def use(session, _hello):
        before = await session.call_tool("search", {"query": "zebra"})
        a_lesson_file(store, "nodes/zebra.md", "# Zebra\n")
        return before, await session.call_tool("search", {"query": "zebra"})

    before, after = serving(use, store.base)
    assert before.structured_content["rows"] == []
    assert [row["node"] for row in after.structured_content["rows"]] == ["zebra"]


def test_without_a_store_the_server_starts_and_makes_nothing(tmp_path):
    folder = tmp_path / "home" / "empty"
    folder.mkdir()
    calls = [(one.name, dict.fromkeys(one.required, "x")) for one in tools.TOOLS]
    found = called(folder, calls, CLAUDE_CODE_SESSION_ID="s-1")
    assert all(one.is_error and "Run `rose init`" in text_of(one) for one in found)
    assert sorted(os.listdir(tmp_path / "home")) == ["empty"]
    assert os.listdir(folder) == []


def test_a_store_made_after_the_start_is_found(tmp_path):
    folder = tmp_path / "home" / "empty"
    folder.mkdir()

    async def use(session, _hello):
        run("init", cwd=folder)
        (folder / "nodes" / "a.md").write_text("# Zebra\n")
        return await session.call_tool("search", {"query": "zebra"})

    assert [row["node"] for row in serving(use, folder).structured_content["rows"]] == ["a"]


def test_the_folder_can_be_named(store, tmp_path):
    found = called(tmp_path, [("open", {"lesson": "db"})], words=["--store", store.base])
    assert found[0].structured_content["text"] == TEXT


def test_a_result_that_could_not_be_sent_as_it_stands_is_sent(tmp_path):
    base = os.fsdecode(os.path.join(os.fsencode(tmp_path), b"home", b"caf\xe9"))
    own = os.path.join(base, "own")
    os.makedirs(os.path.join(own, "nodes"))
    with open(os.path.join(own, "nodes", "a.md"), "w", encoding="utf-8") as stream:
        stream.write("# Zebra\n")
    [found] = called(tmp_path / "home", [("open", {"lesson": "a"})], ROSE_HOME=own)
    assert found.structured_content["path"].endswith("caf?/own/nodes/a.md")


def test_the_end_of_input_ends_the_server_and_nothing_but_answers_is_printed(store):
    ended = run_child("mcp", cwd=store.base)
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    asked = run_child("mcp", cwd=store.base, stdin=json.dumps(HELLO).encode() + b"\nno json\n")
    assert asked.code == 0
    assert [json.loads(line)["jsonrpc"] for line in asked.out.splitlines()][:1] == ["2.0"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_request_to_end_ends_a_server_that_waits_for_input(store, number):
    words = [sys.executable, "-m", "rose", "mcp"]
    pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
    own = {**os.environ, "PYTHONPATH": ROOT}
    with subprocess.Popen(words, cwd=store.base, env=own, **pipes) as server:
        server.stdin.write(json.dumps(HELLO).encode() + b"\n")
        server.stdin.flush()
        assert b'"serverInfo"' in server.stdout.readline()
        server.send_signal(number)
        assert server.wait(30) == -number


@pytest.mark.parametrize(
    ("version", "said"),
    [("", "is not installed"), ("1.30.0", "is of version 1.30.0; rose works with 2.x")],
)
def test_without_the_package_the_command_says_how_to_install_it(store, tmp_path, version, said):
    done = subprocess.run(
        [sys.executable, "-m", "rose", "mcp"],
        cwd=store.base,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([a_site(tmp_path, version), ROOT])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"rose: The package mcp {said}. Install it: `pipx inject ")
    assert f"{sys.executable} -m pip install 'mcp>=2.0,<2.4'" in done.stderr


def a_site(tmp_path, version):
    """Return a folder for the path by which another version of the package is found, or none."""
    site = tmp_path / "site"
    if version:
        (site / f"mcp-{version}.dist-info").mkdir(parents=True)
        (site / f"mcp-{version}.dist-info" / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: mcp\nVersion: {version}\n"
        )
        return str(site)
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "from importlib import metadata\n"
        "real = metadata.version\n"
        "def version(name):\n"
        "    if name == 'mcp':\n"
        "        raise metadata.PackageNotFoundError(name)\n"
        "    return real(name)\n"
        "metadata.version = version\n"
    )
    return str(site)


def test_the_versions_that_are_asked_for_are_those_of_the_extra():
    with open(os.path.join(ROOT, "pyproject.toml"), encoding="utf-8") as stream:
        assert f'mcp = ["{door.WANTED[1:-1]}"]' in stream.read()
