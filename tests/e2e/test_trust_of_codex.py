"""Codex runs a hook only where its hash is trusted, and says nothing about the others."""

from __future__ import annotations

import pytest

from tests.e2e.codex_server import hooks, tables
from tests.e2e.world import count


@pytest.fixture(scope="module")
def codex(make_world):
    return make_world("codex")


def test_a_hook_that_nobody_trusts_is_passed_over(codex):
    bodies = codex.codex("Run the integration tests").bodies
    assert (len(bodies), count(bodies, codex.block())) == (1, 0)


def test_a_trusted_hook_injects_the_layer_once(codex):
    bodies = codex.codex("Run the integration tests", trusted=tables(hooks(codex))).bodies
    assert [count(body, codex.block()) for body in bodies] == [1]


def test_a_second_install_keeps_the_hashes_that_are_trusted(codex):
    before = {hook["key"]: hook["currentHash"] for hook in hooks(codex)}
    codex.rose("install", "--host", "codex")
    assert {hook["key"]: hook["currentHash"] for hook in hooks(codex)} == before
    assert len(before) == 6


def test_doctor_tells_trusted_hooks_from_untrusted_ones(codex):
    listed = hooks(codex)
    before = codex.rose("doctor", "--json")
    codex.configure_codex("http://127.0.0.1:1", tables(listed))
    after = codex.rose("doctor", "--json")
    assert ("not trusted yet" in before, "not trusted yet" in after) == (True, False)
