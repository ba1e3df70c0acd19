/** API schemas of exports and erasures. */
import { type Static, Type } from '@sinclair/typebox'
import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { conditions, isGiven, isOneOf, when } from '../../schema/conditions.ts'
import { array, component, flag, moment, object, oneOf, orNull, text } from '../../schema/types.ts'
import { ListedTokenEntry } from '../entries/schema.ts'
import { EXAMPLE_USER } from '../people/examples.ts'
import { UserBody } from '../people/schema.ts'
import type { User } from '../people/service.ts'
import { KEPT, type KeptBecause } from './erasure/columns.ts'
import { NEAR_MATCHES, type NearMatchKind } from './erasure/near-matches.ts'
import type { Erasure, PlannedErasure } from './erasure/service.ts'
import { KINDS } from './kinds.ts'

const KEPT_REASONS = Object.keys(KEPT) as KeptBecause[]
const NEAR_MATCH_KINDS = Object.keys(NEAR_MATCHES) as NearMatchKind[]

export const PersonalData = component(
  'PersonalData',
  'Everything that names a person or that they wrote. Never contains secrets or hashes of them.',
  {
    exported_at: moment('When the export began.'),
    account: UserBody,
    additional_emails: array('Further addresses of the person in telemetry.', Type.String()),
    ...Object.fromEntries(KINDS.map(({ name, description, fields }) => [name, array(description, object(fields))])),
    entries: array('Entries of the person, newest first.', ListedTokenEntry),
  },
)

export const EXAMPLE_PERSONAL_DATA = {
  exported_at: '2026-11-20T17:53:04.000Z',
  account: EXAMPLE_USER,
  additional_emails: ['ada@users.example.com'],
  ...Object.fromEntries(KINDS.map(({ name }) => [name, []])),
  entries: [],
}

export const ErasureRequest = component(
  'ErasureRequest',
  'Erases the personal data of a person.',
  {
    confirm: Type.Optional(
      text('The e-mail address of the person. Not needed with `dry_run`.', { examples: ['ada@example.com'] }),
    ),
    also: Type.Optional(
      array(
        'More words that mean the person, such as a user name in paths, another address, or a near match of a dry run: replaced in all texts.',
        Type.String({ minLength: 3, maxLength: 200 }),
        { maxItems: 20, examples: [['ada.lovelace']] },
      ),
    ),
    dry_run: Type.Optional(flag('Return what would be erased without changing anything.')),
  },
  { ...conditions(when(isOneOf('dry_run', true), undefined, isGiven('confirm'))) },
)
export type ErasureRequest = Static<typeof ErasureRequest>

const rowsByTable = (description: string) => Type.Record(Type.String(), Type.Integer(), { description })
const pseudonym = object({ name: Type.String(), email: Type.String() })

export const PlannedErasureBody = component('PlannedErasure', 'What an erasure would do.', {
  dry_run: Type.Literal(true),
  user: object({ id: Type.String(), name: Type.String(), email: Type.String() }),
  pseudonym,
  words: object(
    'Current and former names and addresses of the person. They are found in any spelling: letter case, composed or decomposed letters, white space, invisible characters, percent-encoding, and addresses with a tag (`ada+tag@example.com`).',
    {
      emails: Type.Array(Type.String()),
      names: array('Replaced in all texts.', Type.String()),
      account_names: array(
        'Single words, such as a first name, and names that somebody else has as well: replaced only in the audit log of the account.',
        Type.String(),
      ),
    },
  ),
  replaced: rowsByTable('Rows with texts that would change, by table of the database.'),
  near: array(
    'Texts that may mean the person, the most frequent first, at most 50. They stay unchanged, unless you pass them as `also`.',
    object({ spelling: Type.String(), kind: oneOf(NEAR_MATCH_KINDS), why: Type.String(), count: Type.Integer() }),
  ),
  kept: array(
    'Rows that mention the person and stay unchanged, with the reason.',
    object({ reason: oneOf(KEPT_REASONS), why: Type.String(), rows: Type.Integer() }),
  ),
})
export type PlannedErasureBody = Static<typeof PlannedErasureBody>

export const ErasureBody = component('Erasure', 'The erasure of a person.', {
  user: object({ id: Type.String(), name: Type.String(), email: Type.String() }),
  state: oneOf(['running', 'done'], 'The account is a pseudonym at once; texts are replaced while it is `running`.'),
  replaced: rowsByTable('Changed rows so far, by table of the database.'),
  started_at: moment('When the erasure was requested.'),
  ended_at: orNull(moment('When the last text was replaced.')),
  compacted: flag(
    'Whether unused space of the database, which may still contain erased texts, has been overwritten since, by `tally compact`.',
  ),
})
export type ErasureBody = Static<typeof ErasureBody>

const shown = ({ uid, name, email }: User) => ({ id: uid, name, email })

export function plannedErasureBody({ user, words, replaced, kept, near }: PlannedErasure): PlannedErasureBody {
  const { emails, names, accountNames } = words
  return {
    dry_run: true,
    user: shown(user),
    pseudonym: words.pseudonym,
    words: { emails, names, account_names: accountNames },
    replaced,
    near: near.map(({ spelling, kind, count }) => ({ spelling, kind, why: NEAR_MATCHES[kind], count })),
    kept,
  }
}

export function erasureBody({ user, record, isCompacted }: Erasure): ErasureBody {
  return {
    user: shown(user),
    state: record.endedAt === null ? 'running' : 'done',
    replaced: record.counts,
    started_at: timestamp(record.startedAt),
    ended_at: timestampOrNull(record.endedAt),
    compacted: isCompacted,
  }
}

const PSEUDONYM = { name: 'Erased person f2efab', email: '01a1fa172a0277f3983322718874f2ef@erased.invalid' }

export const EXAMPLE_PLANNED_ERASURE: PlannedErasureBody = {
  dry_run: true,
  user: { id: EXAMPLE_USER.id, name: EXAMPLE_USER.name, email: EXAMPLE_USER.email },
  pseudonym: PSEUDONYM,
  words: { emails: ['ada@example.com'], names: ['Ada Lovelace'], account_names: ['Ada'] },
  replaced: { audit: 14, entries: 3, label_sets: 1 },
  near: [{ spelling: 'Lovelace, Ada', kind: 'order', why: NEAR_MATCHES.order, count: 4 }],
  kept: [{ reason: 'bills', why: KEPT.bills, rows: 2 }],
}

export const EXAMPLE_ERASURE: ErasureBody = {
  user: { id: EXAMPLE_USER.id, ...PSEUDONYM },
  state: 'running',
  replaced: { audit: 14 },
  started_at: '2026-11-20T17:53:04.000Z',
  ended_at: null,
  compacted: false,
}
