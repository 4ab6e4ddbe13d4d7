import { randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { type Command, InvalidArgumentError } from "commander";
import { listOrganizations } from "../../shared/accounts/organization-store.ts";
import { createOrganization, features, updateOrganization } from "../../shared/accounts/organizations.ts";
import { listUsers } from "../../shared/accounts/user-store.ts";
import { createUser, deactivateUser, setPassword } from "../../shared/accounts/users.ts";
import type { Feature } from "../../shared/vocabulary.ts";
import { type Act, newCommand, orgOption, parsePositive, roleOption } from "./command.ts";
import { namedOrganization } from "./find.ts";

export function accountCommands(act: Act): Command[] {
  return [orgCommand(act), userCommand(act)];
}

function orgCommand(act: Act): Command {
  const org = newCommand("org", "organizations");

  org
    .command("create")
    .description("create an organization")
    .requiredOption("--slug <slug>", "its name in addresses")
    .requiredOption("--name <name>", "its name for people")
    .option("--deliveries-per-hour <number>", "webhook deliveries in any hour", parsePositive)
    .action((options) =>
      act(async (services) => {
        const { id, slug, name, deliveriesPerHour } = await createOrganization(services, options);
        return { id, slug, name, deliveries_per_hour: deliveriesPerHour };
      }),
    );

  org
    .command("update <slug>")
    .description("change an organization's limits and features")
    .option("--deliveries-per-hour <number>", "webhook deliveries in any hour", parsePositive)
    .option(
      "--feature <name=true|false>",
      `switch a feature: ${features.join(", ")} (repeatable)`,
      parseFeature,
      {},
    )
    .action((slug, options) =>
      act(async (services) => {
        await namedOrganization(services.db, slug);
        const updated = await updateOrganization(services, slug, {
          deliveriesPerHour: options.deliveriesPerHour,
          features: options.feature,
        });
        return {
          id: updated.id,
          slug: updated.slug,
          deliveries_per_hour: updated.deliveriesPerHour,
          features: updated.features,
        };
      }),
    );

  org
    .command("list")
    .description("list all organizations")
    .action(() =>
      act(async (services) => ({
        organizations: (await listOrganizations(services.db)).map((each) => ({
          id: each.id,
          slug: each.slug,
          name: each.name,
          deliveries_per_hour: each.deliveriesPerHour,
          features: each.features,
        })),
      })),
    );
  return org;
}

function parseFeature(
  value: string,
  previous: Partial<Record<Feature, boolean>>,
): Partial<Record<Feature, boolean>> {
  const [name, state] = value.split("=");
  if (!features.includes(name as Feature) || (state !== "true" && state !== "false")) {
    throw new InvalidArgumentError(`It must be one of ${features.join(", ")}, then =true or =false.`);
  }
  return { ...previous, [name as Feature]: state === "true" };
}

interface PasswordOptions {
  password?: string;
  passwordStdin?: boolean;
}

function withPassword(command: Command): Command {
  return command
    .option(
      "--password <password>",
      "the password; better: --password-stdin, or neither, to have one generated",
    )
    .option("--password-stdin", "read the password from standard input");
}

/** Prints a generated password. */
async function choosePassword(
  options: PasswordOptions,
  stdin: Readable,
): Promise<{ password: string; printed: object }> {
  if (options.passwordStdin) return { password: (await text(stdin)).replace(/\r?\n$/, ""), printed: {} };
  if (options.password !== undefined) return { password: options.password, printed: {} };
  const password = randomBytes(15).toString("base64url");
  return { password, printed: { password } };
}

function userCommand(act: Act): Command {
  const user = newCommand("user", "people");

  withPassword(user.command("create"))
    .description("create a user in an organization")
    .requiredOption("--email <email>", "the address that the user signs in with")
    .requiredOption("--name <name>", "the user's name")
    .requiredOption(...orgOption)
    .addOption(roleOption())
    .action((options) =>
      act(async (services, stdin) => {
        await namedOrganization(services.db, options.org);
        const { password, printed } = await choosePassword(options, stdin);
        const { id, email, name } = await createUser(services, {
          ...options,
          password,
          organization: options.org,
        });
        return { id, email, name, organization: options.org, role: options.role, ...printed };
      }),
    );

  withPassword(user.command("set-password <email>"))
    .description("replace a user's password")
    .action((email, options) =>
      act(async (services, stdin) => {
        const { password, printed } = await choosePassword(options, stdin);
        await services.awaitRedis(); // open streams end at once
        const { id } = await setPassword(services, email, password);
        return { id, email, ...printed };
      }),
    );

  user
    .command("disable <email>")
    .description("end a user's access: no sign-in, no tokens")
    .action((email) =>
      act(async (services) => {
        await services.awaitRedis(); // open streams end at once
        const { id } = await deactivateUser(services, email);
        return { id, email, disabled: true };
      }),
    );

  user
    .command("list")
    .description("list all users")
    .action(() =>
      act(async (services) => ({
        users: (await listUsers(services.db)).map(({ id, email, name, deactivatedAt }) => ({
          id,
          email,
          name,
          disabled: deactivatedAt !== null,
        })),
      })),
    );
  return user;
}
