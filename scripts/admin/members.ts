import type { Command } from "commander";
import { listAccessTokens } from "../../shared/accounts/access-token-store.ts";
import { createAccessToken, revokeAccessTokenAsOperator } from "../../shared/accounts/access-tokens.ts";
import { listMembers } from "../../shared/accounts/member-store.ts";
import { addMember, removeMember, updateMember } from "../../shared/accounts/members.ts";
import { usedScopes } from "../../shared/accounts/scopes.ts";
import { type Act, newCommand, orgOption, parseHours, parseId, roleOption } from "./command.ts";
import { namedOrganization } from "./find.ts";

export function memberCommands(act: Act): Command[] {
  return [memberCommand(act), tokenCommand(act)];
}

function memberCommand(act: Act): Command {
  const member = newCommand("member", "users of an organization, and their roles");
  const ofUser = (name: string, description: string) =>
    member
      .command(name)
      .description(description)
      .requiredOption(...orgOption)
      .requiredOption("--user <email>", "the user's email address");

  ofUser("add", "add a user to an organization")
    .addOption(roleOption())
    .action(({ org, user, role }) =>
      act(async (services) => {
        await namedOrganization(services.db, org);
        return addMember(services, { organization: org, email: user, role });
      }),
    );

  ofUser("update", "change a member's role")
    .addOption(roleOption().makeOptionMandatory())
    .action(({ org, user, role }) =>
      act(async (services) => {
        await namedOrganization(services.db, org);
        return updateMember(services, { organization: org, email: user, role });
      }),
    );

  ofUser("remove", "remove a user from an organization").action(({ org, user }) =>
    act(async (services) => {
      await namedOrganization(services.db, org);
      await services.awaitRedis(); // open streams end at once
      await removeMember(services, { organization: org, email: user });
      return { organization: org, email: user, removed: true };
    }),
  );

  member
    .command("list")
    .description("list the members of an organization")
    .requiredOption(...orgOption)
    .action(({ org }) =>
      act(async ({ db }) => {
        const members = await listMembers(db, (await namedOrganization(db, org)).id);
        return {
          members: members.map(({ deactivatedAt, ...each }) => ({
            ...each,
            disabled: deactivatedAt !== null,
          })),
        };
      }),
    );
  return member;
}

function tokenCommand(act: Act): Command {
  const token = newCommand("token", "API access tokens");

  token
    .command("create")
    .description("create an API access token; its text is shown this once")
    .requiredOption("--user <email>", "the user whose rights it has")
    .requiredOption(...orgOption)
    .requiredOption("--scopes <scopes>", "its scopes, separated by spaces or commas")
    .option("--description <text>", "its purpose", "")
    .option("--expires-in-hours <number>", "its lifetime; without this it does not expire", parseHours)
    .addHelpText("after", `\nScopes: ${usedScopes.join(", ")}`)
    .action((options) =>
      act(async (services) => {
        await namedOrganization(services.db, options.org);
        const created = await createAccessToken(services, {
          email: options.user,
          organization: options.org,
          scopes: options.scopes.split(/[\s,]+/).filter((scope: string) => scope !== ""),
          description: options.description,
          expiresInHours: options.expiresInHours,
        });
        const { id, scopes, expiresAt } = created.accessToken;
        return { id, token: created.token, scopes, expires_at: expiresAt };
      }),
    );

  token
    .command("revoke")
    .description("end a token; the very next request with it is refused")
    .argument("<id>", "the token's id", parseId)
    .action((id) =>
      act(async (services) => {
        const revoked = await revokeAccessTokenAsOperator(services, id);
        return { id, revoked_at: revoked.revokedAt };
      }),
    );

  token
    .command("list")
    .description("list the tokens of an organization")
    .requiredOption(...orgOption)
    .action(({ org }) =>
      act(async ({ db }) => {
        const rows = await listAccessTokens(db, (await namedOrganization(db, org)).id);
        return {
          tokens: rows.map(({ token: each, email }) => ({
            id: each.id,
            user: email,
            description: each.description,
            scopes: each.scopes,
            created_at: each.createdAt,
            expires_at: each.expiresAt,
            revoked_at: each.revokedAt,
          })),
        };
      }),
    );
  return token;
}
