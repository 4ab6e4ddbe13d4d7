import type { z } from "zod";
import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { readSound } from "../../../shared/members/bodies.ts";
import {
  newNotificationService,
  notificationServiceChange,
  notificationServiceMembers,
} from "../../../shared/notifications/members.ts";
import {
  createNotificationService,
  deleteNotificationService,
  newServiceProblems,
  requireNotificationService,
  serviceChangeProblems,
  setServiceEnabled,
  updateNotificationService,
} from "../../../shared/notifications/notification-services.ts";
import {
  listNotificationServicesFrom,
  type NotificationService,
} from "../../../shared/notifications/store.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import { readCursorPage } from "../../http/cursor-pager.ts";
import { type Call, type Operation, operation } from "../../operations/operation.ts";
import { cursorPageSchema, cursorQuery, presentCursorPage } from "../json/list.ts";
import { notificationServiceSchema, presentNotificationService } from "./json.ts";

const tag = "Notification services";
const reading = { tag, scope: "read_notification_services" as const, needsAdmin: true };
const writing = { tag, scope: "write_notification_services" as const, needsAdmin: true };
const found = (description: string) =>
  ({ status: 200, schema: notificationServiceSchema, description }) as const;
const refusals = { 422: ["Validation failed: …"] };

type Asked = Pick<Call<unknown>, "caller" | "parameter">;

/** The notification services of an organization. */
export function notificationServiceOperations(services: Services): Operation[] {
  const { db, config } = services;

  const find = ({ caller, parameter }: Asked) =>
    requireNotificationService(db, caller.organization.id, parameter("service"));
  const presenter = async ({ caller }: Asked, rows: NotificationService[]) => {
    const users = await listUsersById(
      db,
      rows.map(({ createdById }) => createdById),
    );
    return (row: NotificationService) =>
      presentNotificationService(services, caller.organization, row, users);
  };
  const presentOne = async (call: Asked, row: NotificationService) => (await presenter(call, [row]))(row);
  const change = async (call: Call<z.output<typeof notificationServiceChange>>) => {
    const service = await find(call);
    const given = await call.readBody((sound: Record<string, unknown>) =>
      serviceChangeProblems(db, service, readSound(notificationServiceMembers, "change", sound) as never),
    );
    return presentOne(call, await updateNotificationService(services, call.actor, service, given));
  };
  const switching = (enabled: boolean) => async (call: Call<unknown>) =>
    presentOne(call, await setServiceEnabled(services, call.actor, await find(call), enabled));

  return [
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.services,
      id: "listNotificationServices",
      summary: "The notification services of an organization, oldest first",
      query: cursorQuery,
      success: {
        status: 200,
        schema: cursorPageSchema(notificationServiceSchema),
        description: "A page of notification services",
      },
      run: async (call) => {
        const page = readCursorPage(call.event, true);
        const rows = await listNotificationServicesFrom(db, call.caller.organization.id, page);
        const present = await presenter(call, rows);
        return presentCursorPage(call.event, page, rows, { base: config.baseUrl, present });
      },
    }),
    operation({
      ...writing,
      methods: ["POST"],
      path: patterns.services,
      id: "createNotificationService",
      summary: "Create a notification service",
      body: { schema: newNotificationService },
      refusals,
      success: {
        status: 201,
        schema: notificationServiceSchema,
        description: "The new notification service",
      },
      run: async (call) => {
        const input = await call.readBody((sound: Record<string, unknown>) => {
          const known = readSound(notificationServiceMembers, "create", sound) as never;
          return newServiceProblems(services, db, call.actor, known);
        });
        return presentOne(call, await createNotificationService(services, call.actor, input));
      },
    }),
    operation({
      ...reading,
      methods: ["GET"],
      path: patterns.service,
      id: "getNotificationService",
      summary: "A notification service",
      success: found("The notification service"),
      run: async (call) => presentOne(call, await find(call)),
    }),
    operation({
      ...writing,
      methods: ["PATCH"],
      path: patterns.service,
      id: "updateNotificationService",
      summary: "Change a notification service; absent members, settings and states stay",
      body: { schema: notificationServiceChange },
      refusals,
      success: found("The changed notification service"),
      run: change,
    }),
    operation({
      ...writing,
      methods: ["DELETE"],
      path: patterns.service,
      id: "deleteNotificationService",
      summary: "Delete a notification service; what waits for it is dropped",
      success: { status: 204, description: "The notification service is gone" },
      run: async (call) => deleteNotificationService(services, call.actor, await find(call)),
    }),
    operation({
      ...writing,
      methods: ["PUT"],
      path: patterns.enableService,
      id: "enableNotificationService",
      summary: "Enable a notification service; one that failed is tried again at once",
      success: found("The enabled notification service"),
      run: switching(true),
    }),
    operation({
      ...writing,
      methods: ["PUT"],
      path: patterns.disableService,
      id: "disableNotificationService",
      summary: "Disable a notification service; what waits for it is dropped when its turn comes",
      success: found("The disabled notification service"),
      run: switching(false),
    }),
  ];
}
