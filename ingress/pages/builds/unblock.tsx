import type { GivenAnswers } from "../../../shared/builds/meta-data/answers.ts";
import { isForAdmins } from "../../../shared/builds/progress/unblock.ts";
import { titleOf } from "../../../shared/builds/reading/titles.ts";
import type { Job } from "../../../shared/builds/rows/job-store.ts";
import { patterns } from "../../../shared/paths.ts";
import { jobPath } from "../address/build.ts";
import { CsrfField, FormError } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import type { FormProblems } from "../ui/problems.ts";
import { Answers } from "./answers.tsx";

/** A form that was refused, with its answers. */
export interface RefusedUnblocking {
  jobId: string;
  problems: FormProblems;
  answers: GivenAnswers;
}

interface UnblockProps {
  job: Job;
  refused: RefusedUnblocking | undefined;
  request: MemberRequest;
}

/** The steps that somebody can unblock now, each with its form. */
export function Unblocks({
  jobs,
  hasMore,
  ...rest
}: Omit<UnblockProps, "job"> & {
  jobs: Job[];
  /** There are more steps than forms. */
  hasMore: boolean;
}) {
  if (jobs.length === 0) return null;
  return (
    <section data-part="" aria-labelledby="unblock">
      <h2 id="unblock">
        {jobs.some((job) => mayUnblock(job, rest.request)) ? "Waits for you" : "Waits for admins"}
      </h2>
      {jobs.map((job) => (
        <Unblock key={job.id} job={job} {...rest} />
      ))}
      {hasMore && <p class="quiet">More steps wait. Their forms follow when these are unblocked.</p>}
    </section>
  );
}

/** A step that names teams is for admins. */
export function mayUnblock(job: Pick<Job, "options">, { role }: Pick<MemberRequest, "role">): boolean {
  return !isForAdmins(job) || role === "admin";
}

function Unblock({ job, refused, request }: UnblockProps) {
  const { prompt, submit = "Continue", fields = [] } = job.options?.manual ?? {};
  const own = refused?.jobId === job.id ? refused : undefined;
  const title = `unblock-${job.id}`;
  return (
    <section class="card" aria-labelledby={title}>
      <h3 id={title}>{titleOf(job)}</h3>
      {prompt && <p class="prompt">{prompt}</p>}
      <p class="quiet">
        {isForAdmins(job)
          ? "Only admins of the organization can unblock it: its step names allowed_teams, and there are no teams here."
          : "All members of the organization can unblock it."}
      </p>
      {mayUnblock(job, request) && (
        <form method="post" action={jobPath(request, job.id, patterns.unblockJobPage)}>
          <CsrfField />
          <FormError problems={own?.problems.some(({ field }) => field === "") ? own.problems : undefined} />
          <Answers step={job.id} fields={fields} answers={own?.answers} problems={own?.problems} />
          <p class="actions">
            <button type="submit">
              {submit}
              <span class="hidden"> {titleOf(job)}</span>
            </button>
          </p>
        </form>
      )}
    </section>
  );
}
