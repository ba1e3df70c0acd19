import { refusal } from '../../../errors.ts'
import { isSameOrigin } from '../../../http/same-origin.ts'
import { operation, result } from '../../../operations/operation.ts'
import { seesEverything } from '../../../schema/fields.ts'
import { EXAMPLE_SETTINGS } from '../examples.ts'
import { changeOf } from '../fields.ts'
import { Settings, SettingsChange } from '../schema.ts'
import type { OrganizationService } from '../service.ts'

export interface Needs {
  organization: OrganizationService
}

const THESE = { tag: 'Organization', path: '/settings', object: 'organization' } as const

/** Who may change settings, of which the logo is one. */
export const CHANGING = { allow: { session: ['admin'] }, scope: 'people-only' } as const

export const CHANGED = result('The updated settings.', Settings, EXAMPLE_SETTINGS)

const getSettings = operation({
  ...THESE,
  id: 'getSettings',
  method: 'GET',
  summary: 'Get the organization settings',
  allow: ['session'],
  scope: 'settings:read',
  answer: { ...CHANGED, description: 'The settings.' },
  // Billing details are not for everyone.
  run: async ({ organization }: Needs, { party: { person } }) =>
    organization.bodyOf(await organization.settings(), { forBilling: person === null || seesEverything(person.role) }),
})

export const changeSettings = operation({
  ...THESE,
  ...CHANGING,
  id: 'changeSettings',
  method: 'PATCH',
  summary: 'Update the organization settings',
  body: SettingsChange,
  example: { unknown_projects: 'hold' },
  answer: CHANGED,
  run: async ({ organization }: Needs, { body, party, request }) => {
    if (request && body.public_url !== undefined) {
      await requireWayBack(request, organization.publicUrlWith(body.public_url))
    }
    return organization.bodyOf(await organization.changeSettings(changeOf(body), party.by))
  },
})

/**
 * Whoever sets a wrong public URL must be able to correct it in the same browser. Only a browser that does not say where
 * a request comes from, behind a proxy that changes the Host, depends on the public URL for that. Throws
 * `validation_failed`.
 */
async function requireWayBack(request: Request, publicUrl: string | undefined): Promise<void> {
  if (await isSameOrigin(request, () => publicUrl)) return
  const origin = request.headers.get('origin')
  const message = `must be ${origin}, where you are now: your proxy changes the Host header, so this browser could not change it again. Use \`tally settings set --public-url\``
  throw refusal('/public_url', 'not_allowed', message)
}

export const settingsOperations = [getSettings, changeSettings] as const
