import { once } from "node:events";
import { freePort } from "../../../../test/servers/ports.ts";
import { untilListening } from "../../ports.ts";
import { pidsOf, type Scratch } from "../../scratch.ts";
import type { Progress, Server } from "../contestants.ts";

/** Messages to the server's process and back. */
export interface CodesRequest {
  progress: Progress;
  count: number;
}
export interface CodesReply {
  codes: string[];
}

export async function startOidcProvider(scratch: Scratch): Promise<Omit<Server, "name">> {
  const port = await freePort();
  const child = scratch.startScript("oidc-provider", "scripts/bench/device/oidc-provider/server.ts", {
    env: { PORT: String(port) },
    ipc: true,
  });
  await untilListening(port);
  return {
    pids: pidsOf({ server: child }),
    authorizationUrl: `http://127.0.0.1:${port}/device/auth`,
    tokenUrl: `http://127.0.0.1:${port}/token`,
    async makeCodes(progress, count) {
      const replied = once(child, "message") as Promise<[CodesReply]>;
      child.send({ progress, count } satisfies CodesRequest);
      const [{ codes }] = await replied;
      return codes;
    },
  };
}
