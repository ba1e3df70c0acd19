/** Reports for tests, and who sends them. */
import { TALLY } from '../../src/access/actor.ts'
import type { CallerOf } from '../../src/access/caller.ts'
import { EVERYTHING } from '../../src/access/visibility.ts'
import type { Role } from '../../src/database/schema/values.ts'
import type { TokenEntryReport } from '../../src/features/entries/schema.ts'
import type { PeopleService } from '../../src/features/people/service.ts'

/** Tally itself, which may see and change everything. */
export const OPERATOR = { viewer: EVERYTHING, person: null, by: TALLY }

/** The body of a report of one hour of Codex, with changes that need not be valid. */
export const reportBody = (changes: Record<string, unknown> = {}): TokenEntryReport => ({
  agent_harness: 'codex',
  agent_name: 'builder',
  model: 'gpt-5-codex',
  started_at: '2026-11-20T10:00:00Z',
  ended_at: '2026-11-20T11:00:00Z',
  tokens: { input: 10, output: 5 },
  ...changes,
})

/** Adds a person who reports with a service token. The e-mail address is the name's: `ada@example.com`. */
export async function addReporter(
  people: PeopleService,
  { name = 'Ada', role = 'admin' }: { name?: string; role?: Role } = {},
): Promise<CallerOf<'service'>> {
  const email = `${name.toLowerCase()}@example.com`
  await people.addUser({ email, name, role }, TALLY)
  const { secret } = await people.createToken({ kind: 'svc', user: email, name: 'test' }, TALLY)
  return (await people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>
}
