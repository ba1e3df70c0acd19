/** Sessions on the machine of a server that is private to it, which the person who has just set it up can import. */
import { type Static, Type } from '@sinclair/typebox'
import { notFound } from '../../../errors.ts'
import { requireCaller } from '../../../http/access.ts'
import { endpoint, result, type Served } from '../../../operations/operation.ts'
import { array, component, integer, object, oneOf, orNull, text } from '../../../schema/types.ts'
import type { PeopleService } from '../service.ts'

export const LocalSessionsBody = component(
  'LocalSessions',
  'Sessions that agents have kept on the machine of the server.',
  {
    agents: array(
      'The agents that have kept sessions.',
      object('', { agent_harness: Type.String(), files: integer('Number of files with sessions.', { minimum: 1 }) }),
    ),
    state: oneOf(['found', 'importing', 'imported', 'failed'], 'What has become of them since the server was started.'),
    issue: orNull(text('Why the import failed, or what it could not read.')),
  },
)
export type LocalSessionsBody = Static<typeof LocalSessionsBody>

/** What a server that is private to its machine does with the sessions there. */
export interface LocalSessions {
  describe(): LocalSessionsBody
  /** Reports them with this service token, unless that is being done. */
  begin(token: string): void
  /** The session in which Tally was set up, the only one that is answered; undefined if that was in another process. */
  session?: number
}

interface Needs {
  people: PeopleService
  localSessions: LocalSessions | undefined
}

const EXAMPLE: LocalSessionsBody = {
  agents: [{ agent_harness: 'claude-code', files: 812 }],
  state: 'found',
  issue: null,
}

const NOTHING: LocalSessionsBody = { agents: [], state: 'found', issue: null }

const shared = {
  tag: 'People',
  path: '/local-sessions',
  description:
    'Only on a server that listens on this machine alone and was started on a terminal, and only in the session in which it was set up: everywhere else, there are none.',
  allow: { session: ['admin'] },
  scope: 'people-only',
} as const

function findOwn({ localSessions }: Needs, { caller }: Served): LocalSessions | undefined {
  const { session } = requireCaller(caller, ['session'])
  return localSessions?.session === session.id ? localSessions : undefined
}

const getLocalSessions = endpoint({
  ...shared,
  id: 'getLocalSessions',
  method: 'GET',
  summary: 'Get the sessions on the machine of the server',
  answer: result('What was found.', LocalSessionsBody, EXAMPLE),
  run: async (needs: Needs, { served }) => findOwn(needs, served)?.describe() ?? NOTHING,
})

/** Long enough for the files of years. */
const TOKEN_MS = 3_600_000

const importLocalSessions = endpoint({
  ...shared,
  id: 'importLocalSessions',
  method: 'POST',
  summary: 'Import the sessions on the machine of the server',
  problems: ['not_found'],
  answer: result(
    'They are being imported, as entries of the caller.',
    LocalSessionsBody,
    { ...EXAMPLE, state: 'importing' },
    { status: 202 },
  ),
  run: async (needs: Needs, { served, party }) => {
    const local = findOwn(needs, served)
    if (!local) throw notFound('What could be imported')
    if (local.describe().state !== 'importing') {
      const user = requireCaller(served.caller).person.uid
      const expiresAt = Date.now() + TOKEN_MS
      const made = await needs.people.createToken({ kind: 'svc', user, name: 'import', expiresAt }, party.by)
      local.begin(made.secret)
    }
    return local.describe()
  },
})

export const localSessionOperations = [getLocalSessions, importLocalSessions] as const
