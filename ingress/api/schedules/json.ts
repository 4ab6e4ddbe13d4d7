import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { User } from "../../../shared/accounts/user-store.ts";
import { presentMembers, shownOf } from "../../../shared/members/answers.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { graphqlId } from "../../../shared/presenters/graphql-id.ts";
import { presentUserById, userSchema } from "../../../shared/presenters/user.ts";
import { type ShownSchedule, scheduleMembers } from "../../../shared/schedules/members.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { api } from "../../../shared/settings/urls.ts";

export const scheduleSchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    url: field.url,
    ...shownOf(scheduleMembers),
    next_build_at: field.timestamp.nullable().meta({ description: "Null: it is disabled" }),
    failed_message: z
      .string()
      .nullable()
      .meta({ description: "Why its last time made no build; null if it made one" }),
    failed_at: field.timestamp.nullable(),
    created_at: field.timestamp,
    created_by: userSchema,
    pipeline: z.object({ id: field.id, slug: z.string(), url: field.url }),
  })
  .meta({ id: "Schedule" });

export function presentSchedule(
  config: Config,
  { slug: org }: Organization,
  schedule: ShownSchedule & { pipeline: { id: string; slug: string } },
  users: ReadonlyMap<string, User>,
) {
  const { id, pipeline } = schedule;
  const address = { org, slug: pipeline.slug };
  return {
    id,
    graphql_id: graphqlId("PipelineSchedule", id),
    url: api.schedule(config, address, id),
    ...presentMembers(scheduleMembers, schedule),
    next_build_at: schedule.nextBuildAt,
    failed_message: schedule.failedMessage,
    failed_at: schedule.failedAt,
    created_at: schedule.createdAt,
    created_by: presentUserById(config, users, schedule.createdById),
    pipeline: { id: pipeline.id, slug: pipeline.slug, url: api.pipeline(config, address) },
  };
}
