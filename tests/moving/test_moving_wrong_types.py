"""Whatever is passed: an error of ours with a hint, or a result."""

import inspect

import pytest

from memoranda import MemorandaError

WRONG = (None, 7, 1.5, True, b"bytes", "", "nonsense", "\0", [], [None], {}, {"a": 1}, {1: "a"}, object())


@pytest.mark.parametrize("verb", ["export", "import_memories", "imports"])
def test_a_wrong_type_is_never_anything_but_an_error_of_ours_with_a_hint(memory, written, tmp_path, monkeypatch, verb):
    monkeypatch.chdir(tmp_path)  # some wrong paths are names of files
    memory.remember("Anna likes tea.")
    call = getattr(memory, verb)
    given = {"export": [tmp_path / "out.jsonl"], "import_memories": [written({"text": "Ben likes coffee."})]}
    for parameter in inspect.signature(call).parameters:
        if parameter == "progress":
            continue
        for wrong in WRONG:
            first = given.get(verb, [])
            named = {parameter: wrong, **({"overwrite": True} if verb == "export" and parameter != "overwrite" else {})}
            try:
                call(*([] if parameter == "path" else first), **named)
            except MemorandaError as error:
                assert error.hint.endswith(".")  # noqa: PT017 which of them are errors is in the other tests
