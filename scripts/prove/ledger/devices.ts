import { hashToken } from "../../../shared/crypto/tokens.ts";
import type { SignIn } from "../traffic/observed.ts";
import { type Discrepancy, discrepancy } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

type Rows = Pick<Ledger, "deviceCodes" | "grants" | "tokenHashes">;

/** A device code gives at most one token, which works, and has one grant. */
export function checkSignIns(signIns: SignIn[], { deviceCodes, grants, tokenHashes }: Rows): Discrepancy[] {
  const hashes = new Set(tokenHashes);
  const states = new Map(deviceCodes.map(({ deviceCodeHash, state }) => [deviceCodeHash, state]));
  const used = deviceCodes.filter(({ state }) => state === "used").length;
  return [
    ...signIns.flatMap(({ userCode, deviceCode, tokens, attempts }) => {
      const name = `device code ${userCode}`;
      const state = states.get(hashToken(deviceCode));
      const lost = tokens.filter((token) => !hashes.has(hashToken(token)));
      return [
        tokens.length > 1 && discrepancy("devices", `${name} gave ${tokens.length} tokens`, attempts),
        lost.length > 0 && discrepancy("devices", `${name} gave a token that is not stored`, attempts),
        state === undefined && discrepancy("devices", `${name} is not stored`, attempts),
        tokens.length > 0 &&
          state !== "used" &&
          discrepancy("devices", `${name} gave a token, but is ${state}`, attempts),
      ].filter((each) => each !== false);
    }),
    ...(grants.length === used
      ? []
      : [discrepancy("devices", `${used} used device codes have ${grants.length} grants`)]),
  ];
}
