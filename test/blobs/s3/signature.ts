import { createHash, createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";

const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
const hex = (text: string) => createHash("sha256").update(text).digest("hex");

const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

interface Signed {
  /** `<key id>/<date>/<region>/s3/aws4_request` */
  credential: string;
  headers: string;
  signature: string;
  time: string;
  payload: string;
}

/** By the authorization of the header, or by that of the address. */
function readSigned(request: IncomingMessage, url: URL): Signed | undefined {
  const query = (name: string) => url.searchParams.get(`X-Amz-${name}`) ?? "";
  if (url.searchParams.has("X-Amz-Signature")) {
    const expires = Date.parse(toIso(query("Date"))) + Number(query("Expires")) * 1000;
    if (!(expires > Date.now())) return undefined;
    return {
      credential: query("Credential"),
      headers: query("SignedHeaders"),
      signature: query("Signature"),
      time: query("Date"),
      payload: "UNSIGNED-PAYLOAD",
    };
  }
  const pattern = /^AWS4-HMAC-SHA256 Credential=(.+), ?SignedHeaders=(.+), ?Signature=(.+)$/;
  const [, credential = "", headers = "", signature = ""] =
    pattern.exec(request.headers.authorization ?? "") ?? [];
  return {
    credential,
    headers,
    signature,
    time: String(request.headers["x-amz-date"]),
    payload: String(request.headers["x-amz-content-sha256"]),
  };
}

const toIso = (time: string) =>
  time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z");

/** AWS Signature Version 4. The bytes of a body are not part of it here. */
export function isSigned(request: IncomingMessage, url: URL, keys: { id: string; secret: string }): boolean {
  const signed = readSigned(request, url);
  if (!signed) return false;
  const [id, date = "", region = "", service = ""] = signed.credential.split("/");
  if (id !== keys.id || service !== "s3") return false;
  const parameters = [...url.searchParams]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort();
  const headers = signed.headers.split(";");
  const canonical = [
    request.method,
    url.pathname
      .split("/")
      .map((part) => encode(decodeURIComponent(part)))
      .join("/"),
    parameters.join("&"),
    ...headers.map((name) => `${name}:${String(request.headers[name] ?? "").trim()}`),
    "",
    signed.headers,
    signed.payload,
  ].join("\n");
  const scope = `${date}/${region}/s3/aws4_request`;
  const text = `AWS4-HMAC-SHA256\n${signed.time}\n${scope}\n${hex(canonical)}`;
  const key = [date, region, "s3", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${keys.secret}`);
  return headers.includes("host") && hmac(key, text).toString("hex") === signed.signature;
}
