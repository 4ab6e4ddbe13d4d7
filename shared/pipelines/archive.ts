import { type Actor, audit } from "../accounts/audit.ts";
import type { Services } from "../services/services.ts";
import { auditSubject } from "./pipelines.ts";
import { archiveIfListed, type PipelineFacts, unarchiveIfArchived } from "./store.ts";

/** Lets a pipeline make no further builds. Builds that it has go on. An archived one stays as it is. */
export async function archivePipeline(
  services: Services,
  actor: Actor,
  { id }: Pick<PipelineFacts, "id">,
): Promise<void> {
  await services.db.transaction(async (tx) => {
    const archived = await archiveIfListed(tx, id);
    if (archived) await audit(tx, actor, "archived", auditSubject(archived));
  });
  services.events.publish([`pipeline:${id}`]);
}

/** Lets an archived pipeline make builds again. Deliveries that came meanwhile are not built. */
export async function unarchivePipeline(
  services: Services,
  actor: Actor,
  { id }: Pick<PipelineFacts, "id">,
): Promise<void> {
  await services.db.transaction(async (tx) => {
    const unarchived = await unarchiveIfArchived(tx, id);
    if (unarchived) await audit(tx, actor, "unarchived", auditSubject(unarchived));
  });
  services.events.publish([`pipeline:${id}`]);
}
