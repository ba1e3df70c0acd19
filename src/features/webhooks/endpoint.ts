/** Rules for the fields of an endpoint. Pure. */

import { WEBHOOK_FORMATS } from '../../database/schema/values.ts'
import type { Issue } from '../../errors.ts'
import { hasMoreCharacters } from '../../lib/characters.ts'
import { composeName } from '../../lib/names.ts'
import { issuesOfConditions } from '../../schema/conditions.ts'
import { issuesOfGiven, issuesOfName } from '../../schema/fields.ts'
import { eventTypesOf } from '../../shared/event-types.ts'
import { neededScopes, type Rights, unreadableType } from './rights.ts'
import { URL_LIMIT, WebhookChange } from './schema.ts'

/** The issues of the fields that are given, for a webhook with these rights. */
export function issuesOfWebhook({ name, url, format, types, client, project }: WebhookChange, rights: Rights): Issue[] {
  return [
    ...issuesOfGiven(name, (value) => issuesOfName(composeName(value), '/name')),
    ...issuesOfGiven(url, issuesOfUrl),
    ...issuesOfGiven(format, (value) =>
      WEBHOOK_FORMATS.includes(value)
        ? []
        : [{ pointer: '/format', code: 'not_allowed', message: `must be one of ${WEBHOOK_FORMATS.join(', ')}` }],
    ),
    ...issuesOfGiven(types, (value) => issuesOfTypes(value, rights)),
    ...issuesOfConditions(WebhookChange, { client, project }),
  ]
}

function issuesOfUrl(text: string): Issue[] {
  const pointer = '/url'
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (hasMoreCharacters(text, URL_LIMIT)) {
    return [{ pointer, code: 'too_long', message: `must have at most ${URL_LIMIT} characters` }]
  }
  if (!url || !/^https?:\/\//i.test(text) || /[\s\p{Cc}]/u.test(text)) {
    return [{ pointer, code: 'bad_format', message: 'must be an address that begins with https:// or http://' }]
  }
  if (url.username !== '' || url.password !== '') {
    const message = 'contains a user or password, which Tally does not send; messages are signed instead'
    return [{ pointer, code: 'not_allowed', message }]
  }
  return []
}

function issuesOfTypes(types: readonly string[], rights: Rights): Issue[] {
  return types.flatMap((type, at) => {
    const message = issueOfType(type, rights)
    return message === undefined ? [] : [{ pointer: `/types/${at}`, code: 'not_allowed', message }]
  })
}

function issueOfType(pattern: string, rights: Rights): string | undefined {
  if (pattern !== '*' && eventTypesOf(pattern).length === 0) {
    return 'must be a type of events, such as bill.sent, an area such as bill.*, or *'
  }
  const unreadable = unreadableType(pattern, rights)
  return unreadable && `needs ${neededScopes(unreadable)}, which the API token '${rights.token?.name}' does not have`
}

/** Where an endpoint is, for the audit log: the address of a chat is a secret. */
export function placeOf(url: string): string {
  return new URL(url).origin
}
