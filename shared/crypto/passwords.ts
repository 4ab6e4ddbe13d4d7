import { randomBytes, timingSafeEqual } from "node:crypto";
import { Threads } from "../process/threads.ts";
import { type Refusal, tooMany, unavailable } from "../refusal.ts";
import { resources } from "../sharing/bounds.ts";
import type { CallerNetworks, Full } from "../sharing/shares.ts";
import type { deriveKey } from "./derive-key.ts";
import { type PasswordCaller, PasswordSlots } from "./password-slots.ts";

/** One thread for each slot. In Node's own pool, this work would have the same priority as the event loops. */
const threads = new Threads({ max: resources.passwords.max });
const derive = threads.wrap<typeof deriveKey>(new URL("./derive-key.ts", import.meta.url), "deriveKey");
/** OWASP's parameters. */
const strongCost = { N: 2 ** 15, r: 8, p: 3 };
const maxmem = 64 * 1024 * 1024;
const saltBytes = 16;
const keyBytes = 32;

/** Nobody shares the slots of a command. */
export const operatorNetworks: CallerNetworks = { network: "operator", wideNetwork: "operator" };

/** Wide networks take turns. */
export interface Passwords {
  /**
   * The hash states its cost, which can rise later.
   * @throws Refusal 429 if the caller's networks have their share, which is the caller's fault; 503 if all are busy,
   * or another network, which holds fewer slots, needs the caller's
   */
  hash(password: string, caller: PasswordCaller): Promise<string>;
  /**
   * Takes constant time. A malformed hash matches nothing.
   * @param stored if there is none, the check takes as long as that of a new hash: nobody learns who has a password
   * @throws Refusal 429, 503, as `hash`
   */
  matches(password: string, stored: string | null | undefined, caller: PasswordCaller): Promise<boolean>;
}

/** @param cost of new hashes */
export function createPasswords(cost = strongCost): Passwords {
  const slots = new PasswordSlots(refusalOf);
  const unmatchable = asText(cost, randomBytes(saltBytes), randomBytes(keyBytes));

  return {
    async hash(password, caller) {
      const salt = randomBytes(saltBytes);
      const work = () => derive({ password, salt, bytes: keyBytes, cost: { ...cost, maxmem } });
      return asText(cost, salt, await slots.run(caller, work));
    },

    async matches(password, stored, caller) {
      const [scheme, N, r, p, salt, key] = (stored ?? unmatchable).split("$");
      if (scheme !== "scrypt" || !salt || !key) return false;
      const expected = Buffer.from(key, "base64url");
      const storedCost = { N: Number(N), r: Number(r), p: Number(p), maxmem };
      const given = await slots.run(caller, () =>
        derive({
          password,
          salt: Buffer.from(salt, "base64url"),
          bytes: expected.length,
          cost: storedCost,
        }),
      );
      const isSame = timingSafeEqual(given, expected);
      if (!isSame) slots.countWrong(caller);
      return isSame;
    },
  };
}

function refusalOf(full: Full): Refusal {
  if (full === "all") return unavailable();
  return tooMany("Your network sends too many passwords at once. Please wait 5 seconds, then try again.");
}

function asText({ N, r, p }: typeof strongCost, salt: Buffer, key: Uint8Array): string {
  return ["scrypt", N, r, p, salt.toString("base64url"), Buffer.from(key).toString("base64url")].join("$");
}
