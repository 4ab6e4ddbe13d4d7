import { auditSubjectTypes } from "../../../shared/accounts/audit.ts";

/** Results of forms that say more than what was done. The address of the next page carries the key. */
const notices = {
  signed_out: "You have signed out.",
  password_changed: "Your password is changed. You are signed out everywhere else.",
  joined: "You have joined. Welcome!",
  message_retried: "It is sent now.",
  message_dropped: "The message is dropped. It is not sent.",
  build_mails_saved: "Your choice is saved.",
  shortcuts_saved: "Your choice is saved.",
  settings_saved: "The settings are saved.",
  role_changed: "The role is changed.",
  member_removed: "The member is removed.",
  invitation_revoked: "The invitation is revoked. Its link no longer works.",
  invitation_shown: "That invitation was created already. Its link is not shown again.",
  access_revoked: "Access is revoked. Its tokens no longer work.",
  token_revoked: "The token is revoked. It no longer works.",
  build_canceled: "You have canceled the build.",
  job_canceled: "You have canceled the job.",
  job_retried: "The job is retried.",
  step_unblocked: "You have unblocked the step.",
  failed_jobs_retried:
    "The failed jobs are retried, by the steps that the build has. Edited steps need a rebuild.",
  artifact_deleted: "The artifact is deleted.",
  agent_paused: "You have paused the agent.",
  agent_resumed: "You have resumed the agent.",
  agent_stopped: "You have asked the agent to stop.",
  agent_token_revoked: "The token is revoked. It registers no more agents.",
  queue_paused: "You have paused the queue.",
  queue_resumed: "You have resumed the queue.",
  secret_created: "The secret is created. Jobs may read it from now on.",
  secret_replaced: "The value is replaced. Jobs that have read the old one keep it.",
  steps_saved: "The steps are saved. New builds and rebuilds take them; jobs that are retried keep theirs.",
  provider_saved: "The settings are saved. They count for what arrives from now on.",
  provider_created: "The host has the webhook. Its next push arrives here.",
  provider_enabled: "The webhook is enabled.",
  provider_disabled: "The webhook is disabled. It refuses requests from now on.",
  provider_unverified: "Requests are no longer verified.",
  pipeline_archived: "The pipeline is archived. It makes no builds until you unarchive it.",
  pipeline_unarchived: "The pipeline makes builds again.",
  pipeline_deleted: "The pipeline is deleted. The URLs of its triggers answer 404 from now on.",
  repository_connection_created:
    "The repository connection is created. Pipelines at this host have a webhook now: each shows it under the name of its host.",
  trigger_enabled: "The trigger is enabled.",
  trigger_disabled: "The trigger is disabled. It refuses deliveries from now on.",
  refused_bodies_kept: "Refused requests are kept with their bodies for an hour.",
  refused_bodies_dropped: "Refused requests are kept without their bodies.",
  trigger_deleted: "The trigger is deleted. Its URL answers 404 from now on.",
  service_enabled: "The service is enabled.",
  service_disabled: "The service is disabled. It is told of nothing from now on.",
  request_sent_again: "The request is sent again.",
  cluster_deleted: "The cluster is deleted, and its queues and secrets with it.",
} as const;

const changes = ["created", "saved", "deleted"] as const;
type Change = `${(typeof auditSubjectTypes)[number]}_${(typeof changes)[number]}`;
const plain = new Map<string, string>(
  auditSubjectTypes.flatMap((subject) =>
    changes.map((change) => [`${subject}_${change}`, `The ${subject.replace("_", " ")} is ${change}.`]),
  ),
);

export type Notice = keyof typeof notices | Change;

/** A path whose page shows the notice. */
export function withNotice(path: string, notice: Notice): string {
  return `${path}?notice=${notice}`;
}

/** The text of a key. Unknown keys have none: a link must not put foreign text on our pages. */
export function noticeText(key: string | null): string | undefined {
  if (key === null) return undefined;
  return Object.hasOwn(notices, key) ? notices[key as keyof typeof notices] : plain.get(key);
}
