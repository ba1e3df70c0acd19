/** Every page of the web application, for tests of all pages. */
import type { Ask } from './session.ts'

export interface WebPage {
  name: string
  /** A path, or a function that finds one: a page of a bill needs a bill. */
  path: string | ((ask: Ask) => Promise<string>)
  /** The roles that can open it; all if absent. */
  roles?: readonly ('member' | 'billing' | 'admin')[]
  /** Shown without signing in. */
  isOutside?: boolean
  /** Shown in the README or the manual. */
  inDocs?: boolean
}

export interface Place {
  name: string
  path: string
}

const first = (list: string, path: (id: string) => string) => async (ask: Ask) =>
  path((await ask(`GET ${list}`)).data[0].id)

/** A page of something that an entry names. */
const ofEntry =
  (path: (entry: Record<string, string> & { agent_manager: { id: string } }) => string) => async (ask: Ask) => {
    const { data } = await ask('GET /token-entries?limit=100')
    return path(data.find(({ session_id }: { session_id: string | null }) => session_id !== null))
  }

const BOOKS = ['billing', 'admin'] as const
const ADMIN = ['admin'] as const

export const PAGES: readonly WebPage[] = [
  { name: 'overview', path: '/', inDocs: true },
  { name: 'inbox', path: '/inbox' },
  { name: 'reports', path: '/reports' },
  { name: 'allocated', path: '/reports?basis=allocated&by=agent_manager', roles: BOOKS, inDocs: true },
  { name: 'insights', path: '/insights?as=gpt-5' },
  { name: 'entries', path: '/entries', inDocs: true },
  { name: 'entry', path: first('/token-entries?limit=1', (id) => `/entries?open=${id}`), inDocs: true },
  { name: 'unattributed', path: '/unattributed', inDocs: true },
  { name: 'work', path: '/work', inDocs: true },
  { name: 'work-clients', path: '/work?tab=clients', roles: BOOKS },
  { name: 'work-tickets', path: '/work?tab=tickets' },
  { name: 'work-project', path: first('/projects?limit=1', (id) => `/work/projects/${id}`) },
  { name: 'work-client', path: first('/clients?limit=1', (id) => `/work/clients/${id}`), roles: BOOKS },
  { name: 'ticket', path: first('/tickets?limit=1', (id) => `/work/tickets/${id}`) },
  { name: 'person-usage', path: ofEntry(({ agent_manager }) => `/usage/people/${agent_manager.id}`) },
  { name: 'agent', path: ofEntry(({ agent_name }) => `/usage/agent?name=${encodeURIComponent(agent_name!)}`) },
  { name: 'model', path: ofEntry(({ model }) => `/usage/model?name=${encodeURIComponent(model!)}`) },
  { name: 'session', path: ofEntry(({ session_id }) => `/usage/session?name=${encodeURIComponent(session_id!)}`) },
  { name: 'rules', path: '/rules', roles: BOOKS, inDocs: true },
  { name: 'sheets', path: '/sheets' },
  { name: 'sheet', path: first('/token-sheets?limit=1', (id) => `/sheets/${id}`), inDocs: true },
  { name: 'bills', path: '/bills', roles: BOOKS, inDocs: true },
  { name: 'bill-new', path: '/bills/new', roles: BOOKS },
  { name: 'bill', path: first('/bills?limit=1', (id) => `/bills/${id}`), roles: BOOKS, inDocs: true },
  { name: 'budgets', path: '/budgets' },
  { name: 'budget', path: first('/budgets?limit=1', (id) => `/budgets/${id}`), roles: BOOKS },
  { name: 'plans', path: '/plans', roles: BOOKS, inDocs: true },
  { name: 'plan', path: first('/plans', (id) => `/plans/${id}`), roles: BOOKS, inDocs: true },
  { name: 'prices', path: '/prices', inDocs: true },
  { name: 'price-loads', path: '/prices?tab=loads' },
  { name: 'connect', path: '/connect', inDocs: true },
  { name: 'telemetry', path: '/telemetry', roles: BOOKS },
  { name: 'people', path: '/people', roles: ADMIN, inDocs: true },
  { name: 'tokens', path: '/tokens', inDocs: true },
  { name: 'token-agents', path: '/tokens?tab=agents' },
  { name: 'trusts', path: '/tokens?tab=trusts', roles: ADMIN },
  { name: 'share-links', path: '/share-links' },
  { name: 'webhooks', path: '/webhooks', roles: ADMIN },
  { name: 'settings', path: '/settings', roles: ADMIN, inDocs: true },
  { name: 'audit', path: '/audit', roles: ADMIN, inDocs: true },
  { name: 'account', path: '/account' },
  { name: 'sign-in', path: '/sign-in', isOutside: true },
  { name: 'set-up', path: '/setup#0123456789abcdefghijABCDEFGHIJ01', isOutside: true },
  { name: 'password', path: '/password#0123456789abcdefghijABCDEFGHIJ01', isOutside: true },
]

/** The paths of the pages for the signed-in person, in a database with one object of each kind. */
export async function placesOf(ask: Ask, role: 'member' | 'billing' | 'admin' = 'admin'): Promise<Place[]> {
  const allowed = PAGES.filter(({ roles, isOutside }) => !isOutside && (roles === undefined || roles.includes(role)))
  return Promise.all(
    allowed.map(async ({ name, path }) => ({ name, path: typeof path === 'string' ? path : await path(ask) })),
  )
}
