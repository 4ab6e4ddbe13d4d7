import { createDatabase } from "../databases.ts";
import { createEndpoint } from "../deliveries/signalbox.ts";
import { ScratchRedis } from "../redis.ts";
import type { Scratch } from "../scratch.ts";
import { install, withServices } from "../signalbox.ts";
import type { Peer } from "./peer.ts";
import { readRows } from "./rows.ts";

/** Starts with `npm start`'s loader, default settings, and a Redis that syncs once a second. */
export async function prepareSignalbox(scratch: Scratch, postgres: string | undefined): Promise<Peer> {
  const redis = await ScratchRedis.start(scratch);
  const installation = await install(scratch, redis, {
    DATABASE_URL: await createDatabase(scratch, "peers", postgres),
  });
  const { url } = await withServices(installation, (services) => createEndpoint(services));
  const { env, port, databaseUrl } = installation;
  return {
    url,
    port,
    processes: {
      server: () => scratch.startScript("ingress", "ingress/main.ts", { env }),
      worker: () => scratch.startScript("worker", "workers/main.ts", { env }),
    },
    key: "id",
    ...(await readRows(scratch, databaseUrl, {
      runs: "select delivery_id as key from builds",
      unfinished: "select id as key from deliveries where status is null",
    })),
  };
}
