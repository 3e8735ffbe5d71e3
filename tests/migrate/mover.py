"""Moves a store in small bites, until it is killed or done: SOURCE TARGET FOLDER."""

import sys

from memoranda import Settings
from memoranda.ledger import copying
from memoranda.service.migrating import migrate

source, target, folder = sys.argv[1:]
copying.AT_ONCE = 50
print("begun", flush=True)
migrate(source, target, settings=Settings(embedder="none", follow=False, local_folder=folder))
