import type { ComponentChildren } from "preact";
import type { ListedJob } from "../../../../shared/builds/reading/job-list-store.ts";
import { titleOf } from "../../../../shared/builds/reading/titles.ts";
import type { NamedBuild } from "../../../../shared/builds/triggered/store.ts";
import { maxCounted } from "../../../../shared/db/list-page.ts";
import { patterns } from "../../../../shared/paths.ts";
import { sizeInWords } from "../../../../shared/refusal.ts";
import { buildPath, jobPath } from "../../address/build.ts";
import { goneWords } from "../../artifacts/list.tsx";
import { Triggered } from "../../job-facts/triggered.tsx";
import type { MemberRequest } from "../../ui/member-page.ts";
import { countInWords } from "../../ui/pager.tsx";
import { Time } from "../../ui/times.tsx";
import type { BesideBuild } from "./load.ts";

interface BesideProps {
  beside: BesideBuild;
  request: MemberRequest;
}

/** A part of the column beside the jobs. */
export function Part({
  id,
  title,
  children,
}: {
  id: string;
  title: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section data-part="" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {children}
    </section>
  );
}

export function Artifacts({ beside: { artifacts }, request }: BesideProps) {
  const { rows, total } = artifacts;
  if (rows.length === 0) return null;
  const path = buildPath(request, patterns.artifactsPage);
  return (
    <Part
      id="artifacts"
      title={
        <>
          Artifacts <a href={path}>{countInWords(total ?? maxCounted + 1)}</a>
        </>
      }
    >
      <ul class="plain">
        {rows.map(({ id, path: name, state, size }) => (
          <li key={id}>
            <a href={`${path}/${id}`}>
              <bdi>{name}</bdi>
            </a>{" "}
            <span class="quiet">{goneWords[state] ?? sizeInWords(size)}</span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

/** The answers of people are among them. */
export function MetaData({ beside: { metaData, hasMoreMetaData } }: Pick<BesideProps, "beside">) {
  if (metaData.length === 0) return null;
  return (
    <Part id="meta-data" title="Answers and meta-data">
      <dl class="pairs">
        {metaData.map(({ key, start }) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{start}</dd>
          </div>
        ))}
      </dl>
      {hasMoreMetaData && <p class="quiet">and more</p>}
    </Part>
  );
}

export function Payload({ bytes, request }: { bytes: number | undefined; request: MemberRequest }) {
  return (
    <Part id="payload" title="Webhook payload">
      {bytes === undefined ? (
        <p class="quiet">The payload of the webhook that made this build is no longer kept.</p>
      ) : (
        <p>
          <a href={buildPath(request, patterns.payloadPage)} download>
            Download
          </a>{" "}
          <span class="quiet">{sizeInWords(bytes)}</span>
        </p>
      )}
    </Part>
  );
}

export function TriggeredBuilds({
  rows,
  triggered,
  request,
}: {
  rows: ListedJob[];
  /** By the job that made them. */
  triggered: ReadonlyMap<string, NamedBuild>;
  request: MemberRequest;
}) {
  const made = rows.flatMap(({ job }) => {
    const build = triggered.get(job.id);
    return build ? [{ job, build }] : [];
  });
  if (made.length === 0) return null;
  return (
    <Part id="triggered" title="Triggered builds">
      <ul class="plain">
        {made.map(({ job, build }) => (
          <li key={job.id}>
            <Triggered job={job} build={build} request={request} />
          </li>
        ))}
      </ul>
    </Part>
  );
}

/** The people who retried and unblocked jobs. */
export function History({ beside: { acts, jobs, people }, request }: BesideProps) {
  if (acts.length === 0) return null;
  const nameOf = (id: string | null) => people.get(id ?? "")?.name ?? "Somebody";
  return (
    <Part id="history" title="History">
      <ol class="plain">
        {acts.map(({ id, unblockedById, unblockedAt, retriedById, retriedAt }) => {
          const job = jobs.get(id);
          const title = job ? titleOf(job) : "a job";
          const link = job?.type === "manual" ? title : <a href={jobPath(request, id)}>{title}</a>;
          const at = unblockedById === null ? retriedAt : unblockedAt;
          return (
            <li key={id}>
              {unblockedById === null ? (
                <>
                  {nameOf(retriedById)} retried {link}
                </>
              ) : (
                <>
                  {nameOf(unblockedById)} unblocked {link}
                </>
              )}{" "}
              {at && (
                <span class="quiet">
                  <Time at={at} />
                </span>
              )}
            </li>
          );
        })}
      </ol>
    </Part>
  );
}
