import type { Services } from "../../../shared/services/services.ts";

interface Series {
  labels: Partial<Record<string, string | number>>;
  value: number;
  /** A part of a histogram, such as `…_count`. */
  metricName?: string;
}

/** @param name without `signalbox_` */
export async function seriesOf({ metrics }: Pick<Services, "metrics">, name: string): Promise<Series[]> {
  const metric = metrics.registry.getSingleMetric(`signalbox_${name}`);
  return ((await metric?.get())?.values ?? []) as Series[];
}

/** The value of the first series with these labels. Undefined if there is none. */
export async function readMetric(
  services: Pick<Services, "metrics">,
  name: string,
  labels: Record<string, string> = {},
): Promise<number | undefined> {
  const wanted = Object.entries(labels);
  const found = (await seriesOf(services, name)).find((series) =>
    wanted.every(([label, value]) => series.labels[label] === value),
  );
  return found?.value;
}

/** The number of observations of a histogram. */
export async function countObserved(services: Pick<Services, "metrics">, name: string): Promise<number> {
  const found = (await seriesOf(services, name)).find(({ metricName }) => metricName?.endsWith("_count"));
  return found?.value ?? 0;
}
