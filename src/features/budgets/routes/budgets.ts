import { Elysia, t } from 'elysia'
import { access, actorOf, askerOf, requireCaller } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { listPage, listParameter, parameter } from '../../../operations/parameters.ts'
import {
  EXAMPLE_BUDGET,
  EXAMPLE_BUDGET_ALERT,
  EXAMPLE_BUDGET_CHECK,
  EXAMPLE_BUDGET_STATUS,
  EXAMPLE_NEW_BUDGET,
} from '../examples.ts'
import {
  BUDGET_STATES,
  BudgetAlertList,
  BudgetBody,
  BudgetChange,
  BudgetCheck,
  BudgetList,
  BudgetStatus,
  BudgetTest,
  NewBudget,
} from '../schema.ts'
import { type BudgetsService, readAlertList, readBudgetCheck, readBudgetList } from '../service.ts'

const tag = 'Budgets'
const path = { id: 'Id of the budget (bdg_…).' }
const { format: _, ...page } = listPage('Budgets')
const SEEN =
  'Billing and admins see all budgets, others those of their own entries and of projects and clients that they lead.'

const BudgetParameters = t.Object(
  {
    project: listParameter('Only budgets of these projects: id, key, name or alias.'),
    client: listParameter('Only budgets of these clients: id or name.'),
    ticket: listParameter('Only budgets of these tickets: id or key.'),
    agent_manager: listParameter('Only budgets of these people: id or e-mail address.'),
    state: listParameter(
      'Only active budgets whose current period is counted and in one of these states: `within`, `nearly` (from 80%) or `exceeded`.',
      { type: 'string', enum: [...BUDGET_STATES] },
    ),
    archived: parameter({
      type: 'string',
      enum: ['exclude', 'include', 'only'],
      description: 'Whether archived budgets are listed. Default: `exclude`.',
    }),
    ...page,
  },
  { additionalProperties: false },
)

const AlertParameters = t.Object(
  { budget: parameter({ type: 'string', description: 'Only alerts of this budget.' }), ...page },
  { additionalProperties: false },
)

const CheckParameters = t.Object(
  {
    client: parameter({ type: 'string', description: 'Id or name of a client.' }),
    project: parameter({ type: 'string', description: 'Id, key, name or alias of a project.' }),
    ticket: parameter({ type: 'string', description: 'Id or key of a ticket.' }),
    agent_manager: parameter({ type: 'string', description: 'Id or e-mail address of a person. Default: nobody.' }),
    agent_name: parameter({ type: 'string', description: 'Name of an agent.' }),
    model: parameter({ type: 'string', description: 'Name of a model.' }),
    label: parameter({ type: 'string', description: '`name:value`, such as `repository:acme/web`.' }),
  },
  { additionalProperties: false },
)

/** Like bills and prices, budgets are for those who answer for money. */
const MAY_CHANGE = { session: ['billing', 'admin'] } as const
const MAY_READ = ['read', 'session'] as const
const changed = { 200: { description: 'The budget.', schema: BudgetBody, example: EXAMPLE_BUDGET } }

export const budgetsRoutes = ({ budgets }: { budgets: BudgetsService }) =>
  new Elysia({ name: 'budgets', normalize: false })
    .use(access())
    .get(
      '',
      ({ caller, query }) =>
        budgets.listBudgets(requireCaller(caller).person, readBudgetList(query), askerOf(caller).listsPeople),
      {
        allow: MAY_READ,
        scope: 'budgets:read',
        query: BudgetParameters,
        detail: documented({
          id: 'listBudgets',
          tag,
          summary: 'List budgets',
          description: `Newest first, with what is spent in the current period. ${SEEN}`,
          responses: {
            200: {
              description: 'A page of budgets.',
              schema: BudgetList,
              example: { data: [EXAMPLE_BUDGET], has_more: false, next_page: null },
            },
          },
        }),
      },
    )
    .post(
      '',
      async ({ body, caller, address, set }) => {
        const added = await budgets.addBudget(body, { by: actorOf({ caller, address }) })
        set.status = 201
        set.headers.location = `/api/v1/budgets/${added.id}`
        return added
      },
      {
        allow: MAY_CHANGE,
        scope: 'budgets:write',
        parse: 'report',
        body: NewBudget,
        detail: documented({
          id: 'addBudget',
          tag,
          summary: 'Add a budget',
          description:
            'Entries that exist already are counted within seconds. A threshold that is already reached in the current period then causes its alert at once.',
          body: { example: EXAMPLE_NEW_BUDGET },
          responses: {
            201: {
              description: 'The budget was added.',
              schema: BudgetBody,
              headers: ['Location'],
              example: {
                ...EXAMPLE_BUDGET,
                current: { ...EXAMPLE_BUDGET.current, spent: 0, state: 'within', complete: false },
              },
            },
          },
        }),
      },
    )
    .get('/check', ({ caller, query }) => budgets.check(readBudgetCheck(query), requireCaller(caller).person), {
      allow: MAY_READ,
      scope: 'budgets:read',
      query: CheckParameters,
      detail: documented({
        id: 'checkBudgets',
        tag,
        summary: 'Check whether budgets leave anything',
        description: `For scripts that stop themselves: whether entries of this project, person and so on still fit into the budgets that they count for. ${SEEN}`,
        responses: { 200: { description: 'What is left.', schema: BudgetCheck, example: EXAMPLE_BUDGET_CHECK } },
      }),
    })
    .get('/alerts', ({ caller, query }) => budgets.listAlerts(requireCaller(caller).person, readAlertList(query)), {
      allow: MAY_READ,
      scope: 'budgets:read',
      query: AlertParameters,
      detail: documented({
        id: 'listBudgetAlerts',
        tag,
        summary: 'List alerts of budgets',
        description: `Newest first. ${SEEN}`,
        responses: {
          200: {
            description: 'A page of alerts.',
            schema: BudgetAlertList,
            example: { data: [EXAMPLE_BUDGET_ALERT], has_more: false, next_page: null },
          },
        },
        problems: ['not_found'],
      }),
    })
    .get('/:id', ({ params, caller }) => budgets.getBudget(params.id, requireCaller(caller).person), {
      allow: MAY_READ,
      scope: 'budgets:read',
      object: 'bdg',
      detail: documented({
        id: 'getBudget',
        tag,
        summary: 'Get a budget',
        description: 'As in the list, with what is spent in the current period.',
        path,
        responses: changed,
      }),
    })
    .patch(
      '/:id',
      ({ params, body, caller, address }) =>
        budgets.changeBudget(params.id, body, { by: actorOf({ caller, address }) }),
      {
        allow: MAY_CHANGE,
        scope: 'budgets:write',
        object: 'bdg',
        parse: 'report',
        body: BudgetChange,
        detail: documented({
          id: 'changeBudget',
          tag,
          summary: 'Update a budget',
          description:
            'Absent fields stay unchanged. With another amount, scope or time, every threshold can be reached again. A new threshold that is already reached in the current period causes its alert at once. Measure and period cannot change: add another budget. Of the budget of a project (`of_project`), only the name, the amount and the thresholds can change.',
          path,
          body: { example: { amount: 3000 } },
          responses: changed,
        }),
      },
    )
    .get('/:id/status', ({ params, caller }) => budgets.getStatus(params.id, requireCaller(caller).person), {
      allow: MAY_READ,
      scope: 'budgets:read',
      detail: documented({
        id: 'getBudgetStatus',
        tag,
        summary: 'Get what is spent of a budget',
        description: 'Of the current period, otherwise of the latest, with a forecast for its end.',
        path,
        responses: { 200: { description: 'The status.', schema: BudgetStatus, example: EXAMPLE_BUDGET_STATUS } },
        problems: ['database_deadline'],
      }),
    })
    .post(
      '/:id/archive',
      ({ params, caller, address }) => budgets.archiveBudget(params.id, true, { by: actorOf({ caller, address }) }),
      {
        allow: MAY_CHANGE,
        scope: 'budgets:write',
        object: 'bdg',
        detail: documented({
          id: 'archiveBudget',
          tag,
          summary: 'Archive a budget',
          description: 'It is kept with its alerts, but causes no more.',
          path,
          responses: {
            200: {
              description: 'The archived budget.',
              schema: BudgetBody,
              example: { ...EXAMPLE_BUDGET, archived_at: '2026-12-01T08:00:00.000Z', current: null },
            },
          },
        }),
      },
    )
    .post(
      '/:id/restore',
      ({ params, caller, address }) => budgets.archiveBudget(params.id, false, { by: actorOf({ caller, address }) }),
      {
        allow: MAY_CHANGE,
        scope: 'budgets:write',
        object: 'bdg',
        detail: documented({
          id: 'restoreBudget',
          tag,
          summary: 'Restore an archived budget',
          path,
          responses: changed,
        }),
      },
    )
    .post('/:id/test', ({ params }) => budgets.test(params.id), {
      allow: MAY_CHANGE,
      scope: 'budgets:write',
      detail: documented({
        id: 'testBudget',
        tag,
        summary: 'Send a test alert',
        description:
          'By e-mail, at once, to everybody whom a threshold of the budget names and who has not turned alerts off. Returns whose e-mails the mail server accepted.',
        path,
        responses: {
          200: {
            description: 'The test alert was sent.',
            schema: BudgetTest,
            example: { recipients: ['finance@example.com'], failed: [] },
          },
        },
        problems: ['mail_not_set_up'],
      }),
    })
