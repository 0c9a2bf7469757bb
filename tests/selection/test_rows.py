from __future__ import annotations

import json

import pytest

from rose.findings import Refused
from rose.selection import rows
from rose.selection.judge import Passage

HUGE = "-" + "9" * 6_000


def said(data: bytes, text_field: str = "text", context: tuple[str, ...] = ()) -> str:
    with pytest.raises(Refused) as caught:
        rows.passages(rows.read(data), text_field, context)
    return str(caught.value)


def test_a_value_goes_through_as_it_is_written():
    raw = f'{{"n": {HUGE}, "f": 1.10e+0400, "o": {{"b":[1, 2 ],"a":"\\u00e9"}}, "text": "t"}}'
    (row,) = rows.read(f" [ {raw} ] \n".encode())
    out = row.written("score", 0.5)
    assert out == raw[:-1] + ', "score": 0.5}'


def test_a_field_of_the_same_name_is_replaced_in_its_place():
    (row,) = rows.read(b'[{"a": 1, "score": {"x": 2}, "b": 3}]')
    assert row.written("score", 1) == '{"a": 1, "score": 1, "b": 3}'


def test_of_a_field_that_stands_twice_the_last_counts():
    (row,) = rows.read(b'[{"text": "one", "text": "two"}]')
    assert rows.passages([row], "text", ()) == [Passage("two")]


def test_any_text_can_be_written():
    (row,) = rows.read('[{"é": "ü"}]'.encode())
    objects = [row.written("x", "a\u2028\n\ud800"), row.written("x", "語")]
    written = rows.write(objects)
    assert written.endswith(b"]\n")
    assert "語" in written.decode()
    assert json.loads(written) == [{"é": "ü", "x": "a\u2028\n\ud800"}, {"é": "ü", "x": "語"}]


def test_an_empty_array_stays_one():
    assert rows.read(b" [ ] ") == []
    assert rows.write([]) == b"[]\n"


def test_a_byte_order_mark_is_passed_over():
    assert len(rows.read(b"\xef\xbb\xbf[{}]")) == 1


def test_context_is_told_with_its_name_and_null_or_nothing_is_not():
    found = rows.read(b'[{"text": "t", "a": "A", "b": null}, {"text": "u", "b": "B\\nC"}]')
    assert rows.passages(found, "text", ("a", "b")) == [
        Passage("t", ("a: A",)),
        Passage("u", ("b: B\nC",)),
    ]


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"[", b"[{}", b"[{},]", b"[{}] x", b"[{} {}]", b"[,]", b"x", b'[{"a"}]'),
        *(b"[{1: 2}]", b'[{"a": }]', b'[{"a": 01}]', b'[{"a": NaN}]', b'[{"a": -Infinity}]'),
        *(b'[{"a": "b\n"}]', b"[{'a': 1}]", b'[{"a": 1,}]', b"[1.]", b'[{"a" 1}]', b"[tru]"),
    ],
)
def test_what_is_no_json_is_refused_by_its_place(data):
    assert "rows-json: it is no JSON from line" in said(data)


@pytest.mark.parametrize("data", [b"{}", b"3", b'"x"', b"null", b'{"text": "x"}'])
def test_what_is_no_array_is_refused(data):
    assert "rows-array" in said(data)


def test_bytes_that_are_no_text_and_depth_without_end_are_refused():
    assert "rows-encoding: byte 1 is no UTF-8" in said(b"[\xff]")
    assert "nested too deeply" in said(b'[{"a": ' + b"[" * 500_000 + b"]" * 500_000 + b"}]")


def test_each_element_that_is_no_object_is_named():
    told = said(b'[{"text": "t"}, "secret", {"text": "t"}, [1]]')
    assert "item 2 of 4 (index 1): rows-object" in told
    assert "item 4 of 4 (index 3): rows-object" in told
    assert "secret" not in told


def test_each_field_that_cannot_be_judged_is_named_without_its_content():
    data = b'[{"body": ["secret"]}, {"title": "t"}, {"body": "b", "title": {"a": "secret"}}]'
    told = said(data, "body", ("title",))
    assert "item 1 of 3 (index 0): rows-text: the text field `body` is no string" in told
    assert "item 2 of 3 (index 1): rows-text: the text field `body` is missing" in told
    assert "item 3 of 3 (index 2): rows-context: the context field `title` is neither" in told
    assert "secret" not in told


@pytest.mark.parametrize("value", ["null", "3", "true", "1e5", "{}", '["x"]'])
def test_a_text_is_a_string_and_nothing_else(value):
    assert "the text field `text` is no string" in said(f'[{{"text": {value}}}]'.encode())


def test_of_many_faults_the_first_are_named_and_the_rest_counted():
    told = said(b"[" + b",".join([b"{}"] * 25) + b"]").splitlines()
    assert len(told) == 21
    assert told[-1].startswith("standard input: rows-more: 5 more")
