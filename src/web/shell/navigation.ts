/**
 * The pages in menu order: their paths, who sees them, and how they load. What pages import cannot import this.
 *
 * A new page is a folder in `pages/`, a line in `SECTIONS` here and in `http/web.ts`, which answers its address, and one in
 * `PAGES` of `test/support/pages.ts`, by which tests visit it as every role. It queries with `server/queries.ts` and changes with
 * `server/send.ts`; what two pages share is in `parts/`. Names of things are a `<ThingLink>`, and numbers a `<FigureLink>`.
 */
import {
  IconApi,
  IconBook2,
  IconBuildingStore,
  IconBulb,
  IconCash,
  IconChartBar,
  IconClipboardList,
  IconFileInvoice,
  IconGauge,
  IconHistory,
  IconInbox,
  IconKey,
  IconLicense,
  IconList,
  IconMapPinQuestion,
  IconPlugConnected,
  IconRadar,
  IconReportAnalytics,
  IconRoute,
  IconSettings,
  IconShare,
  IconUserCircle,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react'
import { type ComponentType, createElement, useEffect, useState } from 'react'
import { askBillingRun } from '../pages/bills/first-requests.ts'
import Entries from '../pages/entries/entries.tsx'
import { askEntryList } from '../pages/entries/entry-list.ts'
import { askOverview } from '../pages/overview/first-requests.ts'
import Overview from '../pages/overview/overview.tsx'
import { askReports } from '../pages/reports/first-requests.ts'
import { askSharedUsage } from '../pages/shared/usage-query.ts'
import { askThingAt } from '../pages/things/first-requests.ts'
import { askFirstGroups } from '../pages/unattributed/groups.ts'
import type { Me } from '../server/me.ts'
import { PageLoading } from './page-loading.tsx'

export interface Section {
  path: string
  title: string
  icon: ComponentType<{ size?: number; stroke?: number }>
  /** The key pressed after `g`: `g e` opens the entries. */
  key: string
  group: 'Usage' | 'Work' | 'Billing' | 'Setup'
  /** Whether it shows reports, which are slower while their totals are being made. */
  hasReports?: true
  /** Whether the person may use it. */
  isFor: (me: Me) => boolean
  page: ComponentType
  /** Loads the script of the page before it is opened, unless that is part of the first one. */
  preload?: () => Promise<void>
  /** Sends the requests of the page at an address, which are not sent again while it is rendered. */
  ask?: (me: Me, search: string, path: string) => void
}

/** The section that the menu shows with the number of things that wait. */
export const INBOX_PATH = '/inbox'

/**
 * A page whose script loads when it is opened, or before. Not with React's `lazy`: it shows a page at the earliest 300 ms
 * after it has shown that one is loading.
 */
function later(load: () => Promise<{ default: ComponentType }>) {
  let loaded: ComponentType | undefined
  const loading = async () => {
    loaded = (await load()).default
    return loaded
  }
  return {
    page: function Later() {
      const [Page, setPage] = useState(() => loaded)
      const [failure, setFailure] = useState<{ error: unknown }>()
      useEffect(() => {
        if (!Page)
          loading().then(
            (page) => setPage(() => page),
            (error) => setFailure({ error }),
          )
      }, [Page])
      if (failure) throw failure.error
      return createElement(Page ?? PageLoading)
    },
    /** Never fails: if the script can't be loaded, the page says so once it is opened. */
    preload: () =>
      loading().then(
        () => {},
        () => {},
      ),
  }
}

const everyone = () => true
const roles =
  (...allowed: Me['person']['role'][]) =>
  (me: Me) =>
    allowed.includes(me.person.role)

/**
 * The pages that most visits begin with are part of the first script. The others load when they are first opened: they
 * would make it larger than the first page may be.
 */
export const SECTIONS: readonly Section[] = [
  {
    path: INBOX_PATH,
    title: 'Inbox',
    icon: IconInbox,
    key: 'i',
    group: 'Usage',
    isFor: everyone,
    ...later(() => import('../pages/inbox/inbox.tsx')),
  },
  {
    path: '/',
    title: 'Overview',
    hasReports: true,
    icon: IconChartBar,
    key: 'o',
    group: 'Usage',
    isFor: everyone,
    page: Overview,
    ask: askOverview,
  },
  {
    path: '/reports',
    title: 'Reports',
    hasReports: true,
    icon: IconReportAnalytics,
    key: 'd',
    group: 'Usage',
    isFor: everyone,
    ...later(() => import('../pages/reports/reports.tsx')),
    ask: askReports,
  },
  {
    path: '/insights',
    title: 'Insights',
    hasReports: true,
    icon: IconBulb,
    key: 'n',
    group: 'Usage',
    isFor: everyone,
    ...later(() => import('../pages/insights/insights.tsx')),
  },
  {
    path: '/entries',
    title: 'Entries',
    hasReports: true,
    icon: IconList,
    key: 'e',
    group: 'Usage',
    isFor: everyone,
    page: Entries,
    ask: askEntryList,
  },
  {
    path: '/unattributed',
    title: 'Unattributed',
    hasReports: true,
    icon: IconMapPinQuestion,
    key: 'u',
    group: 'Usage',
    isFor: everyone,
    ...later(() => import('../pages/unattributed/unattributed.tsx')),
    ask: askFirstGroups,
  },
  {
    path: '/work',
    title: 'Work',
    hasReports: true,
    icon: IconBuildingStore,
    key: 'w',
    group: 'Work',
    isFor: everyone,
    ...later(() => import('../pages/work/work.tsx')),
    ask: askThingAt,
  },
  {
    path: '/rules',
    title: 'Rules',
    icon: IconRoute,
    key: 'r',
    group: 'Work',
    isFor: roles('billing', 'admin'),
    ...later(() => import('../pages/rules/rules.tsx')),
  },
  {
    path: '/sheets',
    title: 'Token sheets',
    icon: IconClipboardList,
    key: 's',
    group: 'Work',
    isFor: everyone,
    ...later(() => import('../pages/sheets/sheets.tsx')),
  },
  {
    path: '/bills',
    title: 'Bills',
    icon: IconFileInvoice,
    key: 'b',
    group: 'Billing',
    isFor: roles('billing', 'admin'),
    ...later(() => import('../pages/bills/bills.tsx')),
    ask: askBillingRun,
  },
  {
    path: '/budgets',
    title: 'Budgets',
    icon: IconGauge,
    key: 'f',
    group: 'Billing',
    isFor: everyone,
    ...later(() => import('../pages/budgets/budgets.tsx')),
  },
  {
    path: '/plans',
    title: 'Plans',
    icon: IconLicense,
    key: 'v',
    group: 'Billing',
    isFor: roles('billing', 'admin'),
    ...later(() => import('../pages/plans/plans.tsx')),
  },
  {
    path: '/prices',
    title: 'Prices',
    icon: IconCash,
    key: 'p',
    group: 'Billing',
    isFor: everyone,
    ...later(() => import('../pages/prices/prices.tsx')),
  },
  {
    path: '/connect',
    title: 'Connect an agent',
    icon: IconPlugConnected,
    key: 'c',
    group: 'Setup',
    isFor: everyone,
    ...later(() => import('../pages/connect/connect.tsx')),
  },
  {
    path: '/telemetry',
    title: 'Telemetry',
    icon: IconRadar,
    key: 'y',
    group: 'Setup',
    isFor: roles('billing', 'admin'),
    ...later(() => import('../pages/telemetry/telemetry.tsx')),
  },
  {
    path: '/people',
    title: 'People',
    icon: IconUsers,
    key: 'm',
    group: 'Setup',
    isFor: roles('admin'),
    ...later(() => import('../pages/people/people.tsx')),
  },
  {
    path: '/tokens',
    title: 'Tokens',
    icon: IconKey,
    key: 't',
    group: 'Setup',
    isFor: everyone,
    ...later(() => import('../pages/tokens/tokens.tsx')),
  },
  {
    path: '/share-links',
    title: 'Share links',
    icon: IconShare,
    key: 'l',
    group: 'Setup',
    isFor: ({ settings }) => settings.share_links,
    ...later(() => import('../pages/share-links/share-links.tsx')),
  },
  {
    path: '/webhooks',
    title: 'Webhooks',
    icon: IconWebhook,
    key: 'h',
    group: 'Setup',
    isFor: roles('admin'),
    ...later(() => import('../pages/webhooks/webhooks.tsx')),
  },
  {
    path: '/settings',
    title: 'Settings',
    icon: IconSettings,
    key: 'g',
    group: 'Setup',
    isFor: roles('admin'),
    ...later(() => import('../pages/settings/settings.tsx')),
  },
  {
    path: '/audit',
    title: 'Audit log',
    icon: IconHistory,
    key: 'a',
    group: 'Setup',
    isFor: roles('admin'),
    ...later(() => import('../pages/audit/audit.tsx')),
  },
]

/** Whether a section handles an address: it handles all below its own. */
export const isBelow = (path: string, section: string) =>
  section === '/' ? path === '/' : path === section || path.startsWith(`${section}/`)

/** Loads the script of the page at an address while the server still says who asks. */
export async function preloadAt(path: string): Promise<void> {
  await Promise.all([...SECTIONS, THINGS].map((section) => isBelow(path, section.path) && section.preload?.()))
}

/** The pages of viewers, who have no others. */
const VIEWER_SECTIONS: readonly Section[] = [
  {
    path: '/',
    title: 'Usage',
    icon: IconReportAnalytics,
    key: 'o',
    group: 'Usage',
    isFor: everyone,
    ...later(() => import('../pages/shared/usage.tsx')),
    ask: askSharedUsage,
  },
  {
    path: '/bills',
    title: 'Bills',
    icon: IconFileInvoice,
    key: 'b',
    group: 'Usage',
    isFor: ({ shared }) => shared?.shows_bills ?? false,
    ...later(() => import('../pages/shared/bills.tsx')),
  },
]

/** Sends the requests of the page at an address, if the person may use it. */
export function askAt(me: Me, path: string, search: string): void {
  const things = me.person.role === 'viewer' ? [] : [THINGS]
  for (const section of [...sectionsFor(me), ...things])
    if (isBelow(path, section.path)) section.ask?.(me, search, path)
}

/** The pages that a person may use. The server checks access itself. */
export const sectionsFor = (me: Me): Section[] =>
  (me.person.role === 'viewer' ? VIEWER_SECTIONS : SECTIONS).filter(({ isFor }) => isFor(me))

/** The person's own page, outside the menu. */
export const ACCOUNT = later(() => import('../pages/account/account.tsx')).page

/** The pages of people, agents, models and sessions, which names on other pages lead to. Viewers have none. */
export const THINGS = { path: '/usage', ...later(() => import('../pages/things/things.tsx')), ask: askThingAt }

/** In the menu of viewers, who have no API tokens to use the API with. */
export const ACCOUNT_LINK = { path: '/account', title: 'Account', icon: IconUserCircle }

export const GROUPS = ['Usage', 'Work', 'Billing', 'Setup'] as const

/** Served next to the application. */
export const DOCUMENTATION = [
  { path: '/docs/', title: 'Manual', icon: IconBook2 },
  { path: '/docs/api', title: 'API', icon: IconApi },
]
