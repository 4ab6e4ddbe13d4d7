import { samplingId } from "../../../shared/dispatch/figures.ts";
import { sampleMinutes } from "../../../shared/figures/samples.ts";
import { listFigures, listSumsByTime } from "../../../shared/figures/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { lastSamples, levelNames, levelsOf, sampledUntil } from "../queues/charts.ts";

/** Sums of waiting jobs, running jobs and connected agents of these queues, in the last day. */
export async function loadClusterChart({ db, clock }: Services, queueIds: string[]) {
  const times = lastSamples(sampledUntil(clock.now()));
  const [since = clock.now()] = times;
  const summed = { subjectIds: queueIds, names: levelNames, minutes: sampleMinutes, since };
  const sums = queueIds.length === 0 ? [] : await listSumsByTime(db.offLoop, summed);
  const sampled = await listFigures(db, [samplingId], since);
  return { isEmpty: sums.length === 0, ...levelsOf(times, sums, sampled) };
}
