import { findSharedValue, putSharedValue } from "../db/shared-values-store.ts";
import { moveSamplesIntoHours, storeSamples } from "../figures/samples.ts";
import type { Services } from "../services/services.ts";
import type { FigureName } from "../vocabulary.ts";
import { countWorkOfQueues } from "./figures-store.ts";

const queuesAtOnce = 50;
const maxGroups = 200;
/** The last queue of a run that had too many. The next run goes on there. */
const stoppedAtName = "queues_sampled_to";

const levels = ["jobs_waiting", "jobs_running", "agents_connected"] as const satisfies FigureName[];
export const queueFigures: FigureName[] = [...levels, "queues_sampled"];
/** The subject of `queues_sampled`, which tells a time without work from one without a worker. */
export const samplingId = "00000000-0000-0000-0000-000000000000";

/** Stores how many jobs wait and run and how many agents are connected at each queue, up to 1,000 each. */
export async function sampleQueues({ db, clock }: Services): Promise<void> {
  const now = clock.now();
  const stoppedAt = (await findSharedValue(db, stoppedAtName)) ?? "";
  let after = stoppedAt;
  for (let groups = 0; groups < maxGroups; groups++) {
    const queues = await countWorkOfQueues(db.offLoop, after, queuesAtOnce);
    await storeSamples(db, now, queues.flatMap(samplesOf));
    after = queues.length < queuesAtOnce ? "" : (queues.at(-1)?.id ?? "");
    if (after === "") break;
  }
  await storeSamples(db, now, [{ subjectId: samplingId, figure: "queues_sampled", value: 1 }]);
  if (after !== stoppedAt) await db.transaction((tx) => putSharedValue(tx, stoppedAtName, after));
  await moveSamplesIntoHours(db, now, queueFigures);
}

type Work = Awaited<ReturnType<typeof countWorkOfQueues>>[number];

function samplesOf({ id: subjectId, waiting, running, connected }: Work) {
  const values = { jobs_waiting: waiting, jobs_running: running, agents_connected: connected };
  return levels.map((figure) => ({ subjectId, figure, value: values[figure] }));
}
