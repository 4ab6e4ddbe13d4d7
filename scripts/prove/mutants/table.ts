import type { DatabaseName } from "../installation/installation.ts";

/** A faulty copy of the program, which a run has to find. */
export interface Mutant {
  name: string;
  summary: string;
  edits: Edit[];
  /** Only the kinds of faults that bring the fault to light: the seed then repeats more of a run. Default: on SQLite. */
  run: { database?: DatabaseName; minutes: number; perSecond: number; faults: string[] };
  /** A line of the report that no other fault explains. */
  foundBy: RegExp;
}

export interface Edit {
  file: string;
  /** Occurs once. */
  from: string;
  to: string;
}

const accept = "shared/triggers/deliveries/accept.ts";
const deliveries = "shared/triggers/deliveries/due-store.ts";

const decide = "shared/builds/groups/decide-store.ts";
const crowded =
  /\d jobs hold a group of \d|\d jobs of (eager|gate) have started|\d commands of (eager|gate) ran at once/;

export const mutants: Mutant[] = [
  {
    name: "forgotten-news",
    summary: "half of the builds that have finished leave no news",
    edits: [
      {
        file: "shared/news/put.ts",
        from: "  if (wanted.length === 0) return;\n",
        to: `  wanted = wanted.filter(({ event, buildId }) => event !== "build.finished" || !/[0-7]$/.test(buildId ?? ""));
  if (wanted.length === 0) return;
`,
      },
    ],
    run: { minutes: 0.5, perSecond: 1, faults: ["kill"] },
    foundBy: /but its receiver was told/,
  },
  {
    name: "early-201",
    summary: "a webhook is answered 201 a moment before the commit",
    edits: [
      {
        file: accept,
        from: `  const acceptances = await commitOrLookUp(
    db,
    (tx) => writeArrivals(tx, arrivals, ids, now),
    (written) => wereCommitted(db, written),
  );
`,
        to: `  const written = Promise.withResolvers<Acceptance[]>();
  const write = async (tx: Tx) => {
    const each = await writeArrivals(tx, arrivals, ids, now);
    written.resolve(each);
    await new Promise((resolve) => setTimeout(resolve, 100));
    return each;
  };
  commitOrLookUp(db, write, (each) => wereCommitted(db, each)).catch(written.reject);
  const acceptances = await written.promise;
`,
      },
    ],
    run: { minutes: 0.5, perSecond: 2, faults: ["kill"] },
    foundBy: /was answered 201, but delivery \S+ is lost/,
  },
  {
    name: "no-unique-key",
    summary: "no UNIQUE (delivery, rebuild number, position), and a decided delivery is decided again",
    edits: [
      {
        file: "shared/db/migrations/sqlite/0001_sources.sql",
        from: "CREATE UNIQUE INDEX `builds_delivery_position`",
        to: "CREATE INDEX `builds_delivery_position`",
      },
      {
        file: deliveries,
        from: `  const isDue = and(
    isNull(deliveries.status),
    isOfOwner,`,
        to: `  const isDue = and(
    isOfOwner,`,
      },
    ],
    run: { minutes: 1, perSecond: 2, faults: ["kill", "freeze", "redis-restart", "cut", "delay"] },
    foundBy: /status build_created and \d+ builds/,
  },
  {
    name: "lost-change",
    summary: "of a push with several changes, those behind the second are lost",
    edits: [
      {
        file: "shared/triggers/events/plan.ts",
        from: `    if (!("build" in decision)) return [];`,
        to: `    if (!("build" in decision) || position > 1) return [];`,
      },
    ],
    run: { minutes: 0.25, perSecond: 2, faults: ["delay"] },
    foundBy: /\(push of bitbucket\) has the status build_created and 2 builds, not 3/,
  },
  {
    name: "no-look",
    summary: "a worker that nobody wakes does not look for due work",
    edits: [
      {
        file: "workers/jobs.ts",
        from: "for (const each of looking) each.wake();",
        to: "for (const each of looking.slice(2)) each.wake();",
      },
    ],
    run: { minutes: 0.25, perSecond: 2, faults: ["redis-loss", "redis-flush"] },
    foundBy: /has the status null and 0 builds/,
  },
  {
    name: "forgotten-task",
    summary: "a transaction forgets the row of later work, which its process does two seconds later",
    edits: [
      {
        file: "shared/tasks/store.ts",
        from: "  await tx.insertMany(tx.tables.tasks, rows);\n",
        to: "",
      },
      {
        file: "shared/tasks/runner.ts",
        from: "this.#background.add(this.#run(task)",
        to: "this.#background.add(new Promise((resolve) => setTimeout(resolve, 2000)).then(() => this.#run(task))",
      },
    ],
    run: { minutes: 0.5, perSecond: 1, faults: ["kill"] },
    foundBy: /made no build|has an entry for ever|ended before its build/,
  },
  {
    name: "early-log",
    summary: "a piece of a log is acknowledged before it is stored",
    edits: [
      {
        file: "shared/agents/logs/append.ts",
        from: "let outcome = await store(lease, received, { start: 0, end: config.jobLogBytes });",
        to: `store(lease, received, { start: 0, end: config.jobLogBytes }).catch(() => {});
        let outcome = "acknowledged" as Outcome;`,
      },
    ],
    run: { minutes: 0.5, perSecond: 0.5, faults: ["full-disk"] },
    foundBy: /passed, but its log is not whole/,
  },
  {
    name: "early-artifact",
    summary: "an upload whose bytes could not be stored is called stored",
    edits: [
      {
        file: "shared/artifacts/receive.ts",
        from: "const mismatch = await this.#write(artifactBlob(id), content, { bytes, sha1, sha256 });",
        to: `const written = this.#write(artifactBlob(id), content, { bytes, sha1, sha256 });
      const mismatch = await written.catch(() => undefined);`,
      },
    ],
    run: { minutes: 0.5, perSecond: 2, faults: ["full-disk", "delay", "cut"] },
    foundBy: /is finished, but has no bytes/,
  },
  {
    name: "double-redeem",
    summary: "a used device code is redeemed again by a poll that was under way",
    edits: [
      {
        file: "shared/device/store.ts",
        from: `        isOneOf(id, "ids"),
        eq(deviceCodes.state, "approved"),`,
        to: `        isOneOf(id, "ids"),
        inArray(deviceCodes.state, ["approved", "used"]),`,
      },
    ],
    run: { minutes: 0.2, perSecond: 1, faults: ["delay"] },
    foundBy: /gave 2 tokens|used device codes have \d+ grants/,
  },
  {
    name: "no-lease-check",
    summary: "writes of attempts that are superseded are accepted",
    edits: [
      {
        file: "shared/agents/lease.ts",
        from: "if (job.attempt !== attempt || job.acceptedAt === null) throw",
        to: "if (attempt > job.attempt || job.acceptedAt === null) throw",
      },
      {
        file: "shared/builds/rows/is-leased.ts",
        from: "const isPresent = job.agentId === agentId && job.attempt === attempt;",
        to: "const isPresent = job.agentId === agentId && attempt <= job.attempt;",
      },
    ],
    run: { minutes: 0.6, perSecond: 0.7, faults: ["kill"] },
    foundBy: /a stale (start|chunk|finish) of job \S+ is answered 200/,
  },
  {
    name: "taken-key",
    summary: "a key that another delivery has is taken again",
    edits: [
      {
        file: accept,
        from: "if (await takeKeyIfFree(tx, row, freeSince)) continue;",
        to: `if ((await takeKeyIfFree(tx, row, freeSince)) || row.key !== "") continue;`,
      },
    ],
    run: { minutes: 0.2, perSecond: 2, faults: ["delay"] },
    foundBy: /with a key\) was answered with 2 ids/,
  },
  {
    name: "no-pause-lock",
    summary: "a job is assigned without the lock of its queue, against which a pause is stored",
    edits: [
      {
        file: "shared/dispatch/store.ts",
        from: `  return tx.lock(queues, isDispatching, "exclusive");`,
        to: "  return tx.select().from(queues).where(isDispatching);",
      },
    ],
    run: { database: "postgres", minutes: 1, perSecond: 2, faults: ["delay"] },
    foundBy: /was assigned while its queue was paused/,
  },
  {
    name: "crowded-group",
    summary: "a concurrency group does not count the jobs that hold it",
    edits: [
      {
        file: decide,
        from: "const holders = await countHolders(db, groupId);",
        to: "const holders = 0;",
      },
    ],
    run: { minutes: 0.5, perSecond: 1, faults: ["kill"] },
    foundBy: crowded,
  },
  {
    name: "overtaken-gate",
    summary: "entries of a group that wait for other steps do not keep later ones out",
    edits: [
      {
        file: "shared/builds/groups/decide.ts",
        from: "holders + index + waitingAhead < entry.limit",
        to: "holders + index < entry.limit",
      },
    ],
    run: { minutes: 0.5, perSecond: 1, faults: ["kill"] },
    foundBy: /has overtaken \d+ jobs of a gate|has started, with \d+ jobs before it/,
  },
  {
    name: "double-unblock",
    summary: "a step that was unblocked is unblocked again",
    edits: [
      {
        file: "shared/builds/progress/unblock.ts",
        from: `  unblocked: "somebody has unblocked it already",
`,
        to: "",
      },
      {
        file: "shared/builds/progress/unblock.ts",
        from: "return unblockable ? undefined : tooEarly;",
        to: `return unblockable || state === "unblocked" ? undefined : tooEarly;`,
      },
      {
        file: "shared/builds/rows/blocked-store.ts",
        from: `    .where(and(eq(jobs.id, id), eq(jobs.state, "blocked"), eq(jobs.unblockable, true)))`,
        to: `    .where(and(eq(jobs.id, id), inArray(jobs.state, ["blocked", "unblocked"])))`,
      },
    ],
    run: { minutes: 0.5, perSecond: 1, faults: ["delay"] },
    foundBy: /was unblocked \d times/,
  },
  {
    name: "early-unblock",
    summary: "a step can be unblocked before those that it waits for have ended",
    edits: [
      {
        file: "shared/builds/progress/unblock.ts",
        from: "return unblockable ? undefined : tooEarly;",
        to: `return state === "blocked" || unblockable ? undefined : tooEarly;`,
      },
      {
        file: "shared/builds/rows/blocked-store.ts",
        from: `    .where(and(eq(jobs.id, id), eq(jobs.state, "blocked"), eq(jobs.unblockable, true)))`,
        to: `    .where(and(eq(jobs.id, id), eq(jobs.state, "blocked")))`,
      },
    ],
    run: { minutes: 0.5, perSecond: 1, faults: ["delay"] },
    foundBy: /\(release\) began before/,
  },
  {
    name: "double-trigger",
    summary: "a trigger step makes a build each time that it is asked for one",
    edits: [
      {
        file: "shared/builds/triggered/make.ts",
        from: `if (!build || job?.state !== "scheduled" || job.type !== "trigger") return [];`,
        to: `if (!build || job?.type !== "trigger") return [];`,
      },
      {
        file: "shared/db/migrations/sqlite/0000_initial.sql",
        from: "CREATE UNIQUE INDEX `builds_triggered`",
        to: "CREATE INDEX `builds_triggered`",
      },
      {
        // Late enough for a worker to do it, too: a process is hardly ever frozen in the moment before.
        file: "shared/tasks/runner.ts",
        from: "this.#background.add(this.#run(task)",
        to: "this.#background.add(new Promise((resolve) => setTimeout(resolve, 5000)).then(() => this.#run(task))",
      },
    ],
    run: { minutes: 0.7, perSecond: 1, faults: ["freeze", "kill"] },
    foundBy: /made \d builds/,
  },
];
