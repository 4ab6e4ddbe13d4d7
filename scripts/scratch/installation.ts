import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { migrate } from "../../shared/db/migrate.ts";
import type { Services } from "../../shared/services/services.ts";
import { readConfig } from "../../shared/settings/config.ts";
import { withServices as withServicesOf } from "../with-services.ts";
import { freePort } from "./ports.ts";
import type { Scratch } from "./scratch.ts";

/** Has default settings, a new database and its request log. */
export interface Installation {
  databaseUrl: string;
  port: number;
  /** Environment of its processes. */
  env: Record<string, string>;
}

/** Starts no process. */
export async function install(
  scratch: Scratch,
  redis: { url: string },
  settings: Record<string, string> = {},
): Promise<Installation> {
  const port = await freePort();
  const env = {
    HOST: "127.0.0.1",
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    DATABASE_URL: `file:${join(scratch.dir, "signalbox.db")}`,
    BLOB_URL: `file:${join(scratch.dir, `blobs-${port}`)}`,
    REDIS_URL: redis.url,
    SECRET_KEY: randomBytes(24).toString("hex"),
    LOG_LEVEL: "info",
    ...settings,
  };
  const { databaseUrl } = readConfig(env);
  await migrate(databaseUrl);
  return { databaseUrl, port, env };
}

/** Opens services as the operator's command does. */
export function withServices<T>(
  { env }: Pick<Installation, "env">,
  work: (services: Services) => Promise<T>,
): Promise<T> {
  return withServicesOf(readConfig(env), work);
}
