import { importJWK, type JWK } from "jose";
import { sealedPlaces } from "../crypto/sealed-places.ts";
import { secondMs } from "../durations.ts";
import type { Services } from "../services/services.ts";
import { runFor } from "../sharing/owner.ts";
import { listShownKeys, type SigningKey } from "./key-store.ts";
import { makeFirstKey, signingAlgorithm } from "./rotation.ts";

/** Much less than the time for which a key is shown before it signs. */
const keptMs = 30 * secondMs;

/** The keys of this installation, as a process knows them. The first use ever makes the first key. */
export interface SigningKeys {
  /** The key that signs new tokens. */
  current(): Promise<{ id: string; privateKey: Awaited<ReturnType<typeof importJWK>> }>;
  /** The key set, for those who check tokens (RFC 7517). */
  shown(): Promise<JWK[]>;
}

/** Reads the keys again after 30 seconds. */
export function openSigningKeys(services: Pick<Services, "db" | "cipher" | "clock">): SigningKeys {
  const { cipher, clock } = services;
  let kept: { at: number; keys: Promise<SigningKey[]> } | undefined;
  let opened: { id: string; privateKey: ReturnType<typeof importJWK> } | undefined;

  const read = () => {
    const now = clock.now().getTime();
    if (kept && Math.abs(now - kept.at) < keptMs) return kept.keys;
    // They are no caller's, whose turn others would wait for.
    const reading = { at: now, keys: runFor(undefined, () => findOrMakeKeys(services)) };
    reading.keys.catch(() => {
      if (kept === reading) kept = undefined;
    });
    kept = reading;
    return reading.keys;
  };

  const open = ({ id, privateKeySealed }: SigningKey) => {
    if (opened?.id === id) return opened.privateKey;
    const key: JWK = JSON.parse(cipher.open(privateKeySealed, sealedPlaces.signingKey(id)));
    opened = { id, privateKey: importJWK(key, signingAlgorithm) };
    return opened.privateKey;
  };

  return {
    async current() {
      const now = clock.now();
      const keys = await read();
      // An only key may be made by a clock that is ahead, or by a rotation before the first use.
      const key = keys.find(({ activeAt }) => activeAt <= now) ?? keys.at(-1);
      if (!key) throw new Error("There is no signing key.");
      return { id: key.id, privateKey: await open(key) };
    },
    async shown() {
      const keys = await read();
      return keys.map(({ id, publicKey }) => ({ ...publicKey, kid: id, use: "sig", alg: signingAlgorithm }));
    },
  };
}

async function findOrMakeKeys(services: Pick<Services, "db" | "cipher" | "clock">): Promise<SigningKey[]> {
  const now = services.clock.now();
  const keys = await listShownKeys(services.db, now);
  if (keys.some(({ isNewest }) => isNewest)) return keys;
  await makeFirstKey(services);
  return listShownKeys(services.db, now);
}
