"""What somebody does to the files of a mirror."""


def edit(file, old, new, count=1):
    content = file.read_bytes().decode()
    assert old in content
    file.write_bytes(content.replace(old, new, count).encode())


def without_line(file, words):
    lines = file.read_text(encoding="utf-8").split("\n")
    kept = [line for line in lines if words not in line]
    assert len(kept) == len(lines) - 1
    file.write_text("\n".join(kept), encoding="utf-8")


def live(memory):
    return sorted(each.text for each in memory.list(limit=1000))


def snapshot(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
