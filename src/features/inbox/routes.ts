import { Elysia } from 'elysia'
import type { Caller } from '../../access/caller.ts'
import { access, approvalViewerOf, requireCaller } from '../../http/access.ts'
import { documented } from '../../http/documentation.ts'
import { includesScope, type Scope } from '../../shared/token-scopes.ts'
import { EXAMPLE_INBOX } from './examples.ts'
import { ANY_SCOPE, kindsFor } from './kinds.ts'
import { Inbox } from './schema.ts'
import type { InboxService } from './service.ts'

/** Intentionally only GET: things are decided where they are. */
export const inboxRoutes = ({ inbox }: { inbox: InboxService }) =>
  new Elysia({ name: 'inbox', normalize: false }).use(access()).get(
    '',
    ({ caller: sent }) => {
      const caller = requireCaller(sent)
      const kinds = kindsFor(caller.person.role, (scope) => mayRead(caller, scope))
      return inbox.inbox({ person: caller.person, viewer: approvalViewerOf(sent), kinds })
    },
    {
      allow: ['read', 'session'],
      scope: ANY_SCOPE,
      detail: documented({
        id: 'getInbox',
        tag: 'Approval',
        summary: 'Count what waits for you',
        description:
          'Sheets and entries to approve, own sheets to correct or submit, entries without a project or a price, and what else needs a decision of the caller. Each count is the total of `list`. With an API token, only what its scopes allow.',
        responses: { 200: { description: 'What waits.', schema: Inbox, example: EXAMPLE_INBOX } },
        problems: ['database_deadline'],
      }),
    },
  )

/** Whether a caller may read the list of a kind. */
function mayRead(caller: Caller, scope: Scope | undefined): boolean {
  if (caller.kind === 'session') return true
  if (scope === undefined || scope === 'webhooks:manage') {
    return caller.kind === 'api' && scope !== undefined && includesScope(caller.token.scopes ?? [], scope)
  }
  return caller.kind !== 'api' || includesScope(caller.token.scopes ?? [], scope)
}
