"""What the memory of a home lives through: restarts, crashes, reloads, backups, removal; and a server instead."""

import tarfile

import pytest

from hosts.home_assistant.core import Failed, as_text
from hosts.home_assistant.served import Served

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(900)]
EMBEDDED = ({"next_step_id": "embedded"}, {"home": "home"})


class Home:
    def __init__(self, core):
        self.core = core
        self.anna = core.onboard("Anna")
        self.ben = core.join(self.anna, "Ben")
        self.entry = self.set_up(*EMBEDDED)["entry_id"]

    @property
    def folder(self):
        return self.core.folder / "memoranda"

    def set_up(self, *steps):
        made = self.anna.set_up(*steps)
        assert made["type"] == "create_entry", made
        assert made["result"]["state"] == "loaded", made
        return made["result"]

    def state(self):
        entries = self.anna.ask("config_entries/get", domain="memoranda")
        return entries[0]["state"] if entries else None

    def reload(self):
        return self.anna.post(f"/api/config/config_entries/entry/{self.entry}/reload", {})

    def remove(self):
        self.anna.request("DELETE", f"/api/config/config_entries/entry/{self.entry}")

    def issues(self):
        told = self.anna.ask("repairs/list_issues")["issues"]
        return {each["issue_id"]: each for each in told if each["domain"] == "memoranda"}

    def knows(self, query):
        return as_text(self.anna.call("memory_search", query=query))


@pytest.fixture(scope="module")
def home(make_core):
    core = make_core()
    core.start()
    return Home(core)


def test_memories_survive_a_restart(home):
    home.anna.call("memory_store", text="The fuse box is behind the mirror.")
    home.ben.call("memory_store", text="The skis are at the neighbour's.")
    home.core.stop()
    home.core.start()
    assert home.state() == "loaded"
    assert "behind the mirror" in home.knows("fuse box")
    assert "neighbour" not in home.knows("skis")
    assert "neighbour" in as_text(home.ben.call("memory_search", query="skis"))


def test_what_was_stored_survives_a_reload(home):
    for _ in range(2):
        assert home.reload() == {"require_restart": False}
        assert home.state() == "loaded"
        assert "behind the mirror" in home.knows("fuse box")
    assert "behind the mirror" in home.anna.say("Where is the fuse box?")["speech"]


def test_a_backup_of_home_assistant_has_a_whole_copy_of_the_store(home):
    home.anna.ask("backup/generate", agent_ids=["backup.local"], include_database=False, name="test")
    home.core.wait(lambda: list((home.core.folder / "backups").glob("*.tar")), "no backup was made")
    home.core.wait(lambda: home.anna.ask("backup/info")["state"] == "idle", "the backup did not end")
    (made,) = (home.core.folder / "backups").glob("*.tar")
    with tarfile.open(made) as outer, tarfile.open(fileobj=outer.extractfile("homeassistant.tar.gz")) as inner:
        names = inner.getnames()
    assert any(name.endswith("memoranda/home.db") for name in names)
    assert any("memoranda/home.db-backups/" in name for name in names)


def test_a_store_that_cannot_be_used_is_a_repair_and_nothing_is_lost(home):
    home.anna.post(f"/api/config/config_entries/entry/{home.entry}/reload", {})
    home.anna.ask("config_entries/disable", entry_id=home.entry, disabled_by="user")
    store = home.folder / "home.db"
    whole = store.read_bytes()
    store.write_bytes(b"this is no store" * 1000)
    home.anna.ask("config_entries/disable", entry_id=home.entry, disabled_by=None)
    assert home.state() == "setup_retry"
    assert f"store_{home.entry}" in home.issues()
    with pytest.raises(Failed, match="not set up"):
        home.anna.ask("call_service", domain="memoranda", service="memory_list", service_data={}, return_response=True)
    home.anna.ask("config_entries/disable", entry_id=home.entry, disabled_by="user")
    store.write_bytes(whole)
    home.anna.ask("config_entries/disable", entry_id=home.entry, disabled_by=None)
    assert home.state() == "loaded"
    assert home.issues() == {}
    assert "behind the mirror" in home.knows("fuse box")


def test_removal_asks_before_memories_are_deleted_and_they_can_be_kept(home):
    home.remove()
    (issue,) = home.issues()
    assert issue == f"data_left_{home.entry}"
    assert (home.folder / "home.db").is_file()
    asked = home.anna.fix(issue)
    assert asked["menu_options"] == ["keep", "delete"]
    assert home.anna.fix(issue, {"next_step_id": "keep"})["type"] == "create_entry"
    assert home.issues() == {}
    home.entry = home.set_up(*EMBEDDED)["entry_id"]
    assert "behind the mirror" in home.knows("fuse box")


def test_removal_deletes_memories_when_somebody_says_so(home):
    home.remove()
    (issue,) = home.issues()
    assert home.anna.fix(issue, {"next_step_id": "delete"})["type"] == "create_entry"
    assert not home.folder.exists()
    assert home.issues() == {}


# -- a server instead --


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    server = Served(tmp_path_factory.mktemp("served") / "store.db")
    server.start()
    yield server
    server.stop()


def test_the_flow_says_what_is_wrong_with_a_server(home, served):
    wrong = {"url": served.url, "token": "mem_wrong", "home": "house"}
    refused = home.anna.set_up({"next_step_id": "server"}, wrong)
    assert refused["errors"] == {"base": "invalid_auth"}
    away = home.anna.set_up({"next_step_id": "server"}, {**wrong, "url": "http://127.0.0.1:9"})
    assert away["errors"] == {"base": "cannot_connect"}
    assert "mem_wrong" not in as_text([refused, away])


def test_memories_are_kept_on_the_server_each_in_their_own_scope(home, served):
    home.token = served.token("house")
    home.entry = home.set_up({"next_step_id": "server"}, {"url": served.url, "token": home.token, "home": "house"})[
        "entry_id"
    ]
    assert home.anna.say("Remember that the cat is called Mruczek.")["speech"] == "I'll remember that."
    assert home.anna.call("memory_list")["total"] == 1
    assert home.ben.call("memory_list")["total"] == 0
    assert "Mruczek" in served.recalled("house/anna", "the cat")
    assert home.anna.state("sensor.memoranda_memories") == "1"
    told = as_text(home.anna.get(f"/api/diagnostics/config_entry/{home.entry}"))
    assert home.token not in told
    assert served.url not in told
    assert not home.folder.exists()


def test_a_server_that_is_away_does_not_hold_up_the_house(home, served):
    served.stop()
    answer = home.anna.say("turn on the office light")
    assert answer["type"] == "action_done"
    assert home.anna.state("light.office") == "on"
    with pytest.raises(Failed):
        home.anna.call("memory_list")
    served.start()
    home.core.wait(lambda: home.reload() and home.state() == "loaded", "the server was not found again")
    assert "Mruczek" in home.knows("the cat")


def test_a_token_that_is_no_longer_good_is_asked_for_again(home, served):
    served.revoke(home.token)
    home.core.wait(lambda: home.reload() and home.state() == "setup_error", "the old token is still used")
    (flow,) = [each for each in home.anna.ask("config_entries/flow/progress") if each["handler"] == "memoranda"]
    assert flow["context"]["source"] == "reauth"
    path = f"/api/config/config_entries/flow/{flow['flow_id']}"
    assert home.anna.post(path, {"token": "mem_wrong"})["errors"] == {"base": "invalid_auth"}
    home.token = served.token("house")
    assert home.anna.post(path, {"token": home.token})["reason"] == "reauth_successful"
    home.core.wait(lambda: home.state() == "loaded", "the new token is not used")
    assert "Mruczek" in home.knows("the cat")


def test_no_token_is_in_the_log_and_nothing_blocked(home):
    assert home.token not in home.core.log
    assert "mem_wrong" not in home.core.log
    assert "Detected blocking call" not in home.core.log
