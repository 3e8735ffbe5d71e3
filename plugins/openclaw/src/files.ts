/** Files of the host for memory_export and memory_import. A model's path stays inside one folder; a person's may not. */

import { lstat, mkdir, open, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

import { MemoryError } from "./client.js";

const MOST_BYTES = 60 * 1024 * 1024;
const FOLDER = "memory-exports";

export function expanded(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
}

/** The folder that tools may use: the configured one, or one in the agent's workspace. */
export function folderFor(dir: string | undefined, workspaceDir: string | undefined): string {
  if (dir) return resolve(expanded(dir));
  if (workspaceDir) return join(workspaceDir, FOLDER);
  throw refused("there is no folder for exports", "Set plugins.entries.memoranda.config.files.dir.");
}

/** A path inside the folder, whatever links there are on the way to it. */
export async function confined(folder: string, path: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const root = await realpath(folder);
  const wanted = resolve(root, path);
  const parent = await realpath(dirname(wanted)).catch(() => {
    throw refused("there is no such folder for exports", "Give the name of a file, such as memories.jsonl.");
  });
  const real = join(parent, basename(wanted));
  const inside = relative(root, real);
  if (!inside || inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    throw refused("this path is outside of the folder for exports", "Give the name of a file, such as memories.jsonl.");
  }
  const there = await lstat(real).catch(() => undefined);
  if (there && !there.isFile()) throw refused("this is not a plain file", "Give the name of a file.");
  return real;
}

export async function read(path: string): Promise<string> {
  const there = await stat(path).catch(() => undefined);
  if (!there?.isFile()) throw refused("there is no such file", "Give the name of a file that is there.");
  if (there.size > MOST_BYTES) {
    throw refused("the file is larger than 60 MB", "Run `memoranda import` where the memory is served.");
  }
  const file = await open(path, "r");
  try {
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/** A new file that only its owner may read; with `overwrite`, in the place of one that is there. */
export async function write(path: string, content: string, overwrite = false): Promise<void> {
  const file = await open(path, overwrite ? "w" : "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST") throw refused("a file of this name is there already", "Give another name.");
    throw refused(`the file cannot be written (${error.code})`, "Give another path.");
  });
  try {
    await file.writeFile(content, "utf8");
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Whether a new file may be written there, before anybody is asked for what goes into it. */
export async function refuseExisting(path: string): Promise<void> {
  if (await lstat(path).catch(() => undefined)) throw refused("a file of this name is there already", "Give another name.");
}

function refused(message: string, hint: string): MemoryError {
  return new MemoryError(message, hint, false);
}
