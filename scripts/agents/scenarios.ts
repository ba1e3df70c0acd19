/** What is tried with each agent: questions to one session after the other. */
import { WORDS } from './model-server.ts'

export interface Step {
  question: string
  session: 'new' | 'continued' | 'forked'
  /** The agent summarizes the conversation in this step. */
  compacts?: boolean
  /** The agent is killed while the tool that it was asked for runs. */
  isKilled?: boolean
  /** Tally cannot be reached during the step. */
  isOffline?: boolean
  /** With the vendor's faster and more expensive service. */
  isFast?: boolean
  /** Checked out before the step; `main` if absent. */
  branch?: string
  daysAgo?: number
  /** The agent itself checks out this branch in the step. */
  changesTo?: string
  /** Telemetry names the repository and the branch. */
  isNamed?: boolean
}

const FIRST: Step = { question: 'What is new?', session: 'new' }
const NEXT: Step = { question: 'And what else?', session: 'continued' }
const COMPACTING: Step = { question: 'And so?', session: 'continued', compacts: true }
const DELEGATING: Step = { question: `${WORDS.delegate} this.`, session: 'new' }

const YESTERDAY = { branch: 'feature/ACME-1', daysAgo: 1 }
const TODAY = { branch: 'feature/ACME-2' }
const NAMED = { isNamed: true }

export const SCENARIOS = {
  resumed: [FIRST, NEXT],
  forked: [FIRST, NEXT, { question: 'What if?', session: 'forked' }],
  compacted: [FIRST, COMPACTING, NEXT],
  'sub-agent': [DELEGATING],
  killed: [FIRST, { question: `${WORDS.wait} a minute.`, session: 'continued', isKilled: true }, NEXT],
  offline: [{ ...FIRST, isOffline: true }, NEXT],
  fast: [FIRST, { ...NEXT, isFast: true }],
  'long context': [FIRST, { question: `${WORDS.long} it.`, session: 'continued' }],
  branched: [
    { ...FIRST, branch: 'feature/ACME-1' },
    { ...NEXT, question: `${WORDS.checkout} feature/ACME-2.`, branch: 'feature/ACME-1', changesTo: 'feature/ACME-2' },
  ],
  moved: [
    { ...FIRST, ...YESTERDAY },
    { ...NEXT, ...TODAY },
  ],
  'moved named': [
    { ...FIRST, ...YESTERDAY, ...NAMED },
    { ...NEXT, ...TODAY, ...NAMED },
    { ...NEXT, branch: 'feature/ACME-1', ...NAMED },
  ],
  'moved forked': [
    { ...FIRST, ...YESTERDAY },
    { question: 'What if?', session: 'forked', ...TODAY },
  ],
  'moved compacted': [
    { ...FIRST, ...YESTERDAY },
    { ...COMPACTING, ...YESTERDAY },
    { ...NEXT, ...TODAY },
    { ...COMPACTING, ...TODAY },
  ],
  'moved sub-agent': [
    { ...DELEGATING, branch: 'feature/ACME-1', daysAgo: 2 },
    { ...DELEGATING, session: 'continued', ...YESTERDAY },
    { ...NEXT, ...TODAY },
  ],
  'moved worktree': [
    { ...FIRST, ...YESTERDAY },
    { question: `${WORDS.delegate} this. ${WORDS.worktree}.`, session: 'continued', ...TODAY },
  ],
} satisfies Record<string, Step[]>

export type ScenarioName = keyof typeof SCENARIOS

export const SCENARIO_NAMES = Object.keys(SCENARIOS) as ScenarioName[]
