/** The pages, in the order of the menu: where they are, for whom, and what loads them. */
import {
  IconBook2,
  IconBuildingStore,
  IconCash,
  IconChartBar,
  IconClipboardList,
  IconFileInvoice,
  IconHistory,
  IconInbox,
  IconKey,
  IconList,
  IconPlugConnected,
  IconRadar,
  IconRoute,
  IconSettings,
  IconUsers,
} from '@tabler/icons-react'
import { type ComponentType, lazy } from 'react'
import type { Me } from '../server/me.ts'

export interface Section {
  path: string
  title: string
  icon: ComponentType<{ size?: number; stroke?: number }>
  /** Pressed after `g`: `g e` goes to the entries. */
  key: string
  group: 'Usage' | 'Work' | 'Money' | 'Set-up'
  /** Who is offered it. The server refuses others anyway. */
  isFor: (me: Me) => boolean
  page: ComponentType
}

const everybody = () => true
const roles =
  (...allowed: Me['person']['role'][]) =>
  (me: Me) =>
    allowed.includes(me.person.role)

/** Each section is loaded when it is first opened, so that the first page is quick. */
export const SECTIONS: readonly Section[] = [
  {
    path: '/',
    title: 'Overview',
    icon: IconChartBar,
    key: 'o',
    group: 'Usage',
    isFor: everybody,
    page: lazy(() => import('../pages/overview/overview.tsx')),
  },
  {
    path: '/entries',
    title: 'Entries',
    icon: IconList,
    key: 'e',
    group: 'Usage',
    isFor: everybody,
    page: lazy(() => import('../pages/entries/entries.tsx')),
  },
  {
    path: '/unattributed',
    title: 'Unattributed',
    icon: IconInbox,
    key: 'u',
    group: 'Usage',
    isFor: everybody,
    page: lazy(() => import('../pages/unattributed/unattributed.tsx')),
  },
  {
    path: '/work',
    title: 'Work',
    icon: IconBuildingStore,
    key: 'w',
    group: 'Work',
    isFor: everybody,
    page: lazy(() => import('../pages/work/work.tsx')),
  },
  {
    path: '/rules',
    title: 'Rules',
    icon: IconRoute,
    key: 'r',
    group: 'Work',
    isFor: roles('billing', 'admin'),
    page: lazy(() => import('../pages/rules/rules.tsx')),
  },
  {
    path: '/sheets',
    title: 'Token sheets',
    icon: IconClipboardList,
    key: 's',
    group: 'Work',
    isFor: everybody,
    page: lazy(() => import('../pages/sheets/sheets.tsx')),
  },
  {
    path: '/bills',
    title: 'Bills',
    icon: IconFileInvoice,
    key: 'b',
    group: 'Money',
    isFor: roles('billing', 'admin'),
    page: lazy(() => import('../pages/bills/bills.tsx')),
  },
  {
    path: '/prices',
    title: 'Prices',
    icon: IconCash,
    key: 'p',
    group: 'Money',
    isFor: everybody,
    page: lazy(() => import('../pages/prices/prices.tsx')),
  },
  {
    path: '/connect',
    title: 'Connect an agent',
    icon: IconPlugConnected,
    key: 'c',
    group: 'Set-up',
    isFor: everybody,
    page: lazy(() => import('../pages/connect/connect.tsx')),
  },
  {
    path: '/telemetry',
    title: 'Telemetry',
    icon: IconRadar,
    key: 'y',
    group: 'Set-up',
    isFor: roles('billing', 'admin'),
    page: lazy(() => import('../pages/telemetry/telemetry.tsx')),
  },
  {
    path: '/people',
    title: 'People',
    icon: IconUsers,
    key: 'm',
    group: 'Set-up',
    isFor: roles('admin'),
    page: lazy(() => import('../pages/people/people.tsx')),
  },
  {
    path: '/tokens',
    title: 'Tokens',
    icon: IconKey,
    key: 't',
    group: 'Set-up',
    isFor: everybody,
    page: lazy(() => import('../pages/tokens/tokens.tsx')),
  },
  {
    path: '/settings',
    title: 'Settings',
    icon: IconSettings,
    key: 'g',
    group: 'Set-up',
    isFor: roles('admin'),
    page: lazy(() => import('../pages/settings/settings.tsx')),
  },
  {
    path: '/audit',
    title: 'Audit',
    icon: IconHistory,
    key: 'a',
    group: 'Set-up',
    isFor: roles('admin'),
    page: lazy(() => import('../pages/audit/audit.tsx')),
  },
]

/** Beside the menu: the person's own page. */
export const ACCOUNT = lazy(() => import('../pages/account/account.tsx'))

export const GROUPS = ['Usage', 'Work', 'Money', 'Set-up'] as const

/** Where the API is described; served beside the application. */
export const DOCUMENTATION = { path: '/docs', title: 'API', icon: IconBook2 }
