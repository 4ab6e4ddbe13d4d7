import { timingSafeEqual } from "node:crypto";
import { dayMs, secondMs } from "../durations.ts";
import type { Services } from "../services/services.ts";
import type { User } from "./user-store.ts";

/** Browsers keep no cookie for longer. */
export const knownBrowserDays = 400;

type Signer = Pick<Services, "cipher" | "clock">;

/**
 * The value of a cookie that shows that a user has signed in with this browser: `<seconds>.<HMAC>`. It names nobody,
 * and is void once the password changes.
 */
export function issueKnownBrowser({ cipher, clock }: Signer, user: User): string {
  const issuedAt = Math.floor(clock.now().getTime() / secondMs);
  return `${issuedAt}.${cipher.macs(macInput(user, issuedAt))[0]}`;
}

/** Without a user it is false, and takes equally long. */
export function isKnownBrowser({ cipher, clock }: Signer, user: User | undefined, value: string): boolean {
  const [, seconds, mac] = /^(\d{1,12})\.([\w-]{43})$/.exec(value) ?? [];
  if (seconds === undefined || mac === undefined) return false;
  const ageMs = clock.now().getTime() - Number(seconds) * secondMs;
  const expected = cipher.macs(macInput(user, Number(seconds)));
  const isSigned = expected.some((each) => timingSafeEqual(Buffer.from(each), Buffer.from(mac)));
  return isSigned && user !== undefined && ageMs <= knownBrowserDays * dayMs;
}

function macInput(user: User | undefined, issuedAt: number): string {
  return `known browser ${user?.id} ${issuedAt} ${user?.passwordHash}`;
}
