"""What is wrong with a value that a person has typed, in our words instead of pydantic's.

The kinds of its faults: https://docs.pydantic.dev/latest/errors/validation_errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_WORDS = {
    "missing": "it is missing",
    "extra_forbidden": "there is no such field",
    "string_type": "it is not a text",
    "string_too_short": "it is empty",
    "string_pattern_mismatch": "it is not a letter or digit, followed by letters, digits and any of _ . -",
    "bool_type": "it is neither true nor false",
    "bool_parsing": "it is neither true nor false",
    "int_type": "it is not a whole number",
    "int_parsing": "it is not a whole number",
    "int_from_float": "it is not a whole number",
    "float_type": "it is not a number",
    "float_parsing": "it is not a number",
    "finite_number": "it is not a finite number",
    "tuple_type": "it is not a list",
    "dict_type": "it is not an object",
    "greater_than": "it is not above {gt}",
    "literal_error": "it is not {expected}",
    "value_error": "{error}",
}


def in_our_words(fault: ErrorDetails) -> str:
    """Return what is wrong; the value itself is never in it, for it may be a key."""
    words = _WORDS.get(fault["type"])
    return words.format(**fault.get("ctx", {})) if words else fault["msg"]
