import { findStatusTarget } from "../../connections/calls.ts";
import type { Cipher } from "../../crypto/cipher.ts";
import type { Db, Tx } from "../../db/database.ts";
import type { Config } from "../../settings/config.ts";
import type { Notice, NoticeKind } from "../../vocabulary.ts";
import { findPipelineFactsById } from "../store.ts";
import { kindOf } from "./kinds.ts";
import { hasChat } from "./services-store.ts";

/** The facts of a process that decide what is sent. */
export interface NoticeReader {
  cipher: Cipher;
  config: Pick<Config, "smtpUrl">;
}

/** Says why a notice is not sent, or not as it says. Undefined: it is. */
export type WhyNot = (notice: Notice) => string | undefined;

export const smtpIsNotSet = "SMTP is not set: the operator sets SMTP_URL";
const hasNoChat = "The organization has no notification service for Slack";
const isAStatus = "It is sent as a commit status: a check takes an application at GitHub";

/** Reads why notices of a build cannot be sent at present, or not as they say. */
export async function readWhyNot(
  db: Db | Tx,
  { cipher, config: { smtpUrl } }: NoticeReader,
  { organizationId, pipelineId }: { organizationId: string; pipelineId: string },
  notices: Notice[],
): Promise<WhyNot> {
  if (notices.length === 0) return () => undefined;
  const kinds = new Set(notices.map(kindOf));
  const isStatus = kinds.has("github_commit_status") || kinds.has("github_check");
  const hasNoHost = isStatus ? await whyNoStatus(db, cipher, { organizationId, pipelineId }) : undefined;
  const reasons: { [kind in NoticeKind]?: string | undefined } = {
    email: smtpUrl === undefined ? smtpIsNotSet : undefined,
    slack: kinds.has("slack") && !(await hasChat(db, organizationId)) ? hasNoChat : undefined,
    github_commit_status: hasNoHost,
    github_check: hasNoHost ?? isAStatus,
  };
  return (notice) => reasons[kindOf(notice)];
}

async function whyNoStatus(
  db: Db | Tx,
  cipher: Cipher,
  { organizationId, pipelineId }: { organizationId: string; pipelineId: string },
): Promise<string | undefined> {
  const pipeline = await findPipelineFactsById(db, { id: pipelineId });
  const { repository = null } = pipeline ?? {};
  const found = await findStatusTarget({ db, cipher }, { organizationId, repository });
  return "reason" in found ? found.reason : undefined;
}
