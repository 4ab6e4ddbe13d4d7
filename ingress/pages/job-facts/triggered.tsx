import type { Job } from "../../../shared/builds/rows/job-store.ts";
import type { NamedBuild } from "../../../shared/builds/triggered/store.ts";
import type { TriggeredFrom } from "../../../shared/db/schema/builds.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { State } from "../states/state.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { BuildName } from "../ui/tables.tsx";

/** The build that the job of a trigger step made. */
export function Triggered({
  job: { options },
  build,
  request: { organization },
}: {
  job: Job;
  /** Undefined: there is none yet, or it is gone. */
  build: NamedBuild | undefined;
  request: MemberRequest;
}) {
  if (!build) return <>{options?.trigger?.trigger}</>;
  const { pipeline, number, state } = build;
  const path = pathTo(patterns.buildPage, {
    org: organization.slug,
    slug: pipeline.slug,
    number: String(number),
  });
  return (
    <>
      <a href={path}>
        <BuildName pipeline={pipeline.name} number={number} />
      </a>{" "}
      <State state={state} />
      {options?.trigger?.async && <span class="quiet"> not waited for</span>}
    </>
  );
}

/** The build whose step made another. Its page may be gone. */
export function TriggeredBy({
  from: { build_number, build_pipeline_slug: slug },
  jobId,
  request: { organization },
}: {
  from: TriggeredFrom;
  /** Null: of a rebuild. */
  jobId: string | null;
  request: MemberRequest;
}) {
  const address = { org: organization.slug, slug, number: String(build_number) };
  return (
    <>
      <a href={pathTo(patterns.buildPage, address)}>
        {slug} #{build_number}
      </a>
      {jobId && (
        <>
          , <a href={pathTo(patterns.jobPage, { ...address, job: jobId })}>step</a>
        </>
      )}
    </>
  );
}
