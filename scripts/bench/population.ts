/** The people, projects and models of a seeded database: a mid-sized agency where a few people do most of the work. */
import { type Random, type Urn, urnOf, zipf } from './random.ts'

const MANAGERS = 500
const PROJECTS = 200
const CLIENTS = 40
const TICKETS = 20_000

const HOUR_MS = 3_600_000

/** Offsets from UTC, and how many people in ten work there. */
const OFFICES = [
  { hours: 1, of10: 6 },
  { hours: -5, of10: 3 },
  { hours: 5.5, of10: 1 },
]

const FIRST =
  'Ada Ben Chiara David Elif Femi Grace Hugo Ines Jonas Karin Liam Mei Nadia Omar Priya Quinn Rosa Sven Tara'
const LAST =
  'Abel Brandt Costa Diaz Eriksen Fischer Garcia Hansen Ito Jensen Kowalski Lang Moreau Novak Okafor Patel Rossi Schmidt Tanaka Ueda Vogel Weber Xu Yilmaz Zimmer'
const TRADES =
  'Bakery Books Clinic Energy Foods Games Hotels Insurance Logistics Museum Optics Press Robotics Solar Travel'
const PRODUCTS = 'web app api portal shop data intranet booking billing search'

/** The person with the first name: the most active one, and the admin. */
export const ADMIN = 'ada.abel@example.com'

/** An active member. */
export const MEMBER = 'femi.abel@example.com'

/** Models by harness, with the period in which they are used: one replaces the other, as in reality. */
const HARNESSES: Harness[] = [
  {
    name: 'claude-code',
    weight: 55,
    agents: ['claude', 'reviewer', 'implementer', 'planner', 'explorer', 'test-writer'],
    models: [
      { name: 'claude-3-5-sonnet-20241022', until: '2025-03' },
      { name: 'claude-3-7-sonnet-20250219', from: '2025-03', until: '2025-06' },
      { name: 'claude-sonnet-4-20250514', from: '2025-06', until: '2025-10' },
      { name: 'claude-sonnet-4-5-20250929', from: '2025-10', until: '2026-03', weight: 3 },
      { name: 'claude-sonnet-4-6', from: '2026-02', weight: 3 },
      { name: 'claude-opus-4-8', from: '2026-05', weight: 2 },
      { name: 'claude-haiku-4-5', from: '2025-10' },
    ],
  },
  {
    name: 'codex',
    weight: 20,
    agents: ['codex', 'codex-review'],
    models: [
      { name: 'o4-mini', until: '2025-09' },
      { name: 'gpt-5-codex', from: '2025-09', until: '2026-03' },
      { name: 'gpt-5.3-codex', from: '2026-02' },
      { name: 'gpt-5-mini', from: '2025-09' },
    ],
  },
  {
    name: 'gemini-cli',
    weight: 8,
    agents: ['gemini'],
    models: [{ name: 'gemini-2.5-pro' }, { name: 'gemini-2.5-flash' }, { name: 'gemini-3.5-flash', from: '2026-06' }],
  },
  {
    name: 'Cursor',
    weight: 8,
    agents: ['composer', 'background-agent'],
    models: [
      { name: 'claude-3-7-sonnet-20250219' },
      { name: 'gpt-5', from: '2025-08', weight: 2 },
      { name: 'auto', weight: 0.25 },
    ],
  },
  {
    name: 'ci-pipeline',
    weight: 6,
    agents: ['triage', 'release-notes', 'dependency-updates', 'flaky-tests'],
    models: [
      { name: 'claude-3-5-haiku-20241022', until: '2025-11' },
      { name: 'claude-haiku-4-5', from: '2025-10' },
    ],
    isUnattended: true,
  },
  {
    name: 'support-bot',
    weight: 3,
    agents: ['first-level', 'second-level'],
    models: [{ name: 'deepseek-chat' }, { name: 'gpt-4o-mini' }, { name: 'acme-coder-7b', weight: 0.3 }],
    isUnattended: true,
  },
]

interface Model {
  name: string
  /** First month of use, and the first month without use. */
  from?: string
  until?: string
  weight?: number
}

export interface Harness {
  name: string
  weight: number
  agents: string[]
  models: Model[]
  /** Also runs at night and on weekends. */
  isUnattended?: boolean
}

export interface Manager {
  id: number
  name: string
  email: string
  role: 'member' | 'billing' | 'admin'
  offsetMs: number
  harnesses: Urn<Harness>
  projects: Urn<Project>
}

export interface Client {
  id: number
  name: string
}

export interface Ticket {
  id: number
  key: string
  labelSetId: number
}

export interface Project {
  id: number
  key: string
  name: string
  clientId: number | null
  repository: string
  tickets: Ticket[]
  /** Share of work on the main branch. */
  labelSetId: number
}

export interface Population {
  managers: Urn<Manager>
  everyone: Manager[]
  clients: Client[]
  projects: Project[]
  /** By key, from 1. */
  labelSets: { repository: string; branch: string }[]
  harnesses: Harness[]
}

function words(text: string): string[] {
  return text.split(' ')
}

export function populate(random: Random): Population {
  const trades = words(TRADES)
  const last = words(LAST)
  const clients = Array.from({ length: CLIENTS }, (_, at) => ({
    id: at + 1,
    name: `${last[at % last.length]} ${trades[(at * 4) % trades.length]}`,
  }))
  const labelSets: Population['labelSets'] = []
  const addLabels = (repository: string, branch: string) => labelSets.push({ repository, branch })
  const shares = Array.from({ length: PROJECTS }, zipf)
  const whole = shares.reduce((sum, share) => sum + share, 0)
  let ticketId = 0
  const products = words(PRODUCTS)
  const projects = Array.from({ length: PROJECTS }, (_, at): Project => {
    const client = at % 5 === 4 ? undefined : clients[(at * 3) % CLIENTS]!
    const product = products[at % products.length]!
    const key = `${(client?.name ?? 'Own').slice(0, 3).toUpperCase()}${String(at + 1).padStart(3, '0')}`
    const repository = `${client ? client.name.toLowerCase().replace(' ', '-') : 'internal'}/${product}-${at + 1}`
    const tickets = Array.from({ length: Math.max(5, Math.round((shares[at]! / whole) * TICKETS)) }, (_, number) => {
      const ticketKey = `${key}-${number + 1}`
      ticketId += 1
      return { id: ticketId, key: ticketKey, labelSetId: addLabels(repository, `feature/${ticketKey.toLowerCase()}`) }
    })
    const name = `${client?.name ?? 'Our own'} ${product} ${at + 1}`
    const labelSetId = addLabels(repository, 'main')
    return { id: at + 1, key, name, clientId: client?.id ?? null, repository, tickets, labelSetId }
  })
  const everyone = peopleWith(random, projects)
  return { managers: urnOf(everyone, zipf), everyone, clients, projects, labelSets, harnesses: HARNESSES }
}

function peopleWith(random: Random, projects: Project[]): Manager[] {
  const work = urnOf(projects, zipf)
  const harnesses = urnOf(HARNESSES, ({ weight }) => weight)
  const offices = urnOf(OFFICES, ({ of10 }) => of10)
  const [first, last] = [words(FIRST), words(LAST)]
  return Array.from({ length: MANAGERS }, (_, at): Manager => {
    const name = `${first[at % first.length]} ${last[Math.floor(at / first.length)]}`
    // A person works on a few projects at a time, mostly on one of them.
    const own = Array.from({ length: 1 + random.below(6) }, () => random.pick(work))
    // Makes sure that every project has at least one person.
    own.push(projects[at % PROJECTS]!)
    const used = Array.from({ length: 1 + random.below(3) }, () => random.pick(harnesses))
    return {
      id: at + 1,
      name,
      email: `${name.toLowerCase().replace(' ', '.')}@example.com`,
      role: at === 0 ? 'admin' : at < 5 ? 'billing' : 'member',
      offsetMs: random.pick(offices).hours * HOUR_MS,
      harnesses: urnOf(used, zipf),
      projects: urnOf(own, zipf),
    }
  })
}

/** Whether a model is used in a month (`2026-03`). */
export function isUsedIn(month: string, { from = '', until = '9999' }: Model): boolean {
  return from <= month && month < until
}
