"""Several servers on one PostgreSQL while things die: nothing acknowledged is lost, nothing doubled, nothing shown
to whom it does not belong."""

import random
import time

import pytest

from postgres import Cluster

from .load import Load
from .servers import until

pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.timeout(400)]
SECONDS = 24
KILLS = 8
RESTARTS = 4


@pytest.fixture
def database():
    with Cluster(fsync=True) as cluster:
        yield cluster


def test_servers_are_killed_again_and_again(database, servers, tmp_path):
    address = database.address("killed")
    four = servers(address, 4)
    chance = random.Random(8)
    with Load(address, [each.url for each in four], tmp_path) as load:
        for _ in range(KILLS):
            time.sleep(chance.uniform(1.0, 3.0))
            victim = chance.choice(until(lambda: _most_are_well(four), seconds=100, complaint="they do not come back"))
            victim.kill()
            victim.start(wait=False)
        time.sleep(2)
    load.told(kills=KILLS)
    load.check()
    assert load.acknowledged > 50


def _most_are_well(servers):
    """Those that are, if there are enough of them to kill one."""
    well = [each for each in servers if each.is_well()]
    return well if len(well) > 2 else []


@pytest.mark.parametrize(("how", "index_home"), [("fast", "embedded"), ("killed", "postgres")])
def test_the_database_is_restarted(database, servers, tmp_path, how, index_home):
    address = database.address("restarted")
    two = servers(address, 2, index_home=index_home)
    with Load(address, [each.url for each in two], tmp_path) as load:
        for _ in range(RESTARTS):
            time.sleep(4)
            if how == "fast":
                database.restart()
            else:
                database.kill()
                time.sleep(1)
                database.start()
        before = load.acknowledged
        until(lambda: load.acknowledged > before + 20, complaint="it did not go on")
    load.told(restarts=RESTARTS, how=how)
    load.check()
    assert all(each.get("/readyz")[0] == 200 for each in two)


def test_a_standby_takes_the_place_of_its_primary(database, servers, tmp_path):
    standby = database.standby(synchronous=True)
    hosts = f"127.0.0.1:{database.port},127.0.0.1:{standby.port}"
    address = database.address("failover").replace(f"127.0.0.1:{database.port}", hosts)
    address += "&target_session_attrs=read-write"
    two = servers(address, 2, busy_seconds=25)
    with Load(address, [each.url for each in two], tmp_path) as load:
        time.sleep(SECONDS / 3)
        before = load.acknowledged
        database.kill()
        killed = time.monotonic()
        standby.promote()
        until(lambda: load.acknowledged > before + 20, complaint="nothing was written after it")
        away = time.monotonic() - killed
        time.sleep(SECONDS / 3)
    load.told(before=before, seconds_until_20_more=round(away, 1))
    load.check()
