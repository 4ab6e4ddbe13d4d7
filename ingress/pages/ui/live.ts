import { defineHandler, HTTPResponse } from "h3";
import { patterns } from "../../../shared/paths.ts";
import type { Topic } from "../../../shared/redis/events.ts";
import { Refusal, unavailable } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { findVisitor, type Visitor } from "../../auth/session.ts";

const maxStreams = 1000;
/** Less than a closing process gives its clients. */
const heartbeatMs = 250;
/** Proxies close connections after a silent minute. */
const beatsPerComment = 60;
const reconnectMs = 3000;
const retryAfterSeconds = 10;
const headers = { "content-type": "text/event-stream", "cache-control": "no-store" };
const encoder = new TextEncoder();

/** Its MAC binds the address to the visitor's session. */
export function eventsPath({ cipher }: Services, visitor: Visitor, topics: Topic[]): string {
  const list = topics.join(" ");
  const [key = ""] = cipher.macs(macInput(visitor, list));
  return `${patterns.events}?${new URLSearchParams({ topics: list, key })}`;
}

/**
 * GET /events: server-sent events named `changed`, without data. The page then reloads with all its checks, so only
 * the MAC is checked here.
 */
export function liveEvents(services: Services, isClosing: () => boolean) {
  const streams = new Set<Stream>();
  beat(streams, isClosing);

  return defineHandler(async (event) => {
    const visitor = await findVisitor(services, event);
    const list = event.url.searchParams.get("topics") ?? "";
    const key = event.url.searchParams.get("key") ?? "";
    if (!visitor.user || !services.cipher.macs(macInput(visitor, list)).includes(key))
      throw new Refusal(403, "Load the page again: its events are those of another session.");
    if (event.req.method === "HEAD") return new HTTPResponse(null, { headers }); // a stream would never be read
    if (streams.size >= maxStreams) throw unavailable(retryAfterSeconds);

    const stream = new Stream(
      (onChange) => services.events.subscribe(list.split(" ") as Topic[], onChange),
      streams,
    );
    return new HTTPResponse(new ReadableStream(stream, { highWaterMark: 4 }), { headers });
  });
}

function macInput(visitor: Visitor, topics: string): string {
  return `events ${visitor.token} ${topics}`;
}

function beat(streams: Set<Stream>, isClosing: () => boolean): void {
  let beats = 0;
  const timer = setInterval(() => {
    beats++;
    for (const stream of streams) {
      if (isClosing()) stream.end();
      else if (beats % beatsPerComment === 0) stream.write(":\n\n");
    }
  }, heartbeatMs);
  timer.unref();
}

class Stream implements UnderlyingDefaultSource<Uint8Array> {
  readonly #subscribe: (onChange: () => void) => () => void;
  readonly #streams: Set<Stream>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #unsubscribe = () => {};

  constructor(subscribe: (onChange: () => void) => () => void, streams: Set<Stream>) {
    this.#subscribe = subscribe;
    this.#streams = streams;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    this.#streams.add(this);
    this.#unsubscribe = this.#subscribe(() => this.write("event: changed\ndata:\n\n"));
    this.write(`retry: ${reconnectMs}\n\n`);
  }

  cancel(): void {
    this.#unsubscribe();
    this.#streams.delete(this);
  }

  end(): void {
    this.cancel();
    this.#controller?.close();
  }

  /** Skips slow readers: one pending event is enough. */
  write(text: string): void {
    if ((this.#controller?.desiredSize ?? 0) > 0) this.#controller?.enqueue(encoder.encode(text));
  }
}
