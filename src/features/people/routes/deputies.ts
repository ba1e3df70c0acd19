import { Elysia, t } from 'elysia'
import { access, partyOf } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { listPage } from '../../../operations/parameters.ts'
import { DeputyBody, DeputyList, EXAMPLE_DEPUTY, NewDeputy } from '../deputies/schema.ts'
import { readDeputyList } from '../query.ts'
import type { PeopleService } from '../service.ts'

const tag = 'Approval'

const { format: _, ...page } = listPage('Deputies')
const DeputyQuery = t.Object(page, { additionalProperties: false })

export const deputiesRoutes = ({ people }: { people: PeopleService }) =>
  new Elysia({ name: 'deputies', normalize: false })
    .use(access())
    .get('', ({ caller, address, query }) => people.listDeputies(partyOf({ caller, address }), readDeputyList(query)), {
      allow: ['session'],
      scope: 'people-only',
      query: DeputyQuery,
      detail: documented({
        id: 'listDeputies',
        tag,
        summary: 'List deputies',
        description:
          'The deputies that you named, and those for whom you are the deputy; everybody’s if you are an admin. Those named last come first, and ended ones stay listed.',
        responses: {
          200: {
            description: 'A page of deputies.',
            schema: DeputyList,
            example: { data: [EXAMPLE_DEPUTY], has_more: false, next_page: null },
          },
        },
      }),
    })
    .post(
      '',
      async ({ body, caller, address, set }) => {
        const added = await people.addDeputy(body, partyOf({ caller, address }))
        set.status = 201
        return added
      },
      {
        allow: ['session'],
        scope: 'people-only',
        parse: 'report',
        body: NewDeputy,
        detail: documented({
          id: 'addDeputy',
          tag,
          summary: 'Name a deputy',
          description:
            'Between the two days, the deputy can approve the entries and sheets of the projects that you lead or approve for, and sees what an approver sees of them. Nobody approves their own entries, and a deputy does not approve those of the person for whom they act. The audit log and the history of entries name both. The rights of a role are not passed on, and a deputy cannot name another one.',
          body: { example: { deputy: 'grace@example.com', from: '2026-12-21', to: '2027-01-04' } },
          responses: {
            201: { description: 'The deputy was named.', schema: DeputyBody, example: EXAMPLE_DEPUTY },
          },
        }),
      },
    )
    .delete(
      '/:id',
      async ({ params, caller, address, set }) => {
        await people.removeDeputy(params.id, partyOf({ caller, address }))
        set.status = 204
      },
      {
        allow: ['session'],
        scope: 'people-only',
        detail: documented({
          id: 'removeDeputy',
          tag,
          summary: 'Remove a deputy',
          description: 'Takes effect at once. The person, the deputy and admins can do this; the audit log keeps it.',
          path: { id: 'Id of the deputization (dep_…).' },
          responses: { 204: { description: 'The deputy was removed.' } },
        }),
      },
    )
