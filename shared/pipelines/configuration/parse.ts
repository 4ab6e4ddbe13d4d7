import { isMap } from "../../collections.ts";
import { andMore, exactSize, excerpt, maxProblems, type Problem } from "../../refusal.ts";
import { describePosition } from "../../text-position.ts";
import { storedPipeline } from "../pipeline-document.ts";
import type { UploadedPipeline } from "../steps.ts";
import { parseYaml } from "./document.ts";
import { YamlProblem, YamlValues } from "./values.ts";

// The document of a pipeline as people write it, in YAML.

/** In bytes. To parse them takes about a tenth of a second, and three if they are made for it. */
export const maxConfigurationBytes = 128 * 1024;

export type YamlValue = { value: unknown } | { problem: string };

export type Configuration = { pipeline: UploadedPipeline } | { problems: Problem[] };

/**
 * Parses YAML 1.2 with merge keys into the document of a pipeline. Blocks the event loop: processes that serve others
 * use `readGivenSteps`.
 * @returns problems that say line and column: `configuration: line 3, column 5: …`
 */
export function parseConfiguration(text: string): Configuration {
  if (Buffer.byteLength(text) > maxConfigurationBytes)
    return refuse(`configuration is larger than ${exactSize(maxConfigurationBytes)}`);
  try {
    const repeated: [key: string, at: number][] = [];
    const values = new YamlValues(parseYaml(text), (key, at) => repeated.push([key, at]));
    const parsed = storedPipeline.safeParse(withSteps(values.value));
    if (parsed.success) return { pipeline: withRepeated(parsed.data, text, repeated) };
    const messages = parsed.error.issues.map(({ path, message }) =>
      message === andMore ? message : describe(text, values.locate(path), message),
    );
    return refuse(...messages);
  } catch (error) {
    if (error instanceof YamlProblem) return refuse(describe(text, error.at, error.message));
    // The parser enters nested lists before anybody can count them.
    if (error instanceof RangeError) return refuse("configuration is nested too deeply");
    throw error;
  }
}

/** Parses texts of YAML as `parseConfiguration` does, whatever they say. Blocks the event loop. */
export function parseValues(texts: string[]): YamlValue[] {
  return texts.map(parseValue);
}

function parseValue(text: string): YamlValue {
  try {
    return { value: new YamlValues(parseYaml(text)).value };
  } catch (error) {
    if (error instanceof YamlProblem)
      return { problem: `${describePosition(text, error.at)}: ${error.message}` };
    if (error instanceof RangeError) return { problem: "is nested too deeply" };
    throw error;
  }
}

/** Null steps are none, as an author leaves them who has not begun. */
function withSteps(value: unknown): unknown {
  return isMap(value) && value.steps === null ? { ...value, steps: [] } : value;
}

/** Says which values have no effect, because their key comes again. */
function withRepeated(
  pipeline: UploadedPipeline,
  text: string,
  repeated: [string, number][],
): UploadedPipeline {
  if (repeated.length === 0) return pipeline;
  const names = repeated
    .slice(0, maxProblems)
    .map(([key, at]) => `${excerpt(key)}, given again at ${describePosition(text, at)}`);
  return {
    ...pipeline,
    others: { ...pipeline.others, ...Object.fromEntries(names.map((name) => [name, true])) },
  };
}

function describe(text: string, at: number, message: string): string {
  return `configuration: ${describePosition(text, at)}: ${message}`;
}

function refuse(...messages: string[]): Configuration {
  return {
    problems: messages.map((message) => ({ field: "configuration", message })),
  };
}
