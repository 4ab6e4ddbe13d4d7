import { z } from "zod";
import {
  deleteJobLogs,
  type JobWithLogs,
  logOfAttempt,
  requireJobWithLogs,
} from "../../../shared/agents/logs/logs.ts";
import { type ReadableLog, readBytes } from "../../../shared/agents/logs/read.ts";
import { patterns } from "../../../shared/paths.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/process/services.ts";
import { notFound } from "../../../shared/refusal.ts";
import { api } from "../../../shared/urls.ts";
import { streamDownload } from "../../http/downloads.ts";
import { logDocument, logResponse } from "../../logs/document.tsx";
import { type Call, type Operation, operation } from "../../operations/operation.ts";
import { holderOf } from "../holder.ts";
import { atBothAddresses, findBuildOfCall } from "./address.ts";

const tag = "Builds";
const reading = { tag, scope: "read_build_logs" as const, methods: ["GET"] as ["GET"] };

const logSchema = z
  .object({
    url: z.url(),
    content: z.string().meta({ description: "As the job wrote it, with its control sequences" }),
    size: z.int().meta({ description: "Bytes of the content" }),
    header_times: z.array(z.int()).meta({ description: "Always empty" }),
  })
  .meta({ id: "JobLog" });

export function logOperations(services: Services): Operation[] {
  const { db, config } = services;

  const jobOf = async (call: Call<unknown>): Promise<JobWithLogs & { pipeline: PipelineFacts }> => {
    const { build, pipeline } = await findBuildOfCall(services, call);
    return { ...(await requireJobWithLogs(db, build, call.parameter("job"))), pipeline };
  };
  const logOf = (job: JobWithLogs): ReadableLog => {
    const readable = logOfAttempt(job);
    if (readable.log.evictedAt) throw notFound("job log");
    return readable;
  };
  const stream = ({ event, caller }: Call<unknown>, type: string, pieces: AsyncGenerator<Uint8Array>) => {
    return logResponse(type, streamDownload(event, holderOf(caller), pieces));
  };

  return [
    ...atBothAddresses([patterns.jobLog, patterns.jobLogById], {
      ...reading,
      id: "getJobLog",
      summary: "The log of a job's last attempt",
      success: { status: 200, schema: logSchema, description: "The log" },
      run: async (call) => {
        const job = await jobOf(call);
        const readable = logOf(job);
        const address = { org: call.caller.organization.slug, slug: job.pipeline.slug };
        const url = api.jobLog(config, { ...address, number: job.build.number }, readable.log.jobId);
        return stream(call, "application/json;charset=UTF-8", presentLog(url, readBytes(db, readable)));
      },
    }),
    operation({
      tag,
      scope: "write_build_logs",
      methods: ["DELETE"],
      path: patterns.jobLog,
      id: "deleteJobLog",
      summary: "Delete the logs of all attempts at a finished job",
      success: { status: 204, description: "The logs are deleted" },
      refusals: { 422: ["Log cannot be deleted: the job has not finished"] },
      run: async (call) => deleteJobLogs(services, call.actor, await jobOf(call)),
    }),
    ...atBothAddresses([patterns.jobLogText, patterns.jobLogTextById], {
      ...reading,
      id: "getJobLogText",
      summary: "The log of a job's last attempt as text/plain, byte for byte",
      success: { status: 200, mediaType: "text/plain", schema: z.string(), description: "The log" },
      run: async (call) => stream(call, "text/plain;charset=UTF-8", readBytes(db, logOf(await jobOf(call)))),
    }),
    ...atBothAddresses([patterns.jobLogHtml, patterns.jobLogHtmlById], {
      ...reading,
      id: "getJobLogHtml",
      summary: "The log of a job's last attempt as text/html, with class names for colors",
      success: { status: 200, mediaType: "text/html", schema: z.string(), description: "The log" },
      run: async (call) => stream(call, "text/html;charset=UTF-8", logDocument(db, logOf(await jobOf(call)))),
    }),
  ];
}

/** Writes the JSON of a log that may be too large for memory. */
async function* presentLog(url: string, pieces: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  let size = 0;
  yield Buffer.from(`{"url":${JSON.stringify(url)},"content":"`);
  for await (const piece of pieces) {
    size += piece.length;
    const text = inJson(decoder.decode(piece, { stream: true }));
    if (text !== "") yield Buffer.from(text);
  }
  yield Buffer.from(`${inJson(decoder.decode())}","size":${size},"header_times":[]}`);
}
