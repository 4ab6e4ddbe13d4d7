import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { openApi } from "../../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { request } from "../../../helpers/http.ts";

type Kind = "query" | "body" | "answer";
// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document
type Described = any;

/** Members that the hosted service documents: a page, a kind of members, an operation with `{}` for parameters, the members. */
const documented = readFileSync(join(import.meta.dirname, "members.txt"), "utf8")
  .trim()
  .split("\n")
  .map((line) => {
    const [page = "", kind = "", method = "", path = "", names = ""] = line.split(" ");
    return { page, kind: kind as Kind, operation: `${method} ${path}`, names: names.split(",") };
  });

/** The rows of the page that says what differs: `page kind name`. */
const listed = readFileSync(join(import.meta.dirname, "../../../../ingress/DIFFERENCES.md"), "utf8")
  .split("\n")
  .flatMap((line) => {
    const [, page = "", kind = "", names = ""] = line.split("|").map((cell) => cell.trim());
    const named = [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => `${page} ${kind} ${name}`);
    return ["query", "body", "answer"].includes(kind) ? named : [];
  });

describeWorldOn(sqlite, "the members that the hosted service documents", openApi, (api) => {
  it("are here, or on the page of differences, which has no others", async () => {
    const { body: document } = await request(`${api.world.url}/openapi.json`);
    const ours = operationsOf(document);

    const missing = documented.flatMap(({ page, kind, operation, names }) => {
      const here = ours.get(operation);
      assert.ok(here, operation);
      const isHere = (name: string) => here[kind].has(name.split(".")[0] as string);
      return names.filter((name) => !isHere(name)).map((name) => `${page} ${kind} ${name}`);
    });

    assert.deepEqual([...new Set(missing)].sort(), [...listed].sort());
  });
});

function operationsOf(document: Described): Map<string, Record<Kind, Set<string>>> {
  const operations = Object.entries<Described>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Described>(methods).map(([method, operation]) => {
      const { parameters = [], requestBody, responses } = operation;
      const query = parameters.map(resolve).filter((each: Described) => each.in === "query");
      const answers = Object.entries<Described>(responses).filter(([status]) => status.startsWith("2"));
      const members = {
        query: new Set<string>(query.map(({ name }: { name: string }) => name)),
        body: membersOf(requestBody),
        answer: new Set(answers.flatMap(([, answer]) => [...membersOf(resolve(answer))])),
      };
      return [`${method.toUpperCase()} ${path.replace(/\{\w+\}/g, "{}")}`, members] as const;
    }),
  );
  return new Map(operations);

  function membersOf(message: Described): Set<string> {
    const schemas = Object.values<Described>(message?.content ?? {}).map(({ schema }) => schema);
    return new Set(schemas.flatMap((schema) => namesOf(schema)));
  }

  /** The members of an object, of the items of a list, and of each choice. */
  function namesOf(given: Described, depth = 0): string[] {
    if (depth > 5 || typeof given !== "object" || given === null) return [];
    const schema = resolve(given);
    const parts = [schema.items, ...["anyOf", "oneOf", "allOf"].flatMap((key) => schema[key] ?? [])];
    return [...Object.keys(schema.properties ?? {}), ...parts.flatMap((part) => namesOf(part, depth + 1))];
  }

  function resolve(given: Described): Described {
    if (!given.$ref) return given;
    const found = given.$ref.slice(2).split("/");
    return resolve(found.reduce((at: Described, key: string) => at[key], document));
  }
}
