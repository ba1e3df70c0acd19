import { Type } from '@sinclair/typebox'
import { serialized } from '../../../lib/serialized.ts'
import { endpoint, result } from '../../../operations/operation.ts'
import { choiceParameter, textParameter } from '../../../operations/parameters.ts'
import { reportPeriod } from '../../reports/parameters.ts'
import { BUCKET_WIDTHS } from '../../reports/schema.ts'
import { OVERVIEW_BUCKETS, OVERVIEW_DIMENSIONS } from '../../reports/service.ts'
import { costBasis, entryFilters } from '../../selection/parameters.ts'
import { EXAMPLE_OVERVIEW } from '../examples.ts'
import { Overview } from '../schema.ts'
import type { OverviewService } from '../service.ts'

export const reportOverview = endpoint({
  id: 'reportOverview',
  tag: 'Reports',
  method: 'GET',
  path: '/reports/overview',
  summary: 'Get the overview of a period',
  description:
    'The reports that begin a visit, in one answer: usage over time, its groups and those of the previous period, what is incomplete, the forecast of the current month, and budgets that are nearly used up.',
  allow: ['read', 'session'],
  scope: 'entries:read',
  query: {
    ...Type.Pick(Type.Object(entryFilters()), ['client', 'project']).properties,
    ...reportPeriod(),
    previous_starting_at: textParameter(
      'Start of the period to compare with, which is one of the same length right before where absent.',
    ),
    previous_ending_at: textParameter('Its end; the start of the period where absent.'),
    basis: costBasis(),
    bucket_width: choiceParameter(BUCKET_WIDTHS, `Default: \`1d\`. At most ${OVERVIEW_BUCKETS} buckets.`),
    group_by: choiceParameter(OVERVIEW_DIMENSIONS, 'What groups are of. Default: `project`.'),
  },
  answer: result('The overview.', Overview, EXAMPLE_OVERVIEW),
  problems: ['database_deadline', 'fees_hidden'],
  run: async ({ overview }: { overview: OverviewService }, call) => {
    const { viewer, asker, party, query } = call
    const budgetAsker = call.hasScope('budgets:read') ? party.viewer : undefined
    return serialized<Overview>(await overview.overviewJson({ viewer, asker, budgetAsker }, query))
  },
})
