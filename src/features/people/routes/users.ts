import { Elysia, t } from 'elysia'
import { access, actorOf } from '../../../http/access.ts'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { documented } from '../../../http/documented.ts'
import { linkBase } from '../../../http/link-base.ts'
import { listPage, listParameter, parameter } from '../../../http/query.ts'
import { EXAMPLE_DISABLED, EXAMPLE_EMAILS, EXAMPLE_LINK, EXAMPLE_NEW_USER, EXAMPLE_USER } from '../examples.ts'
import { readUserList } from '../query.ts'
import { ROLES, USER_STATES } from '../rules.ts'
import {
  DisabledUser,
  disabledUserBody,
  FurtherEmails,
  NewUser,
  PasswordLinkBody,
  passwordLinkBody,
  USER_COLUMNS,
  UserBody,
  UserChange,
  UserList,
  userBody,
} from '../schema.ts'
import type { PeopleService } from '../service.ts'

const tag = 'People'
const path = { id: 'Id of the person (usr_…), or their e-mail address.' }
const allow = { session: ['admin'] } as const

const UserQuery = t.Object(
  {
    search: parameter({ type: 'string', description: 'A text that the name or the e-mail address contains.' }),
    role: listParameter('What they may see and do.', { type: 'string', enum: [...ROLES] }),
    state: parameter({ type: 'string', enum: [...USER_STATES], description: 'Whether they may sign in.' }),
    ...listPage('People'),
  },
  { additionalProperties: false },
)

interface UsersDependencies {
  people: PeopleService
  /** What links for people begin with. */
  publicUrl?: string | undefined
}

export const usersRoutes = ({ people, publicUrl }: UsersDependencies) =>
  new Elysia({ name: 'users', prefix: '/api/v1/users', normalize: false })
    .use(access())
    .get(
      '',
      async ({ query, request }) => {
        const asked = readUserList(query)
        if (wantsCsv(request, asked.format)) {
          const users = await people.everyUser(asked.filter)
          return csvResponse(users.map(userBody), USER_COLUMNS, 'people.csv')
        }
        const page = await people.listUsers(asked)
        return { ...page, data: page.data.map(userBody) }
      },
      {
        allow,
        query: UserQuery,
        detail: documented({
          id: 'listUsers',
          tag,
          summary: 'List people',
          description: 'The last added first; as CSV by name.',
          responses: {
            200: {
              description: 'A page of people.',
              schema: UserList,
              example: { data: [EXAMPLE_USER], has_more: false, next_page: null },
              also: { 'text/csv': { schema: t.String() } },
            },
          },
        }),
      },
    )
    .post(
      '',
      async ({ body, caller, address, request, set }) => {
        const made = await people.inviteUser(body, linkBase(request, publicUrl), actorOf({ caller, address }))
        set.status = 201
        set.headers.location = `/api/v1/users/${made.user.uid}`
        return passwordLinkBody(made)
      },
      {
        allow,
        parse: 'report',
        body: NewUser,
        detail: documented({
          id: 'inviteUser',
          tag,
          summary: 'Invite a person',
          description:
            'Adds them and makes the one-time link by which they choose a password, within a week. Until then they cannot sign in.',
          body: { example: EXAMPLE_NEW_USER },
          responses: {
            201: {
              description: 'The person, and the link to hand over.',
              schema: PasswordLinkBody,
              headers: ['Location'],
              example: EXAMPLE_LINK,
            },
          },
          problems: ['already_exists'],
        }),
      },
    )
    .get('/:id', async ({ params }) => userBody(await people.getUser(params.id)), {
      allow,
      detail: documented({
        id: 'getUser',
        tag,
        summary: 'Read one person',
        path,
        responses: { 200: { description: 'The person.', schema: UserBody, example: EXAMPLE_USER } },
      }),
    })
    .patch(
      '/:id',
      async ({ params, body, caller, address }) =>
        userBody(await people.changeUser(params.id, body, actorOf({ caller, address }))),
      {
        allow,
        parse: 'report',
        body: UserChange,
        detail: documented({
          id: 'changeUser',
          tag,
          summary: 'Change a person',
          description: 'A new role holds from their next call on, also for what their read tokens see.',
          path,
          body: { example: { role: 'billing' } },
          responses: { 200: { description: 'The person now.', schema: UserBody, example: EXAMPLE_USER } },
          problems: ['already_exists', 'last_admin'],
        }),
      },
    )
    .get('/:id/emails', async ({ params }) => ({ emails: (await people.getFurtherEmails(params.id)).emails }), {
      allow,
      detail: documented({
        id: 'getFurtherEmails',
        tag,
        summary: 'Read further e-mails',
        description: 'By which telemetry finds the person; they do not sign in with them.',
        path,
        responses: {
          200: { description: 'The addresses.', schema: FurtherEmails, example: EXAMPLE_EMAILS },
        },
      }),
    })
    .put(
      '/:id/emails',
      async ({ params, body, caller, address }) => {
        const { emails } = await people.setFurtherEmails(params.id, body.emails, actorOf({ caller, address }))
        return { emails }
      },
      {
        allow,
        parse: 'report',
        body: FurtherEmails,
        detail: documented({
          id: 'setFurtherEmails',
          tag,
          summary: 'Set further e-mails',
          description:
            'Replaces the list. Sessions that telemetry brings from now on belong to the person where they name one of the addresses and the setting `telemetry_by_email` is on; what came before stays until it is assigned.',
          path,
          body: { example: EXAMPLE_EMAILS },
          responses: {
            200: { description: 'The addresses now.', schema: FurtherEmails, example: EXAMPLE_EMAILS },
          },
          problems: ['already_exists'],
        }),
      },
    )
    .post(
      '/:id/disable',
      async ({ params, caller, address }) =>
        disabledUserBody(await people.disableUser(params.id, actorOf({ caller, address }))),
      {
        allow,
        detail: documented({
          id: 'disableUser',
          tag,
          summary: 'Disable a person',
          description:
            'Signs them out and stops their service and read tokens, at once. Organization tokens belong to the organization and go on.',
          path,
          responses: {
            200: {
              description: 'The person, and which of their tokens somebody relied on.',
              schema: DisabledUser,
              example: EXAMPLE_DISABLED,
            },
          },
          problems: ['last_admin'],
        }),
      },
    )
    .post(
      '/:id/enable',
      async ({ params, caller, address }) => userBody(await people.enableUser(params.id, actorOf({ caller, address }))),
      {
        allow,
        detail: documented({
          id: 'enableUser',
          tag,
          summary: 'Enable a person',
          description: 'Lets them sign in, and their tokens work, again.',
          path,
          responses: { 200: { description: 'The person now.', schema: UserBody, example: EXAMPLE_USER } },
        }),
      },
    )
    .post(
      '/:id/invitation',
      async ({ params, caller, address, request }) => {
        const base = linkBase(request, publicUrl)
        return passwordLinkBody(
          await people.createPasswordLink(params.id, 'invitation', base, actorOf({ caller, address })),
        )
      },
      {
        allow,
        detail: documented({
          id: 'inviteUserAgain',
          tag,
          summary: 'Make another invitation link',
          description: 'For somebody who has no password yet. Works for a week; earlier links stop working.',
          path,
          responses: { 200: { description: 'The link.', schema: PasswordLinkBody, example: EXAMPLE_LINK } },
          problems: ['already_exists'],
        }),
      },
    )
    .post(
      '/:id/password-link',
      async ({ params, caller, address, request }) => {
        const base = linkBase(request, publicUrl)
        return passwordLinkBody(
          await people.createPasswordLink(params.id, 'password', base, actorOf({ caller, address })),
        )
      },
      {
        allow,
        detail: documented({
          id: 'makePasswordLink',
          tag,
          summary: 'Make a link to choose a new password',
          description:
            'Works for a day; earlier links stop working. The old password goes on until a new one is chosen, which ends their sessions.',
          path,
          responses: { 200: { description: 'The link.', schema: PasswordLinkBody, example: EXAMPLE_LINK } },
        }),
      },
    )
