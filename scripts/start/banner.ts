import { patterns } from "../../shared/paths.ts";
import type { Config } from "../../shared/settings/config.ts";
import { api, endpointUrl } from "../../shared/settings/urls.ts";
import { readDefaults } from "../login/defaults.ts";
import { type Demo, demoOrganization, demoPipeline } from "../seed.ts";
import { type PushDemo, pushedPipeline } from "./push/prepare.ts";

const payload = '{"hello":"world"}';
const curl = "curl -sS -w '\\n'";
const json = "-H 'Content-Type: application/json'";
/** Commands in another terminal need them too. */
const sharedSettings = ["DATABASE_URL", "SECRET_KEY", "REDIS_URL", "REDIS_PREFIX"];

/** The commands, with the secrets of the demo. Only its owner reads it. */
export const demoTextFile = "data/demo.txt";
/** The variables of the README's commands. Only its owner reads it. */
export const demoEnvFile = "data/demo.env";

/** @param commands of a new demo; else they are in the file. Terminals and their logs are kept for long. */
export function banner(config: Config, demo: Demo | undefined, commands: string): string {
  const found = `The demo's password and token, and commands to try, are in ${demoTextFile}`;
  const rest = demo?.isNew
    ? [commands, `All this is in ${demoTextFile}, too. Later starts do not print it.`]
    : [found];
  return ["", ...addresses(config), "", ...(demo ? [...rest, "", ""] : [])].join("\n");
}

function addresses(config: Config): string[] {
  return [
    "Signalbox is running. Ctrl-C stops it.",
    "",
    `  Web page   ${config.appUrl}${patterns.home}`,
    `  REST API   ${config.baseUrl}${patterns.apiRoot}/`,
    `  Webhooks   ${endpointUrl(config, "<token>")}`,
    `  Health     ${config.baseUrl}${patterns.readyz}`,
  ];
}

/**
 * Commands are one line: easy to copy.
 * @param push a text says why nothing can be pushed
 * @param given names of settings set by hand
 */
export function demoCommands(
  config: Config,
  demo: Demo,
  { push, given }: { push: PushDemo | string | undefined; given: Set<string> },
): string {
  const pipeline = { org: demoOrganization, slug: demoPipeline };
  const { org, slug } = pipeline;
  const repeat = sharedSettings.filter((name) => given.has(name));
  const ofJob = (member: string) => `$(node -p "($job).${member}")`;
  const data = `${config.baseUrl}${patterns.jobData.replace(":id", ofJob("job_id"))}`;
  const newest = `${api.pipeline(config, pipeline)}/builds?per_page=1`;
  const build = api.build(config, pipeline, demo.nextBuild);

  const lines = [
    `The demo is the organization ${org} with the pipeline ${slug}; its user is ${demo.email}, password ${demo.password}`,
    "Try it in another terminal, in this folder:",
    "",
    "  Post a webhook, which becomes a build:",
    `    ${curl} ${json} -d '${payload}' '${endpointUrl(config, demo.triggerToken)}'`,
    "",
    "  Show the newest build:",
    `    ${curl} -H 'Authorization: Bearer ${demo.apiToken}' '${newest}'`,
    "",
    "  Read the payload back, as a step of that build does:",
    `    job=$(npm run -s admin -- job token --org ${org} --pipeline ${slug} --build ${demo.nextBuild})`,
    `    ${curl} ${json} -H "Authorization: Token ${ofJob("token")}" -d '{"key":"${config.serviceName}:webhook"}' "${data}/get"`,
    "",
    "  Print the log of that step, which the agent of npm start runs:",
    `    ${curl} -H 'Authorization: Bearer ${demo.apiToken}' "${build}/jobs/${ofJob("job_id")}/log.txt"`,
    "",
    ...pushCommands(config, demo, push),
    `  Sign in a device: it shows a code to enter in a browser, as ${demo.email} with the password ${demo.password}:`,
    `    ${loginCommand(config)}`,
    ...(repeat.length > 0
      ? ["", `  npm run admin needs the same ${repeat.join(", ")} as npm start was given.`]
      : []),
    "",
  ];
  return lines.join("\n");
}

/** A clone, a push, and the log of its build. */
function pushCommands(config: Config, demo: Demo, push: PushDemo | string | undefined): string[] {
  if (push === undefined) return [];
  if (typeof push === "string") return [`  A push would become a build too, but ${push}.`, ""];
  const pipeline = { org: demoOrganization, slug: pushedPipeline };
  const author = "-c user.name=Demo -c user.email=demo@example.com";
  const build = api.build(config, pipeline, push.nextBuild);
  return [
    "  Push a commit, which becomes a build of it:",
    `    git clone -q ${push.url} data/greeting && echo 'Hello from a push' > data/greeting/greeting.txt`,
    `    git -C data/greeting ${author} commit -qam 'Say more' && git -C data/greeting push -q`,
    "",
    "  Print its log, a moment later:",
    `    job=$(npm run -s admin -- job token --org ${pipeline.org} --pipeline ${pipeline.slug} --build ${push.nextBuild})`,
    `    ${curl} -H 'Authorization: Bearer ${demo.apiToken}' "${build}/jobs/$(node -p "($job).job_id")/log.txt"`,
    "",
  ];
}

/** For shells: `. data/demo.env`. */
export function demoVariables(config: Config, demo: Demo): string {
  return [
    `SIGNALBOX=${config.baseUrl}`,
    `WEBHOOK=${endpointUrl(config, demo.triggerToken)}`,
    `TOKEN=${demo.apiToken}`,
    "",
  ].join("\n");
}

/** Adds options for terminals without our settings. */
function loginCommand({ authUrl, baseUrl }: Config): string {
  const usual = readDefaults({}).server;
  const options = [
    ...(authUrl === usual ? [] : [`--server ${authUrl}`]),
    ...(baseUrl === authUrl ? [] : [`--api ${baseUrl}`]),
  ];
  return ["npm run login", ...(options.length > 0 ? ["--", ...options] : [])].join(" ");
}
