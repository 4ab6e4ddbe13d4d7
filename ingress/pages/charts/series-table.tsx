import { Table } from "../ui/tables.tsx";
import { type Series, sumAt } from "./bars.ts";
import { timeInWords } from "./times.ts";

/** The values of a chart, as a table that unfolds: times with a value above 0, the latest first. */
export function SeriesTable({
  id,
  caption,
  times,
  series,
}: {
  id: string;
  caption: string;
  times: Date[];
  series: Series[];
}) {
  const rows = times.map((time, at) => ({ time, at })).filter(({ at }) => sumAt(series, at) > 0);
  return (
    <details id={id}>
      <summary>As a table</summary>
      <Table caption={caption} columns={["From", ...series.map(({ name }) => name)]}>
        {rows.reverse().map(({ time, at }) => (
          <tr key={at}>
            <th scope="row">
              <time dateTime={time.toISOString()}>{timeInWords(time)}</time>
            </th>
            {series.map(({ kind, values }) => (
              <td key={kind} class="number">
                {values[at]?.toLocaleString("en")}
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </details>
  );
}
