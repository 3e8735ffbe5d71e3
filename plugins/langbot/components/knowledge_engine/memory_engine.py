"""The memory as a knowledge base: the switch for pipelines, the door for uploads, and for plugins that search."""

from __future__ import annotations

from typing import Any

from langbot_plugin.api.definition.components.knowledge_engine.engine import KnowledgeEngine, KnowledgeEngineCapability
from langbot_plugin.api.entities.builtin.provider.message import ContentElement
from langbot_plugin.api.entities.builtin.rag.context import RetrievalContext, RetrievalResponse, RetrievalResultEntry
from langbot_plugin.api.entities.builtin.rag.enums import DocumentStatus
from langbot_plugin.api.entities.builtin.rag.models import IngestionContext, IngestionResult
from memoranda_langbot import lines, uploads
from memoranda_langbot.places import Place
from memoranda_langbot.stores import LOG, TAG, Room

import memoranda

_TOP_K = 5
_MOST = 50


class MemoryEngine(KnowledgeEngine):
    """Episodes in, episodes out. What is found is always that of one session."""

    @classmethod
    def get_capabilities(cls) -> list[str]:
        return [KnowledgeEngineCapability.DOC_INGESTION]

    async def on_knowledge_base_create(self, kb_id: str, config: dict[str, Any]) -> None:
        await self.plugin.set_base(kb_id, config)
        LOG.info("%s knowledge base created: kb_id=%s settings_keys=%s", TAG, kb_id, sorted(config))

    async def on_knowledge_base_delete(self, kb_id: str) -> None:
        await self.plugin.unset_base(kb_id)
        LOG.info("%s knowledge base deleted: kb_id=%s; its memories are kept", TAG, kb_id)

    async def ingest(self, context: IngestionContext) -> IngestionResult:
        """Episodes as a JSON list. Each goes to the session that its `user_key` names."""
        document_id = context.file_object.metadata.document_id
        body = await self.plugin.get_knowledge_file_stream(context.file_object.storage_path)
        LOG.info("%s import called: document_id=%s bytes=%d", TAG, document_id, len(body))
        try:
            taken = await self.plugin.with_root(
                lambda root, options: uploads.ingest(root, body, document_id=document_id, trusted=options.trust_uploads)
            )
        except memoranda.MemorandaError as error:
            LOG.warning("%s import failed: document_id=%s %s", TAG, document_id, type(error).__name__)
            return IngestionResult(
                document_id=document_id, status=DocumentStatus.FAILED, error_message=f"{error}. {error.hint}"
            )
        LOG.info(
            "%s import completed: document_id=%s kept=%d left_out=%s", TAG, document_id, taken.kept, taken.left_out
        )
        told = {"left_out": dict(taken.left_out), "waiting": taken.quarantined}
        return IngestionResult(
            document_id=document_id, status=DocumentStatus.COMPLETED, chunks_created=taken.kept, metadata=told
        )

    async def delete_document(self, kb_id: str, document_id: str) -> bool:
        """All that came from one upload, in whatever session it is."""
        gone = await self.plugin.with_root(lambda root, options: uploads.remove_document(root, document_id))
        LOG.info("%s delete completed: collection_id=%s document_id=%s count=%d", TAG, kb_id, document_id, gone)
        return True

    async def retrieve(self, context: RetrievalContext) -> RetrievalResponse:
        """What bears on the query in the session that asks. Without a session there is nothing to be found."""
        given = context.retrieval_settings
        place = Place(
            str(given.get("bot_uuid") or ""), str(given.get("session_name") or ""), str(given.get("sender_id") or "")
        )
        top_k = _whole(given.get("top_k"))
        LOG.info(
            "%s engine retrieve called: collection_id=%s top_k=%d session_name=%s sender_id=%s bot_uuid=%s "
            "query_len=%d",
            TAG,
            context.get_collection_id(),
            top_k,
            place.session_name,
            place.sender_id,
            place.bot_uuid,
            len(context.query),
        )
        if not place.session_name or not context.query.strip():
            return RetrievalResponse(results=[], total_found=0, metadata={"reason": "no session_name"})

        def found(room: Room) -> list[RetrievalResultEntry]:
            # A runner may put this before the model unasked: only what is trusted.
            hits = room.memories.recall(context.query, limit=top_k, prefer_speaker=place.sender_id, trust=("trusted",))
            LOG.info(
                "%s search_episodes completed: collection_id=%s result_count=%d filters=%s",
                TAG,
                context.get_collection_id(),
                len(hits),
                {"user_key": room.key},
            )
            return [_entry(hit, room.key) for hit in hits]

        results = await self.plugin.within(place, found)
        return RetrievalResponse(results=results, total_found=len(results))


def _entry(hit: memoranda.Hit, user_key: str) -> RetrievalResultEntry:
    told = lines.exported(hit.memory, user_key)
    return RetrievalResultEntry(
        id=hit.id,
        content=[ContentElement.from_text(told.pop("content"))],
        metadata=told,
        distance=round(1.0 - hit.score, 4),
        score=round(hit.score, 4),
    )


def _whole(value: Any) -> int:
    try:
        return max(1, min(_MOST, int(value)))
    except (TypeError, ValueError):
        return _TOP_K
