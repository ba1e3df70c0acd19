import { Elysia, t } from 'elysia'
import { access, askerOf, viewerOf } from '../../../http/access.ts'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { CSV_CONTENT, documented } from '../../../http/documentation.ts'
import { parameter, requiredParameter } from '../../../operations/parameters.ts'
import { WHAT_IF_COLUMNS } from '../csv.ts'
import { EXAMPLE_WHAT_IF } from '../examples.ts'
import { undividedReport } from '../parameters.ts'
import { WhatIfReport } from '../schema.ts'
import type { ReportsService } from '../service.ts'

const WhatIfQuery = t.Object(
  {
    ...undividedReport(),
    as_model: requiredParameter({
      type: 'string',
      description: 'The model whose prices are used instead. Use the filter `model` to replace some models only.',
    }),
    as_provider: parameter({ type: 'string', description: 'Its provider. Where absent, the price of the maker.' }),
  },
  { additionalProperties: false },
)

export const whatIfRoute = ({ reports }: { reports: ReportsService }) =>
  new Elysia({ name: 'what-if', normalize: false }).use(access()).get(
    '/what-if',
    async ({ query, caller, request }) => {
      const asked = await reports.readWhatIf(query, askerOf(caller))
      const report = await reports.whatIf(viewerOf(caller), asked)
      if (!wantsCsv(request, asked.format)) return report
      return csvResponse(report.data, WHAT_IF_COLUMNS, 'what-if.csv')
    },
    {
      allow: ['read', 'session'],
      scope: 'entries:read',
      query: WhatIfQuery,
      detail: documented({
        id: 'reportWhatIf',
        tag: 'Reports',
        summary: 'Compare the cost with the prices of another model',
        description:
          'Values the tokens of the models in use again, at the prices that another model has when each session starts. This is hypothetical: another model would use other numbers of tokens. Both sides are at standard prices, without those of long requests, service tiers and hours of the day.',
        responses: {
          200: {
            description: 'The report.',
            schema: WhatIfReport,
            example: EXAMPLE_WHAT_IF,
            also: CSV_CONTENT,
          },
        },
        problems: ['database_deadline'],
      }),
    },
  )
