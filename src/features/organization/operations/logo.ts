import { Type } from '@sinclair/typebox'
import { requireCaller } from '../../../http/access.ts'
import { callerTag, objectTag } from '../../../http/entity-tags.ts'
import { endpoint, operation } from '../../../operations/operation.ts'
import { LOGO_TYPES } from '../../../schema/fields.ts'
import { EXAMPLE_SETTINGS } from '../examples.ts'
import { CHANGED, CHANGING, type Needs } from './settings.ts'

/** A file, of which the document can show no example but what stands for one. */
const PICTURES = Object.fromEntries(
  LOGO_TYPES.map((type) => [type, { schema: Type.String({ format: 'binary' }), example: 'the bytes of the file' }]),
)

const THIS = { tag: 'Organization', path: '/settings/logo', object: 'logo' } as const

const getLogo = endpoint({
  ...THIS,
  id: 'getLogo',
  method: 'GET',
  summary: 'Get the logo',
  allow: { session: ['billing', 'admin'] },
  scope: 'settings:read',
  answer: { status: 200, description: 'The image file.', also: PICTURES, headers: ['ETag'] },
  problems: ['not_found'],
  run: async ({ organization }: Needs, { served: { caller, version } }) => {
    const { bytes, type } = await organization.getLogo()
    const etag = objectTag(version, callerTag(requireCaller(caller), [bytes]), undefined)
    return new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { 'content-type': type, etag } })
  },
})

const setLogo = operation({
  ...THIS,
  ...CHANGING,
  id: 'setLogo',
  method: 'PUT',
  summary: 'Set the logo',
  description:
    'The logo appears on bills. The body is the image file: PNG or JPEG, up to 256 KiB and 2,000 × 2,000 pixels.',
  parse: 'picture',
  also: PICTURES,
  answer: CHANGED,
  problems: ['body_too_large', 'unsupported_media_type', 'validation_failed'],
  run: async ({ organization }: Needs, { body, party }) =>
    organization.bodyOf(await organization.changeLogo(body, party.by)),
})

const removeLogo = operation({
  ...THIS,
  ...CHANGING,
  id: 'removeLogo',
  method: 'DELETE',
  summary: 'Remove the logo',
  description: 'Bills that were already sent keep it.',
  answer: { ...CHANGED, example: { ...EXAMPLE_SETTINGS, logo: null } },
  run: async ({ organization }: Needs, { party }) => organization.bodyOf(await organization.changeLogo(null, party.by)),
})

export const logoOperations = [getLogo, setLogo, removeLogo] as const
