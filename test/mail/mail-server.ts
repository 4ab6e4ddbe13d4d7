import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

/** A mail as a server took it. */
export interface TakenMail {
  from: string;
  to: string[];
  /** By their names in lower case, with encoded words decoded. */
  headers: Record<string, string>;
  /** The text by content type. */
  parts: Record<string, string>;
  raw: string;
  isSecure: boolean;
  user: string | undefined;
}

export interface MailServer {
  /** For SMTP_URL. Its certificate is of its own making. */
  url: string;
  /** The mails since the last call: one or more. */
  take(): [TakenMail, ...TakenMail[]];
  /** The number of mails that nobody took. */
  count(): number;
  /** Ends with an error whatever comes next, until called with undefined. */
  refuseWith(code: number | undefined): void;
  close(): Promise<void>;
}

/**
 * Opens a real server of SMTP. It knows the user ada, password hunter2; refuses unknown@example.com for good, and
 * busy@example.com for now.
 */
export async function openMailServer(): Promise<MailServer> {
  const mails: TakenMail[] = [];
  let refusal: number | undefined;
  const refuse = (code: number) => Object.assign(new Error("No"), { responseCode: code });
  const server = new SMTPServer({
    authOptional: true,
    onAuth: ({ username, password }, _session, callback) =>
      username === "ada" && password === "hunter2"
        ? callback(null, { user: username })
        : callback(refuse(535)),
    onRcptTo({ address }, _session, callback) {
      if (refusal !== undefined) return callback(refuse(refusal));
      if (address === "unknown@example.com") return callback(refuse(550));
      if (address === "busy@example.com") return callback(refuse(451));
      callback();
    },
    onData(stream, { envelope, secure, user }, callback) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const raw = Buffer.concat(chunks).toString("utf8");
        const { mailFrom, rcptTo } = envelope;
        mails.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          ...readMessage(raw),
          raw,
          isSecure: secure,
          user: user as string | undefined,
        });
        callback();
      });
    },
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}?tls.rejectUnauthorized=false`,
    take: () => mails.splice(0) as [TakenMail, ...TakenMail[]],
    count: () => mails.length,
    refuseWith: (code) => {
      refusal = code;
    },
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}

/** Reads a message of one part, or of alternatives. */
function readMessage(raw: string): Pick<TakenMail, "headers" | "parts"> {
  const { headers, body } = split(raw);
  const boundary = /boundary="([^"]+)"/.exec(headers["content-type"] ?? "")?.[1];
  assert.ok(boundary !== undefined, "the mail has alternatives");
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => split(part.replace(/^\r\n/, "")))
    .map((part) => [typeOf(part.headers), decode(part)]);
  return { headers, parts: Object.fromEntries(parts) };
}

function split(raw: string): { headers: Record<string, string>; body: string } {
  const end = raw.indexOf("\r\n\r\n");
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, " ")
    .split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim())];
  });
  return { headers: Object.fromEntries(headers), body: raw.slice(end + 4) };
}

function typeOf(headers: Record<string, string>): string {
  return (headers["content-type"] ?? "").split(";")[0] ?? "";
}

function decode({ headers, body }: ReturnType<typeof split>): string {
  const encoding = headers["content-transfer-encoding"];
  const text = body.replace(/\r\n$/, "");
  if (encoding === "base64") return Buffer.from(text, "base64").toString("utf8");
  return (encoding === "quoted-printable" ? unquote(text) : text).replaceAll("\r\n", "\n");
}

function unquote(text: string): string {
  const bytes = text
    .replace(/=\r\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** RFC 2047 */
function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, "?==?")
    .replace(/=\?utf-8\?([QB])\?([^?]*)\?=/gi, (_, kind, word) =>
      kind.toUpperCase() === "B"
        ? Buffer.from(word, "base64").toString("utf8")
        : unquote(word.replaceAll("_", " ")),
    );
}
