import { Elysia, t } from 'elysia'
import { access, actorOf, requirePerson } from '../../../http/access.ts'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { CSV_CONTENT, documented } from '../../../http/documentation.ts'
import { linkBase } from '../../../http/link-base.ts'
import type { PublicUrl } from '../../../http/same-origin.ts'
import { listPage, listParameter, listSort, parameter } from '../../../operations/parameters.ts'
import { ROLES, USER_STATES } from '../../../schema/fields.ts'
import { EXAMPLE_DISABLED, EXAMPLE_EMAILS, EXAMPLE_LINK, EXAMPLE_NEW_USER, EXAMPLE_USER } from '../examples.ts'
import { readUserList } from '../query.ts'
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
import { USER_SORTS } from '../sorts.ts'

const tag = 'People'
const path = { id: 'Id (usr_…) or e-mail address of the person.' }
const allow = { session: ['admin'] } as const

const UserQuery = t.Object(
  {
    search: parameter({ type: 'string', description: 'Text to search for in the name and the e-mail address.' }),
    role: listParameter('Role of the person.', { type: 'string', enum: [...ROLES] }),
    state: parameter({
      type: 'string',
      enum: [...USER_STATES],
      description: 'Whether the person is active or disabled.',
    }),
    ...listSort(USER_SORTS, 'the last added first'),
    ...listPage('People'),
  },
  { additionalProperties: false },
)

interface UsersDependencies {
  people: PeopleService
  /** What links for people begin with. */
  publicUrl: PublicUrl
}

export const usersRoutes = ({ people, publicUrl }: UsersDependencies) =>
  new Elysia({ name: 'users', normalize: false })
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
        scope: 'people:read',
        query: UserQuery,
        detail: documented({
          id: 'listUsers',
          tag,
          summary: 'List people',
          description: 'Most recently added first; CSV is sorted by name.',
          responses: {
            200: {
              description: 'A page of people.',
              schema: UserList,
              example: { data: [EXAMPLE_USER], has_more: false, next_page: null },
              also: CSV_CONTENT,
            },
          },
        }),
      },
    )
    .post(
      '',
      async ({ body, caller, address, request, set }) => {
        const made = await people.inviteUser(body, await linkBase(request, publicUrl), actorOf({ caller, address }))
        set.status = 201
        set.headers.location = `/api/v1/users/${made.user.uid}`
        return passwordLinkBody(made)
      },
      {
        allow,
        scope: 'people-only',
        parse: 'report',
        body: NewUser,
        detail: documented({
          id: 'inviteUser',
          tag,
          summary: 'Invite a person',
          description:
            'Adds the person and creates a one-time link, valid for a week, with which they set a password. Until then they cannot sign in.',
          body: { example: EXAMPLE_NEW_USER },
          responses: {
            201: {
              description: 'The person, and the link to give to them.',
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
      scope: 'people:read',
      object: 'usr',
      detail: documented({
        id: 'getUser',
        tag,
        summary: 'Get a person',
        path,
        responses: { 200: { description: 'The person.', schema: UserBody, example: EXAMPLE_USER } },
      }),
    })
    .patch(
      '/:id',
      async ({ params, body, caller, address }) => {
        if (body.email !== undefined || body.role !== undefined) {
          requirePerson(caller, 'Changing a role or the e-mail address to sign in with')
        }
        return userBody(await people.changeUser(params.id, body, actorOf({ caller, address })))
      },
      {
        allow,
        scope: 'people:write',
        object: 'usr',
        parse: 'report',
        body: UserChange,
        detail: documented({
          id: 'changeUser',
          tag,
          summary: 'Update a person',
          description:
            'A new role applies from the next request, including requests with their tokens. Somebody with tokens, share links, unapproved token sheets, deputies or responsibilities cannot become a viewer; who no longer is a viewer loses their grants. An API token can change names only.',
          path,
          body: { example: { role: 'billing' } },
          responses: { 200: { description: 'The updated person.', schema: UserBody, example: EXAMPLE_USER } },
          problems: ['person_erased', 'already_exists', 'last_admin', 'has_duties'],
        }),
      },
    )
    .get('/:id/emails', async ({ params }) => ({ emails: (await people.getFurtherEmails(params.id)).emails }), {
      allow,
      scope: 'people:read',
      detail: documented({
        id: 'getFurtherEmails',
        tag,
        summary: 'Get additional e-mail addresses',
        description: 'Addresses that match telemetry to the person. They cannot be used to sign in.',
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
        scope: 'people:write',
        object: 'usr',
        parse: 'report',
        body: FurtherEmails,
        detail: documented({
          id: 'setFurtherEmails',
          tag,
          summary: 'Set additional e-mail addresses',
          description:
            'Replaces the list. New telemetry sessions that name one of these addresses belong to the person if the setting `telemetry_by_email` is on. Earlier sessions do not change until you assign them.',
          path,
          body: { example: EXAMPLE_EMAILS },
          responses: {
            200: { description: 'The updated addresses.', schema: FurtherEmails, example: EXAMPLE_EMAILS },
          },
          problems: ['person_erased', 'already_exists'],
        }),
      },
    )
    .post(
      '/:id/disable',
      async ({ params, caller, address }) =>
        disabledUserBody(await people.disableUser(params.id, actorOf({ caller, address }))),
      {
        allow,
        scope: 'people:write',
        object: 'usr',
        detail: documented({
          id: 'disableUser',
          tag,
          summary: 'Disable a person',
          description:
            'Signs the person out and stops their service, read and API tokens immediately. Organization tokens belong to the organization and keep working.',
          path,
          responses: {
            200: {
              description: 'The person, and their recently used tokens that stopped working.',
              schema: DisabledUser,
              example: EXAMPLE_DISABLED,
            },
          },
          problems: ['person_erased', 'last_admin'],
        }),
      },
    )
    .post(
      '/:id/enable',
      async ({ params, caller, address }) => userBody(await people.enableUser(params.id, actorOf({ caller, address }))),
      {
        allow,
        scope: 'people:write',
        object: 'usr',
        detail: documented({
          id: 'enableUser',
          tag,
          summary: 'Enable a person',
          description: 'The person can sign in again, and their tokens work again.',
          path,
          responses: { 200: { description: 'The updated person.', schema: UserBody, example: EXAMPLE_USER } },
          problems: ['person_erased'],
        }),
      },
    )
    .post(
      '/:id/invitation',
      async ({ params, caller, address, request }) => {
        const base = await linkBase(request, publicUrl)
        return passwordLinkBody(
          await people.createPasswordLink(params.id, 'invitation', base, actorOf({ caller, address })),
        )
      },
      {
        allow,
        scope: 'people-only',
        detail: documented({
          id: 'inviteUserAgain',
          tag,
          summary: 'Create a new invitation link',
          description:
            'For a person who has no password yet. The link is valid for a week; earlier links stop working.',
          path,
          responses: { 200: { description: 'The link.', schema: PasswordLinkBody, example: EXAMPLE_LINK } },
          problems: ['person_erased', 'already_exists', 'validation_failed'],
        }),
      },
    )
    .post(
      '/:id/password-link',
      async ({ params, caller, address, request }) => {
        const base = await linkBase(request, publicUrl)
        return passwordLinkBody(
          await people.createPasswordLink(params.id, 'password', base, actorOf({ caller, address })),
        )
      },
      {
        allow,
        scope: 'people-only',
        detail: documented({
          id: 'makePasswordLink',
          tag,
          summary: 'Create a password reset link',
          description:
            'The link is valid for a day; earlier links stop working. The old password works until the person sets a new one, which ends their sessions.',
          path,
          responses: { 200: { description: 'The link.', schema: PasswordLinkBody, example: EXAMPLE_LINK } },
          problems: ['person_erased', 'validation_failed'],
        }),
      },
    )
