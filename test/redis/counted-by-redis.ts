import assert from "node:assert/strict";
import type { Services } from "../../shared/services/services.ts";
import { seriesOf } from "../process/metrics/read.ts";

const maxTries = 5;

/**
 * Repeats a trial until no limit was counted in the memory of a process. On a busy machine Redis answers late, and each process
 * then admits what the limit allows. Each trial must have a limit of its own.
 */
export async function countedByRedis<T>(
  processes: { services: Pick<Services, "metrics"> }[],
  trial: () => Promise<T>,
): Promise<T> {
  const countFromMemory = async () => {
    const series = await Promise.all(
      processes.map(({ services }) => seriesOf(services, "limits_from_memory_total")),
    );
    return series.flat().reduce((sum, { value }) => sum + value, 0);
  };

  for (let tried = 0; tried < maxTries; tried++) {
    const before = await countFromMemory();
    const result = await trial();
    if ((await countFromMemory()) === before) return result;
  }
  assert.fail(`Redis answered late ${maxTries} times.`);
}
