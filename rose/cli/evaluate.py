"""`rose eval`: what selection is worth, over a stream of tasks or over this project's record."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rose.cli import page, progress, terminal
from rose.cli.app import app
from rose.errors import UsageError
from rose.evaluate import record, report, stream
from rose.routing import rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.evaluate.effects import Effect

MOST_TOKENS = 100_000
MODES = ("cold", "warm")
READERS = ("layer", "recall")
COLUMNS = (
    ("p3", "P@3"),
    ("r1", "R@1"),
    ("r3", "R@3"),
    ("r10", "R@10"),
    ("mrr", "MRR"),
    ("ndcg", "nDCG"),
    ("served_f1", "F1"),
    ("served", "served"),
    ("noise3", "noise"),
)
TOKENS = ("noise3",)
LEGEND = (
    "P@3 to nDCG: the ranking against what the tasks used. F1: the same of what was served. "
    "served: lessons a task. noise: tokens of the first three that the task did not use."
)

evaluation = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Measure selection over a stream of tasks, or over past tasks.\n\n"
    "Example: rose eval rules",
)
app.add_typer(evaluation, name="eval")

JsonFlag = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@evaluation.command("stream")
def eval_stream(
    *,
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="Holds lessons.jsonl and episodes.jsonl.")
    ],
    mode: Annotated[str, typer.Option(metavar="MODE", help="cold or warm.")] = "cold",
    cap: Annotated[
        int, typer.Option(min=0, max=MOST_TOKENS, help="Tokens of the layer; 0 is no cap.")
    ] = 800,
    reader: Annotated[str, typer.Option(metavar="NAME", help="layer or recall.")] = "recall",
    k: Annotated[int, typer.Option("--k", min=1, max=10, help="How many are served at most.")] = 3,
    picks: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write what was chosen to a new file, a line an episode."
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Replay a stream: choose for each task, see what it used, learn.

    Cold, a lesson enters the store after the first task that used it. Each figure stands beside
    that of plain BM25. Nothing is written but the picks.

    Example: rose eval stream data/pytest --reader layer --cap 800
    """
    if mode not in MODES:
        raise UsageError(f"There is no mode {mode!r}. Use {' or '.join(MODES)}.")
    if reader not in READERS:
        raise UsageError(f"There is no reader {reader!r}. Use {' or '.join(READERS)}.")
    path = "" if picks is None else terminal.given_path(picks)
    if os.path.lexists(path):
        raise UsageError(f"{path} is there already. Name a new file.")
    found = stream.read(terminal.given_path(folder), "cold" if mode == "cold" else "warm")
    name: report.ReaderName = "layer" if reader == "layer" else "recall"
    with progress.bar("Replaying") as show:
        told, run = report.stream_report(found, name, cap=cap, k=k, progress=show)
    told["mode"] = mode
    if path:
        report.write_picks(path, run)
    if as_json:
        terminal.emit(told)
    else:
        _print(told)


def _print(told: Mapping[str, Any]) -> None:
    head = f"{told['stream']} ({told['mode']}): {told['episodes']} tasks, {told['lessons']} lessons"
    terminal.out(head)
    titles = "".join(f"{title:>7}" for _, title in COLUMNS)
    for part, by_reader in told["parts"].items():
        terminal.out()
        terminal.out(f"{part:13}{titles}")
        for reader, values in by_reader.items():
            if values:
                cells = "".join(_cell(name, values.get(name)) for name, _ in COLUMNS)
                terminal.out(f"  {reader:11}{cells}")
    terminal.out()
    page.paragraph(LEGEND, first="", rest="")
    terminal.out()
    titles_of = dict(COLUMNS)
    for name, gap in told["against_bm25"].items():
        terminal.out(f"test, {titles_of[name]} less that of bm25: {_interval(gap)}")
    if "layer" in told:
        _print_layer(told)
    terminal.out()
    terminal.out("tenth   tasks lessons   rules  tokens    R@3   bm25")
    for number, row in enumerate(told["tenths"], 1):
        cells = "".join(f"{row.get(name, '-'):>8}" for name in ("episode", "lessons", "rules"))
        ends = f"{row.get('tokens', '-'):>8}{row['r3']:>7.3f}{row['bm25_r3']:>7.3f}"
        terminal.out(f"{number:>5}{cells}{ends}")


def _print_layer(told: Mapping[str, Any]) -> None:
    layer = told["layer"]
    ratio = f"{layer['ratio_half']:.3f} half-way, {layer['ratio_end']:.3f} at the end"
    terminal.out(f"rules over lessons: {ratio} ({layer['growth']:.2f} of it)")
    terminal.out(f"most tokens of a layer: {layer['most_tokens']}")
    for name, control in told.get("controls", {}).items():
        terminal.out(f"control {name}, R@3 less that of bm25: {_interval(control['against_bm25'])}")
        if "against_unpoisoned_by_fifth" in control:
            fifths = " ".join(f"{gap:+.3f}" for gap in control["against_unpoisoned_by_fifth"])
            terminal.out(f"  beside no poison, in each fifth: {fifths}")


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return "-".rjust(7)
    return f"{value:7.0f}" if name in TOKENS else f"{value:7.3f}"


def _interval(gap: Mapping[str, float] | None) -> str:
    if gap is None:
        return "nothing to compare"
    return f"{gap['mean']:+.3f} ({gap['low']:+.3f} to {gap['high']:+.3f})"


@evaluation.command(
    "rules", short_help="Say what each rule of the layer changed in past selections."
)
def eval_rules(*, as_json: JsonFlag = False) -> None:
    """Say what each rule of the layer changed in past selections, by leaving it out.

    For each recorded task a fixed lexical reader chooses three lessons with the whole layer and
    with the layer less one rule. Gained and lost are lessons that the task used. A replay of what
    the rules claim, not a verdict on what an agent did.

    Example: rose eval rules --json
    """
    with progress.bar("Replaying") as show:
        found = record.rule_effects(terminal.stores(), progress=show)
    if as_json:
        terminal.emit({rule: row.as_json() for rule, row in found.items()})
        return
    rows = sorted(found.items(), key=lambda one: (-one[1].net, -one[1].changed, one[0]))
    told = [(rule, row) for rule, row in rows if row.met]
    for rule, row in told:
        page.paragraph(_line(row), first=f"{rule}  ", rest=" " * 10)
        words = rules.line(row.rule).removeprefix("- ")
        page.paragraph(words, first=" " * 10, rest=" " * 10)
    if not rows:
        terminal.say("No rule is in the layer, so there is nothing to leave out.")
    elif not told:
        terminal.say("No past task that used a lesson met a rule of the layer.")
    idle = [(rule, row.rule) for rule, row in rows if not row.met]
    _name("met no past task that used a lesson", [rule for rule, of in idle if of.match])
    _name("without `match`, so no task is known to meet it", [r for r, of in idle if not of.match])


def _name(why: str, ids: Sequence[str]) -> None:
    if ids:
        named = f"{page.count(len(ids), 'rule')} {why}: {', '.join(ids)}"
        page.paragraph(named, first="", rest="  ")


def _line(row: Effect) -> str:
    met = f"met {page.count(row.met, 'past task')}"
    if row.rule.effect == "skip":
        return f"{met}; a skip rule, which this reader does not follow"
    if not row.changed:
        return f"{met}, changed none of them"
    return f"{met}, changed {row.changed}: {row.gained} gained, {row.lost} lost"
