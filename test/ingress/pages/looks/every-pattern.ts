import { patterns } from "../../../../shared/paths.ts";

type Name = keyof typeof patterns;

/** Of programs. */
const apis = /^\/(v2|v3|agentedge\.v1\.AgentEdgeService|deliver|\.well-known)(\/|$)/;

/** Patterns without a page to look at, by the reason. */
const exceptions: Record<string, Name[]> = {
  "answers a program": [
    "healthz",
    "readyz",
    "events",
    "openapi",
    "deviceAuthorization",
    "token",
    "revoke",
    "introspect",
  ],
  "is a file": [
    "asset",
    "avatar",
    "badge",
    "docsAsset",
    "annotationBodyPage",
    "payloadPage",
    "jobLogPage",
    "artifactFile",
    "deliveryPayloadPage",
    "auditFile",
  ],
  "is a page of another project": ["apiReference"],
  "takes a form, and leads to the page that has it": [
    "signOut",
    "starPipelinePage",
    "archivePipelinePage",
    "unarchivePipelinePage",
    "createWebhookPage",
    "enableProviderPage",
    "disableProviderPage",
    "cancelBuildPage",
    "deleteArtifactPage",
    "rebuildBuildPage",
    "retryFailedJobsPage",
    "cancelJobPage",
    "retryJobPage",
    "cancelBulkRebuildPage",
    "rebuildPage",
    "enableSchedulePage",
    "disableSchedulePage",
    "buildSchedulePage",
    "enableTriggerPage",
    "disableTriggerPage",
    "keepRefusedBodiesPage",
    "dropRefusedBodiesPage",
    "pauseQueuePage",
    "resumeQueuePage",
    "secretValuePage",
    "stopAgentPage",
    "pauseAgentPage",
    "resumeAgentPage",
    "memberRolePage",
    "revokeInvitationPage",
    "retryMessagesPage",
    "retryMessagePage",
    "dropMessagePage",
    "switchServicePage",
    "sendAgainPage",
  ],
};

/** The names of patterns that none of these paths has, without the exceptions. */
export function listUnseen(paths: Iterable<string>): Name[] {
  const seen = new Set([...paths].map(nameOf));
  const excepted = new Set(Object.values(exceptions).flat());
  return named.map(({ name }) => name).filter((name) => !seen.has(name) && !excepted.has(name));
}

/** Those with the fewest parameters first: `/triggers/new` is no trigger. */
const named = Object.entries(patterns)
  .filter(([, pattern]) => !apis.test(pattern))
  .map(([name, pattern]) => ({
    name: name as Name,
    form: new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll(/:\w+/g, "[^/]+")}$`),
    parameters: pattern.split(":").length,
  }))
  .sort((one, other) => one.parameters - other.parameters);

function nameOf(path: string): Name | undefined {
  return named.find(({ form }) => form.test(path))?.name;
}
