import { patterns } from "../../../shared/paths.ts";
import { listSchedulesPage, type Schedule } from "../../../shared/schedules/store.ts";
import { readPageOf, readWithin } from "../../http/number-pager.ts";
import { pipelinePath } from "../address/pipeline.ts";
import { State } from "../states/state.tsx";
import { LinkButton } from "../ui/form.tsx";
import { memberPage } from "../ui/member-page.ts";
import { NumberPager } from "../ui/pager.tsx";
import { Table } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import { loadPipelineOfSchedules, nameOf, schedulePath } from "./load.ts";

const perPage = 30;

/** GET /organizations/:org/pipelines/:slug/schedules */
export const schedulesPage = memberPage(async (services, request) => {
  const pipeline = await loadPipelineOfSchedules(services, request);
  const list = await readWithin(readPageOf(request.event, perPage), (page) =>
    listSchedulesPage(services.db, pipeline.id, page),
  );
  return {
    title: "Schedules",
    section: "pipelines",
    topics: [`pipeline:${pipeline.id}`],
    content: (
      <>
        <div class="heading">
          <h1>Schedules</h1>
          <p class="actions">
            <LinkButton href={pipelinePath(request, patterns.newSchedulePage)} text="New schedule" />
          </p>
        </div>
        {pipeline.archivedAt && <p class="notice neutral">The pipeline is archived: its schedules rest.</p>}
        {list.rows.length === 0 ? (
          <p class="empty">
            No schedule yet. A schedule builds the pipeline at times, such as each night or on weekdays at
            eight.
          </p>
        ) : (
          <Table caption="Schedules" columns={["Schedule", "Next build", "State", "Branch"]} isList>
            {list.rows.map((schedule) => (
              <Row
                key={schedule.id}
                schedule={schedule}
                branch={schedule.branch ?? pipeline.defaultBranch}
                path={schedulePath(request, schedule)}
              />
            ))}
          </Table>
        )}
        <NumberPager list={list} path={pipelinePath(request, patterns.schedulesPage)} />
      </>
    ),
  };
});

function Row({ schedule, branch, path }: { schedule: Schedule; branch: string; path: string }) {
  const { label, cronline, enabled, nextBuildAt, failedMessage } = schedule;
  return (
    <tr>
      <th scope="row" class="described">
        <a href={path}>{nameOf(schedule)}</a>
        {label !== null && (
          <span class="quiet">
            <code>{cronline}</code>
          </span>
        )}
      </th>
      <td data-label="Next build">
        {nextBuildAt ? <Time at={nextBuildAt} /> : <span class="quiet">none</span>}
      </td>
      <td>
        <State state={enabled ? "enabled" : "disabled"} />
        {failedMessage !== null && <span class="reason">The last time made no build</span>}
      </td>
      <td data-label="Branch">{branch}</td>
    </tr>
  );
}
