import type { ScratchRedis } from "../redis.ts";
import type { Scratch } from "../scratch.ts";
import type { Server } from "./contestants.ts";
import { startOidcProvider } from "./oidc-provider/start.ts";
import { startSignalbox } from "./signalbox.ts";

/** @param postgres allows CREATE DATABASE; undefined: SQLite */
export async function startServers(
  scratch: Scratch,
  redis: ScratchRedis,
  postgres: string | undefined,
): Promise<Server[]> {
  return [
    { name: "oidcProvider", ...(await startOidcProvider(scratch)) },
    { name: "signalbox", ...(await startSignalbox(scratch, redis, postgres)) },
  ];
}
