/** `openclaw ltm …`: the memory for the person at the terminal. Asks the server, and prints; `--json` prints all of it. */

import { resolve } from "node:path";

import type { OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";

import { MemoryError, type Behalf, type Client, type ToolAnswer } from "./client.js";
import type { Settings } from "./config.js";
import { expanded, read, refuseExisting, write } from "./files.js";
import { scopeOf } from "./scopes.js";

type Command = Parameters<Parameters<OpenClawPluginApi["registerCli"]>[0]>[0]["program"];
type Options = Record<string, string | boolean | undefined>;
type Arguments = Record<string, unknown>;
interface Shown {
  id: string;
  text: string;
  category: string;
  label?: string;
  score?: number;
  scope: string;
  createdAt: string;
}

const TIMEOUT_MS = 30_000;
const CARRYING_MS = 300_000;
const FAILED = 1;

export class Cli {
  constructor(
    private readonly settings: Settings,
    private readonly client: Client,
  ) {}

  /** All commands below `root`, which is `ltm`, or `memory` where that is free. */
  add(root: Command): void {
    for (const add of Object.values(this.commands)) {
      add(root)
        .option("--agent <id>", "whose memory", "main")
        .option("--scope <path>", "another scope, as a whole path")
        .option("--json", "as JSON");
    }
  }

  private readonly commands: Record<string, (root: Command) => Command> = {
    list: (root) =>
      root
        .command("list")
        .description("Memories, newest first")
        .option("--category <name>", "only of this category")
        .option("--limit <n>", "at most so many", "50")
        .action((options: Options) => this.run(options, () => this.list(options))),
    search: (root) =>
      root
        .command("search <query>")
        .description("Memories that bear on a question")
        .option("--limit <n>", "at most so many", "10")
        .action((query: string, options: Options) => this.run(options, () => this.search(query, options))),
    stats: (root) =>
      root
        .command("stats")
        .description("How many there are, by category and scope")
        .option("--category <name>", "only of this category")
        .action((options: Options) => this.run(options, () => this.stats(options))),
    export: (root) =>
      root
        .command("export")
        .description("Write memories into a file, oldest first")
        .requiredOption("--out <file>", "where to")
        .option("--category <name>", "only of this category")
        .option("--limit <n>", "at most so many")
        .option("--format <name>", "jsonl or json", "jsonl")
        .option("--no-redact", "with the secrets: whole, and to be kept safe")
        .option("--overwrite", "in the place of a file that is there")
        .action((options: Options) => this.run(options, () => this.export(options))),
    import: (root) =>
      root
        .command("import")
        .description("Take memories in from a file")
        .requiredOption("--in <file>", "which file")
        .option("--dedupe <how>", "what counts as known already: none, id or id_text", "id_text")
        .option("--dry-run", "only say what would be taken in")
        .option("--validate-only", "only see whether all of it can be read")
        .option("--limit <n>", "only so many, from the beginning")
        .option("--format <name>", "jsonl or json; found out when it is left out")
        .option("--trust", "you vouch for it: it may be put before a prompt unasked")
        .action((options: Options) => this.run(options, () => this.import(options))),
    forget: (root) =>
      root
        .command("forget <id>")
        .description("Hide one memory; it can be restored for a while")
        .action((id: string, options: Options) =>
          this.run(options, () => this.tool("memory_forget", { id }, options, { source: "user" })),
        ),
    status: (root) =>
      root
        .command("status")
        .description("Whether the server answers, and whom the token stands for")
        .action((options: Options) => this.run(options, () => this.status(options))),
  };

  private async list(options: Options): Promise<ToolAnswer> {
    const args = { category: options["category"], limit: numberIn(options["limit"], "limit") };
    const answer = await this.tool("memory_list", args, options, { source: "user", whole: true });
    return { ...answer, text: lines(answer.data["memories"] as Shown[], "No memories.") };
  }

  private async search(query: string, options: Options): Promise<ToolAnswer> {
    const args = { query, limit: numberIn(options["limit"], "limit") };
    const answer = await this.tool("memory_recall", args, options, { source: "user", whole: true });
    return { ...answer, text: lines(answer.data["memories"] as Shown[], "No relevant memories found.") };
  }

  private async stats(options: Options): Promise<ToolAnswer> {
    const args = { category: options["category"] };
    const answer = await this.tool("memory_stats", args, options, { source: "user", whole: true });
    const { count, byCategory, byScope } = answer.data as { count: number } & Record<string, Record<string, number>>;
    const counts = (name: string, found: Record<string, number>) =>
      [`${name}:`, ...Object.entries(found).map(([each, number]) => `  - ${each}: ${number}`)].join("\n");
    return { ...answer, text: [`Total memories: ${count}`, counts("Categories", byCategory!), counts("Scopes", byScope!)].join("\n") };
  }

  private async export(options: Options): Promise<ToolAnswer> {
    const path = resolve(expanded(String(options["out"])));
    if (!options["overwrite"]) await refuseExisting(path);
    const args = {
      outPath: path,
      category: options["category"],
      limit: numberIn(options["limit"], "limit"),
      format: options["format"],
      redact: options["redact"] !== false,
    };
    const answer = await this.tool("memory_export", args, options, { source: "user" }, CARRYING_MS);
    if (answer.failed || answer.file === null) return answer;
    await write(path, answer.file, Boolean(options["overwrite"]));
    return { ...answer, file: null, text: `${answer.text} to ${path}` };
  }

  private async import(options: Options): Promise<ToolAnswer> {
    const path = resolve(expanded(String(options["in"])));
    const args = {
      inPath: path,
      dedupe: options["dedupe"],
      dryRun: Boolean(options["dryRun"]),
      validateOnly: Boolean(options["validateOnly"]),
      limit: numberIn(options["limit"], "limit"),
      format: options["format"],
    };
    const file = await read(path);
    const behalf: Behalf = { source: options["trust"] ? "operator" : "assistant", file };
    const answer = await this.tool("memory_import", args, options, behalf, CARRYING_MS);
    const failures = (answer.data["failures"] ?? []) as { place: string; reason: string }[];
    return { ...answer, text: [answer.text, ...failures.map((each) => `  ${each.place}: ${each.reason}`)].join("\n") };
  }

  private async status(options: Options): Promise<ToolAnswer> {
    const who = await this.client.ask<Record<string, unknown>>("GET", "/v1/whoami", undefined, TIMEOUT_MS);
    const scope = this.scope(options);
    const data = { url: this.settings.url, scope, ...who };
    const text = `Memoranda ${String(who["version"])} answers at ${this.settings.url}\nScope: ${scope}\nRole: ${String(who["role"])}`;
    return { text, data, failed: false, receipt: null, latency_ms: 0, file: null };
  }

  private async tool(name: string, args: Arguments, options: Options, behalf: Behalf, timeoutMs = TIMEOUT_MS): Promise<ToolAnswer> {
    const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
    return await this.client.tool(name, given, this.scope(options), behalf, timeoutMs);
  }

  private scope(options: Options): string {
    const named = options["scope"];
    return typeof named === "string" ? named : scopeOf({ ...this.settings, isolation: this.isolation() }, String(options["agent"]));
  }

  /** There is no sender at a terminal: the agent's own scope, of which every sender's is a part. */
  private isolation(): Settings["isolation"] {
    return this.settings.isolation === "shared" ? "shared" : "agent";
  }

  private async run(options: Options, work: () => Promise<ToolAnswer>): Promise<void> {
    try {
      const answer = await work();
      const { text, data, failed, receipt } = answer;
      print(options["json"] ? JSON.stringify({ ok: !failed, ...data, receipt }, null, 2) : text);
      if (failed) process.exitCode = FAILED;
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      const told = { ok: false, error: error.message, hint: error.hint };
      if (options["json"]) print(JSON.stringify(told, null, 2));
      else console.error(`Error: ${error.message}. ${error.hint}`);
      process.exitCode = FAILED;
    }
  }
}

/** Not by the console: with --json the host sends that to standard error. */
function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function numberIn(given: string | boolean | undefined, name: string): number | undefined {
  if (given === undefined) return undefined;
  const found = Number(given);
  if (!Number.isInteger(found)) throw new MemoryError(`--${name} is a whole number`, "Give a number such as 20.", false);
  return found;
}

function lines(memories: Shown[] | undefined, none: string): string {
  if (!memories?.length) return none;
  return memories
    .map((memory) => {
      const sort = memory.label ? `${memory.category}|${memory.label}` : memory.category;
      const score = memory.score === undefined ? "" : ` score=${memory.score}`;
      return `- ${memory.id} [${sort}] scope=${memory.scope} createdAt=${memory.createdAt}${score} ${plain(memory.text)}`;
    })
    .join("\n");
}

/** In one line, and nothing in it that a terminal would obey. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
}
