import { defineHandler, HTTPResponse } from "h3";
import { patterns } from "../../../shared/paths.ts";
import type { Topic } from "../../../shared/redis/events.ts";
import { Refusal, unavailable } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { findVisitor, type Visitor } from "../../auth/session.ts";

const maxStreams = 1000;
/** Shorter than what a process that closes waits for its clients. */
const heartbeatMs = 250;
/** Proxies close what says nothing for a minute. */
const beatsPerComment = 60;
const reconnectMs = 3000;
const retryAfterSeconds = 10;
const headers = { "content-type": "text/event-stream", "cache-control": "no-store" };
const encoder = new TextEncoder();

/** The address at which a page hears when one of these changes. It is good for the browser that the page is for. */
export function eventsPath({ cipher }: Services, visitor: Visitor, topics: Topic[]): string {
  const list = topics.join(" ");
  const [key = ""] = cipher.macs(signed(visitor, list));
  return `${patterns.events}?${new URLSearchParams({ topics: list, key })}`;
}

/**
 * GET /events: server-sent events, one named `changed` whenever something that a page shows has changed. They carry
 * nothing: the page asks for itself again, with all its checks. So only that the page was ours to show is checked.
 */
export function liveEvents(services: Services, isClosing: () => boolean) {
  const streams = new Set<Stream>();
  beat(streams, isClosing);

  return defineHandler(async (event) => {
    const visitor = await findVisitor(services, event);
    const list = event.url.searchParams.get("topics") ?? "";
    const key = event.url.searchParams.get("key") ?? "";
    if (!visitor.user || !services.cipher.macs(signed(visitor, list)).includes(key))
      throw new Refusal(403, "Load the page again: its events are those of another session.");
    if (event.req.method === "HEAD") return new HTTPResponse(null, { headers }); // nobody would ever read a stream
    if (streams.size >= maxStreams) throw unavailable(retryAfterSeconds);

    const stream = new Stream(
      (changed) => services.events.subscribe(list.split(" ") as Topic[], changed),
      streams,
    );
    return new HTTPResponse(new ReadableStream(stream, { highWaterMark: 4 }), { headers });
  });
}

function signed(visitor: Visitor, topics: string): string {
  return `events ${visitor.token} ${topics}`;
}

/** Keeps the streams open while the process is, and lets go of them when it closes. */
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

/** One open page. */
class Stream implements UnderlyingDefaultSource<Uint8Array> {
  readonly #subscribe: (changed: () => void) => () => void;
  readonly #all: Set<Stream>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #unsubscribe = () => {};

  constructor(subscribe: (changed: () => void) => () => void, all: Set<Stream>) {
    this.#subscribe = subscribe;
    this.#all = all;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    this.#all.add(this);
    this.#unsubscribe = this.#subscribe(() => this.write("event: changed\ndata:\n\n"));
    this.write(`retry: ${reconnectMs}\n\n`);
  }

  cancel(): void {
    this.#unsubscribe();
    this.#all.delete(this);
  }

  end(): void {
    this.cancel();
    this.#controller?.close();
  }

  /** Who does not read has all the news there is in what waits already. */
  write(text: string): void {
    if ((this.#controller?.desiredSize ?? 0) > 0) this.#controller?.enqueue(encoder.encode(text));
  }
}
