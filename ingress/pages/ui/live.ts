import { defineHandler, HTTPResponse } from "h3";
import { findRole } from "../../../shared/accounts/member-store.ts";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { findSignedInUser } from "../../../shared/accounts/sessions.ts";
import type { User } from "../../../shared/accounts/user-store.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Topic } from "../../../shared/redis/events.ts";
import { Refusal, tooMany, unavailable } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { shares } from "../../../shared/sharing/bounds.ts";
import { Shares } from "../../../shared/sharing/shares.ts";
import { findVisitor, type Visitor } from "../../auth/session.ts";
import { clientIp } from "../../http/client-address.ts";
import { networksOf } from "../../http/network.ts";

/** A closing process waits longer than this for its clients. */
const heartbeatMs = 250;
/** Proxies close connections after a silent minute. */
const beatsPerComment = 60;
/** An event about the end of a session or membership may be lost. */
const beatsPerAccessCheck = 240;
const reconnectMs = 3000;
const retryAfterSeconds = 10;
const headers = { "content-type": "text/event-stream", "cache-control": "no-store" };
const encoder = new TextEncoder();

/**
 * The address of a page's events. A MAC binds it to the visitor's session.
 * @param page the organizations of a page, and the topics that it shows
 */
export function eventsPath(
  { cipher }: Services,
  visitor: Visitor,
  page: { organizations: Pick<Organization, "id">[]; topics: Topic[] },
): string {
  const given = {
    organizations: page.organizations.map(({ id }) => id).join(" "),
    topics: page.topics.join(" "),
  };
  const [key = ""] = cipher.macs(macInput(visitor, given));
  return `${patterns.events}?${new URLSearchParams({ ...given, key })}`;
}

/**
 * GET /events: server-sent events named `changed`, without data. The page then reloads with all its checks, so only
 * the MAC, the session and the memberships are checked here.
 */
export function liveEvents(services: Services, isClosing: () => boolean) {
  const streams = new Set<Stream>();
  const open = new Shares(shares.eventStreams);
  sendHeartbeats(streams, isClosing);

  return defineHandler(async (event) => {
    const visitor = await findVisitor(services, event);
    const parameter = (name: string) => event.url.searchParams.get(name) ?? "";
    const given = { organizations: parameter("organizations"), topics: parameter("topics") };
    const organizationIds = given.organizations.split(" ").filter(Boolean);
    const isOfSession = services.cipher.macs(macInput(visitor, given)).includes(parameter("key"));
    if (!visitor.user || !isOfSession || !(await isMember(services, visitor.user, organizationIds)))
      throw new Refusal(403, "Load the page again: its events are those of another session.");
    if (event.req.method === "HEAD") return new HTTPResponse(null, { headers }); // a stream would never be read
    const reader = { services, token: visitor.token, userId: visitor.user.id, organizationIds };
    const owners = { ...networksOf(clientIp(event)), session: reader.token, user: reader.userId };
    const slot = open.take(owners);
    if (slot === "owner") throw tooManyStreams();
    if (slot === "all") throw unavailable(retryAfterSeconds);
    services.metrics.eventStreams.inc();
    const leave = () => {
      services.metrics.eventStreams.dec();
      open.release(slot);
    };
    const stream = new Stream(streams, { ...reader, leave }, given.topics.split(" ") as Topic[]);
    return new HTTPResponse(new ReadableStream(stream, { highWaterMark: 4 }), { headers });
  });
}

/** Ids and topics have neither spaces nor commas. */
function macInput(
  visitor: Visitor,
  { organizations, topics }: Record<"organizations" | "topics", string>,
): string {
  return `events ${visitor.token} ${organizations}, ${topics}`;
}

/** Returns true for a member of all these organizations. */
async function isMember({ db }: Services, { id }: User, organizationIds: string[]): Promise<boolean> {
  for (const organizationId of organizationIds)
    if ((await findRole(db, organizationId, id)) === undefined) return false;
  return true;
}

function tooManyStreams(): Refusal {
  const message = "Too many pages are open. This one does not refresh itself.";
  return tooMany(message, { seconds: retryAfterSeconds });
}

function sendHeartbeats(streams: Set<Stream>, isClosing: () => boolean): void {
  let beats = 0;
  const timer = setInterval(() => {
    beats++;
    for (const stream of streams) {
      if (isClosing()) stream.end();
      else if (beats % beatsPerComment === 0) stream.write(":\n\n");
      if (beats % beatsPerAccessCheck === 0) stream.endWithoutAccess();
    }
  }, heartbeatMs);
  timer.unref();
}

interface Reader {
  services: Services;
  /** The session's token. */
  token: string;
  userId: string;
  /** The stream ends with one of the memberships. */
  organizationIds: string[];
  /** Gives the slot back. */
  leave: () => void;
}

class Stream implements UnderlyingDefaultSource<Uint8Array> {
  readonly reader: Reader;
  readonly #streams: Set<Stream>;
  readonly #topics: Topic[];
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #unsubscribe = () => {};

  constructor(streams: Set<Stream>, reader: Reader, topics: Topic[]) {
    this.#streams = streams;
    this.reader = reader;
    this.#topics = topics;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    this.#streams.add(this);
    const { events } = this.reader.services;
    const endChanges = events.subscribe(this.#topics, () => this.write("event: changed\ndata:\n\n"));
    const endAccess = events.subscribe([`user:${this.reader.userId}`], () => this.endWithoutAccess());
    this.#unsubscribe = () => {
      endChanges();
      endAccess();
    };
    this.write(`retry: ${reconnectMs}\n\n`);
  }

  cancel(): void {
    this.#unsubscribe();
    if (this.#streams.delete(this)) this.reader.leave();
  }

  end(): void {
    if (!this.#streams.has(this)) return;
    this.cancel();
    this.#controller?.close();
  }

  /** Without the database the stream goes on: it carries no data. */
  endWithoutAccess(): void {
    this.#hasAccess().then(
      (hasAccess) => hasAccess || this.end(),
      () => {},
    );
  }

  async #hasAccess(): Promise<boolean> {
    const { services, token, organizationIds } = this.reader;
    const user = await findSignedInUser(services, token);
    return user !== undefined && isMember(services, user, organizationIds);
  }

  /** Skips slow readers: one pending event is enough. */
  write(text: string): void {
    if ((this.#controller?.desiredSize ?? 0) > 0) this.#controller?.enqueue(encoder.encode(text));
  }
}
