"""What a session saw, recorded as the commands record it: by search, evidence and recall."""

from __future__ import annotations

from rose.selection import lookups, pipeline, requests, search, trace
from rose.selection.lookups import LookUp
from rose.selection.pack import Budget
from rose.selection.requests import Request
from rose.store import lessons

AT = "2026-12-01T10:00:00Z"


def holdings(store):
    return [lessons.hold(store)]


def searched(store, query="database tests", session="s1", at=AT, scope=()):
    """Record a search of a session and return the record's id."""
    found = search.search(holdings(store), query, scope=scope)
    look = LookUp("search", query, lookups.of_search(found), {"k": 5, "chars": 500}, scope)
    return _written(store, session, at, look)


def evidence(store, node="testing/db", query="database", session="s1", at=AT):
    """Record a look at one lesson's passages and return the record's id."""
    found = search.evidence(holdings(store), node, query)
    look = LookUp("evidence", query, lookups.of_passages(found), {"chars": 600, "windows": 2})
    return _written(store, session, at, look)


def _written(store, session, at, look):
    assert lookups.write(holdings(store), session, at, look) == ""
    return trace.latest(store, 1)[0]["id"]


def recalled(store, prompt="database tests", session="s1", at=AT, tokens=400, **fields):
    """Record a recall of a session and return its record."""
    request = Request(requests.query_of(prompt), Budget(tokens), session=session, **fields)
    record, _ = pipeline.recall(request, holdings(store), at=at)
    trace.append(store, record)
    return record
