"""`rose route`: the rules and their record; teach, forget, restore, approve, decline, explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rose.cli import rulepage, terminal
from rose.cli.app import app
from rose.errors import RoseError, UsageError
from rose.evaluate import record
from rose.report import rulebook, sources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rose.layout import Stores


WhenText = Annotated[str | None, typer.Option("--when", help="Teach: the kind of task.")]
ThenText = Annotated[str | None, typer.Option("--then", help="Teach: where its knowledge lies.")]
SkipFlag = Annotated[bool, typer.Option("--skip", help="Teach: those lessons do not apply.")]
HomeFlag = Annotated[bool, typer.Option("--home", help="In the store of your home folder.")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Forget = Annotated[str | None, typer.Option(metavar="ID", help="Delete a rule for good.")]
Restore = Annotated[str | None, typer.Option(metavar="ID", help="Bring a retired rule back.")]
Approve = Annotated[
    str | None, typer.Option(metavar="ID", help="Use a proposed rule, settle a question.")
]
Decline = Annotated[str | None, typer.Option(metavar="ID", help="Do not use a rule.")]
Explain = Annotated[str | None, typer.Option(metavar="ID", help="Say all about a rule.")]


@app.command("route", short_help="List the selection rules, or teach, decide, explain one.")
def route(
    *,
    when: WhenText = None,
    then: ThenText = None,
    skip: SkipFlag = False,
    home: HomeFlag = False,
    forget: Forget = None,
    restore: Restore = None,
    approve: Approve = None,
    decline: Decline = None,
    explain: Explain = None,
    as_json: JsonFlag = False,
) -> None:
    """List the selection rules with their record, teach one, or decide about one.

    An ID may be shortened to any part that names one rule.

    Example: rose route --when "the task runs the tests" --then "read nodes/testing/ first"
    """
    named = {
        "--forget": forget,
        "--restore": restore,
        "--approve": approve,
        "--decline": decline,
        "--explain": explain,
    }
    chosen = {option: value for option, value in named.items() if value is not None}
    _check_words(when, then, skip=skip, chosen=chosen)
    stores = terminal.stores()
    if when is not None and then is not None:
        from rose.cli import decisions

        decisions.teach(stores, when, then, skip=skip, home=home, as_json=as_json)
        return
    if home:
        terminal.home_of(stores)
    if not chosen:
        found = sources.read(stores)
        if sources.is_behind(stores, found):
            from rose import refresh

            refresh.layer(stores, exact=True)
        rulepage.show(rulebook.read(found), home=home, as_json=as_json)
        return
    option, wanted = chosen.popitem()
    _on_one_rule(stores, option, wanted, home=home, as_json=as_json)


def _check_words(
    when: str | None, then: str | None, *, skip: bool, chosen: Mapping[str, str]
) -> None:
    """Raise UsageError for options that do not go together."""
    teaches = [
        name
        for name, given in (
            ("--when", when is not None),
            ("--then", then is not None),
            ("--skip", skip),
        )
        if given
    ]
    actions = [*teaches[:1], *chosen]
    if len(actions) > 1:
        raise UsageError(f"{actions[0]} and {actions[1]} do not go together; give one of them.")
    if teaches and (when is None or then is None):
        missing = "--when" if when is None else "--then"
        raise UsageError(f"{teaches[0]} also needs {missing}: a rule has a when and a then.")


def _on_one_rule(stores: Stores, option: str, wanted: str, *, home: bool, as_json: bool) -> None:
    found = sources.read(stores)
    source, rule_id = rulebook.resolve(found, wanted, home=home)
    if option == "--explain":
        place = rulebook.place_of(found, rule_id)
        if place is None:
            terminal.report(f for f in found.survey.findings() if rule_id in f.where)
            raise RoseError(f"{rule_id} cannot be read, so there is nothing to explain.")
        effect = record.rule_effects(stores, (place.rule.id,)).get(place.rule.id)
        rulepage.explain(found, place, effect, as_json=as_json)
    else:
        from rose.cli import decisions

        decisions.decide_on(stores, source, option.removeprefix("--"), rule_id, as_json=as_json)
