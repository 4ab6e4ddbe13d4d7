import assert from "node:assert/strict";
import { hashToken, issueToken } from "../../../../shared/crypto/tokens.ts";
import { hourMs } from "../../../../shared/durations.ts";
import type { Story } from "./chapter.ts";

export async function agents({ api: { world }, recorder }: Story) {
  const { db } = world.services;
  const [job] = (await db.select().from(db.tables.jobs)).toSorted((a, b) => a.id.localeCompare(b.id));
  assert.ok(job);
  const token = issueToken("job");
  const now = world.clock.now();
  const issued = {
    tokenHash: hashToken(token),
    jobId: job.id,
    readOnly: false,
    createdAt: now,
    expiresAt: new Date(now.getTime() + hourMs),
  };
  await db.transaction(async (tx) => void (await tx.insert(tx.tables.jobTokens).values(issued)));

  for (const [owner, id] of [
    ["Job", job.id],
    ["Build", job.buildId],
  ] as const) {
    const send = (verb: string, summary: string, json?: object, status = 200) =>
      recorder.send(`${verb}DataOf${owner}`, summary, { token, path: { id }, json, status });
    await send("set", "A value", { key: "release", value: "1.4.0" });
    await send("get", "A value", { key: "release" });
    await send("get", "The webhook's payload", { key: `${world.config.serviceName}:webhook` });
    await send("get", "No such key", { key: "nothing" }, 404);
    await send("exists", "A known key", { key: "release" });
    await send("keys", "The keys");
  }
}
