import { createBuilds } from "../../shared/builds/create.ts";
import type { Services } from "../../shared/process/services.ts";

const rowsAtOnce = 1000;

/** Makes builds of one job, which waits. */
export async function addBuilds(services: Services, pipelineId: string, count: number): Promise<void> {
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
  for (let done = 0; done < count; done += rowsAtOnce) {
    const requests = Array.from({ length: Math.min(rowsAtOnce, count - done) }, () => request);
    await db.transaction((tx) => createBuilds(tx, services, requests, clock.now()));
  }
}
