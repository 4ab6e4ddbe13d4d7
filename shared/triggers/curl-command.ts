import type { PipelineFacts } from "../pipelines/store.ts";
import { quoteForShell } from "../shell.ts";
import { type ProviderId, pathOf, providers } from "../sources/providers.ts";
import { type TriggerType, typeOfTrigger } from "./types.ts";

/**
 * A shell command that sends a delivery.
 * @param secret of a verified trigger. Default: the user types it into the first line
 */
export function curlCommand(
  type: TriggerType,
  {
    url,
    isVerified,
    secret: known = "the secret of this trigger",
  }: { url: string; isVerified: boolean; secret?: string | undefined },
): string {
  const { sample, eventHeader, sampleEvent } = type;
  const body = quoteForShell(JSON.stringify(sample));
  const headers = [
    quoteForShell("Content-Type: application/json"),
    ...(eventHeader && sampleEvent ? [quoteForShell(`${eventHeader}: ${sampleEvent}`)] : []),
  ];
  const signature = commandSignature(type);
  if (!isVerified || !signature) return curl(url, headers, body);
  const secret = `SECRET=${quoteForShell(known)}`;
  if (signature.scheme === "token")
    return [secret, curl(url, [...headers, `"${signature.header}: $SECRET"`], body)].join("\n");
  return [
    secret,
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
 * A shell command that sends a provider's webhook a push to the pipeline's default branch.
 * @param webhook.secret undefined: it is not known here, so the user types it in
 */
export function pushCommand(
  issueTracker: string,
  { pipeline, provider, webhook: { url, isVerified, secret = "…" } }: PushedTo,
): string {
  const { triggerType, samplePush } = providers[provider];
  const { event, body } = samplePush({
    path: pathOf(pipeline.repository ?? "") ?? "",
    branch: pipeline.defaultBranch,
    commit: sampleCommit,
    message: "A test push",
  });
  const type = typeOfTrigger(issueTracker, { type: triggerType, signature: null });
  return curlCommand({ ...type, sample: body, sampleEvent: event }, { url, isVerified, secret });
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
  webhook: { url: string; isVerified: boolean; secret?: string | undefined };
}

const encode = { hex: "-r | cut -d ' ' -f 1", base64: "-binary | openssl base64 -A" };

function curl(url: string, headers: string[], body: string): string {
  return [
    `curl -X POST ${quoteForShell(url)}`,
    ...headers.map((header) => `-H ${header}`),
    `--data-raw ${body}`,
  ].join(" \\\n  ");
}
