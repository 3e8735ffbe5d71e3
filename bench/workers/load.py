"""Puts load on a memory: embedded in this process, or over HTTP with one kept connection for each thread.

argv: `embedded STORE EMBEDDER` or `http PORT TOKEN`. A line of JSON on stdin is one run, a line on stdout what it took.
"""

import http.client
import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SCOPE = "bench"

Ask = Callable[[str, str], bool]
"""A verb and a text; whether it was done."""


def embedded(path: str, embedder: str) -> Callable[[], Ask]:
    """All threads use one handle, as a program would."""
    import memoranda

    memory = memoranda.open(Path(path), scope=SCOPE, settings=memoranda.Settings(embedder=embedder))

    def ask(verb: str, text: str) -> bool:
        if verb == "recall":
            memory.recall(text, limit=5)
        else:
            memory.remember(text)
        return True

    return lambda: ask


def over_http(port: str, token: str) -> Callable[[], Ask]:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    targets = {"recall": f"/v1/recall?scope={SCOPE}", "remember": f"/v1/memories?scope={SCOPE}"}

    def made() -> Ask:
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=120)

        def ask(verb: str, text: str) -> bool:
            body = {"query": text, "limit": 5} if verb == "recall" else {"text": text}
            connection.request("POST", targets[verb], json.dumps(body), headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status == 200

        return ask

    return made


def run(make: Callable[[], Ask], *, verb: str, threads: int, seconds: float, texts: list[str]) -> dict[str, Any]:
    """Every thread asks until the time is over."""
    times: list[int] = []
    errors: list[str] = []
    gate = threading.Barrier(threads + 1)

    def work(number: int) -> None:
        ask = make()
        mine: list[int] = []
        gate.wait()
        until = time.perf_counter() + seconds
        asked = number
        while time.perf_counter() < until:
            began = time.perf_counter_ns()
            try:
                done = ask(verb, texts[asked % len(texts)])
            except Exception as error:
                errors.append(repr(error))
                break
            mine.append(time.perf_counter_ns() - began)
            if not done:
                errors.append("not done")
            asked += threads
        times.extend(mine)

    crew = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for each in crew:
        each.start()
    gate.wait()
    began, used = time.perf_counter(), time.process_time()
    for each in crew:
        each.join()
    return {
        "ns": times,
        "errors": len(errors),
        "first_error": errors[:1],
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - used,
    }


def main() -> None:
    kind, *rest = sys.argv[1:]
    make = embedded(*rest) if kind == "embedded" else over_http(*rest)
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        print(json.dumps(run(make, **json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
