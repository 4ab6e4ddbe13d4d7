import type { Build } from "../../builds/rows/build-store.ts";
import { isOfFork } from "../../builds/rows/facts.ts";
import type { StepWarning } from "../../db/schema/builds.ts";
import { haveNotices, withoutNotices } from "../../pipelines/notify/notices.ts";
import { readyNotices } from "../../pipelines/notify/ready.ts";
import type { UploadedPipeline } from "../../pipelines/steps.ts";
import { ineffectiveMembers, warningsOf } from "../../pipelines/warnings.ts";
import { exactSize, Refusal } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import type { Notice } from "../../vocabulary.ts";

/** Of the notices of a build, over all its documents: each of its events asks all of them. */
const maxBytesOfBuild = 64 * 1024;

const ofStrangers: StepWarning = {
  step: null,
  member: "notify",
  reason: "The build comes from a fork: only the notices of stored steps are sent",
};

/**
 * An upload as it enters its build. Strangers write no notices.
 * @returns warnings: all that are said of it
 */
export async function readyUpload(
  services: Services,
  build: Build,
  pipeline: UploadedPipeline,
): Promise<{ pipeline: UploadedPipeline; warnings: StepWarning[] }> {
  const { steps, notify = [], others } = pipeline;
  const ofMembers = warningsOf(steps, ineffectiveMembers(others));
  if (isOfFork(build)) {
    const isSpeaking = notify.length > 0 || haveNotices(steps);
    return {
      pipeline: isSpeaking ? { ...pipeline, steps: withoutNotices(steps), notify: [] } : pipeline,
      warnings: isSpeaking ? [...ofMembers, ofStrangers] : ofMembers,
    };
  }
  const ready = await readyNotices(services.db, services, { build, pipeline });
  return {
    pipeline: { ...pipeline, steps: ready.steps, notify: ready.notify },
    warnings: [...ofMembers, ...ready.warnings],
  };
}

/** The notices of a build with those of another document. @throws Refusal 422 */
export function addNotices(present: Notice[] | null, added: Notice[]): Notice[] | null {
  if (added.length === 0) return present;
  const all = [...(present ?? []), ...added];
  if (Buffer.byteLength(JSON.stringify(all)) > maxBytesOfBuild)
    throw new Refusal(422, `The notices of the build would be larger than ${exactSize(maxBytesOfBuild)}`);
  return all;
}
