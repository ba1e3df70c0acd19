import { Elysia, t } from 'elysia'
import { access } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { listParameter, parameter } from '../../../operations/parameters.ts'
import { readBillRun, readUsualTerms } from '../query.ts'
import { EXAMPLE_RUN, EXAMPLE_TERMS } from '../run-examples.ts'
import { BillRun } from '../run-schema.ts'
import { UsualTerms } from '../schema.ts'
import type { BillsService } from '../service.ts'

const tag = 'Bills'
const allow = { read: ['billing', 'admin'], session: ['billing', 'admin'] } as const
const scope = 'bills:read'

const RunQuery = t.Object(
  {
    month: {
      ...parameter({
        type: 'string',
        pattern: '^\\d{4}-(0[1-9]|1[0-2])$',
        description: 'The month to bill. Required.',
      }),
    },
    include_earlier: parameter({
      type: 'boolean',
      description:
        'Whether bills include unbilled entries from before the month. Without it, clients that have some are blocked.',
    }),
    leave_unpriced: parameter({
      type: 'boolean',
      description: 'Whether bills leave out unpriced entries. Without it, clients that have some are blocked.',
    }),
    rate: listParameter('Exchange rate of a currency, such as `EUR:0.92`, instead of that of the client’s last bill.', {
      type: 'string',
    }),
  },
  { additionalProperties: false },
)

const TermsQuery = t.Object(
  {
    client: parameter({ type: 'string', description: 'ID or name of a client.' }),
    project: parameter({ type: 'string', description: 'ID, key, name or alias of a project.' }),
  },
  { additionalProperties: false },
)

/** What billing people see before they send: the bills of a month, and the terms that are usual. */
export const billRunRoutes = ({ bills }: { bills: Pick<BillsService, 'run' | 'usualTerms'> }) =>
  new Elysia({ name: 'bill-run', normalize: false })
    .use(access())
    .get('/run', ({ query }) => bills.run(readBillRun(query)), {
      allow,
      scope,
      query: RunQuery,
      detail: documented({
        id: 'getBillRun',
        tag,
        summary: 'Prepare the bills of a month',
        description:
          'Returns what is left to do in a month, and for each client the bill that would be sent now. The figures are those of the previews. To send a bill, POST `request` with `digest` to `/bills`, under `idempotency_key`. Nothing is saved: what has been billed is known from the bills.',
        responses: { 200: { description: 'The billing run.', schema: BillRun, example: EXAMPLE_RUN } },
        problems: ['database_deadline'],
      }),
    })
    .get('/terms', ({ query }) => bills.usualTerms(readUsualTerms(query)), {
      allow,
      scope,
      query: TermsQuery,
      detail: documented({
        id: 'getUsualBillTerms',
        tag,
        summary: 'Get the usual terms of a client or project',
        description:
          'Returns the terms with which a client or project is usually billed: from the client’s settings, otherwise its last bill. They are suggestions: a bill has the terms of its request.',
        responses: { 200: { description: 'The terms.', schema: UsualTerms, example: EXAMPLE_TERMS } },
      }),
    })
