"""`MemoryClient`: mem0's client of a service, over a Memoranda server."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from memoranda.adapters.mem0 import shapes
from memoranda.adapters.mem0.memory import Answer, Memory
from memoranda.adapters.mem0.owners import IDS, Owner
from memoranda.adapters.places import holding
from memoranda.client.connecting import connect
from memoranda.domain.errors import InvalidInput

_PAGE_SIZE = 100
_TYPES = {"user_id": "user", "agent_id": "agent", "run_id": "run"}


class MemoryClient(Memory):
    """mem0's `MemoryClient`. `api_key` is a token of a Memoranda server and `host` its address.

    Without a key, the token in MEMORANDA_TOKEN. `scope` is where everything is kept; by default the token's own.
    """

    def __init__(self, api_key: str | None = None, host: str | None = None, *, scope: str = "") -> None:
        if not host:
            raise InvalidInput(
                "the address of a Memoranda server is needed",
                hint="Pass host='http://127.0.0.1:8765', as it prints it.",
            )
        super().__init__(memory=connect(host, api_key, scope=scope))
        self._opened = True
        self.host = host

    def get_all(
        self,
        *,
        filters: Mapping[str, Any] | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        top_k: int | None = None,
        limit: int | None = None,
        show_expired: bool = False,
        page: int = 1,
        page_size: int | None = None,
    ) -> Answer:
        """One page of what belongs to somebody, newest first, with how many there are."""
        ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        wanted = {**(filters or {}), **{name: value for name, value in ids.items() if value is not None}}
        size = next((each for each in (page_size, top_k, limit) if each is not None), _PAGE_SIZE)
        if page < 1 or size < 1:
            raise InvalidInput("page and page_size are 1 or more", hint="The first page is 1.")
        found = list(self._all(wanted, expired=show_expired))
        shown = islice(found, (page - 1) * size, page * size)
        return {
            "count": len(found),
            "next": f"page={page + 1}" if page * size < len(found) else None,
            "previous": f"page={page - 1}" if page > 1 else None,
            "results": [shapes.item(each, self._owner(each)) for each in shown],
        }

    def delete_all(
        self,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        *,
        filters: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Forget all that belongs to somebody."""
        named = {name: (filters or {}).get(name) for name in IDS}
        return super().delete_all(user_id or named["user_id"], agent_id or named["agent_id"], run_id or named["run_id"])

    def users(self) -> Answer:
        """The users, agents and runs that memories belong to, each with how many it has by itself."""
        counts: dict[tuple[str, str], int] = {}
        for scope in holding(self.memory, live=True):
            owner = Owner.at(self.memory.scope, scope)
            total = self.memory.within(scope).list(here=True, limit=1).total
            for name, value in owner.ids.items():
                counts[_TYPES[name], value] = counts.get((_TYPES[name], value), 0) + total
        results = [
            {"id": f"{kind}:{name}", "type": kind, "name": name, "total_memories": total}
            for (kind, name), total in sorted(counts.items())
            if total
        ]
        return {"count": len(results), "next": None, "previous": None, "results": results}

    def delete_users(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> Answer:
        """Forget all that belongs to one user, agent or run; to anybody when none is named."""
        if user_id or agent_id or run_id:
            super().delete_all(user_id, agent_id, run_id)
            return {"message": "Entity deleted successfully."}
        super().reset()
        return {"message": "All users, agents, apps and runs deleted."}

    def reset(self) -> Answer:
        """Forget everything that was ever added here."""
        super().reset()
        return {"message": "Client reset successful. All users and memories deleted."}

    def batch_update(self, memories: Sequence[Mapping[str, Any]]) -> Answer:
        """Update several: each has a `memory_id`, and a `text` or `metadata`."""
        for each in memories:
            self.update(each["memory_id"], each.get("text"), each.get("metadata"))
        return {"message": f"Successfully updated {len(memories)} memories"}

    def batch_delete(self, memories: Sequence[Mapping[str, Any]]) -> Answer:
        """Forget several: each has a `memory_id`."""
        for each in memories:
            self.delete(each["memory_id"])
        return {"message": f"Successfully deleted {len(memories)} memories"}
