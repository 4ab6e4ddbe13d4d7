import type { BuildRequest } from "../builds/create.ts";
import type { Cipher } from "../crypto/cipher.ts";
import { environmentOf } from "./settings.ts";
import type { Trigger } from "./store.ts";
import { buildDefaults } from "./types.ts";

/** What every build of a trigger is like: nothing in a payload changes it (spec §2.6). */
export function planBuild(trigger: Trigger, cipher: Cipher): Omit<BuildRequest, "deliveryId"> {
  return {
    pipelineId: trigger.pipelineId,
    source: "webhook",
    message: trigger.buildMessage ?? buildDefaults.message,
    commit: trigger.buildCommit ?? buildDefaults.commit,
    branch: trigger.buildBranch ?? buildDefaults.branch,
    environment: environmentOf(cipher, trigger),
  };
}
