import { createHash } from "node:crypto";
import { ROOT_CONTEXT, TraceFlags, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { version } from "../version.ts";
import type { SpanOfDelivery, Tracing, TracingOptions } from "./tracing.ts";

/** Imported only if traces are on. */
export function openOtlp({ endpoint, process }: TracingOptions): Tracing {
  let next = { traceId: "", spanId: "" };
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": "signalbox",
      "service.version": version,
      "service.instance.id": process,
    }),
    idGenerator: { generateTraceId: () => next.traceId, generateSpanId: () => next.spanId },
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("signalbox");

  return {
    record(span) {
      const { name, parent, start, end, attributes } = span;
      const traceId = span.traceId.replaceAll("-", "");
      next = { traceId, spanId: spanIdOf(traceId, span) };
      const above = parent && { traceId, spanId: spanIdOf(traceId, parent), traceFlags: TraceFlags.SAMPLED };
      const context = above ? trace.setSpanContext(ROOT_CONTEXT, above) : ROOT_CONTEXT;
      tracer.startSpan(name, { startTime: start, attributes }, context).end(end);
    },
    close: () => provider.shutdown(),
  };
}

/** Another process finds the same id for its spans' parent. */
function spanIdOf(traceId: string, { name, subject = "" }: Pick<SpanOfDelivery, "name" | "subject">): string {
  return createHash("sha256").update(`${traceId} ${name} ${subject}`).digest("hex").slice(0, 16);
}
