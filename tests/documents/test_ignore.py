"""What `.gitignore` says is what git says; and folders that never hold notes are not entered."""

import os
import re
import subprocess
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memoranda.documents.ignore import Rules, is_ignored, is_never_entered, parsed, rules_in

NAMES = ["a", "b", "ab", "aab", "abc", "a.md", "b.md", "a b", "a ", "[a]"]
NAMES += ["a!", "!a", "#a", "A", "é", "*", "a-", "1", "^"]
TOKENS = [
    *("a", "b", "c", "*", "*", "**", "/", "/", "?", ".md", " ", "!", "#", "é", "A", "-", "]"),
    *(
        "[ab]",
        "[!a]",
        "[^b]",
        "[a-c]",
        "[a-",
        "[]a]",
        "[!]a]",
        "[a-]",
        "[[:alpha:]]",
        "[[:digit:][:upper:]]",
        "[[:x:]]",
    ),
    *("[\\]a]", "[", "\\", "\\*", "\\ ", "\\?", "\\[", "\\!", "\\#", "**/", "/**", "/**/"),
]
LINES = st.lists(st.sampled_from(TOKENS), min_size=1, max_size=6).map("".join)
# Where a literal stands before `**/`, git of before 2.53 forgets about it; `**\\/` is written by nobody.
ODD = re.compile(r"[^/*]\*\*|\*\*\\/")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A repository with every path of three names in it, as far as the disk allows."""
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    folders = [(one,) for one in NAMES] + [(one, other) for one in NAMES[:6] for other in NAMES]
    for folder in folders:
        root.joinpath(*(f"{name}.d" if name == "a.md" else name for name in folder)).mkdir(exist_ok=True)
    for folder in [(), *folders]:
        for name in ("f", "a.md", "é.md", "b!.txt", "x y"):
            place = root.joinpath(*(f"{part}.d" if part == "a.md" else part for part in folder), name)
            if not place.exists():
                place.write_text("")
    return root


def paths_below(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in files:
            yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")


def ignored_by_git(root, paths):
    asked = subprocess.run(
        ["git", "-c", "core.excludesFile=", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=root,
        input="\0".join(paths).encode(),
        capture_output=True,
    )
    assert asked.returncode in (0, 1), asked.stderr
    return set(asked.stdout.decode().split("\0")) - {""}


def ignored_by_us(paths, files):
    """`files` are the texts of rules by folder."""
    rules = {folder: parsed(text) for folder, text in files.items()}
    return {path for path in paths if out(path, rules)}


def out(path, files):
    parts = path.split("/")
    rules = [Rules("", files[""])] if "" in files else []
    for depth in range(1, len(parts) + 1):
        upper = "/".join(parts[:depth])
        if is_ignored(upper, rules, is_folder=depth < len(parts)):
            return True
        if upper in files:
            rules.append(Rules(upper + "/", files[upper]))
    return False


def agrees(root, files):
    paths = [path for path in paths_below(root) if not path.endswith(".gitignore")]
    for folder, text in files.items():
        (root / folder / ".gitignore").write_bytes(text.encode())
    try:
        by_git = ignored_by_git(root, paths)
    finally:
        for folder in files:
            (root / folder / ".gitignore").unlink()
    assert ignored_by_us(paths, files) == by_git


@settings(max_examples=60)
@given(lines=st.lists(LINES, min_size=1, max_size=5))
def test_what_git_leaves_out_is_left_out(tree, lines):
    assume(not any(ODD.search(line) for line in lines))
    agrees(tree, {"": "\n".join(lines) + "\n"})


@settings(max_examples=40)
@given(outer=st.lists(LINES, max_size=3), inner=st.lists(LINES, max_size=3), inmost=st.lists(LINES, max_size=2))
def test_rules_of_folders_within_count_more(tree, outer, inner, inmost):
    assume(not any(ODD.search(line) for line in outer + inner + inmost))
    agrees(tree, {"": "\n".join(outer), "a": "\n".join(inner), "a/b": "\n".join(inmost)})


@pytest.mark.parametrize(
    "text",
    [
        "*.md\n!a.md\n",
        "/a\n",
        "a/\n",
        "a/*\n!a/a.md\n",
        "a\n!a/a.md\n",
        "**/b\n",
        "a/**\n",
        "a/**/f\n",
        "/**/f\n",
        "# a\n\\#a\n",
        "\\!a\n",
        "a \n",
        "a\\ \n",
        "a\r\nb\r\n",
        "\ufeffa\n",
        "[a-b]/f\n",
        "[!a]\n",
        "*\n!*/\n!a.md\n",
        "a b\n",
        "é*\n",
        "??.md\n",
        "*a*ab\n",
        "**/a/**/b/**/f\n",
    ],
)
def test_each_kind_of_rule_means_what_it_means_to_git(tree, text):
    agrees(tree, {"": text})


@pytest.mark.parametrize(("outer", "inner"), [("*.md", "!a.md"), ("!a.md", "*.md"), ("/a/b", "!b"), ("b", "!/b")])
def test_of_two_rules_that_of_the_inner_folder_decides(tree, outer, inner):
    agrees(tree, {"": outer, "a": inner})


def test_a_hostile_rule_takes_no_time():
    rules = parsed("*a" * 30 + "b\n" + "**/a/" * 20 + "b\n")
    began = time.perf_counter()
    assert not is_ignored("a" * 250, [Rules("", rules)], is_folder=False)
    assert not is_ignored("/".join("a" * 120), [Rules("", rules)], is_folder=False)
    assert time.perf_counter() - began < 1


def test_our_own_file_of_rules_counts_more_than_that_of_git(tmp_path):
    (tmp_path / ".gitignore").write_text("*.md\n")
    (tmp_path / ".memorandaignore").write_text("!kept.md\n")
    rules = rules_in(str(tmp_path), relative="")
    assert is_ignored("other.md", [rules], is_folder=False)
    assert not is_ignored("kept.md", [rules], is_folder=False)


def test_a_file_of_rules_that_is_no_file_is_not_read(tmp_path):
    (tmp_path / "elsewhere").write_text("*\n")
    (tmp_path / ".gitignore").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / ".memorandaignore")
    assert rules_in(str(tmp_path), relative="") is None
    (tmp_path / "folder" / ".gitignore").mkdir(parents=True)
    assert rules_in(str(tmp_path / "folder"), relative="folder/") is None


def test_folders_that_hold_no_notes_are_not_entered():
    assert is_never_entered("node_modules", is_beside=[].__contains__)
    assert is_never_entered("home.db-index", is_beside=["home.db"].__contains__)
    assert not is_never_entered("card-index", is_beside=["notes.md"].__contains__)
    assert not is_never_entered("-index", is_beside=[""].__contains__)


def test_rules_are_parsed_once_and_again_when_they_change(tmp_path, monkeypatch):
    from memoranda.documents import ignore

    texts = []
    monkeypatch.setattr(ignore, "parsed", lambda text, parsed=ignore.parsed: texts.append(text) or parsed(text))
    place = tmp_path / ".gitignore"

    def ask(name):
        return is_ignored(name, (rules_in(str(tmp_path), relative=""),), is_folder=False)

    place.write_text("one\n")
    os.utime(place, ns=(1, 1))
    assert [ask("one") for _ in range(5)] == [True] * 5
    assert texts == ["one\n"]
    place.write_text("two\n")
    os.utime(place, ns=(2, 2))
    assert [ask("one"), ask("two")] == [False, True]
    assert texts == ["one\n", "two\n"]


def test_rules_that_were_written_just_now_are_read_each_time(tmp_path):
    place = tmp_path / ".gitignore"
    for name in ("one", "two", "six"):
        place.write_text(name)
        assert is_ignored(name, (rules_in(str(tmp_path), relative=""),), is_folder=False)
