"""The real HTTP server for a store: `whole.py STORE PORT`."""

import sys

import uvicorn

from memoranda import Settings
from memoranda.http.app import create_app
from memoranda.service.store import Store


def main(path, port):
    store = Store.open(path, settings=Settings(embedder="none", follow=False))
    served = create_app(store)
    uvicorn.run(served.app, host="127.0.0.1", port=int(port), log_level="warning")
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
