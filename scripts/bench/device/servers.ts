import { withServices } from "../../scratch/installation.ts";
import { createScratchOrganization } from "../../scratch/organization.ts";
import { freePort, untilListening } from "../../scratch/ports.ts";
import type { Scratch } from "../../scratch/scratch.ts";
import type { Contestant } from "../loads.ts";
import { pidsOf } from "../machine/cpu.ts";
import { startPlayer } from "../player.ts";
import type { ScratchRedis } from "../redis.ts";
import { startSignalbox } from "../signalbox.ts";
import { createSeed, deviceCodeSeconds, deviceUrls, makeCodes, type Progress } from "./codes.ts";

/** In the order of the table. */
export const columns = { oidcProvider: "oidc-provider", signalbox: "Signalbox" };
export type ContestantName = keyof typeof columns;

export interface Server extends Contestant<ContestantName> {
  authorizationUrl: string;
  tokenUrl: string;
  /** Sends no requests. */
  makeCodes(progress: Progress, count: number): Promise<string[]>;
}

export async function startOidcProvider(scratch: Scratch): Promise<Server> {
  const port = await freePort();
  const player = startPlayer<typeof import("./oidc-provider/server.ts")>(
    scratch,
    "device/oidc-provider/server.ts",
    { env: { PORT: String(port) } },
  );
  await untilListening(port);
  return {
    name: "oidcProvider",
    fsync: "everysec",
    pids: pidsOf({ server: player }),
    authorizationUrl: `http://127.0.0.1:${port}/device/auth`,
    tokenUrl: `http://127.0.0.1:${port}/token`,
    makeCodes: player.makeCodes,
  };
}

export async function startOurs(
  scratch: Scratch,
  redis: ScratchRedis,
  postgres: string | undefined,
): Promise<Server> {
  const started = await startSignalbox(scratch, redis, {
    name: "device",
    postgres,
    settings: { DEVICE_CODE_SECONDS: String(deviceCodeSeconds) },
    seed: async (services) => {
      const { organization } = await createScratchOrganization(services, "bench");
      return createSeed(services, organization.id);
    },
  });
  return {
    name: "signalbox",
    fsync: "everysec",
    pids: started.pids,
    ...deviceUrls(started.url),
    makeCodes: (progress, count) =>
      withServices(started, (services) => makeCodes(services, started.seed, { progress, count })),
  };
}
