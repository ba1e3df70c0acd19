import { operation, result, several } from '../../../operations/operation.ts'
import { paging } from '../../../operations/parameters.ts'
import { readListPage } from '../../../schema/query.ts'
import { EXAMPLE_SHARE_LINK } from '../examples.ts'
import { ShareLinkBody, ShareLinkList } from '../schema.ts'
import type { ShareLinksService } from '../service.ts'

export interface Needs {
  shareLinks: ShareLinksService
}

/** For signed-in people only: with a link, a token would outlive its own revocation. */
export const ofPeople = { tag: 'Share links', allow: ['session'], scope: 'people-only' } as const

export const listShareLinks = operation({
  ...ofPeople,
  id: 'listShareLinks',
  method: 'GET',
  path: '/share-links',
  summary: 'List share links',
  description: 'Your own links, or everyone’s if you are an admin, newest first.',
  query: paging('Share links'),
  answer: several('A page of share links.', ShareLinkList, EXAMPLE_SHARE_LINK),
  run: ({ shareLinks }: Needs, { party, query }) => shareLinks.listShareLinks(party, readListPage(query)),
})

export const revokeShareLink = operation({
  ...ofPeople,
  id: 'revokeShareLink',
  method: 'POST',
  path: '/share-links/:id/revoke',
  summary: 'Revoke a share link',
  description: 'The link stops working immediately and permanently. Its creator and admins can do this.',
  params: { id: 'Id of the share link (shr_…).' },
  answer: result('The link was revoked.', ShareLinkBody, {
    ...EXAMPLE_SHARE_LINK,
    state: 'revoked',
    revoked_at: '2026-11-21T08:00:00.000Z',
  }),
  run: ({ shareLinks }: Needs, { params, party }) => shareLinks.revokeShareLink(params.id, party),
})

export const shareLinkOperations = [listShareLinks, revokeShareLink] as const
