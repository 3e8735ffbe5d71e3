"""Rules of the house that no other tool looks after."""

import ast
import inspect
import traceback
from pathlib import Path

import memoranda
from memoranda.domain import errors

SOURCE = Path(memoranda.__file__).parent


def _seen_by_type_checkers():
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    imports = [
        node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and "memoranda" in (node.module or "")
    ]
    names = {alias.asname or alias.name for node in imports for alias in node.names}
    return {name for name in names if not name.startswith("_")}


def test_everything_exported_is_listed_and_sorted():
    assert memoranda.__all__ == sorted(memoranda.__all__)
    assert set(memoranda.__all__) == _seen_by_type_checkers()
    for name in memoranda.__all__:
        assert getattr(memoranda, name) is not None
        assert name in dir(memoranda)
    assert not hasattr(memoranda, "nothing_of_this_name")


def test_every_error_has_a_hint_and_is_exported():
    classes = [
        each for each in vars(errors).values() if inspect.isclass(each) and issubclass(each, errors.MemorandaError)
    ]
    assert len(classes) > 10
    for each in classes:
        assert each("something").hint.strip().endswith("."), each
        assert getattr(memoranda, each.__name__) is each


def test_a_traceback_shows_the_hint():
    told = "".join(traceback.format_exception(errors.NotFound("no", hint="Look elsewhere.")))
    assert "Look elsewhere." in told


def test_a_hint_given_wins():
    assert errors.NotFound("no", hint="Look elsewhere.").hint == "Look elsewhere."


def test_no_module_is_longer_than_500_lines():
    long = {
        str(path.relative_to(SOURCE)): lines
        for path in SOURCE.rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 500
    }
    assert not long
