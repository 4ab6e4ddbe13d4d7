import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, request } from "../../helpers/http.ts";

// Calls as public clients make them: their order, paging and repetitions, and the members that they read.

const maxAttempts = 5;
const jobsAtOnce = 1000;

interface ScheduledJob {
  id: string;
  priority: number;
  agent_query_rules: string[];
  scheduled_at: string;
  pipeline: { slug: string; uuid: string };
  build: { uuid: string; number: number; branch: string };
  step: { key: string };
}

interface Registered {
  id: string;
  key: string;
  cluster_queue_key: string;
}

/** A call that a client gives up. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

type Shape = keyof typeof isOf | [Shape | Members] | { of: Shape };
interface Members {
  [name: string]: Shape | Members;
}

const registered: Members = {
  id: "text",
  organization_uuid: "text",
  cluster_queue_key: "text",
  key: "text",
  type: "text",
  metadata: { of: "text" },
  last_connected_on: "time",
  state: "text",
};
const scheduled: Members = {
  jobs: [
    {
      id: "text",
      priority: "number",
      agent_query_rules: "texts",
      scheduled_at: "time",
      pipeline: { slug: "text", uuid: "text" },
      build: { uuid: "text", number: "number", branch: "text" },
      // Null is read as empty.
      step: {},
    },
  ],
  cluster_queue: { id: "text", paused: "boolean" },
  page_info: { has_next_page: "boolean" },
};

/** Fails as a typed client does: a member that it reads is missing, or of another type. */
function assertShape(value: unknown, shape: Shape | Members, path = "body"): void {
  if (typeof shape === "string") {
    assert.ok(isOf[shape](value), path);
  } else if (Array.isArray(shape)) {
    assert.ok(Array.isArray(value), path);
    for (const each of value) assertShape(each, shape[0], `${path}[]`);
  } else {
    assert.ok(typeof value === "object" && value !== null, path);
    const members = value as Record<string, unknown>;
    if ("of" in shape && typeof shape.of === "string")
      for (const each of Object.values(members)) assertShape(each, shape.of, `${path}.*`);
    else
      for (const [name, member] of Object.entries(shape as Members))
        assertShape(members[name], member, `${path}.${name}`);
  }
}

const isOf = {
  text: (value: unknown) => typeof value === "string",
  number: Number.isInteger,
  boolean: (value: unknown) => typeof value === "boolean",
  time: (value: unknown) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(String(value)),
  texts: (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === "string"),
} as const;

/** A segment of a path: a dot is escaped, too. */
function segment(text: string): string {
  return encodeURIComponent(text).replaceAll(".", "%2E");
}

export interface Notification {
  job_uuid: string;
  detail: string;
  timestamp?: string;
}

/** The client of the Stacks API, and the controller's use of it. */
export class StackClient {
  readonly #url: string;
  readonly #token: string;
  readonly #pauseMs: number;
  stack: Registered | undefined;
  /** For the next page. */
  cursor = "";

  constructor(url: string, token: string, pauseMs = 10) {
    this.#url = url;
    this.#token = token;
    this.#pauseMs = pauseMs;
  }

  get key(): string {
    return this.stack?.key ?? "";
  }

  /** One attempt, whatever its answer. */
  send(method: string, path: string, body?: unknown): Promise<Answer> {
    return request(`${this.#url}/v3${path}`, {
      method,
      headers: {
        Authorization: `Token ${this.#token}`,
        Accept: "application/json",
        "Content-Type": "application/json",
        "User-Agent": "agent-stack-k8s/0.40.0 stackspi/v1.0.0",
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  }

  /** Repeats after 429, 5xx and lost answers. @throws Refused for any other refusal, which must be JSON with a message */
  async #call(
    method: string,
    path: string,
    { body, attempts = maxAttempts }: { body?: unknown; attempts?: number } = {},
  ): Promise<Answer["body"]> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.send(method, path, body).catch((error: unknown) => {
        if (attempt >= attempts) throw error;
        return undefined;
      });
      if (answer && answer.status < 300) return answer.body;
      const isRepeated = !answer || answer.status === 429 || answer.status >= 500;
      if (answer && (!isRepeated || attempt >= attempts)) {
        const { message } = JSON.parse(answer.text);
        assert.equal(typeof message, "string", answer.text);
        throw new Refused(answer.status, message);
      }
      await sleep(this.#pauseMs);
    }
  }

  async register(
    key: string,
    queueKey: string,
    { type = "kubernetes", metadata = {} }: { type?: string; metadata?: Record<string, string> } = {},
  ): Promise<Registered> {
    const body = { key, type, queue_key: queueKey, metadata };
    const answer = await this.#call("POST", "/stacks/register", { body });
    assertShape(answer, registered);
    this.stack = answer;
    return answer;
  }

  /** The controller starts with it. */
  async identity(): Promise<void> {
    const answer = await this.#call("GET", "/token");
    const names = ["uuid", "description", "token_type", "organization_slug", "organization_uuid"];
    assertShape(
      answer,
      Object.fromEntries([...names, "cluster_uuid", "cluster_name"].map((name) => [name, "text"])),
    );
    assert.notEqual(answer.cluster_uuid, "");
  }

  async deregister(): Promise<void> {
    await this.#call("POST", `/stacks/${segment(this.key)}/deregister`, { attempts: 1 });
  }

  async listScheduled(after = "", limit = 1000) {
    const query = new URLSearchParams({
      queue_key: this.stack?.cluster_queue_key ?? "",
      limit: String(limit),
    });
    if (after) query.set("after", after);
    const path = `/stacks/${segment(this.key)}/scheduled-jobs?${query}`;
    const page = await this.#call("GET", path, { attempts: 1 });
    assertShape(page, scheduled);
    return {
      jobs: page.jobs as ScheduledJob[],
      isPaused: page.cluster_queue.paused as boolean,
      hasNext: page.page_info.has_next_page as boolean,
      endCursor: (page.page_info.end_cursor ?? "") as string,
    };
  }

  /** As the controller polls: some pages, from where the last poll ended. */
  async poll({ pages = 2, limit = 1000 } = {}): Promise<ScheduledJob[]> {
    const jobs: ScheduledJob[] = [];
    for (let page = 0; page < pages; page++) {
      const read = await this.listScheduled(this.cursor, limit).catch((error: unknown) => {
        this.cursor = "";
        throw error;
      });
      this.cursor = read.endCursor;
      jobs.push(...read.jobs);
      if (!read.hasNext) break;
    }
    return jobs;
  }

  async reserve(ids: string[], seconds?: number): Promise<{ reserved: string[]; notReserved: string[] }> {
    const reserved: string[] = [];
    const notReserved: string[] = [];
    for (let start = 0; start < ids.length; start += jobsAtOnce) {
      const body = {
        job_uuids: ids.slice(start, start + jobsAtOnce),
        ...(seconds !== undefined && { reservation_expiry_seconds: seconds }),
      };
      const path = `/stacks/${segment(this.key)}/scheduled-jobs/batch-reserve`;
      const answer = await this.#call("PUT", path, { body, attempts: 1 });
      assertShape(answer, { reserved: "texts", not_reserved: "texts" });
      reserved.push(...answer.reserved);
      notReserved.push(...answer.not_reserved);
    }
    return { reserved, notReserved };
  }

  async getJob(id: string): Promise<{ env: Record<string, string>; command: string }> {
    const answer = await this.#call("GET", `/stacks/${segment(this.key)}/jobs/${segment(id)}`, {
      attempts: 1,
    });
    assertShape(answer, { id: "text", command: "text", env: { of: "text" } });
    return answer;
  }

  async states(ids: string[]): Promise<Record<string, string>> {
    const path = `/stacks/${segment(this.key)}/jobs/get-states`;
    const answer = await this.#call("POST", path, { body: { job_uuids: ids } });
    assertShape(answer, { states: { of: "text" } });
    return answer.states;
  }

  /** Absent: the server takes -1. */
  async finish(id: string, detail: string, exitStatus?: number): Promise<void> {
    const body = { detail, ...(exitStatus !== undefined && { exit_status: exitStatus }) };
    await this.#call("POST", `/stacks/${segment(this.key)}/jobs/${segment(id)}/finish`, { body });
  }

  async notify(notifications: Notification[]): Promise<{ error: string; indexes: number[] }[]> {
    const path = `/stacks/${segment(this.key)}/notifications`;
    const answer = await this.#call("POST", path, { body: { notifications }, attempts: 1 });
    assert.ok(Array.isArray(answer.errors));
    return answer.errors;
  }
}

/** The status and message of a refusal. */
export async function refusalOf(call: Promise<unknown>): Promise<[number, string]> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Refused) return [error.status, error.message];
    throw error;
  }
  throw new Error("It was not refused.");
}
