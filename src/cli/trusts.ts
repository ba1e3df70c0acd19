/** `tally trusts`. */
import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import {
  addTrust,
  changeTrust,
  getTrust,
  listTrusts,
  removeTrust,
  testTrusts,
} from '../features/trusts/operations/trusts.ts'
import type { TrustBody } from '../features/trusts/schema.ts'
import { NONE } from './flags/none.ts'
import { examples } from './flags/options.ts'
import { addAction, addListing } from './operations.ts'
import { minute, print, printTable } from './terminal/print.ts'

const subject = 'id'

const EXAMPLE_ID = 'tru_01a1fa172a0277f3983322718874f2ea'

const ADD_EXAMPLE =
  'tally trusts add github --repository acme/web --repository-id 123456 --branch main --pull-requests yes --user ci@example.com --project WEB'

const FLAGS = {
  repository: '--repository <name>',
  branches: {
    flag: '--branch <pattern>',
    doc: 'only this branch: * matches any characters except /, ** any characters; can be repeated; none for any branch or tag',
    read: (text: string, before: string[] = []) => (text === NONE ? [] : [...before, text]),
  },
  pull_requests: '--pull-requests <yes|no>',
  environment: { flag: '--environment <name>', doc: 'only jobs in this environment (default: any, or none)' },
  project: { flag: '--project <project>', doc: 'key, name or id of the project that the tokens are limited to' },
  minutes: { flag: '--minutes <number>', doc: 'how long the tokens are valid, 5 to 60 (default 15)' },
}

export function addTrustsCommands(program: Command): void {
  const trusts = program
    .command('trusts')
    .description('Let jobs of GitHub Actions and GitLab CI/CD report without a stored token')
    .addHelpText('after', examples(ADD_EXAMPLE, 'tally trusts list'))
  addAction(trusts, addTrust, {
    name: 'add',
    description: 'Add a trust: jobs of a repository get short-lived tokens, limited to a project',
    positional: ['provider'],
    flags: {
      ...FLAGS,
      repository_id: { flag: '--repository-id <number>', doc: 'id of the repository, which stays when it is renamed' },
      issuer: { flag: '--issuer <url>', doc: 'issuer of the ID tokens of your own GitHub or GitLab' },
      user: { flag: '--user <user>', doc: 'e-mail address or id of the member to whom the entries belong' },
    },
    examples: [
      ADD_EXAMPLE,
      'tally trusts add gitlab --issuer https://gitlab.example.com --repository acme/api --repository-id 7 --user ci@example.com --project API',
    ],
    show: trustFields,
  })
  addListing(trusts, listTrusts, {
    description: 'List trusts, newest first',
    examples: ['tally trusts list', 'tally trusts list --json'],
    columns: [
      { title: 'REPOSITORY', of: ({ repository }) => repository },
      { title: 'PROVIDER', rank: 1, of: ({ provider }) => provider },
      { title: 'FOR', of: codeText },
      { title: 'ENVIRONMENT', rank: 2, of: ({ environment }) => environment ?? '' },
      { title: 'PROJECT', of: ({ project }) => project.key },
      { title: 'PERSON', rank: 1, of: ({ user }) => user.email },
      { title: 'STATE', of: ({ state }) => state },
      { title: 'LAST USED (UTC)', rank: 1, of: ({ last_used_at }) => minute(last_used_at) },
      { title: 'ID', of: ({ id }) => id },
    ],
    howToAdd: 'Add one with `tally trusts add`.',
  })
  addAction(trusts, getTrust, {
    name: 'show',
    description: 'Show a trust, and how often jobs used it',
    subject,
    examples: [`tally trusts show ${EXAMPLE_ID}`],
    show: trustFields,
  })
  addAction(trusts, changeTrust, {
    name: 'change',
    description: 'Change a trust; another project also applies to tokens that jobs have',
    subject,
    flags: FLAGS,
    examples: [`tally trusts change ${EXAMPLE_ID} --branch main --branch 'release/*'`],
    show: trustFields,
  })
  addAction(trusts, removeTrust, {
    name: 'remove',
    description: 'Remove a trust; tokens that jobs have stop working at once',
    subject,
    examples: [`tally trusts remove ${EXAMPLE_ID} --yes`],
    first: getTrust,
    confirm: (_, { repository, project }) => `Remove the trust in ${repository} for the project ${project.key}?`,
    show: (_, id) => `The trust ${id} is removed.`,
  })
  addAction(trusts, testTrusts, {
    name: 'test',
    description: 'Compare the ID token of a job with the trusts; nothing is issued',
    flags: { token: { flag: '--file <file>', doc: 'file with the ID token; - for standard input', read: readIdToken } },
    examples: ['tally trusts test --file id-token.txt'],
    show: ({ trust, comparisons }) => {
      printTable(
        [
          { title: 'TRUST', of: (row) => row.trust },
          { title: 'CLAIM', of: (row) => row.claim },
          { title: 'TOKEN', of: (row) => row.token },
          { title: 'REQUIRED', of: (row) => row.required },
          { title: 'MATCHES', of: (row) => (row.matches ? 'yes' : 'no') },
        ],
        comparisons,
      )
      print(trust === null ? '\nNo trust matches this job.' : `\nThe trust ${trust} matches this job.`)
      return undefined
    },
  })
}

function readIdToken(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8').trim()
  } catch (error) {
    throw new InvalidArgumentError(`${path} cannot be read: ${(error as Error).message}.`)
  }
}

function codeText({ branches, pull_requests }: TrustBody): string {
  const on = branches.length === 0 ? 'any branch or tag' : branches.join(', ')
  return pull_requests ? `${on}, pull requests` : on
}

function trustFields(trust: TrustBody): [name: string, value: string | null | undefined][] {
  return [
    ['trust', trust.repository],
    ['id', trust.id],
    ['provider', trust.provider],
    ['issuer', trust.issuer],
    ['repository id', trust.repository_id],
    ['for', codeText(trust)],
    ['environment', trust.environment ?? 'any, or none'],
    ['person', trust.user.email],
    ['project', trust.project.key],
    ['valid for', `${trust.minutes} min`],
    ['state', trust.state],
    ['exchanges', String(trust.exchanges)],
    ['last used', minute(trust.last_used_at)],
  ]
}
