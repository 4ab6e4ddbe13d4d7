import type { HmacSignature } from "../vocabulary.ts";
import { DeliveryRefusal } from "./deliveries/refusals.ts";
import { type ArrivedHeaders, isSigned, messageIdOf, type Signature, signedHeaders } from "./signatures.ts";

export const buildDefaults = { branch: "main", commit: "HEAD", message: "Triggered build" };

/** The type as stored. The issue tracker's name may change with the setting. */
type StoredType = "webhook" | "github" | "gitlab" | "gitea" | "bitbucket" | "issue_tracker" | "hmac";

export interface TriggerType {
  stored: StoredType;
  /** The type as callers see it. */
  name: string;
  title: string;
  /** Absent: the title names the sender. */
  about?: string;
  deliveryIdHeader?: string;
  eventHeader?: string;
  sampleEvent?: string;
  /** The payload of a test delivery. */
  sample: object;
  /**
   * A delivery needs any one of them. The first that can use the secret signs test deliveries. Empty: deliveries are
   * not signed.
   */
  signatures: Signature[];
  /** Payloads of a provider may come in forms too: the choice that its host offers first. */
  takesForms?: true;
  /** The trigger's owner chooses the signature, and deliveries are always verified. */
  isConfigurable?: true;
}

export const hmacDefaults: HmacSignature = {
  header: "X-Signature",
  algorithm: "sha256",
  encoding: "hex",
  prefix: "",
};

const hmacHex = { scheme: "hmac", algorithm: "sha256", encoding: "hex" } as const;
const samplePlain = { message: "A test delivery", sent_at: "2026-01-31T12:00:00Z" };
/** The sample of senders whose headers and payloads follow GitHub's. */
const samplePush = {
  ref: "refs/heads/main",
  repository: { full_name: "octo-org/octo-repo", default_branch: "main" },
  head_commit: { id: "6113728f27ae82c7b1a177c8d03f9e96e0adf246", message: "A test delivery" },
  pusher: { name: "octocat" },
};

export function triggerTypes(issueTracker: string): TriggerType[] {
  return [
    {
      stored: "webhook",
      name: "webhook",
      title: "Webhook",
      about: "Anything that can post JSON",
      sample: samplePlain,
      signatures: [],
    },
    {
      stored: "github",
      name: "github",
      title: "GitHub",
      takesForms: true,
      deliveryIdHeader: "X-GitHub-Delivery",
      eventHeader: "X-GitHub-Event",
      sampleEvent: "push",
      sample: samplePush,
      signatures: [{ ...hmacHex, header: "X-Hub-Signature-256", prefix: "sha256=" }],
    },
    {
      stored: "gitlab",
      name: "gitlab",
      title: "GitLab",
      deliveryIdHeader: "X-Gitlab-Event-UUID",
      eventHeader: "X-Gitlab-Event",
      sampleEvent: "Push Hook",
      sample: {
        object_kind: "push",
        ref: "refs/heads/main",
        checkout_sha: "da1560886d4f094c3e6c9ef40349f7d38b5d27d7",
        project: { path_with_namespace: "octo-org/octo-repo", default_branch: "main" },
        user_username: "octocat",
      },
      signatures: [
        { scheme: "standard", header: "webhook-signature" },
        { scheme: "token", header: "X-Gitlab-Token" },
      ],
    },
    {
      stored: "gitea",
      name: "gitea",
      title: "Gitea or Forgejo",
      deliveryIdHeader: "X-Gitea-Delivery",
      eventHeader: "X-Gitea-Event",
      sampleEvent: "push",
      sample: samplePush,
      signatures: [
        { ...hmacHex, header: "X-Gitea-Signature", prefix: "" },
        { ...hmacHex, header: "X-Forgejo-Signature", prefix: "" },
        { ...hmacHex, header: "X-Hub-Signature-256", prefix: "sha256=" },
      ],
    },
    {
      stored: "bitbucket",
      name: "bitbucket",
      title: "Bitbucket",
      deliveryIdHeader: "X-Request-UUID",
      eventHeader: "X-Event-Key",
      sampleEvent: "repo:push",
      sample: {
        push: { changes: [{ new: { type: "branch", name: "main" }, created: false, closed: false }] },
        repository: { full_name: "octo-org/octo-repo" },
        actor: { nickname: "octocat" },
      },
      signatures: [{ ...hmacHex, header: "X-Hub-Signature", prefix: "sha256=" }],
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
      signatures: [{ ...hmacHex, header: `${issueTracker}-Signature`, prefix: "" }],
    },
    {
      stored: "hmac",
      name: "hmac",
      title: "HMAC",
      about: "Anything that can post JSON and sign it with an HMAC, in a header that you choose",
      sample: samplePlain,
      signatures: [{ scheme: "hmac", isList: true, ...hmacDefaults }],
      isConfigurable: true,
    },
  ];
}

interface TypedTrigger {
  type: string;
  signature: HmacSignature | null;
}

export function typeOfTrigger(issueTracker: string, trigger: TypedTrigger): TriggerType {
  const type = triggerTypes(issueTracker).find(({ stored }) => stored === trigger.type) as TriggerType;
  if (!trigger.signature) return type;
  return { ...type, signatures: [{ scheme: "hmac", isList: true, ...trigger.signature }] };
}

export function findTypeByName(issueTracker: string, name: string): TriggerType | undefined {
  return triggerTypes(issueTracker).find((type) => type.name === name);
}

/** Pages show the values of these headers. Names are lower-case. */
export function visibleHeaders(issueTracker: string, trigger: TypedTrigger): Set<string> {
  const { eventHeader, deliveryIdHeader } = typeOfTrigger(issueTracker, trigger);
  const names = [eventHeader, deliveryIdHeader];
  return new Set(names.flatMap((header) => header?.toLowerCase() ?? []));
}

/** The headers by which known senders name events and deliveries. Names are lower-case. */
export function eventHeaders(issueTracker: string): string[] {
  return triggerTypes(issueTracker).flatMap(({ eventHeader, deliveryIdHeader }) =>
    [eventHeader, deliveryIdHeader].flatMap((header) => header?.toLowerCase() ?? []),
  );
}

/**
 * @returns the id of the message that the signature authenticates, if its scheme has one
 * @throws DeliveryRefusal 401
 */
export function requireSignature(
  { type: { signatures, isConfigurable }, secret }: { type: TriggerType; secret: string | undefined },
  headers: { get(name: string): string | null | undefined },
  { body, now }: { body: Buffer; now: Date },
): string | undefined {
  if (secret === undefined && !isConfigurable) return undefined;
  const right =
    secret === undefined
      ? undefined
      : signatures.find((signature) => isSigned(signature, headers, { secret, body, now }));
  if (!right) throw new DeliveryRefusal("invalid_signature");
  return messageIdOf(right, headers);
}

/**
 * The headers that the sender would sign this body with.
 * @param arrived headers of a request with this body, by lower-case name: all signatures among them are made, of the
 * same id. Default: the first that can use the secret
 */
export function signatureHeaders(
  { signatures }: TriggerType,
  secret: string | undefined,
  { body, now }: { body: Buffer; now: Date },
  arrived: ArrivedHeaders = new Map(),
): Record<string, string> {
  if (secret === undefined) return {};
  const usable = signatures.flatMap((signature) => {
    const headers = signedHeaders(signature, { secret, body, now }, arrived);
    return headers ? [{ name: signature.header.toLowerCase(), headers }] : [];
  });
  const asArrived = usable.filter(({ name }) => arrived.has(name));
  const chosen = asArrived.length > 0 ? asArrived : usable.slice(0, 1);
  return Object.assign({}, ...chosen.map(({ headers }) => headers));
}
