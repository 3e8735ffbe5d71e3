"""The plugin for OpenClaw says of the tools what the server does: there is one definition, and a copy of it."""

import json
from pathlib import Path

from memoranda.tools.toolbox import definitions

PLUGIN = Path(__file__).parents[2] / "plugins" / "openclaw"


def test_the_copy_in_the_plugin_is_the_servers_own_definition():
    text = (PLUGIN / "src" / "definitions.ts").read_text(encoding="utf-8")
    copied = json.loads(text.partition("DEFINITIONS: Definition[] = ")[2].rstrip().removesuffix(";"))
    fields = ("name", "title", "description", "inputSchema")
    offered = [{name: each[name] for name in fields} for each in definitions("mcp", toolset="openclaw", files=True)]
    assert copied == offered, "copy it anew: memoranda tools list --style mcp --toolset openclaw"


def test_the_manifest_lists_every_tool_and_hints_at_every_setting():
    manifest = json.loads((PLUGIN / "openclaw.plugin.json").read_text(encoding="utf-8"))
    assert manifest["contracts"]["tools"] == [
        each["name"] for each in definitions("mcp", toolset="openclaw", files=True)
    ]

    def leaves(schema, at=""):
        for name, part in schema["properties"].items():
            yield from leaves(part, f"{at}{name}.") if "properties" in part else [f"{at}{name}"]

    assert set(manifest["uiHints"]) == set(leaves(manifest["configSchema"]))
    for hint in manifest["uiHints"].values():
        assert hint["label"]
