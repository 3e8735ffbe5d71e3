"""`memoranda serve` as people start it: what it prints, keeps, refuses, and how it ends."""

import http.client
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from running import ByFile, command, environment, events, run, serving
from served_bench import until

from memoranda.http.serving import Listening
from support import open_store


def test_it_starts_serves_and_ends_well_and_keeps_what_it_acknowledged(path):
    with serving("--store", path) as server:
        assert server.ask("GET", "/healthz", token="")[0] == 200
        assert server.ask("GET", "/readyz", token="")[0] == 200
        status, kept = server.ask("POST", "/v1/memories?scope=home/anna", {"text": "Zebediah keeps a heron."})
        assert status == 200
        assert server.ask("GET", "/v1/stats?scope=home/anna", token="")[0] == 401
        assert server.ask("GET", "/v1/stats?scope=home/anna", token="mem_run_wrong")[0] == 401
        code, out, log = server.end()
    assert (code, out) == (0, "")
    assert [event["event"] for event in events(log)][0::6] == ["ready", "stopped"]
    assert [event["door"] for event in events(log) if event["event"] == "request"][2] == "remember"
    for secret in ("Zebediah", "heron", "home/anna", server.token, kept["memory"]["id"]):
        assert secret not in log
    with open_store(path) as memory:
        assert memory.get(kept["memory"]["id"]).text == "Zebediah keeps a heron."


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 0), (signal.SIGKILL, -signal.SIGKILL)])
def test_nothing_that_was_acknowledged_is_lost_when_it_ends_under_load(path, sent, code):
    acknowledged, troubles = [], []

    def write(number):
        with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as connection:
            for count in range(100_000):
                said = {"text": f"Heron {number} was seen {count} times."}
                try:
                    status, kept = server.over(connection, "POST", "/v1/memories?scope=home", said)
                except (OSError, http.client.HTTPException):
                    return  # it has ended
                if status == 200:
                    acknowledged.append(kept["memory"]["id"])
                elif status != 503:
                    troubles.append((status, kept))

    with serving("--store", path) as server:
        writers = [threading.Thread(target=write, args=(number,)) for number in range(8)]
        for each in writers:
            each.start()
        until(lambda: len(acknowledged) > 50, seconds=30)
        assert server.end(sent)[0] == code
        for each in writers:
            each.join(30)
    assert troubles == []
    with open_store(path, "home") as memory:
        assert {memory.get(each).id for each in acknowledged} == set(acknowledged)
        assert memory.admin.verify().ok


def test_each_start_has_a_token_of_its_own_that_is_stored_nowhere(path):
    from support import occurrences

    with serving("--store", path) as first:
        first.ask("GET", "/v1/whoami?scope=home")
        first.end()
    with serving("--store", path) as second:
        assert first.token != second.token
        assert second.ask("GET", "/v1/whoami?scope=home", token=first.token)[0] == 401
        second.end(signal.SIGINT)
        assert second.process.returncode == 0
    assert occurrences(path, first.token, second.token) == []


def test_a_second_signal_ends_it_at_once(tmp_path):
    program = tmp_path / "slow.py"
    program.write_text(
        "import threading\n"
        "from memoranda.domain.clock import SystemClock\n"
        "from memoranda.http.limits import Workers\n"
        "from memoranda.http.logs import Logs\n"
        "from memoranda.http.serving import Listening, Serving\n"
        "workers, where = Workers(1, seconds=60), Listening(port=0)\n"
        "async def app(scope, receive, send):\n"
        "    if scope['type'] == 'lifespan':\n"
        "        while True:\n"
        "            await send({'type': (await receive())['type'] + '.complete'})\n"
        "    print('asked', flush=True)\n"
        "    await workers.run(threading.Event().wait)\n"
        "logs = Logs(form='json', clock=SystemClock())\n"
        "serving = Serving(app, workers, where, where.bound(), logs=logs, drain=60)\n"
        "serving.run(lambda: print(serving.port, flush=True))\n"
    )
    process = subprocess.Popen([sys.executable, program], env=environment(), stdout=subprocess.PIPE, text=True)
    try:
        connection = http.client.HTTPConnection("127.0.0.1", int(process.stdout.readline()), timeout=10)
        connection.request("GET", "/")
        assert process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 128 + signal.SIGTERM
        connection.close()
    finally:
        process.kill()
        process.communicate()


def test_people_are_shown_the_console_and_one_line_for_each_way_in(path):
    process = subprocess.Popen(
        command("--store", path, "--scope", "home/anna", "serve", "--port", "0", "--log", "text"),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = []
    try:
        while not lines or not lines[-1].startswith("Stop with"):
            lines.append(process.stdout.readline())
            assert lines[-1], process.stderr.read()
        shown = {line.split()[0]: line.partition("  ")[2].strip() for line in lines[1:5]}
        url, _, token = shown["console"].removeprefix("console").strip().partition("/#token=")
        assert url.startswith("http://127.0.0.1:")
        assert f'memoranda.connect("{url}", token="{token}", scope="home/anna")' in shown["Python"]
        assert f'"{url}/mcp?scope=home/anna"' in shown["MCP"]
        curl = shown["curl"].removeprefix("curl").strip()
        done = subprocess.run(["bash", "-c", curl], capture_output=True, text=True, timeout=30, check=True)
        assert json.loads(done.stdout)["scope"] == "home/anna"
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0
    assert "everything that was acknowledged is kept" in log
    assert token not in log


def test_the_browser_is_shown_the_console_and_no_other_program_the_token(path, tmp_path):
    script, seen, page = (tmp_path / name for name in ("browser", "seen", "page"))
    script.write_text(f'#!/bin/sh\ncp "${{1#file://}}" {page}.part\necho "$1" > {seen}\nmv {page}.part {page}\n')
    script.chmod(0o700)
    with serving("--store", path, "--open", BROWSER=f"{script} %s") as server:
        until(page.exists)
        assert f"url={server.url}/#token={server.token}" in page.read_text()
        shown = Path(seen.read_text().strip().removeprefix("file://"))
        assert server.token not in seen.read_text()
        assert stat.S_IMODE(shown.parent.stat().st_mode) == 0o700
        server.end()
    assert not shown.exists()


def test_without_tokens_it_does_not_listen_for_others(path):
    refused = run("serve", "--store", path, "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode == 4
    assert "memoranda token create" in refused.stderr
    assert not path.exists()
    refused = run("serve", "--store", path, "--host", "0.0.0.0", "--port", "0", "--no-auth")
    assert (refused.returncode, "--no-auth" in refused.stderr) == (4, True)


def test_with_a_token_it_listens_for_others_and_warns_that_they_can_be_overheard(path):
    made = run("token", "create", "--store", path, "--scope", "bot-1", "--quiet")
    assert made.returncode == 0, made.stderr
    with serving("--store", path, "--host", "0.0.0.0") as server:
        token = made.stdout.strip()
        assert server.ask("GET", "/v1/stats", token=token)[1]["scope"] == "bot-1"
        assert server.ask("GET", "/v1/stats?scope=bot-10", token=token)[0] == 403
        assert server.ask("GET", "/v1/stats", token=token, headers={"Host": "evil.example"})[0] == 421
        assert "without TLS" in server.end()[2]


def test_without_authentication_everybody_on_this_machine_is_let_in_and_no_web_page(path):
    with serving("--store", path, "--no-auth") as server:
        assert server.token == ""
        assert server.ask("GET", "/v1/stats?scope=home", token="")[0] == 200
        headers = {"Origin": "http://evil.example"}
        assert server.ask("GET", "/v1/stats?scope=home", token="", headers=headers)[0] == 403
        server.end()


def test_a_taken_port_ends_it_with_the_next_step_and_makes_no_store(path):
    with Listening(port=0).bound() as taken:
        refused = run("serve", "--store", path, "--sample", "--port", taken.getsockname()[1])
    assert (refused.returncode, "--port 0" in refused.stderr) == (4, True)
    assert not path.exists()


def test_it_can_be_reached_by_a_file_and_takes_it_away(path, tmp_path):
    where = tmp_path / "m.sock"
    with serving("--store", path, "--uds", where) as server:
        assert stat.S_IMODE(where.stat().st_mode) == 0o600
        connection = ByFile(where)
        assert server.over(connection, "GET", "/v1/whoami?scope=home")[1]["role"] == "admin"
        connection.close()
        assert server.end()[0] == 0
    assert not where.exists()


def test_only_folders_that_were_opened_for_it_may_be_named(path, tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "inside-not"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "note.md").write_text("# Note\n\nThe herons are back.\n")
    (inside / "link").symlink_to(outside)
    with serving("--store", path, "--root", inside) as server:
        asked = {
            name: server.ask("POST", "/v1/documents?scope=home", {"path": str(name)})[0] for name in (inside, outside)
        }
        assert asked == {inside: 200, outside: 403}
        assert server.ask("POST", "/v1/documents?scope=home", {"path": str(inside / "link")})[0] == 403
        assert server.ask("POST", "/v1/documents?scope=home", {"path": str(inside / ".." / "inside-not")})[0] == 403
        server.end()
    missing = run("serve", "--store", path, "--root", tmp_path / "nowhere")
    assert (missing.returncode, "--root" in missing.stderr) == (3, True)


@pytest.mark.parametrize("package", ["uvicorn", "starlette"])
def test_a_missing_package_is_named(package, path):
    program = f"import sys; sys.modules[{package!r}] = None\nfrom memoranda.cli.app import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "serve", "--store", str(path)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 5
    assert 'pip install "memoranda[server]"' in done.stderr


def test_make_run_serves_with_sample_data_and_takes_more_options():
    if shutil.which("make") is None:
        pytest.skip("there is no make here")
    root = Path(__file__).parents[2]
    # Not as a part of the make that may have started these tests.
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ["make", "-n", "run", "SERVE=--port 0"]
    shown = subprocess.run(command, cwd=root, env=alone, capture_output=True, text=True, timeout=60, check=True)
    assert shown.stdout.rstrip().endswith("memoranda serve --sample --port 0")
