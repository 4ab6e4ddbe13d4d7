import { KeptConnection } from "../load/kept-connection.ts";

interface Call {
  method: "GET" | "POST" | "PUT";
  path: string;
  token: string;
  body?: Buffer;
  encoding?: "gzip";
}

const maxUnusedMs = 60_000;

/** A connection of an agent, which sends one call after the other. */
export class AgentConnection {
  #connection: KeptConnection;
  #usedAt = performance.now();
  readonly #address: URL;

  private constructor(connection: KeptConnection, address: URL) {
    this.#connection = connection;
    this.#address = address;
  }

  static async open(url: string): Promise<AgentConnection> {
    const address = new URL(url);
    return new AgentConnection(await KeptConnection.open(address), address);
  }

  /** The server closes connections that nothing used for 65 s. */
  async #reopenIfOld(): Promise<void> {
    if (performance.now() - this.#usedAt > maxUnusedMs) {
      this.#connection.close();
      this.#connection = await KeptConnection.open(this.#address);
    }
    this.#usedAt = performance.now();
  }

  /** @throws unless the answer is 200 or 201 */
  async call<Answer>({ method, path, token, body, encoding }: Call): Promise<Answer> {
    await this.#reopenIfOld();
    const lines = [
      `${method} ${path} HTTP/1.1`,
      `Host: ${this.#address.host}`,
      `Authorization: Token ${token}`,
      "User-Agent: bench",
      ...(body ? [`Content-Type: ${encoding ? "text/plain" : "application/json"}`] : []),
      ...(encoding ? [`Content-Encoding: ${encoding}`] : []),
      ...(method === "GET" ? [] : [`Content-Length: ${body?.length ?? 0}`]),
    ];
    const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`);
    const answer = await this.#connection.send(body ? Buffer.concat([head, body]) : head);
    const text = answer.body.toString("utf8");
    if (answer.status > 201) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
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
}

export async function register(url: string, registrationToken: string, index: number): Promise<Session> {
  const connection = await AgentConnection.open(url);
  const { access_token } = await connection.call<{ access_token: string }>({
    method: "POST",
    path: "/v3/register",
    token: registrationToken,
    body: json({ name: `bench-${index}`, hostname: "bench", version: "3.137.0", meta_data: [] }),
  });
  await connection.call({ method: "POST", path: "/v3/connect", token: access_token });
  return { connection, token: access_token };
}

/** Returns the job that the agent is offered. */
export async function ping({ connection, token }: Session): Promise<string | undefined> {
  const { job } = await connection.call<{ job?: { id: string } | null }>({
    method: "GET",
    path: "/v3/ping",
    token,
  });
  return job?.id;
}

export async function heartbeat({ connection, token }: Session): Promise<void> {
  const body = json({ sent_at: new Date().toISOString() });
  await connection.call({ method: "POST", path: "/v3/heartbeat", token, body });
}

export function accept({ connection, token }: Session, id: string): Promise<AcceptedJob> {
  return connection.call({ method: "PUT", path: `/v3/jobs/${id}/accept`, token });
}

export async function start({ connection }: Session, { id, token }: AcceptedJob): Promise<void> {
  const body = json({ started_at: new Date().toISOString() });
  await connection.call({ method: "PUT", path: `/v3/jobs/${id}/start`, token, body });
}

export async function finish({ connection }: Session, { id, token }: AcceptedJob): Promise<void> {
  const body = json({ exit_status: "0", finished_at: new Date().toISOString() });
  await connection.call({ method: "PUT", path: `/v3/jobs/${id}/finish`, token, body });
}

export async function runJob(session: Session, id: string): Promise<void> {
  const job = await accept(session, id);
  await start(session, job);
  await finish(session, job);
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
