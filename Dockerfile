# One image for every service and command: the arguments select which. docs/operations.md says how to build and pin it.
# `npm run try-image` runs these steps without a container engine, and the services from the result.
ARG NODE_IMAGE=node:26-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json ./
COPY gateway/engine/stubs gateway/engine/stubs
RUN npm ci --omit=dev --ignore-scripts
COPY . .
RUN node almanac.js dashboard build
RUN node --disable-warning=ExperimentalWarning scripts/runtime-tree.ts /app

FROM ${NODE_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Almanac" \
  org.opencontainers.image.description="Turns a folder of CSV files into a paid, keyed, versioned statistical data API" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
# chart.png is drawn with a font of the system.
RUN apt-get update && apt-get install -y --no-install-recommends fonts-dejavu-core && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /app ./
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/var/lib/almanac NODE_COMPILE_CACHE=/app/.compiled
# What Node compiles is stored now, by the user who will read it (Node keeps it by user), for nothing can be written there later.
RUN mkdir -p .compiled /var/lib/almanac && chown 1000:1000 .compiled /var/lib/almanac \
  && setpriv --reuid=1000 --regid=1000 --clear-groups node --input-type=module -e "for (const main of ['cli/commands/start', 'gateway/main', 'data-api/main', 'accounts-api/main', 'accounts-api/worker', 'ingest/main']) await import('/app/' + main + '.mjs')" \
  && chown -R root:root .compiled
USER 1000:1000
VOLUME /var/lib/almanac
EXPOSE 8080 8081 8082 8083 9464
# Of the gateway; another service needs the URL of its own.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["node", "/app/scripts/health.mjs"]
ENTRYPOINT ["node", "/app/almanac.mjs"]
CMD ["start", "gateway"]
