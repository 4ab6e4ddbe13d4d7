import { lockBuilds } from "../builds/rows/progress-store.ts";
import { notFound } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { type Annotating, annotate } from "./annotations.ts";
import type { AnnotationOwner } from "./store.ts";

/** Annotates for a person, who may do so after the build, too. @returns its id @throws Refusal 404, 422 */
export function annotateByHand(
  services: Services,
  owner: AnnotationOwner,
  given: Annotating,
): Promise<string> {
  return annotate(services, owner, given, (change) =>
    services.db.transaction(async (tx) => {
      const [build] = await lockBuilds(tx, [owner.buildId]);
      if (!build) throw notFound("build");
      return change(tx, build);
    }),
  );
}
