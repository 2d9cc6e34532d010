# Builds two images: `--target app`, and `--target sandbox`, which adds the stand-ins with their local chain.
# The Node of the base image is the version that package.json pins (test/conformance/docs.test.ts compares them), so the
# package `node` is not needed inside, and no install script runs.

FROM node:24.21.0-slim AS base
ENV NODE_ENV=production
WORKDIR /app
# The user that runs the program owns the data directory, also when a fresh volume is mounted over it.
RUN mkdir /data && chown node:node /data
ENV PAYDIRT_DATA_DIR=/data
COPY package.json package-lock.json .npmrc ./

FROM base AS modules
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force

FROM base AS all-modules
RUN npm ci --include=dev --ignore-scripts && npm cache clean --force

FROM base AS sandbox
COPY --from=all-modules /app/node_modules node_modules
COPY tsconfig.json ./
COPY src src
USER node
CMD ["node", "src/cli/main.ts", "sandbox"]

FROM base AS app
COPY --from=modules /app/node_modules node_modules
COPY scripts/runtime.mjs scripts/follow-parent.mjs scripts/
COPY bin bin
COPY src src
# Allows `docker compose exec worker paydirt spend`.
RUN ln -s /app/bin/paydirt.mjs /usr/local/bin/paydirt
USER node
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=60s --timeout=20s --start-period=30s CMD ["node", "src/cli/main.ts", "doctor", "--json"]
# The program is the first process of the container and receives the signals directly, without npm or a shell.
ENTRYPOINT ["node", "--max-semi-space-size=16", "src/cli/main.ts"]
CMD ["start", "--role", "all"]
