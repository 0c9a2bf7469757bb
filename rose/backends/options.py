"""Which settings decide whom rose asks: environment, project, home, each only as far as trusted.

A config file that came with a cloned repository must not make rose run a program, send a session
elsewhere, or spend more (docs/decisions/015).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rose import config, trust
from rose.config import KEYS, Settings
from rose.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rose.layout import Store, Stores

ENVIRONMENT = {
    "ROSE_BACKEND": "reflection.backend",
    "ROSE_REFLECT_COMMAND": "reflection.command",
    "ROSE_OPENAI_BASE_URL": "openai.base_url",
    "ROSE_OPENAI_MODEL": "openai.model",
}
# An untrusted store may still choose among the programs that this person has set up.
CHOICE = "reflection.backend"
SELECTOR, AGENT = "recall.selector", "agent"
GUARDED = (
    SELECTOR,
    "recall.judge",
    "recall.timeout_s",
    "reflection.timeout_s",
    "reflection.command",
    *(name for name in KEYS if name.startswith(("openai.", "spend."))),
)
NOT_TRUSTED = "may be set only by a store that you trust, and this one is not trusted."
REPAIR = "Look at its config, then run `rose trust`."


@dataclass(frozen=True, slots=True)
class Options:
    """The settings that hold here; `withheld` are those of a store that is not trusted.

    `is_trusted` says that there is no such store.
    """

    settings: Settings
    withheld: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    is_trusted: bool = True

    def why_withheld(self, section: str) -> str:
        """Return why settings that a name begins do not count, empty where none was set."""
        names = [f"`{name}`" for name in self.withheld if name.startswith(section)]
        return f"{', '.join(names)} {NOT_TRUSTED} {REPAIR}" if names else ""


def options_of(stores: Stores, environ: Mapping[str, str]) -> Options:
    """Return the settings that hold in a place. Raises NoStore.

    Of two stores the project's wins where this person trusts it, else the home store's; the
    environment wins over both.
    """
    settings, faults = config.read(stores.first())
    chosen = {
        KEYS[name].field: getattr(Settings(), KEYS[name].field) for name in (CHOICE, *GUARDED)
    }
    own, home = stores.project, stores.home
    is_trusted = own is not None and _is_trusted(own, environ)
    withheld: dict[str, Any] = {}
    if own is not None and not is_trusted:
        said = _said(own)
        withheld = {name: said[name] for name in said if name != CHOICE}
        chosen |= _fields({name: said[name] for name in said if name == CHOICE})
    if home is not None:
        chosen |= _fields(_said(home))
    if own is not None and is_trusted:
        chosen |= _fields(_said(own))
    if agent_selects(stores.present(), lambda store: store is not own or is_trusted):
        chosen[KEYS[SELECTOR].field] = AGENT
        if withheld.get(SELECTOR) == AGENT:
            del withheld[SELECTOR]
    if any(fault.rule != "config-unknown" for fault in faults):
        # Who set a value that cannot be read may have meant that nobody is asked.
        chosen[KEYS[CHOICE].field] = "offline"
    named, findings = _from_environment(environ)
    chosen |= _fields(named)
    if own is not None and withheld:
        names = ", ".join(f"`{name}`" for name in withheld)
        message = f"{names} {NOT_TRUSTED}"
        findings.append(Finding("config-untrusted", own.config, message, REPAIR, "warning"))
    return Options(
        dataclasses.replace(settings, **chosen),
        tuple(withheld),
        tuple(findings),
        is_trusted=own is None or is_trusted,
    )


def agent_selects(stores: Sequence[Store], trusts: Callable[[Store], bool]) -> bool:
    """Tell whether the working agent selects by itself, so that no prompt is served.

    Any store may say so, the nearest first, trusted or not: it only gives less. One that a person
    trusts, and that names another selector, has the last word over those behind it.
    """
    for store in stores:
        named = config.overrides(store).get(SELECTOR)
        if named == AGENT:
            return True
        if named and trusts(store):
            return False
    return False


def _is_trusted(store: Store, environ: Mapping[str, str]) -> bool:
    # Without a HOME nobody can say what was trusted: for a program to run, that is no yes.
    return store.kind == "home" or (
        trust.state_folder(environ) is not None and trust.is_trusted(store, environ)
    )


def _said(store: Store) -> dict[str, Any]:
    """Return what a store's config says on asking."""
    said = config.overrides(store)
    return {name: said[name] for name in (CHOICE, *GUARDED) if name in said}


def _from_environment(environ: Mapping[str, str]) -> tuple[dict[str, Any], list[Finding]]:
    found: dict[str, Any] = {}
    findings = []
    for variable, name in ENVIRONMENT.items():
        text = environ.get(variable, "")
        if not text:
            continue
        try:
            found[name] = KEYS[name].read(text)
        except (ValueError, TypeError):
            message = f"{text!r} is not read; expected {KEYS[name].expected}."
            findings.append(Finding("config-value", f"${variable}", message, "Mend or unset it."))
    return found, findings


def _fields(said: Mapping[str, Any]) -> dict[str, Any]:
    return {KEYS[name].field: value for name, value in said.items()}
