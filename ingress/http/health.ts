import { defineHandler } from "h3";
import { checkDatabase } from "../../shared/db/health.ts";
import type { Services } from "../../shared/runtime/services.ts";
import { json } from "./respond.ts";

/** GET /healthz: the process is alive. */
export function healthz() {
  return defineHandler(() => ({ status: "ok" }));
}

/**
 * GET /readyz. 503 while the process stops and without a migrated database; `degraded` without Redis, as webhooks are
 * still accepted.
 */
export function readyz(services: Services, isClosing: () => boolean) {
  return defineHandler(async () => {
    if (isClosing()) return json(503, { status: "stopping", message: "This process is stopping" });
    const [{ database, migrations }, redis] = await Promise.all([
      checkDatabase(services.db),
      services.checkRedis(),
    ]);
    const isReady = database === "ok" && migrations === "ok";
    const status = !isReady ? "unavailable" : redis === "ok" ? "ok" : "degraded";
    return json(isReady ? 200 : 503, {
      status,
      ...(isReady ? {} : { message: reasonFor(database) }),
      parts: { database, migrations, redis },
    });
  });
}

function reasonFor(database: string): string {
  return database === "ok"
    ? "The database is not migrated: run npm run migrate"
    : "The database cannot be reached";
}
