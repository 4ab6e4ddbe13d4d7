import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { asOperator } from "../../shared/accounts/organizations.ts";
import {
  createConnection,
  deleteConnection,
  updateConnection,
} from "../../shared/connections/connections.ts";
import { connectionChange, connectionMembers, newConnection } from "../../shared/connections/members.ts";
import { type Connection, findConnectionOfHost, listConnections } from "../../shared/connections/store.ts";
import type { Db } from "../../shared/db/database.ts";
import {
  type Act,
  givenMembers,
  newCommand,
  orgOption,
  requireValid,
  shownMembers,
  withMembers,
} from "./command.ts";
import { namedOrganization, noneFound } from "./find.ts";

interface Options {
  org: string;
  token?: boolean;
}

export function connectionCommands(act: Act): Command[] {
  const connection = newCommand("repository-connection", "source hosts of an organization, and their tokens");

  const create = connection.command("create").requiredOption(...orgOption);
  withToken(withMembers(create, connectionMembers, "create"))
    .description("connect a source host")
    .action((options: Options) =>
      act(async (services, stdin) => {
        const operator = await asOperator(services.db, await namedOrganization(services.db, options.org));
        const given = {
          ...givenMembers(connectionMembers, "create", options),
          ...(await givenToken(options, stdin)),
        };
        return summary(await createConnection(services, operator, requireValid(newConnection, given)));
      }),
    );

  connection
    .command("list")
    .description("list the repository connections of an organization, without their tokens")
    .requiredOption(...orgOption)
    .action(({ org }: Options) =>
      act(async ({ db }) => {
        const { id } = await namedOrganization(db, org);
        return { repository_connections: (await listConnections(db, id)).map(summary) };
      }),
    );

  withToken(withMembers(withHost(connection.command("update")), connectionMembers, "change"))
    .description("change a repository connection; options that are left out stay")
    .action((options: Options & { host: string }) =>
      act(async (services, stdin) => {
        const { operator, found } = await namedConnection(services.db, options);
        const given = {
          ...givenMembers(connectionMembers, options.token ? "create" : "change", options), // a token is enough
          ...(await givenToken(options, stdin)),
        };
        const change = requireValid(connectionChange, given);
        return summary(await updateConnection(services, operator, found, change));
      }),
    );

  withHost(connection.command("delete"))
    .description("delete a repository connection and its token")
    .action((options: Options & { host: string }) =>
      act(async (services) => {
        const { operator, found } = await namedConnection(services.db, options);
        await deleteConnection(services, operator, found);
        return { id: found.id, deleted: true };
      }),
    );
  return [connection];
}

/** The host name is that of the address. */
function withHost(command: Command): Command {
  return command
    .requiredOption(...orgOption)
    .requiredOption("--host <name>", "the host name of the connection, such as git.example.com");
}

function withToken(command: Command): Command {
  return command.option("--token", "read its token from standard input; an empty one removes it", false);
}

async function givenToken({ token }: Options, stdin: Readable): Promise<{ token?: string }> {
  return token ? { token: (await text(stdin)).trim() } : {};
}

/** @throws Refusal 404 */
async function namedConnection(db: Db, { org, host }: { org: string; host: string }) {
  const organization = await namedOrganization(db, org);
  const found = await findConnectionOfHost(db, organization.id, host.toLowerCase());
  if (!found) throw noneFound("repository connection", host, organization.slug);
  return { operator: await asOperator(db, organization), found };
}

function summary(connection: Connection) {
  return {
    id: connection.id,
    host: connection.host,
    ...shownMembers(connectionMembers, connection),
    has_token: connection.tokenSealed !== null,
    failing_since: connection.failingSince,
  };
}
