# Every process of the program from one image: ingress as it is, others by their command, for instance
#   docker run … signalbox node --max-semi-space-size=4 dist/workers.js deliveries
# Another image with Node 24 and npm, and a user node, will do.
ARG BASE_IMAGE=node:24-slim

FROM ${BASE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without install scripts: what these packages need comes compiled.
RUN npm ci --omit=dev --ignore-scripts
COPY scripts/deploy/docs-renderer.ts scripts/deploy/
RUN node scripts/deploy/docs-renderer.ts

FROM ${BASE_IMAGE}
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0

COPY package.json package-lock.json .npmrc ./
COPY --from=packages /app/node_modules node_modules

COPY tsconfig.json ./
COPY shared shared
COPY ingress ingress
COPY workers workers
COPY scripts scripts
# Processes start from it; commands by hand, with tsx, from the sources.
RUN node scripts/deploy/bundle.ts

# For those who use SQLite, or no SECRET_KEY of their own: mount a volume here.
RUN mkdir -m 700 data && chown node:node data
USER node

EXPOSE 3000
CMD ["node", "--max-semi-space-size=4", "dist/ingress.js"]
