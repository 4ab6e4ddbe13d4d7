import { H3 } from "h3";
import { patterns } from "../shared/paths.ts";
import type { Services } from "../shared/runtime/services.ts";
import { openIntake } from "../shared/triggers/deliveries/intake.ts";
import type { RefusalCounts } from "../shared/triggers/deliveries/refusal-counts.ts";
import { DeliveryRefusal } from "../shared/triggers/deliveries/refusals.ts";
import { openFilterEvaluator } from "../shared/triggers/filter/evaluator.ts";
import { metaDataHandlers } from "./agent/meta-data.ts";
import { describeApi, openapi } from "./api/openapi.ts";
import { type Operation, operationHandler } from "./api/operation.ts";
import { restOperations } from "./api/operations.ts";
import { apiRoot } from "./api/root.ts";
import { type Bodies, openBodies } from "./http/body.ts";
import { renderErrors } from "./http/errors.ts";
import { healthz, readyz } from "./http/health.ts";
import { requestHooks } from "./http/request-context.ts";
import { restRoute, route } from "./http/routing.ts";
import { deviceAuthorization } from "./oauth/device-authorization.ts";
import { introspect } from "./oauth/introspect.ts";
import { metadata } from "./oauth/metadata.ts";
import { revoke } from "./oauth/revoke.ts";
import { token } from "./oauth/token.ts";
import { pages } from "./pages/routes.ts";
import { deliver } from "./webhooks/deliver.ts";

/**
 * The route table.
 * @param refused counts deliveries that are refused; whoever opened it closes it
 * @param isClosing whether the process shuts down, so that clients let go of their connections
 */
export function createApp(
  services: Services,
  { refused, isClosing }: { refused: RefusalCounts; isClosing: () => boolean },
): H3 {
  const app = new H3({
    silent: true,
    // Below /v2 they get the answer of the route; elsewhere onRequest refuses them.
    allowMalformedURL: true,
    onError: renderErrors(services),
    ...requestHooks(services, isClosing),
  });
  const bodies = openBodies(services.config.maxBodyBytesInFlight);
  const intake = openIntake(services);
  const filters = openFilterEvaluator();

  route(app, patterns.healthz, { GET: healthz() });
  route(app, patterns.readyz, { GET: readyz(services) });

  app.post(patterns.deliver, deliver(services, intake, bodies, refused));
  app.all(patterns.deliver, () => {
    throw new DeliveryRefusal("wrong_method", { headers: { Allow: "POST" } });
  });

  route(app, patterns.deviceAuthorization, { POST: deviceAuthorization(services, bodies) });
  route(app, patterns.token, { POST: token(services, bodies) });
  route(app, patterns.revoke, { POST: revoke(services, bodies) });
  route(app, patterns.introspect, { POST: introspect(services, bodies) });
  route(app, patterns.oauthMetadata, { GET: metadata(services.config) });
  route(app, patterns.openidConfiguration, { GET: metadata(services.config) });

  restRoute(app, patterns.apiRoot, { GET: apiRoot(services) });
  const operations = restOperations(services, filters);
  for (const [path, ofPath] of Map.groupBy(operations, (each) => each.path)) {
    restRoute(app, path, handlersOf(services, bodies, ofPath));
  }
  const document = describeApi(services.config, operations);
  route(app, patterns.openapi, { GET: openapi(document) });

  for (const [owner, base] of [
    ["job", patterns.jobData],
    ["build", patterns.buildData],
  ] as const) {
    const data = metaDataHandlers(services, bodies, owner);
    route(app, `${base}/get`, { POST: data.get });
    route(app, `${base}/set`, { POST: data.set });
    route(app, `${base}/exists`, { POST: data.exists });
    route(app, `${base}/keys`, { POST: data.keys });
  }

  for (const [pattern, handlers] of pages(services, bodies, { document, filters, isClosing }))
    route(app, pattern, handlers);
  return app;
}

/** The methods of one path of the REST API. */
function handlersOf(services: Services, bodies: Bodies, operations: Operation[]) {
  return Object.fromEntries(
    operations.flatMap((each) => {
      const handler = operationHandler(services, bodies, each);
      return each.methods.map((method) => [method, handler]);
    }),
  );
}
