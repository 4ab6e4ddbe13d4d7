import type { TaskHandlers } from "../tasks/runner.ts";
import { startLimitedJobs } from "./groups/start.ts";
import { endOfGoneBranch } from "./outdated/gone.ts";
import { endOutdated } from "./outdated/outdated.ts";
import { failQueuelessJobs } from "./queueless/fail.ts";
import { makeTriggeredBuild } from "./triggered/make.ts";
import { mirrorBuild } from "./triggered/mirror.ts";
import { passCancelOn } from "./triggered/pass-on-cancel.ts";

/** The process that makes this due does it right after the commit. */
export const tasksOfBuilds: TaskHandlers = {
  branch: endOutdated,
  branch_gone: endOfGoneBranch,
  trigger: makeTriggeredBuild,
  mirror: mirrorBuild,
  cancel: passCancelOn,
  group: startLimitedJobs,
  queueless: failQueuelessJobs,
};
