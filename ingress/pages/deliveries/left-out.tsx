import { excerpt } from "../../../shared/refusal.ts";
import type { OtherBranch } from "../../../shared/triggers/events/left-out.ts";
import { branchesPath } from "../address/pipeline.ts";
import { requestBranchesPath } from "../address/provider.ts";
import type { MemberRequest } from "../ui/member-page.ts";

const maxListedBranch = 40;
const maxListedPatterns = 60;

/** `docs is not among main release/*`, for a list. */
export function otherBranchInBrief({ branch, patterns }: OtherBranch): string {
  return `${excerpt(branch, maxListedBranch)} is not among ${excerpt(patterns, maxListedPatterns)}`;
}

/** The same in full, with a link to the setting. */
export function OtherBranchInFull({ other, request }: { other: OtherBranch; request: MemberRequest }) {
  return (
    <>
      <code>{other.branch}</code> is not among{" "}
      <a href={settingPath(other, request)}>
        <code>{other.patterns}</code>
      </a>
    </>
  );
}

/** The setting that has the patterns. */
export function settingPath(
  { isOfRequest }: Pick<OtherBranch, "isOfRequest">,
  request: MemberRequest,
): string {
  return isOfRequest ? requestBranchesPath(request) : branchesPath(request);
}
