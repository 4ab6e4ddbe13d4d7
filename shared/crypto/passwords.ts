import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { Refusal, unavailable } from "../refusal.ts";
import type { CallerNetworks, NoPlace } from "../sharing/places.ts";
import { type WaitingCaller, WaitingPlaces } from "../sharing/waiting-places.ts";

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);
/** OWASP's parameters. */
const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
const saltBytes = 16;
const keyBytes = 32;

/**
 * scrypt takes a core for a quarter of a second. Node has four threads for it, compression and files. One network
 * leaves a core to others.
 */
const turns = { maxRunning: 2, maxRunningPerOwner: 1 };
/** Running and waiting. The last waits three seconds on two cores. */
const bounds = { max: 24, maxPerNetwork: 3, maxPerWideNetwork: 6 };
/** Besides: strangers cannot keep out a browser of an earlier sign-in. */
const maxKept = 4;
const retryAfterSeconds = 5;

/** Nobody shares the places of a command. */
export const operatorNetworks: CallerNetworks = { network: "operator", wideNetwork: "operator" };

/** Wide networks take turns. */
export interface Passwords {
  /**
   * The hash states its cost, which can rise later.
   * @throws Refusal 429 if the caller's networks have their share, which is the caller's fault; 503 if all are busy,
   * or another network, which holds fewer places, needs the caller's
   */
  hash(password: string, caller: WaitingCaller): Promise<string>;
  /**
   * Takes constant time. A malformed hash matches nothing.
   * @throws Refusal 429, 503, as `hash`
   */
  matches(password: string, stored: string, caller: WaitingCaller): Promise<boolean>;
}

/** Hides unknown addresses: its check takes equally long. */
export const unmatchableHash = asText(randomBytes(saltBytes), randomBytes(keyBytes));

export function createPasswords(): Passwords {
  const places = new WaitingPlaces({ bounds, turns, maxKept, refusalOf });

  return {
    async hash(password, caller) {
      const salt = randomBytes(saltBytes);
      const work = () => derive(password.normalize("NFKC"), salt, keyBytes, cost);
      return asText(salt, await places.run(caller, work));
    },

    async matches(password, stored, caller) {
      const [scheme, N, r, p, salt, key] = stored.split("$");
      if (scheme !== "scrypt" || !salt || !key) return false;
      const expected = Buffer.from(key, "base64url");
      const storedCost = { ...cost, N: Number(N), r: Number(r), p: Number(p) };
      const given = await places.run(caller, () =>
        derive(password.normalize("NFKC"), Buffer.from(salt, "base64url"), expected.length, storedCost),
      );
      const isSame = timingSafeEqual(given, expected);
      if (!isSame) places.countWrong(caller);
      return isSame;
    },
  };
}

function refusalOf(noPlace: NoPlace): Refusal {
  if (noPlace === "full") return unavailable(retryAfterSeconds);
  const message = `Your network sends too many passwords at once. Please wait ${retryAfterSeconds} seconds, then try again.`;
  return new Refusal(429, message, { headers: { "Retry-After": String(retryAfterSeconds) } });
}

function asText(salt: Buffer, key: Buffer): string {
  return ["scrypt", cost.N, cost.r, cost.p, salt.toString("base64url"), key.toString("base64url")].join("$");
}
