/** Trying rules on entries that are there: which would take each, and why the earlier ones would not. Writes nothing. */
import { type Static, Type } from '@sinclair/typebox'
import type { Viewer } from '../../../access/visibility.ts'
import type { Database } from '../../../database/database.ts'
import { PLACED_BY } from '../../../database/schema/values.ts'
import { validationFailed } from '../../../errors.ts'
import { timestamp } from '../../../lib/duration.ts'
import { moneyNumber } from '../../../lib/money.ts'
import { badPage, Query, type QueryTexts } from '../../../query.ts'
import { oneOf, orNull, strict } from '../../../schema.ts'
import {
  EXAMPLE_EXPLANATION,
  EXAMPLE_NEW_RULE,
  ExplanationBody,
  explain,
  explanationBody,
  type PlacementService,
  readNewRule,
  type Unsaved,
  unsavedRule,
} from '../../placement/service.ts'
import { type EntryFilter, type Position, readFilter, readPage, writePage } from '../listing/filter.ts'
import { costNanosOf, isLocked } from '../rows.ts'
import { isForRules, subjectOf } from './placed-entry.ts'
import { listPlacedNewest, type PlacedEntry } from './store/places.ts'

/** Entries that one call tries the rules on, as many as a page of any list may have. */
const TRIED_LIMIT = 1_000
const TRIED_USUALLY = 50

/**
 * Steps of one answer: a thousand entries by twenty rules. They take some tenths of a second where the rules have
 * expressions, and some megabytes; more rules make shorter pages.
 */
const STEPS_LIMIT = 20_000

/** Entries after which others get their turn. */
const AT_ONCE = 50

export const RuleTrial = Type.Object(
  {
    ...unsavedRule,
    limit: Type.Optional(
      Type.Integer({
        description: `Number of entries to test. Default: ${TRIED_USUALLY}. With many rules, a page may be shorter.`,
        minimum: 1,
        maximum: TRIED_LIMIT,
      }),
    ),
    page: Type.Optional(Type.String({ description: 'The `next_page` of the previous response to the same request.' })),
  },
  { ...strict, $id: 'PlacementRuleTrial' },
)
export type RuleTrial = Static<typeof RuleTrial>

const Reference = orNull(Type.Object({ id: Type.String(), key: Type.String() }, strict))

export const RuleTrialAnswer = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          entry: Type.Object(
            {
              id: Type.String(),
              started_at: Type.String({ format: 'date-time' }),
              agent_manager: Type.String({ description: 'Name of the person.' }),
              agent_harness: Type.String(),
              agent_name: Type.String(),
              model: Type.String(),
              summary: orNull(Type.String()),
              labels: Type.Record(Type.String(), Type.String()),
              cost: Type.Union([Type.Number(), Type.Null()], { description: 'In US dollars; null if unknown.' }),
              project: Reference,
              ticket: Reference,
              placed_by: oneOf([...PLACED_BY, 'unattributed']),
            },
            { ...strict, description: 'The entry in its current state.' },
          ),
          applies: Type.Boolean({
            description:
              'Whether applying rules can move the entry. False if a report or a person placed it, or if it is locked.',
          }),
          taken: ExplanationBody.properties.taken,
          steps: ExplanationBody.properties.steps,
        },
        strict,
      ),
      { description: 'Newest first.' },
    ),
    has_more: Type.Boolean(),
    next_page: orNull(Type.String()),
  },
  { ...strict, $id: 'PlacementRuleTrialAnswer' },
)
export type RuleTrialAnswer = Static<typeof RuleTrialAnswer>

export const EXAMPLE_TRIAL: RuleTrial = { rule: EXAMPLE_NEW_RULE, limit: 1 }

export const EXAMPLE_TRIAL_ANSWER: RuleTrialAnswer = {
  data: [
    {
      entry: {
        id: 'ent_01a1fa172a0277f3983322718874f2ef',
        started_at: '2026-11-20T17:53:04.000Z',
        agent_manager: 'Ada',
        agent_harness: 'claude-code',
        agent_name: 'reviewer',
        model: 'claude-sonnet-4-5',
        summary: 'Fix the flaky login test',
        labels: { branch: 'feature/ACME-42', repository: 'acme/web' },
        cost: 0.0263781,
        project: null,
        ticket: null,
        placed_by: 'unattributed',
      },
      applies: true,
      ...EXAMPLE_EXPLANATION,
    },
  ],
  has_more: false,
  next_page: null,
}

export interface Trial extends Unsaved {
  filter: EntryFilter
  limit: number
  after: Position | undefined
}

/** What a call asks for. Throws 422 with every issue. */
export function readTrial({ rule, replaces, limit, page }: RuleTrial, filters: QueryTexts): Trial {
  const query = new Query(filters)
  const filter = readFilter(query)
  query.finish()
  const after = page === undefined ? undefined : readPage(page)
  if (page !== undefined && !after) throw validationFailed([badPage('/page')])
  return { filter, unsaved: rule && readNewRule(rule), replaces, limit: limit ?? TRIED_USUALLY, after }
}

export function createRuleTest({ db, placement }: { db: Database; placement: PlacementService }) {
  return {
    /** Throws 422 for a rule that could not be saved either. */
    async tryRules(viewer: Viewer, { filter, limit, after, ...tried }: Trial): Promise<RuleTrialAnswer> {
      const rules = await placement.rulesWith(tried)
      const found = await listPlacedNewest(db.slow, { filter, viewer, after, limit: limit + 1 })
      const data: RuleTrialAnswer['data'] = []
      let steps = 0
      for (const placed of found.slice(0, limit)) {
        const explanation = explanationBody(explain(rules, subjectOf(placed)))
        data.push({
          entry: entryBody(placed),
          applies: isForRules(placed) && !isLocked(placed.entry),
          ...explanation,
        })
        steps += explanation.steps.length
        if (steps >= STEPS_LIMIT) break
        if (data.length % AT_ONCE === 0) await new Promise(setImmediate)
      }
      const hasMore = found.length > data.length
      const last = hasMore ? found[data.length - 1]!.entry : undefined
      return { data, has_more: hasMore, next_page: last ? writePage({ startedAt: last.startedAt, id: last.id }) : null }
    },
  }
}

function entryBody({
  entry,
  manager,
  harness,
  agent,
  model,
  labels,
  project,
  ticket,
}: PlacedEntry): RuleTrialAnswer['data'][number]['entry'] {
  return {
    id: entry.uid,
    started_at: timestamp(entry.startedAt),
    agent_manager: manager.name,
    agent_harness: harness,
    agent_name: agent,
    model,
    summary: entry.summary,
    labels: labels ?? {},
    cost: moneyNumber(costNanosOf(entry)),
    project: project && { id: project.uid, key: project.key },
    ticket: ticket && { id: ticket.uid, key: ticket.key },
    placed_by: entry.placedBy ?? 'unattributed',
  }
}
