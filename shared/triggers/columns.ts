import type { BuildRequest } from "../builds/making/builds.ts";
import type { Cipher } from "../crypto/cipher.ts";
import { sealedPlaces } from "../crypto/sealed-places.ts";
import { changedColumns } from "../members/rows.ts";
import { openEnvironment, sealEnvironment } from "../pipelines/environment.ts";
import type { HmacSignature } from "../vocabulary.ts";
import type { TriggerChange } from "./members.ts";
import type { Trigger } from "./store.ts";
import { buildDefaults, hmacDefaults } from "./types.ts";

/**
 * The columns that a request sets, but not the type. Absent members stay; blank text becomes null.
 * @param present the trigger that changes; absent: a new one
 */
export function columnsOf(cipher: Cipher, change: TriggerChange, present?: Trigger): Partial<Trigger> {
  const { label, enabled, buildBranch, buildCommit, buildMessage, environment, filter, secret } = change;
  const signature = signatureOf(change);
  return changedColumns<Trigger>({
    label,
    enabled,
    buildBranch,
    buildCommit,
    buildMessage,
    environmentSealed: environment && sealEnvironment(cipher, environment, sealedPlaces.variablesOfBuilds),
    filter,
    secretSealed: secret && cipher.seal(secret, sealedPlaces.secretsOfTriggers),
    signature:
      Object.keys(signature).length === 0
        ? undefined
        : { ...hmacDefaults, ...present?.signature, ...signature },
  });
}

/** The settings of the signature that a request gives. */
export function signatureOf({ header, algorithm, encoding, prefix }: TriggerChange): Partial<HmacSignature> {
  const settings = Object.entries({ header, algorithm, encoding, prefix });
  return Object.fromEntries(
    settings.filter(([, value]) => value !== undefined && value !== null),
  ) as Partial<HmacSignature>;
}

/** The request of a trigger for builds, with the defaults. */
export function buildOf({ buildMessage, buildCommit, buildBranch }: Partial<Trigger>) {
  return {
    buildMessage: buildMessage ?? buildDefaults.message,
    buildCommit: buildCommit ?? buildDefaults.commit,
    buildBranch: buildBranch ?? buildDefaults.branch,
  };
}

export function environmentOf(cipher: Cipher, { environmentSealed }: Trigger): Record<string, string> {
  return openEnvironment(cipher, environmentSealed, sealedPlaces.variablesOfBuilds);
}

/** Undefined without one. @throws Error when no key opens it */
export function secretOf(
  cipher: Cipher,
  { secretSealed }: Pick<Trigger, "secretSealed">,
): string | undefined {
  return secretSealed === null ? undefined : cipher.open(secretSealed, sealedPlaces.secretsOfTriggers);
}

/**
 * Plans the builds of a trigger, which no payload changes. Copies the sealed variables: sealing them for each build
 * costs more than storing it.
 */
export function planBuild(trigger: Trigger): Omit<BuildRequest, "deliveryId"> {
  const { buildMessage: message, buildCommit: commit, buildBranch: branch } = buildOf(trigger);
  return {
    pipelineId: trigger.pipelineId,
    source: "webhook",
    message,
    commit,
    branch,
    environmentSealed: trigger.environmentSealed,
  };
}

/** Distinguishes secrets. Empty for at most two characters. */
export function lastTwoOf(secret: string): string {
  return secret.length > 2 ? secret.slice(-2) : "";
}
