import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { runLogin } from "../../scripts/login/run.ts";
import { approve, deny, enterUserCode, findDeviceRequest } from "../../shared/device/decide.ts";
import { readUserCode } from "../../shared/device/user-code.ts";
import { createApplication } from "../../shared/oauth/applications.ts";
import type { TestClock } from "./clock.ts";
import { sqlite } from "./databases.ts";
import { type Door, makeDoor } from "./door.ts";
import { setUpOrganization, type TestOrganization } from "./organization.ts";
import { startWorld, type World } from "./world.ts";

export interface SignInWorld extends World {
  door: Door;
  organization: TestOrganization;
  approve(output: string): Promise<void>;
  deny(output: string): Promise<void>;
}

export interface AtHome extends SignInWorld {
  home: string;
  file: string;
}

export const clientId = "signalbox-cli";

export async function startSignInWorld(settings: Record<string, string> = {}): Promise<SignInWorld> {
  const door = await makeDoor();
  const world = await startWorld(sqlite, { PUBLIC_URL: door.url, ...settings });
  await door.openTo(world.url);
  const { services } = world;
  const organization = await setUpOrganization(world);
  const flags = { confidential: false, deviceFlow: true, refreshTokens: true };
  await createApplication(services, { name: "Signalbox CLI", clientId, ...flags });
  const userId = organization.user.id;
  const enter = async (output: string) => {
    const userCode = readUserCode(shownCode(output)) ?? assert.fail(output);
    assert.ok(await enterUserCode(services, { userId, userCode }, false));
    return (await findDeviceRequest(services, { userId, userCode })) ?? assert.fail("no such request");
  };

  return {
    ...world,
    door,
    organization,
    async approve(output) {
      const { code } = await enter(output);
      const approval = { organizationId: organization.id, ip: "192.0.2.1", userAgent: "a browser" };
      assert.ok(await approve(services, { code, userId }, approval));
    },
    async deny(output) {
      const { code } = await enter(output);
      assert.ok(await deny(services, code.id, userId));
    },
    async close() {
      await door.shut();
      await world.close();
    },
  };
}

/** Also opens the door after the test. */
export function moveIn(world: SignInWorld, t: TestContext): AtHome {
  const home = mkdtempSync(join(tmpdir(), "signalbox-login-"));
  t.after(async () => {
    rmSync(home, { recursive: true });
    await world.door.openTo(world.url);
  });
  return { ...world, home, file: join(home, ".config/signalbox/credentials.json") };
}

export function shownCode(output: string): string {
  return /^ +([A-Z]{4}-[A-Z]{4})$/m.exec(output)?.[1] ?? assert.fail(`there is no code in: ${output}`);
}

/** Runs before each poll with the output so far. */
export type Step = (output: string) => unknown;

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
  /** In seconds, one per poll. */
  paused: number[];
}

/** Runs the command in this process. Each pause advances the clock and runs a step of `pauses`. */
export async function login(
  world: Pick<AtHome, "home"> & {
    clock: Pick<TestClock, "now" | "advance">;
    door: Pick<Door, "url">;
  },
  args: string[],
  options: {
    pauses?: Step[];
    columns?: number;
    interrupt?: AbortController;
    hurried?: boolean;
    openBrowser?: (url: string) => void;
  } = {},
): Promise<Outcome> {
  const { pauses = [], interrupt = new AbortController(), openBrowser } = options;
  const outcome = { stdout: "", stderr: "", paused: [] as number[] };
  const code = await runLogin(args, {
    env: { HOME: world.home, AUTH_URL: world.door.url },
    columns: options.columns,
    ...(openBrowser && { openBrowser }),
    write: (text) => {
      outcome.stdout += text;
    },
    writeError: (text) => {
      outcome.stderr += text;
    },
    clock: world.clock,
    signal: interrupt.signal,
    async sleep(ms) {
      if (!options.hurried) world.clock.advance(ms);
      await pauses[outcome.paused.push(Math.round(ms / 1000)) - 1]?.(outcome.stdout);
      await setImmediate(undefined, { signal: interrupt.signal });
    },
  });
  assert.doesNotMatch(outcome.stdout + outcome.stderr, /sb[a-z]{2}_/, "a token was shown");
  return { code, ...outcome };
}

export function kept({ file, door }: AtHome) {
  return JSON.parse(readFileSync(file, "utf8"))[`${door.url} ${clientId}`];
}
