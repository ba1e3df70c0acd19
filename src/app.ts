/** Every route. Never listens: `tally serve` and the tests do. */

import { Elysia } from 'elysia'
import type { Logger } from 'pino'
import { agentStatusOperations } from './features/agent-status/operations/agent-status.ts'
import { reportOutliers } from './features/anomalies/operations/outliers.ts'
import { listChanges } from './features/audit/operations/audit.ts'
import { billOperations } from './features/bills/operations/bills.ts'
import { billDocumentOperations } from './features/bills/operations/documents.ts'
import { billDraftOperations } from './features/bills/operations/drafts.ts'
import { billPaymentOperations } from './features/bills/operations/payments.ts'
import { billSendingOperations } from './features/bills/operations/sending.ts'
import { budgetOperations } from './features/budgets/operations/budgets.ts'
import { followChanges } from './features/changes/operations/changes.ts'
import { actOnTokenEntries } from './features/entries/operations/actions.ts'
import { approvalOperations } from './features/entries/operations/approval.ts'
import { changeTokenEntry } from './features/entries/operations/change.ts'
import { divisionOperations } from './features/entries/operations/division.ts'
import { fundingEffectOperations } from './features/entries/operations/funding.ts'
import { listingOperations } from './features/entries/operations/listing.ts'
import { repriceTokenEntries } from './features/entries/operations/repricing.ts'
import { ruleEffectOperations } from './features/entries/operations/rules.ts'
import { reportSchemaRoute } from './features/entries/reporting/routes/report-schema.ts'
import { reportingRoutes } from './features/entries/reporting/routes/reporting.ts'
import { eventOperations } from './features/events/operations/events.ts'
import { fundingRuleOperations } from './features/funding/operations/rules.ts'
import { getInbox } from './features/inbox/operations/inbox.ts'
import { logoOperations } from './features/organization/operations/logo.ts'
import { settingsOperations } from './features/organization/operations/settings.ts'
import { reportOverview } from './features/overview/operations/overview.ts'
import { deputyOperations } from './features/people/operations/deputies.ts'
import { invitationOperations } from './features/people/operations/invitations.ts'
import { joiningOperations } from './features/people/operations/joining.ts'
import { type LocalSessions, localSessionOperations } from './features/people/operations/local-sessions.ts'
import { ownAccountOperations } from './features/people/operations/own-account.ts'
import { sessionOperations } from './features/people/operations/session.ts'
import { tokenOperations } from './features/people/operations/tokens.ts'
import { userOperations } from './features/people/operations/users.ts'
import { personalDataOperations } from './features/personal-data/operations/personal-data.ts'
import { leadRuleOperations } from './features/placement/operations/lead-rules.ts'
import { ruleProposalOperations } from './features/placement/operations/proposals.ts'
import { placementRuleOperations } from './features/placement/operations/rules.ts'
import { planOperations } from './features/plans/operations/plans.ts'
import { priceAliasOperations } from './features/prices/operations/aliases.ts'
import { priceLoadOperations } from './features/prices/operations/loads.ts'
import { priceOperations } from './features/prices/operations/prices.ts'
import { clientOperations } from './features/projects/operations/clients.ts'
import { projectOperations } from './features/projects/operations/projects.ts'
import { ticketOperations } from './features/projects/operations/tickets.ts'
import { getReceipt } from './features/receipts/operations/receipts.ts'
import { incompletenessOperations } from './features/reports/operations/incompleteness.ts'
import { insightOperations } from './features/reports/operations/insights.ts'
import { usageOperations } from './features/reports/operations/usage.ts'
import { reportViewOperations } from './features/reports/operations/views.ts'
import { searchEverything } from './features/search/operations/search.ts'
import { createShareLink } from './features/share-links/operations/creation.ts'
import { shareLinkOperations } from './features/share-links/operations/share-links.ts'
import { sharedPages } from './features/share-links/routes/pages.ts'
import { listApprovals } from './features/sheets/operations/approvals.ts'
import { sheetEntryOperations } from './features/sheets/operations/entries.ts'
import { sheetListOperations } from './features/sheets/operations/list.ts'
import { sheetOperations } from './features/sheets/operations/sheets.ts'
import { telemetryOperations } from './features/telemetry/operations/status.ts'
import { otlpRoutes } from './features/telemetry/routes/otlp.ts'
import { exchangeToken } from './features/trusts/operations/exchange.ts'
import { trustOperations } from './features/trusts/operations/trusts.ts'
import { grantOperations } from './features/viewers/operations/grants.ts'
import { sharedOperations } from './features/viewers/operations/shared.ts'
import { webhookOperations } from './features/webhooks/operations/webhooks.ts'
import { requireAllow } from './http/access.ts'
import { clientAddresses, type Listening } from './http/client-address.ts'
import { stopReadsOnDisconnect } from './http/disconnects.ts'
import { health } from './http/health.ts'
import { mcp } from './http/mcp.ts'
import { metricsRoute } from './http/metrics.ts'
import { openApi } from './http/openapi.ts'
import type { DescribedRoute } from './http/openapi-document.ts'
import { OTLP_PREFIX } from './http/otlp.ts'
import { PackedFiles } from './http/packed-files.ts'
import { pages } from './http/pages.ts'
import { proof } from './http/proof.ts'
import { RateLimits } from './http/rate-limits.ts'
import { requests } from './http/requests.ts'
import { serve } from './http/serving.ts'
import { sessionCookie } from './http/session-cookie.ts'
import { web } from './http/web.ts'
import { type Clock, systemClock } from './lib/clock.ts'
import type { ServerIdentity } from './lib/server-proof.ts'
import { TOOLS } from './mcp/tools.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import type { Services } from './services.ts'
export interface AppOptions {
  services: Services
  logger: Logger
  /** Calls per minute and token; 0 for no limit. */
  rateLimit?: number
  /** Whether the server is stopping; by default it never is. */
  isStopping?: () => boolean
  /** Aborted when the server only finishes what it has accepted. */
  finishing?: AbortSignal | undefined
  /** Maximum number of concurrent requests; a default if absent. */
  requestLimit?: number | undefined
  clock?: Clock
  /** The metrics registry; a new one if absent. */
  metrics?: Metrics
  /** Of a server that is private to its machine. */
  localSessions?: LocalSessions | undefined
  /** How a shell calls Tally there. */
  program?: string | undefined
  /** By which commands on the machine of the database recognize the server. */
  identity?: () => ServerIdentity
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. */
  trustedProxies?: readonly string[]
}

export const createApp = ({
  services,
  logger,
  metrics = createMetrics(),
  identity,
  localSessions,
  program,
  trustedProxies = [],
  rateLimit = 0,
  isStopping = () => false,
  finishing,
  requestLimit,
  clock = systemClock,
}: AppOptions) => {
  const { people, organization } = services
  const { publicUrlOption, publicUrl } = organization
  const cookie = sessionCookie(publicUrlOption)
  const files = new PackedFiles('web')
  const addressOf = clientAddresses(trustedProxies)
  const rateLimits = rateLimit > 0 ? new RateLimits(clock, rateLimit, people.shareCalls) : undefined
  const routes = (): readonly DescribedRoute[] => app.routes as DescribedRoute[]
  const listening = (): Listening => app.server
  // Elysia's normalization drops unknown fields, which schemas are to refuse. A chain of some 35 `use` is too deep for
  // TypeScript, so it branches.
  const app = new Elysia({ name: 'tally', normalize: false })
    .wrap(stopReadsOnDisconnect)
    .use(
      requests({
        people,
        cookie,
        addressOf,
        listening,
        publicUrlOption,
        publicUrl,
        rateLimits,
        requestLimit,
        finishing,
        logger,
        versions: services.audit.version,
        routes,
      }),
    )
    .use(metricsRoute({ metrics, people, addressOf }))
    .use(health({ checkReady: services.checkReady, isStopping }))
    .use(proof({ identity }))
    .use(pages({ files, manualFiles: new PackedFiles('manual') }))
    .use(web({ cookie, files, people, publicUrl }))
    .use(sharedPages(services))
    .use(mcp({ tools: TOOLS, handle: (request): Promise<Response> => served.handle(request), publicUrl, logger }))
    .use(at('/api/v1/openapi.json').use(openApi({ routes })))
    .use(
      at('/api/v1').use(
        serve(
          [
            ...joiningOperations,
            ...localSessionOperations,
            ...sessionOperations,
            ...ownAccountOperations,
            ...userOperations,
            ...invitationOperations,
            ...personalDataOperations,
            ...grantOperations,
            ...tokenOperations,
            ...deputyOperations,
          ],
          { ...services, cookie, localSessions, program },
        ),
      ),
    )
    .use(at('/api/v1').use(serve([...trustOperations, exchangeToken], { ...services, logger, figures: metrics })))
    .use(at('/api/v1').use(serve([...shareLinkOperations, createShareLink], { ...services, publicUrl })))
    .use(
      at('/api/v1').use(
        serve(
          [searchEverything, getInbox, followChanges, ...eventOperations, ...sharedOperations, ...webhookOperations],
          { ...services, publicUrl },
        ),
      ),
    )
    .use(at('/api/v1').use(serve([...settingsOperations, ...logoOperations, listChanges], services)))
    .use(
      at('/api/v1').use(
        serve(
          [
            ...billSendingOperations,
            ...billOperations,
            ...billDocumentOperations,
            ...billPaymentOperations,
            ...billDraftOperations,
            ...budgetOperations,
            ...planOperations,
          ],
          services,
        ),
      ),
    )
    .use(at('/api/v1/token-entries').use(reportingRoutes({ ...services, logger, figures: metrics })))
    .use(at('/api/v1/token-entry-schema').use(reportSchemaRoute()))
    .use(
      at('/api/v1').use(
        serve(
          [
            ...listingOperations,
            changeTokenEntry,
            ...divisionOperations,
            ...approvalOperations,
            actOnTokenEntries,
            listApprovals,
            ...sheetListOperations,
            ...sheetOperations,
            ...sheetEntryOperations,
          ],
          services,
        ),
      ),
    )
    .use(at('/api/v1').use(serve([...telemetryOperations, ...agentStatusOperations], services)))
    .use(at(OTLP_PREFIX).use(otlpRoutes(services)))
    .use(at('/api/v1').use(serve([...clientOperations, ...projectOperations, ...ticketOperations], services)))
    .use(
      at('/api/v1').use(
        serve(
          [
            ...fundingRuleOperations,
            ...fundingEffectOperations,
            ...placementRuleOperations,
            ...ruleProposalOperations,
            ...leadRuleOperations,
            ...ruleEffectOperations,
          ],
          services,
        ),
      ),
    )
    .use(
      at('/api/v1').use(
        serve([...priceLoadOperations, ...priceOperations, ...priceAliasOperations, repriceTokenEntries], {
          ...services,
          clock,
        }),
      ),
    )
    .use(
      at('/api/v1').use(
        serve(
          [
            ...usageOperations,
            ...incompletenessOperations,
            ...insightOperations,
            reportOverview,
            getReceipt,
            reportOutliers,
            ...reportViewOperations,
          ],
          services,
        ),
      ),
    )
  const served: { handle: (request: Request) => Promise<Response> } = app
  requireAllow(routes())
  return app
}

/** The routes below an address; what is used there declares the rest of each path. */
const at = <const Prefix extends string>(prefix: Prefix) => new Elysia({ prefix, normalize: false })

/** @public The web application's client is typed by it. */
export type App = ReturnType<typeof createApp>
