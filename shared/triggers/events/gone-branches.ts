import { dueOfGoneBranch } from "../../builds/outdated/gone.ts";
import type { Build } from "../../builds/rows/build-store.ts";
import type { Tx } from "../../db/database.ts";
import type { Plan } from "./plan.ts";

/** The highest number of a build. */
const maxNumber = 2_147_483_647;

/** Makes it due to cancel the builds of branches that are gone. Builds that later deliveries have just made stay. */
export async function dueOfGoneBranches(tx: Tx, plans: Map<string, Plan>, built: Build[]): Promise<void> {
  for (const [id, { pipelineId, goneBranches }] of plans) {
    if (goneBranches.length === 0) continue;
    const later = built.filter((build) => build.pipelineId === pipelineId && (build.deliveryId ?? "") > id);
    const below = Math.min(maxNumber, ...later.map(({ number }) => number));
    for (const branch of goneBranches) await dueOfGoneBranch(tx, { pipelineId, branch, below });
  }
}
