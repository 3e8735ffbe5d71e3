"""Says that it begins, then encrypts a store, backs it up or restores one, until it is killed.

argv: reseal STORE KEYFILE | backup STORE PASSPHRASE | restore STORE BACKUP
"""

import sys
from pathlib import Path

from memoranda import Settings
from memoranda.service.backing_up import back_up, opened_store
from memoranda.service.keys import key_from_file
from memoranda.service.resealing import reseal
from memoranda.service.restoring import restore

what, store, given = sys.argv[1:]
settings = Settings(store=store, embedder="none", follow=False)
print("ready", flush=True)
if what == "reseal":
    reseal(Path(store), before=None, after=key_from_file(Path(given)), settings=settings)
elif what == "backup":
    with opened_store(settings) as engine:
        back_up(engine, passphrase=given)
else:
    restore(given, settings=settings)
