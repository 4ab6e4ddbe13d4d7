import { prepareBullMq } from "./bullmq.ts";
import type { StartPeer } from "./peer.ts";
import { preparePostgresQueue } from "./postgres-queue.ts";
import { prepareSignalbox } from "./signalbox.ts";
import { prepareWebhook } from "./webhook.ts";

interface Contestant {
  title: string;
  /** Must be fetched before. */
  needs: ("npm" | "debian" | "postgres")[];
  prepare: StartPeer;
}

/** In the table's order. */
export const names = [
  "signalbox-sqlite",
  "signalbox-postgres",
  "bullmq-always",
  "bullmq-everysec",
  "pg-boss",
  "graphile-worker",
  "webhook",
  "webhook-waits",
] as const;
export type ContestantName = (typeof names)[number];

export const contestants: Record<ContestantName, Contestant> = {
  "signalbox-sqlite": {
    title: "Signalbox, SQLite",
    needs: [],
    prepare: (scratch) => prepareSignalbox(scratch, undefined),
  },
  "signalbox-postgres": {
    title: "Signalbox, Postgres",
    needs: ["postgres"],
    prepare: (scratch, { postgres }) => prepareSignalbox(scratch, postgres),
  },
  "bullmq-always": {
    title: "fastify + BullMQ, always",
    needs: [],
    prepare: (scratch) => prepareBullMq(scratch, "always"),
  },
  "bullmq-everysec": {
    title: "fastify + BullMQ, everysec",
    needs: [],
    prepare: (scratch) => prepareBullMq(scratch, "everysec"),
  },
  "pg-boss": {
    title: "fastify + pg-boss",
    needs: ["npm", "postgres"],
    prepare: (scratch, parts) => preparePostgresQueue(scratch, parts, "pg-boss"),
  },
  "graphile-worker": {
    title: "fastify + graphile-worker",
    needs: ["npm", "postgres"],
    prepare: (scratch, parts) => preparePostgresQueue(scratch, parts, "graphile-worker"),
  },
  webhook: {
    title: "webhook (Debian)",
    needs: ["debian"],
    prepare: (scratch, parts) => prepareWebhook(scratch, parts, { waits: false }),
  },
  "webhook-waits": {
    title: "webhook (Debian), waits",
    needs: ["debian"],
    prepare: (scratch, parts) => prepareWebhook(scratch, parts, { waits: true }),
  },
};
