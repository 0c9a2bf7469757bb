"""`rose demo`: a real run of a few seconds in a throwaway folder.

Nothing is played back: the hook, the worker and the commands run as a host runs them, on two
recorded sessions, and what they print is what they did.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from rose import config, files, layout
from rose.cli import terminal
from rose.cli.app import app
from rose.errors import RoseError
from rose.hosts.installation import LAUNCH
from rose.reflection import queue
from rose.routing import ledger, table

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.path.join(HERE, "demo")
RECORDED_AT = "/repo"
WAIT_S = 30.0


@dataclass(frozen=True, slots=True)
class Stage:
    """The throwaway folder: the repository, the transcripts and the environment."""

    top: str
    recorded: str

    @property
    def repo(self) -> str:
        return os.path.join(self.top, "shop")

    @property
    def store(self) -> layout.Store:
        return layout.project_store(self.repo)

    def environ(self) -> dict[str, str]:
        """Return an environment with a HOME of its own, so that no other store is touched."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ROSE_")}
        return {**kept, "HOME": os.path.join(self.top, "home"), "COLUMNS": "80"}


@app.command("demo", short_help="Watch rose learn a rule and hand it to the next session.")
def demo(
    *,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the folder behind.")] = False,
    transcripts: Annotated[
        str, typer.Option(help="Replay your own copies of the recorded sessions.", hidden=True)
    ] = os.path.join(DATA, "transcripts"),
) -> None:
    """Watch rose learn a rule from real sessions and hand it to the next.

    Runs in a throwaway folder, without a model and without the network.

    Example: rose demo --keep
    """
    top = os.path.realpath(tempfile.mkdtemp(prefix="rose-demo-"))
    try:
        _play(Stage(top, os.path.abspath(transcripts)))
        if keep:
            terminal.out(f"\nThe folder is yours to look at: {top}")
    finally:
        if not keep:
            shutil.rmtree(top, ignore_errors=True)
    terminal.out(
        "\nTwo sessions needed the same lesson, so rose wrote down where it was; the third was\n"
        "told, went there first, and the rule got the credit. Next: `rose init` in your project."
    )


def _play(stage: Stage) -> None:
    _set_up(stage)
    _session(stage, "2. Session one", "work-1")
    _session(stage, "3. Session two, the same kind of work", "work-2")
    _show_learned(stage)
    _session(stage, "5. Session three", "work-routed")
    _show_credit(stage)
    for title, words in (("7. The rules", ["route"]), ("8. The bet", ["status"])):
        _title(f"{title} ($ rose {' '.join(words)})")
        terminal.out(_rose(stage, words).rstrip())


def _set_up(stage: Stage) -> None:
    shutil.copytree(os.path.join(DATA, "repo"), stage.repo)
    os.makedirs(os.path.join(stage.top, "home"))
    _title("1. A repository with lessons, and an empty layer ($ rose init)")
    terminal.out(_rose(stage, ["init"]).rstrip())
    for line in files.read_text(stage.store.index).splitlines()[:4]:
        terminal.out(f"   {_cut(line)}")
    terminal.out("   …")


def _session(stage: Stage, title: str, name: str) -> None:
    rows = _rows(stage, name)
    session = next(str(row["sessionId"]) for row in rows if "sessionId" in row)
    task = next(
        str(row["message"]["content"])
        for row in rows
        if row.get("type") == "user" and isinstance(row["message"]["content"], str)
    )
    path = os.path.join(stage.top, "transcripts", f"{session}.jsonl")
    payload = {"session_id": session, "transcript_path": path, "cwd": stage.repo}
    _title(title)
    terminal.out(f'   task: "{task}"')
    _hook(stage, "SessionStart", {**payload, "source": "startup"})
    document = _hook(stage, "UserPromptSubmit", {**payload, "prompt": task})
    _show_hook(document)
    files.replace(path, "".join(json.dumps(row) + "\n" for row in _with_block(rows, document)))
    for row in rows:
        _show_call(stage, row)
    _hook(stage, "SessionEnd", {**payload, "reason": "other"})
    _wait_for_worker(stage)
    terminal.out("   SessionEnd hook → detached worker, as in: rose reflect --pending")
    _show_case(stage, session)


def _rows(stage: Stage, name: str) -> list[dict[str, Any]]:
    text = files.read_text(os.path.join(stage.recorded, f"{name}.jsonl"))
    return [json.loads(line) for line in text.replace(RECORDED_AT, stage.repo).splitlines()]


def _with_block(rows: list[dict[str, Any]], document: str) -> list[dict[str, Any]]:
    """Return the rows with the block as the hook printed it now, where the host wrote one down."""
    block = _block_of(document)
    shown = f"<system-reminder>\nUserPromptSubmit hook additional context: {block}\n"
    changed = []
    for row in rows:
        attachment = row.get("attachment", {})
        if attachment.get("type") != "hook_additional_context":
            changed.append(row)
        elif block:
            rendered = [{"content": shown + "</system-reminder>"}]
            changed.append(
                {**row, "attachment": {**attachment, "content": [block]}, "rendered": rendered}
            )
    return changed


def _block_of(document: str) -> str:
    if not document:
        return ""
    return str(json.loads(document)["hookSpecificOutput"]["additionalContext"])


def _hook(stage: Stage, event: str, payload: dict[str, str]) -> str:
    """Run the hook as a host does and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-IS", LAUNCH, event, "--host", "claude-code"],
        input=json.dumps({**payload, "hook_event_name": event}),
        capture_output=True,
        text=True,
        env=stage.environ(),
        cwd=stage.repo,
        check=True,
    )
    return done.stdout


def _rose(stage: Stage, words: list[str]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "rose", *words],
        capture_output=True,
        text=True,
        env={**stage.environ(), "PYTHONPATH": os.path.dirname(HERE)},
        cwd=stage.repo,
        check=False,
    )
    if done.returncode:
        raise RoseError(f"`rose {' '.join(words)}` failed in the demo: {done.stderr.strip()}")
    return done.stdout + done.stderr


def _wait_for_worker(stage: Stage) -> None:
    deadline = time.monotonic() + WAIT_S
    while queue.pending(stage.store):
        if time.monotonic() > deadline:
            raise RoseError("the worker did not finish; `rose demo --keep` leaves its log.")
        time.sleep(0.02)


def _show_hook(document: str) -> None:
    if not document:
        terminal.out("   the prompt hook printed nothing: there is no rule yet")
        return
    size = len(document.encode())
    terminal.out(f"   the prompt hook printed one document of {size} bytes; the agent reads:")
    terminal.out("   " + "-" * 74)
    terminal.out(_block_of(document))
    terminal.out("   " + "-" * 74)


def _show_call(stage: Stage, row: dict[str, Any]) -> None:
    content = row.get("message", {}).get("content", [])
    for block in content if isinstance(content, list) else []:
        if block.get("type") == "tool_use":
            what = block["input"]
            said = what.get("command") or what.get("file_path") or what.get("pattern") or ""
            short = str(said).replace(stage.repo + "/", "")
            terminal.out(f"   agent: {block['name']} {_cut(short)}")


def _show_case(stage: Stage, session: str) -> None:
    """Say what the worker wrote down of a session."""
    for case in ledger.read(stage.store).cases:
        if case.session == session:
            opened = ", ".join(one.lesson for one in case.opened) or "none"
            terminal.out(f"   recorded: opened {opened}")
            terminal.out(f"             used {', '.join(case.used) or 'none that shows'}")
            for rule, verdict in case.verdicts.items():
                terminal.out(f"             {rule} was {verdict}")


def _show_learned(stage: Stage) -> None:
    found = table.read(stage.store, config.read(stage.store)[0].lessons_paths)
    _title("4. What it learned")
    for rule in found.rules:
        terminal.out(f"   {os.path.relpath(rule.path, stage.repo)}")
        terminal.out(f"   when      {rule.when}")
        terminal.out(f"   then      {rule.then}")
        terminal.out(f"   match     {', '.join(rule.match)}")
        for item in rule.evidence:
            terminal.out(f'   evidence  "{_cut(item.quote, 62)}"')
    if not found.rules:
        terminal.out("   no rule: no lesson was used twice for one kind of work")


def _show_credit(stage: Stage) -> None:
    _title("6. The credit")
    for rule in json.loads(_rose(stage, ["route", "--json"]))["rules"]:
        counts = ", ".join(
            f"{name} {rule['record'][name]}" for name in ("helped", "wasted", "seen")
        )
        terminal.out(f"   {rule['id']}  {counts}")


def _title(text: str) -> None:
    terminal.out(f"\n{text}")


def _cut(text: str, width: int = 66) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"
