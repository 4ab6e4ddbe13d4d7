import { defineHandler } from "h3";
import { checkDatabase } from "../../shared/db/health/check.ts";
import { describeProblem, findProblem } from "../../shared/db/health/problem.ts";
import { countUnderOtherKeys } from "../../shared/sealing/secret-key-check.ts";
import { findClockDoubt } from "../../shared/services/clock-guard.ts";
import type { Services } from "../../shared/services/services.ts";
import type { Installation } from "../installation.ts";
import { json } from "./respond.ts";

/** GET /healthz: the process is alive. Waits for no database. */
export function healthz(installation: Installation) {
  return defineHandler(() => {
    void installation.read(); // for the next answer
    return { status: "ok", installation: installation.id };
  });
}

/**
 * GET /readyz. 503 while the process stops and without a migrated database that can be written; `degraded` without Redis or with a doubted
 * clock, as webhooks are still accepted.
 */
export function readyz(services: Services, isClosing: () => boolean) {
  return defineHandler(async () => {
    if (isClosing()) return json(503, { status: "stopping", message: "This process is stopping" });
    const [{ database, migrations, fault }, { state: redis, message: redisProblem }] = await Promise.all([
      checkDatabase(services.db),
      services.checkRedis(),
    ]);
    const isReady = database === "ok" && migrations === "ok";
    if (!isReady) {
      const problem = fault ? findProblem(fault, services.config.databaseUrl) : undefined;
      const parts = { database: problem?.state ?? database, migrations, redis };
      const message = problem
        ? describeProblem(problem)
        : "The database is not migrated: run npm run migrate";
      return json(503, { status: "unavailable", message, parts });
    }
    const problem = await services.writeHealth.check(services.db);
    if (problem) {
      const parts = { database: problem.state, migrations, redis };
      return json(503, { status: "unavailable", message: describeProblem(problem), parts });
    }
    const doubt = await findClockDoubt(services.db);
    const underOtherKeys = await countUnderOtherKeys(services);
    const messages = [
      ...(redisProblem ? [redisProblem] : []),
      ...(doubt ? [`Nothing is deleted by age: ${doubt}. Check the clock, then run admin clock accept`] : []),
    ];
    return json(200, {
      status: messages.length === 0 ? "ok" : "degraded",
      ...(messages.length > 0 && { message: messages.join(". ") }),
      parts: { database, migrations, redis, ...(doubt && { clock: "doubted" }) },
      ...(underOtherKeys > 0 && { sealed_under_other_keys: underOtherKeys }),
    });
  });
}
