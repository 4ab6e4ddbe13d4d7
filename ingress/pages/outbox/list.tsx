import { isId } from "../../../shared/ids.ts";
import { type Message, type OpenState, openStates } from "../../../shared/outbox/kind.ts";
import { listMessagesPage } from "../../../shared/outbox/list-store.ts";
import { dropMessages, retryAllFailed, retryMessages } from "../../../shared/outbox/operate.ts";
import { listReceivers } from "../../../shared/outbox/sent-store.ts";
import type { Receiver } from "../../../shared/outbox/store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { MessageKindName } from "../../../shared/vocabulary.ts";
import { readPageOf, readWithin } from "../../http/number-pager.ts";
import { Sent } from "../states/sent.tsx";
import { PostButton } from "../ui/form.tsx";
import { adminAction, adminPage, type MemberRequest } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import { NumberPager } from "../ui/pager.tsx";
import { useNow } from "../ui/rendering.ts";
import { Time } from "../ui/times.tsx";

const perPage = 30;
const kindWords: Record<MessageKindName, string> = {
  status: "Commit status",
  service: "Notification service",
  notify: "Notice of a pipeline",
  mail: "Mail to a member",
};
const stateWords: Record<OpenState, { title: string; empty: string }> = {
  waiting: { title: "Waiting", empty: "No message waits." },
  failed: { title: "Failed", empty: "No message has failed." },
};

/** GET …/outbox, for admins. */
export const outboxPage = adminPage(async ({ db }, request) => {
  const { slug: org, id: organizationId } = request.organization;
  const given = request.event.url.searchParams.get("state");
  const state = openStates.find((each) => each === given) ?? "waiting";
  const list = await readWithin(readPageOf(request.event, perPage), (page) =>
    listMessagesPage(db, { organizationId, state }, page),
  );
  const receivers = await listReceivers(
    db,
    organizationId,
    list.rows.map(({ receiver }) => receiver),
  );
  return {
    title: "Messages",
    section: "settings",
    content: (
      <>
        <div class="heading">
          <h1>Messages</h1>
          {state === "failed" && list.rows.length > 0 && (
            <div class="actions">
              <PostButton path={pathTo(patterns.retryMessagesPage, { org })}>Send all again</PostButton>
            </div>
          )}
        </div>
        <p>
          Statuses of commits, requests of notification services, notices and mails. One that cannot be sent
          is tried again for a day, and kept as failed afterwards.
        </p>
        <nav class="chips" aria-label="States">
          {openStates.map((each) => (
            <a key={each} href={pathOf(org, each)} aria-current={each === state ? "page" : undefined}>
              {stateWords[each].title}
            </a>
          ))}
        </nav>
        {list.rows.length === 0 ? (
          <p class="empty">{stateWords[state].empty}</p>
        ) : (
          <ul class="entries">
            {list.rows.map((message) => (
              <Entry
                key={message.id}
                message={message}
                receiver={receivers.get(message.receiver)}
                org={org}
              />
            ))}
          </ul>
        )}
        <NumberPager
          list={list}
          path={pathTo(patterns.outboxPage, { org })}
          query={new URLSearchParams({ state })}
        />
      </>
    ),
  };
});

function Entry({
  message,
  receiver,
  org,
}: {
  message: Message;
  receiver: Receiver | undefined;
  org: string;
}) {
  const { id, kind, event, state, tries, answerStatus, answer, createdAt, request } = message;
  const address = { org, message: id };
  return (
    <li class="entry">
      <div>
        <p>
          <strong>{kindWords[kind]}</strong> <code>{event}</code> <Time at={createdAt} />:{" "}
          <Sent message={message} />
        </p>
        <p class="quiet">
          {request && <>To {request.host}. </>}
          {answerStatus !== null && answer && <>The answer: {answer.slice(0, 200)}. </>}
          {tries === 0 && receiver?.problem && <>Its receiver rests: {receiver.problem}. </>}
          {state === "waiting" && <NextTry at={nextTryAt(message, receiver)} />}
        </p>
      </div>
      <div class="actions">
        <PostButton path={pathTo(patterns.retryMessagePage, address)} class="secondary">
          Send now
        </PostButton>
        <PostButton path={pathTo(patterns.dropMessagePage, address)} class="secondary">
          Drop
        </PostButton>
      </div>
    </li>
  );
}

function NextTry({ at }: { at: Date }) {
  if (at <= useNow()) return <>Its next try is due.</>;
  return (
    <>
      Next try <Time at={at} />.
    </>
  );
}

/** A message rests with its receiver. */
function nextTryAt({ dueAt }: Message, receiver: Receiver | undefined): Date {
  return receiver && receiver.dueAt > dueAt ? receiver.dueAt : dueAt;
}

function pathOf(org: string, state: OpenState): string {
  return `${pathTo(patterns.outboxPage, { org })}?state=${state}`;
}

/** GET …/retry, …/drop: signing in after the session ended leads here. */
export const redirectToOutbox = adminPage(async (_services, { organization }) =>
  pathTo(patterns.outboxPage, { org: organization.slug }),
);

type Change = (services: Services, organizationId: string, ids: string[]) => Promise<string[]>;

function changeMessage(change: Change, notice: "message_retried" | "message_dropped", state: OpenState) {
  return adminAction(async (services, request: MemberRequest) => {
    const { id, slug } = request.organization;
    const message = request.parameter("message");
    if (!isId(message)) throw notFound("message");
    const changed = await change(services, id, [message]);
    const path = pathOf(slug, state);
    return changed.length > 0 ? withNotice(path, notice) : path; // a double click, or it was sent meanwhile
  });
}

/** POST …/outbox/:message/retry */
export const retryMessage = changeMessage(retryMessages, "message_retried", "waiting");

/** POST …/outbox/:message/drop */
export const dropMessage = changeMessage(dropMessages, "message_dropped", "failed");

/** POST …/outbox/retry: all that have failed. */
export const retryFailedMessages = adminAction(async (services, { organization: { id, slug } }) => {
  await retryAllFailed(services, id);
  return withNotice(pathOf(slug, "waiting"), "message_retried");
});
