import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import { excerpt } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { Delivery } from "../../../shared/triggers/deliveries/store.ts";
import {
  findOtherBranch,
  type OtherBranch,
  type Subject,
  subjectOf,
} from "../../../shared/triggers/events/left-out.ts";
import { readShortDeliveries } from "../../../shared/triggers/events/read.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { branchesPath } from "../address/pipeline.ts";
import { requestBranchesPath } from "../address/provider.ts";
import type { MemberRequest } from "../ui/member-page.ts";

const maxListedBranch = 40;
const maxListedPatterns = 60;

/** A delivery that the settings left out. */
export interface LeftOut {
  /** If the limits of branches did. */
  other: OtherBranch | undefined;
  subject: Subject | undefined;
}

/** A list has hundreds of branches at most: longer patterns could hold the event loop for a quarter of a second. */
const maxComparedPatterns = 1000;

/** The webhook of a provider, with the limits of its pipeline. */
type Receiver = Pick<Trigger, "type"> & Pick<PipelineFacts, "branchConfiguration" | "providerSettings">;

/**
 * Reads what settings left out of a list of deliveries, by the deliveries' ids. Long events are missing, and those
 * whose payload is gone.
 * @param receiverOf undefined for a delivery of a plain trigger, whose payload names no branch
 */
export async function loadLeftOut(
  services: Services,
  deliveries: Delivery[],
  receiverOf: (delivery: Delivery) => Receiver | undefined,
): Promise<Map<string, LeftOut>> {
  const withReason = (wanted: Delivery["reason"]) =>
    deliveries.filter((delivery) => delivery.reason === wanted && receiverOf(delivery));
  const unbuilt = [...withReason("branch_mismatch"), ...withReason("filter_mismatch")];
  const readings = await readShortDeliveries(services, unbuilt, (each) => receiverOf(each)?.type ?? "");
  const leftOut = new Map<string, LeftOut>();
  for (const delivery of unbuilt) {
    const [reading, receiver] = [readings.get(delivery.id), receiverOf(delivery)];
    if (!reading || !receiver || !("happened" in reading)) continue;
    const { happened } = reading;
    const other =
      delivery.reason === "branch_mismatch"
        ? findOtherBranch(happened, receiver, maxComparedPatterns)
        : undefined;
    leftOut.set(delivery.id, { other, subject: subjectOf(happened) });
  }
  return leftOut;
}

/** `docs is not among main release/*`, or `docs: the filter left it out`, for a list. */
export function leftOutInBrief(leftOut: LeftOut | undefined, reason: string | undefined): string | undefined {
  const { other, subject } = leftOut ?? {};
  if (other)
    return `${excerpt(other.branch, maxListedBranch)} is not among ${excerpt(other.patterns, maxListedPatterns)}`;
  return reason && subject ? `${excerpt(subject.name, maxListedBranch)}: ${reason}` : reason;
}

/** A branch and the patterns in full, with a link to the setting. */
export function OtherBranchInFull({ other, request }: { other: OtherBranch; request: MemberRequest }) {
  return (
    <>
      <code>{other.branch}</code> is not among{" "}
      <a href={settingPath(other, request)}>
        <code>{other.patterns}</code>
      </a>
    </>
  );
}

/** The setting that has the patterns. */
export function settingPath(
  { isOfRequest }: Pick<OtherBranch, "isOfRequest">,
  request: MemberRequest,
): string {
  return isOfRequest ? requestBranchesPath(request) : branchesPath(request);
}
