import { Elysia, t } from 'elysia'
import { access, actorOf, partyOf, requireCaller } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { linkBase } from '../../../http/link-base.ts'
import type { PublicUrl } from '../../../http/same-origin.ts'
import { listPage } from '../../../operations/parameters.ts'
import { EXAMPLE_CREATED_SHARE_LINK, EXAMPLE_NEW_SHARE_LINK, EXAMPLE_SHARE_LINK } from '../examples.ts'
import { CreatedShareLink, NewShareLink, ShareLinkBody, ShareLinkList } from '../schema.ts'
import { readShareLinkList, type ShareLinksService } from '../service.ts'

const tag = 'Share links'
const { format: _, ...page } = listPage('Share links')
const ShareLinkQuery = t.Object(page, { additionalProperties: false })

/** For signed-in people only: with a link, a token would outlive its own revocation. */
const allow = ['session'] as const
const scope = 'people-only'

interface Dependencies {
  shareLinks: ShareLinksService
  publicUrl: PublicUrl
}

export const shareLinksRoutes = ({ shareLinks, publicUrl }: Dependencies) =>
  new Elysia({ name: 'share-links', normalize: false })
    .use(access())
    .get(
      '',
      ({ caller, address, query }) => shareLinks.listShareLinks(partyOf({ caller, address }), readShareLinkList(query)),
      {
        allow,
        scope,
        query: ShareLinkQuery,
        detail: documented({
          id: 'listShareLinks',
          tag,
          summary: 'List share links',
          description: 'Your own links, or everybody’s if you are an admin, newest first.',
          responses: {
            200: {
              description: 'A page of share links.',
              schema: ShareLinkList,
              example: { data: [EXAMPLE_SHARE_LINK], has_more: false, next_page: null },
            },
          },
        }),
      },
    )
    .post(
      '',
      async ({ caller, address, body, request, set }) => {
        const { person } = requireCaller(caller)
        const made = await shareLinks.createShareLink(person.uid, body, actorOf({ caller, address }))
        set.status = 201
        return { ...made.body, link: `${await linkBase(request, publicUrl)}/share/${made.secret}` }
      },
      {
        allow,
        scope,
        parse: 'report',
        body: NewShareLink,
        detail: documented({
          id: 'createShareLink',
          tag,
          summary: 'Create a share link',
          description:
            'Whoever has the link sees this report or bill without an account, and nothing else, until it expires or is revoked. It shows what you can see at that moment: less if your role or projects change, and nothing once you are disabled. Needs the setting `share_links`, and for a bill the role billing or admin. The link is shown only once.',
          body: { example: EXAMPLE_NEW_SHARE_LINK },
          responses: {
            201: {
              description: 'The link was created.',
              schema: CreatedShareLink,
              example: EXAMPLE_CREATED_SHARE_LINK,
            },
          },
          problems: ['database_deadline'],
        }),
      },
    )
    .post(
      '/:id/revoke',
      ({ params, caller, address }) => shareLinks.revokeShareLink(params.id, partyOf({ caller, address })),
      {
        allow,
        scope,
        detail: documented({
          id: 'revokeShareLink',
          tag,
          summary: 'Revoke a share link',
          description: 'The link stops working immediately and permanently. Its creator and admins can do this.',
          path: { id: 'Id of the share link (shr_…).' },
          responses: {
            200: {
              description: 'The link was revoked.',
              schema: ShareLinkBody,
              example: { ...EXAMPLE_SHARE_LINK, state: 'revoked', revoked_at: '2026-11-21T08:00:00.000Z' },
            },
          },
        }),
      },
    )
