import { get } from "node:http";
import { json } from "node:stream/consumers";
import type { Db } from "../shared/db/database.ts";
import { findSharedValue } from "../shared/db/shared-values-store.ts";
import { secondMs } from "../shared/durations.ts";
import { patterns } from "../shared/paths.ts";
import { type Config, ConfigError } from "../shared/settings/config.ts";

/** Wait for whoever else listens on the port. */
const askWithinMs = secondMs;

/** Names the database, which the migration did at random. */
export class Installation {
  readonly #db: Db;
  #id: string | undefined;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Undefined until it was read. */
  get id(): string | undefined {
    return this.#id;
  }

  /** Never rejects. Reads nothing while the database is away or not migrated. */
  async read(): Promise<void> {
    this.#id ??= await findSharedValue(this.#db, "installation").catch(() => undefined);
  }
}

/**
 * Processes share a port silently: a second installation on it would take half of the first one's requests.
 * @throws ConfigError if another installation answers on the port
 */
export async function refusePortOfAnother({ host, port }: Config, { id }: Installation): Promise<void> {
  if (port === 0 || id === undefined) return;
  const other = await askInstallation(host, port);
  if (other === undefined || other === id) return;
  throw new ConfigError(
    `Port ${port} is in use by another installation, which has another database. Stop that one, or choose another PORT.`,
  );
}

/** Returns undefined if nobody answers, or without an id. */
async function askInstallation(host: string, port: number): Promise<string | undefined> {
  const request = get({
    host,
    port,
    path: patterns.healthz,
    agent: false,
    signal: AbortSignal.timeout(askWithinMs),
  });
  try {
    const answer = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
      request.on("response", resolve);
      request.on("error", reject);
    });
    const { installation } = (await json(answer)) as { installation?: unknown };
    return typeof installation === "string" ? installation : undefined;
  } catch {
    return undefined;
  } finally {
    request.destroy();
  }
}
