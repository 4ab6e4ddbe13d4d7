import { Agent, request } from "node:http";

export interface Request {
  method: string;
  /** As on the wire. */
  target: string;
  headers: Record<string, string | string[]>;
  body?: Buffer | undefined;
}

export interface Response {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** Ends a request that hangs. */
const patienceMs = 60_000;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/**
 * Sends a request, also one that `fetch` would mend or refuse.
 * @throws Error when the server closes the connection without an answer, or does not answer
 */
export function send(url: string, { method, target, headers, body }: Request): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const { hostname, port } = new URL(url);
  const signal = AbortSignal.timeout(patienceMs);
  const sent = request({ hostname, port, method, path: target, headers, agent, signal }, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk) => chunks.push(chunk));
    response.on("error", reject);
    response.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
    });
  });
  sent.on("error", reject);
  sent.end(body);
  return promise;
}

/** For messages of failed tests, with the bodies cut. */
export function describeExchange({ method, target, headers, body }: Request, response?: Response): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value).slice(0, 200)}`);
  const answer = response ? `${response.status} ${response.text.slice(0, 1000)}` : "no answer";
  const sent = [`${method} ${target.slice(0, 500)}`, ...lines, "", body?.toString().slice(0, 1000) ?? ""];
  return `${sent.join("\n")}\n→ ${answer}`;
}
