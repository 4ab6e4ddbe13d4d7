import { type Command, Option } from "commander";
import { listBuilds } from "../../shared/builds/reading/list.ts";
import type { Build } from "../../shared/builds/rows/build-store.ts";
import { listBuildsOfDeliveries } from "../../shared/builds/rows/build-store.ts";
import { listPipelineNamesById } from "../../shared/pipelines/store.ts";
import { type Delivery, listDeliveriesPage } from "../../shared/triggers/deliveries/store.ts";
import { type BuildState, buildStates } from "../../shared/vocabulary.ts";
import { type Act, limitOption, newCommand, orgOption, parseId } from "./command.ts";
import { namedOrganization, namedPipeline, namedTrigger } from "./find.ts";

/** Lists of deliveries and of builds. */
export function workCommands(act: Act): Command[] {
  return [buildCommand(act), deliveryCommand(act)];
}

function buildCommand(act: Act): Command {
  const build = newCommand("build", "builds of pipelines");
  build
    .command("list")
    .description("list the newest builds of an organization, or of a pipeline")
    .requiredOption(...orgOption)
    .option("--pipeline <slug>", "only of this pipeline")
    .addOption(new Option("--state <state>", "only in this state").choices(buildStates))
    .option("--branch <branch>", "only of this branch")
    .option(...limitOption)
    .action(({ org, pipeline: slug, state, branch, limit }) =>
      act(async ({ db }) => {
        const { id } = await namedOrganization(db, org);
        const pipelineId = slug && (await namedPipeline(db, { org, pipeline: slug })).pipeline.id;
        const filter = {
          organizationId: id,
          pipelineId,
          states: state && [state as BuildState],
          branches: branch && [branch],
          includePaused: true,
        };
        const { rows } = await listBuilds(db, filter, { limit, offset: 0 });
        const pipelines = await listPipelineNamesById(db, [...new Set(rows.map((each) => each.pipelineId))]);
        const slugs = new Map(pipelines.map((each) => [each.id, each.slug]));
        return { builds: rows.map((each) => ({ pipeline: slugs.get(each.pipelineId), ...summary(each) })) };
      }),
    );
  return build;
}

function summary(build: Build) {
  const { number, state, branch, commit, message, source } = build;
  const { createdAt: created_at, startedAt: started_at, finishedAt: finished_at } = build;
  return { number, state, branch, commit, message, source, created_at, started_at, finished_at };
}

function deliveryCommand(act: Act): Command {
  const delivery = newCommand("delivery", "webhooks that triggers accepted");
  delivery
    .command("list")
    .description("list the newest deliveries of a trigger")
    .requiredOption("--trigger <id>", "the trigger's id", parseId)
    .option(...limitOption)
    .action(({ trigger: id, limit }) =>
      act(async ({ db }) => {
        const { trigger } = await namedTrigger(db, id);
        const rows = await listDeliveriesPage(db, trigger.id, { limit });
        const newest = rows.slice(0, limit);
        const builds = await listBuildsOfDeliveries(
          db,
          newest.map((each) => each.id),
        );
        return { deliveries: newest.map((each) => presented(each, builds)) };
      }),
    );
  return delivery;
}

function presented(delivery: Delivery, builds: Build[]) {
  return {
    id: delivery.id,
    received_at: delivery.receivedAt,
    event: delivery.event,
    external_id: delivery.externalId,
    status: delivery.status,
    reason: delivery.reason,
    bytes: delivery.size,
    builds: builds.filter(({ deliveryId }) => deliveryId === delivery.id).map(({ number }) => number),
  };
}
