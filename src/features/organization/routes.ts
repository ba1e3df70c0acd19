import { Elysia, t } from 'elysia'
import type { Caller } from '../../access/caller.ts'
import { validationFailed } from '../../errors.ts'
import { access, actorOf, requireCaller } from '../../http/access.ts'
import { documented } from '../../http/documentation.ts'
import { callerTag, objectTag } from '../../http/entity-tags.ts'
import { isSameOrigin } from '../../http/same-origin.ts'
import { LOGO_TYPES, seesEverything } from '../../schema/fields.ts'
import { EXAMPLE_SETTINGS } from './examples.ts'
import { Settings, SettingsChange } from './schema.ts'
import type { OrganizationService } from './service.ts'
import { changeOf, commonSettingsBody, settingsBody } from './service.ts'

const tag = 'Organization'

/** A file, of which the document can show no example but what stands for one. */
const PICTURES = Object.fromEntries(
  LOGO_TYPES.map((type) => [type, { schema: t.String({ format: 'binary' }), example: 'the bytes of the file' }]),
)

export const organizationRoutes = ({ organization }: { organization: OrganizationService }) =>
  new Elysia({ name: 'organization', normalize: false })
    .use(access())
    .get('', async ({ caller }) => organization.bodyOf(await organization.settings(), bodyFor(requireCaller(caller))), {
      allow: ['session'],
      scope: 'settings:read',
      object: 'organization',
      detail: documented({
        id: 'getSettings',
        tag,
        summary: 'Get the organization settings',
        responses: { 200: { description: 'The settings.', schema: Settings, example: EXAMPLE_SETTINGS } },
      }),
    })
    .patch(
      '',
      async ({ body, caller, address, request }) => {
        if (body.public_url !== undefined) await requireWayBack(request, organization.publicUrlWith(body.public_url))
        const changed = await organization.changeSettings(changeOf(body), actorOf({ caller, address }))
        return organization.bodyOf(changed)
      },
      {
        allow: { session: ['admin'] },
        scope: 'people-only',
        object: 'organization',
        parse: 'report',
        body: SettingsChange,
        detail: documented({
          id: 'changeSettings',
          tag,
          summary: 'Update the organization settings',
          body: { example: { unknown_projects: 'hold' } },
          responses: { 200: { description: 'The updated settings.', schema: Settings, example: EXAMPLE_SETTINGS } },
        }),
      },
    )
    .get(
      '/logo',
      async ({ caller, version }) => {
        const { bytes, type } = await organization.getLogo()
        const etag = objectTag(version, callerTag(requireCaller(caller), [bytes]), undefined)
        return new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { 'content-type': type, etag } })
      },
      {
        allow: { session: ['billing', 'admin'] },
        scope: 'settings:read',
        object: 'logo',
        detail: documented({
          id: 'getLogo',
          tag,
          summary: 'Get the logo',
          responses: { 200: { description: 'The image file.', also: PICTURES, headers: ['ETag'] } },
          problems: ['not_found'],
        }),
      },
    )
    .put(
      '/logo',
      async ({ body, caller, address }) =>
        organization.bodyOf(await organization.changeLogo(body as Uint8Array, actorOf({ caller, address }))),
      {
        allow: { session: ['admin'] },
        scope: 'people-only',
        object: 'logo',
        parse: 'picture',
        detail: documented({
          id: 'setLogo',
          tag,
          summary: 'Set the logo',
          description:
            'The logo appears on bills. The body is the image file: PNG or JPEG, up to 256 KiB and 2,000 × 2,000 pixels.',
          body: { also: PICTURES },
          responses: { 200: { description: 'The updated settings.', schema: Settings, example: EXAMPLE_SETTINGS } },
          problems: ['body_too_large', 'unsupported_media_type', 'validation_failed'],
        }),
      },
    )
    .delete(
      '/logo',
      async ({ caller, address }) =>
        organization.bodyOf(await organization.changeLogo(null, actorOf({ caller, address }))),
      {
        allow: { session: ['admin'] },
        scope: 'people-only',
        object: 'logo',
        detail: documented({
          id: 'removeLogo',
          tag,
          summary: 'Remove the logo',
          description: 'Bills that were already sent keep it.',
          responses: {
            200: {
              description: 'The updated settings.',
              schema: Settings,
              example: { ...EXAMPLE_SETTINGS, logo: null },
            },
          },
        }),
      },
    )

/** Billing details are not for everybody. */
const bodyFor = ({ person }: Caller) => (seesEverything(person.role) ? settingsBody : commonSettingsBody)

/**
 * Whoever sets a wrong public URL must be able to correct it in the same browser. Only a browser that does not say where
 * a request comes from, behind a proxy that changes the Host, depends on the public URL for that. Throws
 * `validation_failed`.
 */
async function requireWayBack(request: Request, publicUrl: string | undefined): Promise<void> {
  if (await isSameOrigin(request, () => publicUrl)) return
  const origin = request.headers.get('origin')
  const message = `must be ${origin}, where you are now: your proxy changes the Host header, so this browser could not change it again. Use \`tally settings set --public-url\``
  throw validationFailed([{ pointer: '/public_url', code: 'not_allowed', message }])
}
