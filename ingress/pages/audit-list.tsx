import type { listAuditEvents } from "../../shared/accounts/audit-store.ts";
import { Time } from "./times.tsx";

type Entry = Awaited<ReturnType<typeof listAuditEvents>>[number];

/** Who did what to what, and when: `Ada paused the queue default`. */
export function AuditList({ entries, now }: { entries: Entry[]; now: Date }) {
  return (
    <section aria-labelledby="audit">
      <h2 id="audit">What was done</h2>
      {entries.length === 0 ? (
        <p class="quiet">Nothing yet.</p>
      ) : (
        <ul class="audit">
          {entries.map(({ event, actor }) => (
            <li key={event.id}>
              <span>
                {actor} {event.action} the {event.subjectType.replace("_", " ")}{" "}
                <strong>{event.subject}</strong>
              </span>
              <span class="quiet">
                <Time at={event.createdAt} now={now} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
