import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import type { Sent } from "../recorder.ts";
import { openSender, type Story } from "./chapter.ts";

interface RunningJob {
  id: string;
  token: string;
  buildId: string;
  slug: string;
}

/** A running job leaves artifacts and annotations. */
export async function leftByJobs(story: Story, job: RunningJob): Promise<void> {
  await artifacts(story, job);
  await annotations(story, job);
}

/** Returns a sender of requests with the token of the job. */
function openJobSender({ recorder }: Story, { id, token }: RunningJob) {
  return (operation: string, summary: string, sent: Partial<Sent> = {}) =>
    recorder.send(operation, summary, { token, status: 200, ...sent, path: { id, ...sent.path } });
}

async function artifacts(story: Story, job: RunningJob): Promise<void> {
  const sendAsJob = openJobSender(story, job);
  const bytes = "42 tests passed\n";
  const batch = {
    id: randomUUID(),
    artifacts: [
      {
        path: "reports/tests.txt",
        absolute_path: "/builds/reports/tests.txt",
        glob_path: "reports/*",
        file_size: bytes.length,
        sha1sum: createHash("sha1").update(bytes).digest("hex"),
        sha256sum: createHash("sha256").update(bytes).digest("hex"),
        content_type: "text/plain",
      },
    ],
    upload_destination: "",
  };
  const { body } = await sendAsJob("announceArtifacts", "A report", { json: batch });
  await sendAsJob("announceArtifacts", "None", { json: { ...batch, artifacts: [] }, status: 422 });
  const [id] = body.artifact_ids;
  const reported = (state: string) => ({ artifacts: [{ id, state }] });
  const form = new FormData();
  for (const [name, value] of Object.entries<string>(body.upload_instructions.data))
    form.append(name, name === "path" ? "reports/tests.txt" : value);
  form.append("file", new Blob([bytes]), "tests.txt");
  const { action } = body.upload_instructions;
  const sent = await fetch(story.api.world.url + action.path, { method: action.method, body: form });
  assert.equal(sent.status, 200, await sent.text());
  await sendAsJob("reportArtifacts", "It is here", { json: reported("finished") });
  await sendAsJob("reportArtifacts", "It is here already", { json: reported("error"), status: 422 });
  await sendAsJob("searchArtifacts", "The reports", {
    path: { id: job.buildId },
    query: { query: "reports/*" },
  });

  const send = openSender(story, { ...story.org, slug: job.slug, number: "1", job: job.id, artifact: id });
  await send("listArtifacts", "A page of artifacts", { query: { state: "finished", path: "reports/*" } });
  await send("listArtifactsOfJob", "A page of artifacts");
  await send("listArtifactsOfJobById", "A page of artifacts");
  for (const place of ["", "ById", "OfBuild"]) {
    await send(`getArtifact${place}`, "An artifact");
    await send(`downloadArtifact${place}`, "Its address", { status: 302 });
  }
  await send("deleteArtifact", "No answer but the status", { status: 204 });
  await send("downloadArtifact", "It was deleted", { status: 410 });
  for (const place of ["ById", "OfBuild"])
    await send(`deleteArtifact${place}`, "It was deleted before", { status: 204 });
}

async function annotations(story: Story, job: RunningJob): Promise<void> {
  const sendAsJob = openJobSender(story, job);
  const body = "**Two** tests are [slow](https://example.com/slow)";
  const of = { context: "tests", style: "warning" };
  await sendAsJob("annotateFromJob", "A warning", { json: { body, ...of } });
  await sendAsJob("annotateFromJob", "More of it", { json: { body: ", one fails", ...of, append: true } });
  await sendAsJob("annotateFromJob", "No body", { json: { context: "empty" }, status: 400 });

  const send = openSender(story, { ...story.org, slug: job.slug, number: "1", job: job.id });
  await send("listAnnotations", "Of a build and its jobs", { query: { scope: "all" } });
  await sendAsJob("removeAnnotationFromJob", "By its context", { path: { context: "tests" } });
  const coverage = { context: "coverage", style: "info", priority: 5 };
  const json = { body: "Coverage: 91 %", ...coverage };
  const made = await send("createAnnotation", "Of a build", { json, status: 201 });
  await send("deleteAnnotation", "No answer but the status", {
    path: { annotation: made.body.id },
    status: 204,
  });
  for (const place of ["", "ById"]) {
    const { body } = await send(`createAnnotationOfJob${place}`, "Of a job", { json, status: 201 });
    await send(`listAnnotationsOfJob${place}`, "A page of annotations");
    const path = { annotation: body.id };
    await send(`deleteAnnotationOfJob${place}`, "No answer but the status", { path, status: 204 });
  }
}
