import { patterns } from "../../../shared/paths.ts";
import { wordForShell } from "../../../shared/shell.ts";
import { accountPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";

/** GET /new-organization: who makes one, and what comes next. No page makes one. */
export const newOrganizationPage = accountPage((_, { user }) =>
  narrowPage({
    title: "New organization",
    content: (
      <>
        <p>
          Only the operator makes organizations: whoever may run commands in the folder of Signalbox, on the
          machine where it runs. If that is not you, send these two lines to that person:
        </p>
        <pre class="command">
          <code>
            {`npm run -s admin -- org create --slug acme --name Acme
npm run -s admin -- member add --org acme --user ${wordForShell(user.email)} --role admin`}
          </code>
        </pre>
        <p>
          The first makes the organization Acme, and the second makes you its admin. Choose the slug with
          care: it is the name in addresses, and cannot change.
        </p>
        <h2>What comes next</h2>
        <ol>
          <li>
            <a href={patterns.home}>Home</a> then lists the first steps: from a cluster and an agent to a
            build that passes.
          </li>
          <li>Members, in the menu of the organization, invites the others.</li>
        </ol>
      </>
    ),
  }),
);
