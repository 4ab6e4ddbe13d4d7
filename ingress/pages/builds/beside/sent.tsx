import { listConnections } from "../../../../shared/connections/store.ts";
import { eventNameOf } from "../../../../shared/notifications/bodies.ts";
import { titleOfService } from "../../../../shared/notifications/notification-services.ts";
import { listServicesById } from "../../../../shared/notifications/store.ts";
import { type ListedMessage, listMessagesOfBuild } from "../../../../shared/outbox/sent-store.ts";
import { pathTo, patterns } from "../../../../shared/paths.ts";
import type { Services } from "../../../../shared/services/services.ts";
import type { MessageKindName } from "../../../../shared/vocabulary.ts";
import { Sent } from "../../states/sent.tsx";
import type { MemberRequest } from "../../ui/member-page.ts";
import { Time } from "../../ui/times.tsx";

const maxShown = 50;

export type SentOfBuild = Awaited<ReturnType<typeof loadSent>>;

/** The messages about a build, newest first, with their receivers. */
export async function loadSent({ db }: Services, organizationId: string, buildId: string) {
  const found = await listMessagesOfBuild(db, buildId, maxShown + 1);
  const messages = found.slice(0, maxShown);
  const services = await listServicesById(
    db,
    messages.flatMap(({ serviceId }) => serviceId ?? []),
  );
  const hasHosts = messages.some(({ connectionId }) => connectionId !== null);
  const hosts = hasHosts ? await listConnections(db, organizationId) : [];
  return {
    messages,
    hasMore: found.length > maxShown,
    services,
    hosts: new Map(hosts.map(({ id, host }) => [id, host])),
  };
}

const kindWords: Record<MessageKindName, string> = {
  status: "Commit status",
  service: "Notification service",
  notify: "Notice of the pipeline",
  mail: "Mail to a member",
};

/** The messages about the build, folded. */
export function SentMessages({ sent, request }: { sent: SentOfBuild; request: MemberRequest }) {
  const { messages, hasMore } = sent;
  if (messages.length === 0) return null;
  const failed = messages.filter(
    ({ state, tries }) => state === "failed" || (state === "waiting" && tries > 0),
  );
  return (
    <details data-part="" class="fold" id="sent" open={failed.length > 0}>
      <summary>
        {`Sent: ${messages.length === 1 ? "one message" : `${messages.length}${hasMore ? " last" : ""} messages`}`}
        {failed.length > 0 && `, of which ${failed.length} failed`}
      </summary>
      <ul>
        {messages.map((message) => (
          <li key={message.id}>
            <Receiver message={message} sent={sent} request={request} />, {eventNameOf(message.event)}{" "}
            <Time at={message.createdAt} />: <Sent message={message} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function Receiver({
  message: { kind, serviceId, connectionId },
  sent: { services, hosts },
  request: { organization, role },
}: {
  message: ListedMessage;
  sent: SentOfBuild;
  request: MemberRequest;
}) {
  const service = services.get(serviceId ?? "");
  const host = hosts.get(connectionId ?? "");
  if (!service) return <>{host ? `${kindWords[kind]} at ${host}` : kindWords[kind]}</>;
  const path = pathTo(patterns.servicePage, { org: organization.slug, service: service.id });
  return role === "admin" ? <a href={path}>{titleOfService(service)}</a> : titleOfService(service);
}
