import { type Pattern, patterns } from "../../shared/paths.ts";
import type { Services } from "../../shared/services/services.ts";
import type { Bodies } from "../http/body.ts";
import type { Handlers } from "../http/routing.ts";
import { accessTokensPage, revokeAccessTokenPage, revokeOwnAccessToken } from "./account/access-tokens.tsx";
import { buildMailsPage, saveBuildMails } from "./account/build-mails.tsx";
import {
  connectedAppPage,
  revokeApplication,
  revokeApplicationPage,
  revokeConnectedApp,
  revokeConnectedAppPage,
} from "./account/connected-app.tsx";
import { connectedAppsPage } from "./account/connected-apps.tsx";
import { keyboardPage, saveKeyboard } from "./account/keyboard.tsx";
import { createToken, newAccessTokenPage } from "./account/new-access-token.tsx";
import { passwordPage, savePassword } from "./account/password.tsx";
import { signIn, signInPage, signOut } from "./account/sign-in.tsx";
import { unsubscribe, unsubscribePage } from "./account/unsubscribe.tsx";
import { pauseAgentForm, redirectToAgent, resumeAgentForm, stopAgentForm } from "./agents/control.tsx";
import { agentPage } from "./agents/show.tsx";
import { redirectToCluster, revokeAgentTokenPage } from "./agents/tokens.tsx";
import { annotationBodyFile, annotationPage } from "./annotations/show.tsx";
import { artifactsPage } from "./artifacts/list.tsx";
import { artifactFile, artifactPage, deleteArtifactForm, redirectToArtifact } from "./artifacts/show.tsx";
import { avatar } from "./assets/avatar.tsx";
import { asset } from "./assets/serve.ts";
import { badge } from "./badges/badge.tsx";
import {
  cancelBuildForm,
  cancelJobForm,
  rebuildForm,
  redirectToBuild,
  retryFailedJobsForm,
  retryJobForm,
  unblockJobForm,
} from "./builds/act.ts";
import { buildsPage } from "./builds/all.tsx";
import { compareBuildPage } from "./builds/compare.tsx";
import { buildPage, payloadFile } from "./builds/show.tsx";
import { deleteClusterPage } from "./clusters/delete.tsx";
import { editCluster } from "./clusters/edit.tsx";
import { clustersPage } from "./clusters/list.tsx";
import { addCluster } from "./clusters/new.tsx";
import { addTokenToCluster, clusterPage } from "./clusters/show.tsx";
import { connectionPage, deleteConnectionPage, saveConnection } from "./connections/edit.tsx";
import { connectionsPage } from "./connections/list.tsx";
import { newConnectionPage } from "./connections/new.tsx";
import { deliveriesPage } from "./deliveries/all.tsx";
import { bulkRebuildPage, cancelBulkRebuildForm, redirectToBulkRebuild } from "./deliveries/bulk-rebuild.tsx";
import { addBulkRebuild, newBulkRebuildPage } from "./deliveries/new-bulk-rebuild.tsx";
import { buildAgain, deliveryPage, deliveryPayloadFile, redirectToDelivery } from "./deliveries/show.tsx";
import { enterCode, enterCodePage } from "./device/enter-code.tsx";
import { deviceResultPage, reviewDevice, reviewDevicePage } from "./device/review.tsx";
import { groupsPage } from "./groups/list.tsx";
import { groupPage } from "./groups/show.tsx";
import { guidePage, guidesPage } from "./guides/show.tsx";
import { pipelineHistoryPage, queueHistoryPage, triggerHistoryPage } from "./history/history.tsx";
import { newOrganizationPage } from "./home/new-organization.tsx";
import { homePage } from "./home/show.tsx";
import { welcome } from "./home/welcome.tsx";
import { jobLogFile, jobPage } from "./jobs/show.tsx";
import { changeRole, redirectToMembers, removeMemberPage } from "./members/act.tsx";
import { createInvitation, revokeInvitationForm } from "./members/invite.tsx";
import { joinForm, joinPage } from "./members/join.tsx";
import { membersPage } from "./members/list.tsx";
import {
  deleteServicePage,
  saveService,
  sendRequestAgain,
  servicePage,
  switchService,
} from "./notifications/edit.tsx";
import { servicesPage } from "./notifications/list.tsx";
import { createService, newServicePage } from "./notifications/new.tsx";
import { auditPage } from "./organization/audit.tsx";
import { auditFile } from "./organization/audit-file.ts";
import { saveSettings, settingsPage } from "./organization/settings.tsx";
import {
  dropMessage,
  outboxPage,
  redirectToOutbox,
  retryFailedMessages,
  retryMessage,
} from "./outbox/list.tsx";
import { archivePipelineForm, unarchivePipelineForm } from "./pipelines/archive.ts";
import { deletePipelinePage } from "./pipelines/delete.tsx";
import { editPipelinePage, savePipeline } from "./pipelines/edit.tsx";
import { pipelinesPage } from "./pipelines/list.tsx";
import { addPipeline, newPipelinePage } from "./pipelines/new.tsx";
import { addBuildToPipeline, pipelinePage, redirectToPipeline } from "./pipelines/show.tsx";
import { starForm } from "./pipelines/star.tsx";
import { createAtHost, disableProvider, enableProvider, redirectToProvider } from "./provider/act.ts";
import {
  changeProviderSecret,
  providerSecretPage,
  rotateProviderForm,
  rotateProviderPage,
} from "./provider/keys.tsx";
import { providerSettingsPage, saveProviderSettings } from "./provider/settings.tsx";
import { providerPage } from "./provider/show.tsx";
import { deleteQueuePage } from "./queues/delete.tsx";
import { pauseQueue, redirectToQueue, resumeQueue } from "./queues/dispatch.tsx";
import { editQueue } from "./queues/edit.tsx";
import { newQueuePage } from "./queues/new.tsx";
import { queuePage } from "./queues/show.tsx";
import { editSchedulePage, newSchedulePage } from "./schedules/form.tsx";
import { schedulesPage } from "./schedules/list.tsx";
import {
  buildSchedule,
  deleteSchedulePage,
  disableSchedule,
  enableSchedule,
  redirectToSchedule,
  schedulePage,
} from "./schedules/show.tsx";
import { searchPage } from "./search/everything/show.tsx";
import { deleteSecretPage, redirectToSecret, replaceValue, saveSecret, secretPage } from "./secrets/edit.tsx";
import { addSecret, secretsPage } from "./secrets/list.tsx";
import {
  deleteTriggerPage,
  disableTrigger,
  dropBodies,
  enableTrigger,
  keepBodies,
  redirectToTrigger,
  replaceTriggerForm,
  replaceTriggerPage,
} from "./triggers/actions.tsx";
import { editTriggerPage, saveTrigger } from "./triggers/edit.tsx";
import { filterPage, tryOrSaveFilter } from "./triggers/filter.tsx";
import { triggersPage } from "./triggers/list.tsx";
import { addTrigger, newTriggerPage } from "./triggers/new.tsx";
import { refusedRequestPage } from "./triggers/refused-request.tsx";
import { sendDeliveryPage, sendTestDelivery } from "./triggers/send.tsx";
import { triggerSetupPage } from "./triggers/setup.tsx";
import { triggerPage } from "./triggers/show.tsx";
import { tryFilterForm, tryFilterPage } from "./triggers/try-filter.tsx";
import { liveEvents } from "./ui/live.ts";
import type { ActionMaker } from "./ui/page.ts";

type Makers = Partial<Record<"GET" | "POST", ActionMaker>>;

interface Parts {
  isClosing: () => boolean;
}

function routes({ isClosing }: Parts) {
  return {
    [patterns.asset]: { GET: asset },
    [patterns.avatar]: { GET: avatar },
    [patterns.badge]: { GET: badge },
    [patterns.home]: { GET: welcome },
    [patterns.docs]: { GET: guidesPage },
    [patterns.guide]: { GET: guidePage },
    [patterns.signIn]: { GET: signInPage, POST: signIn },
    [patterns.invitation]: { GET: joinPage, POST: joinForm },
    [patterns.unsubscribe]: { GET: unsubscribePage, POST: unsubscribe },
    [patterns.signOut]: { POST: signOut },
    [patterns.keyboard]: { GET: keyboardPage, POST: saveKeyboard },
    [patterns.password]: { GET: passwordPage, POST: savePassword },
    [patterns.enterCode]: { GET: enterCodePage, POST: enterCode },
    [patterns.enterThisCode]: { GET: enterCodePage },
    [patterns.reviewDevice]: { GET: reviewDevicePage, POST: reviewDevice },
    [patterns.deviceResult]: { GET: deviceResultPage },
    [patterns.connectedApps]: { GET: connectedAppsPage },
    [patterns.connectedApp]: { GET: connectedAppPage },
    [patterns.revokeConnectedApp]: { GET: revokeConnectedAppPage, POST: revokeConnectedApp },
    [patterns.revokeApplication]: { GET: revokeApplicationPage, POST: revokeApplication },
    [patterns.accessTokens]: { GET: accessTokensPage },
    [patterns.newAccessToken]: { GET: newAccessTokenPage, POST: createToken },
    [patterns.revokeAccessToken]: { GET: revokeAccessTokenPage, POST: revokeOwnAccessToken },
    [patterns.newOrganizationPage]: { GET: newOrganizationPage },
    [patterns.organizationPage]: { GET: homePage },
    [patterns.pipelinesPage]: { GET: pipelinesPage },
    [patterns.newPipelinePage]: { GET: newPipelinePage, POST: addPipeline },
    [patterns.pipelinePage]: { GET: pipelinePage },
    [patterns.searchPage]: { GET: searchPage },
    [patterns.buildsPage]: { GET: buildsPage },
    [patterns.editPipelinePage]: { GET: editPipelinePage, POST: savePipeline },
    [patterns.starPipelinePage]: { GET: redirectToPipeline, POST: starForm },
    [patterns.archivePipelinePage]: { GET: redirectToPipeline, POST: archivePipelineForm },
    [patterns.unarchivePipelinePage]: { GET: redirectToPipeline, POST: unarchivePipelineForm },
    [patterns.providerPage]: { GET: providerPage },
    [patterns.createWebhookPage]: { GET: redirectToProvider, POST: createAtHost },
    [patterns.providerSettingsPage]: { GET: providerSettingsPage, POST: saveProviderSettings },
    [patterns.providerSecretPage]: { GET: providerSecretPage, POST: changeProviderSecret },
    [patterns.rotateProviderPage]: { GET: rotateProviderPage, POST: rotateProviderForm },
    [patterns.enableProviderPage]: { GET: redirectToProvider, POST: enableProvider },
    [patterns.disableProviderPage]: { GET: redirectToProvider, POST: disableProvider },
    [patterns.deletePipelinePage]: deletePipelinePage,
    [patterns.buildPage]: { GET: buildPage },
    [patterns.annotationPage]: { GET: annotationPage },
    [patterns.annotationBodyPage]: { GET: annotationBodyFile },
    [patterns.compareBuildPage]: { GET: compareBuildPage },
    [patterns.payloadPage]: { GET: payloadFile },
    [patterns.cancelBuildPage]: { GET: redirectToBuild, POST: cancelBuildForm },
    [patterns.jobPage]: { GET: jobPage },
    [patterns.jobLogPage]: { GET: jobLogFile },
    [patterns.artifactsPage]: { GET: artifactsPage },
    [patterns.artifactPage]: { GET: artifactPage },
    [patterns.artifactFile]: { GET: artifactFile },
    [patterns.deleteArtifactPage]: { GET: redirectToArtifact, POST: deleteArtifactForm },
    [patterns.newBuildPage]: { GET: redirectToPipeline, POST: addBuildToPipeline },
    [patterns.rebuildBuildPage]: { GET: redirectToBuild, POST: rebuildForm },
    [patterns.retryFailedJobsPage]: { GET: redirectToBuild, POST: retryFailedJobsForm },
    [patterns.cancelJobPage]: { GET: redirectToBuild, POST: cancelJobForm },
    [patterns.unblockJobPage]: { GET: redirectToBuild, POST: unblockJobForm },
    [patterns.retryJobPage]: { GET: redirectToBuild, POST: retryJobForm },
    [patterns.triggerPage]: { GET: triggerPage },
    [patterns.sendDeliveryPage]: { GET: sendDeliveryPage, POST: sendTestDelivery },
    [patterns.tryFilterPage]: { GET: tryFilterPage, POST: tryFilterForm },
    [patterns.filterPage]: { GET: filterPage, POST: tryOrSaveFilter },
    [patterns.refusedRequestPage]: { GET: refusedRequestPage },
    [patterns.deliveriesPage]: { GET: deliveriesPage },
    [patterns.deliveryPage]: { GET: deliveryPage },
    [patterns.deliveryPayloadPage]: { GET: deliveryPayloadFile },
    [patterns.newBulkRebuildPage]: { GET: newBulkRebuildPage, POST: addBulkRebuild },
    [patterns.bulkRebuildPage]: { GET: bulkRebuildPage },
    [patterns.cancelBulkRebuildPage]: { GET: redirectToBulkRebuild, POST: cancelBulkRebuildForm },
    [patterns.rebuildPage]: { GET: redirectToDelivery, POST: buildAgain },
    [patterns.pipelineHistoryPage]: { GET: pipelineHistoryPage },
    [patterns.schedulesPage]: { GET: schedulesPage },
    [patterns.newSchedulePage]: newSchedulePage,
    [patterns.schedulePage]: { GET: schedulePage },
    [patterns.editSchedulePage]: editSchedulePage,
    [patterns.enableSchedulePage]: { GET: redirectToSchedule, POST: enableSchedule },
    [patterns.disableSchedulePage]: { GET: redirectToSchedule, POST: disableSchedule },
    [patterns.buildSchedulePage]: { GET: redirectToSchedule, POST: buildSchedule },
    [patterns.deleteSchedulePage]: deleteSchedulePage,
    [patterns.triggersPage]: { GET: triggersPage },
    [patterns.newTriggerPage]: { GET: newTriggerPage, POST: addTrigger },
    [patterns.triggerHistoryPage]: { GET: triggerHistoryPage },
    [patterns.triggerSetupPage]: { GET: triggerSetupPage },
    [patterns.editTriggerPage]: { GET: editTriggerPage, POST: saveTrigger },
    [patterns.enableTriggerPage]: { GET: redirectToTrigger, POST: enableTrigger },
    [patterns.disableTriggerPage]: { GET: redirectToTrigger, POST: disableTrigger },
    [patterns.keepRefusedBodiesPage]: { GET: redirectToTrigger, POST: keepBodies },
    [patterns.dropRefusedBodiesPage]: { GET: redirectToTrigger, POST: dropBodies },
    [patterns.replaceTriggerPage]: { GET: replaceTriggerPage, POST: replaceTriggerForm },
    [patterns.deleteTriggerPage]: deleteTriggerPage,
    [patterns.groupsPage]: { GET: groupsPage },
    [patterns.groupPage]: { GET: groupPage },
    [patterns.clustersPage]: { GET: clustersPage, POST: addCluster },
    [patterns.clusterPage]: { GET: clusterPage },
    [patterns.editClusterPage]: editCluster,
    [patterns.deleteClusterPage]: deleteClusterPage,
    [patterns.newQueuePage]: newQueuePage,
    [patterns.queuePage]: { GET: queuePage },
    [patterns.queueHistoryPage]: { GET: queueHistoryPage },
    [patterns.editQueuePage]: editQueue,
    [patterns.deleteQueuePage]: deleteQueuePage,
    [patterns.pauseQueuePage]: { GET: redirectToQueue, POST: pauseQueue },
    [patterns.resumeQueuePage]: { GET: redirectToQueue, POST: resumeQueue },
    [patterns.agentTokensPage]: { GET: redirectToCluster, POST: addTokenToCluster },
    [patterns.revokeAgentTokenPage]: revokeAgentTokenPage,
    [patterns.secretsPage]: { GET: secretsPage, POST: addSecret },
    [patterns.secretPage]: { GET: secretPage, POST: saveSecret },
    [patterns.secretValuePage]: { GET: redirectToSecret, POST: replaceValue },
    [patterns.deleteSecretPage]: deleteSecretPage,
    [patterns.agentPage]: { GET: agentPage },
    [patterns.stopAgentPage]: { GET: redirectToAgent, POST: stopAgentForm },
    [patterns.pauseAgentPage]: { GET: redirectToAgent, POST: pauseAgentForm },
    [patterns.resumeAgentPage]: { GET: redirectToAgent, POST: resumeAgentForm },
    [patterns.membersPage]: { GET: membersPage },
    [patterns.memberRolePage]: { GET: redirectToMembers, POST: changeRole },
    [patterns.removeMemberPage]: removeMemberPage,
    [patterns.invitationsPage]: { GET: redirectToMembers, POST: createInvitation },
    [patterns.revokeInvitationPage]: { GET: redirectToMembers, POST: revokeInvitationForm },
    [patterns.outboxPage]: { GET: outboxPage },
    [patterns.retryMessagesPage]: { GET: redirectToOutbox, POST: retryFailedMessages },
    [patterns.retryMessagePage]: { GET: redirectToOutbox, POST: retryMessage },
    [patterns.dropMessagePage]: { GET: redirectToOutbox, POST: dropMessage },
    [patterns.servicesPage]: { GET: servicesPage },
    [patterns.newServicePage]: { GET: newServicePage, POST: createService },
    [patterns.servicePage]: { GET: servicePage, POST: saveService },
    [patterns.switchServicePage]: { POST: switchService },
    [patterns.sendAgainPage]: { POST: sendRequestAgain },
    [patterns.deleteServicePage]: deleteServicePage,
    [patterns.connectionsPage]: { GET: connectionsPage },
    [patterns.newConnectionPage]: newConnectionPage,
    [patterns.connectionPage]: { GET: connectionPage, POST: saveConnection },
    [patterns.deleteConnectionPage]: deleteConnectionPage,
    [patterns.buildMailsPage]: { GET: buildMailsPage, POST: saveBuildMails },
    [patterns.settingsPage]: { GET: settingsPage, POST: saveSettings },
    [patterns.auditPage]: { GET: auditPage },
    [patterns.auditFile]: { GET: auditFile },
    [patterns.events]: { GET: (services) => liveEvents(services, isClosing) },
  } satisfies Partial<Record<Pattern, Makers>>;
}

/** All web pages. */
export function pages(
  services: Services,
  bodies: Bodies,
  parts: Parts,
): [pattern: string, handlers: Handlers][] {
  return Object.entries(routes(parts)).map(([pattern, { GET, POST }]: [string, Makers]) => [
    pattern,
    { ...(GET && { GET: GET(services, bodies) }), ...(POST && { POST: POST(services, bodies) }) },
  ]);
}
