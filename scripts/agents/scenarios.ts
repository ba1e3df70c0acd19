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
}

const FIRST: Step = { question: 'What is new?', session: 'new' }
const NEXT: Step = { question: 'And what else?', session: 'continued' }

export const SCENARIOS = {
  resumed: [FIRST, NEXT],
  forked: [FIRST, NEXT, { question: 'What if?', session: 'forked' }],
  compacted: [FIRST, { question: 'And so?', session: 'continued', compacts: true }, NEXT],
  'sub-agent': [{ question: `${WORDS.delegate} this.`, session: 'new' }],
  killed: [FIRST, { question: `${WORDS.wait} a minute.`, session: 'continued', isKilled: true }, NEXT],
  offline: [{ ...FIRST, isOffline: true }, NEXT],
  fast: [FIRST, { ...NEXT, isFast: true }],
  'long context': [FIRST, { question: `${WORDS.long} it.`, session: 'continued' }],
} satisfies Record<string, Step[]>

export type ScenarioName = keyof typeof SCENARIOS
