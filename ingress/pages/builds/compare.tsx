import { listJobsPage } from "../../../shared/builds/reading/job-list-store.ts";
import { findLastPassed, type NearbyBuild } from "../../../shared/builds/reading/neighbors-store.ts";
import { placeBesideTitle, titleOf } from "../../../shared/builds/reading/titles.ts";
import type { Job } from "../../../shared/builds/rows/job-store.ts";
import { msInWords, secondMs } from "../../../shared/durations.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { notFound } from "../../../shared/refusal.ts";
import { buildPath, jobPath, loadBuild } from "../address/build.ts";
import { Commit, compareUrl, type SourceRepository } from "../commits/commit.tsx";
import { loadSource } from "../commits/source.ts";
import { State } from "../states/state.tsx";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import { Table } from "../ui/tables.tsx";

/** Of each build. */
const maxJobs = 500;
/** A job that took so much more or less is named. */
const minDifferenceMs = 5 * secondMs;
const minRatio = 1.25;

interface Pair {
  title: string;
  present: Job | undefined;
  earlier: Job | undefined;
}

/** GET …/builds/:number/compare: the jobs that differ from those of the last build of the branch that passed. */
export const compareBuildPage = memberPage(async (services, request) => {
  const { db } = services;
  const { build, pipeline } = await loadBuild(services, request);
  const earlier = await findLastPassed(db, build);
  if (!earlier) throw notFound("earlier build of the branch that passed");
  const jobsOf = async (id: string) => {
    const { rows } = await listJobsPage(db, id, { limit: maxJobs, offset: 0 });
    return rows.flatMap(({ job }) => (job.type === "waiter" ? [] : [job]));
  };
  const source = await loadSource(services, pipeline);
  const pairs = pairUp(await jobsOf(build.id), await jobsOf(earlier.id)).filter(differs);
  return {
    title: `Compare #${build.number} with #${earlier.number}`,
    section: "pipelines",
    script: "copy.js",
    content: (
      <>
        <h1>
          Build <a href={buildPath(request)}>#{build.number}</a> and{" "}
          <a href={pathOf(request, earlier)}>#{earlier.number}</a>, the last of {build.branch} that passed
        </h1>
        <Commits present={build.commit} earlier={earlier.commit} branch={build.branch} source={source} />
        {pairs.length === 0 ? (
          <p class="empty">Their jobs have the same states and took about as long.</p>
        ) : (
          <Pairs pairs={pairs} present={build} earlier={earlier} request={request} />
        )}
      </>
    ),
  };
});

/** The jobs of both builds by title and place, in the order of the present one. */
function pairUp(present: Job[], earlier: Job[]): Pair[] {
  const left = Map.groupBy(earlier, nameOf);
  const pairs = present.map((job) => ({
    title: nameOf(job),
    present: job,
    earlier: left.get(nameOf(job))?.shift(),
  }));
  const gone = [...left.values()].flat();
  return [...pairs, ...gone.map((job) => ({ title: nameOf(job), present: undefined, earlier: job }))];
}

function nameOf(job: Job): string {
  return [titleOf(job), placeBesideTitle(job)].filter(Boolean).join(", ");
}

function differs({ present, earlier }: Pair): boolean {
  if (present?.state !== earlier?.state) return true;
  const [one, other] = [msOf(present), msOf(earlier)];
  if (one === undefined || other === undefined) return false;
  return Math.abs(one - other) >= minDifferenceMs && Math.max(one, other) / Math.min(one, other) >= minRatio;
}

function msOf(job: Job | undefined): number | undefined {
  return job?.startedAt && job.finishedAt ? job.finishedAt.getTime() - job.startedAt.getTime() : undefined;
}

function Commits({ present, earlier, branch, source }: { present: string; earlier: string } & OfBranch) {
  const ofBranch = { branch, source };
  if (present === newest && earlier === newest)
    return <p>Each is of the newest commit of {branch} at its time.</p>;
  if (present === earlier)
    return (
      <p>
        Both are of the commit <CommitOf commit={present} {...ofBranch} />.
      </p>
    );
  const url = compareUrl(source, earlier, present);
  return (
    <p>
      From <CommitOf commit={earlier} {...ofBranch} /> to <CommitOf commit={present} {...ofBranch} />
      {url && (
        <>
          {": "}
          <a href={url} rel="noreferrer">
            commits between them
          </a>
        </>
      )}
    </p>
  );
}

interface OfBranch {
  branch: string;
  source: SourceRepository;
}

/** The commit of a build until a job that checks it out says which one it is. */
const newest = "HEAD";

function CommitOf({ commit, branch, source }: { commit: string } & OfBranch) {
  if (commit === newest) return <>the newest commit of {branch}</>;
  return <Commit commit={commit} source={source} />;
}

function Pairs({
  pairs,
  present,
  earlier,
  request,
}: {
  pairs: Pair[];
  present: Pick<NearbyBuild, "number">;
  earlier: NearbyBuild;
  request: MemberRequest;
}) {
  const numbers = [present.number, earlier.number];
  const columns = ["Job", ...numbers.map((number) => `#${number}`), "Time"];
  return (
    <Table caption="Jobs that differ" columns={columns} isList>
      {pairs.map((pair, index) => (
        <tr key={index}>
          <th scope="row">
            {pair.present && pair.present.type !== "manual" ? (
              <a href={jobPath(request, pair.present.id)}>{pair.title}</a>
            ) : (
              pair.title
            )}
          </th>
          <td data-label={columns[1]}>
            {pair.present ? <State state={pair.present.state} /> : "no such job"}
          </td>
          <td data-label={columns[2]}>
            {pair.earlier ? <State state={pair.earlier.state} /> : "no such job"}
          </td>
          <td class="duration">{timesInWords(pair)}</td>
        </tr>
      ))}
    </Table>
  );
}

/** `2 min 10 s, was 1 min 5 s`. */
function timesInWords({ present, earlier }: Pair): string {
  const [now, before] = [msOf(present), msOf(earlier)].map((ms) => ms !== undefined && msInWords(ms));
  return [now, before && `was ${before}`].filter(Boolean).join(", ");
}

function pathOf({ organization, parameter }: MemberRequest, { number }: NearbyBuild): string {
  return pathTo(patterns.buildPage, {
    org: organization.slug,
    slug: parameter("slug"),
    number: String(number),
  });
}
