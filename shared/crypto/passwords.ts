import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { unavailable } from "../refusal.ts";

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);
/** OWASP's parameters. */
const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
const saltBytes = 16;
const keyBytes = 32;

/** scrypt takes a core for a quarter of a second; refusals spare other requests. */
const maxWaiting = 20;
const retryAfterSeconds = 5;

/** One at a time. */
export interface Passwords {
  /**
   * The hash states its cost, which can rise later.
   * @throws Refusal 503 when too many calls wait
   */
  hash(password: string): Promise<string>;
  /**
   * Takes constant time. A malformed hash matches nothing.
   * @throws Refusal 503 when too many calls wait
   */
  matches(password: string, stored: string): Promise<boolean>;
}

/** Hides unknown addresses: its check takes equally long. */
export const unmatchableHash = asText(randomBytes(saltBytes), randomBytes(keyBytes));

export function createPasswords(): Passwords {
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  const inTurn = async (work: () => Promise<Buffer>): Promise<Buffer> => {
    if (waiting >= maxWaiting) throw unavailable(retryAfterSeconds);
    waiting++;
    const result = last.then(work);
    last = result.catch(() => {});
    return result.finally(() => waiting--);
  };

  return {
    async hash(password) {
      const salt = randomBytes(saltBytes);
      return asText(salt, await inTurn(() => derive(password.normalize("NFKC"), salt, keyBytes, cost)));
    },

    async matches(password, stored) {
      const [scheme, N, r, p, salt, key] = stored.split("$");
      if (scheme !== "scrypt" || !salt || !key) return false;
      const expected = Buffer.from(key, "base64url");
      const storedCost = { ...cost, N: Number(N), r: Number(r), p: Number(p) };
      const given = await inTurn(() =>
        derive(password.normalize("NFKC"), Buffer.from(salt, "base64url"), expected.length, storedCost),
      );
      return timingSafeEqual(given, expected);
    },
  };
}

function asText(salt: Buffer, key: Buffer): string {
  return ["scrypt", cost.N, cost.r, cost.p, salt.toString("base64url"), key.toString("base64url")].join("$");
}
