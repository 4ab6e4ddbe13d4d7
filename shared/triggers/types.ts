import { createHmac, timingSafeEqual } from "node:crypto";
import { DeliveryRefusal } from "./deliveries/refusals.ts";

/** What builds are like when the trigger does not say (spec §2.6). */
export const buildDefaults = { branch: "main", commit: "HEAD", message: "Triggered build" };

/** What a sender of this type is like. The names of the types and headers are part of the wire contract. */
export interface TriggerType {
  name: string;
  /** What people read. */
  title: string;
  /** Header that carries the sender's own id of a delivery. */
  deliveryIdHeader?: string;
  /** Header that names the event. */
  eventHeader?: string;
  /** The event of a delivery that is sent to try the trigger. */
  sampleEvent?: string;
  /** Its payload. */
  sample: object;
  /** Present when deliveries can be signed (spec §5 rule 4). */
  signature?: { header: string; prefix: string };
}

/** The three types of spec §2.6; the issue tracker's is named by configuration. */
export function triggerTypes(issueTracker: string): TriggerType[] {
  return [
    {
      name: "webhook",
      title: "Webhook",
      sample: { message: "A test delivery", sent_at: "2026-01-31T12:00:00Z" },
    },
    {
      name: "github",
      title: "GitHub",
      deliveryIdHeader: "X-GitHub-Delivery",
      eventHeader: "X-GitHub-Event",
      sampleEvent: "push",
      sample: {
        ref: "refs/heads/main",
        repository: { full_name: "octo-org/octo-repo", default_branch: "main" },
        head_commit: { id: "6113728f27ae82c7b1a177c8d03f9e96e0adf246", message: "A test delivery" },
        pusher: { name: "octocat" },
      },
      signature: { header: "X-Hub-Signature-256", prefix: "sha256=" },
    },
    {
      name: issueTracker.toLowerCase(),
      title: issueTracker,
      deliveryIdHeader: `${issueTracker}-Delivery`,
      eventHeader: `${issueTracker}-Event`,
      sampleEvent: "Issue",
      sample: {
        action: "create",
        type: "Issue",
        data: { identifier: "ENG-1", title: "A test delivery", state: { name: "Todo" } },
        createdAt: "2026-01-31T12:00:00.000Z",
      },
      signature: { header: `${issueTracker}-Signature`, prefix: "" },
    },
  ];
}

export function findTriggerType(issueTracker: string, name: string): TriggerType | undefined {
  return triggerTypes(issueTracker).find((type) => type.name === name);
}

/** The headers, in lower case, whose values people may see: those that name the event and the delivery. */
export function visibleHeaders(issueTracker: string, name: string): Set<string> {
  const type = findTriggerType(issueTracker, name);
  const shown = [type?.eventHeader, type?.deliveryIdHeader];
  return new Set(shown.flatMap((header) => header?.toLowerCase() ?? []));
}

/**
 * Deliveries of a trigger with a secret must be signed with it.
 * @param given the value of a header
 * @throws DeliveryRefusal 401
 */
export function requireSignature(
  { type: { signature }, secret }: { type: TriggerType; secret: string | undefined },
  given: (header: string) => string | null | undefined,
  body: Buffer,
): void {
  if (secret === undefined || !signature) return;
  if (!isSignedBy(secret, body, given(signature.header) ?? "", signature.prefix))
    throw new DeliveryRefusal("invalid_signature");
}

/** Whether the header's value is the HMAC-SHA256 of exactly these bytes. Takes the same time for any wrong value. */
function isSignedBy(secret: string, body: Buffer, given: string, prefix: string): boolean {
  const hex = given.slice(prefix.length);
  if (!given.startsWith(prefix) || !/^[0-9a-f]{64}$/i.test(hex)) return false;
  return timingSafeEqual(createHmac("sha256", secret).update(body).digest(), Buffer.from(hex, "hex"));
}
