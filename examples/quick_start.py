"""Keep, recall, correct, and let go: the first ten minutes."""

import memoranda

with memoranda.open("quick_start.db", scope="home/anna") as memory:
    memory.remember("Anna prefers short answers.", kind="preference")
    lamp = memory.remember("Anna reads by light.bedroom_lamp.", about="light.bedroom_lamp")
    memory.remember("Anna reads by light.desk_lamp now.", supersedes=lamp)

    for question in ("which lamp does she read by?", "how long should an answer be?", "who is the president?"):
        found = memory.recall(question, limit=1)
        print(question, "->", found[0].memory.text if found else f"({found.receipt.abstained})")

    print(memory.erase(about="light.bedroom_lamp").receipt)
