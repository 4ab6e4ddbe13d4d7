import { exportJWK, generateKeyPair } from "jose";
import { sealedPlaces } from "../crypto/sealed-places.ts";
import { hourMs } from "../durations.ts";
import { newId } from "../ids.ts";
import { Refusal } from "../refusal.ts";
import { atOnce, type Expiring, expiring } from "../retention/expiring.ts";
import type { Services } from "../services/services.ts";
import {
  deleteRetiredBefore,
  insertIfNoneIsNewest,
  listShownKeys,
  retireAll,
  retireNewestIfActive,
  type SigningKey,
} from "./key-store.ts";

// The life of a signing key:
//
// | From          | To        | The key                                                                 |
// |---------------|-----------|-------------------------------------------------------------------------|
// | createdAt     | activeAt  | is shown, so that readers of the key set know it before its first token |
// | activeAt      | the activeAt of its successor | signs                                               |
// | then          | retiresAt | is shown, for its last tokens                                           |
// | retiresAt     |           | is deleted                                                              |

export const signingAlgorithm = "RS256";
/** The longest lifetime of a token. */
export const maxTokenMs = 2 * hourMs;
/** Readers keep a key set for a while. */
const shownBeforeMs = hourMs;
/** Clocks of processes and readers differ. */
const shownAfterMs = maxTokenMs + hourMs;

type Parts = Pick<Services, "db" | "cipher" | "clock">;

/** Makes the first key of an installation. Of processes that try at once, one makes it. */
export async function makeFirstKey(services: Parts): Promise<void> {
  const key = await newKey(services);
  await services.db.transaction((tx) => insertIfNoneIsNewest(tx, key));
}

/**
 * Makes a new signing key. It is shown for an hour before it signs, and its predecessor until the last of its tokens has
 * ended.
 * @param isLeaked the new key signs at once, and the others are shown no longer: their tokens are worth nothing
 * @throws Refusal 422 while the newest key does not sign yet
 */
export async function rotateSigningKeys(services: Parts, { isLeaked }: { isLeaked: boolean }) {
  const now = services.clock.now();
  const activeAt = isLeaked ? now : new Date(now.getTime() + shownBeforeMs);
  const key = await newKey(services, activeAt);
  return services.db.transaction(async (tx) => {
    if (isLeaked) await retireAll(tx, now);
    else await retireNewestIfActive(tx, now, new Date(activeAt.getTime() + shownAfterMs));
    if (!(await insertIfNoneIsNewest(tx, key))) throw rotatedAlready();
    return listShownKeys(tx, now);
  });
}

function rotatedAlready(): Refusal {
  return new Refusal(
    422,
    "The keys were rotated already, and the newest one does not sign yet: wait an hour",
  );
}

async function newKey({ cipher, clock }: Parts, activeAt = clock.now()): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(signingAlgorithm, { extractable: true });
  const createdAt = clock.now();
  const id = newId(createdAt);
  return {
    id,
    publicKey: (await exportJWK(publicKey)) as Record<string, string>,
    privateKeySealed: cipher.seal(JSON.stringify(await exportJWK(privateKey)), sealedPlaces.signingKey(id)),
    createdAt,
    activeAt,
    isNewest: true,
    retiresAt: null,
  };
}

export const retiredSigningKeys: Expiring = expiring("signingKeys", atOnce, deleteRetiredBefore);
