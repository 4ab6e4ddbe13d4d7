import type { Cipher } from "../../crypto/cipher.ts";
import { sealedPlaces } from "../../crypto/sealed-places.ts";
import { type Environment, openEnvironmentIfPossible } from "../../pipelines/environment.ts";
import { reservedVariable } from "../../vocabulary.ts";
import type { Build } from "./build-store.ts";

/** The variables of a build's steps, as pages and REST show them. */
export function buildEnvironment(
  cipher: Cipher,
  build: Build,
  address: { org: string; slug: string },
): Environment {
  return { ...givenEnvironment(cipher, build), ...ownEnvironment(build, address) };
}

/**
 * The variables that its trigger or creator gave. Leaves out names of ours, so that steps can trust them, and variables
 * that were sealed under a key before the previous one: builds outlive keys, and their lists must still be shown.
 */
export function givenEnvironment(
  cipher: Cipher,
  { environmentSealed }: Pick<Build, "environmentSealed">,
): Environment {
  const given = openEnvironmentIfPossible(cipher, environmentSealed, sealedPlaces.variablesOfBuilds);
  return Object.fromEntries(Object.entries(given).filter(([name]) => !reservedVariable.test(name)));
}

/** The variables that every build sets itself. */
export function ownEnvironment(build: Build, { org, slug }: { org: string; slug: string }): Environment {
  return {
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
