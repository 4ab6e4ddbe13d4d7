import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { Refusal, unavailable } from "../refusal.ts";
import { type CallerNetworks, type NoPlace, Places } from "../runtime/places.ts";
import { openTurns } from "../runtime/turns.ts";

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);
/** OWASP's parameters. */
const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
const saltBytes = 16;
const keyBytes = 32;

/** scrypt takes a core for a quarter of a second. Node has four threads for it, compression and files. */
const maxRunning = 2;
/** One network leaves a core to others. */
const maxRunningPerOwner = 1;
/** Running and waiting. The last waits three seconds on two cores. */
const bounds = { max: 24, maxPerNetwork: 3, maxPerWideNetwork: 6 };
const retryAfterSeconds = 5;

/** Nobody shares the places of a command. */
export const operatorNetworks: CallerNetworks = { network: "operator", wideNetwork: "operator" };

/** Wide networks take turns. */
export interface Passwords {
  /**
   * The hash states its cost, which can rise later.
   * @throws Refusal 429 if the caller's networks have their share, which is the caller's fault; 503 if all are busy
   */
  hash(password: string, caller: CallerNetworks): Promise<string>;
  /**
   * Takes constant time. A malformed hash matches nothing.
   * @throws Refusal 429 if the caller's networks have their share, which is the caller's fault; 503 if all are busy
   */
  matches(password: string, stored: string, caller: CallerNetworks): Promise<boolean>;
}

/** Hides unknown addresses: its check takes equally long. */
export const unmatchableHash = asText(randomBytes(saltBytes), randomBytes(keyBytes));

export function createPasswords(): Passwords {
  const places = new Places(bounds);
  const turns = openTurns({ maxRunning, maxRunningPerOwner });
  const inTurn = async (caller: CallerNetworks, work: () => Promise<Buffer>): Promise<Buffer> => {
    const noPlace = places.take(caller);
    if (noPlace) throw refusalOf(noPlace);
    try {
      return await turns.take(caller.wideNetwork, work);
    } finally {
      places.giveBack(caller);
    }
  };

  return {
    async hash(password, caller) {
      const salt = randomBytes(saltBytes);
      const work = () => derive(password.normalize("NFKC"), salt, keyBytes, cost);
      return asText(salt, await inTurn(caller, work));
    },

    async matches(password, stored, caller) {
      const [scheme, N, r, p, salt, key] = stored.split("$");
      if (scheme !== "scrypt" || !salt || !key) return false;
      const expected = Buffer.from(key, "base64url");
      const storedCost = { ...cost, N: Number(N), r: Number(r), p: Number(p) };
      const given = await inTurn(caller, () =>
        derive(password.normalize("NFKC"), Buffer.from(salt, "base64url"), expected.length, storedCost),
      );
      return timingSafeEqual(given, expected);
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
