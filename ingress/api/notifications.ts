import { z } from "zod";
import { readSound } from "../../shared/members/bodies.ts";
import {
  newNotificationService,
  notificationServiceChange,
  notificationServiceMembers,
} from "../../shared/notifications/members.ts";
import {
  createNotificationService,
  deleteNotificationService,
  newServiceProblems,
  requireNotificationService,
  secretOf,
  serviceChangeProblems,
  setServiceEnabled,
  updateNotificationService,
} from "../../shared/notifications/notification-services.ts";
import { providerFacts } from "../../shared/notifications/settings.ts";
import { listNotificationServicesFrom, type NotificationService } from "../../shared/notifications/store.ts";
import { patterns } from "../../shared/paths.ts";
import * as field from "../../shared/presenters/fields.ts";
import { userSchema } from "../../shared/presenters/user.ts";
import type { Services } from "../../shared/services/services.ts";
import { api } from "../../shared/settings/urls.ts";
import { serviceProviders } from "../../shared/vocabulary.ts";
import { type Operation, operation } from "../operations/operation.ts";
import { type Answer, answerOf, created, declared, user } from "./resources/answer.ts";
import { resourceOperations } from "./resources/operations.ts";

const serviceAnswer = answerOf<NotificationService>("NotificationService", {
  id: [field.id, ({ id }) => id],
  graphql_id: [z.null().meta({ description: "Always null: GraphQL has no such resource here" }), () => null],
  url: [field.url, ({ id }, { config, org }) => api.service(config, org, id)],
  provider: [
    z.object({ id: z.enum(serviceProviders), name: z.string() }),
    ({ provider: id }) => ({ id, name: providerFacts[id].name }),
  ],
  enabled: [z.boolean(), ({ enabled }) => enabled],
  ...declared(notificationServiceMembers),
  created_at: created.created_at,
  created_by: user(({ createdById }) => createdById, userSchema.nullable()),
});

/** The notification services of an organization. */
export function notificationServiceOperations(services: Services): Operation[] {
  const { db } = services;
  /** Has the token of a webhook, by which receivers verify requests, and never the address of a chat. */
  const json: Answer<NotificationService> = {
    ...serviceAnswer,
    present: (service, context) => {
      const token = service.provider === "webhook" ? { token: secretOf(services, service) } : {};
      return serviceAnswer.present({ ...service, settings: { ...service.settings, ...token } }, context);
    },
  };
  const { operations, writing, find, presentOne } = resourceOperations(services, {
    tag: "Notification services",
    scopes: { reading: "read_notification_services", writing: "write_notification_services" },
    isForAdmins: true,
    paths: { list: patterns.services, one: patterns.service },
    json,
    ownerOf: async ({ caller }) => caller.organization,
    find: ({ id }, { parameter }) => requireNotificationService(db, id, parameter("service")),
    list: {
      id: "listNotificationServices",
      summary: "The notification services of an organization, oldest first",
      answer: "A page of notification services",
      readFrom: ({ id }, page) => listNotificationServicesFrom(db, id, page),
      isOldestFirst: true,
    },
    create: {
      id: "createNotificationService",
      summary: "Create a notification service",
      answer: "The new notification service",
      body: newNotificationService,
      run: async ({ actor, readBody }) => {
        const input = await readBody((sound: Record<string, unknown>) => {
          const known = readSound(notificationServiceMembers, "create", sound) as never;
          return newServiceProblems(services, db, actor, known);
        });
        return createNotificationService(services, actor, input);
      },
    },
    get: {
      id: "getNotificationService",
      summary: "A notification service",
      answer: "The notification service",
    },
    update: {
      id: "updateNotificationService",
      summary: "Change a notification service; absent members, settings and states stay",
      answer: "The changed notification service",
      methods: ["PATCH"],
      body: notificationServiceChange,
      run: async ({ actor, readBody }, service) => {
        const change = await readBody((sound: Record<string, unknown>) =>
          serviceChangeProblems(db, service, readSound(notificationServiceMembers, "change", sound) as never),
        );
        return updateNotificationService(services, actor, service, change);
      },
    },
    delete: {
      id: "deleteNotificationService",
      summary: "Delete a notification service; what waits for it is dropped",
      answer: "The notification service is gone",
      run: ({ actor }, service) => deleteNotificationService(services, actor, service),
    },
  });
  const switching = (enabled: boolean, words: Pick<Operation, "path" | "id" | "summary">, answer: string) =>
    operation({
      ...writing,
      ...words,
      methods: ["PUT"],
      success: { status: 200, schema: json.schema, description: answer },
      run: async (call) =>
        presentOne(call, await setServiceEnabled(services, call.actor, await find(call), enabled)),
    });

  return [
    ...operations,
    switching(
      true,
      {
        path: patterns.enableService,
        id: "enableNotificationService",
        summary: "Enable a notification service; one that failed is tried again at once",
      },
      "The enabled notification service",
    ),
    switching(
      false,
      {
        path: patterns.disableService,
        id: "disableNotificationService",
        summary: "Disable a notification service; what waits for it is dropped when its turn comes",
      },
      "The disabled notification service",
    ),
  ];
}
