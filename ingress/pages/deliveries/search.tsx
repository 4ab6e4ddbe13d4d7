import type { H3Event } from "h3";
import type { DeliverySearch } from "../../../shared/triggers/deliveries/list.ts";
import { Chips, SearchForm } from "../search/form.tsx";
import { readDays, readSearch, requireKnown } from "../search/read.ts";

/** The chips, in the words of the list. */
export const chips: Record<string, NonNullable<DeliverySearch["status"]>> = {
  built: "build_created",
  "not run": "not_run",
  failed: "failed",
  "in process": "waiting",
};
const names = ["status", "event", "sent_as", "from", "to"] as const;

type Search = Record<(typeof names)[number], string>;

/** Reads the address. @throws Refusal 422 */
export function readDeliverySearch(event: H3Event): { search: Search; filter: DeliverySearch } {
  const search = readSearch(event, names);
  requireKnown("Status", search.status, Object.keys(chips));
  const { from, to } = readDays(search);
  const filter = {
    status: chips[search.status],
    event: search.event || undefined,
    sentAs: search.sent_as || undefined,
    receivedFrom: from,
    receivedTo: to,
  };
  return { search, filter };
}

/** @param hasEvents plain webhooks have none */
export function DeliverySearchForm({
  search,
  path,
  hasEvents,
}: {
  search: Search;
  path: string;
  hasEvents: boolean;
}) {
  return (
    <>
      <Chips
        search={search}
        path={path}
        name="status"
        label="Deliveries by status"
        values={Object.keys(chips)}
      />
      <SearchForm
        search={search}
        path={path}
        fields={[
          ...(hasEvents ? [{ name: "event", label: "Event" }] : []),
          { name: "sent_as", label: hasEvents ? "Sender’s id, or Idempotency-Key" : "Idempotency-Key" },
          { name: "from", label: "From (UTC)", type: "date" },
          { name: "to", label: "To (UTC)", type: "date" },
        ]}
        kept={["status"]}
      />
    </>
  );
}
