import { getRouterParam } from "h3";
import { requireBuild, requireBuildOfJob } from "../../../shared/builds/reading/require.ts";
import type { Build } from "../../../shared/builds/rows/build-store.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { parseBuildKey } from "../../http/routing.ts";
import { type Call, type Operation, operation } from "../../operations/operation.ts";
import { pipelineOf } from "../pipelines.ts";

export type JobCall = Pick<Call<unknown>, "event" | "caller" | "parameter">;

/** The build and pipeline of the path, or else of the job that it names. @throws Refusal 404 */
export async function findBuildOfCall(
  services: Services,
  call: JobCall,
): Promise<{ build: Build; pipeline: PipelineFacts }> {
  if (getRouterParam(call.event, "slug") === undefined)
    return requireBuildOfJob(services.db, call.caller.organization.id, call.parameter("job"));
  const pipeline = await pipelineOf(services, call);
  return {
    build: await requireBuild(services.db, pipeline, parseBuildKey(call.parameter("number"))),
    pipeline,
  };
}

/** An operation on a job at its address below its build, and at its short one. */
export function atBothAddresses<Body>(
  [path, shortPath]: readonly [path: string, shortPath: string],
  declared: Omit<Operation<Body, "accessToken">, "path">,
): Operation[] {
  return [
    operation<Body>({ ...declared, path }),
    operation<Body>({ ...declared, path: shortPath, id: `${declared.id}ById` }),
  ];
}
