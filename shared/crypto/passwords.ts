import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { unavailable } from "../refusal.ts";

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);
const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
const saltBytes = 16;
const keyBytes = 32;

/** scrypt costs a core a quarter of a second: what comes faster waits here, or is refused, and spares the rest. */
const maxWaiting = 20;
const retryAfterSeconds = 5;
let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/** scrypt with OWASP's parameters; the text form carries salt and cost, so that the cost can rise later. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const key = await inTurn(() => derive(password.normalize("NFKC"), salt, keyBytes, cost));
  return asText(salt, key);
}

/** A hash that no password has: so that an unknown address takes as long to refuse as a wrong password. */
export const nobodysPassword = asText(randomBytes(saltBytes), randomBytes(keyBytes));

function asText(salt: Buffer, key: Buffer): string {
  return ["scrypt", cost.N, cost.r, cost.p, salt.toString("base64url"), key.toString("base64url")].join("$");
}

/** Constant in time for a given stored hash. A malformed hash matches nothing. */
export async function matchesPassword(password: string, stored: string): Promise<boolean> {
  const [scheme, N, r, p, salt, key] = stored.split("$");
  if (scheme !== "scrypt" || !salt || !key) return false;
  const expected = Buffer.from(key, "base64url");
  const given = await inTurn(() =>
    derive(password.normalize("NFKC"), Buffer.from(salt, "base64url"), expected.length, {
      ...cost,
      N: Number(N),
      r: Number(r),
      p: Number(p),
    }),
  );
  return timingSafeEqual(given, expected);
}

/** One after the other. @throws Refusal 503 when too many wait already */
async function inTurn(work: () => Promise<Buffer>): Promise<Buffer> {
  if (waiting >= maxWaiting) throw unavailable(retryAfterSeconds);
  waiting++;
  const result = last.then(work);
  last = result.catch(() => {});
  return result.finally(() => waiting--);
}
