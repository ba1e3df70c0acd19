/** Every feature's routes on one screen. Never listens: `tally serve` and the tests do. */
import { Elysia } from 'elysia'
import type { Logger } from 'pino'
import { auditRoutes } from './features/audit/routes.ts'
import { billsRoutes } from './features/bills/routes/bills.ts'
import { billDocumentsRoutes } from './features/bills/routes/documents.ts'
import { statesRoutes } from './features/entries/approval/routes.ts'
import { entriesRoutes } from './features/entries/listing/routes.ts'
import { placingRoutes } from './features/entries/places/routes/places.ts'
import { applyingRoute } from './features/entries/places/routes/rule-application.ts'
import { tryingRoute } from './features/entries/places/routes/rule-test.ts'
import { reportingRoutes } from './features/entries/reporting/routes.ts'
import { tokenEntrySchemaRoute } from './features/entries/reporting/schema-route.ts'
import { repricingRoute } from './features/entries/valuation/routes.ts'
import { settingsRoutes } from './features/organization/routes.ts'
import { signInRoutes } from './features/people/routes/sign-in.ts'
import { tokensRoutes } from './features/people/routes/tokens.ts'
import { usersRoutes } from './features/people/routes/users.ts'
import { placementRoutes } from './features/placement/routes.ts'
import { pricesRoutes } from './features/prices/routes.ts'
import { clientsRoutes } from './features/projects/routes/clients.ts'
import { projectsRoutes } from './features/projects/routes/projects.ts'
import { ticketsRoutes } from './features/projects/routes/tickets.ts'
import { completenessRoute } from './features/reports/routes/completeness.ts'
import { sumsRoute } from './features/reports/routes/sums.ts'
import { unattributedRoute } from './features/reports/routes/unattributed.ts'
import { unpricedRoute } from './features/reports/routes/unpriced.ts'
import { usageRoute } from './features/reports/routes/usage.ts'
import { varianceRoute } from './features/reports/routes/variance.ts'
import { sheetsRoutes } from './features/sheets/routes.ts'
import { telemetryRoutes } from './features/telemetry/routes/otlp.ts'
import { telemetryStatusRoutes } from './features/telemetry/routes/status.ts'
import { clientAddresses } from './http/client-address.ts'
import { health } from './http/health.ts'
import { metricsRoute } from './http/metrics.ts'
import { type DescribedRoute, openApi } from './http/openapi.ts'
import { PackedFiles } from './http/packed-files.ts'
import { pages } from './http/pages.ts'
import { RateLimits } from './http/rate-limits.ts'
import { requests } from './http/requests.ts'
import { sessionCookie } from './http/session-cookie.ts'
import { web } from './http/web.ts'
import { type Clock, systemClock } from './lib/clock.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import type { Services } from './services.ts'

export interface AppOptions {
  services: Services
  logger: Logger
  /** Public address of this server; if absent, the address of each request. */
  publicUrl?: string | undefined
  /** Calls per minute and token; 0 for no limit. */
  rateLimit?: number
  /** Maximum number of concurrent requests; a default if absent. */
  requestLimit?: number | undefined
  clock?: Clock
  /** The metrics registry; a new one if absent. */
  metrics?: Metrics
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. */
  trustedProxies?: readonly string[]
}

export const createApp = ({
  services,
  logger,
  publicUrl,
  metrics = createMetrics(),
  trustedProxies = [],
  rateLimit = 0,
  requestLimit,
  clock = systemClock,
}: AppOptions) => {
  const { people, organization, entries } = services
  const cookie = sessionCookie(publicUrl)
  const files = new PackedFiles()
  const addressOf = clientAddresses(trustedProxies)
  const rateLimits = rateLimit > 0 ? new RateLimits(clock, rateLimit) : undefined
  const routes = (): readonly DescribedRoute[] => app.routes as DescribedRoute[]
  const app = new Elysia({ name: 'tally', normalize: false })
    .use(requests({ people, cookie, addressOf, publicUrl, rateLimits, requestLimit, logger, routes }))
    .use(metricsRoute({ metrics, people, addressOf }))
    .use(health(services))
    .use(openApi({ routes }))
    .use(pages({ files }))
    .use(web({ cookie, files }))
    .use(signInRoutes({ people, organization, cookie }))
    .use(usersRoutes({ people, publicUrl }))
    .use(tokensRoutes(services))
    .use(billsRoutes(services))
    .use(billDocumentsRoutes(services))
    .use(settingsRoutes(services))
    .use(auditRoutes(services))
    .use(reportingRoutes({ ...services, logger, figures: metrics }))
    .use(entriesRoutes(services))
    .use(statesRoutes(services))
    .use(sheetsRoutes(services))
    .use(placingRoutes(services))
    .use(applyingRoute(services))
    .use(tryingRoute(services))
    .use(tokenEntrySchemaRoute())
    .use(telemetry(services))
    .use(clientsRoutes(services))
    .use(projectsRoutes({ ...services, relocation: entries.places }))
    .use(ticketsRoutes({ ...services, relocation: entries.places }))
    .use(placementRoutes(services))
    .use(pricesRoutes({ ...services, revaluing: entries.valuation }))
    .use(repricingRoute(services))
    .use(reports(services))
  return app
}

const telemetry = (services: Services) =>
  new Elysia({ name: 'telemetry-all', normalize: false })
    .use(telemetryRoutes(services))
    .use(telemetryStatusRoutes(services))

/** Grouped because TypeScript limits the depth of a chain. */
const reports = (services: Services) =>
  new Elysia({ name: 'reports', normalize: false })
    .use(usageRoute(services))
    .use(unattributedRoute(services))
    .use(unpricedRoute(services))
    .use(varianceRoute(services))
    .use(sumsRoute(services))
    .use(completenessRoute(services))

/** @public The web application's client is typed by it. */
export type App = ReturnType<typeof createApp>
