"""Conversations: what was said, what stands for it, what is kept beside it; brought in, put away, destroyed."""

import json
import re

import pytest
from household import BOILER, KITCHEN, LONG, OLD, SCOPE, asked, hostile, needs_attacks
from watching import Looking, at, expect, go, settled


@pytest.fixture
def look(chromium, home):
    looking = Looking(chromium, home)
    yield lambda path="conversations", **options: looking(path, scope=options.pop("scope", SCOPE), **options)
    assert looking.close() == []


def one(name):
    return f"conversation?conversation={name}"


def named(page, name):
    """Wait until the conversation of this name is there."""
    at(page, "Conversation")
    expect(page.locator(".name")).to_have_text(name)


def test_the_list_has_those_in_use_and_those_above_and_the_archived_ones_apart(look):
    page = look()
    names = page.locator(".talk h2").all_inner_texts()
    assert set(names) >= {KITCHEN, BOILER, LONG, "house rules"}
    assert OLD not in names
    assert "calendar" not in names, "a conversation of another scope is listed"
    page.get_by_role("link", name="Archived").click()
    expect(page.locator(".talk h2")).to_have_text([OLD])


def test_a_search_shows_the_passage_and_leads_to_its_place(look):
    page = look()
    page.get_by_role("searchbox").fill("lend book 66 to Piotr")
    page.keyboard.press("Enter")
    expect(page.locator(".is-found").first).to_contain_text("book 66")
    page.locator(".panel h2 a").first.click()
    named(page, LONG)
    assert "From place" in page.locator(".transcript").inner_text()
    expect(page.locator(".message", has_text="finished book 66 of").first).to_be_visible()


def test_nothing_said_of_it_is_told_with_how_much_was_looked_at(look):
    page = look("conversations?q=zeppelin")
    assert "Nothing of it was said here" in page.locator(".empty").inner_text()


def test_a_summary_opens_to_what_it_stands_for_and_that_again(look):
    page = look(one(LONG))
    summary = page.locator(".transcript > .messages > .is-summary")
    assert summary.count() == 1
    folded = asked(page, "GET", f"conversations/messages?conversation={LONG}&status=active")["items"]
    assert page.locator(".transcript > .messages > .message").count() == len(folded)
    summary.get_by_role("button", name=re.compile("it stands for")).first.click()
    inner = summary.locator("> .stood-for > .messages > .message")
    expect(inner.nth(1)).to_be_visible()
    nested = summary.locator("> .stood-for > .messages > .is-summary")
    expect(nested).to_have_count(1)
    nested.get_by_role("button", name=re.compile("it stands for")).click()
    expect(nested.locator(".stood-for .message", has_text="finished book 0 of")).to_be_visible()
    nested.get_by_role("button", name="Hide what it stands for").click()
    expect(nested.locator(".stood-for .message")).to_have_count(0)


def test_all_that_was_said_is_there_page_after_page(look):
    page = look(f"{one(LONG)}&show=all")
    messages = page.locator(".message")
    while page.get_by_role("button", name="Show more").count():
        before = messages.count()
        page.get_by_role("button", name="Show more").click()
        expect(messages.nth(before)).to_be_visible()
        expect(page.locator("button[aria-busy]")).to_have_count(0)
    said = page.locator(".message:not(.is-summary)").count()
    assert said == asked(page, "GET", f"conversations/one?conversation={LONG}")["messages"]


def test_tool_calls_and_what_tools_gave_are_folded(look):
    page = look(one(BOILER))
    given, result = page.get_by_text("sensor.boiler_pressure"), page.get_by_text('"state": "0.8"')
    expect(given).to_be_hidden()
    expect(result).to_be_hidden()
    page.get_by_text("Used the tool read_sensor").click()
    expect(given).to_be_visible()
    page.get_by_text("What the tool gave").click()
    expect(result).to_be_visible()


def test_working_memory_is_edited_and_kept(look):
    page = look(one(KITCHEN))
    expect(page.locator(".working")).to_contain_text("Waiting for the tile samples")
    page.locator(".working").get_by_role("button", name="Edit").click()
    page.get_by_role("textbox", name="Working memory").fill("Tiles came. Paint on Saturday.")
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(page.locator(".working-text")).to_have_text("Tiles came. Paint on Saturday.")
    assert asked(page, "GET", f"conversations/working?conversation={KITCHEN}")["value"].startswith("Tiles came")


def test_sum_up_folds_older_messages_and_tells_how_many(look):
    page = look()
    said = [{"role": "user", "content": f"We decided on step {number} of the attic."} for number in range(40)]
    asked(page, "POST", "conversations/append", {"messages": said, "conversation": "attic"})
    go(page, one("attic"), scope=SCOPE)
    assert page.locator(".is-summary").count() == 0
    page.get_by_role("button", name="Sum up").click()
    expect(page.locator(".notice")).to_contain_text("Summed up")
    expect(page.locator(".is-summary")).to_have_count(1)


def test_archive_and_restore(look):
    page = look()
    asked(
        page,
        "POST",
        "conversations/append",
        {"messages": [{"role": "user", "content": "Hello"}], "conversation": "put away"},
    )
    go(page, one("put away"), scope=SCOPE)
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_role("button", name="Restore")).to_be_visible()
    expect(page.locator(".message")).to_have_count(1)
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("button", name="Archive")).to_be_visible()


def test_erase_asks_for_the_word_proves_it_and_can_keep_the_conversation_private(look, home):
    page = look()
    asked(
        page,
        "POST",
        "conversations/append",
        {"messages": [{"role": "user", "content": "Quixotic-zanzibar plan"}], "conversation": "diary"},
    )
    go(page, one("diary"), scope=SCOPE)
    page.get_by_role("button", name="Erase").click()
    box = page.get_by_role("dialog")
    act = box.get_by_role("button", name="Erase")
    assert act.is_disabled()
    box.get_by_label("Type “erase” to go on").fill("erase")
    act.click()
    expect(page.locator(".proof-big")).to_have_text("Gone, and proven gone.", timeout=30_000)
    assert re.search(r"Traces found\s*0", page.locator(".proof").inner_text())
    assert not [
        each for each in home.store.parent.rglob("*") if each.is_file() and b"Quixotic-zanzibar" in each.read_bytes()
    ]
    page.get_by_role("button", name="Keep it private from now on").click()
    at(page, "Conversations")
    assert "diary" not in page.locator(".talk h2").all_inner_texts()
    told = asked(
        page,
        "POST",
        "conversations/append",
        {"messages": [{"role": "user", "content": "again"}], "conversation": "diary"},
    )
    assert told["receipt"]["stored"] is False
    go(page, "receipts", scope=SCOPE)
    page.get_by_text("conversations/erase").click()
    assert "purged" in page.locator("details[open]").first.inner_text()


def test_a_transcript_is_imported_once_and_bad_lines_are_told(look, tmp_path):
    file = tmp_path / "said.jsonl"
    lines = [
        json.dumps({"role": role, "content": text})
        for role, text in (("user", "Where is the saw?"), ("assistant", "In the shed."))
    ]
    file.write_text("\n".join([lines[0], "{not json", lines[1]]))
    page = look()
    page.get_by_role("button", name="Import a transcript").click()
    box = page.get_by_role("dialog")
    box.get_by_label("File", exact=True).set_input_files(str(file))
    box.get_by_label("All of it under one name").fill("workshop")
    box.get_by_role("button", name="Import", exact=True).click()
    expect(box.locator(".proof-big")).to_have_text("2 messages added.")
    expect(box.locator(".warned")).to_contain_text("1 line could not be read")
    box.get_by_role("button", name="Import", exact=True).click()
    expect(box.locator(".proof-big")).to_have_text("0 messages added.")
    page.keyboard.press("Escape")
    expect(page.locator(".talk h2", has_text="workshop")).to_be_visible()


def test_what_is_no_transcript_is_told_in_the_dialog(look, tmp_path, chromium, home):
    file = tmp_path / "picture.png"
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200))
    looking = Looking(chromium, home)
    looking.allowed.append("422")
    page = looking("conversations", scope=SCOPE)
    page.get_by_role("button", name="Import a transcript").click()
    page.get_by_label("File", exact=True).set_input_files(str(file))
    page.get_by_role("dialog").get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("dialog").locator(".wrong, .proof-big, .warned").first).to_be_visible()
    assert looking.close() == []


def test_nothing_of_a_private_conversation_is_kept_and_what_was_kept_before_is_in_the_way(chromium, home):
    looking = Looking(chromium, home)
    looking.allowed.append("409")
    page = looking("conversations", scope=SCOPE)
    page.get_by_role("button", name="Keep one private").click()
    box = page.get_by_role("dialog")
    box.get_by_label("Name of the conversation").fill(KITCHEN)
    box.get_by_role("button", name="Keep it private").click()
    expect(box.locator(".wrong")).to_contain_text(re.compile("erase", re.IGNORECASE))
    box.get_by_label("Name of the conversation").fill("therapy")
    box.get_by_role("button", name="Keep it private").click()
    expect(box).to_have_count(0)
    body = {"messages": [{"role": "user", "content": "not for anybody"}], "conversation": "therapy"}
    assert asked(page, "POST", "conversations/append", body)["receipt"]["stored"] is False
    assert looking.close() == []


def test_a_reader_sees_everything_and_no_button_that_would_fail(look, home):
    page = look(token=home.filled.reader)
    assert page.locator("main .button").all_inner_texts() == ["Search", "In use", "Archived"]
    go(page, one(KITCHEN), scope=SCOPE)
    assert page.locator("main button").count() == 0
    expect(page.locator(".message")).to_have_count(4)


def test_what_is_kept_above_is_read_here_and_changed_there(look):
    page = look(one("house rules"))
    assert "it is changed there" in page.locator(".page-acts").inner_text()
    assert page.locator("main button").count() == 0


def test_with_the_keyboard_alone_a_summary_is_found_and_opened(look):
    page = look("search")
    page.keyboard.press("Escape")
    page.locator("h1").focus()
    page.keyboard.press("g")
    page.keyboard.press("c")
    at(page, "Conversations")
    reach(page, LONG)
    page.keyboard.press("Enter")
    named(page, LONG)
    reach(page, "Show the")
    page.keyboard.press("Enter")
    expect(page.locator(".stood-for .message").first).to_be_visible()


def reach(page, text):
    """Tab on until something with this text has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("text => document.activeElement?.textContent.startsWith(text)", text):
            return
    raise AssertionError(f"{text} is not reached by the keyboard")


@needs_attacks
def test_hostile_texts_stay_texts_in_names_messages_tools_and_working_memory(look):
    page = look()
    texts = hostile()
    assert len(texts) >= 10
    for text in texts:
        call = {"id": text, "type": "function", "function": {"name": text, "arguments": json.dumps({"x": text})}}
        said = [
            {"role": "user", "content": text, "speaker": text[:60]},
            {"role": "assistant", "content": f"{text}\u202e hidden\u200b", "tool_calls": [call]},
            {"role": "tool", "content": text, "tool_call_id": text},
        ]
        asked(
            page,
            "POST",
            "conversations/append",
            {"messages": said, "conversation": text, "metadata": {"title": text}},
        )
        asked(page, "PUT", "conversations/working", {"conversation": text, "text": text})
    page.reload()
    settled(page)
    listed = page.locator(".talk h2").all_inner_texts()
    assert set(texts) & set(listed), "the names are not shown as they are"
    for text in texts[:6]:
        page.get_by_role("link", name=text, exact=True).click()
        named(page, text)
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        shown = page.locator("main").inner_text()
        assert shown.count(text) >= 5
        assert "⟨U+202E⟩" in shown
        assert page.locator("main :is(script, img, iframe, style, object, embed, form[action])").count() == 0
        go(page, "conversations", scope=SCOPE)
    page.get_by_role("searchbox").fill(texts[0])
    page.keyboard.press("Enter")
    settled(page)
    assert page.evaluate("Object.keys(window).filter((name) => /pwn|xss|evil/i.test(name))") == []
