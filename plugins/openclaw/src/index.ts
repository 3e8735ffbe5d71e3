/** Memoranda in OpenClaw's memory slot. A thin client of `memoranda serve`: nothing here decides what is remembered. */

import { definePluginEntry, type OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";

import { Cli } from "./cli.js";
import { Client } from "./client.js";
import { settingsFrom } from "./config.js";
import { Hooks } from "./hooks.js";
import { promptLines } from "./prompt.js";
import { Receipts } from "./receipts.js";
import { Tools } from "./tools.js";

export default definePluginEntry({
  id: "memoranda",
  name: "Memoranda",
  description: "Long-term memory served by Memoranda",
  kind: "memory",
  register(api) {
    const settings = settingsFrom(api.pluginConfig);
    const client = new Client(settings, api.logger);
    registerCommands(api, new Cli(settings, client));
    if (api.registrationMode === "cli-metadata") return;
    const receipts = new Receipts(settings.receipts, api.logger);
    api.registerMemoryCapability({ promptBuilder: promptLines });
    new Tools(settings, client, receipts).register(api);
    new Hooks(settings, client, receipts, api.logger).register(api);
  },
});

const ABOUT = "Long-term memory kept by Memoranda";

/** `ltm` is ours; so is `memory`, unless memory-core is there, whose command it is. */
function registerCommands(api: OpenClawPluginApi, cli: Cli): void {
  const names = api.config.plugins?.entries?.["memory-core"]?.enabled === false ? ["ltm", "memory"] : ["ltm"];
  for (const name of names) {
    api.registerCli(({ program }) => cli.add(program.command(name).description(ABOUT)), {
      descriptors: [{ name, description: ABOUT, hasSubcommands: true }],
    });
  }
}
