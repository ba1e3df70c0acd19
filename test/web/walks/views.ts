/**
 * What the walk over all pages (`test/web/walks/walk.ts`) opens, and as whom. A new page belongs in `support/pages.ts`; with
 * figures, also in {@link LEAST}.
 */
import { PAGES, type WebPage } from '../../support/pages.ts'

export interface Walker {
  email: string
  role: 'member' | 'billing' | 'admin'
  /** The least number of figures of views that must have some, so that none passes because it shows none. */
  least: Record<string, number>
}

const LEAST = {
  overview: 25,
  'overview of a client': 25,
  reports: 15,
  'reports by model': 9,
  entries: 1,
  'entries without a price': 0,
  unattributed: 3,
  'work-project': 12,
  'work-client': 12,
  ticket: 12,
  'person-usage': 12,
  model: 12,
  session: 8,
  'sheets to approve': 5,
  prices: 1,
  'models without a price': 2,
  budget: 1,
  inbox: 3,
  insights: 30,
  bills: 4,
  'billing run': 2,
  'bills that are overdue': 4,
}

export const WALKERS: Record<string, Walker> = {
  admin: { email: 'ines.marques@meridian.example', role: 'admin', least: LEAST },
  billing: { email: 'hanna.lindqvist@meridian.example', role: 'billing', least: LEAST },
  lead: {
    email: 'mara.vogel@meridian.example',
    role: 'member',
    least: { overview: 20, reports: 6, 'work-project': 3, 'sheets to approve': 5 },
  },
  member: { email: 'jonas.weber@meridian.example', role: 'member', least: { overview: 15, reports: 6 } },
}

/** Views of pages that have other figures than the page as it is opened first. */
export const VIEWS: readonly WebPage[] = [
  ...PAGES,
  { name: 'overview of tokens', path: '/?measure=tokens&period=last-month' },
  { name: 'overview of a client', path: '/?client=Fable+Foods&by=model' },
  { name: 'overview by list value', path: '/?basis=list&period=last-month' },
  { name: 'reports by model', path: '/reports?by=model&period=90d' },
  { name: 'reports by list value', path: '/reports?basis=list&by=project&second=model' },
  { name: 'reports by client and provider', path: '/reports?by=client&second=provider' },
  { name: 'entries without a price', path: '/entries?priced=false' },
  { name: 'sheets to approve', path: '/sheets?tab=waiting' },
  { name: 'bills that are overdue', path: '/bills?state=overdue', roles: ['billing', 'admin'] },
  { name: 'billing run', path: '/bills/run', roles: ['billing', 'admin'] },
  { name: 'models without a price', path: '/prices?tab=unpriced' },
  // Functions, as others are led to the list.
  { name: 'price table', path: async () => '/prices/load', roles: ['billing', 'admin'] },
  { name: 'new rule', path: async () => '/rules/new', roles: ['admin'] },
  {
    name: 'rule',
    path: async (ask) => `/rules/${(await ask('GET /placement-rules?limit=1')).data[0].id}`,
    roles: ['admin'],
  },
  { name: 'person', path: async (ask) => `/people/${(await ask('GET /users?limit=1')).data[0].id}`, roles: ['admin'] },
  {
    name: 'a project at any time',
    path: async (ask) => `/work/projects/${(await ask('GET /projects?limit=1')).data[0].id}?period=any`,
  },
]
