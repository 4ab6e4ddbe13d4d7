import { createBuilds } from "../../shared/builds/create.ts";
import type { Services } from "../../shared/process/services.ts";

const rowsAtOnce = 1000;

/** Makes builds whose jobs wait. @param atOnce builds of a transaction; those of many jobs need fewer */
export async function addBuilds(
  services: Services,
  pipelineId: string,
  count: number,
  atOnce = rowsAtOnce,
): Promise<void> {
  const { db, clock } = services;
  const request = {
    pipelineId,
    deliveryId: null,
    source: "webhook" as const,
    message: "Light the harbour",
    commit: "HEAD",
    branch: "main",
    environmentSealed: null,
  };
  for (let done = 0; done < count; done += atOnce) {
    const requests = Array.from({ length: Math.min(atOnce, count - done) }, () => request);
    await db.transaction((tx) => createBuilds(tx, services, requests, clock.now()));
  }
}
