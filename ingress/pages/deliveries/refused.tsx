import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import { refusalRetentionDays, refusalsSince } from "../../../shared/triggers/deliveries/refusal-counts.ts";
import {
  listRefusalCountsOfOrganization,
  type PlacedRefusalCount,
} from "../../../shared/triggers/deliveries/refusal-counts-store.ts";
import { Table } from "../ui/tables.tsx";
import { causeWords } from "./causes.ts";
import { LastSeen } from "./last-seen.tsx";

/** Counts of an hour, a trigger and a cause. */
const maxCounts = 200;

/** The counts of an organization, the latest hours first. */
export async function loadRefused(
  { db, clock }: Services,
  { id }: Organization,
): Promise<PlacedRefusalCount[]> {
  const since = refusalsSince(clock.now());
  return listRefusalCountsOfOrganization(db, { organizationId: id, since, limit: maxCounts });
}

const sumOf = (counts: PlacedRefusalCount[]) => counts.reduce((sum, { count }) => sum + count, 0);

/** Requests that left no delivery: a row for each trigger and cause, with a link to the samples that are kept. */
export function RefusedRequests({
  counts,
  org,
  isOpen,
}: {
  counts: PlacedRefusalCount[];
  org: string;
  isOpen: boolean;
}) {
  if (counts.length === 0) return null;
  const total = sumOf(counts);
  const alike = Map.groupBy(counts, ({ triggerId, cause }) => `${triggerId} ${cause}`);
  return (
    <details id="refused" class="fold" open={isOpen}>
      <summary>
        {total.toLocaleString("en")}
        {counts.length === maxCounts && " or more"} refused {total === 1 ? "request" : "requests"} in the last{" "}
        {refusalRetentionDays} days
      </summary>
      <Table caption="Refused requests" columns={["Trigger", "Cause", "Number", "Last seen"]} isList>
        {[...alike].map(([key, ofCause]) => (
          <Row key={key} counts={ofCause} org={org} />
        ))}
      </Table>
    </details>
  );
}

/** @param counts of a trigger and a cause, the latest hour first */
function Row({ counts, org }: { counts: PlacedRefusalCount[]; org: string }) {
  const [latest] = counts;
  if (!latest) return null;
  const { trigger, pipeline, cause, hour } = latest;
  const pattern = trigger.isProvider ? patterns.providerPage : patterns.triggerPage;
  const [words, remedy] = causeWords[cause];
  return (
    <tr>
      <th scope="row">
        <a href={`${pathTo(pattern, { org, slug: pipeline.slug, trigger: trigger.id })}#refused`}>
          {trigger.label}
        </a>{" "}
        of {pipeline.name}
      </th>
      <td class="described">
        {words}
        <span>{remedy}</span>
      </td>
      <td class="number" data-label="Number">
        {sumOf(counts).toLocaleString("en")}
      </td>
      <LastSeen hour={hour} />
    </tr>
  );
}
