import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../test/servers/ports.ts";
import type { Scratch } from "../scratch.ts";
import type { Parts, Peer } from "./peer.ts";

/**
 * Debian's program starts a command for each post.
 * @param waits whether it answers once the command has ended, or before it starts
 */
export async function prepareWebhook(
  scratch: Scratch,
  { webhook }: Parts,
  { waits }: { waits: boolean },
): Promise<Peer> {
  const port = await freePort();
  const runs = join(scratch.dir, "runs");
  const command = join(scratch.dir, "command.sh");
  const hooks = join(scratch.dir, "hooks.json");
  writeFileSync(runs, "");
  writeFileSync(command, `#!/bin/sh\necho "$1" >> ${runs}\n`);
  chmodSync(command, 0o755);
  const hook = {
    id: "run",
    "execute-command": command,
    "pass-arguments-to-command": [{ source: "payload", name: "number" }],
    "include-command-output-in-response": waits,
  };
  writeFileSync(hooks, JSON.stringify([hook]));

  const listRuns = async () => readFileSync(runs, "utf8").split("\n").slice(0, -1);
  return {
    url: `http://127.0.0.1:${port}/hooks/run`,
    port,
    processes: {
      server: () =>
        scratch.startProgram("webhook", webhook, {
          args: ["-hooks", hooks, "-ip", "127.0.0.1", "-port", String(port)],
        }),
    },
    key: "number",
    countRuns: async () => (await listRuns()).length,
    listRuns,
    listUnfinished: async () => [],
  };
}
