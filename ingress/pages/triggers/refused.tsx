import type { RefusalCount } from "../../../shared/triggers/deliveries/refusal-counts-store.ts";
import type { RefusedRequest } from "../../../shared/triggers/deliveries/refused-requests-store.ts";
import type { RefusalCause } from "../../../shared/vocabulary.ts";
import { sumOf } from "../charts/bars.ts";
import { refusedSeries } from "../charts/deliveries.ts";
import { Sparkline } from "../charts/sparkline.tsx";
import { causeWords } from "../deliveries/causes.ts";
import { LastSeen } from "../deliveries/last-seen.tsx";
import { PostButton } from "../ui/form.tsx";
import { Table } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";

interface RefusedProps {
  counts: RefusalCount[];
  hours: Date[];
  requests: Pick<RefusedRequest, "id" | "cause" | "receivedAt" | "network">[];
  pathOf: (request: string) => string;
  /** Absent: bodies are never kept. */
  bodies?: BodiesProps;
}

interface BodiesProps {
  /** Undefined: bodies are not kept. */
  until: Date | undefined;
  keepPath: string;
  dropPath: string;
}

/** Refused requests leave no delivery, only counts and a few samples. The cause that was seen last comes first. */
export function Refused({ counts, hours, requests, pathOf, bodies }: RefusedProps) {
  if (counts.length === 0) return null;
  return (
    <section aria-labelledby="refused">
      <h2 id="refused">Refused in the last 7 days</h2>
      <Table caption="Refused deliveries" columns={["Cause", "Number", "Last seen", "By the hour"]} isList>
        {[...Map.groupBy(counts, ({ cause }) => cause)].map(([cause, ofCause]) => (
          <Cause key={cause} cause={cause} counts={ofCause} hours={hours} />
        ))}
      </Table>
      {requests.length > 0 && (
        <details class="fold" id="refused-requests">
          <summary>The latest refused requests</summary>
          <Table caption="Refused requests" columns={["Received", "Cause", "From"]}>
            {requests.map(({ id, cause, receivedAt, network }) => (
              <tr key={id}>
                <th scope="row">
                  <a href={pathOf(id)}>
                    <Time at={receivedAt} />
                  </a>
                </th>
                <td>{causeWords[cause][0]}</td>
                <td>{network}</td>
              </tr>
            ))}
          </Table>
        </details>
      )}
      {bodies && <Bodies {...bodies} />}
    </section>
  );
}

function Bodies({ until, keepPath, dropPath }: BodiesProps) {
  return (
    <div class="actions">
      <p class="quiet">
        {until ? (
          <>
            Samples are kept with their bodies. This ends <Time at={until} />.
          </>
        ) : (
          "Samples are kept without their bodies, which may hold secrets."
        )}
      </p>
      <PostButton path={until ? dropPath : keepPath} class="secondary">
        {until ? "Keep no more bodies" : "Keep bodies for an hour"}
      </PostButton>
    </div>
  );
}

/** @param counts newest first */
function Cause({ cause, counts, hours }: { cause: RefusalCause; counts: RefusalCount[]; hours: Date[] }) {
  const [latest] = counts;
  if (!latest) return null;
  const series = refusedSeries(hours, counts);
  const [words, remedy] = causeWords[cause];
  return (
    <tr>
      <th scope="row" class="described">
        {words}
        <span>{remedy}</span>
      </th>
      <td class="number" data-label="Number">
        {sumOf(series).toLocaleString("en")}
      </td>
      <LastSeen hour={latest.hour} />
      <td>
        <Sparkline series={[series]} label={`In ${counts.length} of the last ${hours.length} hours`} />
      </td>
    </tr>
  );
}
