# docker build -t tally . && docker run -p 127.0.0.1:4747:4747 -v tally:/data tally
# With TLS: compose.yaml. Both are described in docs/operations/container.md.
#
# The image contains the executable and a minimal Debian. For other architectures:
# docker buildx build --platform linux/amd64,linux/arm64 . – each is built with its own Bun.

# Where the executable comes from: built from source, or one of the release that scripts/release/publish.ts publishes.
ARG SOURCE=build

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

# Its build context has the executables of a release in folders of their architectures, and nothing else.
FROM scratch AS released
ARG TARGETARCH
COPY ${TARGETARCH}/tally /tally/dist/tally

FROM ${SOURCE} AS executable

# On the architecture of the machine that builds, so that the images of others need no emulation.
FROM --platform=$BUILDPLATFORM debian:trixie-slim AS system
WORKDIR /image
RUN useradd --system --uid 10001 --no-create-home tally \
    && install --directory --mode=700 volumes/data volumes/backups \
    # `tally update` leaves the executable of an image alone.
    && install --directory tally && echo container >tally/installed-by

FROM debian:trixie-slim
LABEL org.opencontainers.image.title="Tally" \
      org.opencontainers.image.description="Records what AI agents use, shows it, and bills for it" \
      org.opencontainers.image.licenses="MIT"
COPY --from=executable --chmod=755 /tally/dist/tally /usr/local/bin/tally
COPY --from=system /etc/passwd /etc/group /etc/
COPY --from=system /image/tally /usr/local/share/tally
# A new volume gets the owner of the folder that it is mounted on.
COPY --from=system --chown=10001 /image/volumes /
USER 10001
VOLUME /data
# Inside a container, nobody can reach the loopback address.
ENV TALLY_DATA=/data TALLY_HOST=0.0.0.0
EXPOSE 4747
HEALTHCHECK --interval=30s --timeout=6s --start-period=10s CMD ["tally", "ready"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["tally"]
CMD ["serve"]
