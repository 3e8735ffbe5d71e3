"""The commands `serve` and `sample`: one memory for every agent, over HTTP; and data to try it with."""

import argparse
import os
import secrets
import shlex
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import memoranda
from memoranda import config
from memoranda.cli.actions import Action, add_actions, nothing_more, show
from memoranda.cli.output import Output
from memoranda.domain.errors import InvalidInput, NotFound, ProviderMissing
from memoranda.domain.text import so_many

if TYPE_CHECKING:
    from memoranda.http.logs import Logs
    from memoranda.http.serving import Listening
    from memoranda.service.store import Store

_ONE_OF_OURS = "memoranda"
_SAMPLE_SCOPE = "sample/home/anna"
_ANY_SCOPE = "me"
_SILENT_SECONDS = 2.0


def _add_serve(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--host", metavar="ADDRESS", help="where to listen (default 127.0.0.1: this machine only)")
    add("--port", type=int, metavar="N", help="default 8765; 0 takes any that is free")
    add("--uds", metavar="PATH", default="", help="a socket in the file system, for you alone, instead of a port")
    add(
        "--root",
        metavar="[SCOPE=]DIR",
        action="append",
        default=[],
        help="documents and mirrors may be in here, for admins of the whole store or of SCOPE; repeatable",
    )
    add("--tls-cert", metavar="FILE", default="", help="the certificate, in PEM")
    add("--tls-key", metavar="FILE", default="", help="its key, when it is in another file")
    add("--forwarded-by", metavar="ADDRESS", default="", help="take a proxy's word, at this address, on who asks")
    add("--no-auth", action="store_true", help="ask nobody for a token; on this machine only")
    add("--no-console", action="store_true", help="without the pages to look at it")
    add("--no-mcp", action="store_true", help="without the tools for agents at /mcp")
    add("--sample", action="store_true", help="put sample data into a store that is new")
    add("--open", action="store_true", help="show the console in your browser")
    add("--log", choices=("text", "json"), help="how the log looks (default: text on a terminal, else json)")
    command.set_defaults(run=_serve)


class _Shown(NamedTuple):
    """What somebody needs to reach a server that has just started."""

    url: str
    token: str
    scope: str
    uds: str
    console: bool
    mcp: bool

    def lines(self) -> Iterator[str]:
        token = self.token or "any"
        bearer = f'-H "Authorization: Bearer {self.token}" ' if self.token else ""
        socket = f"--unix-socket {self.uds} " if self.uds else ""
        base = "http://localhost" if self.uds else self.url
        if self.console and not self.uds:
            yield f"  console  {self.page}"
        where = f"unix:{os.path.abspath(self.uds)}" if self.uds else self.url
        program = (
            f'import memoranda; print(memoranda.connect("{where}", token="{token}", scope="{self.scope}").stats())'
        )
        yield f"  Python   {shlex.quote(sys.executable)} -c {shlex.quote(program)}"
        yield f'  curl     curl -s {socket}{bearer}"{base}/v1/stats?scope={self.scope}"'
        if self.mcp and not self.uds:
            header = f' --header "Authorization: Bearer {self.token}"' if self.token else ""
            yield f'  MCP      claude mcp add --transport http memoranda "{base}/mcp?scope={self.scope}"{header}'

    @property
    def page(self) -> str:
        """The token stands behind the #, which a browser does not send."""
        return f"{self.url}/#token={self.token}" if self.token else f"{self.url}/"


def _serve(arguments: argparse.Namespace, output: Output) -> None:
    settings = _settings(arguments)
    listening = _listening(arguments, settings)
    with _told_of_waiting(output, settings):
        warning = listening.check(asks_for_tokens=not arguments.no_auth, has_tokens=lambda: _has_tokens(settings))
    for root in arguments.root:
        _refuse_no_folder(root)
    with closing(listening.bound()) as bound:
        if arguments.sample and _is_new(settings):
            from memoranda.http import sample

            output.note("the store is new: making sample data, in the scope `sample`")
            sample.add(settings)
        from memoranda.http.app import Options, create_app
        from memoranda.http.serving import Serving
        from memoranda.http.upkeep import Upkeep
        from memoranda.service.store import Store

        with _told_of_waiting(output, settings):
            opened = Store.open(settings=settings)
        with opened as store:
            logs = _logs(arguments, settings, store)
            upkeep = Upkeep(
                store,
                logs,
                hours=0 if settings.read_only else settings.server_maintain_hours,
                watch=settings.server_watch,
            )
            options = Options(
                host=listening.host,
                roots=tuple(arguments.root),
                run_secret="" if arguments.no_auth else f"mem_run_{secrets.token_urlsafe(32)}",
                open_door=arguments.no_auth,
                console=not arguments.no_console,
                mcp=not arguments.no_mcp,
                leads=lambda: upkeep.leadership.leads,
            )
            served = create_app(store, options, logs=logs)
            serving = Serving(served.app, served.workers, listening, bound, logs=logs, drain=settings.server_drain)
            shown = _Shown(
                serving.url,
                options.run_secret,
                _scope(settings, store),
                listening.uds,
                options.console,
                options.mcp,
            )
            store.warm_up()
            upkeep.start()
            listener = store.listen()
            heard = nullcontext() if listener is None else closing(listener)
            with closing(logs), closing(upkeep), heard, _browser(shown, wanted=arguments.open) as show_console:

                def ready() -> None:
                    _tell(output, shown, store, warning)
                    show_console()

                serving.run(ready)
    if not output.as_json:
        output.note("stopped; everything that was acknowledged is kept")


def _settings(arguments: argparse.Namespace) -> config.Settings:
    if arguments.store == "":
        raise InvalidInput("--store is empty", hint="Give the path of a store, or leave the option out.")
    given = {"store": arguments.store, "scope": arguments.scope, "embedder": arguments.embedder}
    own: Mapping[str, Any] = {
        "server_host": getattr(arguments, "host", None),
        "server_port": getattr(arguments, "port", None),
        "server_log": getattr(arguments, "log", None),
    }
    return config.load({**given, **own})


def _listening(arguments: argparse.Namespace, settings: config.Settings) -> "Listening":
    try:
        from memoranda.http.serving import Listening
    except ImportError as error:
        if (error.name or "").partition(".")[0] == _ONE_OF_OURS:
            raise
        raise ProviderMissing(
            "serving needs packages that are not installed", hint='Run: pip install "memoranda[server]"'
        ) from error
    return Listening(
        host=settings.server_host,
        port=settings.server_port,
        uds=arguments.uds,
        tls_cert=arguments.tls_cert,
        tls_key=arguments.tls_key,
        forwarded_by=arguments.forwarded_by,
    )


@contextmanager
def _told_of_waiting(output: Output, settings: config.Settings) -> Iterator[None]:
    """A database that is not there yet is waited for: whoever started this should know what for."""
    address = settings.store_address()
    if address is None:
        yield
        return
    note = threading.Timer(_SILENT_SECONDS, output.note, (f"waiting for {address.shown}",))
    note.daemon = True
    note.start()
    try:
        yield
    finally:
        note.cancel()


def _is_new(settings: config.Settings) -> bool:
    """Whether there is nothing in the store yet."""
    if settings.store_address() is None and not settings.shards:
        return not settings.store_path().exists()
    from memoranda.service.store import Store

    with Store.open(settings=settings.changed({"follow": False})) as store:
        return not store.scopes(limit=1)


def _has_tokens(settings: config.Settings) -> bool:
    from memoranda.service.store import Store

    if settings.store_address() is None and not settings.shards and not settings.store_path().exists():
        return False
    with Store.open(settings=settings.changed({"follow": False})) as store:
        return store.tokens.any_good()


def _refuse_no_folder(root: str) -> None:
    from memoranda.http.roots import Root

    folder = Root.of(root).folder
    if not folder.is_dir():
        raise NotFound(f"{folder} is not a folder", hint="Make it first, or check --root.")


def _logs(arguments: argparse.Namespace, settings: config.Settings, store: "Store") -> "Logs":
    from memoranda.http.logs import Logs

    as_text = settings.server_log == "text" or (settings.server_log == "auto" and sys.stderr.isatty())
    form: Literal["text", "json"] = "text" if as_text else "json"
    logs = Logs(form=form, clock=store.clock, scopes=settings.server_log_scopes, behind=True)
    logs.take_over()
    return logs


def _scope(settings: config.Settings, store: "Store") -> str:
    """One to try things in."""
    return settings.scope or (_SAMPLE_SCOPE if store.has_sample() else _ANY_SCOPE)


def _tell(output: Output, shown: _Shown, store: "Store", warning: str) -> None:
    if output.as_json:
        told = {"url": shown.url, "token": shown.token, "pid": os.getpid(), "store": _called(store)}
        show(output, {**told, "scope": shown.scope}, ())
    else:
        output.line(f"Memoranda {memoranda.__version__} serves {_called(store)}")
        for line in shown.lines():
            output.line(line)
        if shown.token:
            output.line("The token is an admin's, for this run only; `memoranda token create` makes lasting ones.")
        if store.has_sample():
            output.line("There is sample data in the scope `sample`; `memoranda sample clear` removes it.")
        output.line("Stop with Ctrl+C.")
    sys.stdout.flush()
    if warning:
        output.note(warning)


def _called(store: "Store") -> str:
    """The store for people: its file, or its address without a password."""
    if store.settings.shards:
        return f"{len(store.settings.shards)} shards"
    address = store.settings.store_address()
    return str(store.path) if address is None else address.shown


@contextmanager
def _browser(shown: _Shown, *, wanted: bool) -> Iterator[Callable[[], None]]:
    """What shows the console. The token goes through a file for the person alone: others may list running programs."""
    with tempfile.TemporaryDirectory(prefix="memoranda-open-") if wanted else nullcontext() as folder:

        def open_it() -> None:
            if folder is None or shown.uds or not shown.console:
                return
            import webbrowser

            page = Path(folder) / "console.html"
            target = escape(shown.page)
            page.write_text(
                f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={target}">'
                f'<a href="{target}">Memoranda</a>\n',
                encoding="utf-8",
            )
            # A browser may live in this terminal, and take its time.
            threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()

        yield open_it


# -- sample data --


def _sample_show(arguments: argparse.Namespace, output: Output) -> None:
    from memoranda.service.store import Store

    settings = _settings(arguments).changed({"follow": False})
    _refuse_missing(settings)
    with Store.open(settings=settings) as store:
        there = store.has_sample()
    told = "there is sample data in the scope `sample`; `memoranda sample clear` erases it"
    show(output, {"sample": there}, [told if there else "there is no sample data; `memoranda sample add` makes it"])


def _refuse_missing(settings: config.Settings) -> None:
    path = settings.store_path()
    if settings.store_address() is None and not settings.shards and not path.exists():
        raise NotFound(f"there is no store at {path}", hint="Check --store; `memoranda sample add` makes one.")


def _sample_add(arguments: argparse.Namespace, output: Output) -> None:
    from memoranda.http import sample

    made = sample.add(_settings(arguments))
    show(
        output,
        {"memories": made, "scope": "sample"},
        [f"made {so_many(made, 'memory')} in the scope `sample` and below"],
    )


def _sample_clear(arguments: argparse.Namespace, output: Output) -> int:
    from memoranda.http import sample
    from memoranda.service.store import Store

    settings = _settings(arguments).changed({"follow": False})
    _refuse_missing(settings)
    with Store.open(settings=settings) as store:
        gone = sample.clear(store)
    erased = f"erased {so_many(gone.memories, 'memory')} and {so_many(gone.conversations, 'conversation')}"
    lines = [f"{erased}; {so_many(gone.found, 'trace')} found"]
    show(output, gone.as_json(), [*lines, *(f"left, because it was changed: {path}" for path in gone.left)])
    return 6 if gone.found else 0


_ACTIONS = {
    "show": Action("whether it is there", nothing_more, _sample_show),
    "add": Action("a household, a group and a project, in the scope `sample`", nothing_more, _sample_add),
    "clear": Action("erase all of it, with a proof", nothing_more, _sample_clear),
}

COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "serve": ("one memory for every agent: HTTP, the console and MCP", _add_serve),
    "sample": ("data to try it with: show, add, clear", lambda command: add_actions(command, _ACTIONS)),
}
