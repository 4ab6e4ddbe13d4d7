import type { Waits } from "../../../shared/dispatch/wait-figures.ts";
import { msInWords } from "../../../shared/durations.ts";
import { waitSeconds } from "../../../shared/vocabulary.ts";
import { Table } from "../ui/tables.tsx";
import type { QueueCharts } from "./charts.ts";

/** Durations for which jobs waited for an agent. */
export function WaitsOf({ waits: { day, week } }: Pick<QueueCharts, "waits">) {
  if (!week) return null;
  return (
    <>
      <Table
        caption="Waits for an agent"
        columns={["Finished in", "Jobs", "Half waited at most", "95 % waited at most"]}
      >
        {day && <Row name="the last 24 hours" waits={day} />}
        <Row name="the last 7 days" waits={week} />
      </Table>
      <p class="quiet">
        Jobs of finished builds. A wait begins when the job can run, and ends when an agent accepts it. Pauses
        of the queue count too.
      </p>
    </>
  );
}

function Row({ name, waits: { jobs, medianMs, p95Ms } }: { name: string; waits: Waits }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="number">{jobs.toLocaleString("en")}</td>
      <td>{waitInWords(medianMs)}</td>
      <td>{waitInWords(p95Ms)}</td>
    </tr>
  );
}

function waitInWords(ms: number): string {
  return Number.isFinite(ms) ? msInWords(ms) : `more than ${msInWords((waitSeconds.at(-1) ?? 0) * 1000)}`;
}
