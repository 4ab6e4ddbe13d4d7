import { patterns } from "../../shared/paths.ts";
import type { Services } from "../../shared/services.ts";
import type { Filters } from "../../shared/triggers/filters.ts";
import type { Bodies } from "../body.ts";
import { liveEvents } from "../live.ts";
import type { Handlers } from "../routing.ts";
import { accessTokensPage, revokeAccessTokenPage, revokeOwnAccessToken } from "./access-tokens.tsx";
import { asset } from "./assets.ts";
import { auditPage } from "./audit-page.tsx";
import { avatar } from "./avatar.tsx";
import { backToBuild, buildPage, cancelBuildForm, payloadFile } from "./build-page.tsx";
import { clusterPage } from "./cluster-page.tsx";
import { addCluster, clustersPage } from "./clusters-page.tsx";
import {
  connectedAppPage,
  revokeApplication,
  revokeApplicationPage,
  revokeConnectedApp,
  revokeConnectedAppPage,
} from "./connected-app.tsx";
import { connectedAppsPage } from "./connected-apps.tsx";
import { backToDelivery, buildAgain, deliveryPage, deliveryPayloadFile } from "./delivery-page.tsx";
import { type ApiDocument, docsPage } from "./docs-page.tsx";
import { deleteClusterPage, editClusterPage, removeCluster, saveCluster } from "./edit-cluster-page.tsx";
import { editQueuePage, saveQueue } from "./edit-queue-page.tsx";
import { editTriggerPage, saveTrigger } from "./edit-trigger-page.tsx";
import { enterCode, enterCodePage } from "./enter-code.tsx";
import { filterPage, tryOrSaveFilter } from "./filter-page.tsx";
import { home } from "./home.tsx";
import { createToken, newAccessTokenPage } from "./new-access-token.tsx";
import { addQueue, newQueuePage } from "./new-queue-page.tsx";
import { addTrigger, newTriggerPage } from "./new-trigger-page.tsx";
import { passwordPage, savePassword } from "./password.tsx";
import { pipelinePage } from "./pipeline-page.tsx";
import { pipelinesPage } from "./pipelines-page.tsx";
import { backToQueue, deleteQueuePage, pauseQueue, removeQueue, resumeQueue } from "./queue-actions.tsx";
import { queuePage } from "./queue-page.tsx";
import { replaceTriggerForm, replaceTriggerPage } from "./replace-trigger-page.tsx";
import { deviceResultPage, reviewDevice, reviewDevicePage } from "./review-device.tsx";
import { sendDeliveryPage, sendTestDelivery } from "./send-delivery.tsx";
import { signIn, signInPage, signOut } from "./sign-in.tsx";
import {
  backToTrigger,
  deleteTriggerPage,
  disableTrigger,
  enableTrigger,
  removeTrigger,
} from "./trigger-actions.tsx";
import { triggerPage } from "./trigger-page.tsx";
import { triggerSetupPage } from "./trigger-setup-page.tsx";
import { triggersPage } from "./triggers-page.tsx";

/** Every address that people see in a browser, and what answers there. */
export function pages(
  services: Services,
  bodies: Bodies,
  { document, filters, isClosing }: { document: ApiDocument; filters: Filters; isClosing: () => boolean },
): [pattern: string, handlers: Handlers][] {
  return [
    [patterns.asset, { GET: asset() }],
    [patterns.avatar, { GET: avatar() }],
    [patterns.home, { GET: home(services) }],
    [patterns.signIn, { GET: signInPage(services), POST: signIn(services, bodies) }],
    [patterns.signOut, { POST: signOut(services, bodies) }],
    [patterns.password, { GET: passwordPage(services), POST: savePassword(services, bodies) }],
    [patterns.enterCode, { GET: enterCodePage(services), POST: enterCode(services, bodies) }],
    [patterns.enterThisCode, { GET: enterCodePage(services) }],
    [patterns.reviewDevice, { GET: reviewDevicePage(services), POST: reviewDevice(services, bodies) }],
    [patterns.deviceResult, { GET: deviceResultPage(services) }],
    [patterns.connectedApps, { GET: connectedAppsPage(services) }],
    [patterns.connectedApp, { GET: connectedAppPage(services) }],
    [
      patterns.revokeConnectedApp,
      { GET: revokeConnectedAppPage(services), POST: revokeConnectedApp(services, bodies) },
    ],
    [
      patterns.revokeApplication,
      { GET: revokeApplicationPage(services), POST: revokeApplication(services, bodies) },
    ],
    [patterns.accessTokens, { GET: accessTokensPage(services) }],
    [patterns.newAccessToken, { GET: newAccessTokenPage(services), POST: createToken(services, bodies) }],
    [
      patterns.revokeAccessToken,
      { GET: revokeAccessTokenPage(services), POST: revokeOwnAccessToken(services, bodies) },
    ],

    [patterns.organizationPage, { GET: pipelinesPage(services) }],
    [patterns.pipelinesPage, { GET: pipelinesPage(services) }],
    [patterns.pipelinePage, { GET: pipelinePage(services) }],
    [patterns.buildPage, { GET: buildPage(services) }],
    [patterns.payloadPage, { GET: payloadFile(services) }],
    [patterns.cancelBuildPage, { GET: backToBuild(services), POST: cancelBuildForm(services, bodies) }],
    [patterns.triggerPage, { GET: triggerPage(services) }],
    [
      patterns.sendDeliveryPage,
      { GET: sendDeliveryPage(services), POST: sendTestDelivery(services, bodies) },
    ],
    [patterns.filterPage, { GET: filterPage(services), POST: tryOrSaveFilter(services, filters, bodies) }],
    [patterns.deliveryPage, { GET: deliveryPage(services) }],
    [patterns.deliveryPayloadPage, { GET: deliveryPayloadFile(services) }],
    [patterns.rebuildPage, { GET: backToDelivery(services), POST: buildAgain(services, bodies) }],
    [patterns.triggersPage, { GET: triggersPage(services) }],
    [patterns.newTriggerPage, { GET: newTriggerPage(services), POST: addTrigger(services, bodies) }],
    [patterns.triggerSetupPage, { GET: triggerSetupPage(services) }],
    [patterns.editTriggerPage, { GET: editTriggerPage(services), POST: saveTrigger(services, bodies) }],
    [patterns.enableTriggerPage, { GET: backToTrigger(services), POST: enableTrigger(services, bodies) }],
    [patterns.disableTriggerPage, { GET: backToTrigger(services), POST: disableTrigger(services, bodies) }],
    [
      patterns.replaceTriggerPage,
      { GET: replaceTriggerPage(services), POST: replaceTriggerForm(services, bodies) },
    ],
    [patterns.deleteTriggerPage, { GET: deleteTriggerPage(services), POST: removeTrigger(services, bodies) }],

    [patterns.clustersPage, { GET: clustersPage(services), POST: addCluster(services, bodies) }],
    [patterns.clusterPage, { GET: clusterPage(services) }],
    [patterns.editClusterPage, { GET: editClusterPage(services), POST: saveCluster(services, bodies) }],
    [patterns.deleteClusterPage, { GET: deleteClusterPage(services), POST: removeCluster(services, bodies) }],
    [patterns.newQueuePage, { GET: newQueuePage(services), POST: addQueue(services, bodies) }],
    [patterns.queuePage, { GET: queuePage(services) }],
    [patterns.editQueuePage, { GET: editQueuePage(services), POST: saveQueue(services, bodies) }],
    [patterns.deleteQueuePage, { GET: deleteQueuePage(services), POST: removeQueue(services, bodies) }],
    [patterns.pauseQueuePage, { GET: backToQueue(services), POST: pauseQueue(services, bodies) }],
    [patterns.resumeQueuePage, { GET: backToQueue(services), POST: resumeQueue(services, bodies) }],

    [patterns.auditPage, { GET: auditPage(services) }],

    [patterns.events, { GET: liveEvents(services, isClosing) }],
    [patterns.docs, { GET: docsPage(services, document) }],
  ];
}
