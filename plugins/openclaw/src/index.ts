/** Memoranda in OpenClaw's memory slot. A thin client of `memoranda serve`: nothing here decides what is remembered. */

import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";

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
    const cli = new Cli(settings, client);
    api.registerCli(
      ({ program }) => {
        cli.add(program.command("ltm").description("Long-term memory kept by Memoranda"));
      },
      { descriptors: [{ name: "ltm", description: "Long-term memory kept by Memoranda", hasSubcommands: true }] },
    );
    if (api.registrationMode === "cli-metadata") return;
    const receipts = new Receipts(settings.receipts, api.logger);
    api.registerMemoryCapability({ promptBuilder: promptLines });
    new Tools(settings, client, receipts).register(api);
    new Hooks(settings, client, receipts, api.logger).register(api);
  },
});
