import type { Build } from "./store.ts";

const reserved = /^SIGNALBOX_/;

/**
 * What the steps of a build see: the variables that it was given, and ours. Ours cannot be replaced, so that
 * a step can trust them.
 */
export function buildEnvironment(
  build: Build,
  pipelineSlug: string,
  organizationSlug: string,
): Record<string, string> {
  const given = Object.entries(build.environment).filter(([name]) => !reserved.test(name));
  return {
    ...Object.fromEntries(given),
    SIGNALBOX: "true",
    SIGNALBOX_ORGANIZATION_SLUG: organizationSlug,
    SIGNALBOX_PIPELINE_SLUG: pipelineSlug,
    SIGNALBOX_BUILD_ID: build.id,
    SIGNALBOX_BUILD_NUMBER: String(build.number),
    SIGNALBOX_BRANCH: build.branch,
    SIGNALBOX_COMMIT: build.commit,
    SIGNALBOX_MESSAGE: build.message,
    SIGNALBOX_SOURCE: build.source,
  };
}
