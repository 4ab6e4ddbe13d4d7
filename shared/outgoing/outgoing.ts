import type { LookupAddress } from "node:dns";
import { request as requestPlainly } from "node:http";
import { request as requestSecurely } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { secondMs } from "../durations.ts";
import { parseNetwork } from "../networks.ts";
import { mayReach } from "./addresses.ts";
import { type LookUp, openLookUp } from "./look-up.ts";
import { endless, notPublic, OutgoingProblem, problemOf, refused, tooLate } from "./problem.ts";
import { type OutgoingAnswer, readAnswer } from "./read-answer.ts";

// Requests to addresses that people or repositories gave. None reaches a network inside, unless the operator opened it.

/** A request, to be sent once: a redirect is an answer like others. */
export interface OutgoingRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** http or https. */
  url: string;
  headers?: Record<string, string>;
  body?: string;
  /** Default: true. */
  checksCertificate?: boolean;
}

export interface Outgoing {
  /** @throws OutgoingProblem */
  send(request: OutgoingRequest): Promise<OutgoingAnswer>;
  /** Looks up an address without a request to it. Undefined: requests may go there. */
  findProblem(url: string): Promise<OutgoingProblem | undefined>;
}

const requestMs = 10 * secondMs;
/** Such as 103, before the answer. Each takes time of this process. */
const maxInterimAnswers = 10;
/** A page waits for it. */
const lookMs = 2 * secondMs;

/** @param allowedNetworks CIDR ranges that are not public, and yet may be reached */
export function openOutgoing(
  allowedNetworks: readonly string[],
  { lookUp = openLookUp(), timeoutMs = requestMs }: { lookUp?: LookUp; timeoutMs?: number } = {},
): Outgoing {
  const allowed = allowedNetworks.map(parseNetwork);

  /** Looks up a name once. A request connects to these addresses, whatever the name becomes meanwhile. */
  async function resolve(url: URL, signal: AbortSignal): Promise<LookupAddress[]> {
    const literal = addressOf(url);
    const found = literal ? [literal] : await lookUp(url.hostname, signal);
    const reachable = found.filter(({ address }) => mayReach(address, allowed));
    if (reachable.length === 0) throw notPublic(url.hostname);
    return reachable;
  }

  return {
    async send(given) {
      const url = readUrl(given.url);
      requireHeaders(given.headers ?? {});
      return within(timeoutMs, url, async (signal) => {
        const addresses = await resolve(url, signal);
        signal.throwIfAborted();
        return exchange(url, given, { lookup: answerWith(addresses), signal });
      });
    },
    async findProblem(text) {
      try {
        const url = readUrl(text);
        await within(lookMs, url, (signal) => resolve(url, signal));
        return undefined;
      } catch (error) {
        if (error instanceof OutgoingProblem) return error;
        throw error;
      }
    },
  };
}

/** @throws OutgoingProblem */
function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw refused("The address must begin with https:// or http://");
  if (url.username || url.password) throw refused("The address must have no user name and no password");
  return url;
}

/** The address that stands in place of a name. The parser of URLs has written each form, such as 2130706433, as 127.0.0.1. */
function addressOf({ hostname }: URL): LookupAddress | undefined {
  const address = hostname.replace(/^\[|\]$/g, "");
  const family = isIP(address);
  return family === 0 ? undefined : { address, family };
}

/** @throws OutgoingProblem with the name of a header, never its value */
function requireHeaders(headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers))
    if (!/^[\w-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw refused(`The header ${JSON.stringify(name)} must be one line of text`);
}

function exchange(
  url: URL,
  { method, headers, body, checksCertificate = true }: OutgoingRequest,
  connection: { lookup: LookupFunction; signal: AbortSignal },
): Promise<OutgoingAnswer> {
  const isSecure = url.protocol === "https:";
  return new Promise((resolve, reject) => {
    const request = (isSecure ? requestSecurely : requestPlainly)(url, {
      ...connection,
      agent: false, // a connection of its own: a kept one was opened for another request
      method,
      headers: {
        "User-Agent": "Signalbox",
        "Accept-Encoding": "identity",
        ...(body !== undefined && { "Content-Length": String(Buffer.byteLength(body)) }),
        ...headers,
      },
      ...(isSecure && { rejectUnauthorized: checksCertificate }),
    });
    let interimAnswers = 0;
    request.on("information", () => {
      if (++interimAnswers > maxInterimAnswers) request.destroy(endless(url.host));
    });
    request.on("response", (response) => readAnswer(response).then(resolve, reject));
    request.on("error", reject);
    request.end(body);
  });
}

/** Connects a socket to these addresses, by the interface of `dns.lookup`. */
function answerWith(addresses: LookupAddress[]): LookupFunction {
  return (_hostname, { all }, callback) => {
    const [first] = addresses as [LookupAddress];
    if (all) callback(null, addresses);
    else callback(null, first.address, first.family);
  };
}

async function within<Result>(
  timeoutMs: number,
  { host }: URL,
  run: (deadline: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    return await Promise.race([run(deadline), rejectAt(deadline)]);
  } catch (error) {
    throw deadline.aborted ? tooLate(host, timeoutMs) : problemOf(error, host);
  }
}

function rejectAt(deadline: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    deadline.addEventListener("abort", () => reject(deadline.reason), { once: true });
  });
}
