"""What is known of a thing comes back when the query names the thing, by its identifier or by what it is called."""


def test_everything_about_a_thing_is_found_by_its_nickname(memory):
    memory.remember("It is called the reading lamp.", about="light.office", attribute="nickname", value="reading lamp")
    bulb = memory.remember("It got a 40 W bulb in May.", about="light.office")
    memory.remember("It squeaks when it rains.", about="cover.gate")

    found = memory.recall("what about my reading lamp?", policy="broad")

    hit = next(hit for hit in found if hit.id == bulb.id)
    assert hit.receipt.structured_rank is not None
    assert hit.receipt.parts["about"] > 0
    assert "structured" in found.receipt.lanes
    assert not any(hit.receipt.parts.get("about") for hit in found if hit.memory.about == "cover.gate")


def test_a_nickname_of_another_scope_names_nothing(opened):
    here = opened(scope="home/anna")
    there = opened(scope="home/bob")
    there.remember("the den", about="light.office", attribute="nickname", value="the den")
    here.remember("It got a 40 W bulb in May.", about="light.office")

    found = here.recall("what is in the den?", policy="broad")

    assert "structured" not in found.receipt.lanes
    assert not any("about" in hit.receipt.parts for hit in found)


def test_a_kind_that_the_query_names_comes_first_among_equals(memory):
    memory.remember("The wall of the hall is blue.", kind="note")
    decided = memory.remember("The wall of the hall gets blue.", kind="decision")

    found = memory.recall("what did we decide about the wall of the hall?", policy="broad")

    assert found[0].id == decided.id
    assert found[0].receipt.factors["kind"] > 1


def test_a_nickname_that_is_not_trusted_names_nothing(memory):
    web = {"about": "light.office", "attribute": "nickname", "value": "the vault", "source": "web"}
    memory.remember("They call it the vault.", **web)
    memory.remember("It got a 40 W bulb in May.", about="light.office")

    found = memory.recall("what is in the vault?", policy="broad")

    assert not any("about" in hit.receipt.parts for hit in found)
