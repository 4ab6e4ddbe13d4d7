import { H3, type H3Event } from "h3";
import type { DeviceFlow } from "../shared/device/flow.ts";
import { openSigningKeys } from "../shared/identity/keys.ts";
import { patterns } from "../shared/paths.ts";
import type { Services } from "../shared/services/services.ts";
import { openIntake } from "../shared/triggers/deliveries/intake.ts";
import type { RefusalCounts } from "../shared/triggers/deliveries/refusal-counts.ts";
import { DeliveryRefusal } from "../shared/triggers/deliveries/refusals.ts";
import type { RefusedRequests } from "../shared/triggers/deliveries/refused-requests.ts";
import { missingRoutes } from "./agent/missing.ts";
import { type AgentParts, agentOperations } from "./agent/operations.ts";
import { restOperations } from "./api/operations.ts";
import { apiRoot } from "./api/root.ts";
import { downloadArtifact } from "./artifacts/download.ts";
import { uploadArtifact } from "./artifacts/uploads.ts";
import { Attempts } from "./auth/attempts.ts";
import { openAuthenticators } from "./auth/authenticators.ts";
import { limitTokenHolder } from "./auth/principal.ts";
import { docsAsset, findDocsAssets } from "./docs/assets.ts";
import { openapi } from "./docs/openapi.ts";
import { docsPage } from "./docs/page.tsx";
import { openBodies } from "./http/body.ts";
import { renderErrors } from "./http/errors.ts";
import { healthz, readyz } from "./http/health.ts";
import { openRequest } from "./http/request-context.ts";
import { mergeRoutes, type Route, restRoute, route } from "./http/routing.ts";
import { issuerKeys, issuerMetadata } from "./identity/issuer.ts";
import type { Installation } from "./installation.ts";
import { Clients } from "./oauth/client.ts";
import { deviceAuthorization } from "./oauth/device-authorization.ts";
import { introspect } from "./oauth/introspect.ts";
import { metadata } from "./oauth/metadata.ts";
import { revoke } from "./oauth/revoke.ts";
import { token } from "./oauth/token.ts";
import { missingOperations, refuseGraphql } from "./operations/missing.ts";
import { operationRoutes } from "./operations/operation.ts";
import { pages } from "./pages/routes.ts";
import { errorPage } from "./pages/ui/error-page.tsx";
import { deliver } from "./webhooks/deliver.ts";

/** The opener closes these parts. */
export interface AppParts {
  /** For deliveries and OAuth requests. */
  hot: Services;
  deviceFlow: DeviceFlow;
  refusals: RefusalCounts;
  refusedRequests: RefusedRequests;
  agents: AgentParts;
  installation: Installation;
  /** Returns true while the process shuts down, so that long answers end. */
  isClosing: () => boolean;
}

/** The table of routes. */
export function createApp(
  services: Services,
  { hot, installation, deviceFlow, refusals, refusedRequests, agents, isClosing }: AppParts,
): H3 {
  const app = new H3({
    silent: true,
    // onRequest refuses them, except below /v2.
    allowMalformedURL: true,
    onError: renderErrors(services, errorPage),
    onRequest: openRequest(services, isClosing),
  });
  const bodies = openBodies(services.config);
  const intake = openIntake(hot);
  const oauth = { clients: new Clients(hot), deviceFlow };

  const attempts = new Attempts();
  const signingKeys = openSigningKeys(services);
  const authenticate = openAuthenticators(services, attempts);
  const ofRest = restOperations(services);
  const ofAgents = agentOperations(services, { ...agents, attempts, signingKeys });
  const docsAssets = findDocsAssets();

  app.post(patterns.deliver, deliver(hot, bodies.deliveries, { intake, refusals, refusedRequests }));
  app.all(patterns.deliver, refuseMethod);

  const limitMisuse = (event: H3Event) => limitTokenHolder(services, event);
  restRoute(app, patterns.apiRoot, { GET: apiRoot(services) }, limitMisuse);
  const restRoutes = [...operationRoutes(authenticate, bodies.rest, ofRest), ...missingOperations];
  for (const [path, handlers] of mergeRoutes(restRoutes)) restRoute(app, path, handlers, limitMisuse);
  refuseGraphql(app);

  const routes: Route[] = [
    [patterns.healthz, { GET: healthz(installation) }],
    [patterns.readyz, { GET: readyz(services, isClosing) }],
    [patterns.deviceAuthorization, { POST: deviceAuthorization(hot, bodies.forms, oauth) }],
    [patterns.token, { POST: token(hot, bodies.forms, oauth) }],
    [patterns.revoke, { POST: revoke(hot, bodies.forms, oauth.clients) }],
    [patterns.introspect, { POST: introspect(hot, bodies.forms, oauth.clients) }],
    [patterns.oauthMetadata, { GET: metadata(services.config) }],
    [patterns.openidConfiguration, { GET: metadata(services.config) }],
    [patterns.issuerMetadata, { GET: issuerMetadata(services.config) }],
    [patterns.issuerKeys, { GET: issuerKeys(signingKeys) }],
    [patterns.openapi, { GET: openapi(services.config, [...ofRest, ...ofAgents]) }],
    [patterns.apiReference, { GET: docsPage(services.config, docsAssets) }],
    [patterns.docsAsset, { GET: docsAsset(docsAssets) }],
    [patterns.uploadArtifact, { POST: uploadArtifact(services) }],
    [patterns.downloadArtifact, { GET: downloadArtifact(services) }],
    ...mergeRoutes([...operationRoutes(authenticate, bodies.agents, ofAgents), ...missingRoutes]),
    ...pages(services, bodies.forms, { isClosing }),
  ];
  for (const [pattern, handlers] of routes) route(app, pattern, handlers);
  return app;
}

function refuseMethod(): never {
  throw new DeliveryRefusal("wrong_method", { headers: { Allow: "POST" } });
}
