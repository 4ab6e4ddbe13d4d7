import Fastify from "fastify";
import pino from "pino";

/** Takes posts with fastify. Answers once `store` has kept the payload. */
export async function listen(store: (payload: object) => Promise<string>): Promise<void> {
  const { PORT, TOKEN } = process.env;
  const app = Fastify({
    bodyLimit: 5 * 1024 * 1024,
    loggerInstance: pino(pino.destination({ minLength: 8192, sync: true })),
    disableRequestLogging: true,
  });
  app.addHook("onResponse", async (request, reply) => {
    const { method, ip } = request;
    const path = request.routeOptions.url;
    request.log.info({ method, path, ip, status: reply.statusCode, ms: reply.elapsedTime }, "request");
  });
  app.post<{ Params: { token: string } }>("/deliver/:token", async (request, reply) => {
    if (request.params.token !== TOKEN) return reply.code(404).send({ message: "Not Found" });
    return reply.code(201).send({ id: await store(request.body as object) });
  });
  await app.listen({ host: "127.0.0.1", port: Number(PORT) });
}
