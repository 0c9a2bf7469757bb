"""`rose config`: the settings, one of them, or a change of one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from rose import config
from rose.backends import options
from rose.cli import terminal
from rose.cli.app import app
from rose.errors import UsageError
from rose.selection import aides
from rose.store import setup

if TYPE_CHECKING:
    from collections.abc import Collection

    from rose.layout import Store

# Up to each call; a stored one would change what a replay gives.
PER_CALL = ("k", "chars", "windows")
COLUMN = 26
# What has an effect only where somebody can be asked.
ASKS = ("recall.selector", "recall.judge", "recall.timeout_s")


@app.command("config")
def show_or_set(
    *,
    key: Annotated[str, typer.Argument(metavar="[KEY]", help="The setting.")] = "",
    value: Annotated[
        str | None, typer.Argument(metavar="[VALUE]", help="Its new value.", show_default=False)
    ] = None,
    unset: Annotated[
        str, typer.Option("--unset", metavar="KEY", help="Take a value back to its default.")
    ] = "",
    home: Annotated[bool, typer.Option("--home", help="Of the store in your home folder.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """List the settings, print one, or change one.

    Example: rose config routing.max_tokens 600
    """
    for name in (key, unset):
        _refuse_per_call(name)
    if unset and key:
        raise UsageError("`--unset KEY` stands alone.")
    store = terminal.writable(home=home)
    if unset:
        _change(store, unset, None, as_json=as_json)
    elif value is not None:
        _change(store, key, value, as_json=as_json)
    elif key:
        _print_one(store, key, as_json=as_json)
    else:
        _print_all(store, as_json=as_json)


def _refuse_per_call(name: str) -> None:
    if name.rpartition(".")[2] in PER_CALL:
        raise UsageError(f"`{name}` is no setting: how much a call returns is up to each call.")


def _change(store: Store, name: str, value: str | None, *, as_json: bool) -> None:
    if value is None:
        config.unset(store, name)
    else:
        config.set_value(store, name, value)
    settings, findings = config.read(store)
    if settings.ledger_share == "commit":
        terminal.report(setup.init(store, settings).findings)
    terminal.report(findings)
    stores = terminal.stores()
    terminal.refresh(stores)
    if name in ASKS:
        for lack in aides.lacks(options.options_of(stores, os.environ), os.environ):
            terminal.say(f"No effect yet: {lack}")
    if as_json:
        terminal.emit(_entry(config.KEYS[name], settings, config.overrides(store)))
    else:
        terminal.out(f"{name} = {config.get(settings, name)}")


def _print_one(store: Store, name: str, *, as_json: bool) -> None:
    settings, findings = config.read(store)
    value = config.get(settings, name)
    terminal.report(findings)
    if as_json:
        terminal.emit(_entry(config.KEYS[name], settings, config.overrides(store)))
    else:
        terminal.out(value)


def _print_all(store: Store, *, as_json: bool) -> None:
    settings, findings = config.read(store)
    given = config.overrides(store)
    terminal.report(findings)
    if as_json:
        terminal.emit(
            {
                "file": store.config,
                "settings": [_entry(key, settings, given) for key in config.KEYS.values()],
                "findings": [finding.as_json() for finding in findings],
            }
        )
        return
    for key in config.KEYS.values():
        value = config.get(settings, key.name)
        mark = "" if key.name in given else " (default)"
        terminal.out(f"{key.name:<{COLUMN}}{value}{mark}")
        terminal.out(f"    {key.help}: {key.expected}")


def _entry(key: config.Key, settings: config.Settings, given: Collection[str]) -> dict[str, object]:
    return {
        "key": key.name,
        "value": config.get(settings, key.name),
        "default": config.get(config.Settings(), key.name),
        "set": key.name in given,
        "expected": key.expected,
        "help": key.help,
    }
