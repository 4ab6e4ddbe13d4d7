import { createAgentToken } from "../../../shared/agents/tokens.ts";
import { createPipeline } from "../../../shared/pipelines/pipelines.ts";
import type { Services } from "../../../shared/process/services.ts";
import { createQueue } from "../../../shared/queues/queues.ts";
import type { CommandStep } from "../../../shared/vocabulary.ts";
import type { createFilteringOrganization } from "../../scratch/organization.ts";
import { addBuilds } from "../builds.ts";

export type Owner = Pick<Awaited<ReturnType<typeof createFilteringOrganization>>, "operator" | "cluster">;

const stepsOfPipeline = 100;
const buildsAtOnce = 10;

/**
 * Makes a queue whose jobs all wait for agents with other tags.
 * @param kinds how many different tags they ask for
 * @returns a token that registers agents of the queue
 */
export async function addOtherJobs(
  services: Services,
  { operator, cluster }: Owner,
  { key, kinds, jobs }: { key: string; kinds: number; jobs: number },
): Promise<string> {
  const { id: queueId } = await createQueue(services, operator, cluster, { key });
  for (let done = 0; done < kinds; done += stepsOfPipeline) {
    const steps = Array.from({ length: stepsOfPipeline }, (_, index): CommandStep => {
      const kind = (done + index) % kinds;
      return { command: "echo hello", agents: { queue: key, kind: `${kind}` } };
    });
    const slug = `${key}-${done}`;
    const pipeline = await createPipeline(services, operator, {
      ...{ clusterId: cluster.id, slug, name: slug, steps },
    });
    await addBuilds(services, pipeline.id, Math.ceil(jobs / Math.max(kinds, stepsOfPipeline)), buildsAtOnce);
  }
  const input = { description: "Bench", queueId, expiresAt: null };
  return (await createAgentToken(services, operator, cluster, input)).token;
}
