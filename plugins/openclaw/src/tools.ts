/** The tools that a model is offered. What they are and what they do is the server's; here they are only passed on. */

import type { AnyAgentTool, OpenClawPluginApi, OpenClawPluginToolContext } from "openclaw/plugin-sdk/plugin-entry";

import { MemoryError, type Client, type ToolAnswer } from "./client.js";
import type { Settings } from "./config.js";
import { DEFINITIONS, type Definition } from "./definitions.js";
import { confined, folderFor, read, refuseExisting, write } from "./files.js";
import type { Receipts } from "./receipts.js";
import { scopeOf } from "./scopes.js";

type Arguments = Record<string, unknown>;

const OF_FILES = ["memory_search", "memory_get"];
/** Files are as large as they are. */
const CARRYING_MS = 300_000;

export class Tools {
  constructor(
    private readonly settings: Settings,
    private readonly client: Client,
    private readonly receipts: Receipts,
  ) {}

  register(api: OpenClawPluginApi): void {
    for (const definition of DEFINITIONS) {
      if (!this.settings.tools.search && OF_FILES.includes(definition.name)) continue;
      api.registerTool((context) => this.tool(definition, context), { names: [definition.name] });
    }
  }

  private tool(definition: Definition, context: OpenClawPluginToolContext): AnyAgentTool {
    const execute = async (_id: string, args: unknown, signal?: AbortSignal) => {
      const began = Date.now();
      const scope = scopeOf(this.settings, context.agentId, context.requesterSenderId);
      try {
        const answer = await this.call(definition.name, (args ?? {}) as Arguments, scope, context, signal);
        this.receipts.called(definition.name, scope, answer.failed, Date.now() - began);
        return said(answer.text, { ...answer.data, isError: answer.failed, receipt: answer.receipt });
      } catch (error) {
        if (signal?.aborted || !(error instanceof MemoryError)) throw error;
        this.receipts.called(definition.name, scope, true, Date.now() - began);
        return said(`Error: ${error.message}. ${told(error)}`, { isError: true, error: error.message, hint: error.hint });
      }
    };
    return {
      name: definition.name,
      label: definition.title,
      description: definition.description,
      parameters: definition.inputSchema,
      execute,
    } as unknown as AnyAgentTool;
  }

  private async call(
    name: string,
    args: Arguments,
    scope: string,
    context: OpenClawPluginToolContext,
    signal?: AbortSignal,
  ): Promise<ToolAnswer> {
    const behalf = {
      source: this.settings.tools.source,
      speaker: context.requesterSenderId ?? "",
      conversation: context.sessionId ?? context.sessionKey ?? "",
    };
    const ask = (file?: string, timeoutMs = this.settings.tools.timeoutMs) =>
      this.client.tool(name, args, scope, file === undefined ? behalf : { ...behalf, file }, timeoutMs, signal);
    if (name === "memory_import" && typeof args["inPath"] === "string") {
      return await ask(await read(await this.path(args["inPath"], context)), CARRYING_MS);
    }
    if (name !== "memory_export" || typeof args["outPath"] !== "string") return await ask();
    const target = await this.path(args["outPath"], context);
    await refuseExisting(target);
    const answer = await ask(undefined, CARRYING_MS);
    if (answer.file === null) return answer;
    await write(target, answer.file);
    return { ...answer, text: `${answer.text} to ${target}` };
  }

  private async path(given: string, context: OpenClawPluginToolContext): Promise<string> {
    if (context.sandboxed) throw new MemoryError("a sandboxed agent has no folder for exports", "Ask the user to do it.", false);
    return await confined(folderFor(this.settings.files.dir, context.workspaceDir), given);
  }
}

function said(text: string, details: Arguments): { content: { type: "text"; text: string }[]; details: Arguments } {
  return { content: [{ type: "text", text }], details };
}

/** What a model can do about it. */
function told(error: MemoryError): string {
  return error.away ? "Go on without it, and tell the user that the memory cannot be used at the moment." : error.hint;
}
