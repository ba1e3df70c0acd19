/** The agency that `tally demo` makes up: who works there, for whom, with what. All addresses are reserved for examples. */
import type { NewBudget } from '../features/budgets/schema.ts'
import type { PeopleService } from '../features/people/service.ts'
import type { NewPlan } from '../features/plans/schema.ts'
import type { ProjectsService } from '../features/projects/service.ts'

type Role = Parameters<PeopleService['addUser']>[0]['role']
type ClientFields = Parameters<ProjectsService['addClient']>[1]
type ProjectFields = Parameters<ProjectsService['addProject']>[1]

export const TIME_ZONE = 'Europe/Berlin'

export const SETTINGS = {
  name: 'Studio Meridian (demo data)',
  timeZone: TIME_ZONE,
  locale: 'en-GB',
  currency: 'USD',
  email: 'accounts@meridian.example',
  address: 'Uferstraße 8\n10999 Berlin',
  taxId: 'DE000000000',
  markupPpm: 100_000,
  dueDays: 14,
  billFooter: 'This is demo data. Please do not pay this bill.',
}

export interface DemoPerson {
  /** Before the @. */
  user: string
  name: string
  role: Role
  timeZone: string
  /** Sessions on a usual working day; 0 for those who do not work with agents. */
  sessions: number
  /** Harnesses, each as often as it is named. */
  harnesses: HarnessName[]
  /** Keys of projects, each as often as it is named. */
  projects: string[]
  /** Share of the period after which the person leaves. */
  leavesAfter?: number
  /** Can sign in; the text describes what the account is for. */
  signsIn?: string
}

export const PEOPLE: DemoPerson[] = [
  {
    user: 'ines.marques',
    name: 'Ines Marques',
    role: 'admin',
    timeZone: 'Europe/Lisbon',
    sessions: 2,
    harnesses: ['claude-code'],
    projects: ['TOOLS', 'TOOLS', 'LAB'],
    signsIn: 'admin: full access, including people, tokens and settings',
  },
  {
    user: 'hanna.lindqvist',
    name: 'Hanna Lindqvist',
    role: 'billing',
    timeZone: TIME_ZONE,
    sessions: 0,
    harnesses: [],
    projects: [],
    signsIn: 'billing: bills, clients, prices and approvals',
  },
  {
    user: 'mara.vogel',
    name: 'Mara Vogel',
    role: 'member',
    timeZone: TIME_ZONE,
    sessions: 8,
    harnesses: ['claude-code', 'claude-code', 'claude-code', 'codex'],
    projects: ['SHOP', 'SHOP', 'SHOP', 'APP', 'TOOLS'],
    signsIn: 'member, lead of SHOP and APP: approves and places their entries',
  },
  {
    user: 'dele.okafor',
    name: 'Dele Okafor',
    role: 'member',
    timeZone: 'Europe/London',
    sessions: 9,
    harnesses: ['claude-code', 'codex', 'codex'],
    projects: ['PORTAL', 'PORTAL', 'METER'],
  },
  {
    user: 'priya.raman',
    name: 'Priya Raman',
    role: 'member',
    timeZone: 'Asia/Kolkata',
    sessions: 10,
    harnesses: ['claude-code', 'claude-code', 'gemini-cli'],
    projects: ['TRACK', 'TRACK', 'ROUTES'],
  },
  {
    user: 'lucas.ferreira',
    name: 'Lucas Ferreira',
    role: 'member',
    timeZone: 'America/Sao_Paulo',
    sessions: 7,
    harnesses: ['opencode', 'opencode', 'claude-code'],
    projects: ['SITE', 'SITE', 'SITE', 'LAB'],
  },
  {
    user: 'jonas.weber',
    name: 'Jonas Weber',
    role: 'member',
    timeZone: TIME_ZONE,
    sessions: 11,
    harnesses: ['claude-code', 'claude-code', 'codex'],
    projects: ['SHOP', 'SHOP', 'PORTAL', 'METER'],
    signsIn: 'member: own entries and sheets only',
  },
  {
    user: 'aiko.tanaka',
    name: 'Aiko Tanaka',
    role: 'member',
    timeZone: 'Asia/Tokyo',
    sessions: 9,
    harnesses: ['gemini-cli', 'gemini-cli', 'claude-code'],
    projects: ['APP', 'APP', 'TRACK'],
  },
  {
    user: 'sam.whitaker',
    name: 'Sam Whitaker',
    role: 'member',
    timeZone: 'America/New_York',
    sessions: 10,
    harnesses: ['codex', 'codex', 'claude-code'],
    projects: ['ROUTES', 'ROUTES', 'TRACK', 'SITE'],
  },
  {
    user: 'noor.haddad',
    name: 'Noor Haddad',
    role: 'member',
    timeZone: TIME_ZONE,
    sessions: 6,
    harnesses: ['opencode', 'gemini-cli', 'claude-code'],
    projects: ['METER', 'PORTAL', 'LAB'],
  },
  {
    user: 'tomasz.wolny',
    name: 'Tomasz Wolny',
    role: 'member',
    timeZone: 'Europe/Warsaw',
    sessions: 5,
    harnesses: ['claude-code', 'codex'],
    projects: ['TOOLS', 'TOOLS', 'SHOP'],
  },
  {
    user: 'felix.brandt',
    name: 'Felix Brandt',
    role: 'member',
    timeZone: TIME_ZONE,
    sessions: 8,
    harnesses: ['claude-code', 'opencode'],
    projects: ['SITE', 'SHOP', 'APP'],
    leavesAfter: 0.55,
  },
]

/** Whose service token the nightly checks report with. */
export const CI_OWNER = 'tomasz.wolny'

export const emailOf = (user: string) => `${user}@meridian.example`

export const CLIENTS: ClientFields[] = [
  {
    name: 'Harbor & Pine',
    email: 'invoices@harborandpine.example',
    address: '12 Wharf Street\nPortland, ME 04101',
  },
  {
    name: 'Lumen Energie GmbH',
    email: 'rechnungen@lumen-energie.example',
    address: 'Hafenstraße 40\n20457 Hamburg',
    taxId: 'DE111111111',
    currency: 'EUR',
    markupPpm: 150_000,
  },
  {
    name: 'Kestrel Logistics',
    email: 'accounts@kestrel.example',
    address: '5 Quay Road\nFelixstowe IP11 3SY',
  },
  {
    name: 'Fable Foods',
    email: 'ap@fablefoods.example',
    address: '200 Orchard Avenue\nSacramento, CA 95814',
    markupPpm: 50_000,
  },
]

export interface DemoProject extends ProjectFields {
  key: string
  /** Where its work is done: the label `repository`. */
  repository: string
  /** Titles of its tickets, the first of which is number 101. */
  tickets: string[]
}

const NANOS = 1_000_000_000n

export const PROJECTS: DemoProject[] = [
  {
    key: 'SHOP',
    name: 'Harbor & Pine online shop',
    aliases: ['harbor-shop'],
    client: 'Harbor & Pine',
    budgetNanos: 1_000n * NANOS,
    leads: [emailOf('mara.vogel')],
    repository: 'harbor-pine/shop',
    tickets: [
      'Cart totals with vouchers',
      'Faster product search',
      'Guest checkout',
      'QR code returns',
      'Payment library upgrade',
      'Shoe size charts',
    ],
  },
  {
    key: 'APP',
    name: 'Harbor & Pine mobile app',
    client: 'Harbor & Pine',
    budgetNanos: 600n * NANOS,
    leads: [emailOf('mara.vogel')],
    repository: 'harbor-pine/app',
    repositories: ['harbor-pine/app', 'harbor-pine/loyalty'],
    tickets: ['Offline wishlist', 'Push notifications for orders', 'Passkey sign-in', 'Dark mode'],
  },
  {
    key: 'PORTAL',
    name: 'Lumen customer portal',
    client: 'Lumen Energie GmbH',
    markupPpm: 200_000,
    budgetNanos: 900n * NANOS,
    leads: [emailOf('dele.okafor')],
    repository: 'lumen/portal',
    tickets: [
      'Monthly installments',
      'PDF letters',
      'Customer address changes',
      'Tariff comparison',
      'Accessible forms',
    ],
  },
  {
    key: 'METER',
    name: 'Lumen meter data import',
    client: 'Lumen Energie GmbH',
    leads: [emailOf('dele.okafor')],
    repository: 'lumen/meter-import',
    tickets: ['15-minute readings', 'Missing readings', 'Legacy format import'],
  },
  {
    key: 'TRACK',
    name: 'Kestrel parcel tracking',
    client: 'Kestrel Logistics',
    markupPpm: 125_000,
    leads: [emailOf('priya.raman')],
    repository: 'kestrel/tracking',
    tickets: ['Live van map', 'Estimated arrival time', 'Proof-of-delivery photos', 'Tracking page translations'],
  },
  {
    key: 'ROUTES',
    name: 'Kestrel route planning',
    client: 'Kestrel Logistics',
    budgetNanos: 400n * NANOS,
    leads: [emailOf('priya.raman')],
    repository: 'kestrel/routes',
    tickets: ['Delivery time windows', 'Electric van range', 'Live rerouting', 'Non-stackable loads'],
  },
  {
    key: 'SITE',
    name: 'Fable Foods website',
    client: 'Fable Foods',
    leads: [emailOf('lucas.ferreira')],
    repository: 'fable/site',
    tickets: ['Recipe finder', 'Allergen filter', 'Newsletter archive', 'Responsive images'],
  },
  {
    key: 'TOOLS',
    name: 'Internal tools',
    billable: false,
    leads: [emailOf('ines.marques')],
    repository: 'meridian/tools',
    tickets: ['Shared build cache', 'Holiday calendar', 'Backup restore tests'],
  },
  {
    key: 'LAB',
    name: 'Research and training',
    billable: false,
    budgetNanos: 150n * NANOS,
    leads: [emailOf('ines.marques')],
    repository: 'meridian/lab',
    tickets: ['Local model evaluation', 'Agent code reviews'],
  },
]

/** Next to those of the projects: of clients, of the whole agency, and of a person. */
export const BUDGETS: NewBudget[] = [
  { name: 'Studio Meridian, monthly', amount: 2_000 },
  { name: 'Harbor & Pine, monthly', scope: { client: 'Harbor & Pine' }, amount: 500 },
  {
    name: 'Lumen Energie, to be billed',
    scope: { client: 'Lumen Energie GmbH' },
    measure: 'billed_amount',
    amount: 500,
    thresholds: [
      { percent: 80, leads: true },
      { percent: 100, leads: true, billing: true },
      { percent: 100, of: 'forecast', billing: true },
    ],
  },
  {
    name: 'Kestrel Logistics, quarterly',
    scope: { client: 'Kestrel Logistics' },
    amount: 1_200,
    period: 'quarter',
    roll_over: true,
  },
  { name: 'Fable Foods, monthly', scope: { client: 'Fable Foods' }, amount: 120 },
  {
    name: 'Jonas Weber, weekly tokens',
    scope: { agent_manager: emailOf('jonas.weber') },
    measure: 'tokens',
    amount: 95_000_000,
    period: 'week',
    thresholds: [{ percent: 100, people: [emailOf('jonas.weber')] }],
  },
]

/** Each from so many days after the first one, and another fee for one of them. */
interface DemoPlan {
  plan: Omit<NewPlan, 'from'> & { name: string }
  afterDays: number
  later?: { afterDays: number; fee: number }
  /** Whether the latest period that has ended waits for somebody to close it. */
  isBehind?: true
}

export const PLANS: DemoPlan[] = [
  {
    plan: { like: 'claude-max', name: 'Claude Max, Mara Vogel', people: [{ person: emailOf('mara.vogel') }] },
    afterDays: 16,
    later: { afterDays: 40, fee: 200 },
  },
  {
    plan: {
      like: 'chatgpt-business',
      name: 'ChatGPT Business',
      seats: 4,
      people: ['dele.okafor', 'sam.whitaker', 'jonas.weber'].map((user) => ({ person: emailOf(user) })),
    },
    afterDays: 0,
  },
  {
    plan: {
      like: 'claude-pro',
      name: 'Claude Pro, studio',
      fee: 18,
      currency: 'EUR',
      exchange_rate: 0.92,
      seats: 3,
      people: ['aiko.tanaka', 'felix.brandt', 'noor.haddad'].map((user) => ({ person: emailOf(user) })),
    },
    afterDays: 4,
    isBehind: true,
  },
  {
    plan: {
      like: 'copilot-pro',
      name: 'Copilot Pro, Lucas Ferreira',
      people: [{ person: emailOf('lucas.ferreira') }],
      covers: [{ field: 'agent_harness', matches: 'opencode' }],
    },
    afterDays: 0,
  },
]

/** What is paid by its price. */
export const METERED: { name: string; conditions: { field: string; matches: string }[] }[] = [
  { name: 'Nightly checks use the API', conditions: [{ field: 'agent_harness', matches: 'nightly-ci' }] },
]

/** Repositories without a rule: entries with these labels stay unattributed. */
export const UNRULED: Record<string, string> = {
  'priya.raman': 'kestrel/driver-app',
  'aiko.tanaka': 'harbor-pine/loyalty',
  'lucas.ferreira': 'fable/recipes',
  'noor.haddad': 'lumen/consumption-study',
}

interface DemoRule {
  name: string
  conditions: { field: string; matches: string }[]
  project: string
  ticket: string | null
  enabled?: boolean
}

const byBranch = (name: string, repository: string, project: string): DemoRule => ({
  name,
  conditions: [
    { field: 'labels.repository', matches: repository },
    { field: 'labels.branch', matches: `/(?<ticket>${project}-[0-9]+)/` },
  ],
  project,
  ticket: '{ticket}',
})

const byRepository = (name: string, repository: string, project: string): DemoRule => ({
  name,
  conditions: [{ field: 'labels.repository', matches: repository }],
  project,
  ticket: null,
})

export const RULES: DemoRule[] = [
  byBranch('Shop: ticket from branch', 'harbor-pine/shop', 'SHOP'),
  byBranch('Portal: ticket from branch', 'lumen/portal', 'PORTAL'),
  byBranch('Tracking: ticket from branch', 'kestrel/tracking', 'TRACK'),
  byRepository('Shop: everything else', 'harbor-pine/shop', 'SHOP'),
  byRepository('App', 'harbor-pine/app', 'APP'),
  byRepository('Portal: everything else', 'lumen/portal', 'PORTAL'),
  byRepository('Meter data', 'lumen/meter-*', 'METER'),
  byRepository('Tracking: everything else', 'kestrel/tracking', 'TRACK'),
  byRepository('Routes', 'kestrel/routes', 'ROUTES'),
  byRepository('Fable Foods', 'fable/site', 'SITE'),
  byRepository('Internal tools', 'meridian/tools', 'TOOLS'),
  {
    name: 'Experiments',
    conditions: [{ field: 'summary', matches: '*experiment*' }],
    project: 'LAB',
    ticket: null,
    enabled: false,
  },
]

export type HarnessName = 'claude-code' | 'codex' | 'gemini-cli' | 'opencode' | 'nightly-ci'

export interface DemoModel {
  model: string
  provider?: string
  /** How often it is taken, of those that are in use. */
  weight: number
  /** Shares of the period between which it is in use. */
  from?: number
  until?: number
}

/** How a harness uses models. Counts are medians of a request. */
export interface DemoHarness {
  name: HarnessName
  agents: string[]
  models: DemoModel[]
  /** Taken beside the main model by sub-agents of the same session. */
  subModel?: { model: string; share: number }
  requests: number
  /** Tokens of the conversation that a request sends again. */
  context: number
  freshInput: number
  output: number
  /** Whether cached tokens are written for a price, as Anthropic does. */
  writesCache: boolean
  /** Whether it counts the cache within the input, as OpenAI and Google do. */
  inputIncludesCache: boolean
  /** What it says of costs: its dollars per million tokens of input, output and cache; undefined for nothing. */
  reportsCost?: { input: number; output: number; cacheRead: number } | undefined
  secondsPerRequest: number
}

export const HARNESSES: Record<HarnessName, DemoHarness> = {
  'claude-code': {
    name: 'claude-code',
    agents: ['builder', 'builder', 'builder', 'reviewer'],
    models: [
      { model: 'claude-sonnet-4-6', weight: 4, until: 0.42 },
      { model: 'claude-sonnet-5', weight: 4, from: 0.38 },
      { model: 'claude-opus-4-8', weight: 2, until: 0.62 },
      { model: 'claude-opus-5-5', weight: 2, from: 0.6 },
      { model: 'claude-haiku-4-5', weight: 1 },
    ],
    subModel: { model: 'claude-haiku-4-5', share: 0.18 },
    requests: 44,
    context: 38_000,
    freshInput: 60,
    output: 420,
    writesCache: true,
    inputIncludesCache: false,
    secondsPerRequest: 24,
  },
  codex: {
    name: 'codex',
    agents: ['codex', 'codex', 'fixer'],
    models: [
      { model: 'gpt-5.3-codex', weight: 4, until: 0.55 },
      { model: 'gpt-6-sol', weight: 4, from: 0.5 },
      { model: 'gpt-5.5', weight: 1 },
    ],
    requests: 34,
    context: 31_000,
    freshInput: 900,
    output: 560,
    writesCache: false,
    inputIncludesCache: true,
    secondsPerRequest: 28,
  },
  'gemini-cli': {
    name: 'gemini-cli',
    agents: ['gemini'],
    models: [
      { model: 'gemini-3.1-pro-preview', weight: 3, until: 0.7 },
      { model: 'gemini-3.8-flash', weight: 4, from: 0.35 },
    ],
    requests: 24,
    context: 42_000,
    freshInput: 2_200,
    output: 640,
    writesCache: false,
    inputIncludesCache: true,
    secondsPerRequest: 18,
  },
  opencode: {
    name: 'opencode',
    agents: ['build', 'build', 'plan'],
    models: [
      { model: 'claude-sonnet-5', weight: 4 },
      { model: 'gpt-5.4-mini', weight: 2 },
      // Runs on a machine of the agency: it is in no price table and has no price yet.
      { model: 'meridian-coder-32b', provider: 'self-hosted', weight: 2, from: 0.3 },
    ],
    requests: 27,
    context: 24_000,
    freshInput: 700,
    output: 480,
    writesCache: false,
    inputIncludesCache: false,
    reportsCost: { input: 2, output: 10, cacheRead: 0.2 },
    secondsPerRequest: 22,
  },
  'nightly-ci': {
    name: 'nightly-ci',
    agents: ['test-triage', 'dependency-check', 'changelog'],
    models: [
      { model: 'claude-haiku-4-5', weight: 5 },
      { model: 'gpt-6-luna', weight: 3, from: 0.45 },
    ],
    requests: 6,
    context: 9_000,
    freshInput: 4_000,
    output: 350,
    writesCache: false,
    inputIncludesCache: false,
    secondsPerRequest: 9,
  },
}

/** Summaries of sessions; `{}` is replaced with the title of a ticket. */
export const SUMMARIES = [
  'Add tests: {}',
  'Fix flaky test: {}',
  'Plan: {}',
  'Review pull request: {}',
  'Implement: {}',
  'Debug slow page load: {}',
  'Refactor: {}',
  'Address client feedback: {}',
  'Update documentation: {}',
  'Run experiment: {}',
]

export const REJECTIONS = [
  'Ran in the wrong repository, not billable to the client',
  'The agent got stuck in a loop, we do not charge for that',
  'Training session, please report it on LAB next time',
]
