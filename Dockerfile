# docker build -t tally . && docker run -p 4747:4747 -v tally:/data tally
#
# In the image are the executable and what Debian needs to run it. People and tokens are managed in the running
# container: docker exec <container> tally users add --email ada@example.com --name Ada --role admin

FROM oven/bun:1.4.5 AS build
WORKDIR /tally
COPY . .
# setup refuses where the image's Bun is not the one that package.json names.
RUN ./scripts/setup && bun scripts/build.ts

FROM debian:trixie-slim
COPY --from=build /tally/dist/tally /usr/local/bin/tally
RUN useradd --system --uid 10001 tally && install --directory --owner=tally --mode=700 /data
USER tally
VOLUME /data
# Inside a container, the loopback address reaches nobody.
ENV TALLY_DATA=/data TALLY_HOST=0.0.0.0
EXPOSE 4747
# Intentionally no HEALTHCHECK: GET /health and GET /ready are for the orchestrator to ask, and no client lies in here.
ENTRYPOINT ["tally"]
CMD ["serve"]
