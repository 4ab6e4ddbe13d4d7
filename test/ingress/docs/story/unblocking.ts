import { openSender, type Story } from "./chapter.ts";

/** A release waits for somebody, twice. */
export async function unblocking(story: Story): Promise<void> {
  const { api, org } = story;
  const field = { text: "Version", key: "version", format: "[0-9.]+" };
  const steps = [
    { block: "Release", key: "release", fields: [field] },
    { command: "make release", agents: { queue: "default" } },
    { input: "Announcement", depends_on: [], fields: [{ text: "Words", key: "words", required: false }] },
  ];
  const { id, slug } = await api.newPipeline({ name: "Releases", steps });
  await api.build(id);
  const send = openSender(story, { ...org, slug });
  const { body } = await send("getBuild", "A build that waits for somebody", { path: { number: "1" } });
  const [release, , announcement] = body.jobs;
  const job = { number: "1", job: release.id };
  await send("unblockJob", "The values of its fields", { path: job, json: { fields: { version: "1.2" } } });
  await send("unblockJob", "It is unblocked already", { path: job, json: {}, status: 422 });
  await send("unblockJobById", "Without values", { path: { job: announcement.id }, json: {} });
}
