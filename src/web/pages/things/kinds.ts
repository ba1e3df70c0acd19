/** What the page of each kind of thing shows of its usage. */
import type { EntryQuery } from '../../parts/entries/filters.ts'
import type { ThingKind } from '../../parts/thing-address.ts'
import type { Dimension } from '../../parts/usage/dimensions.ts'
import { ANY_TIME, type UsualPeriod } from './usage-period.ts'

export interface UsageOf {
  /** Selects the entries of the thing. */
  filter: EntryQuery
  /** What its usage is broken down by, the most interesting first. */
  by: readonly [Dimension, ...Dimension[]]
  usual: UsualPeriod
}

const KINDS: Record<ThingKind, Omit<UsageOf, 'filter'> & { filterOf: (key: string) => EntryQuery }> = {
  client: {
    filterOf: (id) => ({ client: [id] }),
    by: ['project', 'agent_manager', 'model', 'ticket', 'agent_name', 'agent_harness'],
    usual: '30d',
  },
  project: {
    filterOf: (id) => ({ project: [id] }),
    by: ['ticket', 'agent_manager', 'model', 'agent_name', 'agent_harness', 'label:branch'],
    usual: '30d',
  },
  ticket: {
    filterOf: (id) => ({ ticket: [id] }),
    by: ['agent_manager', 'model', 'agent_name', 'label:branch'],
    usual: ANY_TIME,
  },
  person: {
    filterOf: (id) => ({ agent_manager: [id] }),
    by: ['project', 'ticket', 'model', 'agent_name', 'agent_harness', 'client'],
    usual: '30d',
  },
  agent: {
    filterOf: (name) => ({ agent_name: [name] }),
    by: ['agent_manager', 'project', 'ticket', 'model', 'agent_harness', 'client'],
    usual: '30d',
  },
  model: {
    filterOf: (name) => ({ model: [name] }),
    by: ['project', 'agent_manager', 'ticket', 'agent_name', 'agent_harness', 'provider'],
    usual: '30d',
  },
  session: {
    filterOf: (id) => ({ session_id: [id] }),
    by: ['model', 'project', 'source', 'agent_manager'],
    usual: ANY_TIME,
  },
}

/** The usage of the thing with a key: its id, or its name where it has nothing else. */
export function usageOf(kind: ThingKind, key: string): UsageOf {
  const { filterOf, ...shown } = KINDS[kind]
  return { ...shown, filter: filterOf(key) }
}
