import { type Connection, listConnectionsPage } from "../../../shared/connections/store.ts";
import { titleOfConnection } from "../../../shared/connections/types.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { readPageOf, readWithin } from "../../http/number-pager.ts";
import { LinkButton } from "../ui/form.tsx";
import { adminPage, type MemberRequest } from "../ui/member-page.ts";
import { NumberPager } from "../ui/pager.tsx";
import { Age } from "../ui/times.tsx";
import { connectionPath } from "./address.ts";

const perPage = 30;

/** GET …/repository_connections, for admins. */
export const connectionsPage = adminPage(async ({ db }, request) => {
  const { slug: org, id: organizationId } = request.organization;
  const list = await readWithin(readPageOf(request.event, perPage), (page) =>
    listConnectionsPage(db, organizationId, page),
  );
  return {
    title: "Repository connections",
    section: "settings",
    content: (
      <>
        <div class="heading">
          <h1>Repository connections</h1>
          <p class="actions">
            <LinkButton href={pathTo(patterns.newConnectionPage, { org })} text="New connection" />
          </p>
        </div>
        <p>
          A connection names a source host of your own, whose pushes then make builds. Its token lets
          Signalbox send commit statuses and make webhooks; for that, public hosts need a connection, too.
        </p>
        {list.rows.length === 0 ? (
          <p class="empty">
            No connection yet. Pipelines of github.com, gitlab.com, bitbucket.org and codeberg.org build
            pushes without one.
          </p>
        ) : (
          <ul class="entries">
            {list.rows.map((connection) => (
              <Entry key={connection.id} connection={connection} request={request} />
            ))}
          </ul>
        )}
        <NumberPager list={list} path={pathTo(patterns.connectionsPage, { org })} />
      </>
    ),
  };
});

function Entry({ connection, request }: { connection: Connection; request: MemberRequest }) {
  const { tokenSealed, publishStatuses, failingSince } = connection;
  return (
    <li class="entry">
      <div>
        <h2>
          <a href={connectionPath(request, connection)}>{titleOfConnection(connection)}</a>
        </h2>
        <p class="quiet">
          {tokenSealed === null ? "No token" : publishStatuses ? "Sends statuses" : "Sends no statuses"}
        </p>
        {failingSince && (
          <p>
            The host has refused statuses for <Age from={failingSince} />.
          </p>
        )}
      </div>
    </li>
  );
}
