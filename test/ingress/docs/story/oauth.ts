import { approveCode, deviceGrantType, setUpClient } from "../../../helpers/device.ts";
import type { Story } from "./chapter.ts";

export async function oauth({ api: { world, acme }, recorder }: Story) {
  const options = { name: "Deploy CLI", clientId: "deploy-cli", refreshTokens: true };
  const { credentials } = await setUpClient(world, options);
  const { client_id } = credentials;
  const send = (id: string, summary: string, form: Record<string, string>, status = 200) =>
    recorder.send(id, summary, { form: { client_id, ...form }, status });

  const started = await send("authorizeDevice", "A public client", {
    scope: "read_user read_builds",
    organization: "acme",
  });
  await send("authorizeDevice", "An unknown scope", { scope: "read_everything" }, 400);
  const device = { grant_type: deviceGrantType, device_code: started.body.device_code };
  await send("issueToken", "The user has not decided", device, 400);
  await approveCode(world, acme, started.body.user_code);
  const refused = recorder.examples.issueToken ?? [];
  recorder.examples.issueToken = [];
  world.clock.advance(5000);
  const issued = await send("issueToken", "A poll after the user's approval", device);
  const refreshed = await send("issueToken", "A refresh", {
    grant_type: "refresh_token",
    refresh_token: issued.body.refresh_token,
  });
  recorder.examples.issueToken.push(...refused);
  await send("issueToken", "A code that was used", device, 400);
  await send("revokeToken", "A refresh token: its grant ends", { token: refreshed.body.refresh_token });

  const server = await setUpClient(world, { name: "Dashboard", clientId: "dashboard", confidential: true });
  const secret = { client_id: "dashboard", client_secret: server.secret };
  const asked = await recorder.send("authorizeDevice", "A confidential client", {
    form: { ...secret, scope: "read_builds" },
    status: 200,
  });
  await approveCode(world, acme, asked.body.user_code);
  const polled = await recorder.send("issueToken", "A confidential client", {
    form: { ...secret, grant_type: deviceGrantType, device_code: asked.body.device_code },
    status: 200,
  });
  await recorder.send("introspectToken", "An access token", {
    form: { ...secret, token: polled.body.access_token },
    status: 200,
  });
  await recorder.send("introspectToken", "A token that is not valid", {
    form: { ...secret, token: "none" },
    status: 200,
  });
  await recorder.send("introspectToken", "A wrong secret", {
    form: { ...secret, client_secret: "none", token: "none" },
    status: 401,
  });
  await recorder.send("getOAuthMetadata", "The endpoints", { status: 200 });
  await recorder.send("getOpenIdConfiguration", "The endpoints", { status: 200 });
}
