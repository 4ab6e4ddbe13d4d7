import { createBuildByHand } from "../../../shared/builds/making/by-request.ts";
import { listScheduledBuilds } from "../../../shared/builds/rows/build-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { readCronline } from "../../../shared/schedules/cronline.ts";
import { changeSchedule, deleteSchedule, variablesOf } from "../../../shared/schedules/schedules.ts";
import type { Schedule } from "../../../shared/schedules/store.ts";
import { nextTimes } from "../../../shared/schedules/times.ts";
import type { Services } from "../../../shared/services/services.ts";
import { pipelinePath } from "../address/pipeline.ts";
import { confirmPage } from "../resources/confirm-page.tsx";
import { State } from "../states/state.tsx";
import { FormError, LinkButton, PostButton } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { asSentence, type FormProblems, tryForm } from "../ui/problems.ts";
import { CodeList, Fact, Table } from "../ui/tables.tsx";
import { ExactTime, Time } from "../ui/times.tsx";
import { loadSchedule, nameOf, schedulePath } from "./load.ts";

const shownTimes = 5;
const shownBuilds = 10;

/** GET …/schedules/:schedule */
export const schedulePage = memberPage((services, request) => show(services, request));

/** GET …/enable, …/disable, …/build: signing in after the session ended leads here. */
export const redirectToSchedule = memberPage(async (services, request) =>
  schedulePath(request, (await loadSchedule(services, request)).schedule),
);

/** POST …/enable */
export const enableSchedule = switchSchedule(true);

/** POST …/disable */
export const disableSchedule = switchSchedule(false);

function switchSchedule(enabled: boolean) {
  return memberAction(async (services, request) => {
    const { schedule } = await loadSchedule(services, request);
    const path = schedulePath(request, schedule);
    if (schedule.enabled === enabled) return path; // a double click
    await changeSchedule(services, request.actor, schedule, { enabled });
    return withNotice(path, "schedule_saved");
  });
}

/** POST …/build: a build as the schedule makes it, now. */
export const buildSchedule = memberAction(async (services, request) => {
  const { pipeline, schedule } = await loadSchedule(services, request);
  const { message, commit, branch } = schedule;
  const outcome = await tryForm(() =>
    createBuildByHand(services, request.actor, pipeline, {
      source: "ui",
      message: message ?? `Scheduled: ${nameOf(schedule)}`,
      commit,
      branch: branch ?? pipeline.defaultBranch,
      env: variablesOf(services, schedule),
    }),
  );
  if ("problems" in outcome) return show(services, request, outcome.problems);
  const { number } = outcome.done.build;
  const address = { org: request.organization.slug, slug: pipeline.slug, number: String(number) };
  return withNotice(pathTo(patterns.buildPage, address), "build_created");
});

/** GET and POST …/delete */
export const deleteSchedulePage = confirmPage({
  section: "pipelines",
  isForAll: true,
  load: loadSchedule,
  title: ({ schedule }) => `Delete the schedule ${nameOf(schedule)}?`,
  text: () => "It makes no more builds. Those that it has made stay.",
  path: (request, { schedule }) => schedulePath(request, schedule, patterns.deleteSchedulePage),
  back: (request, { schedule }) => schedulePath(request, schedule),
  run: async (services, request, { schedule }) => {
    await deleteSchedule(services, request.actor, schedule);
    return withNotice(pipelinePath(request, patterns.schedulesPage), "schedule_deleted");
  },
});

async function show(
  services: Services,
  request: MemberRequest,
  problems?: FormProblems,
): Promise<PageContent> {
  const { pipeline, schedule } = await loadSchedule(services, request);
  const builds = await listScheduledBuilds(services.db, schedule.id, shownBuilds);
  const variables = Object.keys(variablesOf(services, schedule));
  const { enabled, failedMessage, failedAt } = schedule;
  const pathOf = (number: number) =>
    pathTo(patterns.buildPage, { org: request.organization.slug, slug: pipeline.slug, number });
  return {
    title: nameOf(schedule),
    status: problems ? 422 : 200,
    section: "pipelines",
    script: "once.js",
    topics: [`pipeline:${pipeline.id}`],
    content: (
      <>
        <div class="heading">
          <h1>
            {nameOf(schedule)} <State state={enabled ? "enabled" : "disabled"} />
          </h1>
          <div class="actions">
            {!pipeline.archivedAt && (
              <PostButton path={schedulePath(request, schedule, patterns.buildSchedulePage)}>
                Build now
              </PostButton>
            )}
            <PostButton
              path={schedulePath(
                request,
                schedule,
                enabled ? patterns.disableSchedulePage : patterns.enableSchedulePage,
              )}
              class="secondary"
            >
              {enabled ? "Disable" : "Enable"}
            </PostButton>
            <LinkButton
              kind="secondary"
              href={schedulePath(request, schedule, patterns.editSchedulePage)}
              text="Edit"
            />
            <LinkButton
              kind="danger"
              href={schedulePath(request, schedule, patterns.deleteSchedulePage)}
              text="Delete"
            />
          </div>
        </div>
        {problems && <FormError>{asSentence(problems)}</FormError>}
        {pipeline.archivedAt && <p class="notice neutral">The pipeline is archived: its schedules rest.</p>}
        {failedAt && (
          <p class="warning">
            The last time made no build, <Time at={failedAt} />: {failedMessage}
          </p>
        )}
        <dl class="facts panel">
          <Fact name="Cronline" value={<code>{schedule.cronline}</code>} />
          <Fact name="Branch" value={schedule.branch ?? pipeline.defaultBranch} />
          <Fact name="Commit" value={schedule.commit} />
          <Fact name="Message" value={schedule.message} />
          <Fact name="Variables" value={variables.length > 0 && <CodeList names={variables} />} />
        </dl>
        <NextTimes services={services} schedule={schedule} />
        <h2>Last builds</h2>
        {builds.length === 0 ? (
          <p class="empty">No build yet.</p>
        ) : (
          <Table caption="Last builds" columns={["Build", "State", "For"]}>
            {builds.map(({ number, state, scheduledFor }) => (
              <tr key={number}>
                <th scope="row">
                  <a href={pathOf(number)}>#{number}</a>
                </th>
                <td>
                  <State state={state} />
                </td>
                <td>{scheduledFor && <Time at={scheduledFor} />}</td>
              </tr>
            ))}
          </Table>
        )}
      </>
    ),
  };
}

function NextTimes({ services: { clock }, schedule }: { services: Services; schedule: Schedule }) {
  const read = readCronline(schedule.cronline);
  if (!schedule.enabled || "problem" in read) return null;
  const zone = typeof read.zone === "string" ? read.zone : undefined;
  const times = nextTimes(read, clock.now(), shownTimes);
  if (times.length === 0) return <p class="warning">Its cronline comes to no time in the next years.</p>;
  return (
    <>
      <h2>Next builds</h2>
      <ol class="times">
        {times.map((time) => (
          <li key={time.getTime()}>
            <ExactTime at={time} /> <span class="quiet">{inZone(time, zone)}</span>
          </li>
        ))}
      </ol>
    </>
  );
}

/** The time in the schedule's own zone, if that is another one than that of the page. */
function inZone(time: Date, zone: string | undefined): string | undefined {
  if (zone === undefined || zone === "UTC") return undefined;
  const format = new Intl.DateTimeFormat("en-GB", {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: zone,
  });
  return `${format.format(time)} in ${zone}`;
}
