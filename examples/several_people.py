"""One store for a household: each person has a scope of their own below the home's."""

import memoranda

with memoranda.open("household.db", scope="home") as home:
    home.remember("The garage door is cover.garage_door.", kind="fact", about="cover.garage_door")
    anna = home.within("home/anna")
    ben = home.within("home/ben")
    anna.remember("Anna's surprise for Ben is hidden in the attic.")

    print("Anna:", [hit.memory.text for hit in anna.recall("where is the surprise hidden?")])
    print("Ben: ", [hit.memory.text for hit in ben.recall("where is the surprise hidden?")])
    print("Ben: ", [hit.memory.text for hit in ben.recall("what is the garage door called?")])
