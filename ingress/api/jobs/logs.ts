import { z } from "zod";
import {
  deleteJobLogs,
  type JobWithLogs,
  logOfAttempt,
  requireJobWithLogs,
} from "../../../shared/agents/logs/logs.ts";
import { type ReadableLog, readBytes } from "../../../shared/agents/logs/read.ts";
import { measureText, readText } from "../../../shared/agents/logs/text.ts";
import { patterns } from "../../../shared/paths.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { api } from "../../../shared/settings/urls.ts";
import { longReads } from "../../../shared/sharing/resources.ts";
import { preferredType } from "../../http/content-type.ts";
import { admitDownload, minDownloadBytes, streamDownload } from "../../http/downloads.ts";
import { jsonType, setHeader } from "../../http/respond.ts";
import { readRange } from "../../http/transfers/range.ts";
import { logDocument, logResponse } from "../../logs/document.tsx";
import type { Call, Operation } from "../../operations/operation.ts";
import { holderOf } from "../holder.ts";
import { atBothAddresses, findBuildOfCall } from "./address.ts";

const tag = "Builds";
const textType = "text/plain;charset=UTF-8";
const htmlType = "text/html;charset=UTF-8";
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
  const stream = (
    { event, caller }: Call<unknown>,
    type: string,
    pieces: AsyncGenerator<Uint8Array>,
    more?: Parameters<typeof logResponse>[2],
  ) => logResponse(type, streamDownload(event, holderOf(caller), pieces), more);
  const answerJson = (call: Call<unknown>, job: JobWithLogs & { pipeline: PipelineFacts }) => {
    const readable = logOf(job);
    const address = { org: call.caller.organization.slug, slug: job.pipeline.slug };
    const url = api.jobLog(config, { ...address, number: job.build.number }, readable.log.jobId);
    return stream(call, jsonType, presentLog(url, readBytes(db, readable)));
  };
  const answerText = async (call: Call<unknown>, job: JobWithLogs) => {
    const readable = logOf(job);
    const headers: Record<string, string> = { "accept-ranges": "bytes" };
    const { method, headers: asked } = call.event.req;
    // Its length costs a look at all chunks.
    if (method !== "HEAD" && !asked.has("range"))
      return stream(call, textType, readBytes(db, readable), { headers });
    const { event, caller } = call;
    admitDownload(event, { ...holderOf(caller), bytes: minDownloadBytes });
    const text = await measureText(db, readable, (read) =>
      longReads.take(caller.organization.id, read, event.req.signal),
    );
    const range = readRange(event, text.length);
    const { start, end } = range ?? { start: 0, end: text.length };
    headers["content-length"] = String(end - start);
    if (range) headers["content-range"] = `bytes ${start}-${end - 1}/${text.length}`;
    const status = range ? 206 : 200;
    return stream(call, textType, readText(db, readable, text, { start, end }), { status, headers });
  };
  const answerHtml = (call: Call<unknown>, job: JobWithLogs) =>
    stream(call, htmlType, logDocument(db, logOf(job)));
  const answers = {
    "application/json": answerJson,
    "text/plain": answerText,
    "text/html": answerHtml,
  };

  return [
    ...atBothAddresses([patterns.jobLog, patterns.jobLogById], {
      ...reading,
      id: "getJobLog",
      summary:
        "The log of a job's last attempt, also as text/plain and text/html for those that accept these",
      success: { status: 200, schema: logSchema, description: "The log" },
      run: async (call) => {
        const types = ["application/json", "text/plain", "text/html"] as const;
        setHeader(call.event, "Vary", "Accept");
        // Clients ask for the size of the log. That of its JSON is known only once it is made.
        const type = call.event.req.method === "HEAD" ? "text/plain" : preferredType(call.event, types);
        return answers[type](call, await jobOf(call));
      },
    }),
    ...atBothAddresses([patterns.jobLog, patterns.jobLogById], {
      tag,
      scope: "write_build_logs",
      methods: ["DELETE"],
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
      run: async (call) => answerText(call, await jobOf(call)),
    }),
    ...atBothAddresses([patterns.jobLogHtml, patterns.jobLogHtmlById], {
      ...reading,
      id: "getJobLogHtml",
      summary: "The log of a job's last attempt as text/html, with class names for colors",
      success: { status: 200, mediaType: "text/html", schema: z.string(), description: "The log" },
      run: async (call) => answerHtml(call, await jobOf(call)),
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
