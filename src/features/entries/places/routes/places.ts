import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Elysia } from 'elysia'
import { type Issue, validationFailed } from '../../../../errors.ts'
import { access, partyOf } from '../../../../http/access.ts'
import { documented } from '../../../../http/documentation.ts'
import { issuesOf } from '../../../../issues.ts'
import { EXAMPLE_PLACED_ENTRY } from '../../examples.ts'
import { EntryCorrection, TokenEntry, TokenEntryReport } from '../../schema.ts'
import type { EntriesService } from '../../service.ts'

const tag = 'Token entries'

/** Fields of a report that a correction cannot have, so that whoever tries is told more than that they are unknown. */
const FIXED = Object.keys(TokenEntryReport.properties).filter((name) => !(name in EntryCorrection.properties))

function tellFixed(issue: Issue): Issue {
  if (!FIXED.includes(issue.pointer.slice(1))) return issue
  const message =
    'cannot be changed because it was reported by the agent. To correct totals, report the session again. You can change project, ticket, summary and labels'
  return { ...issue, code: 'fixed', message }
}

/** What the route itself checks: the issues of a correction are told here, in more words than a schema has. */
const AnyCorrection = Type.Record(Type.String(), Type.Unknown())
const correctionChecker = TypeCompiler.Compile(EntryCorrection)

function readCorrection(body: unknown): EntryCorrection {
  if (correctionChecker.Check(body)) return body
  throw validationFailed(issuesOf(correctionChecker, body).map(tellFixed))
}

export const placesRoutes = ({ entries }: { entries: EntriesService }) =>
  new Elysia({ name: 'places', normalize: false })
    .use(access())
    .patch(
      '/:id',
      ({ params, body, caller, address }) =>
        entries.places.changeEntry(params.id, readCorrection(body), partyOf({ caller, address })),
      {
        allow: ['session'],
        parse: 'report',
        body: AnyCorrection,
        detail: documented({
          id: 'changeTokenEntry',
          tag,
          summary: 'Place an entry manually or correct its summary or labels',
          description:
            'Fields that are absent stay unchanged; `null` clears a field. A manual placement is kept, whatever the session reports later and whichever rules match. This includes an entry without a project (`"project": null`). If you change the summary or labels of an entry that was not placed by a report or a person, the rules are applied again. Members can change their own entries and place entries of projects they lead. Billing and admin can change any entry; if they specify both ticket and project, the ticket is assigned to the project and its other entries move as well. Token counts cannot be changed.',
          path: { id: 'ID of the entry (ent_…).' },
          body: {
            schema: EntryCorrection,
            examples: {
              ticket: { summary: 'Place it on a ticket', value: { ticket: 'ACME-42' } },
              nowhere: { summary: 'Remove it from its project', value: { project: null } },
              labels: { summary: 'Correct its labels', value: { labels: { repository: 'acme/web' } } },
            },
          },
          responses: {
            200: { description: 'The updated entry.', schema: TokenEntry, example: EXAMPLE_PLACED_ENTRY },
          },
          problems: ['entry_locked'],
        }),
      },
    )
