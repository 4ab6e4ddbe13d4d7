import { excerpt } from "../../../shared/refusal.ts";
import type { OtherBranch, Subject } from "../../../shared/triggers/events/left-out.ts";
import { branchesPath } from "../address/pipeline.ts";
import { requestBranchesPath } from "../address/provider.ts";
import type { MemberRequest } from "../ui/member-page.ts";

const maxListedBranch = 40;
const maxListedPatterns = 60;

/** A delivery that the settings left out. */
export interface LeftOut {
  /** If the limits of branches did. */
  other: OtherBranch | undefined;
  subject: Subject | undefined;
}

/** `docs is not among main release/*`, or `docs: the filter left it out`, for a list. */
export function leftOutInBrief({ other, subject }: LeftOut, reason: string | undefined): string | undefined {
  if (other)
    return `${excerpt(other.branch, maxListedBranch)} is not among ${excerpt(other.patterns, maxListedPatterns)}`;
  return reason && subject ? `${excerpt(subject.name, maxListedBranch)}: ${reason}` : reason;
}

/** A branch and the patterns in full, with a link to the setting. */
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
