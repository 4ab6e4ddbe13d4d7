import type { Db, Tx } from "../../db/database.ts";
import type { Config } from "../../settings/config.ts";
import type { Notice, NoticeKind } from "../../vocabulary.ts";
import { kindOf } from "./kinds.ts";
import { hasChat } from "./services-store.ts";

/** Says why a notice is not sent, or not as it says. Undefined: it is. */
export type WhyNot = (notice: Notice) => string | undefined;

export const smtpIsNotSet = "SMTP is not set: the operator sets SMTP_URL";
const hasNoChat = "The organization has no notification service for Slack";
const isAStatus = "It is sent as a commit status: a check takes an application at GitHub";

/** Reads why notices of a build cannot be sent at present, or not as they say. */
export async function readWhyNot(
  db: Db | Tx,
  { smtpUrl }: Pick<Config, "smtpUrl">,
  { organizationId }: { organizationId: string },
  notices: Notice[],
): Promise<WhyNot> {
  if (notices.length === 0) return () => undefined;
  const kinds = new Set(notices.map(kindOf));
  const reasons: { [kind in NoticeKind]?: string | undefined } = {
    email: smtpUrl === undefined ? smtpIsNotSet : undefined,
    slack: kinds.has("slack") && !(await hasChat(db, organizationId)) ? hasNoChat : undefined,
    github_check: isAStatus,
  };
  return (notice) => reasons[kindOf(notice)];
}
