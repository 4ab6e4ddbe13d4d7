import type { Log } from "../log.ts";
import type { Tracing, TracingOptions } from "./tracing.ts";

/** Sends traces by OTLP. Without it, none of OpenTelemetry is loaded. */
export function openTracing(options: TracingOptions, log: Log): Tracing {
  const loading = import("./otlp.ts").then(({ openOtlp }) => openOtlp(options));
  loading.catch((error) => log.error({ err: error }, "traces cannot be sent"));
  const whenLoaded = (use: (otlp: Tracing) => unknown) => loading.then(use).catch(() => {});
  return {
    record: (span) => void whenLoaded((otlp) => otlp.record(span)),
    close: async () => void (await whenLoaded((otlp) => otlp.close())),
  };
}
