import type { FilterOutcome } from "../../../shared/triggers/filter/compile.ts";
import type { Trial, testFilterOnLatest } from "../../../shared/triggers/filter/filter-tests.ts";
import type { ReadValue } from "../../../shared/triggers/filter/read-values.ts";
import { Values } from "../deliveries/read-values.tsx";
import { State } from "../states/state.tsx";
import { asSentence } from "../ui/problems.ts";
import { Table } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";

export type Tried = Awaited<ReturnType<typeof testFilterOnLatest>>;

/** The outcome for the chosen delivery. @param isShown says if a value may be shown */
export function Outcome({
  outcome,
  isShown,
}: {
  outcome: FilterOutcome;
  isShown: (value: ReadValue) => boolean;
}) {
  if ("error" in outcome)
    return (
      <p class="warning" role="status">
        No build: {asSentence([outcome.error])}
      </p>
    );
  if (outcome.verdict)
    return (
      <p class="notice" role="status">
        True: this delivery would make a build.
      </p>
    );
  const { values = [] } = outcome;
  return (
    <div class="warning" role="status">
      <p>False: this delivery would make no build.{values.length > 0 && " It has:"}</p>
      {values.length > 0 && <Values values={values} isShown={isShown} />}
    </div>
  );
}

const untriedWords = {
  too_large: "Not tried: too large. Choose it above to try it alone",
  no_payload: "Not tried: its payload is no longer kept",
  no_time: "Not tried: no time was left. Choose it above",
} as const;

/** A problem of the expression itself is shown above, not beside each delivery. */
export function Latest({
  latest,
  chosen,
  pathOf,
}: {
  latest: Tried["latest"];
  chosen: string;
  pathOf: (delivery: string) => string;
}) {
  if (latest.length === 0) return null;
  const matches = latest.filter(({ trial }) => "verdict" in trial && trial.verdict).length;
  return (
    <section aria-labelledby="latest">
      <h2 id="latest">The latest deliveries</h2>
      <p>
        {matches} of the latest {latest.length} would make a build.
      </p>
      <Table caption="The latest deliveries" columns={["Received", "Result"]}>
        {latest.map(({ delivery, trial }) => (
          <tr key={delivery.id}>
            <th scope="row" class="described">
              <a href={pathOf(delivery.id)}>
                <Time at={delivery.receivedAt} />
              </a>
              {delivery.event && <span>{delivery.event}</span>}
              {delivery.id === chosen && <span class="quiet">the chosen one</span>}
            </th>
            <td>
              <TrialResult trial={trial} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function TrialResult({ trial }: { trial: Trial }) {
  if ("untried" in trial) return <span class="quiet">{untriedWords[trial.untried]}</span>;
  if ("error" in trial)
    return (
      <>
        <State state="error" kind="failed" />
        <span class="reason">{trial.error}</span>
      </>
    );
  return trial.verdict ? <State state="true" kind="build_created" /> : <State state="false" kind="not_run" />;
}
