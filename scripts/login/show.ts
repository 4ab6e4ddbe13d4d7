import { renderUnicodeCompact } from "uqr";
import { stripControls } from "../../shared/control-characters.ts";
import type { Account } from "./account.ts";
import type { Credentials } from "./credentials.ts";
import type { Codes } from "./server.ts";

const indent = "    ";
/** Not every camera reads an inverted code. */
const whiteOnBlack = (line: string) => `\u001b[97;40m${line}\u001b[0m`;

/** RFC 8628 §3.3. @param options.columns undefined: the output is not a terminal */
export function showInvitation(
  { verification_uri, verification_uri_complete: link, user_code }: Codes,
  options: { expiresAt: Date; qr: boolean | undefined; columns: number | undefined; opensBrowser: boolean },
): string {
  const { expiresAt, qr, columns, opensBrowser } = options;
  const isScannable = qr ?? !isThisMachine(verification_uri);
  const picture = link && isScannable ? showQr(link, columns, qr === true) : [];
  const orScan = picture.length > 0 ? ", or scan it," : "";
  return [
    "To sign in, open this page in a browser on any device",
    "",
    indent + stripControls(verification_uri),
    "",
    "and enter the code",
    "",
    indent + stripControls(user_code),
    columns === undefined ? "" : copied(stripControls(user_code)),
    ...(link
      ? [`Or open this link${orScan} and compare the code:`, "", indent + stripControls(link), "", ...picture]
      : []),
    ...(opensBrowser ? ["Your browser opens it now.", ""] : []),
    `Waiting for your approval until ${timeOf(expiresAt)}. Ctrl-C gives up.`,
    "",
  ].join("\n");
}

/** Asks the terminal to copy a text (OSC 52). One that cannot shows nothing. */
function copied(text: string): string {
  return `\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`;
}

/** Empty without a terminal or room, unless requested. */
function showQr(text: string, columns: number | undefined, isWanted: boolean): string[] {
  const lines = renderUnicodeCompact(text, { border: 2 }).split("\n");
  const width = indent.length + (lines[0]?.length ?? 0);
  const hasRoom = columns !== undefined && columns >= width;
  if (!hasRoom && !isWanted) return [];
  return [...lines.map((line) => indent + (columns === undefined ? line : whiteOnBlack(line))), ""];
}

/** Never shows a token. */
export function showSignedIn(account: Account, credentials: Credentials, server: string): string {
  const { user, organizations } = account;
  const { scope, expires_at, refresh_token } = credentials;
  const renewed = refresh_token ? "; --status renews it then" : "";
  const expiresAt = expires_at === null ? undefined : new Date(expires_at);
  const access = expiresAt ? `until ${dayOf(expiresAt)} ${timeOf(expiresAt)}${renewed}` : "does not expire";
  return [
    user
      ? `You are signed in to ${server} as ${user.name} <${user.email}>.`
      : `You are signed in to ${server}.`,
    ...(organizations?.map(({ name, slug }) => `Organization  ${name} (${slug})`) ?? []),
    `Scopes        ${scope}`,
    `Access        ${access}`,
    "",
  ]
    .map((line) => stripControls(line))
    .join("\n");
}

/** Warns if tokens travel unencrypted to another machine. */
export function showUnencrypted(server: string): string {
  const isSafe = new URL(server).protocol === "https:" || isThisMachine(server);
  return isSafe ? "" : `Careful: ${server} is not encrypted, others on the way can read what is sent.\n`;
}

/** A phone cannot reach such an address. */
function isThisMachine(url: string): boolean {
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname);
}

function timeOf(time: Date): string {
  return time.toTimeString().slice(0, "hh:mm".length);
}

function dayOf(time: Date): string {
  return time.toLocaleDateString("sv-SE"); // year-month-day
}
