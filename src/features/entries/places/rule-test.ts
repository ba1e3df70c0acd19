/** Testing rules on stored entries: which rule matches each, and why earlier ones do not. Writes nothing. */

import type { Viewer } from '../../../access/visibility.ts'
import type { Database } from '../../../database/database.ts'
import { validationFailed } from '../../../errors.ts'
import { yieldTurn } from '../../../lib/portions.ts'
import { badPage, Query, type QueryTexts } from '../../../schema/query.ts'
import { explain, explanationBody, type PlacementService, readNewRule, type Unsaved } from '../../placement/service.ts'
import { type EntryFilter, type Position, readFilter, readPage, writePage } from '../../selection/contract.ts'
import { isLocked } from '../rows.ts'
import { isForRules, subjectOf } from './placed-entry.ts'
import { type RuleTrial, type RuleTrialAnswer, TRIAL_LIMIT_DEFAULT } from './schema.ts'
import { listPlacedNewest } from './store/places.ts'
import { trialEntryBody } from './wire.ts'

/**
 * Steps per response: a thousand entries by twenty rules. They take some tenths of a second if the rules contain
 * regular expressions, and some megabytes; with more rules, pages are shorter.
 */
const STEPS_LIMIT = 20_000

/** Entries after which other requests get a turn. */
const AT_ONCE = 50

export interface Trial extends Unsaved {
  filter: EntryFilter
  limit: number
  after: Position | undefined
}

/** Parses the parameters of a call. Throws 422 with every issue. */
export function readTrial({ rule, replaces, limit, page }: RuleTrial, filters: QueryTexts, timeZone: string): Trial {
  const query = new Query(filters)
  const filter = readFilter(query, timeZone)
  query.finish()
  const after = page === undefined ? undefined : readPage(page)
  if (page !== undefined && !after) throw validationFailed([badPage('/page')])
  return { filter, unsaved: rule && readNewRule(rule), replaces, limit: limit ?? TRIAL_LIMIT_DEFAULT, after }
}

export function createRuleTest({ db, placement }: { db: Database; placement: PlacementService }) {
  return {
    /** Throws 422 for a rule that could not be saved. */
    async tryRules(viewer: Viewer, { filter, limit, after, ...tried }: Trial): Promise<RuleTrialAnswer> {
      const rules = await placement.rulesWith(tried)
      const found = await listPlacedNewest(db.slow, { filter, viewer, after, limit: limit + 1 })
      const data: RuleTrialAnswer['data'] = []
      let steps = 0
      for (const placed of found.slice(0, limit)) {
        const explanation = explanationBody(explain(rules, subjectOf(placed)))
        data.push({
          entry: trialEntryBody(placed),
          applies: isForRules(placed) && !isLocked(placed.entry),
          ...explanation,
        })
        steps += explanation.steps.length
        if (steps >= STEPS_LIMIT) break
        if (data.length % AT_ONCE === 0) await yieldTurn()
      }
      const hasMore = found.length > data.length
      const last = hasMore ? found[data.length - 1]!.entry : undefined
      return { data, has_more: hasMore, next_page: last ? writePage({ startedAt: last.startedAt, id: last.id }) : null }
    },
  }
}
