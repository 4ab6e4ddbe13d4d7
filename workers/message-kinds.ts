import { memberMails } from "../shared/notices/member-mails.ts";
import { noticeMessages } from "../shared/notices/message-kind.ts";
import { serviceMessages } from "../shared/notifications/message-kind.ts";
import type { MessageKinds } from "../shared/outbox/kind.ts";
import { statusKind } from "../shared/statuses/kind.ts";

/** The messages that the outbox sends. */
export const messageKinds: MessageKinds = {
  status: statusKind,
  service: serviceMessages,
  notify: noticeMessages,
  mail: memberMails,
};
