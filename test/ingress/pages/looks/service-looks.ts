import type { Page } from "playwright-core";
import { requireOrganization } from "../../../../shared/accounts/organizations.ts";
import { newId } from "../../../../shared/ids.ts";
import { newNotificationService } from "../../../../shared/notifications/members.ts";
import {
  createNotificationService,
  setServiceEnabled,
} from "../../../../shared/notifications/notification-services.ts";
import { press } from "../../../helpers/browser.ts";
import type { Pages } from "../../../helpers/pages.ts";
import type { Look } from "./every-page.ts";

/** Paths of pages. */
interface Exhibits {
  services: Record<"list" | "inside" | "chat" | "shown", string>;
}

const refused = async (page: Page, { services }: Exhibits) => {
  await page.goto(`${services.list}/new?provider=webhook`);
  await page.getByLabel("Address", { exact: true }).fill("https://ada:x@example.com");
  await page.getByLabel("Some pipelines").fill("no-such-pipeline");
  await press(page, "Create service");
};

const at =
  (pathOf: (services: Exhibits["services"]) => string) =>
  (page: Page, { services }: Exhibits) =>
    page.goto(pathOf(services));

export const serviceLooks: Look<Exhibits>[] = [
  { name: "notification services", as: "ada", visit: at(({ list }) => list) },
  { name: "a new notification service", as: "ada", visit: at(({ list }) => `${list}/new`) },
  { name: "a new chat", as: "ada", visit: at(({ list }) => `${list}/new?provider=slack`) },
  { name: "a new webhook, refused", as: "ada", visit: refused },
  { name: "a webhook inside", as: "ada", visit: at(({ inside }) => inside) },
  { name: "a webhook and a request", as: "ada", visit: at(({ shown }) => shown) },
  { name: "a chat, disabled", as: "ada", visit: at(({ chat }) => chat) },
  { name: "deleting a notification service", as: "ada", visit: at(({ inside }) => `${inside}/delete`) },
];

/** Makes notification services of Globex. */
export async function exhibitServices({ services, ada }: Pages): Promise<Exhibits["services"]> {
  const organization = await requireOrganization(services.db, "globex");
  const actor = { organization, userId: ada.id };
  const make = (given: object) =>
    createNotificationService(services, actor, newNotificationService.parse(given));
  const chat = await make({
    provider: "slack",
    description: "A room with a name that is long ".repeat(8).trim(),
    settings: { url: `https://${"a-long-name.".repeat(18)}example.com/hooks/x` },
  });
  await setServiceEnabled(services, actor, chat, false);
  const inside = await make({
    provider: "webhook",
    description: "Deployments",
    settings: { url: "https://10.0.0.7/hook" },
  });
  const messages = await exhibitMessages(services, inside);
  const list = "/organizations/globex/services";
  return {
    list,
    inside: `${list}/${inside.id}`,
    chat: `${list}/${chat.id}`,
    shown: `${list}/${inside.id}?request=${messages}`,
  };
}

/** Messages in each state. @returns the id of one that was answered */
async function exhibitMessages(
  { db, clock }: Pages["services"],
  { id: serviceId, organizationId }: { id: string; organizationId: string },
): Promise<string> {
  const now = clock.now();
  const common = {
    organizationId,
    kind: "service" as const,
    receiver: `service:${serviceId}`,
    serviceId,
    event: "build.finished",
    dueAt: now,
    createdAt: now,
    durationMs: 1234,
  };
  const request = {
    method: "POST",
    host: "10.0.0.7",
    bytes: 48,
    body: `{"event":"build.finished","build":{"message":"${"long ".repeat(200)}"}}`,
  };
  const id = newId(now);
  const rows = [
    { ...common, id, state: "sent", answerStatus: 200, answer: "<b>thanks</b>", request, endedAt: now },
    {
      ...common,
      id: newId(now),
      state: "failed",
      tries: 28,
      answerStatus: 404,
      answer: "no",
      request,
      endedAt: now,
    },
    { ...common, id: newId(now), state: "dropped", answer: "Nothing was left to say", endedAt: now },
    { ...common, id: newId(now), state: "waiting", tries: 2, answer: "10.0.0.7 has no public address" },
  ] as const;
  await db.transaction((tx) => tx.insert(tx.tables.outbox).values([...rows]));
  return id;
}
