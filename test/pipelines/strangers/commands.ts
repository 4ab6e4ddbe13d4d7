import assert from "node:assert/strict";
import { hash, randomUUID } from "node:crypto";
import type { PublicAgent } from "../../agents/public-agent.ts";
import type { ScriptedAgent } from "../../helpers/agent.ts";

/** A job whose command has begun. */
export interface BegunJob {
  id: string;
  token: string;
  env: Record<string, string>;
  step?: { secrets?: { key: string; environment_variable: string }[] };
}

/** The value of each secret of a cluster. */
export const valueOfSecret = (key: string) => `value of ${key.toLowerCase()}`;

/** The number of artifacts that the commands of a site have left, by build. */
export type Left = Map<string, number>;

/**
 * Does what an agent and its command do through the wire. Of a command, those lines count that call the agent's program
 * in a job; each has to succeed.
 */
export async function runCommand(
  agent: ScriptedAgent,
  { wire, left }: { wire: PublicAgent; left: Left },
  job: BegunJob,
): Promise<void> {
  const { id, token, env, step } = job;
  const buildId = env.BUILDKITE_BUILD_ID as string;
  const call = async (method: string, path: string, body?: unknown) => {
    const { status, text, body: answered } = await agent.send(method, path, body, token);
    assert.equal(status, 200, `${method} ${path}: ${text}`);
    return answered;
  };

  const readSecret = async (key: string) => {
    const { value } = await call("GET", `/jobs/${id}/secrets?key=${encodeURIComponent(key)}`);
    assert.equal(value, valueOfSecret(key));
  };
  const upload = async (patterns: string) => {
    const paths = patterns.split(";").map((pattern) => fit(pattern.trim()));
    const files = paths.map((path) => ({ path, bytes: Buffer.from(`${path} of ${id}`) }));
    const artifacts = files.map(({ path, bytes }) => ({
      path,
      absolute_path: `/builds/${path}`,
      file_size: bytes.length,
      sha1sum: hash("sha1", bytes),
    }));
    const batch = { id: randomUUID(), artifacts, upload_destination: "" };
    const { artifact_ids: ids, upload_instructions: form } = await call(
      "POST",
      `/jobs/${id}/artifacts`,
      batch,
    );
    for (const file of files) assert.equal((await wire.sendArtifact(form, file)).status, 200);
    const finished = ids.map((each: string) => ({ id: each, state: "finished" }));
    await call("PUT", `/jobs/${id}/artifacts`, { artifacts: finished });
    left.set(buildId, (left.get(buildId) ?? 0) + files.length);
  };
  const download = async (
    query: string,
    { step: scope, build = buildId }: Record<string, string | undefined>,
  ) => {
    const search = new URLSearchParams({ query, state: "finished", ...(scope && { scope }) });
    const found = await call("GET", `/builds/${build}/artifacts/search?${search}`);
    assert.ok(found.length > 0, `${query} is found`);
    for (const { url, path, job_id } of found)
      assert.equal((await wire.download(url)).text, `${path} of ${job_id}`);
  };

  const programs: Record<string, (words: string[], options: Record<string, string>) => Promise<unknown>> = {
    "artifact upload": ([patterns = ""]) => upload(patterns),
    "artifact download": ([query = ""], options) => download(query, options),
    annotate: ([body], { priority, append, ...members }) =>
      call("POST", `/jobs/${id}/annotations`, {
        context: "default",
        ...members,
        body,
        append: append !== undefined,
        ...(priority && { priority: Number(priority) }),
      }),
    "annotation remove": (_, { context = "default" }) =>
      call("DELETE", `/jobs/${id}/annotations/${encodeURIComponent(context)}?scope=build`),
    "meta-data set": ([key, value]) => call("POST", `/jobs/${id}/data/set`, { key, value }),
    "meta-data get": ([key]) => call("POST", `/jobs/${id}/data/get`, { key }),
    "secret get": async (keys) => {
      for (const key of keys) await readSecret(key);
    },
    "oidc request-token": async (_, { audience, claim }) => {
      const asked = { audience, ...(claim && { claims: [claim] }) };
      assert.ok((await call("POST", `/jobs/${id}/oidc/tokens`, asked)).token);
    },
  };

  for (const { key } of step?.secrets ?? []) await readSecret(key);
  for (const line of (env.BUILDKITE_COMMAND ?? "").split("\n")) {
    const [program, ...words] = split(line, env);
    if (program !== "buildkite-agent") continue;
    const [first = "", second = ""] = words;
    const name = programs[first] ? first : `${first} ${second}`;
    const run = programs[name] ?? assert.fail(`no stand-in for ${line}`);
    const { others, options } = parse(words.slice(name.split(" ").length));
    await run(others, options);
  }
  if (env.BUILDKITE_ARTIFACT_PATHS) await upload(env.BUILDKITE_ARTIFACT_PATHS);
}

/** A path that a pattern of an agent matches. */
function fit(pattern: string): string {
  return pattern
    .replaceAll("**/", "a/b/")
    .replaceAll(/\*+/g, "c")
    .replaceAll(/[{}[\]?]/g, "d");
}

/** Words as a shell reads them, with variables of the job. A `$` that was written twice is one. */
function split(line: string, env: Record<string, string>): string[] {
  const words = line.trim().match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  return words.map((word) => {
    const text = word.replace(/^(["'])(.*)\1$/, "$2");
    return text.replaceAll(/\$+\{?([A-Z_]+)\}?/g, (_, name: string) => env[name] ?? "");
  });
}

function parse(words: string[]): { others: string[]; options: Record<string, string> } {
  const others: string[] = [];
  const options: Record<string, string> = {};
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (word === "--append") options.append = "";
    else if (word.startsWith("--")) options[word.slice(2)] = left.shift() ?? "";
    else others.push(word);
  }
  return { others, options };
}
