import type { Actor } from "../../accounts/audit.ts";
import { lockActiveRole } from "../../accounts/member-store.ts";
import { notFound, validationFailed } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { stored } from "../../sharing/bounds.ts";
import { roomProblems } from "../../sharing/room.ts";
import { lockPipeline, type PipelineFacts } from "../store.ts";
import { countStars, deleteStar, findStar, insertStar, type StarId } from "./store.ts";

/**
 * Lets a member see a pipeline first. A starred one stays as it is.
 * @throws Refusal 404; 422 if the member may have no more stars
 */
export async function starPipeline(
  services: Services,
  actor: Actor,
  pipeline: Pick<PipelineFacts, "id">,
): Promise<void> {
  const { db, config, clock, events } = services;
  const star = starOf(actor, pipeline);
  const createdAt = clock.now();
  await db.transaction(async (tx) => {
    if (!(await lockActiveRole(tx, star.organizationId, star.userId))) throw notFound("organization");
    if ((await lockPipeline(tx, pipeline.id))?.organizationId !== star.organizationId)
      throw notFound("pipeline");
    if (await findStar(tx, star)) return;
    const problems = await roomProblems(config, stored.stars, (limit) => countStars(tx, star, limit));
    if (problems.length > 0) throw validationFailed(...problems);
    await insertStar(tx, { ...star, createdAt });
  });
  events.publish([`user:${star.userId}`]);
}

/** Without a star the pipeline stays as it is. */
export async function unstarPipeline(
  { db, events }: Services,
  actor: Actor,
  pipeline: Pick<PipelineFacts, "id">,
): Promise<void> {
  const star = starOf(actor, pipeline);
  await db.transaction((tx) => deleteStar(tx, star));
  events.publish([`user:${star.userId}`]);
}

function starOf({ organization, userId }: Actor, { id }: Pick<PipelineFacts, "id">): StarId {
  return { organizationId: organization.id, userId, pipelineId: id };
}
