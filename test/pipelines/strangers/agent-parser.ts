type Given = Record<string, unknown>;

/** Brings a pipeline into the form in which agents since v3.40 send it. They know these members, and pass the others on. */
export function sendSteps(document: unknown): Given {
  const pipeline = Array.isArray(document) ? { steps: document } : (document as Given);
  const { steps, env, secrets } = pipeline;
  return {
    ...pipeline,
    steps: ((steps ?? []) as unknown[]).map(sendStep),
    ...(isMap(env) && { env: textsOf(env) }),
    ...(secrets != null && { secrets: sendSecrets(secrets) }),
  };
}

function sendStep(given: unknown): unknown {
  if (!isMap(given)) return given;
  if ("group" in given) return sendGroup(given);
  if (["command", "commands", "plugins"].some((name) => name in given)) return sendCommand(given);
  return given;
}

function sendGroup({ label, name, group, steps, ...others }: Given): Given {
  return {
    ...others,
    group: group ?? label ?? name ?? null,
    steps: ((steps ?? []) as unknown[]).map(sendStep),
  };
}

function sendCommand(given: Given): Given {
  const {
    command,
    commands,
    id,
    identifier,
    key,
    name,
    label,
    plugins,
    env,
    matrix,
    secrets,
    if_changed,
    ...others
  } = given;
  const run = command ?? commands;
  const called = { key: key ?? id ?? identifier, label: label ?? name };
  return {
    ...others,
    ...(called.key != null && { key: called.key }),
    ...(called.label != null && { label: called.label }),
    ...(run != null && { command: Array.isArray(run) ? run.join("\n") : run }),
    ...(plugins != null && { plugins: sendPlugins(plugins) }),
    ...(isMap(env) && { env: textsOf(env) }),
    ...(matrix != null && { matrix: textOf(matrix) }),
    ...(secrets != null && { secrets: sendSecrets(secrets) }),
  };
}

function sendPlugins(plugins: unknown): Given[] {
  const listed = Array.isArray(plugins) ? plugins : [plugins];
  return listed.flatMap((plugin: unknown) =>
    isMap(plugin)
      ? Object.entries(plugin).map(([source, config]) => ({ [fullSource(source)]: config }))
      : [{ [fullSource(String(plugin))]: null }],
  );
}

/** `docker#v5` is short for a repository, and so is `someone/docker#v5`. */
function fullSource(source: string): string {
  if (/^[./~\\]|:\/\/|@/.test(source)) return source;
  const [name = "", version] = source.split("#");
  const parts = name.split("/");
  if (parts.length > 2) return source;
  const [owner, plugin] = parts.length === 2 ? parts : ["buildkite-plugins", ...parts];
  return `github.com/${owner}/${plugin}-buildkite-plugin${version === undefined ? "" : `#${version}`}`;
}

function sendSecrets(secrets: unknown): unknown {
  const asSecret = (key: unknown, variable: unknown) => ({ key, environment_variable: variable });
  if (isMap(secrets)) return Object.entries(secrets).map(([variable, key]) => asSecret(key, variable));
  return (secrets as unknown[]).map((each) => (isMap(each) ? each : asSecret(each, each)));
}

function textsOf(values: Given): Given {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, textOf(value ?? "")]));
}

/** Numbers become text. `skip` and `soft_fail` of a matrix stay what they are. */
function textOf(value: unknown, name = ""): unknown {
  if (name === "skip" || name === "soft_fail") return value;
  if (Array.isArray(value)) return value.map((each) => textOf(each));
  if (isMap(value))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, textOf(each, key)]));
  return String(value);
}

function isMap(value: unknown): value is Given {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
