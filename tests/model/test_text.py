from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from acp_jupyter.model.text import Text, json_text

CHUNKS = st.lists(st.text(max_size=8), max_size=12)


@given(CHUNKS, st.integers(0, 40))
def test_text_is_the_concatenation_of_its_chunks_and_since_its_tail(chunks: list[str], offset: int) -> None:
    text, whole = Text(), ""
    for index, chunk in enumerate(chunks):
        text.append(chunk)
        whole += chunk
        if index % 3 == 0:
            assert str(text) == whole  # reading in between changes nothing
    assert (str(text), len(text)) == (whole, len(whole))
    assert text.since(offset) == whole[offset:]
    assert text == Text(whole)


def test_a_chunk_appended_while_another_thread_reads_is_kept() -> None:
    text = Text("a")
    text.append("b")
    parts_in_the_owners_hand = text._parts
    assert str(text) == "ab"  # the reader, in the middle of the owner's append
    parts_in_the_owners_hand.append("c")
    assert str(text) == "abc"


def test_json_text_is_compact_and_exact() -> None:
    assert json_text({"n": 12345678901234567890123, "t": "é"}) == '{"n":12345678901234567890123,"t":"é"}'
    assert json_text([float("nan"), float("inf")]) == "[NaN,Infinity]"
