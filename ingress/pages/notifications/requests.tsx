import { eventNameOf } from "../../../shared/notifications/bodies.ts";
import type { NotificationService } from "../../../shared/notifications/store.ts";
import type { Message } from "../../../shared/outbox/kind.ts";
import type { ListedMessage } from "../../../shared/outbox/sent-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { Sent } from "../states/sent.tsx";
import { PostButton } from "../ui/form.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { Time } from "../ui/times.tsx";
import { servicePath } from "./address.ts";

interface Shown {
  service: NotificationService;
  request: MemberRequest;
  /** The request whose body is shown. */
  shown: Message | undefined;
}

/** The last requests to a service, newest first. */
export function Requests({ messages, ...rest }: Shown & { messages: ListedMessage[] }) {
  return (
    <section aria-labelledby="requests">
      <h2 id="requests">Last requests</h2>
      {messages.length === 0 ? (
        <p class="empty">No request yet.</p>
      ) : (
        <ul class="entries">
          {messages.map((message) => (
            <Entry key={message.id} message={message} {...rest} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Entry({ message, service, request, shown }: Shown & { message: ListedMessage }) {
  const { id, event, createdAt, state } = message;
  const path = pathTo(patterns.sendAgainPage, {
    org: request.organization.slug,
    service: service.id,
    message: id,
  });
  return (
    <li class="entry" id={`request-${id}`}>
      <div>
        <p>
          <code>{eventNameOf(event)}</code> <Time at={createdAt} />: <Sent message={message} />
        </p>
        {shown?.id === id ? (
          <Bodies message={shown} />
        ) : (
          <p>
            <a href={`${servicePath(request, service)}?request=${id}#request-${id}`}>Request and answer</a>
          </p>
        )}
      </div>
      {service.enabled && state !== "waiting" && (
        <PostButton path={path} class="secondary">
          Send again
        </PostButton>
      )}
    </li>
  );
}

function Bodies({ message: { id, request: sent, answer } }: { message: Message }) {
  return (
    <>
      <p class="quiet">
        {sent
          ? `${sent.method} to ${sent.host}, ${sent.bytes.toLocaleString("en")} bytes, id ${id}`
          : "Not sent yet"}
      </p>
      {sent?.body !== undefined && <Text text={sent.body} />}
      {answer && (
        <>
          <p class="quiet">The beginning of the answer:</p>
          <Text text={answer} />
        </>
      )}
    </>
  );
}

function Text({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling area
    <pre class="payload" tabIndex={0}>
      {text}
    </pre>
  );
}
