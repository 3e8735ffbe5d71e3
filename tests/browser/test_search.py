"""Search: what comes back, why, why not something else, and what a model would be given."""

import json

from watching import at, expect, go, settled

LAMP = "which lamp does anna read by"


def test_a_question_is_answered_and_each_hit_says_why_in_words_and_numbers(console, served):
    page = console()
    page.get_by_label("Question").fill(LAMP)
    page.keyboard.press("Enter")
    first = page.locator(".hits .memory").first
    expect(first).to_contain_text("light.desk_lamp now")
    assert "q=which+lamp" in page.url, "the answer has no address"
    first.get_by_text("Why this one").click()
    told = first.locator(".explanation").inner_text()
    assert "Found by words (place 1)" in told
    assert "has the words asked for" in told
    score = first.locator(".score b").inner_text()
    assert f"= {score}" in told, "the sum is not the score"


def test_the_usual_choice_is_offered_once_and_a_shared_address_shows_what_was_chosen(console):
    page = console("search?policy=balanced")
    policy = page.locator("select[name=policy]")
    assert policy.locator("option").all_text_contents() == ["strict", "balanced (usual)", "broad"]
    assert policy.input_value() == ""
    go(page, "search?policy=broad")
    assert policy.input_value() == "broad"


def test_the_receipt_tells_what_was_searched_and_dropped_and_can_be_kept(console):
    page = console(f"search?q={LAMP}&limit=1")
    page.get_by_text("Receipt: what was searched").click()
    told = page.locator(".receipt").inner_text()
    assert "Searched" in told
    assert "home/anna, home" in told
    assert "Not returned, by reason" in told
    with page.expect_download() as started:
        page.get_by_role("button", name="Download the receipt").click()
    receipt = json.loads(started.value.path().read_text())
    assert receipt["returned"] == 1
    assert "lamp now" not in json.dumps(receipt), "a receipt has no memory text"


def test_nothing_relevant_is_shown_as_an_answer_with_the_next_step(console):
    page = console("search?q=how tall is the lighthouse in Gdansk")
    assert "Nothing relevant, and that is an answer" in page.locator(".empty").inner_text()
    page.get_by_role("link", name="Show what comes nearest").click()
    page.wait_for_url("**policy=broad**")
    settled(page)
    assert page.get_by_label("Policy").input_value() == "broad"


def test_why_not_names_the_step_at_which_a_memory_was_left_out(console, served):
    page = console(f"search?q={LAMP}")
    page.get_by_text("Why not this one?").click()
    page.get_by_label("Id of a memory").fill(served.filled.old_lamp)
    page.get_by_role("button", name="Explain").click()
    told = page.locator(".why-not")
    expect(told).to_contain_text("was not returned: superseded")
    expect(told).to_contain_text("What would bring it back")


def test_an_id_that_this_scope_does_not_see_is_told_like_one_that_does_not_exist(console):
    page = console(f"search?q={LAMP}&why=zzzzzzzz")
    expect(page.locator(".why-not")).to_contain_text("this scope sees no such memory")
    assert page.locator(".why-not a").count() == 0


def test_options_narrow_the_answer_and_stay_in_the_address(console):
    page = console(f"search?q={LAMP}&kind=preference")
    kinds = page.locator(".hits .kind").all_inner_texts()
    assert set(kinds) <= {"preference"}
    page.reload()
    settled(page)
    assert page.get_by_label("preference", exact=True).is_checked()
    go(page, "search?q=who is the desk lamp for&as_of=2020-01-01")
    assert "Nothing relevant" in page.locator(".results").inner_text()


def test_the_pack_is_shown_as_the_model_sees_it_within_its_budget(console):
    page = console(f"search?q={LAMP}")
    page.get_by_role("link", name="As the model sees it").click()
    pack = page.locator(".pack")
    expect(pack).to_contain_text("<relevant-memories")
    expect(pack).to_contain_text("profile: ")
    page.get_by_label("Budget in tokens").fill("100")
    page.get_by_label("Format").select_option("markdown")
    page.get_by_role("button", name="Pack again").click()
    page.wait_for_url("**budget=100**")
    expect(page.locator(".told")).to_contain_text("of 100")
    assert "<relevant-memories" not in page.locator(".results").inner_text()


def test_the_receipts_of_the_session_are_kept_and_a_recall_can_be_done_again(console):
    page = console(f"search?q={LAMP}")
    page.get_by_role("link", name="Receipts").click()
    at(page, "Receipts")
    entry = page.locator("details.panel").first
    expect(entry).to_contain_text("POST recall")
    entry.locator("summary").first.click()
    entry.get_by_role("button", name="Do it again").click()
    expect(page.locator("#notices")).to_contain_text("The same result")
