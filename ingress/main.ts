import "../shared/process/node-version.ts";
import { runProcess } from "../shared/services/run.ts";
import { startIngress } from "./server.ts";

await runProcess("ingress", async (services) => {
  const ingress = await startIngress(services);
  return { description: { url: ingress.url }, close: ingress.close };
});
