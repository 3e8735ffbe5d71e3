"""Which files of a folder are documents: all that the patterns want, nothing from elsewhere, and nothing silently."""

import os
import socket
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.documents.ignore import MIRROR_MARK
from memoranda.documents.scan import Limits, Scan, Skipped, is_allowed, located, scan
from memoranda.documents.wanted import DEFAULT_PATTERNS, literal_pattern
from memoranda.domain.errors import InvalidInput, NotFound, Refused
from memoranda.service.mirror_files import STATE

ALL = ("**/*.md",)


def made(root, *paths):
    for path in paths:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("text\n")
    return str(root)


def paths(found):
    return [file.path for file in found.files]


def reasons(found):
    return {each.path: each.reason for each in found.skipped}


def test_the_usual_places_of_an_assistant_are_found(tmp_path):
    usual = ["MEMORY.md", "USER.md", "memory/2026-03-01.md", "memory/deep/er/note.md"]
    root = made(tmp_path, *usual, "README.md", "memory/picture.png", "src/notes.md")
    found = scan(root)
    assert paths(found) == sorted(usual)
    assert found.skipped == ()
    assert found.truncated == ""


def test_a_file_is_told_of_as_the_disk_tells(tmp_path):
    root = made(tmp_path, "a.md")
    told = os.stat(tmp_path / "a.md")
    file = scan(root, ALL).files[0]
    assert (file.size, file.modified_ns, file.inode) == (told.st_size, told.st_mtime_ns, told.st_ino)


def test_folders_that_no_pattern_leads_into_are_not_looked_at(tmp_path):
    root = made(tmp_path, "memory/a.md", "other/b.md")
    (tmp_path / "other").chmod(0)
    try:
        assert reasons(scan(root)) == {}
        assert paths(scan(root)) == ["memory/a.md"]
    finally:
        (tmp_path / "other").chmod(0o755)


def test_folders_that_hold_no_notes_are_not_entered(tmp_path):
    never = [".git", "node_modules", ".pnpm-store", ".venv", "venv", ".tox", "__pycache__"]
    never += [".dreams", ".obsidian", ".trash"]
    root = made(tmp_path, "a.md", *(f"deep/{name}/x.md" for name in never), "home.db", "home.db-index/x.md")
    made(tmp_path, "home.db-documents/x.md", "home.db-transcripts/x.md", "card-index/kept.md")
    assert paths(scan(root, ALL)) == ["a.md", "card-index/kept.md"]
    for name in never:
        assert not is_allowed(root, f"deep/{name}/x.md", ALL)
    assert not is_allowed(root, "home.db-index/x.md", ALL)
    assert is_allowed(root, "card-index/kept.md", ALL)


def test_what_is_hidden_is_wanted_only_by_its_dot(tmp_path):
    root = made(tmp_path, ".notes/a.md", ".hidden.md", "x/.notes/b.md", ".git/c.md")
    assert paths(scan(root, ALL)) == []
    assert paths(scan(root, (".notes/*.md",))) == [".notes/a.md"]
    assert paths(scan(root, ("**/.notes/*.md",))) == [".notes/a.md", "x/.notes/b.md"]
    assert paths(scan(root, (".git/*.md",))) == []


def test_only_text_unless_a_pattern_names_another_extension(tmp_path):
    root = made(tmp_path, "a.md", "b.MARKDOWN", "c.txt", "d.rst", "e.key", "LICENSE")
    assert paths(scan(root, ("**/*",))) == ["a.md", "b.MARKDOWN", "c.txt"]
    assert paths(scan(root, ("*.rst", "LICENSE"))) == ["LICENSE", "d.rst"]


def test_a_folder_as_a_pattern_is_all_that_is_in_it(tmp_path):
    root = made(tmp_path, "memory/a.md", "memory/deep/b.txt", "memory/c.bin", "d.md")
    assert paths(scan(root, ("memory/",))) == ["memory/a.md", "memory/deep/b.txt"]


@pytest.mark.parametrize("pattern", ["/etc/*.md", "../*.md", "a/../../*.md", "~/x.md", "C:/x.md", "", "./", "[a"])
def test_a_pattern_that_leads_out_is_refused(tmp_path, pattern):
    with pytest.raises(InvalidInput) as refused:
        scan(str(tmp_path), (pattern,))
    assert refused.value.hint


def test_a_name_with_signs_in_it_can_be_a_pattern(tmp_path):
    root = made(tmp_path, "a[1]*?.md", "a1xx.md")
    assert paths(scan(root, (literal_pattern("a[1]*?.md"),))) == ["a[1]*?.md"]


def test_a_root_that_is_not_there_is_an_error_and_not_an_empty_folder(tmp_path):
    with pytest.raises(NotFound):
        scan(str(tmp_path / "unmounted"))
    (tmp_path / "file.md").write_text("")
    with pytest.raises(NotFound):
        scan(str(tmp_path / "file.md"))


def test_the_root_may_be_a_link(tmp_path):
    made(tmp_path / "real", "a.md")
    (tmp_path / "link").symlink_to("real")
    assert paths(scan(str(tmp_path / "link"), ALL)) == ["a.md"]


def test_links_do_not_lead_out(tmp_path):
    made(tmp_path / "outside", "secret.md", "folder/secret.md")
    root = made(tmp_path / "root", "a.md")
    (tmp_path / "root" / "file.md").symlink_to(tmp_path / "outside" / "secret.md")
    (tmp_path / "root" / "folder").symlink_to(tmp_path / "outside" / "folder")
    (tmp_path / "root" / "up").symlink_to("..")
    found = scan(root, ALL)
    assert paths(found) == ["a.md"]
    assert reasons(found) == dict.fromkeys(["file.md", "folder", "up"], "is a link that leads out of the folder")
    for path in ("file.md", "folder/secret.md", "up/outside/secret.md"):
        assert not is_allowed(root, path, ALL)


def test_a_link_within_the_root_counts_once(tmp_path):
    root = made(tmp_path, "memory/a.md", "notes/b.md", "notes/deep/c.md", "plain.txt")
    (tmp_path / "memory" / "again.md").symlink_to("a.md")
    (tmp_path / "memory" / "notes").symlink_to("../notes")
    (tmp_path / "memory" / "notes2").symlink_to("../notes")
    (tmp_path / "memory" / "named.md").symlink_to("../plain.txt")
    assert paths(scan(root)) == ["memory/a.md", "memory/named.md", "memory/notes/b.md", "memory/notes/deep/c.md"]
    assert paths(scan(root, ALL)) == ["memory/a.md", "memory/named.md", "notes/b.md", "notes/deep/c.md"]
    assert located(root, "memory/notes/b.md").real == "notes/b.md"


def test_a_link_opens_nothing_that_is_shut(tmp_path):
    root = made(tmp_path, ".git/secret.md", ".env.md", "private/x.md", "a.md")
    (tmp_path / ".gitignore").write_text("private/\n")
    for name, target in (("one.md", ".git/secret.md"), ("two.md", ".env.md"), ("three.md", "private/x.md")):
        (tmp_path / name).symlink_to(target)
    (tmp_path / "folder").symlink_to("private")
    found = scan(root, ALL)
    assert paths(found) == ["a.md"]
    assert set(reasons(found)) == {"one.md", "two.md", "three.md", "folder"}
    for path in ("one.md", "two.md", "three.md", "folder/x.md"):
        assert not is_allowed(root, path, ALL)


def test_links_in_circles_come_to_an_end(tmp_path):
    root = made(tmp_path, "a/b/c.md")
    (tmp_path / "a" / "b" / "up").symlink_to("../..")
    (tmp_path / "a" / "round").symlink_to("b")
    (tmp_path / "self.md").symlink_to("self.md")
    assert paths(scan(root, ALL)) == ["a/b/c.md"]


def test_linked_folders_that_lead_to_each_other_come_to_an_end(tmp_path):
    root = made(tmp_path, "one/a.md", "two/b.md", "memory/c.md")
    (tmp_path / "memory" / "one").symlink_to("../one")
    (tmp_path / "one" / "two").symlink_to("../two")
    (tmp_path / "two" / "one").symlink_to("../one")
    (tmp_path / "two" / "all").symlink_to("..")
    found = scan(root)
    assert paths(found) == ["memory/c.md", "memory/one/a.md", "memory/one/two/b.md"]
    assert found.skipped == ()


def test_a_link_that_a_rule_leaves_out_opens_nothing(tmp_path):
    root = made(tmp_path, "a.md", "notes/b.md")
    (tmp_path / ".gitignore").write_text("link.md\n/folder\n")
    (tmp_path / "link.md").symlink_to("a.md")
    (tmp_path / "folder").symlink_to("notes")
    assert not is_allowed(root, "link.md", ALL)
    assert not is_allowed(root, "folder/b.md", ALL)
    assert paths(scan(root, ALL)) == ["a.md", "notes/b.md"]


def test_a_file_with_two_names_counts_once(tmp_path):
    root = made(tmp_path, "MEMORY.md")
    os.link(tmp_path / "MEMORY.md", tmp_path / "memory.md")
    assert paths(scan(root)) == ["MEMORY.md"]


def test_what_is_not_a_file_is_skipped_with_its_reason(tmp_path):
    root = made(tmp_path, "a.md")
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s.md"))
        found = scan(root, ALL)
    assert paths(found) == ["a.md"]
    assert reasons(found) == {"pipe.md": "is not a file", "s.md": "is not a file"}
    assert not is_allowed(root, "pipe.md", ALL)


def test_a_large_file_is_skipped_with_its_reason(tmp_path):
    root = made(tmp_path, "a.md", "b.md")
    (tmp_path / "b.md").write_bytes(b"x" * 101)
    found = scan(root, ALL, limits=Limits(file_bytes=100))
    assert paths(found) == ["a.md"]
    assert reasons(found) == {"b.md": "is larger than 100 bytes"}
    assert not is_allowed(root, "b.md", ALL, limits=Limits(file_bytes=100))


def test_too_many_files_are_cut_at_the_same_place_and_said(tmp_path):
    root = made(tmp_path, *(f"{n % 3}/{n}.md" for n in range(9)))
    found = scan(root, ALL, limits=Limits(files=4))
    assert paths(found) == ["0/0.md", "0/3.md", "0/6.md", "1/1.md"]
    assert found.truncated == "it holds more than 4 documents"
    assert scan(root, ALL, limits=Limits(files=9)).truncated == ""
    assert scan(root, ALL, limits=Limits(entries=5)).truncated == "it holds more than 5 names"


@pytest.mark.skipif(os.geteuid() == 0, reason="everything is readable to root")
def test_a_folder_that_cannot_be_read_is_a_reason(tmp_path):
    root = made(tmp_path, "a.md", "shut/b.md")
    (tmp_path / "shut").chmod(0)
    try:
        found = scan(root, ALL)
    finally:
        (tmp_path / "shut").chmod(0o755)
    assert paths(found) == ["a.md"]
    assert reasons(found) == {"shut": "cannot be read: Permission denied"}


def test_a_folder_that_fails_is_a_reason_and_what_was_in_it_is_not_gone(tmp_path, monkeypatch):
    root = made(tmp_path, "a.md", "shut/b.md")
    really = os.scandir

    def failing(folder):
        if folder.rstrip("/").endswith("shut"):
            raise PermissionError(13, "Permission denied")
        return really(folder)

    monkeypatch.setattr(os, "scandir", failing)
    found = scan(root, ALL)
    assert paths(found) == ["a.md"]
    assert found.skipped == (Skipped("shut", "cannot be read: Permission denied", unread=True),)
    assert not found.tells_of("shut/b.md")
    assert found.tells_of("shutter.md")


def test_nothing_is_known_of_what_was_cut_off():
    assert Scan(()).tells_of("a.md")
    assert not Scan((), truncated="it holds more than 4 documents").tells_of("a.md")
    assert not Scan((), skipped=(Skipped(".", "cannot be read", unread=True),)).tells_of("a.md")
    assert Scan((), skipped=(Skipped("a.md", "is larger than 4 bytes"),)).tells_of("a.md")


@pytest.mark.parametrize("name", [b"caf\xe9.md", b"a\nb.md", b"a\\b.md"])
def test_a_name_that_cannot_be_cited_is_skipped_with_its_reason(tmp_path, name):
    root = made(tmp_path, "a.md")
    with open(os.fsencode(tmp_path) + b"/" + name, "wb"):
        pass
    found = scan(root, ALL)
    assert paths(found) == ["a.md"]
    assert [each.reason for each in found.skipped] == ["has a name that cannot be cited"]
    found.skipped[0].path.encode()


def test_a_path_that_is_too_long_to_be_asked_for_is_skipped_with_its_reason(tmp_path):
    deep = "/".join(["folder-of-some-length" * 5] * 11)
    root = made(tmp_path, "a.md", f"{deep}/b.md")
    found = scan(root, ALL)
    assert paths(found) == ["a.md"]
    assert [each.reason for each in found.skipped] == ["has a name that cannot be cited"]


@pytest.mark.parametrize(
    "path", ["../x.md", "a/../x.md", "/etc/x.md", "a//x.md", "./../x.md", "", "a\\..\\x.md", "a\0.md", "a\nb.md", "."]
)
def test_a_path_that_is_not_within_is_refused(tmp_path, path):
    assert not is_allowed(str(tmp_path), path, ALL)
    with pytest.raises(Refused):
        located(str(tmp_path), path, ALL)


def test_a_path_may_be_absolute_when_it_is_within(tmp_path):
    root = made(tmp_path, "a.md")
    assert located(root, str(tmp_path / "a.md"), ALL).path == "a.md"
    assert located(root, "./a.md", ALL).path == "a.md"


def test_a_missing_file_is_allowed_by_its_name(tmp_path):
    assert located(str(tmp_path), "memory/none.md").found is None
    assert not is_allowed(str(tmp_path), "none.md")


def test_git_agrees_on_what_is_left_out(tmp_path):
    root = made(tmp_path, "a.md", "draft.md", "build/b.md", "deep/build/c.md", "deep/keep/draft.md", "deep/x.md")
    (tmp_path / ".gitignore").write_text("draft.md\nbuild/\n")
    (tmp_path / "deep" / ".gitignore").write_text("!draft.md\nx.md\n")
    subprocess.run(["git", "init", "-q", root], check=True)
    listed = subprocess.run(
        ["git", "-c", "core.excludesFile=", "ls-files", "-oz", "--exclude-standard", "*.md"],
        cwd=root,
        capture_output=True,
        check=True,
    )
    assert paths(scan(root, ALL)) == sorted(listed.stdout.decode().strip("\0").split("\0"))
    assert paths(scan(root, ALL)) == ["a.md", "deep/keep/draft.md"]


NAMES = st.sampled_from(["a", "b", "memory", ".x", "c.md", "d.md", "e.txt", "node_modules"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PATTERNS = st.sampled_from(
    ["**/*.md", "*.md", "memory/**/*.md", "a/*/c.md", "**/a/**", "**/.x/*", "b/", "?/[!c].md", "**/*", "c.md"]
)


@settings(max_examples=60)
@given(
    tree=st.sets(PATHS, min_size=1, max_size=12),
    links=st.lists(st.tuples(PATHS, PATHS), max_size=3),
    patterns=st.lists(PATTERNS, min_size=1, max_size=3, unique=True).map(tuple),
    rules=st.lists(st.sampled_from(["a/", "c.md", "!c.md", "/b", "**/memory", "*.txt", "!*"]), max_size=3),
)
def test_a_scan_and_a_single_look_agree(tmp_path_factory, tree, links, patterns, rules):
    root = tmp_path_factory.mktemp("tree")
    (root / ".gitignore").write_text("\n".join(rules))
    for path in sorted(tree):
        try:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text("x")
        except OSError:
            continue
    for path, target in links:
        try:
            (root / path).symlink_to(root / target)
        except OSError:
            continue
    taken = set(paths(scan(str(root), patterns)))
    for path in taken:
        assert is_allowed(str(root), path, patterns)
    inodes = {os.stat(root / path).st_ino for path in taken}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), root)
            if os.path.exists(root / path) and is_allowed(str(root), path, patterns):
                assert os.stat(root / path).st_ino in inodes


def test_the_default_patterns_are_those_of_an_assistant():
    assert DEFAULT_PATTERNS == ("MEMORY.md", "memory.md", "USER.md", "memory/**/*.md")


def test_a_mirror_of_memories_is_never_taken_for_documents(tmp_path):
    root = made(tmp_path, "a.md", "mirror/home/facts.md", "mirror/deep/er/facts.md")
    (tmp_path / "linked.md").symlink_to(tmp_path / "mirror" / "home" / "facts.md")
    inside = str(tmp_path / "mirror" / "home")
    assert is_allowed(root, "mirror/home/facts.md", ALL)
    assert paths(scan(inside, ALL)) == ["facts.md"]
    (tmp_path / "mirror" / MIRROR_MARK).write_text("{}")
    found = scan(root, ALL)
    assert paths(found) == ["a.md"]
    assert set(reasons(found)) == {"mirror", "linked.md"}
    assert found.tells_of("mirror/home/facts.md")
    for path in ("mirror/home/facts.md", "mirror/deep/er/facts.md", "linked.md", "mirror/new.md"):
        assert not is_allowed(root, path, ALL)
    assert paths(scan(inside, ALL)) == []
    assert not is_allowed(inside, "facts.md", ALL)


def test_the_mark_of_a_mirror_is_the_one_that_mirrors_have():
    assert MIRROR_MARK == STATE
