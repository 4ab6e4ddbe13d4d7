import type { Services } from "../../process/services.ts";
import type { FollowUpKind } from "../../vocabulary.ts";
import { startLimitedJobs } from "../groups/start.ts";
import { endOutdated } from "../outdated/outdated.ts";
import { failQueuelessJobs } from "../queueless/fail.ts";
import { makeTriggeredBuild } from "../triggered/make.ts";
import { mirrorBuild } from "../triggered/mirror.ts";
import { passCancelOn } from "../triggered/pass-on-cancel.ts";

/**
 * Does what is due about a subject, in a transaction of its own that calls `takeFollowUps`. It may run twice, late, and
 * beside the same in another process: what it finds decides, and the second run changes nothing.
 */
export type FollowUpHandler = (services: Services, subjectId: string) => Promise<void>;

export type FollowUpHandlers = Partial<Record<FollowUpKind, FollowUpHandler>>;

export const followUpHandlers: FollowUpHandlers = {
  branch: endOutdated,
  trigger: makeTriggeredBuild,
  mirror: mirrorBuild,
  cancel: passCancelOn,
  group: startLimitedJobs,
  queueless: failQueuelessJobs,
};
