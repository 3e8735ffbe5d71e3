"""A program that was written for mem0, with one line changed: the import."""

from memoranda.adapters.mem0 import Memory

with Memory(path="from_mem0.db") as memory:
    memory.add("Alice loves hiking in the Tatra mountains.", user_id="alice", metadata={"topic": "sport"})
    memory.add("Bob keeps bees behind the house.", user_id="bob")

    found = memory.search("where does she go hiking?", filters={"user_id": "alice"})
    for each in found["results"]:
        print(f"{each['score']:.2f}  {each['memory']}")

    first = found["results"][0]["id"]
    memory.update(first, "Alice loves hiking in the Bieszczady mountains.")
    print([line["event"] for line in memory.history(first)], memory.get(first)["memory"])
    print(memory.search("who keeps bees?", filters={"user_id": "alice"}))
