"""Tools for facts under a category and a key: remember_fact, recall_fact, forget_fact."""

from typing import Any

from memoranda.domain.clock import iso
from memoranda.domain.errors import InvalidInput
from memoranda.domain.fact import Fact
from memoranda.domain.memory import basis_of, confidence_of
from memoranda.service.words import cleaned
from memoranda.tools.caller import Caller
from memoranda.tools.results import ToolResult, as_json, kept, one_line

Given = dict[str, Any]

_NOTHING = "No facts found."
_MOST = 100


def remember_fact(caller: Caller, given: Given) -> ToolResult:
    category, key, value = given["category"], given["key"], given["value"]
    about = f" (about {', '.join(given['subjects'])})" if given.get("subjects") else ""
    remembered = caller.memory.facts.add(
        category,
        key,
        value,
        text=f"{category}: {key} = {value}{about}",
        source=caller.source,
        basis=basis_of(caller.source),
        confidence=confidence_of(caller.source),
        source_ref=", ".join(each for each in (given.get("source"), given.get("ref")) if each),
        speaker=caller.speaker,
        conversation=caller.conversation,
    )
    data = {"id": remembered.id, "receipt": remembered.receipt.as_json()}
    text = f"Remembered: [{one_line(category)}] {one_line(key)} = {one_line(value)}"
    return kept(remembered.memory, text, data)


def recall_fact(caller: Caller, given: Given) -> ToolResult:
    category, key, query = (given.get(name, "").strip() for name in ("category", "key", "query"))
    if not (category or key or query):
        raise InvalidInput("nothing to look for", hint="Give a category, a key or a query.")
    facts = caller.memory.facts
    if query:
        found = [
            fact
            for fact in facts.ask(query, limit=_MOST)
            if category in ("", fact.about) and key in ("", fact.attribute)
        ]
    else:
        found = list(facts.list(about=category, attribute=key, limit=_MOST))
    told = [_shown(fact) for fact in found]
    return ToolResult(as_json(told) if told else _NOTHING, {"count": len(told), "facts": told})


def forget_fact(caller: Caller, given: Given) -> ToolResult:
    category, key = given["category"].strip(), given["key"].strip()
    changed = caller.memory.facts.forget(category, key, source=caller.source)
    receipts = [each.receipt.as_json() for each in changed]
    return ToolResult(
        f"Forgot: [{one_line(category)}] {one_line(key)}", {"ids": [each.id for each in changed], "receipts": receipts}
    )


def _shown(fact: Fact) -> dict[str, Any]:
    value = fact.value
    return {
        "id": fact.id,
        "category": cleaned(fact.about),
        "key": cleaned(fact.attribute),
        "value": cleaned(value) if isinstance(value, str) else value,
        "text": cleaned(fact.text),
        "confidence": fact.confidence,
        "source": fact.source,
        "trust": fact.memory.trust,
        "updated_at": iso(fact.memory.updated_at),
    }
