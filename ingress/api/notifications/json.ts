import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { User } from "../../../shared/accounts/user-store.ts";
import { presentMembers, shownOf } from "../../../shared/members/answers.ts";
import { notificationServiceMembers } from "../../../shared/notifications/members.ts";
import { secretOf } from "../../../shared/notifications/notification-services.ts";
import { providerFacts } from "../../../shared/notifications/settings.ts";
import type { NotificationService } from "../../../shared/notifications/store.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { presentUserById, userSchema } from "../../../shared/presenters/user.ts";
import type { Services } from "../../../shared/services/services.ts";
import { api } from "../../../shared/settings/urls.ts";
import { serviceProviders } from "../../../shared/vocabulary.ts";

export const notificationServiceSchema = z
  .object({
    id: field.id,
    graphql_id: z.null().meta({ description: "Always null: GraphQL has no such resource here" }),
    url: field.url,
    provider: z.object({ id: z.enum(serviceProviders), name: z.string() }),
    enabled: z.boolean(),
    ...shownOf(notificationServiceMembers),
    created_at: field.timestamp,
    created_by: userSchema.nullable(),
  })
  .meta({ id: "NotificationService" });

/** Has the token of a webhook, by which receivers verify requests, and never the address of a chat. */
export function presentNotificationService(
  { config, cipher }: Pick<Services, "config" | "cipher">,
  { slug }: Organization,
  service: NotificationService,
  users: ReadonlyMap<string, User>,
) {
  const { id, provider, enabled, createdAt, createdById } = service;
  const members = presentMembers(notificationServiceMembers, service);
  const token = provider === "webhook" ? { token: secretOf({ cipher }, service) } : {};
  return {
    id,
    graphql_id: null,
    url: api.service(config, slug, id),
    provider: { id: provider, name: providerFacts[provider].name },
    enabled,
    ...members,
    settings: { ...service.settings, ...token },
    created_at: createdAt,
    created_by: presentUserById(config, users, createdById),
  };
}
