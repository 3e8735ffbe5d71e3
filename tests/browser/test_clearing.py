"""The sample that a new server shows: marked as such, and gone for good with one click."""

from filling import SETTINGS
from household import asked
from watching import Looking, Served, expect, serving, settled, shot

from memoranda.service.store import Store
from support import occurrences


def test_the_sample_is_marked_and_erased_with_its_proof(chromium, tmp_path):
    path = tmp_path / "store.db"
    with serving(path, "--sample") as url:
        with Store.open(path, settings=SETTINGS) as store:
            secret = store.tokens.create(name="operator", role="admin", scope="").secret
            reader = store.tokens.create(name="watcher", role="reader", scope="").secret
        looking = Looking(chromium, Served(url, None, path))
        page = looking("browse", token=reader, scope="sample/home/anna")
        expect(page.locator(".banner")).to_contain_text("sample data")
        assert page.locator(".banner button").count() == 0, "a reader is offered what would be refused"
        page = looking("browse", token=secret, scope="sample/home/anna")
        settled(page)
        shot(page, "sample-light")
        text = page.locator(".memory-text").first.inner_text()
        assert occurrences(path, text)
        said = asked(page, "GET", "conversations/messages?conversation=holiday plans", scope="sample/home/anna")
        moments = [each["at"] for each in said["items"] if each["kind"] == "message"]
        assert len(set(moments)) == len(moments) > 20, "people take their time"
        page.get_by_role("button", name="Clear the sample").click()
        page.get_by_role("button", name="Erase the sample").click()
        expect(page.locator("dialog")).to_contain_text("The sample is gone", timeout=30_000)
        assert "Traces found\n0" in page.locator("dialog").inner_text()
        page.locator("dialog").get_by_role("button", name="Close").last.click()
        expect(page.locator(".banner")).to_have_count(0)
        expect(page.locator(".empty")).to_contain_text("Nothing is kept in this store yet")
        assert looking.close() == []
    assert occurrences(path, text) == []
