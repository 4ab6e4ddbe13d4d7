import type { TriggerType } from "../../../shared/triggers/types.ts";

/**
 * A delivery that can be sent by hand, as a shell command. Of a trigger that verifies deliveries it computes the
 * signature; the secret is typed into its first line, since no page shows it.
 */
export function curlCommand(
  { sample, eventHeader, sampleEvent, signature }: TriggerType,
  { url, isVerified }: { url: string; isVerified: boolean },
): string {
  const body = quoted(JSON.stringify(sample));
  const headers = [
    quoted("Content-Type: application/json"),
    ...(eventHeader && sampleEvent ? [quoted(`${eventHeader}: ${sampleEvent}`)] : []),
  ];
  if (!isVerified || !signature) return request(url, headers, body);
  return [
    `SECRET=${quoted("the secret of this trigger")}`,
    `BODY=${body}`,
    `SIGNATURE=$(printf %s "$BODY" | openssl dgst -sha256 -hmac "$SECRET" -r | cut -d ' ' -f 1)`,
    request(url, [...headers, `"${signature.header}: ${signature.prefix}$SIGNATURE"`], '"$BODY"'),
  ].join("\n");
}

function request(url: string, headers: string[], body: string): string {
  return [
    `curl -X POST ${quoted(url)}`,
    ...headers.map((header) => `-H ${header}`),
    `--data-raw ${body}`,
  ].join(" \\\n  ");
}

/** A word of a shell command that means exactly this text. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
