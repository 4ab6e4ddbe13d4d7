/** A part of the way of a delivery. */
export interface SpanOfDelivery {
  name: "accept" | "decide" | "build" | "job offered" | "job finished";
  /** The delivery; of a build without one, the build. Its id is the trace's, so that no process needs to pass it on. */
  traceId: string;
  /** Distinguishes spans of one name in a trace. */
  subject?: string;
  parent?: Pick<SpanOfDelivery, "name" | "subject">;
  start: Date;
  end: Date;
  attributes: Record<string, string | number>;
}

export interface Tracing {
  /** Does not wait, and never throws. */
  record(span: SpanOfDelivery): void;
  /** Sends the spans that are left. */
  close(): Promise<void>;
}

export interface TracingOptions {
  endpoint: string;
  process: string;
}
