import { KeptConnection } from "../load/kept-connection.ts";
import { requestBytes } from "../load/request.ts";

interface Call {
  token: string;
  body?: object | Buffer;
  headers?: Record<string, string>;
}

/** The server closes connections that nothing used for 65 s. */
const maxUnusedMs = 60_000;

/** A connection of an agent, which sends one call after the other. */
export class AgentConnection {
  #connection: KeptConnection;
  #usedAt = performance.now();
  readonly #address: URL;
  readonly #headers: Record<string, string>;

  private constructor(connection: KeptConnection, address: URL, headers: Record<string, string>) {
    this.#connection = connection;
    this.#address = address;
    this.#headers = headers;
  }

  /** @param headers of all calls */
  static async open(url: string, headers: Record<string, string> = {}): Promise<AgentConnection> {
    const address = new URL(url);
    return new AgentConnection(await KeptConnection.open(address), address, headers);
  }

  /** @throws unless the answer is 200 or 201 */
  async call<Answer>(method: "GET" | "POST" | "PUT", path: string, call: Call): Promise<Answer> {
    await this.#reopenIfOld();
    const { token, body, headers = { "Content-Type": "application/json" } } = call;
    const request = requestBytes({
      method,
      url: new URL(path, this.#address).href,
      headers: {
        ...{ Authorization: `Token ${token}`, "User-Agent": "bench", ...this.#headers },
        ...(body ? headers : {}),
      },
      body: body === undefined || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    });
    const answer = await this.#connection.send(request);
    const text = answer.body.toString("utf8");
    if (answer.status > 201) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }

  async #reopenIfOld(): Promise<void> {
    if (performance.now() - this.#usedAt > maxUnusedMs) {
      this.#connection.close();
      this.#connection = await KeptConnection.open(this.#address);
    }
    this.#usedAt = performance.now();
  }

  close(): void {
    this.#connection.close();
  }
}

export interface Session {
  connection: AgentConnection;
  token: string;
}

export interface AcceptedJob {
  id: string;
  /** The token of the attempt. */
  token: string;
  env: Record<string, string>;
}

export async function register(url: string, registrationToken: string, index: number): Promise<Session> {
  const connection = await AgentConnection.open(url);
  const body = { name: `bench-${index}`, hostname: "bench", version: "3.137.0", meta_data: [] };
  const { access_token: token } = await connection.call<{ access_token: string }>("POST", "/v3/register", {
    token: registrationToken,
    body,
  });
  await connection.call("POST", "/v3/connect", { token });
  return { connection, token };
}

/** Returns the job that the agent is offered. */
export async function ping({ connection, token }: Session): Promise<string | undefined> {
  const answer = await connection.call<{ job?: { id: string } | null }>("GET", "/v3/ping", { token });
  return answer.job?.id;
}

export async function heartbeat({ connection, token }: Session): Promise<void> {
  await connection.call("POST", "/v3/heartbeat", { token, body: { sent_at: new Date().toISOString() } });
}

export function accept({ connection, token }: Session, id: string): Promise<AcceptedJob> {
  return connection.call("PUT", `/v3/jobs/${id}/accept`, { token });
}

export async function start({ connection }: Session, { token, id }: AcceptedJob): Promise<void> {
  const body = { started_at: new Date().toISOString() };
  await connection.call("PUT", `/v3/jobs/${id}/start`, { token, body });
}

export async function finish({ connection }: Session, { id, token }: AcceptedJob): Promise<void> {
  const body = { exit_status: "0", finished_at: new Date().toISOString() };
  await connection.call("PUT", `/v3/jobs/${id}/finish`, { token, body });
}

export async function runJob(session: Session, id: string): Promise<void> {
  const job = await accept(session, id);
  await start(session, job);
  await finish(session, job);
}
