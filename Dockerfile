# docker build -t tally . && docker run -p 127.0.0.1:4747:4747 -v tally:/data tally
# With TLS: compose.yaml. Both are described in docs/operations/container.md.
#
# The image contains the executable and a minimal Debian. For other architectures:
# docker buildx build --platform linux/amd64,linux/arm64 . – each is built with its own Bun.

FROM oven/bun:1.4.5 AS build
WORKDIR /tally
# Files that rarely change come first, so that a source change does not reinstall all packages.
COPY package.json bun.lock bunfig.toml ./
COPY patches patches
COPY scripts/setup scripts/setup
# Installs the Bun that package.json pins if the image has another version.
RUN ./scripts/setup
COPY . .
# The commit that `tally version` names: --build-arg TALLY_COMMIT="$(git rev-parse --short=12 HEAD)"
ARG TALLY_COMMIT
RUN bun scripts/build.ts

FROM debian:trixie-slim
LABEL org.opencontainers.image.title="Tally" \
      org.opencontainers.image.description="Records what AI agents use, shows it, and bills for it" \
      org.opencontainers.image.licenses="MIT"
COPY --from=build --chmod=755 /tally/dist/tally /usr/local/bin/tally
# `tally update` leaves the executable of an image alone.
RUN install --directory /usr/local/share/tally && echo container >/usr/local/share/tally/installed-by
# A new volume gets the owner of the folder that it is mounted on.
RUN useradd --system --uid 10001 --no-create-home tally \
    && install --directory --owner=tally --mode=700 /data /backups
USER 10001
VOLUME /data
# Inside a container, nobody can reach the loopback address.
ENV TALLY_DATA=/data TALLY_HOST=0.0.0.0
EXPOSE 4747
HEALTHCHECK --interval=30s --timeout=6s --start-period=10s CMD ["tally", "ready"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["tally"]
CMD ["serve"]
