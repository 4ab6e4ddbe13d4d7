import { eq } from "drizzle-orm";
import { leaveArtifact, leaveBytes } from "../../../artifacts/left-by-job.ts";
import type { Pages } from "../../../helpers/pages.ts";

const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Leaves artifacts of the first build of a pipeline of Globex. */
export async function exhibitArtifacts({ services }: Pages, slug: string) {
  const { builds, jobs, pipelines } = services.db.tables;
  const [job] = await services.db
    .select({ id: jobs.id, buildId: builds.id, organizationId: builds.organizationId })
    .from(jobs)
    .innerJoin(builds, eq(builds.id, jobs.buildId))
    .innerJoin(pipelines, eq(pipelines.id, builds.pipelineId))
    .where(eq(pipelines.slug, slug))
    .orderBy(jobs.position)
    .limit(1);
  if (!job) throw new Error("The build has no job.");
  const log = "12:00:01 compiling parser.ts\n12:00:03 compiling emitter.ts\n".repeat(30);
  const text = await leaveBytes(services, job, log, { path: "log/compile/all.txt" });
  const picture = await leaveBytes(services, job, pixel, { path: "shots/a.png", contentType: "image/png" });
  await leaveArtifact(services, job, { path: `log/${"a-very-long-name-".repeat(8)}.txt`, size: 123_456 });
  for (const state of ["expired", "deleted", "error"] as const)
    await leaveArtifact(services, job, { path: `dist/${state}.zip`, state, isCounted: false });
  const list = `/organizations/globex/pipelines/${slug}/builds/1/artifacts`;
  return { list, text: `${list}/${text.id}`, picture: `${list}/${picture.id}` };
}
