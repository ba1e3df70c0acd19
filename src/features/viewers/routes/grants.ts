import { Elysia } from 'elysia'
import { access, actorOf } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { EXAMPLE_GRANT, EXAMPLE_NEW_GRANT } from '../examples.ts'
import { GrantBody, GrantList, NewGrant } from '../schema.ts'
import type { ViewersService } from '../service.ts'

const tag = 'Viewers'
const path = { id: 'Id (usr_…) or e-mail address of the person.' }

/**
 * Who decides what viewers see, here and in the command line, which has an admin's rights. Not billing: whom something
 * is shared with is a matter of people, of whom billing sees nothing.
 */
const allow = { session: ['admin'] } as const

/** Below `/users`. */
export const grantsRoutes = ({ viewers }: { viewers: ViewersService }) =>
  new Elysia({ name: 'grants', normalize: false })
    .use(access())
    .get('/:id/grants', async ({ params }) => ({ data: await viewers.listGrants(params.id) }), {
      allow,
      scope: 'people:read',
      detail: documented({
        id: 'listGrants',
        tag,
        summary: 'List what a viewer sees',
        description:
          'The clients and projects that were granted to the person. Only somebody with the role viewer has any.',
        path,
        responses: { 200: { description: 'The grants.', schema: GrantList, example: { data: [EXAMPLE_GRANT] } } },
      }),
    })
    .post(
      '/:id/grants',
      async ({ params, body: given, caller, address, set }) => {
        const { body, isNew } = await viewers.grant(params.id, given, actorOf({ caller, address }))
        set.status = isNew ? 201 : 200
        return body
      },
      {
        allow,
        scope: 'people-only',
        object: 'usr',
        parse: 'report',
        body: NewGrant,
        detail: documented({
          id: 'grant',
          tag,
          summary: 'Grant a client or project',
          description:
            'The viewer sees the usage of the project, or of all projects that the client has at the time of each request, from the next request on. A grant of the same client or project is replaced. The grant of a project counts instead of that of its client. Merging a project does not extend its grants to the other project.',
          path,
          body: { example: EXAMPLE_NEW_GRANT },
          responses: {
            200: { description: 'The existing grant was changed.', schema: GrantBody, example: EXAMPLE_GRANT },
            201: { description: 'The client or project was granted.', schema: GrantBody, example: EXAMPLE_GRANT },
          },
          problems: ['person_erased'],
        }),
      },
    )
    .delete(
      '/:id/grants/:target',
      async ({ params, caller, address, set }) => {
        await viewers.revoke(params.id, params.target, actorOf({ caller, address }))
        set.status = 204
      },
      {
        allow,
        scope: 'people-only',
        object: 'usr',
        detail: documented({
          id: 'revokeGrant',
          tag,
          summary: 'Revoke a grant',
          description: 'Takes effect at once; the audit log keeps it.',
          path: { ...path, target: 'Id of the client (cli_…) or project (prj_…).' },
          responses: { 204: { description: 'The grant was revoked.' } },
          problems: ['person_erased'],
        }),
      },
    )
