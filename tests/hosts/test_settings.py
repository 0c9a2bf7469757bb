from __future__ import annotations

import json

import pytest

from rose.findings import Refused
from rose.hosts import handlers, jsontext
from rose.hosts import settings as editing

COMMAND = "/opt/py/bin/python -IS /opt/site/rose/launch.py {} --host claude-code"


def a_handler(event: str, **changes: object) -> dict[str, object]:
    return {
        "type": "command",
        "command": COMMAND.format(event),
        "timeout": 10,
        "_rose": True,
        **changes,
    }


WANTED = editing.Wanted({event: a_handler(event) for event in ("UserPromptSubmit", "SessionEnd")})

# What people have: each in the form in which some program or hand wrote it.
SAMPLES = {
    "written by the host": """{
  "permissions": {
    "allow": [
      "Bash(npm test:*)",
      "WebFetch(domain:example.org)"
    ],
    "deny": []
  },
  "env": {"TOKEN": "not-for-copies"},
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {
            "type": "command",
            "command": "jq -r '.tool_input.command' >> ~/.claude/log"
          }
        ]
      }
    ],
    "UserPromptSubmit": [
      {
        "hooks": [
          {"type": "command", "command": "other-memory inject", "timeout": 5},
          {"type": "command", "command": "echo \\"{ [ // /* \\""}
        ]
      }
    ]
  },
  "model": "opus"
}
""",
    "tabs and CRLF": '{\r\n\t"hooks": {\r\n\t\t"SessionEnd": []\r\n\t},\r\n\t"x": 1\r\n}\r\n',
    "comments everywhere": """// my settings
{
    // what I like
    "model": "opus", /* for now */
    "hooks": {
        // nothing yet  \t
    }, // end of hooks

    /* old:
    "hooks": {"Stop": []}
    */
}
// bye""",
    "trailing commas": '{\n  "hooks": {\n    "SessionEnd": [\n      {"a": [],},\n    ],\n  },\n}\n',
    "double keys": '{"hooks": {"Stop": []}, "a": 1, "hooks": {"SessionEnd": [], "SessionEnd": []}}',
    "byte order mark": '\ufeff{\n  "a": "ü"\n}',
    "one line": '{"a":1,"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"x"}]}]}}',
    "one line and a comma": '{"a": 1, }\n',
    "odd indentation": '{ "a": 1\n      , "hooks": {\n "SessionEnd": [ {\n } ] } }\n\n\n',
    "comma first": '{\n  "a": 1\n, "b": 2\n, "hooks": {}\n}\n',
    "empty object": "{}",
    "empty object with a line feed": "{\n}\n",
    "empty object with a space": "{ }",
    "empty object with a comment": "{ /* none */ }\n",
    "empty object with a line comment": "{ // none\n}\n",
    "empty hooks": '{\n  "hooks": {}\n}\n',
    "empty file": "",
    "blank file": "\n  \n",
}


@pytest.mark.parametrize("text", SAMPLES.values(), ids=SAMPLES)
def test_three_installs_leave_one_entry_an_event_and_an_uninstall_leaves_none(text):
    done = editing.install(text, WANTED, None, "f")
    for _ in range(2):
        again = editing.install(done.text, WANTED, done.marks, "f")
        assert again == editing.Edited(done.text, (), done.marks)
    found = handlers.find(done.text)
    assert {each.event: each.handler for each in found} == WANTED.handlers
    assert len(found) == len(WANTED.handlers)
    assert editing.uninstall(done.text, WANTED, done.marks, "f").text == text


@pytest.mark.parametrize("text", SAMPLES.values(), ids=SAMPLES)
def test_every_byte_that_was_there_is_still_there_in_its_order(text):
    left = iter(editing.install(text, WANTED, None, "f").text)
    assert all(char in left for char in text)


@pytest.mark.parametrize("text", SAMPLES.values(), ids=SAMPLES)
def test_without_marks_an_uninstall_still_leaves_what_the_others_meant(text):
    done = editing.install(text, WANTED, None, "f")
    after = editing.uninstall(done.text, WANTED, None, "f").text
    assert handlers.find(after) == []
    assert _meaning(after) == _meaning(text)


def _meaning(text: str) -> object:
    value = jsontext.parse(text if text.strip() else "{}").value
    assert isinstance(value, dict)
    hooks = value.pop("hooks", {})
    return value, {event: groups for event, groups in hooks.items() if groups}


def test_an_insertion_follows_the_indentation_and_the_line_ends_around_it():
    done = editing.install(SAMPLES["tabs and CRLF"], WANTED, None, "f").text
    assert done.count("\n") == done.count("\r\n")
    assert '\r\n\t\t"SessionEnd": [\r\n\t\t\t{\r\n\t\t\t\t"hooks": [\r\n' in done


def test_an_entry_of_another_version_is_replaced_in_its_place():
    done = editing.install(SAMPLES["written by the host"], WANTED, None, "f")
    moved = editing.Wanted(
        {event: a_handler(event, timeout=3, command=f"/new/rose/launch.py {event}")
         for event in WANTED.handlers}
    )  # fmt: skip
    again = editing.install(done.text, moved, done.marks, "f")
    places = [(found.event, found.place) for found in handlers.find(done.text)]
    assert [(found.event, found.place) for found in handlers.find(again.text)] == places
    assert {found.event: found.handler for found in handlers.find(again.text)} == moved.handlers
    assert (
        editing.uninstall(again.text, moved, again.marks, "f").text
        == (SAMPLES["written by the host"])
    )


def test_of_several_of_our_entries_the_right_one_stays_as_it_is():
    right = json.dumps(a_handler("SessionEnd"))
    text = (
        '{"hooks": {"SessionEnd": [{"hooks": [{"command": "rose hook SessionEnd"}]}, '
        f'{{"hooks": [{{"command": "mine"}}, {right}]}}], '
        '"Notification": [{"hooks": [{"command": "x; rose hook Notification", "k": [1]}]}]}}'
    )
    done = editing.install(text, editing.Wanted({"SessionEnd": a_handler("SessionEnd")}), None, "f")
    assert (
        done.text
        == f'{{"hooks": {{"SessionEnd": [{{"hooks": [{{"command": "mine"}}, {right}]}}]}}}}'
    )


def test_an_entry_in_a_shadowed_key_is_moved_to_the_one_that_counts():
    ours = json.dumps(a_handler("SessionEnd"))
    text = f'{{"hooks": {{"SessionEnd": [{{"hooks": [{ours}]}}]}}, "hooks": {{}}}}'
    done = editing.install(text, editing.Wanted({"SessionEnd": a_handler("SessionEnd")}), None, "f")
    value = jsontext.parse(done.text).value
    assert value == {"hooks": {"SessionEnd": [{"hooks": [a_handler("SessionEnd")]}]}}
    assert done.text.count("rose/launch.py") == 1


@pytest.mark.parametrize(
    ("command", "is_ours"),
    [
        ("/p -IS '/a b/rose/launch.py' Stop --host codex", True),
        ("/p -IS /rose/launch.py Stop", True),
        ("command -v rose >/dev/null 2>&1 && rose hook Stop || true", True),
        ("rose hook Stop", True),
        ("/home/dev/.local/bin/rose hook Stop", True),
        ("/p /primrose/launch.py", False),
        ("primrose hook", False),
        ("echo rose hooks", False),
        ("rose status", False),
    ],
)
def test_our_entries_are_known_by_what_they_run(command, is_ours):
    assert handlers.is_ours({"command": command}) is is_ours


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("{", 1, "double quotes"),
        ('{\n "a": 1\n "b": 2}', 3, "a comma or }"),
        ("{'a': 1}", 1, "double quotes"),
        ('{"a": 1}\n\nx', 3, "after the end"),
        ('{"a": tru}', 1, "a value"),
        ('{"a": 01}', 1, "a value"),
        ('{"a" 1}', 1, "a colon"),
        ('{"a": "\\q"}', 1, "a broken escape"),
        ('{"a": "x\n"}', 1, "double quotes"),
        ("{ /* never closed", 1, "double quotes"),
        ("<<<<<<< ours\n{}", 1, "a value"),
        ("[" * 10_000, 1, "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", 1, "too long"),
        ("[]", 1, "The whole is not an object"),
        ('{"hooks": []}', 1, "`hooks` is not an object"),
        ('{"hooks": null}', 1, "`hooks` is not an object"),
        ('{\n"hooks": {\n"SessionEnd": {}}}', 3, "`hooks.SessionEnd` is not a list"),
    ],
)
def test_what_cannot_be_edited_is_refused_with_its_line_and_what_to_paste(text, line, says):
    with pytest.raises(Refused) as refused:
        editing.install(text, WANTED, None, "/f.json")
    finding = refused.value.findings[0]
    assert finding.where == f"/f.json:{line}"
    assert says in finding.message
    pasted = json.loads(finding.repair.partition("\n")[2])
    assert pasted["hooks"]["SessionEnd"] == [{"hooks": [a_handler("SessionEnd")]}]


def test_an_uninstall_passes_over_shapes_it_does_not_know():
    text = '{"hooks": {"enabled": true, "Stop": {"hooks": 1}, "X": [1, {"hooks": {}}, [[]]]}}'
    assert editing.uninstall(text, WANTED, None, "f").text == text


def test_what_a_person_adds_between_install_and_uninstall_stays():
    done = editing.install("", WANTED, None, "f")
    value = jsontext.parse(done.text)
    edited, _ = jsontext.append(done.text, value, {"A": "b"}, "env")
    after = editing.uninstall(edited, WANTED, done.marks, "f").text
    assert json.loads(after) == {"env": {"A": "b"}}


def test_keys_at_the_root_go_with_ours_and_stay_for_what_a_person_added():
    flat = editing.Wanted(
        {"stop": {"command": "/rose/launch.py"}}, grouped=False, keys={"version": 1}
    )
    done = editing.install("{}\n", flat, None, "f")
    assert list(json.loads(done.text)) == ["version", "hooks"]
    assert editing.uninstall(done.text, flat, done.marks, "f").text == "{}\n"
    mine = done.text.replace('"hooks": {', '"hooks": {\n    "afterEdit": [{"command": "x"}],')
    after = editing.uninstall(mine, flat, done.marks, "f").text
    assert json.loads(after) == {"version": 1, "hooks": {"afterEdit": [{"command": "x"}]}}
