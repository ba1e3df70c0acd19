import { Elysia } from 'elysia'
import { access, actorOf } from '../../../http/access.ts'
import { documented } from '../../../http/documented.ts'
import { EXAMPLE_SETTINGS } from '../examples.ts'
import { Settings, SettingsChange } from '../schema.ts'
import { type PeopleService, settingsBody } from '../service.ts'

const tag = 'Organization'

export const settingsRoutes = ({ people }: { people: PeopleService }) =>
  new Elysia({ name: 'settings', prefix: '/api/v1/settings', normalize: false })
    .use(access())
    .get('', async () => settingsBody(await people.organization()), {
      allow: ['session'],
      detail: documented({
        id: 'getSettings',
        tag,
        summary: 'Read the settings',
        responses: { 200: { description: 'The settings.', schema: Settings, example: EXAMPLE_SETTINGS } },
      }),
    })
    .patch(
      '',
      async ({ body, caller, address }) => {
        const { time_zone: timeZone, unknown_projects: unknownProjects, approval_required: approvalRequired } = body
        const { name, currency } = body
        const change = { name, currency, timeZone, unknownProjects, approvalRequired }
        return settingsBody(await people.changeSettings(change, actorOf({ caller, address })))
      },
      {
        allow: { session: ['admin'] },
        parse: 'report',
        body: SettingsChange,
        detail: documented({
          id: 'changeSettings',
          tag,
          summary: 'Change the settings',
          body: { example: { unknown_projects: 'hold' } },
          responses: { 200: { description: 'The settings now.', schema: Settings, example: EXAMPLE_SETTINGS } },
        }),
      },
    )
