import { hourMs, minuteMs } from "../durations.ts";
import type { Config } from "../process/config.ts";
import type { Setting } from "../process/settings/setting.ts";
import { defaultOf, settings } from "../process/settings/settings.ts";
import { rowBytes } from "../retention/records-store.ts";
import { stored, windows } from "./bounds.ts";

const mark = /(?<=<!-- hourly bytes -->\n).*(?=<!-- end of hourly bytes -->)/s;
const kb = 1024;
const gb = 1024 ** 3;

/** Variables, sealed, and a message. */
const textsOfBuild = 100 * kb;
/** Name, host, system, versions and user agent. */
const textsOfAgent = 10 * kb;

/** Each changed member with an excerpt of its values. */
const textsOfAuditEntry = 4 * kb;

const { jobs, metaData, tags } = stored;
/** A build and all that goes with it, each of its jobs retried, and no step shared. */
export const bytesOfBuild =
  rowBytes.build +
  textsOfBuild +
  2 * (jobs.max.bytes + jobs.max.jobs * rowBytes.job) +
  metaData.max.bytes +
  metaData.max.keys * rowBytes.metaData;
const bytesOfAuditEntry = rowBytes.auditEvent + textsOfAuditEntry;
const bytesOfAgent = rowBytes.agent + textsOfAgent + tags.max.bytes;

/** Puts the table of what an organization can add to the disk in an hour into a page, between its marks. */
export function withHourlyBytes(page: string): string {
  const { limit, windowMs } = windows.registrations;
  const registrations = (Number(limit) * hourMs) / windowMs;
  const deliveries = byDefault("deliveriesPerHour");
  const requests = (byDefault("apiRequestsPerMinute") * hourMs) / minuteMs;
  const rows = [
    ["builds of webhooks", "`DELIVERIES_PER_HOUR` × a build", deliveries * bytesOfBuild, "are made"],
    [
      "payloads of webhooks",
      "`DELIVERIES_PER_HOUR` × `MAX_PAYLOAD_BYTES`",
      deliveries * byDefault("maxPayloadBytes"),
      "are evicted, the oldest first",
    ],
    [
      "registrations of agents",
      `${registrations.toLocaleString("en")} × an agent`,
      registrations * bytesOfAgent,
      "are 422",
    ],
    [
      "builds, rebuilds and uploads of steps that somebody asks for",
      "`STORED_BYTES_PER_ORGANIZATION`",
      allBytes,
      "are 422",
    ],
    ["pipelines, triggers and secrets", "`STORED_BYTES_PER_ORGANIZATION`", allBytes, "are 422"],
    [
      "audit entries, of each access token",
      "60 × `API_REQUESTS_PER_MINUTE` × an entry",
      requests * bytesOfAuditEntry,
      "are made",
    ],
    ["artifacts", "`STORED_BYTES_PER_ORGANIZATION`", allBytes, "are evicted, the oldest first"],
    [
      "logs",
      "`STORED_BYTES_PER_ORGANIZATION`",
      allBytes,
      "are evicted, the oldest first; those of running jobs are not kept",
    ],
  ].map(([door, bound, bytes, atLimit]) => `| ${door} | ${bound} | ${inGb(bytes as number)} | ${atLimit} |`);
  const first = inGb(allBytes + deliveries * bytesOfBuild);
  const text = [
    "| What | Bound | In an hour | At the limit they |\n|---|---|---|---|",
    ...rows,
    `\nSo with default settings an organization takes at most ${first} in an hour, and what is counted late. At its limit it takes ${inGb(deliveries * bytesOfBuild)} in each further hour, by builds of webhooks and audit entries alone.`,
  ];
  return page.replace(mark, () => `\n${text.join("\n")}\n\n`);
}

const allBytes = settings.storedBytesPerOrganization.resolve(undefined, {
  PORT: 0,
  DATABASE_URL: "",
  PAYLOAD_BYTES_PER_ORGANIZATION: byDefault("payloadBytesPerOrganization"),
  LOG_BYTES_PER_ORGANIZATION: byDefault("logBytesPerOrganization"),
  ARTIFACT_BYTES_PER_ORGANIZATION: byDefault("artifactBytesPerOrganization"),
});

function byDefault(setting: keyof Config): number {
  return Number(defaultOf(settings[setting] as Setting<unknown, unknown>));
}

function inGb(bytes: number): string {
  return `${Number((bytes / gb).toFixed(1))} GB`;
}
