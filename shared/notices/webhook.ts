import { findOrganizationById } from "../accounts/organization-store.ts";
import { listUsersById } from "../accounts/user-store.ts";
import type { Build } from "../builds/rows/build-store.ts";
import { listLargeUnparsedPipelines } from "../pipelines/answer-store.ts";
import { presentBuilds } from "../presenters/load-builds.ts";
import { writePipeline } from "../presenters/pipeline.ts";
import { loadProviders } from "../presenters/provider.ts";
import type { Services } from "../services/services.ts";

/** The event as receivers know it: a build that is blocked has finished, until somebody unblocks it. */
export function eventNameOf(event: string): string {
  return event === "build.blocked" ? "build.finished" : event;
}

/**
 * Writes the body of a build's event as the hosted service sends it, from the present rows. Its sender is who made the
 * build, or its pipeline.
 */
export async function writeWebhookBody(
  services: Services,
  build: Build,
  event: string,
): Promise<string | undefined> {
  const { db, config, cipher } = services;
  const organization = await findOrganizationById(db, build.organizationId);
  const [pipeline] = await listLargeUnparsedPipelines(db, { ids: [build.pipelineId] });
  if (!organization || !pipeline) return undefined;
  const head = (await presentBuilds(services, organization, [build], () => pipeline.slug)).get(build.id);
  if (!head) return undefined;
  const senderId = build.creatorId ?? pipeline.createdById;
  const users = await listUsersById(db, [senderId, pipeline.createdById]);
  // Who knows the address of its webhook can make builds: no receiver gets it.
  const providers = await loadProviders(services, organization.id, []);
  const parts = await writePipeline({ config, cipher, users, providers }, organization, pipeline);
  const sender = { id: senderId, name: users.get(senderId)?.name ?? "" };
  const members = [
    ["event", JSON.stringify(eventNameOf(event))],
    ["build", JSON.stringify(head.members)],
    ["pipeline", parts.join("")],
    ["sender", JSON.stringify(sender)],
  ];
  return `{${members.map(([name, json]) => `"${name}":${json}`).join(",")}}`;
}
