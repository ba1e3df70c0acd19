/** The page of the manual about what commands print with `--json`, and that they print it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import Ajv2020 from 'ajv/dist/2020'
import { outputOf, printsJson, type Shape } from '../../scripts/manual/command-output.ts'
import { referencePages } from '../../scripts/manual/reference.ts'
import { fullNameOf, withSubcommands } from '../../src/cli/command-tree.ts'
import { openApiDocument } from '../../src/cli/openapi.ts'
import { createProgram } from '../../src/cli/program.ts'
import { fillHome } from '../support/agents-home.ts'
import { CommandLine } from '../support/command-line.ts'
import { testEngine } from '../support/engines.ts'

const document = JSON.parse(await openApiDocument())
const commands = [...withSubcommands(await createProgram())].filter(printsJson)
const commandOf = new Map(commands.map((command) => [fullNameOf(command).replace('tally ', ''), command]))

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
ajv.addSchema(document, 'document')

let tally: CommandLine
beforeAll(async () => {
  tally = await CommandLine.make({ isFirst: true })
  await fillHome(tally.folder)
})
afterAll(() => tally.remove())

test('every command that prints JSON is on the page', async () => {
  const page = (await referencePages()).get('reference/command-output')!
  const named = [...page.matchAll(/^### `(tally [^`]+)`\n\n(?=\S)/gm)].map(([, name]) => name!)
  expect(named.toSorted()).toEqual(commands.map(fullNameOf).toSorted())
  for (const [, anchor] of page.matchAll(/\]\(#(\w+)\)/g)) {
    expect(page).toMatch(new RegExp(`^##+ ${anchor}$`, 'im'))
  }
})

/** A shape of the page as a schema, in which nothing but its fields may be. */
function schemaOf(shape: Shape, isWhole = true): object {
  return JSON.parse(
    JSON.stringify(shape, (_, value) => {
      if (typeof value?.$ref === 'string') return { $ref: value.$ref.replace(/^#/, 'document#') }
      return isWhole && value?.type === 'object' && value.properties && !('additionalProperties' in value)
        ? { ...value, additionalProperties: false }
        : value
    }),
  )
}

/** The shape without what several parts of it would forbid each other. */
const isWhole = ({ allOf }: Shape) => allOf === undefined

/** What is wrong with what a command prints; empty if nothing is. */
async function issueOf(line: string[], stdin?: string): Promise<string> {
  const words = `${line.join(' ')} `
  const name = [...commandOf.keys()].filter((each) => words.startsWith(`${each} `)).sort(byLength)[0]
  const { shapes } = outputOf(commandOf.get(name!)!, document)!
  const { stdout, stderr } = await tally.run([...line, '--json'], stdin === undefined ? {} : { stdin })
  // What checks something fails after it has printed what it found.
  if (stdout === '') return stderr
  const value = JSON.parse(stdout)
  const issues = shapes.map((shape) => {
    const validate = ajv.compile(schemaOf(shape, isWhole(shape)))
    return validate(value) ? '' : ajv.errorsText(validate.errors)
  })
  return issues.includes('') ? '' : issues.join(' or ')
}

const byLength = (one: string, other: string) => other.length - one.length

test('commands print what the page says', async () => {
  expect(await issueOf(['demo', '--password-stdin'], 'correct horse battery')).toBe('')
  const lists = commands.filter(
    (command) =>
      /^(list|periods|scopes|loads|common|alerts|deputies|approvals|status|terms)$/.test(command.name()) &&
      !command.registeredArguments.some(({ required }) => required) &&
      !command.options.some(({ mandatory }) => mandatory),
  )
  expect(lists.length).toBeGreaterThan(20)
  const first = async (...list: string[]) => (await tally.json(list)).data[0]
  const entry = await first('entries', 'list', '--limit', '1')
  const project = await first('projects', 'list')
  const ines = 'ines.marques@meridian.example'
  const issues: string[] = []
  for (const line of [
    ...lists.map((list) => fullNameOf(list).split(' ').slice(1)),
    ['usage'],
    ['reports', 'unpriced'],
    ['reports', 'completeness'],
    ['unattributed'],
    ['entries', 'show', entry.id],
    ['entries', 'place', entry.id, '--project', project.key],
    ['entries', 'approve', '--project', project.key, '--dry-run'],
    ['projects', 'alias', 'add', project.key, 'another-name'],
    ['projects', 'lead', 'add', project.key, ines],
    ['rules', 'apply', '--dry-run'],
    ['prices', 'show', entry.model],
    ['prices', 'resolve', entry.model],
    ['prices', 'check'],
    ['prices', 'alias', 'add', 'my-name', entry.model],
    ['prices', 'reprice', '--dry-run'],
    ['users', 'show', ines],
    ['users', 'emails', ines, '--add', 'more@meridian.example'],
    ['users', 'reset-password', ines],
    ['users', 'add', '--email', 'new@meridian.example', '--name', 'New', '--role', 'viewer'],
    ['users', 'grant', 'new@meridian.example', '--project', project.key],
    ['users', 'grants', 'new@meridian.example'],
    ['users', 'erase', 'new@meridian.example', '--dry-run'],
    ['settings', 'show'],
    ['doctor'],
    ['verify'],
    ['version'],
    ['compact'],
    ['retention', 'apply', '--dry-run'],
    // PostgreSQL has a tool of its own.
    ...(testEngine === 'sqlite' ? [['sql', 'SELECT 1 AS one, NULL AS none']] : []),
    ['agents', 'scan'],
  ]) {
    const issue = await issueOf(line)
    if (issue !== '') issues.push(`tally ${line.join(' ')}: ${issue}`)
  }
  expect(issues).toEqual([])
})
