import { createHmac, timingSafeEqual } from "node:crypto";
import { DeliveryRefusal } from "./deliveries/refusals.ts";

export const buildDefaults = { branch: "main", commit: "HEAD", message: "Triggered build" };

/** As stored. The issue tracker's name may change with the setting. */
type StoredType = "webhook" | "github" | "issue_tracker";

export interface TriggerType {
  stored: StoredType;
  /** As callers see it. */
  name: string;
  title: string;
  deliveryIdHeader?: string;
  eventHeader?: string;
  sampleEvent?: string;
  /** Of a test delivery. */
  sample: object;
  /** Absent: deliveries cannot be signed. */
  signature?: { header: string; prefix: string };
}

export function triggerTypes(issueTracker: string): TriggerType[] {
  return [
    {
      stored: "webhook",
      name: "webhook",
      title: "Webhook",
      sample: { message: "A test delivery", sent_at: "2026-01-31T12:00:00Z" },
    },
    {
      stored: "github",
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
      stored: "issue_tracker",
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

/** Older versions stored the issue tracker by the name that it had. */
export function typeOfTrigger(issueTracker: string, { type }: { type: string }): TriggerType {
  const types = triggerTypes(issueTracker);
  return types.find(({ stored }) => stored === type) ?? (types.at(-1) as TriggerType);
}

export function findTypeByName(issueTracker: string, name: string): TriggerType | undefined {
  return triggerTypes(issueTracker).find((type) => type.name === name);
}

/** Pages show the values of these headers. Names are lower-case. */
export function visibleHeaders(issueTracker: string, trigger: { type: string }): Set<string> {
  const { eventHeader, deliveryIdHeader } = typeOfTrigger(issueTracker, trigger);
  const names = [eventHeader, deliveryIdHeader];
  return new Set(names.flatMap((header) => header?.toLowerCase() ?? []));
}

/** @throws DeliveryRefusal 401 */
export function requireSignature(
  { type: { signature }, secret }: { type: TriggerType; secret: string | undefined },
  headers: { get(name: string): string | null | undefined },
  body: Buffer,
): void {
  if (secret === undefined || !signature) return;
  if (!isSignedBy(secret, body, headers.get(signature.header) ?? "", signature.prefix))
    throw new DeliveryRefusal("invalid_signature");
}

/** The header that the sender would sign this body with. */
export function signatureHeader(
  { signature }: TriggerType,
  secret: string | undefined,
  body: Buffer,
): [name: string, value: string] | undefined {
  if (secret === undefined || !signature) return undefined;
  return [signature.header, signature.prefix + createHmac("sha256", secret).update(body).digest("hex")];
}

/** Compares in constant time. */
function isSignedBy(secret: string, body: Buffer, value: string, prefix: string): boolean {
  const hex = value.slice(prefix.length);
  if (!value.startsWith(prefix) || !/^[0-9a-f]{64}$/i.test(hex)) return false;
  return timingSafeEqual(createHmac("sha256", secret).update(body).digest(), Buffer.from(hex, "hex"));
}
