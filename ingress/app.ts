import { defineHandler, H3 } from "h3";
import { patterns } from "../shared/paths.ts";
import type { Services } from "../shared/services.ts";
import { openIntake } from "../shared/triggers/intake.ts";
import { DeliveryRefusal } from "../shared/triggers/refusals.ts";
import { metaDataHandlers } from "./agent/meta-data.ts";
import { describeApi, openapi } from "./api/openapi.ts";
import { type Operation, operationHandler } from "./api/operation.ts";
import { restOperations } from "./api/operations.ts";
import { type Bodies, openBodies } from "./body.ts";
import { renderErrors } from "./errors.ts";
import { healthz, readyz } from "./health.ts";
import { liveEvents } from "./live.ts";
import { deviceAuthorization } from "./oauth/device-authorization.ts";
import { introspect } from "./oauth/introspect.ts";
import { metadata } from "./oauth/metadata.ts";
import { revoke } from "./oauth/revoke.ts";
import { token } from "./oauth/token.ts";
import { accessTokensPage, revokeAccessTokenPage, revokeOwnAccessToken } from "./pages/access-tokens.tsx";
import { asset } from "./pages/assets.ts";
import { avatar } from "./pages/avatar.tsx";
import { buildPage, cancelBuildForm, payloadFile } from "./pages/build-page.tsx";
import { clusterPage } from "./pages/cluster-page.tsx";
import { addCluster, clustersPage } from "./pages/clusters-page.tsx";
import {
  connectedAppPage,
  revokeApplication,
  revokeApplicationPage,
  revokeConnectedApp,
  revokeConnectedAppPage,
} from "./pages/connected-app.tsx";
import { connectedAppsPage } from "./pages/connected-apps.tsx";
import { docsPage } from "./pages/docs-page.tsx";
import {
  deleteClusterPage,
  editClusterPage,
  removeCluster,
  saveCluster,
} from "./pages/edit-cluster-page.tsx";
import { enterCode, enterCodePage } from "./pages/enter-code.tsx";
import { home } from "./pages/home.tsx";
import { createToken, newAccessTokenPage } from "./pages/new-access-token.tsx";
import { passwordPage, savePassword } from "./pages/password.tsx";
import { pipelinePage } from "./pages/pipeline-page.tsx";
import { pipelinesPage } from "./pages/pipelines-page.tsx";
import { addQueue, editQueuePage, newQueuePage, saveQueue } from "./pages/queue-form-page.tsx";
import { deleteQueuePage, pauseQueue, queuePage, removeQueue, resumeQueue } from "./pages/queue-page.tsx";
import { deviceResultPage, reviewDevice, reviewDevicePage } from "./pages/review-device.tsx";
import { signIn, signInPage, signOut } from "./pages/sign-in.tsx";
import { requestHooks } from "./request-context.ts";
import { restRoute, route } from "./routing.ts";
import { deliver } from "./webhooks/deliver.ts";

/**
 * The route table.
 * @param isClosing whether the process shuts down, so that clients let go of their connections
 */
export function createApp(services: Services, isClosing: () => boolean = () => false): H3 {
  const app = new H3({
    silent: true,
    onError: renderErrors(services),
    ...requestHooks(services, isClosing),
  });
  const bodies = openBodies(services.config.maxBodyBytesInFlight);
  const intake = openIntake(services);

  route(app, patterns.healthz, { GET: healthz() });
  route(app, patterns.readyz, { GET: readyz(services) });

  route(app, patterns.asset, { GET: asset() });
  route(app, patterns.avatar, { GET: avatar() });
  route(app, patterns.home, { GET: home(services) });
  route(app, patterns.signIn, { GET: signInPage(services), POST: signIn(services, bodies) });
  route(app, patterns.signOut, { POST: signOut(services, bodies) });
  route(app, patterns.password, { GET: passwordPage(services), POST: savePassword(services, bodies) });
  route(app, patterns.enterCode, { GET: enterCodePage(services), POST: enterCode(services, bodies) });
  route(app, patterns.enterThisCode, { GET: enterCodePage(services) });
  route(app, patterns.reviewDevice, {
    GET: reviewDevicePage(services),
    POST: reviewDevice(services, bodies),
  });
  route(app, patterns.deviceResult, { GET: deviceResultPage(services) });
  route(app, patterns.connectedApps, { GET: connectedAppsPage(services) });
  route(app, patterns.connectedApp, { GET: connectedAppPage(services) });
  route(app, patterns.revokeConnectedApp, {
    GET: revokeConnectedAppPage(services),
    POST: revokeConnectedApp(services, bodies),
  });
  route(app, patterns.revokeApplication, {
    GET: revokeApplicationPage(services),
    POST: revokeApplication(services, bodies),
  });
  route(app, patterns.accessTokens, { GET: accessTokensPage(services) });
  route(app, patterns.newAccessToken, {
    GET: newAccessTokenPage(services),
    POST: createToken(services, bodies),
  });
  route(app, patterns.revokeAccessToken, {
    GET: revokeAccessTokenPage(services),
    POST: revokeOwnAccessToken(services, bodies),
  });

  const pages: [pattern: string, handlers: Parameters<typeof route>[2]][] = [
    [patterns.organizationPage, { GET: pipelinesPage(services) }],
    [patterns.pipelinesPage, { GET: pipelinesPage(services) }],
    [patterns.pipelinePage, { GET: pipelinePage(services) }],
    [patterns.buildPage, { GET: buildPage(services) }],
    [patterns.payloadPage, { GET: payloadFile(services) }],
    [patterns.cancelBuildPage, { POST: cancelBuildForm(services, bodies) }],
    [patterns.clustersPage, { GET: clustersPage(services), POST: addCluster(services, bodies) }],
    [patterns.clusterPage, { GET: clusterPage(services) }],
    [patterns.editClusterPage, { GET: editClusterPage(services), POST: saveCluster(services, bodies) }],
    [patterns.deleteClusterPage, { GET: deleteClusterPage(services), POST: removeCluster(services, bodies) }],
    [patterns.newQueuePage, { GET: newQueuePage(services), POST: addQueue(services, bodies) }],
    [patterns.queuePage, { GET: queuePage(services) }],
    [patterns.editQueuePage, { GET: editQueuePage(services), POST: saveQueue(services, bodies) }],
    [patterns.deleteQueuePage, { GET: deleteQueuePage(services), POST: removeQueue(services, bodies) }],
    [patterns.pauseQueuePage, { POST: pauseQueue(services, bodies) }],
    [patterns.resumeQueuePage, { POST: resumeQueue(services, bodies) }],
    [patterns.events, { GET: liveEvents(services, isClosing) }],
  ];
  for (const [pattern, handlers] of pages) route(app, pattern, handlers);

  app.post(patterns.deliver, deliver(services, intake, bodies));
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
  const operations = restOperations(services);
  for (const [path, ofPath] of Map.groupBy(operations, (each) => each.path)) {
    restRoute(app, path, handlersOf(services, bodies, ofPath));
  }
  const document = describeApi(services.config, operations);
  route(app, patterns.openapi, { GET: openapi(document) });
  route(app, patterns.docs, { GET: docsPage(services, document) });

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

/** GET /v2/: something to see for whoever tries the address. */
function apiRoot({ clock }: Services) {
  return defineHandler(() => ({
    message: "This is the Signalbox REST API.",
    timestamp: Math.floor(clock.now().getTime() / 1000),
  }));
}
