import type { PipelineFacts } from "../pipelines/store.ts";
import { quoteForShell, wordForShell } from "../shell.ts";
import { type ProviderId, pathOf, providers } from "../sources/providers.ts";
import { type TriggerType, typeOfTrigger } from "./types.ts";

/** The webhook that a command sends to. */
interface Target {
  url: string;
  isVerified: boolean;
  /** Of a verified webhook. Default: the user types it into the first line */
  secret?: string | undefined;
}

/** A shell command that sends a delivery. */
export function curlCommand(type: TriggerType, to: Target): string {
  return commandOf(type, { body: quoteForShell(JSON.stringify(type.sample)), variables: [] }, to);
}

/** @param payload.body a word of the shell, that may read the variables */
function commandOf(
  type: TriggerType,
  { body, variables }: { body: string; variables: string[] },
  { url, isVerified, secret: known = "the secret of this trigger" }: Target,
): string {
  const { eventHeader, sampleEvent } = type;
  const headers = [
    quoteForShell("Content-Type: application/json"),
    ...(eventHeader && sampleEvent ? [quoteForShell(`${eventHeader}: ${sampleEvent}`)] : []),
  ];
  const signature = commandSignature(type);
  if (!isVerified || !signature) return [...variables, curl(url, headers, body)].join("\n");
  const first = [`SECRET=${quoteForShell(known)}`, ...variables];
  if (signature.scheme === "token")
    return [...first, curl(url, [...headers, `"${signature.header}: $SECRET"`], body)].join("\n");
  return [
    ...first,
    `BODY=${body}`,
    `SIGNATURE=$(printf %s "$BODY" | openssl dgst -${signature.algorithm} -hmac "$SECRET" ${encode[signature.encoding]})`,
    curl(
      url,
      [...headers, `${quoteForShell(`${signature.header}: ${signature.prefix}`)}"$SIGNATURE"`],
      '"$BODY"',
    ),
  ].join("\n");
}

const sampleCommit = "6113728f27ae82c7b1a177c8d03f9e96e0adf246";

/**
 * A shell command that sends a provider's webhook a push to the pipeline's default branch. Its first lines set the branch
 * and the message, as they stand inside a text of JSON.
 * @param webhook.secret undefined: it is not known here, so the user types it in
 */
export function pushCommand(
  issueTracker: string,
  { pipeline, provider, webhook: { url, isVerified, secret = "…" } }: PushedTo,
): string {
  const { triggerType, samplePush } = providers[provider];
  const { event, body } = samplePush({
    path: pathOf(pipeline.repository ?? "") ?? "",
    branch: "$BRANCH",
    commit: sampleCommit,
    message: "$MESSAGE",
  });
  const type = typeOfTrigger(issueTracker, { type: triggerType, signature: null });
  const branch = JSON.stringify(pipeline.defaultBranch).slice(1, -1);
  const payload = {
    body: quoteForShell(JSON.stringify(body)).replace(/\$(?:BRANCH|MESSAGE)\b/g, (name) => `'"${name}"'`),
    variables: [`BRANCH=${wordForShell(branch)}`, "MESSAGE='A test push'"],
  };
  return commandOf({ ...type, sampleEvent: event }, payload, { url, isVerified, secret });
}

/** Says if the push of `pushCommand` has the secret as a token, and no signature. */
export function sendsToken(issueTracker: string, provider: ProviderId): boolean {
  const type = typeOfTrigger(issueTracker, { type: providers[provider].triggerType, signature: null });
  return commandSignature(type)?.scheme === "token";
}

/** Commands cannot make signatures of the standard scheme. */
function commandSignature({ signatures }: Pick<TriggerType, "signatures">) {
  return signatures.find((signature) => signature.scheme !== "standard");
}

/** The webhook of a pipeline, for a command that sends to it. */
export interface PushedTo {
  pipeline: Pick<PipelineFacts, "repository" | "defaultBranch">;
  provider: ProviderId;
  webhook: Target;
}

const encode = { hex: "-r | cut -d ' ' -f 1", base64: "-binary | openssl base64 -A" };

function curl(url: string, headers: string[], body: string): string {
  return [
    `curl -X POST ${quoteForShell(url)}`,
    ...headers.map((header) => `-H ${header}`),
    `--data-raw ${body}`,
  ].join(" \\\n  ");
}
