import type { Cipher } from "../../crypto/cipher.ts";
import { sealedPlaces } from "../../crypto/sealed-places.ts";
import type { BuildOptions } from "../../db/schema/builds.ts";
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

/** The tag of a build, which has no member of its own. */
export function tagOf(given: Environment, prefix: string): string | undefined {
  return given[`${prefix}_TAG`] || undefined;
}

type PullRequest = NonNullable<BuildOptions["pull_request"]> & { isDraft: boolean };

/** The pull request that the creator of a build gave, by members or by variables. */
export function pullRequestOf(
  { options }: Pick<Build, "options">,
  given: Environment,
  prefix: string,
): PullRequest | undefined {
  const read = (name: string) => given[`${prefix}_PULL_REQUEST${name}`] || undefined;
  const isDraft = read("_DRAFT") === "true";
  if (options?.pull_request) return { ...options.pull_request, isDraft };
  const id = read("");
  if (id === undefined || id === "false") return undefined;
  const [base_branch, repository, labels] = [read("_BASE_BRANCH"), read("_REPO"), read("_LABELS")];
  return {
    id,
    isDraft,
    ...(base_branch !== undefined && { base_branch }),
    ...(repository !== undefined && { repository }),
    ...(labels !== undefined && { labels: labels.split(",") }),
  };
}
