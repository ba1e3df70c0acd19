# docker build -t tally . && docker run -p 4747:4747 -v tally:/data tally
# With a secret: -v ./smtp-url:/run/secrets/smtp-url:ro -e TALLY_SMTP_URL_FILE=/run/secrets/smtp-url
#
# The image contains the executable and a minimal Debian. For other architectures:
# docker buildx build --platform linux/amd64,linux/arm64 . – each is built with its own Bun. Manage people and tokens in
# the running container: docker exec <container> tally users add --email ada@example.com --name Ada --role admin

FROM oven/bun:1.4.5 AS build
WORKDIR /tally
# Files that rarely change come first, so that a source change does not reinstall all packages.
COPY package.json bun.lock bunfig.toml ./
COPY scripts/setup scripts/setup
# Installs the Bun that package.json pins if the image has another version.
RUN ./scripts/setup
COPY . .
RUN bun scripts/build.ts

FROM debian:trixie-slim
COPY --from=build --chmod=755 /tally/dist/tally /usr/local/bin/tally
RUN useradd --system --uid 10001 --no-create-home tally && install --directory --owner=tally --mode=700 /data
USER 10001
VOLUME /data
# Inside a container, nobody can reach the loopback address.
ENV TALLY_DATA=/data TALLY_HOST=0.0.0.0
EXPOSE 4747
HEALTHCHECK --interval=30s --timeout=6s --start-period=10s CMD ["tally", "ready"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["tally"]
CMD ["serve"]
