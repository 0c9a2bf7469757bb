"""The settings: `.rose/config.yaml` over the defaults, as one typed value.

The file holds overrides only. An unknown key or a bad value is a finding and the default holds,
so that one slip never switches rose off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rose import files, frontmatter
from rose.errors import RoseError, UsageError
from rose.findings import Finding, Refused
from rose.values import (
    MAX_SECONDS,
    MAX_TOKENS_LIMIT,
    MOST,
    MOST_CALLS,
    choice,
    flag,
    folders,
    line,
    number,
    tokens,
    url,
    variable,
)

if TYPE_CHECKING:
    from rose.layout import Store

BACKENDS = ("auto", "offline", "claude", "codex", "openai", "command")
SELECTORS = ("embedded", "fork", "agent")
JUDGES = ("off", "local", "claude", "codex", "openai", "command")
# The host ends the hook that rose installs after 10 s, and the rest of it needs some of them.
MAX_HOOK_S = 8
HOOK_S_HELP = "how long a prompt may wait for recall, a fork or a judge"
SPENDS = (
    ("calls_per_day", MOST_CALLS, "calls in 24 hours"),
    ("tokens_per_day", MOST, "tokens in 24 hours"),
    ("seconds_per_day", MOST, "seconds in 24 hours"),
    ("calls_per_session", MOST_CALLS, "calls about one session"),
    ("tokens_per_session", MOST, "tokens about one session"),
    ("seconds_per_session", MOST, "seconds about one session"),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting with its value; the field names are the keys with `_` for the dot."""

    routing_enabled: bool = True
    routing_max_tokens: int = 800
    routing_repeat: str = "when-absent"
    routing_review: str = "auto"
    recall_serve: Literal["off", "pointers", "bodies"] = "off"
    recall_max_tokens: int = 400
    recall_selector: str = "embedded"
    recall_judge: str = "off"
    recall_timeout_s: int = 2
    lessons_paths: tuple[str, ...] = ("nodes",)
    ledger_share: str = "local"
    privacy_task_text: str = "local"
    reflection_on_stop: bool = False
    git_commit: str = "off"
    learning_lessons: str = "off"
    reflection_backend: str = "auto"
    reflection_timeout_s: int = 300
    reflection_command: str = ""
    openai_base_url: str = ""
    openai_model: str = ""
    openai_key_env: str = "OPENAI_API_KEY"
    spend_calls_per_day: int = 100
    spend_tokens_per_day: int = 5_000_000
    spend_seconds_per_day: int = 3_600
    spend_calls_per_session: int = 4
    spend_tokens_per_session: int = 400_000
    spend_seconds_per_session: int = 600


@dataclass(frozen=True, slots=True)
class Key:
    """One setting: how its text is read (ValueError where it is wrong) and what it does."""

    name: str
    read: Callable[[Any], Any]
    expected: str
    help: str

    @property
    def field(self) -> str:
        return self.name.replace(".", "_")


KEYS: dict[str, Key] = {
    key.name: key
    for key in (
        Key("routing.enabled", flag, "true or false", "inject the layer at all"),
        Key("routing.max_tokens", tokens, f"0 to {MAX_TOKENS_LIMIT}", "the layer's cap in tokens"),
        Key(
            "routing.repeat",
            choice("when-absent", "every-prompt"),
            "when-absent or every-prompt",
            "when the layer is sent again in one session",
        ),
        Key(
            "routing.review",
            choice("auto", "required"),
            "auto or required",
            "whether a person approves each rule that reflection writes",
        ),
        Key(
            "recall.serve",
            choice("off", "pointers", "bodies"),
            "off, pointers or bodies",
            "what of the lessons a prompt is given unasked",
        ),
        Key(
            "recall.max_tokens",
            tokens,
            f"0 to {MAX_TOKENS_LIMIT}",
            "the cap of what recall serves, in tokens",
        ),
        Key("recall.selector", choice(*SELECTORS), "embedded, fork or agent", "who selects"),
        Key("recall.judge", choice(*JUDGES), ", ".join(JUDGES), "who judges what is served"),
        Key("recall.timeout_s", number(MAX_HOOK_S, least=2), f"2 to {MAX_HOOK_S}", HOOK_S_HELP),
        Key(
            "lessons.paths",
            folders,
            "folders below the project, separated by commas",
            "where lessons lie",
        ),
        Key("ledger.share", choice("local", "commit"), "local or commit", "where the record lies"),
        Key(
            "privacy.task_text",
            choice("local", "shared"),
            "local or shared",
            "keep opening prompts in a shared record",
        ),
        Key("reflection.on_stop", flag, "true or false", "reflect at the end of a turn too"),
        Key(
            "git.commit",
            choice("off", "auto"),
            "off or auto",
            "commit what reflection, route and undo change",
        ),
        Key(
            "learning.lessons",
            choice("off", "on"),
            "off or on",
            "store the lessons that a model finds missing",
        ),
        Key(
            "reflection.backend",
            choice(*BACKENDS),
            ", ".join(BACKENDS[:-1]) + f" or {BACKENDS[-1]}",
            "who reflects",
        ),
        Key(
            "reflection.timeout_s",
            number(MAX_SECONDS, least=1),
            f"1 to {MAX_SECONDS}",
            "how long one answer may take",
        ),
        Key("reflection.command", line, "one command line", "the program of `command`"),
        Key("openai.base_url", url, "an http or https address", "where `openai` asks"),
        Key("openai.model", line, "the name of a model", "the model that `openai` asks"),
        Key(
            "openai.key_env", variable, "the name of a variable", "what holds the key, not the key"
        ),
        *(
            Key(f"spend.{name}", number(most), f"0 to {most}", f"the most {said}; 0 is none")
            for name, most, said in SPENDS
        ),
    )
}


def read(store: Store) -> tuple[Settings, list[Finding]]:
    """Return a store's settings and what is wrong with its config file."""
    found, findings = _read(store)
    return Settings(**{KEYS[name].field: value for name, value in found.items()}), findings


def overrides(store: Store) -> dict[str, Any]:
    """Return the settings that a store's config file sets, by key, defaults that it names too."""
    return _read(store)[0]


def _read(store: Store) -> tuple[dict[str, Any], list[Finding]]:
    try:
        text = files.read_text(store.config)
    except FileNotFoundError:
        return {}, []
    except (OSError, ValueError) as error:
        fault = Finding(
            "config-unreadable",
            store.config,
            f"Not read: {error}.",
            "Make it a UTF-8 text file; the defaults hold until then.",
        )
        return {}, [fault]
    fields, findings = frontmatter.load(text, store.config)
    values: dict[str, Any] = {}
    for name, raw in _leaves(fields):
        key = KEYS.get(name)
        if key is None:
            findings.append(_fault(store, "config-unknown", f"There is no setting `{name}`."))
            continue
        try:
            values[name] = key.read(raw)
        except (ValueError, TypeError):
            message = f"`{name}` is {raw!r}; expected {key.expected}. The default holds."
            findings.append(_fault(store, "config-value", message))
    return values, findings


def _leaves(fields: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in fields.items():
        full = prefix + name
        if isinstance(value, Mapping):
            found.extend(_leaves(value, full + "."))
        else:
            found.append((full, value))
    return found


def _fault(store: Store, rule: str, message: str) -> Finding:
    return Finding(rule, store.config, message, "`rose config` lists the settings.")


def text_of(value: object) -> str:
    """Return a setting's value as a person types it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def get(settings: Settings, name: str) -> str:
    """Return one setting as text; raises UsageError for an unknown name."""
    return text_of(getattr(settings, _known(name).field))


def _current_text(store: Store) -> str:
    """Return the config file's text; raises RoseError where it is there and cannot be read."""
    try:
        return files.read_text(store.config)
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise RoseError(
            f"{store.config}: not changed, since it cannot be read: {error}."
        ) from error


def set_value(store: Store, name: str, text: str) -> None:
    """Write one override; one that equals the default stays, since another store may differ.

    Raises UsageError for a bad name or value and Refused where the file cannot be read.
    """
    key = _known(name)
    try:
        value = key.read(text.split(",") if key.read is folders else text)
    except (ValueError, TypeError) as error:
        raise UsageError(f"`{name}` takes {key.expected}, not {text!r}.") from error
    _put(store, name, list(value) if isinstance(value, tuple) else text_of(value))


def unset(store: Store, name: str) -> None:
    """Take one override back; raises as `set_value` does."""
    _put(store, _known(name).name, None)


def _known(name: str) -> Key:
    if name not in KEYS:
        raise UsageError(f"There is no setting `{name}`. `rose config` lists them.")
    return KEYS[name]


def _put(store: Store, name: str, value: str | list[str] | None) -> None:
    section, _, leaf = name.partition(".")
    with files.lock(store.lock):
        current = _current_text(store)
        fields, findings = frontmatter.load(current, store.config)
        if findings:
            raise Refused(findings)
        nested = fields.get(section)
        kept = dict(nested) if isinstance(nested, Mapping) else {}
        kept.pop(leaf, None)
        if value is not None:
            kept[leaf] = value
        # The key may also stand with its dot at the top level, where it would go on to hold.
        newline = "\r\n" if "\r\n" in current else "\n"
        changes = {section: kept or None, name: None}
        changed = frontmatter.edit_header(current, changes, newline, store.config)
        files.replace(store.config, changed, follow=store.base)
