/**
 * OpenHands: a folder per conversation, whose state is a JSON document that is written anew, with the usage of each request.
 * Times are those of the costs that OpenHands calculated, or of the events that have the response.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { settleByKey } from '../duplicate-calls.ts'
import {
  CALL_DEFAULTS,
  countsOf,
  disjointCounts,
  type FileReading,
  findCountable,
  type ModelCall,
  momentOf,
  objectOf,
  textOf,
} from '../model-calls.ts'
import { Damages } from '../session-lines.ts'
import { parseObject } from './json-objects.ts'
import { recordedCounts, reportUnknownFields } from './known-fields.ts'
import type { Reader } from './reader.ts'

/** The states of sub-agents are in a folder of the conversation, which has their usage too. */
const STATE = /^[^/\\]+[/\\]base_state\.json$/
const FOLDER = /^[^/\\]+$/

export const openhands: Reader = {
  name: 'openhands',
  folders: ({ home, openhandsHome, openhandsConversations }) => [
    openhandsConversations ?? join(openhandsHome ?? join(home, '.openhands'), 'conversations'),
  ],
  isSessionFile: (path) => STATE.test(path),
  isSessionFolder: (path) => FOLDER.test(path),
  read: readState,
  settle: (files, settledCalls) => settleByKey(files, () => false, settledCalls),
  readTitles: (path) => {
    const title = textOf(objectOf(parseObject(readFileSync(path, 'utf8'))?.tags)?.title)
    return title === '' ? new Map() : new Map([[basename(dirname(path)), title]])
  },
}

const COUNTS = ['prompt_tokens', 'completion_tokens', 'cache_read_tokens', 'cache_write_tokens'] as const
const OTHERS = ['model', 'response_id', 'reasoning_tokens', 'context_window', 'per_turn_token']
const USAGE_FIELDS = new Set<string>([...COUNTS, ...OTHERS])

function readState(path: string): FileReading {
  const damages = new Damages()
  const onDamage = damages.of(null)
  const state = parseObject(readFileSync(path, 'utf8')) ?? {}
  const metrics = objectOf(objectOf(state.stats)?.usage_to_metrics)
  if (!metrics) onDamage('has no metrics that this version of Tally knows')
  const answeredAt = createAnsweredAt(path)
  const calls: ModelCall[] = []
  for (const each of Object.values(metrics ?? {})) {
    const recorded = objectOf(each) ?? {}
    const total = objectOf(recorded.accumulated_token_usage) ?? {}
    reportUnknownFields(total, USAGE_FIELDS, onDamage)
    const rest = countsOf(total, COUNTS, onDamage)
    const timeOf = createTimeOf(recorded.costs, recorded.token_usages, answeredAt)
    for (const usage of objectsIn(recorded.token_usages)) {
      reportUnknownFields(usage, USAGE_FIELDS, onDamage)
      const counted = recordedCounts(usage, COUNTS, onDamage)
      for (const [index, count] of counted.entries()) rest[index]! -= count
      const [input, output, cached, written] = counted
      const counts = disjointCounts({ input, output, cached, written, total: 0 })
      const { provider, model } = sellerOf(textOf(usage.model))
      const countable = findCountable({ counts, at: timeOf(usage), model }, onDamage)
      if (!countable) continue
      calls.push({
        ...CALL_DEFAULTS,
        ...countable,
        key: [usage.response_id, countable.at, model, ...Object.values(counts)].join(' '),
        session: basename(dirname(path)),
        provider,
        folder: textOf(objectOf(state.workspace)?.working_dir),
      })
    }
    if (rest.some((count) => count > 0)) onDamage('has totals of requests that it does not list, which are not counted')
  }
  return { calls, startedAt: null, damage: damages.list(), parents: {} }
}

type TimeOf = (usage: Record<string, unknown>) => number | undefined

/** The n-th cost of a model is of its n-th request, if its requests have costs. Their times name no zone in events. */
function createTimeOf(costs: unknown, usages: unknown, answeredAt: TimeOf): TimeOf {
  const models = Map.groupBy(objectsIn(usages), ({ model }) => model)
  const charged = Map.groupBy(objectsIn(costs), ({ model }) => model)
  return (usage) => {
    const alike = models.get(usage.model) ?? []
    const known = charged.get(usage.model) ?? []
    const cost = known.length === alike.length ? known[alike.indexOf(usage)] : undefined
    return momentOf(cost?.timestamp) ?? answeredAt(usage)
  }
}

/** Reads events only when one is needed. */
function createAnsweredAt(path: string): TimeOf {
  let times: Map<unknown, number | undefined> | undefined
  return ({ response_id }) => {
    // The first one, since an answer may have several.
    times ??= new Map(
      eventsOf(path)
        .map((event) => [event.llm_response_id, momentOf(event.timestamp)] as const)
        .toReversed(),
    )
    return response_id ? times.get(response_id) : undefined
  }
}

function eventsOf(path: string): Record<string, unknown>[] {
  const folder = join(dirname(path), 'events')
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
    return names.sort().map((name) => parseObject(readFileSync(join(folder, name), 'utf8')) ?? {})
  } catch {
    return []
  }
}

/** Names of models begin with who sells them. */
function sellerOf(name: string): { provider: string; model: string } {
  const at = name.indexOf('/')
  const provider = name.slice(0, Math.max(0, at))
  return { provider: MAKERS.has(provider) ? '' : provider, model: name.slice(at + 1) }
}

/** They sell the models that they make, so their names add no information. */
const MAKERS = new Set(['anthropic', 'openai', 'gemini'])

function objectsIn(list: unknown): Record<string, unknown>[] {
  return (Array.isArray(list) ? list : []).flatMap((each): Record<string, unknown>[] => [objectOf(each) ?? {}])
}
