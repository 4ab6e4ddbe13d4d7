import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { listFigures } from "../../../shared/figures/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { deliveriesUsed, isNearLimit } from "../../../shared/triggers/deliveries/limit.ts";
import { BarChart } from "../charts/bar-chart.tsx";
import { type Series, sumAt } from "../charts/bars.ts";
import { deliverySeries } from "../charts/deliveries.ts";
import { lastDays, lastHours, timeInWords } from "../charts/times.ts";
import { Fact } from "../ui/tables.tsx";

const days = 7;

export type OrganizationUse = Awaited<ReturnType<typeof loadUse>>;

/** Deliveries of the last days, and how much of the hourly limit is used. */
export async function loadUse(services: Services, organization: Organization) {
  const now = services.clock.now();
  const times = lastDays(now, days);
  const figures = await listFigures(services.db, [organization.id], times[0] ?? now);
  const hours = lastHours(now, days);
  return {
    times,
    deliveries: deliverySeries(times, figures),
    limit: await deliveriesUsed(services, organization),
    busiest: findBusiest(hours, deliverySeries(hours, figures)),
  };
}

/** The first hour with the most deliveries. */
function findBusiest(hours: Date[], series: Series[]) {
  const counts = hours.map((hour, at) => ({ hour, count: sumAt(series, at) }));
  return counts.reduce((most, each) => (each.count > most.count ? each : most));
}

export function Use({ use: { times, deliveries, limit, busiest } }: { use: OrganizationUse }) {
  const used = limit.limit - limit.remaining;
  const isNear = isNearLimit(limit);
  const hasDeliveries = busiest.count > 0;
  if (!hasDeliveries && !isNear) return null;
  return (
    <section aria-labelledby="use">
      <h2 id="use">Use</h2>
      <dl class="facts panel">
        <Fact
          name="Hourly limit"
          value={
            isNear && `${used.toLocaleString("en")} of ${limit.limit.toLocaleString("en")} deliveries used`
          }
        />
        {hasDeliveries && (
          <>
            <dt>Busiest hour of {days} days</dt>
            <dd>
              {busiest.count.toLocaleString("en")} {busiest.count === 1 ? "delivery" : "deliveries"}, from{" "}
              <time dateTime={busiest.hour.toISOString()}>{timeInWords(busiest.hour)}</time>
            </dd>
          </>
        )}
      </dl>
      {hasDeliveries && (
        <BarChart
          id="deliveries"
          subject="Deliveries of the last 7 days"
          unit="day"
          times={times}
          series={deliveries}
        />
      )}
    </section>
  );
}
