import type { ComponentChildren } from "preact";
import { titleOf } from "../../../../shared/builds/reading/titles.ts";
import { mayBeRetried } from "../../../../shared/builds/retry.ts";
import type { Build } from "../../../../shared/builds/rows/build-store.ts";
import { patterns } from "../../../../shared/paths.ts";
import type { PipelineFacts } from "../../../../shared/pipelines/store.ts";
import { Texts } from "../../../logs/texts.tsx";
import { jobPath } from "../../address/build.ts";
import { repositoryPath } from "../../address/pipeline.ts";
import { CheckoutFailed } from "../../job-facts/checkout-failed.tsx";
import { RowButton } from "../../job-facts/row-button.tsx";
import { StateIcon } from "../../states/state.tsx";
import type { MemberRequest } from "../../ui/member-page.ts";
import type { FailedJob } from "./load.ts";

interface Place {
  build: Build;
  pipeline: PipelineFacts;
  request: MemberRequest;
}

/** The first jobs that failed, with the end of their logs. @param total of the failed jobs */
export function Failed({
  failed,
  total,
  children,
  ...place
}: Place & {
  failed: FailedJob[];
  total: number;
  /** Beside the heading. */
  children: ComponentChildren;
}) {
  if (failed.length === 0) return null;
  const more = total - failed.length;
  return (
    <section class="failures" aria-labelledby="failed" data-blocks="failed">
      <div class="heading">
        <h2 id="failed">What failed</h2>
        {children}
      </div>
      {failed.map((each) => (
        <Failure key={each.job.id} failed={each} {...place} />
      ))}
      {more > 0 && (
        <p>
          <a href="?state=failed#jobs">
            {more === 1 ? "One more failed job" : `${more.toLocaleString("en")} more failed jobs`}
          </a>
        </p>
      )}
    </section>
  );
}

function Failure({
  failed: { job, lines, number, needsRepository, checkout },
  ...place
}: Place & { failed: FailedJob }) {
  const { request } = place;
  const { exitStatus, failureReason, attempt } = job;
  const path = jobPath(request, job.id);
  const told =
    failureReason || (exitStatus === null ? job.state.replaceAll("_", " ") : `exit status ${exitStatus}`);
  return (
    <article data-part="" class="failure" aria-label={titleOf(job)}>
      <header>
        <StateIcon state="failed" />
        <a href={path}>{titleOf(job)}</a>
        <span class="quiet">{told}</span>
        {number !== undefined && (
          <a class="line" href={`${path}?line=${number}&attempt=${attempt}#L${number}`}>
            line {number.toLocaleString("en")} of the log
          </a>
        )}
        {mayBeRetried(job) && (
          <RowButton job={job} pattern={patterns.retryJobPage} class="secondary" request={request}>
            Retry
          </RowButton>
        )}
      </header>
      {checkout && <CheckoutFailed failure={checkout} job={job} {...place} />}
      {needsRepository && (
        <p class="job-note">
          This pipeline has <a href={repositoryPath(request)}>no repository</a>: its jobs start in an empty
          folder.
        </p>
      )}
      {lines.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling area
        <section class="lines excerpt" tabIndex={0} aria-label={`Lines of ${titleOf(job)}`}>
          <pre>
            {lines.map((line, index) => (
              <span key={line.start}>
                {index > 0 && line.start > (lines[index - 1]?.end ?? 0) && <span class="quiet">{"⋯\n"}</span>}
                <Texts line={line} />
                {"\n"}
              </span>
            ))}
          </pre>
        </section>
      )}
    </article>
  );
}
