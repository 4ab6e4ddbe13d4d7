import type { Command } from "commander";
import { type Application, listApplications } from "../../shared/oauth/application-store.ts";
import {
  createApplication,
  disableApplication,
  enableApplication,
  rotateSecret,
} from "../../shared/oauth/applications.ts";
import { Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { type Act, maxHours, newCommand, parsePositive } from "./command.ts";

const minutesPerHour = 60;

export function applicationCommands(act: Act): Command[] {
  const app = newCommand("app", "OAuth applications: clients that people sign in to with a code");

  app
    .command("create")
    .description("register an application; the secret of a confidential one is shown this once")
    .requiredOption("--name <name>", "its name for people")
    .option("--client-id <id>", "its client id; without this one is made up")
    .option("--confidential", "it can keep a secret, and must prove it", false)
    .option(
      "--token-hours <number>",
      "lifetime of access tokens; without this they do not expire",
      parsePositive,
    )
    .option("--refresh", "it gets refresh tokens", false)
    .option(
      "--access-token-minutes <number>",
      "lifetime of access tokens, with --refresh (60)",
      parsePositive,
    )
    .option("--no-device-flow", "it may not use the device flow")
    .action((options) =>
      act(async (services) => {
        const { application, secret } = await createApplication(services, {
          name: options.name,
          clientId: options.clientId,
          confidential: options.confidential,
          deviceFlow: options.deviceFlow,
          refreshTokens: options.refresh,
          accessTokenMinutes: lifetime(options),
        });
        return { ...summary(application), client_secret: secret };
      }),
    );

  const change = (
    name: string,
    description: string,
    run: (services: Services, clientId: string) => Promise<object>,
  ) =>
    app
      .command(`${name} <client-id>`)
      .description(description)
      .action((clientId) => act((services) => run(services, clientId)));

  change("disable", "refuse the application, and its tokens, from now on", async (services, clientId) =>
    summary(await disableApplication(services, clientId)),
  );
  change("enable", "let a disabled application, and its tokens, work again", async (services, clientId) =>
    summary(await enableApplication(services, clientId)),
  );
  change(
    "rotate-secret",
    "replace the secret; the one before stops working at once",
    async (services, clientId) => ({
      client_id: clientId,
      client_secret: await rotateSecret(services, clientId),
    }),
  );

  app
    .command("list")
    .description("list all applications")
    .action(() => act(async ({ db }) => ({ applications: (await listApplications(db)).map(summary) })));
  return [app];
}

/** Returns the lifetime in minutes, from either of two options. */
function lifetime(options: {
  refresh: boolean;
  tokenHours?: number;
  accessTokenMinutes?: number;
}): number | undefined {
  const { refresh, tokenHours, accessTokenMinutes } = options;
  if (refresh && tokenHours !== undefined) {
    throw new Refusal(422, "--token-hours is for applications without --refresh: use --access-token-minutes");
  }
  if (!refresh && accessTokenMinutes !== undefined) {
    throw new Refusal(422, "--access-token-minutes is for applications with --refresh: use --token-hours");
  }
  if ((tokenHours ?? 0) > maxHours || (accessTokenMinutes ?? 0) > maxHours * minutesPerHour) {
    throw new Refusal(
      422,
      `Tokens can work for ${maxHours} hours at most: without an option they do not expire`,
    );
  }
  return tokenHours === undefined ? accessTokenMinutes : tokenHours * minutesPerHour;
}

function summary(application: Application) {
  return {
    client_id: application.clientId,
    name: application.name,
    confidential: application.secretHash !== null,
    device_flow: application.deviceFlow,
    refresh_tokens: application.refreshTokens,
    access_token_minutes: application.accessTokenMinutes,
    disabled: application.disabledAt !== null,
    created_at: application.createdAt,
  };
}
