import { titleOf } from "../../../shared/builds/reading/titles.ts";
import type { Job } from "../../../shared/builds/rows/job-store.ts";
import { jobPath } from "../address/build.ts";
import { CsrfField } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";

const formId = "act";

/** The form of all buttons of a list: a token in each row would be a third of it. */
export function RowForm() {
  return (
    <form data-part="" method="post" id={formId}>
      <CsrfField />
    </form>
  );
}

/** A button of that form, which stands in the list or above it. */
export function RowButton({
  job,
  pattern,
  class: className,
  children,
  request,
}: {
  job: Job;
  pattern: Parameters<typeof jobPath>[2];
  class: string;
  children: string;
  request: MemberRequest;
}) {
  return (
    <button type="submit" form={formId} formaction={jobPath(request, job.id, pattern)} class={className}>
      {children}
      <span class="hidden"> {titleOf(job)}</span>
    </button>
  );
}
