import type { TokenHolder } from "../../shared/accounts/access-token-store.ts";
import type { DownloadOwner } from "../http/downloads.ts";

/** The owner of an answer that is streamed. */
export function holderOf({ token, organization }: TokenHolder): DownloadOwner {
  return { holder: `token ${token.id}`, organizationId: organization.id };
}
