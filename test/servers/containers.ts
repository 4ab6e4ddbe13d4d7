import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { reasonOf, say } from "./acquired.ts";

const engineMs = 10_000;
const pullMs = 180_000;
const startMs = 30_000;
const connectMs = 1000;

export interface Container {
  image: string;
  port: number;
  /** The log line of a usable server. */
  ready: RegExp;
  environment?: Record<string, string>;
}

/** `address` is `host:port`. */
export type StartedContainer = { address: string } | { failure: string };

/**
 * Runs an image until `opened` is disposed of, without Ryuk, which may be off.
 * TEST_CONTAINERS=off skips the engine; a wrong DOCKER_HOST does not, because testcontainers
 * tries the usual socket.
 */
export async function startContainer(
  container: Container,
  env: NodeJS.ProcessEnv,
  opened: AsyncDisposableStack,
): Promise<StartedContainer> {
  if (env.TEST_CONTAINERS === "off") return { failure: "TEST_CONTAINERS=off" };

  // Loads late: it takes most of a second.
  const testcontainers = await import("testcontainers");
  const engine = await within(engineMs, testcontainers.getContainerRuntimeClient()).catch(() => undefined);
  if (!engine) return { failure: "no Docker engine answers" };

  try {
    const name = testcontainers.ImageName.fromString(container.image);
    if (!(await within(engineMs, engine.image.exists(name)))) {
      say(`Fetching the image ${container.image} …`);
      await within(pullMs, engine.image.pull(name));
    }
    return { address: await start(testcontainers, container, opened) };
  } catch (error) {
    const ryuk =
      env.TESTCONTAINERS_RYUK_DISABLED === "true" ? "" : " (or Ryuk: see TESTCONTAINERS_RYUK_DISABLED)";
    return { failure: `the Docker engine cannot run ${container.image}${ryuk}: ${reasonOf(error)}` };
  }
}

async function start(
  { GenericContainer, Wait }: typeof import("testcontainers"),
  { image, port, ready, environment = {} }: Container,
  opened: AsyncDisposableStack,
): Promise<string> {
  let starting: ReturnType<InstanceType<typeof GenericContainer>["start"]> | undefined;
  // An interrupted start must finish before the stop.
  opened.defer(async () => {
    const started = await starting?.catch(() => undefined);
    await started?.stop({ timeout: 0 });
  });
  starting = new GenericContainer(image)
    .withPullPolicy({ shouldPull: () => "never" })
    .withExposedPorts(port)
    .withEnvironment(environment)
    .withWaitStrategy(Wait.forLogMessage(ready))
    .withStartupTimeout(startMs)
    .start();
  const started = await starting;
  const host = started.getHost();
  const [network] = started.getNetworkNames();
  const ownAddress = network && started.getIpAddress(network);
  // A published port leads through a process of the engine, which copies all bytes.
  const isHere = /^(127\.|localhost$)/.test(host);
  if (ownAddress && isHere && (await opens(ownAddress, port))) return `${ownAddress}:${port}`;
  return `${host}:${started.getMappedPort(port)}`;
}

/** Says if a connection is taken within a second. */
async function opens(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(connectMs) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  const late = sleep(limitMs, undefined, { ref: false }).then(() => {
    throw new Error(`no answer within ${limitMs / 1000} s`);
  });
  return Promise.race([work, late]);
}
