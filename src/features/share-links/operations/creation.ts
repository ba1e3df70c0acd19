import { linkBase } from '../../../http/link-base.ts'
import type { PublicUrl } from '../../../http/same-origin.ts'
import { endpoint, result } from '../../../operations/operation.ts'
import { EXAMPLE_CREATED_SHARE_LINK, EXAMPLE_NEW_SHARE_LINK } from '../examples.ts'
import { CreatedShareLink, NewShareLink } from '../schema.ts'
import { type Needs, ofPeople } from './share-links.ts'

export const createShareLink = endpoint({
  ...ofPeople,
  id: 'createShareLink',
  method: 'POST',
  path: '/share-links',
  summary: 'Create a share link',
  description:
    'Whoever has the link sees this report or bill without an account, and nothing else, until it expires or is revoked. It shows what you can see at that moment: less if your role or projects change, and nothing once you are disabled. Needs the setting `share_links`, and for a bill the role billing or admin. The link is shown only once.',
  body: NewShareLink,
  example: EXAMPLE_NEW_SHARE_LINK,
  answer: result('The link was created.', CreatedShareLink, EXAMPLE_CREATED_SHARE_LINK, {
    status: 201,
    isAddressed: false,
  }),
  problems: ['database_deadline'],
  run: async ({ shareLinks, publicUrl }: Needs & { publicUrl: PublicUrl }, { asker, party, body, served }) => {
    const { body: made, secret } = await shareLinks.createShareLink(asker.self!.uid, body, party.by)
    return { ...made, link: `${await linkBase(served.request, publicUrl)}/share/${secret}` }
  },
})
