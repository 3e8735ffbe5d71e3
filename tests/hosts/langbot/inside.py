"""Runs in a network namespace of its own, where LangBot's fixed ports disturb nobody: starts processes and passes
requests on. One JSON object a line on standard input, one answer a line on standard output. Ends when its input does.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request

_STARTED = {}


def start(name, command, cwd, env, log):
    with open(log, "wb") as output:
        _STARTED[name] = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    return {"pid": _STARTED[name].pid}


def ended(name):
    return {"code": _STARTED[name].poll()}


def stop(name):
    process = _STARTED.pop(name)
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
            process.wait(10)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
        break
    return {}


def http(method, url, headers, body, seconds):
    request = urllib.request.Request(url, method=method, headers=headers, data=None if body is None else body.encode())
    try:
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            return {"status": answer.status, "body": answer.read().decode()}
    except urllib.error.HTTPError as error:
        return {"status": error.code, "body": error.read().decode(errors="replace")}
    except OSError as error:
        return {"status": 0, "body": str(error)}


def http_file(url, headers, path):
    with open(path, "rb") as file:
        request = urllib.request.Request(url, method="POST", headers=headers, data=file.read())
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return {"status": answer.status, "body": answer.read().decode()}
    except urllib.error.HTTPError as error:
        return {"status": error.code, "body": error.read().decode(errors="replace")}


def main():
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    doors = {"start": start, "stop": stop, "ended": ended, "http": http, "http_file": http_file}
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            told = doors[asked.pop("do")](**asked)
        except Exception as error:
            told = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(told), flush=True)
    for process in _STARTED.values():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    for name in list(_STARTED):
        stop(name)


if __name__ == "__main__":
    main()
