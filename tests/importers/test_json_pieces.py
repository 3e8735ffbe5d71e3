"""Records of JSON of any size and shape."""

import io
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.domain.importing import Unread
from memoranda.importers import json_pieces
from memoranda.importers.json_pieces import Record, records

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)


def found(raw, *, chunk=1 << 20, under=("results", "relations")):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_pieces, "_CHUNK", chunk)
        return list(records(io.BytesIO(raw), under=under))


def values(given):
    assert all(isinstance(each, Record) for each in given), given
    return [each.value for each in given]


@given(st.lists(OBJECTS), st.integers(min_value=3, max_value=40), st.sampled_from([None, 2]), st.booleans())
def test_a_list_gives_its_objects_however_it_is_cut_and_written(objects, chunk, indent, plain):
    raw = json.dumps(objects, indent=indent, ensure_ascii=plain).encode("utf-8", "replace")
    assert values(found(raw, chunk=chunk)) == json.loads(raw)


@given(st.lists(OBJECTS.filter(lambda each: not {"results", "relations"} & each.keys())), st.integers(3, 40))
def test_lines_give_their_objects(objects, chunk):
    raw = b"\n".join(json.dumps(each).encode() for each in objects)
    assert values(found(raw, chunk=chunk)) == objects


@given(st.lists(OBJECTS), st.lists(OBJECTS), VALUES, st.integers(3, 40))
def test_an_object_around_lists_gives_what_is_in_them(results, relations, other, chunk):
    around = {"before": other, "results": results, "between": [other], "relations": relations, "after": other}
    given = found(json.dumps(around).encode(), chunk=chunk)
    assert values(given) == results + relations
    assert [each.under for each in given] == ["results"] * len(results) + ["relations"] * len(relations)


@given(st.binary(max_size=200), st.integers(1, 20))
def test_no_bytes_at_all_raise(raw, chunk):
    for each in found(raw, chunk=chunk):
        assert isinstance(each, Record | Unread)


@given(st.lists(OBJECTS, min_size=1), st.data())
def test_a_file_that_was_cut_off_says_so_and_keeps_what_was_whole(objects, data):
    raw = json.dumps(objects).encode()
    cut = raw[: data.draw(st.integers(1, len(raw) - 1))]
    *whole, last = found(cut)
    assert last.reason == "cut off"
    assert values(whole) == objects[: len(whole)]


@pytest.mark.parametrize(
    ("raw", "reasons"),
    [
        (b"", []),
        (b"[]", []),
        (b"\xef\xbb\xbf[]", []),
        (b"hello", ["not JSON"]),
        (b"[1, {}, 2]", ["not an object", "not an object"]),
        (b'[{"a": nonsense}, {"b": 1}]', ["not JSON"]),
        (b'[{"a": 1}}, {"b": 1}]', ["not JSON"]),
        (b"[" * 100_000, ["cut off"]),
        (b'[{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}]", ["not JSON"]),
    ],
)
def test_what_is_no_record_is_named(raw, reasons):
    assert [each.reason for each in found(raw) if isinstance(each, Unread)] == reasons


def test_bytes_that_are_no_text_are_replaced():
    (record,) = found(b'[{"a": "caf\xe9"}]')
    assert record.value == {"a": "caf\N{REPLACEMENT CHARACTER}"}


def test_a_record_that_is_too_long_is_left_out_and_the_next_is_read(monkeypatch):
    monkeypatch.setattr(json_pieces, "LONGEST_RECORD", 1 << 20)
    long = json.dumps({"text": "x" * (3 << 20)}).encode()
    first, second = found(b"[" + long + b', {"a": 1}]', chunk=1 << 16)
    assert first == Unread("record 1", "longer than 1 MB")
    assert second.value == {"a": 1}


class Endless(io.RawIOBase):
    """Thirty megabytes of records that are nowhere at once."""

    def __init__(self, times):
        self.left = times
        self.block = b"".join(b'{"n": %d, "text": "%s"},' % (number, b"x" * 1000) for number in range(1000))
        self.begun = False

    def read(self, size=-1):
        if not self.begun:
            self.begun = True
            return b'{"results": ['
        self.left -= 1
        return self.block if self.left >= 0 else b'{"n": -1}]}' if self.left == -1 else b""


def test_memory_stays_small_however_long_the_file_is():
    tracemalloc.start()
    count = sum(1 for _ in records(Endless(30), under=("results",)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 30_001
    assert peak < 10 << 20


@given(st.recursive(st.just([]), lambda inner: st.lists(inner, max_size=4), max_leaves=30), st.integers(3, 9))
def test_brackets_in_brackets_end_where_they_end(nested, chunk):
    raw = json.dumps([{"a": nested}, {"b": [{"c": nested}]}]).encode()
    assert values(found(raw, chunk=chunk)) == json.loads(raw)


@pytest.mark.timeout(15)
def test_a_record_of_nothing_but_brackets_is_passed_over_quickly():
    raw = b'[{"a": [' + b"[]," * (4 << 20) + b'[]]}, {"b": 1}]'
    long, short = found(raw)
    assert long == Unread("record 1", "longer than 8 MB")
    assert short.value == {"b": 1}
