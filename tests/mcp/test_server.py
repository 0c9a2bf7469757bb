"""The server as an agent program meets it: a process, the SDK's own client, real stores."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import os
import shutil
import signal
import subprocess
import sys
import threading

import pytest

from rose import files
from rose.mcp import server as door
from rose.mcp import tools
from rose.selection import trace
from tests.clirun import run, run_child
from tests.factories import a_lesson_file, a_rule_file, a_store

mcp = pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KEY = "AKIA" + "IOSFODNN7" + "QWERTYU"
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


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Give one server for the tests that can share it: its store's folder, and what speaks to it.

    It looks for the store at each call, so each test may have lessons of its own there.
    """
    home = tmp_path_factory.mktemp("served")
    base = str(home / "repo")
    foreign = ("ROSE_", "GIT_", "CLAUDE", "CODEX")
    own = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    own |= {"HOME": str(home), "CLAUDE_CODE_SESSION_ID": "s-1"}
    loop, end, begun = asyncio.new_event_loop(), asyncio.Event(), concurrent.futures.Future()

    async def talk(session, hello):
        begun.set_result((session, hello))
        await end.wait()

    def run_loop():
        try:
            loop.run_until_complete(_talk(talk, home, own, ["--store", base]))
        except BaseException as error:
            begun.set_exception(error)
            raise

    os.mkdir(base)
    thread = threading.Thread(target=run_loop)
    thread.start()
    spoken = begun.result(60)

    def ask(use):
        return asyncio.run_coroutine_threadsafe(use(*spoken), loop).result(60)

    yield base, ask
    loop.call_soon_threadsafe(end.set)
    thread.join(60)
    loop.close()


@pytest.fixture
def ask(server):
    """Give what speaks to the shared server, whose store is that of the test."""
    return server[1]


@pytest.fixture
def store(server):
    base, _ = server
    shutil.rmtree(base)
    made = a_store(os.path.dirname(base))
    assert made.base == base
    a_lesson_file(made, "nodes/testing/db.md", TEXT)
    a_lesson_file(made, "nodes/deploy/canary.md", "# Canary\n\nShip to one host first.\n")
    return made


def serving(use, cwd, words=(), **environ):
    """Return what `use` makes of a session with a server of its own that runs in a folder."""
    return asyncio.run(_talk(use, cwd, {**os.environ, **environ}, words))


async def _talk(use, cwd, environ, words):
    own = {**environ, "PYTHONPATH": ROOT}
    arguments = ["-m", "rose", "mcp", *words]
    program = mcp.StdioServerParameters(command=sys.executable, args=arguments, cwd=cwd, env=own)
    async with mcp.stdio_client(program) as streams, mcp.ClientSession(*streams) as session:
        hello = await session.initialize()
        return await use(session, hello)


def asking(calls):
    """Return what makes some calls, one after the other, and gives their results."""

    async def use(session, _hello):
        return [await session.call_tool(name, given) for name, given in calls]

    return use


def called(cwd, calls, words=(), **environ):
    """Return the results of some calls to a server of its own."""
    return serving(asking(calls), cwd, words, **environ)


def sent(results):
    """Return everything that some results hold, one text each."""
    return [json.dumps(one.model_dump(), ensure_ascii=False) for one in results]


def text_of(result):
    [block] = result.content
    return block.text


def test_the_three_tools_are_offered_as_reading_only_and_lessons_as_data(ask):
    async def use(session, hello):
        return hello, (await session.list_tools()).tools

    hello, offered = ask(use)
    assert (hello.server_info.name, hello.instructions) == ("rose", tools.ABOUT)
    assert [tool.name for tool in offered] == ["search", "open", "explain"]
    assert all(tool.annotations.read_only_hint for tool in offered)
    assert [tool.input_schema for tool in offered] == [tool.schema() for tool in tools.TOOLS]


def test_results_have_the_fields_of_the_commands_and_the_same_in_words(store, ask):
    calls = [
        ("search", {"query": "database"}),
        ("open", {"node": "db"}),
        ("explain", {"node": "db", "query": "database"}),
    ]
    found, opened, explained = ask(asking(calls))
    printed = run("search", "database", "--json", cwd=store.base).json
    assert found.structured_content == {"rows": printed, "said": []}
    assert text_of(found).startswith("1. testing/db - Database")
    assert opened.structured_content["text"] == TEXT
    assert text_of(opened).endswith(TEXT.rstrip())
    assert explained.structured_content["recall"]["offered"] is True
    assert not any(one.is_error for one in (found, opened, explained))


def test_what_cannot_be_answered_is_an_error_of_the_call_and_the_server_goes_on(store, ask):
    wrong = [
        ("open", {"node": "zebra"}, "No lesson 'zebra'. `rose list` lists them."),
        ("search", {"query": "x", "k": 10**30}, "`k` must be a whole number from 1 to 20."),
        ("search", {"query": "x", "more": 1}, "No argument 'more'; there are `query`, "),
        ("drop", {}, "No tool 'drop'."),
    ]
    calls = [call[:2] for call in wrong]
    *failed, found = ask(asking([*calls, ("search", {"query": "database"})]))
    assert [text_of(one)[: len(said)] for one, (_, _, said) in zip(failed, wrong, strict=True)] == [
        said for _, _, said in wrong
    ]
    assert all(one.is_error and one.structured_content is None for one in failed)
    assert not found.is_error


def test_secrets_and_hidden_characters_leave_by_no_tool(store, ask):
    text = f"# Keys {KEY}\n\nUse the\u202e {KEY} zebra\u200b of old.\n"
    a_lesson_file(store, "nodes/keys.md", text)
    a_rule_file(store, id="r_0000aa", targets=["nodes/keys.md"], then="read nodes/keys.md")
    calls = [
        ("search", {"query": "zebra"}),
        ("open", {"node": "keys"}),
        ("open", {"node": "keys", "query": "zebra"}),
        ("explain", {"node": "keys", "query": f"zebra {KEY}"}),
        ("explain", {"node": "r_0000aa"}),
    ]
    shown = sent(ask(asking(calls)))
    assert [one for one in shown if KEY in one or "\u202e" in one or "\u200b" in one] == []
    assert all("[redacted:aws-key]" in one for one in shown[:4])


def test_secrets_and_hidden_characters_leave_by_no_error(store, ask):
    header = f"---\nwhen: x\nthen: read nodes/testing/db.md\neffect: {'x' * 45} {KEY}\n---\n"
    files.replace(os.path.join(store.routing, "r_0000aa.md"), header)
    said = f"a\u202e {KEY} \u200bb"
    calls = [
        ("explain", {"node": "r_0000aa"}),
        ("open", {"node": said}),
        ("explain", {"node": said}),
        ("search", {"query": "x", said: 1}),
        ("search", {"query": "x", f"{'y' * 30} {KEY}": 1}),
        (said, {}),
    ]
    shown = sent(ask(asking(calls)))
    hostile = (KEY[:8], "\u202e", "\u200b")
    assert [one for one in shown if any(map(one.count, hostile))] == []


def test_what_was_shown_is_recorded_for_the_session_of_the_program(store, ask):
    calls = [("search", {"query": "database"}), ("open", {"node": "db"})]
    ask(asking(calls))
    found = [(row["kind"], row["session"]) for row in trace.latest(store, 9)]
    assert found == [("search", "s-1"), ("evidence", "s-1")]


def test_the_session_that_comes_with_a_call_goes_before_that_of_the_process(store, ask):
    async def use(session, _hello):
        given = {"query": "database"}
        for meta in ({"sessionId": "s-2"}, {"sessionId": 3}, {"sessionId": "x" * 999}, {}):
            await session.call_tool("search", given, meta=meta)

    ask(use)
    found = [row["session"] for row in trace.latest(store, 9)]
    assert found == ["s-2", "s-1", "s-1", "s-1"]


def test_calls_made_at_once_are_all_answered(store, ask):
    async def use(session, _hello):
        asked = [session.call_tool("search", {"query": "database"}) for _ in range(8)]
        return await asyncio.gather(*asked)

    found = ask(use)
    assert [len(one.structured_content["rows"]) for one in found] == [1] * 8
    assert len(trace.latest(store, 99)) == 8


def test_a_lesson_that_was_written_meanwhile_is_found(store, ask):
    async def use(session, _hello):
        before = await session.call_tool("search", {"query": "zebra"})
        a_lesson_file(store, "nodes/zebra.md", "# Zebra\n")
        return before, await session.call_tool("search", {"query": "zebra"})

    before, after = ask(use)
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
    found = called(tmp_path, [("open", {"node": "db"})], words=["--store", store.base])
    assert found[0].structured_content["text"] == TEXT


def test_a_result_that_could_not_be_sent_as_it_stands_is_sent(tmp_path):
    base = os.fsdecode(os.path.join(os.fsencode(tmp_path), b"home", b"caf\xe9"))
    own = os.path.join(base, "own")
    os.makedirs(os.path.join(own, "nodes"))
    with open(os.path.join(own, "nodes", "a.md"), "w", encoding="utf-8") as stream:
        stream.write("# Zebra\n")
    [found] = called(tmp_path / "home", [("open", {"node": "a"})], ROSE_HOME=own)
    assert found.structured_content["path"].endswith("caf?/own/nodes/a.md")


def test_the_end_of_input_ends_the_server_and_nothing_but_answers_is_printed(store):
    ended = run_child("mcp", cwd=store.base)
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    asked = run_child("mcp", cwd=store.base, stdin=json.dumps(HELLO).encode() + b"\nno json\n")
    assert asked.code == 0
    assert [json.loads(line)["jsonrpc"] for line in asked.out.splitlines()][:1] == ["2.0"]


def test_a_line_that_the_sdk_cannot_read_has_no_answer_and_ends_nothing(store):
    call = (
        '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search","arguments":%s}}'
    )
    half, deep = '{"query":"\\ud800"}', "[" * 5_000 + "]" * 5_000
    lines = [
        json.dumps(HELLO),
        call % (2, half),
        call % (3, deep),
        call % (4, '{"query":"caf\ufffd"}'),
    ]
    words = [sys.executable, "-m", "rose", "mcp"]
    pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
    own = {**os.environ, "PYTHONPATH": ROOT}
    with subprocess.Popen(words, cwd=store.base, env=own, **pipes) as server:
        for line in lines:
            # What a byte of another encoding becomes, as that byte.
            server.stdin.write(line.encode().replace("\ufffd".encode(), b"\xe9") + b"\n")
        server.stdin.flush()
        answered = [json.loads(server.stdout.readline())["id"] for _ in range(2)]
        server.stdin.close()
        assert (answered, server.stdout.read()) == ([1, 4], b"")


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
