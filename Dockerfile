# Builds two images: `--target app`, and `--target sandbox`, which adds the local chain of the stand-ins.
# The Node of the base image is the version that package.json pins (test/conformance/docs.test.ts compares them), so the
# package `node` is not needed inside, and no install script runs.
ARG NODE_IMAGE=node:24.21.0-slim

FROM ${NODE_IMAGE} AS base
WORKDIR /app

# The tarball that `npm pack` makes for everyone.
FROM base AS build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev --ignore-scripts
COPY LICENSE README.md tsconfig.json ./
COPY scripts scripts
COPY samples samples
COPY bin bin
COPY src src
RUN node scripts/build.mjs \
  && npm pack --ignore-scripts --pack-destination / \
  && mkdir /unpacked \
  && tar -xzf /paydirt-*.tgz -C /unpacked --strip-components=1

# The versions of the lock file, without what nothing here loads: the compiler comes with packages that only type against it.
FROM base AS modules
COPY package.json package-lock.json .npmrc ./
COPY scripts/trim-install.mjs scripts/
RUN npm ci --omit=dev --ignore-scripts \
  && node scripts/trim-install.mjs \
  && rm -rf node_modules/typescript node_modules/@typescript

FROM base AS app
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Paydirt" \
  org.opencontainers.image.description="Enriches CRM records through a pay-per-use data service" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
# As leanEnv in scripts/runtime.mjs: freed memory goes back to the system.
ENV MALLOC_ARENA_MAX=1 \
  MALLOC_MMAP_THRESHOLD_=65536 \
  MALLOC_TRIM_THRESHOLD_=131072
# /dev/shm is a file system of each container's own, which can be written while its root cannot.
ENV NODE_ENV=production \
  PAYDIRT_DATA_DIR=/data \
  PAYDIRT_HEALTH=/dev/shm/paydirt-health.sock
# The user that runs the program owns the data directory, also when a fresh volume is mounted over it. `paydirt` allows
# `docker compose exec worker paydirt spend`.
RUN mkdir /data && chown node:node /data && ln -s /app/bin/paydirt.mjs /usr/local/bin/paydirt
COPY --from=modules /app/node_modules node_modules
COPY --from=build /unpacked ./
USER node
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
# Asks this process alone: no CRM, no service and no database.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 CMD ["node", "bin/alive.mjs"]
# The program is the first process of the container and receives the signals directly, without npm or a shell.
ENTRYPOINT ["node", "--max-semi-space-size=16", "bin/paydirt.mjs"]
CMD ["start", "--role", "all"]

FROM app AS sandbox
COPY --from=build /app/node_modules/@foundry-rs node_modules/@foundry-rs
HEALTHCHECK NONE
CMD ["sandbox"]
