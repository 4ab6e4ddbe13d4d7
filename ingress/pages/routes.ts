import { patterns } from "../../shared/paths.ts";
import type { Services } from "../../shared/runtime/services.ts";
import type { FilterEvaluator } from "../../shared/triggers/filter/evaluator.ts";
import type { Bodies } from "../http/body.ts";
import type { Handlers } from "../http/routing.ts";
import { accessTokensPage, revokeAccessTokenPage, revokeOwnAccessToken } from "./account/access-tokens.tsx";
import {
  connectedAppPage,
  revokeApplication,
  revokeApplicationPage,
  revokeConnectedApp,
  revokeConnectedAppPage,
} from "./account/connected-app.tsx";
import { connectedAppsPage } from "./account/connected-apps.tsx";
import { createToken, newAccessTokenPage } from "./account/new-access-token.tsx";
import { passwordPage, savePassword } from "./account/password.tsx";
import { signIn, signInPage, signOut } from "./account/sign-in.tsx";
import { buildPage, cancelBuildForm, payloadFile, redirectToBuild } from "./builds/show.tsx";
import { deleteClusterPage, removeCluster } from "./clusters/delete.tsx";
import { editClusterPage, saveCluster } from "./clusters/edit.tsx";
import { clustersPage } from "./clusters/list.tsx";
import { addCluster } from "./clusters/new.tsx";
import { clusterPage } from "./clusters/show.tsx";
import { buildAgain, deliveryPage, deliveryPayloadFile, redirectToDelivery } from "./deliveries/show.tsx";
import { enterCode, enterCodePage } from "./device/enter-code.tsx";
import { deviceResultPage, reviewDevice, reviewDevicePage } from "./device/review.tsx";
import { auditPage } from "./organization/audit.tsx";
import { home } from "./organization/home.tsx";
import { pipelinesPage } from "./pipelines/list.tsx";
import { pipelinePage } from "./pipelines/show.tsx";
import { deleteQueuePage, removeQueue } from "./queues/delete.tsx";
import { pauseQueue, redirectToQueue, resumeQueue } from "./queues/dispatch.tsx";
import { editQueuePage, saveQueue } from "./queues/edit.tsx";
import { addQueue, newQueuePage } from "./queues/new.tsx";
import { queuePage } from "./queues/show.tsx";
import {
  deleteTriggerPage,
  disableTrigger,
  enableTrigger,
  redirectToTrigger,
  removeTrigger,
} from "./triggers/actions.tsx";
import { editTriggerPage, saveTrigger } from "./triggers/edit.tsx";
import { filterPage, tryOrSaveFilter } from "./triggers/filter.tsx";
import { triggersPage } from "./triggers/list.tsx";
import { addTrigger, newTriggerPage } from "./triggers/new.tsx";
import { replaceTriggerForm, replaceTriggerPage } from "./triggers/replace.tsx";
import { sendDeliveryPage, sendTestDelivery } from "./triggers/send.tsx";
import { triggerSetupPage } from "./triggers/setup.tsx";
import { triggerPage } from "./triggers/show.tsx";
import { asset } from "./ui/assets.ts";
import { avatar } from "./ui/avatar.tsx";
import { type ApiDocument, docsPage } from "./ui/docs.tsx";
import { liveEvents } from "./ui/live.ts";

/** Every address that people see in a browser, and what answers there. */
export function pages(
  services: Services,
  bodies: Bodies,
  {
    document,
    filters,
    isClosing,
  }: { document: ApiDocument; filters: FilterEvaluator; isClosing: () => boolean },
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
    [patterns.cancelBuildPage, { GET: redirectToBuild(services), POST: cancelBuildForm(services, bodies) }],
    [patterns.triggerPage, { GET: triggerPage(services) }],
    [
      patterns.sendDeliveryPage,
      { GET: sendDeliveryPage(services), POST: sendTestDelivery(services, bodies) },
    ],
    [patterns.filterPage, { GET: filterPage(services), POST: tryOrSaveFilter(services, filters, bodies) }],
    [patterns.deliveryPage, { GET: deliveryPage(services) }],
    [patterns.deliveryPayloadPage, { GET: deliveryPayloadFile(services) }],
    [patterns.rebuildPage, { GET: redirectToDelivery(services), POST: buildAgain(services, bodies) }],
    [patterns.triggersPage, { GET: triggersPage(services) }],
    [patterns.newTriggerPage, { GET: newTriggerPage(services), POST: addTrigger(services, bodies) }],
    [patterns.triggerSetupPage, { GET: triggerSetupPage(services) }],
    [patterns.editTriggerPage, { GET: editTriggerPage(services), POST: saveTrigger(services, bodies) }],
    [patterns.enableTriggerPage, { GET: redirectToTrigger(services), POST: enableTrigger(services, bodies) }],
    [
      patterns.disableTriggerPage,
      { GET: redirectToTrigger(services), POST: disableTrigger(services, bodies) },
    ],
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
    [patterns.pauseQueuePage, { GET: redirectToQueue(services), POST: pauseQueue(services, bodies) }],
    [patterns.resumeQueuePage, { GET: redirectToQueue(services), POST: resumeQueue(services, bodies) }],

    [patterns.auditPage, { GET: auditPage(services) }],

    [patterns.events, { GET: liveEvents(services, isClosing) }],
    [patterns.docs, { GET: docsPage(services, document) }],
  ];
}
