"""The table of rows and cases is whole, its tests exist, and the page is the table's."""

from __future__ import annotations

import pytest

from .cases import CASES
from .rows import DRAFTS, ROWS, written
from .table import FRONT_END, PAGE, ROOT, Row, Section, counterpart, exists

# How many rows the stable protocol has under each letter; the drafts among them are in DRAFTS.
COUNTS = {
    "T": 14,
    "I": 7,
    "A": 20,
    "C": 14,
    "U": 17,
    "TC": 12,
    "P": 10,
    "X": 8,
    "E": 9,
    "O": 8,
    "AU": 5,
    "S": 10,
}
DRAFTS_OF_2 = 14
CASE_IDS = {
    "F": "01 02 03 05 07 08 09 10 11 12 13 15 16 17 18 20",
    "P": "01 02 03 04 05 06 08 09 10 11 13 14 15 17",
    "R": "01 02 03 04 05 07 09 10 11 12 14 15 16 18 19 20 21 23 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39",
    "T": "01 03 04 05 07 08 09 10 11 13",
    "S": "01 04 05 06 07",
    "U": "01 02 03 05 06 07 09 10 11 12 14 15 16 18",
    "D": "01 02 03 04 05 06 07 09 10",
    "M": "01 03 04 05 06",
    "N": "01 02 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 22",
}


def all_rows(sections: tuple[Section, ...]) -> list[Row]:
    return [row for section in sections for row in section.rows]


EVERY = [*all_rows(ROWS), *all_rows(CASES)]


def test_every_row_of_the_protocol_is_in_the_table_once() -> None:
    expected = [f"{prefix}{n}" for prefix, count in COUNTS.items() for n in range(1, count + 1)]
    expected += [f"V{n}" for n in range(1, DRAFTS_OF_2 + 1)]
    assert sorted(row.id for row in (*all_rows(ROWS), *DRAFTS)) == sorted(expected)


def test_every_case_is_in_the_table_once() -> None:
    expected = [f"{prefix}{n}" for prefix, numbers in CASE_IDS.items() for n in numbers.split()]
    assert [row.id for row in all_rows(CASES)] == expected


@pytest.mark.parametrize("section", [*ROWS, *CASES], ids=lambda section: section.title)
def test_a_row_stands_in_its_section(section: Section) -> None:
    assert {row.id.rstrip("0123456789") for row in section.rows} == {section.prefix}


@pytest.mark.parametrize("row", EVERY, ids=lambda row: row.id)
def test_every_row_has_a_test(row: Row) -> None:
    assert row.tests, f"{row.id} has no test: write one, or say in DRAFTS why it is not done"
    assert row.does


@pytest.mark.parametrize("row", DRAFTS, ids=lambda row: row.id)
def test_every_draft_says_what_becomes_of_it(row: Row) -> None:
    assert row.does
    assert row.left_out


@pytest.mark.parametrize("row", [*EVERY, *DRAFTS], ids=lambda row: row.id)
def test_the_tests_of_a_row_exist(row: Row) -> None:
    gone = [test for test in row.tests if not exists(test)]
    assert not gone, f"no such test: {gone}; name the one that shows {row.id} now in tests/protocol/"
    assert len(set(row.tests)) == len(row.tests)


@pytest.mark.parametrize("row", all_rows(CASES), ids=lambda row: row.id)
def test_a_case_has_a_test_of_its_name(row: Row) -> None:
    name = f"_{row.id.lower()}_"
    found = (name in test.partition("::")[2] or f" {row.id} " in test for test in row.tests)
    assert any(found), f"no test is called test{name}..."


def test_the_page_is_what_the_table_says() -> None:
    assert PAGE.read_text("utf-8") == written(), "run: python -m tests.protocol.rows --write"


# --- the check itself


def test_a_test_that_is_not_there_is_missed() -> None:
    here = "protocol/test_rows.py::test_a_test_that_is_not_there_is_missed"
    assert exists(here)
    assert not exists(f"{here}_either")
    assert not exists("protocol/test_no_such_file.py::test_x")
    assert not exists("protocol/test_rows.py::all_rows"), "no test"
    front = f"{FRONT_END}text.test.ts: "
    assert exists(f"{front}durations and clocks")
    assert not exists(f"{front}durations")
    assert (ROOT / "pyproject.toml").exists()


@pytest.mark.parametrize(
    ("test", "who"),
    [
        ("protocol/test_counterpart.py::test_u1_to_u11_every_update_that_the_sdk_knows", "Python SDK"),
        ("protocol/test_counterpart.py::test_u12_u13_u14_and_tc3_updates_that_the_sdk_lacks", "fake agent"),
        ("session/test_cases.py::test_r04_a_call_before_any_word", "fake agent"),
        ("session/test_cases.py::test_f07_lines_that_end_with_cr_lf", "a script"),
        ("wire/test_process.py::test_t1_lines_go_both_ways_and_end", "a script"),
        ("wire/test_v1.py::test_i1_and_i2_initialize", "the test"),
        ("model/test_updates.py::test_u6_plan", "none"),
        ("labextension/test/text.test.ts: durations and clocks", "none"),
    ],
)
def test_the_counterpart_is_seen_in_the_test(test: str, who: str) -> None:
    assert exists(test)
    assert counterpart(test) == who
