import { requireCaller } from '../../../http/access.ts'
import { endpoint, result } from '../../../operations/operation.ts'
import type { Scope } from '../../../shared/token-scopes.ts'
import { EXAMPLE_INBOX } from '../examples.ts'
import { ANY_SCOPE, kindsFor } from '../kinds.ts'
import { Inbox } from '../schema.ts'
import type { InboxService } from '../service.ts'

/** Intentionally the only one: things are decided where they are. */
export const getInbox = endpoint({
  id: 'getInbox',
  tag: 'Approval',
  method: 'GET',
  path: '/inbox',
  summary: 'Count the items that need your decision',
  description:
    'Sheets and entries to approve, own sheets to correct or submit, entries without a project or a price, and what else needs a decision of the caller. Each count is the total of `list`. With an API token, only what its scopes allow.',
  allow: ['read', 'session'],
  scope: ANY_SCOPE,
  answer: result('What waits.', Inbox, EXAMPLE_INBOX),
  problems: ['database_deadline'],
  run: ({ inbox }: { inbox: InboxService }, call) => {
    const { kind, person } = requireCaller(call.served.caller)
    // Whether the caller may read the list of a kind: some are for people alone, and no read token reads webhooks.
    const reads = (scope: Scope | undefined) =>
      kind === 'session' ||
      (scope !== undefined && call.hasScope(scope) && (kind === 'api' || scope !== 'webhooks:manage'))
    return inbox.inbox({ person, viewer: call.asker.viewer, kinds: kindsFor(person.role, reads) })
  },
})
