# docker build -t tally . && docker run -p 4747:4747 -v tally:/data tally
# With a secret: -v ./smtp-url:/run/secrets/smtp-url:ro -e TALLY_SMTP_URL_FILE=/run/secrets/smtp-url
#
# In the image are the executable and what Debian needs to run it. For another architecture:
# docker buildx build --platform linux/amd64,linux/arm64 . – each is built by its own Bun. People and tokens are managed in the
# running container: docker exec <container> tally users add --email ada@example.com --name Ada --role admin

FROM oven/bun:1.4.5 AS build
WORKDIR /tally
# First what changes seldom, so that a changed source does not bring all packages again.
COPY package.json bun.lock bunfig.toml ./
COPY scripts/setup scripts/setup
# setup refuses where the image's Bun is not the one that package.json names.
RUN ./scripts/setup
COPY . .
RUN bun scripts/build.ts

FROM debian:trixie-slim
COPY --from=build --chmod=755 /tally/dist/tally /usr/local/bin/tally
RUN useradd --system --uid 10001 --no-create-home tally && install --directory --owner=tally --mode=700 /data
USER 10001
VOLUME /data
# Inside a container, the loopback address reaches nobody.
ENV TALLY_DATA=/data TALLY_HOST=0.0.0.0
EXPOSE 4747
HEALTHCHECK --interval=30s --timeout=6s --start-period=10s CMD ["tally", "ready"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["tally"]
CMD ["serve"]
