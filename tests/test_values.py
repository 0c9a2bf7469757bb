from __future__ import annotations

import pytest

from rose import values


def refused(read, value):
    try:
        read(value)
    except (ValueError, TypeError):
        return True
    return False


@pytest.mark.parametrize(
    "address",
    [
        "",
        "https://api.openai.com/v1",
        "http://127.0.0.1:8080/v1",
        "http://[::1]:11434/v1",
        "http://box",
    ],
)
def test_an_address_is_one_of_the_web(address):
    assert values.url(f" {address} ") == address


@pytest.mark.parametrize(
    "address",
    [
        "box",
        "file:///etc/passwd",
        "ftp://box/v1",
        "https://",
        "https://user:key@box/v1",
        "https://key@box",
        "https://box/v1?key=1",
        "https://box/v1#x",
        "https://box /v1",
        "https://box\n/v1",
        "https://" + "x" * 1000,
        ["https://box"],
    ],
)
def test_what_is_no_plain_address_or_holds_a_key_is_refused(address):
    assert refused(values.url, address)


@pytest.mark.parametrize("name", ["", "1X", "sk-ant-1", "A B", "A=1", "A" * 200, None])
def test_only_the_name_of_a_variable_is_taken(name):
    assert values.variable("MY_KEY") == "MY_KEY"
    assert refused(values.variable, name)


@pytest.mark.parametrize("text", ["a\nb", "a\x1b[2J", "x" * 1001, 3, None])
def test_a_line_is_one_printable_line(text):
    assert values.line(" reflect --fast ") == "reflect --fast"
    assert refused(values.line, text)


def test_a_number_keeps_its_bounds():
    read = values.number(10, least=1)
    assert [read("1"), read(10)] == [1, 10]
    assert all(refused(read, value) for value in ("0", "11", "-1", "1.5", "many", None))
