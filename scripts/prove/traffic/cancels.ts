import { pathTo, patterns } from "../../../shared/paths.ts";
import { between, pick } from "../random.ts";
import type { Lane } from "./lane.ts";

/** Builds this far back may still run. */
const maxBack = 12;

/** Cancels a recent build, or its trigger step, now and then, over REST. */
export async function cancelBuilds(lane: Lane): Promise<void> {
  const { slug: org, pipelineSlugs } = lane.installation.organization;
  const last = new Map<string, number>();
  const findTrigger = async (path: string): Promise<string | undefined> => {
    const read = await lane.send(path, { name: "read" });
    const jobs: { id: string; type: string }[] = read.status === 200 ? read.body.jobs : [];
    return jobs.find(({ type }) => type === "trigger")?.id;
  };
  while (!lane.signal.aborted) {
    await lane.pause(between(lane.random, 400, 1600));
    const slug = pick(lane.random, pipelineSlugs);
    const list = pathTo(patterns.pipelineBuilds, { org, slug });
    const listed = await lane.send(`${list}?per_page=1`, { name: "list" });
    if (listed.status === 200) last.set(slug, listed.body[0]?.number ?? 0);
    const number = (last.get(slug) ?? 0) - lane.random(maxBack);
    if (number < 1) continue;
    const build = { org, slug, number: String(number) };
    const job = lane.random(2) === 0 ? undefined : await findTrigger(pathTo(patterns.build, build));
    const path = job ? pathTo(patterns.cancelJob, { ...build, job }) : pathTo(patterns.cancelBuild, build);
    await lane.send(path, { name: "cancel", method: "PUT" }, lane.observed.cancels);
  }
}
