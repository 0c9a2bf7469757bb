from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rose import frontmatter, yamltext

KEYS = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
VALUES = st.one_of(
    TEXTS,
    st.lists(TEXTS, max_size=4),
    st.lists(st.dictionaries(KEYS, TEXTS, min_size=1, max_size=3), min_size=1, max_size=3),
    st.dictionaries(KEYS, TEXTS, min_size=1, max_size=3),
)
FIELDS = st.dictionaries(KEYS, VALUES, max_size=5)
BODIES = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@given(fields=FIELDS)
def test_what_is_written_reads_back_equal(fields):
    assert frontmatter.load(yamltext.dump(fields), "x") == (fields, [])


@given(fields=FIELDS, body=BODIES, changes=st.dictionaries(KEYS, VALUES, max_size=2))
def test_an_edit_keeps_the_body_and_the_other_keys(fields, body, changes):
    text = "---\n" + yamltext.dump(fields) + "---\n" + body
    read, kept, _ = frontmatter.read(frontmatter.edit(text, changes), "x")
    if "<<<<<<< " not in text:
        assert read == {**fields, **changes}
        assert kept == body


@given(text=st.text(max_size=200))
def test_taking_apart_loses_no_byte(text):
    parts = frontmatter.split(text)
    assert parts.bom + parts.opening + (parts.header or "") + parts.closing + parts.body == text


@given(text=st.text(alphabet=st.sampled_from("---\n\r:ab [{*&#'\"\t|>"), max_size=60))
def test_no_text_makes_the_reader_fail(text):
    frontmatter.read("---\n" + text + "\n---\nbody", "x")
