/** Every service, built in order: each knows only those above it. */

import { findDamage } from './database/damage.ts'
import type { Database } from './database/database.ts'
import { databaseTime, readinessOf } from './database/ready.ts'
import { createAgentStatusService } from './features/agent-status/service.ts'
import { createAnomaliesService } from './features/anomalies/service.ts'
import { createAuditService } from './features/audit/service.ts'
import { type BillsDependencies, createBillsService, createMailer } from './features/bills/service.ts'
import { createAnnouncements as budgetAnnouncements, createBudgetsService } from './features/budgets/service.ts'
import { createChangesService } from './features/changes/service.ts'
import { createDigestsService } from './features/digests/service.ts'
import { createEntriesService } from './features/entries/service.ts'
import { createEventsService } from './features/events/service.ts'
import { createFundingService } from './features/funding/service.ts'
import { createInboxService } from './features/inbox/service.ts'
import { createNoticesService } from './features/notices/service.ts'
import { createNotificationsService } from './features/notifications/service.ts'
import { createOrganizationService } from './features/organization/service.ts'
import { createOverviewService } from './features/overview/service.ts'
import { createPeopleService, type PeopleDependencies } from './features/people/service.ts'
import { createPersonalDataService } from './features/personal-data/service.ts'
import { createPlacementService } from './features/placement/service.ts'
import { createPlansService } from './features/plans/service.ts'
import { createPricesService, createPriceUpdates, type UpdatesConfig } from './features/prices/service.ts'
import { createProjectsService } from './features/projects/service.ts'
import { createReceiptsService } from './features/receipts/service.ts'
import { createReportsService, createReportViewsService } from './features/reports/service.ts'
import { createSearchService } from './features/search/service.ts'
import { createSelectionService } from './features/selection/service.ts'
import { createShareLinksService } from './features/share-links/service.ts'
import { createSheetsService } from './features/sheets/service.ts'
import { createSpendingService } from './features/spending/service.ts'
import { createTelemetryService } from './features/telemetry/service.ts'
import { createTransferService } from './features/transfer/service.ts'
import { createTrustsService } from './features/trusts/service.ts'
import { createViewersService } from './features/viewers/service.ts'
import { createWebhooksService } from './features/webhooks/service.ts'
import type { Clock } from './lib/clock.ts'
import type { Job } from './lib/jobs.ts'

export interface ServicesOptions {
  db: Database
  clock: Clock
  /** How bills are delivered by e-mail; undefined where they are not. */
  mail?: BillsDependencies['mail']
  /** Where price updates come from, and how often; undefined where none are configured. */
  priceUpdates?: UpdatesConfig | undefined
  /** Where webhooks may go besides the public internet, and what links in them begin with while no public URL is set. */
  webhooks?: { privateNetworks: readonly string[]; localUrl: () => string | Promise<string> } | undefined
  /** What an option gives as the public URL, which takes precedence over the setting. */
  publicUrl?: string | undefined
  /** Replaces the default hashing thread for passwords. */
  hasher?: PeopleDependencies['hasher']
}

export function createServices({
  db,
  clock,
  mail,
  priceUpdates: config,
  webhooks: hooks,
  publicUrl,
  hasher,
}: ServicesOptions) {
  const events = createEventsService({ db, clock })
  const changes = createChangesService({ db, events })
  const audit = createAuditService({ db, clock, events })
  const noticeMail = mail && { mailer: createMailer(mail), from: mail.from }
  const organization = createOrganizationService({ db, audit, publicUrlOption: publicUrl })
  const people = createPeopleService({ db, clock, audit, organization, mail: noticeMail, hasher })
  const notifications = createNotificationsService({ db, clock, events, organization, mail: noticeMail })
  const projects = createProjectsService({ db, clock, audit })
  const trusts = createTrustsService({ db, clock, audit, organization, people, projects })
  const placement = createPlacementService({ db, clock, audit, organization, projects })
  const prices = createPricesService({ db, clock, audit, organization })
  const funding = createFundingService({ db, clock, audit, organization, people })
  const spending = createSpendingService({ db, clock, organization, announcements: budgetAnnouncements(events) })
  const selection = createSelectionService({ db, organization })
  const entries = createEntriesService({
    db,
    clock,
    audit,
    organization,
    prices,
    projects,
    placement,
    funding,
    spending,
  })
  const priceUpdates = createPriceUpdates({
    db,
    clock,
    prices,
    people,
    notifications,
    organization,
    revaluation: entries.valuation,
    config,
  })
  const sheets = createSheetsService({ db, clock, audit, organization, people, prices, entries })
  const bills = createBillsService({ db, clock, events, audit, projects, entries, funding, mail })
  const billDrafts = bills.drafts
  const reports = createReportsService({ db, clock, organization, billing: entries.billing, funding, selection })
  const reportViews = createReportViewsService({ db, clock, audit })
  const budgets = createBudgetsService({ db, clock, audit, organization, spending, notifications })
  const plans = createPlansService({ db, clock, audit, organization, funding, entries })
  const receipts = createReceiptsService({ clock, organization, reports, budgets })
  const notices = createNoticesService({ db, clock, events, organization, reports, people, notifications })
  const anomalies = createAnomaliesService({ db, clock, events, organization, billing: entries.billing })
  const digests = createDigestsService({ db, clock, events, organization, people, notifications, anomalies, reports })
  const viewers = createViewersService({ db, organization, people, projects, reports, bills })
  const shareLinks = createShareLinksService({
    db,
    clock,
    audit,
    organization,
    people,
    projects,
    reports,
    bills,
    viewers,
  })
  const webhooks = createWebhooksService({
    db,
    clock,
    audit,
    events,
    organization,
    people,
    projects,
    bills,
    budgets,
    notifications,
    privateNetworks: hooks?.privateNetworks ?? [],
    linkBase: async () => (await organization.publicUrl()) ?? hooks?.localUrl(),
  })
  const telemetry = createTelemetryService({ db, clock, audit, organization, people, entries })
  const agentStatus = createAgentStatusService({ db, clock, organization })
  const personalData = createPersonalDataService({
    db,
    clock,
    audit,
    organization,
    people,
    notifications,
    entries,
    events,
  })
  const search = createSearchService({ db })
  const transfer = createTransferService({ db, clock, audit, organization, people, projects })
  const overview = createOverviewService({ clock, organization, reports, budgets })
  const inbox = createInboxService({
    clock,
    organization,
    entries,
    sheets,
    reports,
    projects,
    placement,
    bills,
    plans,
    webhooks,
    agentStatus,
  })
  return {
    /** What a server does by itself. */
    jobs: [
      ...[reports, bills, webhooks, budgets, notifications, entries, telemetry, personalData, notices, anomalies],
      ...[digests, priceUpdates, people, agentStatus, funding, trusts],
    ].flatMap(({ jobs }): readonly Job[] => jobs),
    db,
    events,
    changes,
    audit,
    organization,
    people,
    notifications,
    projects,
    trusts,
    placement,
    prices,
    priceUpdates,
    funding,
    spending,
    selection,
    entries,
    sheets,
    bills,
    reports,
    budgets,
    plans,
    receipts,
    notices,
    anomalies,
    digests,
    shareLinks,
    reportViews,
    billDrafts,
    viewers,
    webhooks,
    telemetry,
    agentStatus,
    personalData,
    search,
    inbox,
    overview,
    transfer,
    checkReady: readinessOf(db),
    databaseTime: () => databaseTime(db),
    findDamage: () => findDamage(db),
  }
}

export type Services = ReturnType<typeof createServices>
