"""`!memory`: which words do what. The answer is always one text."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from memoranda.domain.errors import Ambiguous, MemorandaError, NotFound
from memoranda.tools.results import one_line
from memoranda_langbot import changing, reading
from memoranda_langbot.desk import Desk, Told


class Subcommand(NamedTuple):
    """One word behind `!memory`, how it is written, and what it does."""

    name: str
    usage: str
    help: str
    run: Callable[[Desk, Sequence[str]], str]
    aliases: tuple[str, ...] = ()


def _profile(desk: Desk, words: Sequence[str]) -> str:
    return changing.profile(desk, words) if words else reading.profile(desk, words)


def _import(desk: Desk, words: Sequence[str]) -> str:
    return changing.import_episodes(desk, " ".join(words))


def _help(desk: Desk, words: Sequence[str]) -> str:
    del desk, words
    return "\n".join(["[Memory] Commands:", *(f"  {each.usage}: {each.help}" for each in SUBCOMMANDS)])


SUBCOMMANDS: tuple[Subcommand, ...] = (
    Subcommand(
        "profile",
        "!memory profile [set|add|remove <field> <value>]",
        "show the profiles, or change your own",
        _profile,
        ("p",),
    ),
    Subcommand("search", "!memory search <query>", "search episodes", reading.search, ("s",)),
    Subcommand("list", "!memory list [page]", "browse episodes", reading.listed, ("l", "ls")),
    Subcommand("show", "!memory show <episode_id>", "one episode in full", reading.show),
    Subcommand("forget", "!memory forget <episode_id>", "delete an episode", changing.forget, ("f", "del")),
    Subcommand("archive", "!memory archive <episode_id>", "put an episode away", changing.archive),
    Subcommand("restore", "!memory restore <episode_id>", "bring an episode back", changing.restore),
    Subcommand("superseded", "!memory superseded [page]", "episodes that were corrected", reading.superseded),
    Subcommand("archived", "!memory archived [page]", "episodes that were put away", reading.archived),
    Subcommand("export", "!memory export [l2 [page]]", "profiles, or episodes, as JSON", reading.export, ("e",)),
    Subcommand("import", "!memory import l2 <json>", "take episodes in (admin)", _import),
    Subcommand(
        "delete",
        "!memory delete --speaker|--tag|--before|--status … [--yes]",
        "delete many episodes (admin)",
        changing.delete,
    ),
    Subcommand(
        "consolidate", "!memory consolidate preview|run", "what says the same (run: admin)", changing.consolidate
    ),
    Subcommand("candidates", "!memory candidates [page]", "what waits for a decision", reading.candidates),
    Subcommand("candidate", "!memory candidate accept|reject <id>", "decide on one", changing.candidate),
    Subcommand("audit", "!memory audit [page|export]", "who did what (admin, or your own)", reading.audit),
    Subcommand("health", "!memory health", "whether the memory is well", reading.health, ("h",)),
    Subcommand("help", "!memory help", "these lines", _help),
)
_BY_WORD = {word: each for each in SUBCOMMANDS for word in (each.name, *each.aliases)}


def answer(desk: Desk, text: str) -> str:
    """What is said to `!memory TEXT`. Never raises for what a person wrote."""
    # Words as a person sees them, but a JSON text keeps its own spaces.
    words = text.strip().split(" ") if text.strip() else []
    name, rest = (words[0].casefold(), words[1:]) if words else ("", [])
    if name != "import":
        rest = [word for each in rest for word in each.split()]
    try:
        if not name:
            return reading.overview(desk, rest)
        if name not in _BY_WORD:
            return f"[Memory] There is no command {one_line(name)[:40]!r}. Try: !memory help"
        return _BY_WORD[name].run(desk, rest)
    except Told as said:
        return f"[Memory] {said}"
    except NotFound:
        return f"[Memory] Episode {one_line(rest[-1])[:60] if rest else ''} not found."
    except Ambiguous as error:
        return f"[Memory] {one_line(str(error))}. Give more characters of the id."
    except MemorandaError as error:
        return f"[Memory] Not done: {one_line(str(error))}."
