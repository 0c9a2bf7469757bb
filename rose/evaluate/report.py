"""The report of a replay: measures by part, intervals against plain BM25, growth, controls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rose import files
from rose.evaluate import measure, readers
from rose.evaluate.replay import TENTHS, open_desk, replay

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rose.evaluate.replay import Desk, Progress, Run
    from rose.evaluate.stream import Stream

    Values = Mapping[str, object]

ReaderName = Literal["layer", "recall"]
COMPARED = ("r3", "mrr", "ndcg", "noise3")


def stream_report(
    stream: Stream,
    reader: ReaderName,
    *,
    cap: int,
    k: int,
    with_controls: bool = True,
    progress: Progress | None = None,
) -> tuple[dict[str, object], Run]:
    """Replay a stream and return the report and the run itself."""
    desk = open_desk(stream)
    if reader == "recall":
        run = replay(desk, readers.RecallReader(desk.search, k), k, progress)
        return _report(stream, reader, run, {"k": k}), run
    layer = readers.LayerReader(stream, cap, k)
    run = replay(desk, layer, k, progress)
    report = _report(stream, reader, run, {"k": k, "cap": cap})
    report["layer"] = {"most_tokens": layer.most_tokens, **_growth(run.tenths)}
    if with_controls:
        report["controls"] = _controls(desk, run, cap, k, progress)
    return report, run


def _report(stream: Stream, reader: str, run: Run, limits: Mapping[str, int]) -> dict[str, object]:
    ours, plain = measure.parts(run.outcomes), measure.parts(run.plain)
    return {
        "stream": stream.name,
        "reader": reader,
        **limits,
        "episodes": len(stream.episodes),
        "lessons": len(stream.lessons),
        "parts": {part: {reader: ours[part], "bm25": plain[part]} for part in ours},
        "against_bm25": _against(run.outcomes, run.plain),
        "tenths": run.tenths,
    }


def _against(
    ours: Sequence[measure.Outcome], others: Sequence[measure.Outcome]
) -> dict[str, object]:
    """Return the differences in the test split, each with its interval."""
    pairs = [pair for pair in zip(ours, others, strict=True) if pair[0].split == "test"]
    found: dict[str, object] = {}
    for name in COMPARED:
        gap = measure.against([one for one, _ in pairs], [other for _, other in pairs], name)
        if gap is not None:
            found[name] = dict(zip(("mean", "low", "high"), gap, strict=True))
    return found


def _growth(tenths: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return rules over lessons half-way and at the end, and the one over the other."""
    half, end = (
        tenths[at]["rules"] / max(1, tenths[at]["lessons"]) for at in (TENTHS // 2 - 1, -1)
    )
    return {"ratio_half": half, "ratio_end": end, "growth": end / half if half else 0.0}


def _controls(
    desk: Desk, run: Run, cap: int, k: int, progress: Progress | None
) -> dict[str, Values]:
    found: dict[str, Values] = {}
    for name, make in readers.CONTROLS.items():
        control = replay(desk, make(desk.stream, cap, k), k, progress)
        test = [one for one in control.outcomes if one.split == "test"]
        row: dict[str, object] = {
            "r3": measure.summary(test).get("r3"),
            "against_bm25": _against(control.outcomes, run.plain).get("r3"),
        }
        if name == "poisoned":
            row["against_unpoisoned_by_fifth"] = _healing(control, run)
        found[name] = row
    return found


def _healing(control: Run, run: Run) -> list[float]:
    """Return how far R@3 is from that without poison, in each fifth of the test split."""
    pairs = [
        (one, other)
        for one, other in zip(control.outcomes, run.outcomes, strict=True)
        if one.split == "test"
    ]
    fifth = max(1, len(pairs) // 5)
    found = []
    for at in range(0, fifth * 5, fifth):
        part = pairs[at : at + fifth]
        gap = measure.against([one for one, _ in part], [other for _, other in part], "r3")
        found.append(0.0 if gap is None else gap[0])
    return found


def write_picks(path: str, run: Run) -> None:
    """Write what was chosen, one JSON line an episode; raises Unwritable."""
    lines = (
        files.dump_json({"id": name, "ranked": list(ranked), "served": list(served)})
        for name, (ranked, served) in run.chosen
    )
    files.replace(path, "".join(line + "\n" for line in lines))
