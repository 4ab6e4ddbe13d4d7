import type { Cipher } from "../crypto/cipher.ts";
import { reservedVariable } from "../vocabulary.ts";
import type { Build } from "./store.ts";

/** Variables by name. */
export type Environment = Record<string, string>;

/** Returns null for no variables. */
export function sealEnvironment(cipher: Cipher, environment: Environment): string | null {
  return Object.keys(environment).length > 0 ? cipher.seal(JSON.stringify(environment)) : null;
}

/** @throws Error when no key opens it */
export function openEnvironment(cipher: Cipher, sealed: string | null): Environment {
  return sealed === null ? {} : JSON.parse(cipher.open(sealed));
}

/**
 * The variables of a build's steps. Leaves out names of ours, which triggers of older versions may have, so that steps
 * can trust ours. Leaves out variables that were sealed under a key before the previous one: builds outlive keys, and their lists must still be shown.
 */
export function buildEnvironment(
  cipher: Cipher,
  build: Build,
  { org, slug }: { org: string; slug: string },
): Environment {
  const given = Object.entries({ ...build.environment, ...openIfPossible(cipher, build.environmentSealed) });
  return {
    ...Object.fromEntries(given.filter(([name]) => !reservedVariable.test(name))),
    SIGNALBOX: "true",
    SIGNALBOX_ORGANIZATION_SLUG: org,
    SIGNALBOX_PIPELINE_SLUG: slug,
    SIGNALBOX_BUILD_ID: build.id,
    SIGNALBOX_BUILD_NUMBER: String(build.number),
    SIGNALBOX_BRANCH: build.branch,
    SIGNALBOX_COMMIT: build.commit,
    SIGNALBOX_MESSAGE: build.message,
    SIGNALBOX_SOURCE: build.source,
  };
}

function openIfPossible(cipher: Cipher, sealed: string | null): Environment {
  try {
    return openEnvironment(cipher, sealed);
  } catch {
    return {};
  }
}
