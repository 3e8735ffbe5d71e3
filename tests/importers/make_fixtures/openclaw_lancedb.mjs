// Makes tests/importers/fixtures/openclaw_lancedb with the plugin memory-lancedb of OpenClaw itself.
//
//   mkdir made && cd made && npm init -y        (with Node.js 22)
//   npm install --ignore-scripts openclaw@2026.4.29 @lancedb/lancedb@0.27.2 openai@6 typebox@1.1.34 apache-arrow@18
//   cp ../openclaw_lancedb.mjs . && node openclaw_lancedb.mjs OUT
//
// OUT/memory-lancedb is written by the plugin's own tools. OUT/agents has the columns of later versions, which are not
// in the registry: made with the same calls of @lancedb/lancedb as theirs. Embeddings come from a server in here.
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { join } from "node:path";
import * as lancedb from "@lancedb/lancedb";
import plugin from "./node_modules/openclaw/dist/extensions/memory-lancedb/index.js";

const out = process.argv[2];
const DIMENSIONS = 8;

function vectorOf(text) {
  const bytes = createHash("sha256").update(text).digest();
  const values = Array.from({ length: DIMENSIONS }, (_, at) => bytes[at] / 127.5 - 1);
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
}

const server = createServer((request, response) => {
  let body = "";
  request.on("data", (part) => (body += part));
  request.on("end", () => {
    const data = [{ object: "embedding", index: 0, embedding: vectorOf(JSON.parse(body).input) }];
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ object: "list", model: "small", data, usage: { prompt_tokens: 1, total_tokens: 1 } }));
  });
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));

const tools = {};
const quiet = () => {};
const pluginConfig = {
  dbPath: join(out, "memory-lancedb"),
  autoCapture: false,
  autoRecall: false,
  embedding: {
    apiKey: "none",
    model: "small",
    baseUrl: `http://127.0.0.1:${server.address().port}/v1`,
    dimensions: DIMENSIONS,
  },
};
const config = { plugins: { entries: { "memory-lancedb": { enabled: true, config: pluginConfig } } } };
plugin.register({
  id: "memory-lancedb",
  config,
  pluginConfig,
  runtime: { config: { current: () => config } },
  logger: { info: quiet, warn: quiet, error: quiet, debug: quiet },
  resolvePath: (path) => path,
  registerTool: (tool) => (tools[tool.name] = tool),
  registerCli: quiet,
  registerService: quiet,
  registerMemoryCapability: quiet,
  on: quiet,
});

const SAID = [
  { text: "I prefer short answers.", importance: 0.9, category: "preference" },
  { text: "The reading lamp is light.office.", importance: 0.8, category: "entity" },
  { text: "We decided to heat the cellar only in winter.", category: "decision" },
  { text: "The boiler manual is in the blue folder.", importance: 0.4, category: "fact" },
  { text: "It's 'quoted'; and has a % and a \\ in it.", importance: 0.2 },
];
for (const each of SAID) console.log((await tools.memory_store.execute("made", each)).details);
console.log((await tools.memory_recall.execute("made", { query: "I prefer short answers." })).details.count, "recalled");

const rows = SAID.slice(0, 3).map((each, at) => ({
  id: `00000000-0000-4000-8000-00000000000${at}`,
  text: each.text,
  vector: vectorOf(each.text),
  importance: each.importance ?? 0.7,
  category: each.category,
  createdAt: 1767225600000 + at * 1000,
  agentId: at === 2 ? "work" : "main",
}));
const later = await lancedb.connect(join(out, "agents"));
const first = { id: "__schema__", text: "", vector: Array(DIMENSIONS).fill(0), importance: 0, category: "other" };
const table = await later.createTable("memories", [{ ...first, createdAt: 0, agentId: "__schema__" }]);
await table.delete("id = '__schema__'");
for (const row of rows) await table.add([row]);
server.close();
process.exit(0);
