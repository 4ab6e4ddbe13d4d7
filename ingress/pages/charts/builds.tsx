import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { listFigures } from "../../../shared/figures/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { BarChart } from "./bar-chart.tsx";
import { type Series, sumOf } from "./bars.ts";
import { combineByTime, lastDays, sum } from "./times.ts";

const days = 7;

/** The builds of an organization, by the day. */
export async function loadWeek({ db, clock }: Services, organization: Organization) {
  const now = clock.now();
  const times = lastDays(now, days);
  const figures = await listFigures(db, [organization.id], times[0] ?? now);
  const created = figures.filter(({ figure }) => figure === "builds_created");
  const builds: Series = { name: "Builds", kind: "tone-other", values: combineByTime(times, created, sum) };
  return { times, builds };
}

export function Week({ week: { times, builds } }: { week: Awaited<ReturnType<typeof loadWeek>> }) {
  if (sumOf(builds) === 0) return null;
  return (
    <BarChart id="week" subject="Builds of the last 7 days" unit="day" times={times} series={[builds]} />
  );
}
