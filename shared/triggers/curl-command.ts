import type { OpenedWebhook } from "../pipelines/provider/webhook.ts";
import { quoteForShell } from "../shell.ts";
import type { TriggerType } from "./types.ts";

/**
 * A shell command that sends a delivery.
 * @param secret of a verified trigger. Default: the user types it into the first line
 */
export function curlCommand(
  { sample, eventHeader, sampleEvent, signatures }: TriggerType,
  {
    url,
    isVerified,
    secret: known = "the secret of this trigger",
  }: { url: string; isVerified: boolean; secret?: string | undefined },
): string {
  const body = quoteForShell(JSON.stringify(sample));
  const headers = [
    quoteForShell("Content-Type: application/json"),
    ...(eventHeader && sampleEvent ? [quoteForShell(`${eventHeader}: ${sampleEvent}`)] : []),
  ];
  const signature = signatures.find(({ scheme }) => scheme !== "standard");
  if (!isVerified || !signature || signature.scheme === "standard") return curl(url, headers, body);
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

/** A shell command that sends a provider's webhook an event that makes no build: GitHub's first one. */
export function pingCommand(type: TriggerType, { webhookUrl, secret }: OpenedWebhook): string {
  const ping = { object_kind: "ping", message: "A test delivery" }; // GitLab names events in the body
  return curlCommand(
    { ...type, sample: ping, sampleEvent: "ping" },
    { url: webhookUrl, isVerified: secret !== null, secret: secret ?? undefined },
  );
}

const encode = { hex: "-r | cut -d ' ' -f 1", base64: "-binary | openssl base64 -A" };

function curl(url: string, headers: string[], body: string): string {
  return [
    `curl -X POST ${quoteForShell(url)}`,
    ...headers.map((header) => `-H ${header}`),
    `--data-raw ${body}`,
  ].join(" \\\n  ");
}
