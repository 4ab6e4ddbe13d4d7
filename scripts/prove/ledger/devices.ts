import { hashToken } from "../../../shared/crypto/tokens.ts";
import type { SignIn } from "../traffic/observed.ts";
import { checkOf } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

type Rows = Pick<Ledger, "deviceCodes" | "grants" | "tokenHashes">;

/** A device code gives at most one token, which works, and has one grant. */
export const checkSignIns = checkOf(
  "devices",
  function* (signIns: SignIn[], { deviceCodes, grants, tokenHashes }: Rows) {
    const states = new Map(deviceCodes.map(({ deviceCodeHash, state }) => [deviceCodeHash, state]));
    for (const { userCode, deviceCode, tokens, attempts } of signIns) {
      const name = `device code ${userCode}`;
      const state = states.get(hashToken(deviceCode));
      if (tokens.length > 1) yield [`${name} gave ${tokens.length} tokens`, attempts];
      if (tokens.some((token) => !tokenHashes.includes(hashToken(token))))
        yield [`${name} gave a token that is not stored`, attempts];
      if (state === undefined) yield [`${name} is not stored`, attempts];
      else if (tokens.length > 0 && state !== "used")
        yield [`${name} gave a token, but is ${state}`, attempts];
    }
    const used = deviceCodes.filter(({ state }) => state === "used").length;
    if (grants.length !== used) yield `${used} used device codes have ${grants.length} grants`;
  },
);
