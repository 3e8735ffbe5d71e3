"""What happens in LangBot, in order. Each scene says what is promised, and uses groups and people of its own."""

import json
import re
import sys

from hosts.langbot.stack import AUTHOR, NAME
from hosts.places import ROOT
from memoranda.tools.toolbox import definitions

_ID = re.compile(r"\[([0-9a-z]{20})\]")


class Chat:
    """One person in one group, or alone with the bot."""

    def __init__(self, stack, sender, *, group=""):
        self._stack, self.sender, self.group = stack, sender, group

    def say(self, text):
        where = {"group": self.group} if self.group else {"person": self.sender}
        return self._stack.say(text, sender=self.sender, name=self.sender.title(), **where)

    def call(self, tool, **arguments):
        """What the model is told when it calls a tool."""
        answer = self.say(f"CALL {tool} {json.dumps(arguments, ensure_ascii=False)}")
        assert answer.startswith("TOOLRESULT: "), answer
        return json.loads(answer.removeprefix("TOOLRESULT: "))["result"]

    def memory(self, words=""):
        """What `!memory` answers."""
        return self.say(f"!memory {words}".strip()).removeprefix("[bot] ")

    def system(self, text):
        """The system prompt with which the model was asked this."""
        self.say(text)
        return [each["content"] for each in self._stack.prompts()[-1]["messages"] if each["role"] == "system"]


def the_package_is_loaded_with_all_its_components(stack):
    assert stack.status(NAME) == "initialized"
    _reconfigure(stack, {})
    catalog = {each["name"]: each for each in stack.http("GET", "/api/v1/tools")["data"]["tools"]}
    for each in definitions("openai", toolset="langbot"):
        tool = each["function"]
        shown = json.dumps(catalog[tool["name"]], ensure_ascii=False)
        assert tool["description"] in json.loads(shown).values() or tool["description"] in shown
        assert set(tool["parameters"]["properties"]) <= set(re.findall(r'"(\w+)": {', shown))
    engines = stack.http("GET", "/api/v1/knowledge/engines")["data"]["engines"]
    assert any(f"{AUTHOR}/{NAME}" in json.dumps(each) for each in engines)
    for language, word in (("en", "isolation"), ("zh_Hans", "隔离")):
        readme = stack.http("GET", f"/api/v1/plugins/{AUTHOR}/{NAME}/readme?language={language}")
        assert word in json.dumps(readme, ensure_ascii=False)


def what_a_user_asks_to_keep_is_before_the_model_in_the_next_turn(stack):
    alice = Chat(stack, "alice", group="picnic")
    assert "[MEM]" not in alice.say("Hello, everybody.")
    alice.say("Remember that the picnic is by the old mill.")
    assert "[MEM]" in alice.say("Where is the picnic?")
    first, profile, memories = alice.system("Where is the picnic?")
    assert first == "You are a helpful assistant."
    assert profile.startswith("# Long-term Memory")
    assert '## Current Speaker\n- Name: "Alice"\n- ID: "alice"' in profile
    assert memories.startswith("<relevant-memories")
    assert memories.count("by the old mill") == 1
    # Nothing of it stays behind: the next prompt has one of each again.
    assert len(alice.system("And where is the picnic, again?")) == 3


def profiles_stand_in_the_system_prompt(stack):
    alice = Chat(stack, "alice", group="picnic")
    alice.say("Remember that my name is Alice Moss.")
    assert "updated" in alice.memory("profile add preferences short answers").casefold()
    profile = alice.system("What do you say?")[1]
    assert '## Current Speaker Profile\n- Name: "Alice Moss"\n- Preferences: "short answers"' in profile
    bob = Chat(stack, "bob", group="picnic")
    assert "Moss" not in "".join(bob.system("What do you say?")[:2])
    assert "Name: Alice Moss" in alice.memory("profile")
    assert "Name: (not set)" in bob.memory("p")


def other_plugins_read_the_context(stack):
    alice = Chat(stack, "alice", group="picnic")
    alice.say("Where is the picnic?")
    told = stack.seen()["_ltm_context"]
    assert set(told) == {"speaker", "session_profile", "speaker_profile", "episodes"}
    assert told["speaker"] == {"id": "alice", "name": "Alice"}
    fields = {"name", "traits", "preferences", "notes", "updated_at"}
    assert set(told["session_profile"]) == set(told["speaker_profile"]) == fields
    assert told["session_profile"]["traits"] == []
    assert told["speaker_profile"]["name"] == "Alice Moss"
    assert told["episodes"] == [{"content": "The picnic is by the old mill."}]


def the_model_uses_its_tools(stack):
    carol = Chat(stack, "carol", group="tools")
    said = carol.call("remember", content="Carol plays chess on Fridays.", importance=4, tags=["chess"])
    assert said == "Remembered: Carol plays chess on Fridays."
    # A model may have read it anywhere: it is found when asked for, and is not put before the model unasked.
    assert "[MEM]" not in carol.say("What does Carol play on Fridays?")
    (found,) = json.loads(carol.call("recall_memory", query="What does Carol play on Fridays?"))
    assert (found["content"], found["importance"], found["tags"]) == ("Carol plays chess on Fridays.", 4, ["chess"])
    assert (found["trust"], found["speaker_id"], found["status"]) == ("untrusted", "carol", "active")
    assert carol.call("recall_memory", query="chess", importance_min=5) == "No relevant memories found."
    assert carol.call("update_profile", field="traits", action="add", value="calm", scope="speaker").startswith(
        "Profile updated: traits (add)."
    )
    assert carol.call("forget", episode_id=found["id"]) == f"Forgot memory: {found['id']}"
    assert "chess" not in carol.call("recall_memory", query="What does Carol play on Fridays?")
    assert carol.call("remember", text="wrong").startswith("Error: ")


def what_is_said_belongs_to_who_speaks_now(stack):
    dora, emil = (Chat(stack, name, group="speakers") for name in ("dora", "emil"))
    dora.say("Hello.")  # LangBot's session knows only who spoke first in it
    emil.call("remember", content="Emil is allergic to nuts.")
    (found,) = json.loads(dora.call("recall_memory", query="Who is allergic to nuts?", speaker_id="emil"))
    assert found["speaker_id"] == "emil"
    assert dora.call("recall_memory", query="Who is allergic to nuts?", speaker_id="dora").startswith("No relevant")


def nothing_leaks_from_one_group_to_another(stack):
    here, there = Chat(stack, "alice", group="secret-1"), Chat(stack, "alice", group="secret-10")
    alone = Chat(stack, "alice")
    here.say("Remember that the treasure is under the third oak.")
    here.memory("profile set --session notes the treasure hunters")
    assert "third oak" in here.memory("list")
    kept = _ID.search(here.memory("list"))[1]
    for elsewhere in (there, alone):
        assert "oak" not in "".join(elsewhere.system("Where is the treasure under the oak?"))
        assert stack.seen()["_ltm_context"]["episodes"] == []
        assert elsewhere.memory(f"show {kept}") == f"[Memory] Episode {kept} not found."
        assert elsewhere.memory("list") == "[Memory] No episodes found."
    assert there.call("recall_memory", query="Where is the treasure?") == "No relevant memories found."
    assert there.call("forget", episode_id=kept).startswith("Error: ")
    assert there.memory("search treasure oak") == "[Memory] No relevant episodes found."
    assert there.memory(f"forget {kept}") == f"[Memory] Episode {kept} not found."
    assert json.loads(there.memory("export"))["profiles"] == []
    assert "third oak" in here.memory("list")
    assert "[MEM]" in here.say("Where is the treasure?")


def people_look_at_their_memory_with_commands(stack):
    fred = Chat(stack, "fred")
    fred.say("Remember that the boiler was mended in May.")
    fred.say("Remember that the cellar key hangs behind the door.")
    overview = fred.memory()
    for line in (
        "Mode: session",
        "Session: person_fred",
        f"Key: {stack.bot}:person_fred",
        "Current speaker: Fred (fred)",
    ):
        assert line in overview
    assert "L2: 2 active" in overview
    listed = fred.memory("list")
    assert listed.startswith("[Memory] Episodes (page 1, 2 total):\n  [")
    assert re.search(
        r"\n  \[[0-9a-z]{20}\] 20\d\d-\d\d-\d\d \(active, imp:\d\) The cellar key hangs behind the door\.", listed
    )
    assert fred.memory("ls 2") == "[Memory] No episodes found."
    found = fred.memory("s where is the key of the cellar")
    kept = _ID.search(found)[1]
    assert f"[Memory] Episode {kept}\n  The cellar key" in fred.memory(f"show {kept}")
    assert fred.memory(f"archive {kept}") == f"[Memory] Episode {kept} archived."
    assert kept in fred.memory("archived")
    assert fred.memory(f"restore {kept}") == f"[Memory] Episode {kept} restored."
    assert fred.memory(f"f {kept}") == f"[Memory] Episode {kept} deleted."
    assert "1 total" in fred.memory("list")
    assert "forgotten" in fred.memory("audit")
    assert fred.memory("superseded") == "[Memory] No episodes found."
    assert fred.memory("consolidate preview") == "[Memory] Nothing to consolidate."
    assert "ok isolation" in fred.memory("h")
    exported = json.loads(fred.memory("export l2"))
    assert [each["content"] for each in exported["episodes"]] == ["The boiler was mended in May."]
    assert exported["episodes"][0]["user_key"] == f"{stack.bot}:person_fred"
    fred.say("Remember that my name is Fred Oak.")
    profiles = json.loads(fred.memory("e"))
    assert (profiles["version"], profiles["profiles"][0]["type"]) == (1, "speaker")
    assert profiles["profiles"][0]["scope_key"] == f"{stack.bot}:person_fred"
    assert "!memory help" in fred.memory("nonsense")


def what_destroys_needs_an_admin(stack):
    gina, hugo = (Chat(stack, name, group="gate") for name in ("gina", "hugo"))
    gina.say("Remember that the gate code sheet lies in the drawer.")
    kept = _ID.search(gina.memory("list"))[1]
    for words in (
        f"forget {kept}",
        f"archive {kept}",
        "delete --speaker gina --yes",
        "consolidate run",
        "audit",
        "export l2",
    ):
        assert "needs an admin" in hugo.memory(words), words
    assert "needs an admin" in hugo.memory('import l2 [{"content": "The gate is open at night."}]')
    assert kept in gina.memory("list")
    stack.make_admin("group", "gate")
    hugo.memory('import l2 [{"content": "The gate is open at noon.", "tags": ["gate"], "user_key": "x:group_y"}]')
    assert "[gate] The gate is open at noon." in gina.memory("list")
    assert hugo.memory("delete --tag gate").startswith("[Memory] 1 episodes match.")
    assert hugo.memory("delete --tag gate --yes") == "[Memory] 1 episodes deleted."
    assert hugo.memory(f"forget {kept}") == f"[Memory] Episode {kept} deleted."
    assert hugo.memory("list") == "[Memory] No episodes found."


def the_knowledge_base_takes_gives_and_switches(stack):
    made = stack.http("POST", "/api/v1/knowledge/bases", _base("memories", {"auto_recall_top_k": 5}))
    base = made["data"]["uuid"]
    second = stack.http("POST", "/api/v1/knowledge/bases", _base("more", {}), expect=())
    assert second["code"] != 0
    assert "Only one memory knowledge base is supported per plugin instance." in stack.log("langbot")
    ivan = Chat(stack, "ivan", group="base")
    ivan.say("Remember that the boat is painted green.")
    # It is not attached to the pipeline: there are no memories here.
    assert "[MEM]" not in ivan.say("Which colour has the boat?")
    assert stack.seen()["_ltm_context"] is None
    stack.configure(base)
    ivan.say("Remember that the boat is painted green.")
    assert "[MEM]" in ivan.say("Which colour has the boat?")
    assert stack.seen()["_knowledge_base_uuids"] == []

    episodes = [
        {"content": "The rowing club meets on Tuesdays.", "importance": 4, "user_key": f"{stack.bot}:group_base"},
        {"content": "The sailing club meets on Sundays.", "user_key": f"{stack.bot}:group_other"},
        {"content": "The diving club meets never.", "user_key": "no key of ours"},
        {"content": "Clubs are closed in the winter."},
    ]  # fmt: skip
    file = stack.upload("/api/v1/files/documents", json.dumps(episodes).encode(), "episodes.json")["data"]["file_id"]
    stack.http("POST", f"/api/v1/knowledge/bases/{base}/files", {"file_id": file})
    (document,) = stack.wait("the upload", lambda: _done(stack, base))
    here = {"session_name": "group_base", "bot_uuid": stack.bot}
    found = _retrieved(stack, base, "When does the club meet?", here)
    assert "The rowing club meets on Tuesdays." in found
    assert not {"The sailing club meets on Sundays.", "The diving club meets never."} & set(found)
    assert "Clubs are closed in the winter." in _retrieved(stack, base, "Are clubs open in the winter?", here)
    assert _retrieved(stack, base, "When does the club meet?", {}) == []  # nobody's session: nothing
    assert "rowing club" in "".join(ivan.system("When does the rowing club meet?"))
    stack.http("DELETE", f"/api/v1/knowledge/bases/{base}/files/{document}")
    stack.wait("the deletion", lambda: not _retrieved(stack, base, "When does the rowing club meet?", here))
    assert "boat" in ivan.memory("list")
    stack.http("DELETE", f"/api/v1/knowledge/bases/{base}")
    stack.configure()
    assert "boat" in ivan.memory("list")  # the base was only a switch


def sessions_of_a_bot_share_with_isolation_bot(stack):
    base = stack.http("POST", "/api/v1/knowledge/bases", _base("shared", {"isolation": "bot"}))["data"]["uuid"]
    stack.configure(base)
    one, other = Chat(stack, "judy", group="share-1"), Chat(stack, "karl", group="share-2")
    one.say("Remember that the fair opens at nine.")
    assert "[MEM]" in other.say("When does the fair open?")
    assert f"Key: bot:{stack.bot}" in other.memory()
    # What was kept by session stays there.
    assert "treasure" not in other.memory("list")
    assert "treasure" not in Chat(stack, "alice", group="secret-1").memory("list")
    stack.http("DELETE", f"/api/v1/knowledge/bases/{base}")
    stack.configure()
    assert "fair" not in one.memory("list")
    assert "treasure" in Chat(stack, "alice", group="secret-1").memory("list")


def candidates_wait_and_memories_survive_a_restart(stack):
    _reconfigure(stack, {"capture": "review", "trust_agent": True})
    lena = Chat(stack, "lena")
    lena.say("I prefer trains to planes.")
    waiting = lena.memory("candidates")
    assert "trains to planes" in waiting
    assert "[MEM]" not in lena.say("Does Lena prefer trains or planes?")
    kept = _ID.search(waiting)[1]
    assert lena.memory(f"candidate accept {kept}") == f"[Memory] Candidate {kept} accepted."
    assert "[MEM]" in lena.say("Does Lena prefer trains or planes?")
    # The operator trusts the model: what it writes is there in the next turn.
    lena.call("update_profile", field="traits", action="add", value="likes rails", scope="speaker")
    assert "likes rails" in lena.system("What do you say?")[1]
    assert "[MEM]" in Chat(stack, "alice", group="picnic").say("Where is the picnic?")


def the_bot_answers_when_the_memory_is_away(stack):
    _reconfigure(stack, {"server_url": "http://127.0.0.1:9"})
    mona = Chat(stack, "mona")
    assert mona.say("Is anybody there?") == "ECHO: Is anybody there?"
    assert stack.seen()["_ltm_context"]["episodes"] == []
    assert mona.call("remember", content="Mona was here.").startswith("Error: the memory cannot be used")
    assert mona.memory("list").startswith("[Memory] Not available: ")


def one_server_serves_it_as_well(stack):
    store, python = stack.folder / "served.db", [sys.executable, "-m", "memoranda"]
    env = {"PYTHONPATH": str(ROOT / "src")}
    stack.start("served", [*python, "serve", "--store", store, "--port", "8765", "--no-mcp"], stack.folder, **env)
    stack.wait("the server", lambda: "8765" in stack.log("served"))
    made = [*python, "token", "create", "--store", store, "--scope", "bots", "--role", "admin", "--quiet"]
    stack.start("token", made, stack.folder, **env)
    token = stack.wait("a token", lambda: stack.log("token").strip())
    _reconfigure(stack, {"server_url": "http://127.0.0.1:8765", "token": token, "scope": "bots"})
    nora = Chat(stack, "nora", group="served")
    nora.say("Remember that the ferry leaves at seven.")
    assert "[MEM]" in nora.say("When does the ferry leave?")
    assert "ferry" in nora.memory("list")
    assert nora.memory("health").startswith("[Memory] Health: ")
    assert "ferry" not in Chat(stack, "nora", group="served-2").memory("list")
    assert "treasure" not in Chat(stack, "alice", group="secret-1").memory("list")  # that is in the other store
    assert token not in stack.log("runtime")


def the_log_tells_what_was_done_and_no_text(stack):
    log = stack.log("runtime")
    for line in (
        r"\[LongTermMemory\] remember called: query_id=\d+ params_keys=\['content', 'importance', 'tags'\]",
        r"\[LongTermMemory\] memory injection ready: query_id=\d+ kb_id=\S* scope_key=\S+:group_picnic sender_id=alice "
        r"block_count=2 prompt_chars=\d+",
        r"\[LongTermMemory\] engine retrieve called: collection_id=\S+ top_k=5 session_name=group_base sender_id= "
        r"bot_uuid=\S+ query_len=\d+",
        r"\[LongTermMemory\] search_episodes completed: collection_id=\S+ result_count=\d+ filters={'user_key': ",
        r"\[LongTermMemory\] candidates noted: query_id=\d+ mode=explicit",
    ):
        assert re.search(line, log), line
    for word in ("old mill", "third oak", "chess on Fridays", "rowing club", "Moss", "trains to planes"):
        assert word not in log, word


IN_ORDER = (
    the_package_is_loaded_with_all_its_components,
    what_a_user_asks_to_keep_is_before_the_model_in_the_next_turn,
    profiles_stand_in_the_system_prompt,
    other_plugins_read_the_context,
    the_model_uses_its_tools,
    what_is_said_belongs_to_who_speaks_now,
    nothing_leaks_from_one_group_to_another,
    people_look_at_their_memory_with_commands,
    what_destroys_needs_an_admin,
    the_knowledge_base_takes_gives_and_switches,
    sessions_of_a_bot_share_with_isolation_bot,
    candidates_wait_and_memories_survive_a_restart,
    the_bot_answers_when_the_memory_is_away,
    one_server_serves_it_as_well,
    the_log_tells_what_was_done_and_no_text,
)


def _base(name, settings):
    return {
        "name": name,
        "description": "",
        "emoji": "",
        "knowledge_engine_plugin_id": f"{AUTHOR}/{NAME}",
        "creation_settings": settings,
        "retrieval_settings": {},
        "embedding_model_uuid": "",
        "top_k": 5,
    }


def _done(stack, base):
    files = stack.http("GET", f"/api/v1/knowledge/bases/{base}/files")["data"]["files"]
    assert all(each["status"] not in ("failed", "interrupted") for each in files), files
    return [each["uuid"] for each in files if each["status"] == "completed"]


def _retrieved(stack, base, query, settings):
    asked = {"query": query, "retrieval_settings": settings}
    found = stack.http("POST", f"/api/v1/knowledge/bases/{base}/retrieve", asked)["data"]["results"]
    return [part["text"] for each in found for part in each["content"]]


def _reconfigure(stack, config):
    """As an operator changes it; LangBot then starts the plugin anew."""
    before = stack.log("runtime").count("Plugin memoranda/Memoranda initialized")
    # On a busy machine a model is not loaded in the time that a person would wait.
    stack.http("PUT", f"/api/v1/plugins/{AUTHOR}/{NAME}/config", {"timeout": 40, **config})
    stack.wait(
        "the plugin to start anew",
        lambda: (
            stack.log("runtime").count("Plugin memoranda/Memoranda initialized") > before
            and stack.status(NAME) == "initialized"
        ),
    )
