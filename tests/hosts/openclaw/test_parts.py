"""Parts of the plugin by themselves, as they were compiled: where turns are kept, and when the server is left alone."""

import json
import os
import subprocess

import pytest

from hosts.openclaw.running import OPENCLAW, PATIENCE, PLUGIN

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(300)]


def printed(code, *arguments):
    """What JavaScript beside the compiled plugin prints, as JSON."""
    done = subprocess.run(
        ["node", "--input-type=module", "--eval", code, *arguments],
        env={**os.environ, "PATH": f"{OPENCLAW / 'node/node_modules/.bin'}{os.pathsep}{os.environ['PATH']}"},
        cwd=PLUGIN / "dist",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_no_two_names_are_one_scope():
    names = ["_a", "0_a", "0~~_a", "-a", "0-a", "a", "A", "a/b", "a~2f~b", "é", "0é", "0~e9~", "~", "0~", "0", "x" * 80]
    names.append("x" * 81)
    code = """
import { segment } from "./scopes.js";
console.log(JSON.stringify(JSON.parse(process.argv[1]).map(segment)));
"""
    found = printed(code, json.dumps(names))
    assert len(set(found)) == len(names), found
    assert all(each[0].isalnum() and len(each) <= 64 for each in found)


def test_a_try_that_nobody_waited_for_leaves_the_next_one_free_to_try():
    code = """
import { Breaker } from "./breaker.js";
let now = 0;
const breaker = new Breaker(2, 1000, () => now);
const told = [breaker.mayTry()];
breaker.failed();
breaker.failed();
told.push(breaker.mayTry());
now = 2000;
told.push(breaker.mayTry(), breaker.mayTry());
breaker.givenUp();
told.push(breaker.mayTry());
breaker.answered();
told.push(breaker.mayTry(), breaker.mayTry());
console.log(JSON.stringify(told));
"""
    assert printed(code) == [True, False, True, False, True, True, True]


def test_a_request_that_was_called_off_is_no_failure_of_the_server():
    code = """
import { createServer } from "node:http";
import { Client } from "./client.js";
let silent = true;
const server = createServer((request, response) => {
  if (!silent) response.setHeader("content-type", "application/json").end('{"fine": true}');
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const logger = { info() {}, warn() {}, error() {}, debug() {} };
const settings = { url: `http://127.0.0.1:${server.address().port}`, token: "", breaker: { failures: 1, seconds: 0 } };
const client = new Client(settings, logger);
const told = [];
await client.ask("GET", "/x", undefined, 50).catch((error) => told.push(error.message));
const called = new AbortController();
const asked = client.ask("GET", "/x", undefined, 60000, called.signal).catch((error) => told.push(error.name));
setTimeout(() => called.abort(), 50);
await asked;
silent = false;
told.push((await client.ask("GET", "/x", undefined, 60000)).fine);
console.log(JSON.stringify(told));
server.closeAllConnections();
server.close();
"""
    first, *rest = printed(code)
    assert "did not answer within 50 ms" in first
    assert rest == ["AbortError", True]
