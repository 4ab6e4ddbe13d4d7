import assert from "node:assert/strict";
import type { Example, Examples } from "../../../ingress/docs/examples.ts";
import { secondMs } from "../../../shared/durations.ts";
import { type Answer, get, request } from "../../helpers/http.ts";
import type { World } from "../../helpers/world.ts";
import { SampleValues } from "./sample-values.ts";

interface Described {
  method: string;
  path: string;
  mediaType: string | undefined;
}

export interface Sent extends Pick<Example, "path" | "query" | "headers"> {
  token?: string;
  json?: unknown;
  form?: Record<string, string>;
  status: number;
}

/** Sends requests by the ids of their operations, and records the exchanges. */
export class Recorder {
  readonly examples: Examples = {};
  readonly #world: Pick<World, "url" | "clock">;
  readonly #operations: ReadonlyMap<string, Described>;
  readonly #samples: SampleValues;

  private constructor(world: Pick<World, "url" | "clock">, operations: ReadonlyMap<string, Described>) {
    this.#world = world;
    this.#operations = operations;
    this.#samples = new SampleValues(world.clock.now());
  }

  /** Expects a frozen clock. */
  static async open(world: Pick<World, "url" | "clock">): Promise<Recorder> {
    const { paths } = (await get(`${world.url}/openapi.json`)).body;
    const operations = new Map<string, Described>();
    for (const [path, methods] of Object.entries<Record<string, DescribedOperation>>(paths))
      for (const [method, { operationId, requestBody }] of Object.entries(methods)) {
        const mediaType = Object.keys(requestBody?.content ?? {})[0];
        operations.set(operationId, { method: method.toUpperCase(), path, mediaType });
      }
    return new Recorder(world, operations);
  }

  get operationIds(): string[] {
    return [...this.#operations.keys()];
  }

  async send(id: string, summary: string, sent: Sent): Promise<Answer> {
    const operation = this.#operations.get(id);
    assert.ok(operation, id);
    const { path = {}, query = {}, headers = {}, token, json, form, status } = sent;
    const filled = operation.path.replace(
      /\{([a-z]+)\}/g,
      (_, name: string) => path[name] ?? `missing-${name}`,
    );
    const search = Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : "";
    const body = form
      ? new URLSearchParams(form).toString()
      : json === undefined
        ? undefined
        : JSON.stringify(json);
    const answer = await request(this.#world.url + filled + search, {
      method: operation.method,
      redirect: "manual",
      headers: {
        ...(body === undefined ? {} : { "Content-Type": operation.mediaType ?? "" }),
        ...(token ? { Authorization: `Bearer ${token}` } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    assert.equal(answer.status, status, `${id}: ${answer.text}`);
    // Lists are in order of creation.
    this.#world.clock.advance(secondMs);

    this.#record(id, {
      summary,
      path,
      query,
      headers,
      body: form ?? json,
      answer: { status, body: answer.body ?? (answer.text || undefined) },
    });
    return answer;
  }

  /** Leaves out what is empty. */
  #record(id: string, example: Example): void {
    const present = Object.entries(example).filter(
      ([, value]) => value !== undefined && JSON.stringify(value) !== "{}",
    );
    this.examples[id] ??= [];
    this.examples[id].push(JSON.parse(JSON.stringify(this.#samples.replace(Object.fromEntries(present)))));
  }
}

interface DescribedOperation {
  operationId: string;
  requestBody?: { content: Record<string, unknown> };
}
