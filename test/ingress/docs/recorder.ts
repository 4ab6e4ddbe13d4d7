import assert from "node:assert/strict";
import type { Example, Examples } from "../../../ingress/docs/examples.ts";
import { type Answer, get, request } from "../../helpers/http.ts";
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
  readonly #url: string;
  readonly #operations: ReadonlyMap<string, Described>;
  readonly #samples: SampleValues;

  private constructor(url: string, operations: ReadonlyMap<string, Described>, frozenAt: Date) {
    this.#url = url;
    this.#operations = operations;
    this.#samples = new SampleValues(frozenAt);
  }

  static async open(url: string, frozenAt: Date): Promise<Recorder> {
    const { paths } = (await get(`${url}/openapi.json`)).body;
    const operations = new Map<string, Described>();
    for (const [path, methods] of Object.entries<Record<string, DescribedOperation>>(paths))
      for (const [method, { operationId, requestBody }] of Object.entries(methods)) {
        const mediaType = Object.keys(requestBody?.content ?? {})[0];
        operations.set(operationId, { method: method.toUpperCase(), path, mediaType });
      }
    return new Recorder(url, operations, frozenAt);
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
    const answer = await request(this.#url + filled + search, {
      method: operation.method,
      headers: {
        ...(body === undefined ? {} : { "Content-Type": operation.mediaType ?? "" }),
        ...(token ? { Authorization: `Bearer ${token}` } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    assert.equal(answer.status, status, `${id}: ${answer.text}`);

    this.#record(id, {
      summary,
      ...{ path, query, headers },
      body: form ?? json,
      answer: { status, body: answer.body },
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
