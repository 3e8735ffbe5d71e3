"""basic-memory: a Markdown file for each memory, through its own tools in process; the scope as a project.

Its semantic search needs a model to be downloaded, so that it searches by words (FTS5) here.
"""

import asyncio
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

os.environ["BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED"] = "false"

from basic_memory.mcp.tools import create_memory_project, search_notes, write_note
from loguru import logger

from bench.workers.base import Store, Vectors

_PATIENCE = 5.0


class BasicMemory(Store):
    packages = ("basic-memory",)

    def __init__(self, vectors: Vectors, folder: Path, variant: str) -> None:
        super().__init__(vectors, folder, variant)
        os.environ["BASIC_MEMORY_CONFIG_DIR"] = str(folder / "config")
        self._loop = asyncio.new_event_loop()
        self._projects: set[str] = set()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(work)

    def _project(self, scope: str) -> str:
        name = scope.replace("/", "-")
        if name not in self._projects:
            self._projects.add(name)
            self._run(create_memory_project(project_name=name, project_path=str(self.folder / name)))
        return name

    def open(self) -> None:
        logger.remove()
        self._project("bench/s0")

    def add(self, i: int, text: str, scope: str) -> None:
        project = self._project(scope)
        answer = self._run(
            write_note(title=f"n{i}", content=text, directory="notes", project=project, output_format="json")
        )
        assert "error" not in answer or not answer["error"], answer

    def settle(self, *, final: bool) -> None:
        """Its indexing goes on as tasks of the loop; some of them never end."""
        pending = asyncio.all_tasks(self._loop)
        if pending:
            self._run(asyncio.wait(pending, timeout=_PATIENCE))

    def search(self, query: str, scope: str, k: int) -> list[int]:
        found = self._run(
            search_notes(
                query=query, project=self._project(scope), search_type="text", page_size=k, output_format="json"
            )
        )
        return [int(hit["title"][1:]) for hit in found["results"]]


STORE = BasicMemory
