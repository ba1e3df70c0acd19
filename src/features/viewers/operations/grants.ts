import { type AnyAction, endpoint, operation, result } from '../../../operations/operation.ts'
import { EXAMPLE_GRANT, EXAMPLE_NEW_GRANT } from '../examples.ts'
import { GrantBody, GrantList, NewGrant } from '../schema.ts'
import type { ViewersService } from '../service.ts'

interface Needs {
  viewers: ViewersService
}

/**
 * Who decides what viewers see, here and in the command line, which has an admin's rights. Not billing: whom something
 * is shared with is a matter of people, of whom billing sees nothing.
 */
const forAdmins = { tag: 'Viewers', allow: { session: ['admin'] } } as const
const CHANGING = {
  ...forAdmins,
  scope: 'people-only',
  object: 'usr',
  problems: ['person_erased'],
} as const satisfies Partial<AnyAction>

const params = { id: 'Id (usr_…) or e-mail address of the person.' } as const

const GRANT = { schema: GrantBody, example: EXAMPLE_GRANT }

const listGrants = operation({
  ...forAdmins,
  id: 'listGrants',
  method: 'GET',
  path: '/users/:id/grants',
  params,
  summary: 'List what a viewer sees',
  description: 'The clients and projects that were granted to the person. Only somebody with the role viewer has any.',
  scope: 'people:read',
  answer: result('The grants.', GrantList, { data: [EXAMPLE_GRANT] }),
  run: async ({ viewers }: Needs, { params }) => ({ data: await viewers.listGrants(params.id) }),
})

const grant = endpoint({
  ...CHANGING,
  id: 'grant',
  method: 'POST',
  path: '/users/:id/grants',
  params,
  summary: 'Grant a client or project',
  description:
    'The viewer sees the usage of the project, or of all projects that the client has at the time of each request, from the next request on. A grant of the same client or project is replaced. The grant of a project counts instead of that of its client. Merging a project does not extend its grants to the other project.',
  body: NewGrant,
  example: EXAMPLE_NEW_GRANT,
  answer: [
    { ...GRANT, status: 200, description: 'The existing grant was changed.' },
    { ...GRANT, status: 201, isAddressed: false, description: 'The client or project was granted.' },
  ],
  run: async ({ viewers }: Needs, { params, body: given, party, served }) => {
    const { body, isNew } = await viewers.grant(params.id, given, party.by)
    if (isNew) served.set.status = 201
    return body
  },
})

const revokeGrant = operation({
  ...CHANGING,
  id: 'revokeGrant',
  method: 'DELETE',
  path: '/users/:id/grants/:target',
  params: { ...params, target: 'Id of the client (cli_…) or project (prj_…).' },
  summary: 'Revoke a grant',
  description: 'Takes effect at once; the audit log keeps it.',
  answer: { status: 204, description: 'The grant was revoked.' },
  run: ({ viewers }: Needs, { params, party }) => viewers.revoke(params.id, params.target, party.by),
})

export const grantOperations = [listGrants, grant, revokeGrant] as const
