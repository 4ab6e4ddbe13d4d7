import { Fragment } from "preact";
import { placeBesideTitle, placeInWords, titleOf } from "../../../../shared/builds/reading/titles.ts";
import type { PlacedJob } from "../../../../shared/builds/rows/graph-store.ts";
import type { Job } from "../../../../shared/builds/rows/job-store.ts";
import { durationInWords } from "../../../../shared/durations.ts";
import { excerpt } from "../../../../shared/refusal.ts";
import { buildPath, jobPath } from "../../address/build.ts";
import { brokenInWords, countKinds, countsInWords, kindOf, type StateKind } from "../../states/kinds.ts";
import { StateIcon, stateInWords } from "../../states/state.tsx";
import type { MemberRequest } from "../../ui/member-page.ts";
import { CursorPager } from "../../ui/pager.tsx";
import { Duration } from "../../ui/times.tsx";
import { neighborsOfStages, type ShownItem, type ShownStages, type ShownStep } from "./choose.ts";

interface StagesProps {
  shown: ShownStages;
  /** The jobs that are named, by id. */
  named: ReadonlyMap<string, Job>;
  request: MemberRequest;
}

const maxTitle = 60;
const dotsPerPart = 20;

/** The steps of a build in columns: each waits for some of the columns before it. */
export function Stages({ shown, ...rest }: StagesProps) {
  const { stages, first, total, lastGates } = shown;
  const { earlier, later } = neighborsOfStages(shown);
  const address = (place: number | undefined) =>
    place === undefined ? undefined : `${buildPath(rest.request)}?stage=${place + 1}#stages`;
  return (
    <section aria-labelledby="stages" data-blocks="stages">
      <h2 id="stages">Stages</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling area */}
      <section class="stages" aria-label={stagesInWords(shown)} tabIndex={0} data-blocks="stages">
        {stages.map(({ gates, items, more }, index) => (
          <Fragment key={first + index}>
            <Gates jobs={gates} {...rest} />
            <section aria-labelledby={`stage-${first + index + 1}`} data-blocks={first + index}>
              <h3 id={`stage-${first + index + 1}`}>
                Stage {first + index + 1}
                {total > stages.length && ` of ${total}`}
              </h3>
              <ul data-blocks="items">
                {items.map((item) => (
                  <Item key={item.group?.id ?? item.steps[0]?.id} item={item} {...rest} />
                ))}
                {more.steps > 0 && (
                  <li class="quiet">
                    {more.steps} more {more.steps === 1 ? "step" : "steps"}: {countsInWords(more.counts)}
                  </li>
                )}
              </ul>
            </section>
          </Fragment>
        ))}
        <Gates jobs={lastGates} {...rest} />
      </section>
      <CursorPager
        label="More stages"
        links={{ "Earlier stages": address(earlier), "Later stages": address(later) }}
      />
    </section>
  );
}

function stagesInWords({ stages, first, total }: ShownStages): string {
  if (stages.length === total) return total === 1 ? "One stage" : `${total} stages`;
  return `Stages ${first + 1} to ${first + stages.length} of ${total}`;
}

type ItemProps = Omit<StagesProps, "shown">;

/** The waits, blocks and inputs between two stages. One that waits for people leads to its form. */
function Gates({ jobs, named, request }: { jobs: PlacedJob[] } & ItemProps) {
  if (jobs.length === 0) return null;
  return (
    <ul class="gates" data-part="">
      {jobs.map(({ id, type, state, unblockable }) => {
        const job = named.get(id);
        const name = type === "waiter" ? "Wait" : excerpt(job ? titleOf(job) : "Continue", maxTitle);
        const content = (
          <>
            <StateIcon state={state} />
            {name}
            <span class="hidden"> {stateInWords(state)}</span>
          </>
        );
        return (
          <li key={id}>
            {unblockable ? (
              <a href={`${buildPath(request)}#unblock-${id}`}>{content}</a>
            ) : (
              <span>{content}</span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Item({ item, ...rest }: { item: ShownItem } & ItemProps) {
  const { group, steps, jobs, moreSteps, showsDots } = item;
  if (!group) return steps.map((step) => <Step key={step.id} step={step} {...rest} />);
  const count = steps.length + moreSteps;
  return (
    <li data-blocks={group.id}>
      <details id={`group-${group.id}`} data-blocks="details">
        <summary data-part="">
          <Title text={group.label ?? group.key ?? "Group"} kind={worstOf(jobs)} />
          <span class="quiet">
            {count} {count === 1 ? "step" : "steps"}: {countsInWords(countKinds(jobs))}
          </span>
        </summary>
        <ul data-blocks="steps">
          {steps.map((step) => (
            <Step key={step.id} step={step} {...rest} />
          ))}
          {moreSteps > 0 && <li class="quiet">{moreSteps} more, in the list of jobs</li>}
        </ul>
      </details>
      {showsDots && <Dots jobs={jobs} {...rest} />}
    </li>
  );
}

function Step({
  step: { id, jobs, named: chosen, showsDots },
  named,
  request,
}: { step: ShownStep } & ItemProps) {
  const [first, ...others] = chosen.flatMap((job) => named.get(job.id) ?? []);
  if (!first) return null;
  if (jobs.length === 1)
    return (
      <li data-part="">
        <JobLink job={first} text={titleOf(first)} request={request} />
      </li>
    );
  const more = jobs.length - chosen.length;
  return (
    <li data-blocks={id}>
      <details id={`step-${id}`} data-blocks="details">
        <summary data-part="">
          <Title text={commonTitle([first, ...others])} kind={worstOf(jobs)} />
          <span class="quiet">
            {jobs.length} jobs: {countsInWords(countKinds(jobs))}
          </span>
        </summary>
        <ul data-blocks="jobs">
          {[first, ...others].map((job) => (
            <li data-part="" key={job.id}>
              <JobLink job={job} text={placeInWords(job) ?? titleOf(job)} request={request} hasDot />
            </li>
          ))}
          {more > 0 && <li class="quiet">{more} more, in the list of jobs</li>}
        </ul>
      </details>
      {showsDots && <Dots jobs={jobs} named={named} request={request} />}
    </li>
  );
}

function worstOf(jobs: Parameters<typeof countKinds>[0]): StateKind {
  return countKinds(jobs)[0]?.[0] ?? "skipped";
}

function Title({ text, kind }: { text: string; kind: StateKind }) {
  return (
    <strong class={kind}>
      <StateIcon state={kind} />
      {excerpt(text, maxTitle)}
    </strong>
  );
}

/** A link for each job, for the mouse alone: the folded list has the same for all. They refresh some at a time. */
function Dots({ jobs, named, request }: { jobs: PlacedJob[] } & ItemProps) {
  const parts = Array.from({ length: Math.ceil(jobs.length / dotsPerPart) }, (_, part) =>
    jobs.slice(part * dotsPerPart, (part + 1) * dotsPerPart),
  );
  return (
    <span class="dots" aria-hidden="true" data-blocks="dots">
      {parts.map((part) => (
        <span key={part[0]?.id} data-part="">
          {part.map(({ id, ...placed }) => (
            <a key={id} href={jobPath(request, id)} title={titleOfDot(named.get(id))} tabIndex={-1}>
              <i class={kindOf(placed)} />
            </a>
          ))}
        </span>
      ))}
    </span>
  );
}

/** `Test on linux, 24: passed, 1 min 6 s`. */
function titleOfDot(job: Job | undefined): string | undefined {
  if (!job) return undefined;
  const { startedAt, finishedAt, state } = job;
  const length = startedAt && finishedAt ? `, ${durationInWords(startedAt, finishedAt)}` : "";
  return `${excerpt([titleOf(job), placeBesideTitle(job)].filter(Boolean).join(" "), maxTitle)}: ${stateInWords(state)}${length}`;
}

/** @param hasDot for a job of several of its step, as in the row of dots */
function JobLink({
  job,
  text,
  request,
  hasDot = false,
}: {
  job: Job;
  text: string;
  request: MemberRequest;
  hasDot?: boolean;
}) {
  const { startedAt, finishedAt } = job;
  const kind = kindOf(job);
  return (
    <>
      <a class={kind} href={jobPath(request, job.id)} title={brokenInWords(job)}>
        {hasDot ? <i class={kind} /> : <StateIcon state={kind} />}
        {excerpt(text, maxTitle)}
        <span class="hidden"> {stateInWords(job.state)}</span>
      </a>
      {startedAt && (
        <span class="quiet">
          {" "}
          <Duration from={startedAt} to={finishedAt} />
        </span>
      )}
    </>
  );
}

/** The words with which the titles of all jobs of a step begin: `Test on …`. */
export function commonTitle(jobs: [Job, ...Job[]]): string {
  const [first, ...others] = jobs.map((job) => titleOf(job).split(" "));
  const length = (first ?? []).findIndex((word, at) => others.some((other) => other[at] !== word));
  if (length === -1) return titleOf(jobs[0]);
  if (length === 0) return jobs[0].options?.key ?? titleOf(jobs[0]);
  return `${first?.slice(0, length).join(" ")} …`;
}
