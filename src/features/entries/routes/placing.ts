import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Elysia } from 'elysia'
import { type Issue, validationFailed } from '../../../errors.ts'
import { access, partyOf } from '../../../http/access.ts'
import { documented } from '../../../http/documented.ts'
import { issuesOf } from '../../../issues.ts'
import { EXAMPLE_PLACED_ENTRY } from '../examples.ts'
import { EntryCorrection, TokenEntry, TokenEntryReport } from '../schema.ts'
import type { EntriesService } from '../service.ts'

const tag = 'Token entries'

/** Fields of a report that a correction cannot have, so that whoever tries is told more than that they are unknown. */
const FIXED = Object.keys(TokenEntryReport.properties).filter((name) => !(name in EntryCorrection.properties))

function tellFixed(issue: Issue): Issue {
  if (!FIXED.includes(issue.pointer.slice(1))) return issue
  const message =
    'is fixed: what a session used is what its agent reported. A session that reports its totals again changes them; the project, ticket, summary and labels can be changed here'
  return { ...issue, code: 'fixed', message }
}

/** What the route itself checks: the issues of a correction are told here, in more words than a schema has. */
const AnyCorrection = Type.Record(Type.String(), Type.Unknown())
const correctionChecker = TypeCompiler.Compile(EntryCorrection)

function readCorrection(body: unknown): EntryCorrection {
  if (correctionChecker.Check(body)) return body
  throw validationFailed(issuesOf(correctionChecker, body).map(tellFixed))
}

export const placingRoutes = ({ entries }: { entries: EntriesService }) =>
  new Elysia({ name: 'placing', prefix: '/api/v1/token-entries', normalize: false })
    .use(access())
    .patch(
      '/:id',
      ({ params, body, caller, address }) =>
        entries.changeEntry(params.id, readCorrection(body), partyOf({ caller, address })),
      {
        allow: ['session'],
        parse: 'report',
        body: AnyCorrection,
        detail: documented({
          id: 'changeTokenEntry',
          tag,
          summary: 'Place an entry by hand, correct its summary or labels',
          description:
            'Absent fields stay as they are, `null` clears. A place given by hand stays, whatever the session reports later and whatever rules say; so does none (`"project": null`), which rules leave alone too. Where the summary or the labels change of an entry that no name and no person placed, the rules are asked again. Members change their own entries and place those of projects they lead; billing and admin change any, and decide on the project of a ticket by naming both, which moves the ticket’s other entries as well. What an entry used is never changed here.',
          path: { id: 'Id of the entry (ent_…).' },
          body: {
            schema: EntryCorrection,
            examples: {
              ticket: { summary: 'Place it on a ticket', value: { ticket: 'ACME-42' } },
              nowhere: { summary: 'It belongs to no project', value: { project: null } },
              labels: { summary: 'Correct its labels', value: { labels: { repository: 'acme/web' } } },
            },
          },
          responses: {
            200: { description: 'The entry as it is now.', schema: TokenEntry, example: EXAMPLE_PLACED_ENTRY },
          },
          problems: ['entry_locked'],
        }),
      },
    )
