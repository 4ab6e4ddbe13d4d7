import { patterns } from "../../../shared/paths.ts";
import type { Webhook } from "../../../shared/pipelines/provider/webhook-store.ts";
import { excerpt } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type Delivery, listDeliveriesPage } from "../../../shared/triggers/deliveries/store.ts";
import { type Subject, subjectOf } from "../../../shared/triggers/events/left-out.ts";
import type { DeliveryReason } from "../../../shared/vocabulary.ts";
import { deliveryPath } from "../address/delivery.ts";
import { conditionPath, providerPath } from "../address/provider.ts";
import { firstLine } from "../builds/list.tsx";
import { settingPath } from "../deliveries/left-out.tsx";
import { readIfFree } from "../deliveries/load.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { Time } from "../ui/times.tsx";

/** The newest deliveries without a build. Hosts report much that never builds. */
const maxLooked = 20;
const maxReadBytes = 128 * 1024;

/** The reasons for which somebody may look for the build of a push. */
const asked: ReadonlySet<DeliveryReason | null> = new Set([
  "branch_mismatch",
  "filter_mismatch",
  "skip_ci",
  "builds_of_branches_off",
] as const);

export interface LeftOutDelivery {
  delivery: Delivery;
  /** Undefined: the event is gone, or too long to be read here. */
  subject: Subject | undefined;
}

/**
 * The newest push that a webhook took and the settings left out, unless a build followed it. Reads a bounded number of
 * rows by indexes.
 * @param builtAt when the newest build was made
 */
export async function findLeftOut(
  services: Services,
  organizationId: string,
  { webhook, builtAt }: { webhook: Webhook; builtAt: Date | undefined },
): Promise<LeftOutDelivery | undefined> {
  const { db } = services;
  const unbuilt = await listDeliveriesPage(db, webhook.id, { limit: maxLooked }, { status: "not_run" });
  const delivery = unbuilt.find(({ reason }) => asked.has(reason));
  if (!delivery || (builtAt && builtAt > delivery.receivedAt)) return undefined;
  const event = { organizationId, trigger: webhook, delivery };
  const reading = delivery.size > maxReadBytes ? undefined : await readIfFree(services, event);
  const subject = reading && "happened" in reading ? subjectOf(reading.happened) : undefined;
  return { delivery, subject };
}

/** `Left out 3 minutes ago: push to docs, by Branches. Fix a typo` */
export function LeftOutPush({
  leftOut: { delivery, subject },
  request,
}: {
  leftOut: LeftOutDelivery;
  request: MemberRequest;
}) {
  return (
    <p class="quiet">
      Left out{" "}
      <a href={deliveryPath(request, { trigger: { id: delivery.triggerId }, delivery })}>
        <Time at={delivery.receivedAt} />
      </a>
      : <SubjectInWords subject={subject} />, by <Setting leftOut={{ delivery, subject }} request={request} />
      . {subject?.message && excerpt(firstLine(subject.message))}
    </p>
  );
}

const words = {
  branch: "push to",
  tag: "push of the tag",
  pull_request: "pull request of",
  merge_group: "merge queue of",
} as const;
const maxName = 60;

function SubjectInWords({ subject }: { subject: Subject | undefined }) {
  if (!subject) return <>a push</>;
  return (
    <>
      {words[subject.type]} <code>{excerpt(subject.name, maxName)}</code>
    </>
  );
}

/** The setting that left it out. */
function Setting({
  leftOut: { delivery, subject },
  request,
}: {
  leftOut: LeftOutDelivery;
  request: MemberRequest;
}) {
  switch (delivery.reason) {
    case "branch_mismatch":
      return <a href={settingPath({ isOfRequest: subject?.type === "pull_request" }, request)}>Branches</a>;
    case "filter_mismatch":
      return <a href={conditionPath(request)}>the filter</a>;
    case "skip_ci":
      return <>its message</>;
    default:
      return <a href={providerPath(request, patterns.providerSettingsPage)}>the settings</a>;
  }
}
