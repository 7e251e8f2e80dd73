# syntax=docker/dockerfile:1
# The service with all its roles. Runs without privileges and on a read-only file system:
#   docker run --read-only --tmpfs /tmp --env-file loquat.env loquat serve --roles api
FROM node:26-slim AS console
WORKDIR /loquat
COPY . .
RUN npm ci --no-audit --no-fund && npx vite build packages/console

FROM node:26-slim AS packages
WORKDIR /loquat
COPY package.json package-lock.json ./
COPY packages/protocol/package.json packages/protocol/
COPY packages/server/package.json packages/server/
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund --workspace packages/server

FROM node:26-slim
ENV NODE_ENV=production LOQUAT_HOST=0.0.0.0 LOQUAT_INTERNAL_HOST=0.0.0.0
WORKDIR /loquat
COPY --from=packages /loquat/node_modules node_modules
COPY package.json ./
COPY packages/protocol packages/protocol
COPY packages/server packages/server
COPY --from=console /loquat/packages/console/dist packages/console/dist
USER node
EXPOSE 3000 9464
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9464/health/live').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "packages/server/bin/loquat.js"]
CMD ["serve"]
