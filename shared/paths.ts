/** The path of every route. Parameters are `:name`; `**` is any rest. */
export const patterns = {
  home: "/",
  healthz: "/healthz",
  readyz: "/readyz",
  deliver: "/deliver/**",
  deviceAuthorization: "/oauth/device_authorization",
  token: "/oauth/token",
  revoke: "/oauth/revoke",
  introspect: "/oauth/introspect",
  oauthMetadata: "/.well-known/oauth-authorization-server",
  openidConfiguration: "/.well-known/openid-configuration",
  enterCode: "/oauth/device",
  enterThisCode: "/oauth/device/:code",
  reviewDevice: "/oauth/device/:code/review",
  deviceResult: "/oauth/device/:code/result",
  signIn: "/sign-in",
  signOut: "/sign-out",
  password: "/user/password",
  connectedApps: "/user/connected-apps",
  connectedApp: "/user/connected-apps/:id",
  revokeConnectedApp: "/user/connected-apps/:id/revoke",
  revokeApplication: "/user/connected-apps/applications/:id/revoke",
  accessTokens: "/user/api-access-tokens",
  newAccessToken: "/user/api-access-tokens/new",
  revokeAccessToken: "/user/api-access-tokens/:id/revoke",
  organizationPage: "/organizations/:org",
  clustersPage: "/organizations/:org/clusters",
  clusterPage: "/organizations/:org/clusters/:cluster",
  editClusterPage: "/organizations/:org/clusters/:cluster/edit",
  deleteClusterPage: "/organizations/:org/clusters/:cluster/delete",
  newQueuePage: "/organizations/:org/clusters/:cluster/queues/new",
  queuePage: "/organizations/:org/clusters/:cluster/queues/:queue",
  editQueuePage: "/organizations/:org/clusters/:cluster/queues/:queue/edit",
  deleteQueuePage: "/organizations/:org/clusters/:cluster/queues/:queue/delete",
  pauseQueuePage: "/organizations/:org/clusters/:cluster/queues/:queue/pause",
  resumeQueuePage: "/organizations/:org/clusters/:cluster/queues/:queue/resume",
  auditPage: "/organizations/:org/audit",
  pipelinesPage: "/organizations/:org/pipelines",
  pipelinePage: "/organizations/:org/pipelines/:slug",
  buildPage: "/organizations/:org/pipelines/:slug/builds/:number",
  payloadPage: "/organizations/:org/pipelines/:slug/builds/:number/payload",
  cancelBuildPage: "/organizations/:org/pipelines/:slug/builds/:number/cancel",
  triggersPage: "/organizations/:org/pipelines/:slug/triggers",
  newTriggerPage: "/organizations/:org/pipelines/:slug/triggers/new",
  triggerPage: "/organizations/:org/pipelines/:slug/triggers/:trigger",
  editTriggerPage: "/organizations/:org/pipelines/:slug/triggers/:trigger/edit",
  deleteTriggerPage: "/organizations/:org/pipelines/:slug/triggers/:trigger/delete",
  replaceTriggerPage: "/organizations/:org/pipelines/:slug/triggers/:trigger/replace",
  enableTriggerPage: "/organizations/:org/pipelines/:slug/triggers/:trigger/enable",
  disableTriggerPage: "/organizations/:org/pipelines/:slug/triggers/:trigger/disable",
  triggerSetupPage: "/organizations/:org/pipelines/:slug/triggers/:trigger/setup",
  sendDeliveryPage: "/organizations/:org/pipelines/:slug/triggers/:trigger/send",
  filterPage: "/organizations/:org/pipelines/:slug/triggers/:trigger/filter",
  deliveryPage: "/organizations/:org/pipelines/:slug/triggers/:trigger/deliveries/:delivery",
  deliveryPayloadPage: "/organizations/:org/pipelines/:slug/triggers/:trigger/deliveries/:delivery/payload",
  rebuildPage: "/organizations/:org/pipelines/:slug/triggers/:trigger/deliveries/:delivery/rebuild",
  events: "/events",
  asset: "/assets/:file",
  avatar: "/avatars/:file",
  apiRoot: "/v2",
  user: "/v2/user",
  accessToken: "/v2/access-token",
  organizations: "/v2/organizations",
  organization: "/v2/organizations/:org",
  clusters: "/v2/organizations/:org/clusters",
  cluster: "/v2/organizations/:org/clusters/:cluster",
  queues: "/v2/organizations/:org/clusters/:cluster/queues",
  queue: "/v2/organizations/:org/clusters/:cluster/queues/:queue",
  pauseDispatch: "/v2/organizations/:org/clusters/:cluster/queues/:queue/pause_dispatch",
  resumeDispatch: "/v2/organizations/:org/clusters/:cluster/queues/:queue/resume_dispatch",
  builds: "/v2/organizations/:org/builds",
  pipelines: "/v2/organizations/:org/pipelines",
  pipeline: "/v2/organizations/:org/pipelines/:slug",
  pipelineBuilds: "/v2/organizations/:org/pipelines/:slug/builds",
  build: "/v2/organizations/:org/pipelines/:slug/builds/:number",
  cancelBuild: "/v2/organizations/:org/pipelines/:slug/builds/:number/cancel",
  triggers: "/v2/organizations/:org/pipelines/:slug/triggers",
  trigger: "/v2/organizations/:org/pipelines/:slug/triggers/:trigger",
  filterTest: "/v2/organizations/:org/pipelines/:slug/triggers/:trigger/filter/test",
  deliveries: "/v2/organizations/:org/pipelines/:slug/triggers/:trigger/deliveries",
  delivery: "/v2/organizations/:org/pipelines/:slug/triggers/:trigger/deliveries/:delivery",
  deliveryRequest: "/v2/organizations/:org/pipelines/:slug/triggers/:trigger/deliveries/:delivery/request",
  rebuild: "/v2/organizations/:org/pipelines/:slug/triggers/:trigger/deliveries/:delivery/rebuild",
  openapi: "/openapi.json",
  docs: "/docs",
  docsAsset: "/docs/:version/:file",
  jobData: "/v3/jobs/:id/data",
  buildData: "/v3/builds/:id/data",
} as const;

export type Pattern = (typeof patterns)[keyof typeof patterns];

/** The parameters that a pattern names: `{ org: string; slug: string }` of `/organizations/:org/pipelines/:slug`. */
export type ParametersOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & ParametersOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? Record<Name, string>
    : unknown;

/** The patterns that have parameters, all of them among these names. */
export type PatternWith<Names extends string> = {
  [Path in Pattern]: [keyof ParametersOf<Path>] extends [never]
    ? never
    : keyof ParametersOf<Path> extends Names
      ? Path
      : never;
}[Pattern];

/** Fills in the parameters of a pattern. A missing parameter does not compile; further ones are ignored. */
export function pathTo<Path extends Pattern>(
  pattern: Path,
  ...[parameters]: unknown extends ParametersOf<Path> ? [] : [ParametersOf<Path>]
): string {
  const values = (parameters ?? {}) as Record<string, string>;
  return pattern.replace(/:([a-z]+)/g, (_, name: string) => encodeURIComponent(values[name] as string));
}
