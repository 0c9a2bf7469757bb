"""Another program's settings, in any form that it reads: what goes in comes out again."""

from __future__ import annotations

import contextlib
import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from rose.hosts import handlers, jsontext
from rose.hosts import settings as editing

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop")
OURS = editing.Wanted(
    {
        event: {
            "type": "command",
            "command": f"'/a b/python' -IS '/x y/rose/launch.py' {event} --host claude-code",
            "timeout": 10,
            "_rose": True,
        }
        for event in EVENTS
    }
)
FLAT = editing.Wanted(
    {"stop": {"command": "/rose/launch.py stop", "timeout": 10}}, grouped=False, keys={"version": 1}
)


@st.composite
def spaces(draw):
    """Return white space and comments as they may stand between any two marks."""
    newline = draw(st.shared(st.sampled_from(["\n", "\r\n"]), key="newline"))
    parts = draw(
        st.lists(
            st.sampled_from(
                ["", " ", "\t", newline, newline + "  ", '/* { " */', "/**/", "// }] , " + newline]
            ),
            max_size=3,
        )
    )
    return "".join(parts)


scalars = st.sampled_from(
    ['"a"', '"// no comment"', '"\\u00e9\\"}"', "1", "-2.5e+3", "true", "null", '"ü"', '"]"']
)
FOREIGN = '{"type": "command", "command": "echo \\"rose\\" // x"}'


@st.composite
def sequences(draw, brackets, items):
    """Return an object or an array of texts, with or without a trailing comma."""
    parts = draw(st.lists(items, max_size=3))
    text = draw(spaces())
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        comma = draw(st.sampled_from(["", ","])) if is_last else ","
        text += part + draw(spaces()) + comma + draw(spaces())
    return brackets[0] + text + brackets[1]


@st.composite
def members(draw, keys, values):
    return f'"{draw(keys)}"{draw(spaces())}:{draw(spaces())}{draw(values)}'


values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        sequences("[]", inner), sequences("{}", members(st.sampled_from("abc"), inner))
    ),
    max_leaves=6,
)
handler_lists = sequences("[]", st.just(FOREIGN))
groups = sequences(
    "{}",
    st.one_of(
        members(st.just("hooks"), handler_lists), members(st.just("matcher"), st.just('"*"'))
    ),
)
hooks = sequences(
    "{}", members(st.sampled_from([*EVENTS, "stop", "Other"]), sequences("[]", groups))
)
roots = sequences(
    "{}",
    st.one_of(
        members(st.just("hooks"), hooks),
        members(st.sampled_from(["env", "permissions", "model"]), values),
    ),
)


@st.composite
def texts(draw):
    bom = draw(st.sampled_from(["", "\ufeff"]))
    return bom + draw(spaces()) + draw(roots) + draw(spaces())


@settings(max_examples=120)
@given(texts(), st.sampled_from([OURS, FLAT]))
@example("", OURS)
@example("", FLAT)
@example("\ufeff", OURS)
@example("\n\n", OURS)
@example("{}", FLAT)
@example("{}\r\n", OURS)
@example('{"hooks": {}}', OURS)
@example('{\n\t"hooks": {\n\t}\n}', OURS)
@example('{"a": 1, // x  \n}', OURS)
def test_install_then_uninstall_is_the_identity(text, wanted):
    done = editing.install(text, wanted, None, "f")
    held = {found.event: found.handler for found in handlers.find(done.text)}
    assert held == wanted.handlers
    again = editing.install(done.text, wanted, done.marks, "f")
    assert (again.text, again.touched, again.marks) == (done.text, (), done.marks)
    assert editing.uninstall(done.text, wanted, done.marks, "f").text == text


@settings(max_examples=60)
@given(texts())
def test_an_install_changes_no_value_that_is_not_ours(text):
    before = jsontext.parse(text).value
    after = jsontext.parse(editing.install(text, OURS, None, "f").text).value
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    ours = after.pop("hooks")
    theirs = before.pop("hooks", {})
    assert after == before
    assert {**{event: [] for event in EVENTS}, **theirs} == {
        event: [g for g in held if g not in [{"hooks": [h]} for h in OURS.handlers.values()]]
        for event, held in ours.items()
    }


@settings(max_examples=60)
@given(texts())
def test_what_the_host_writes_anew_in_between_keeps_its_meaning(text):
    """Claude Code rewrites its settings when a permission is granted."""
    before = jsontext.parse(text).value
    done = editing.install(text, OURS, None, "f")
    rewritten = json.dumps(jsontext.parse(done.text).value, indent=2)
    after = editing.uninstall(rewritten, OURS, done.marks, "f").text
    assert json.loads(after) == before


@settings(max_examples=60)
@given(texts(), st.integers(0, 400), st.sampled_from(["", '"', "}", ",", "x"]))
def test_a_text_that_is_torn_anywhere_is_read_or_refused(text, at, torn):
    broken = text[: at % (len(text) + 1)] + torn
    with contextlib.suppress(jsontext.Unreadable):
        assert jsontext.parse(broken).end <= len(broken)
