"""The sample that a new server shows: marked as such, and gone for good with one click."""

from filling import SETTINGS
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
        page.get_by_role("button", name="Clear the sample").click()
        page.get_by_role("button", name="Erase the sample").click()
        expect(page.locator("#notices")).to_contain_text("0 traces found", timeout=30_000)
        expect(page.locator(".banner")).to_have_count(0)
        expect(page.locator(".empty")).to_contain_text("Nothing is kept here yet")
        assert looking.close() == []
    assert occurrences(path, text) == []
