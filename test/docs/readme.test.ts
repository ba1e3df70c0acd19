import { beforeAll, expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import { run } from '../../src/cli/program.ts'
import { OPTIONS } from '../../src/config.ts'

let readme: string
beforeAll(async () => {
  readme = await Bun.file(join(import.meta.dir, '../../README.md')).text()
})

/** Output of a command, run in this process: a process for each command of the README takes ten seconds. */
async function printed(args: string[]): Promise<string> {
  let text = ''
  const print = spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk)
    return true
  })
  try {
    await run(args)
  } finally {
    print.mockRestore()
  }
  return text
}

/** The lines of its shell examples, with continued lines joined. */
function shellLines(): string[] {
  const blocks = [...readme.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block!)
  return blocks.flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
}

test('every command that the README shows is there, with every flag that it gives it', async () => {
  const inline = [...readme.matchAll(/`(tally [^`]+)`/g)].map(([, line]) => line!)
  const shown = [...shellLines(), ...inline].flatMap(
    (line) => /(?:^|\$\(|sudo -u tally )(tally [a-z].*)/.exec(line)?.[1] ?? [],
  )
  expect(shown.length).toBeGreaterThan(50)
  const missing: string[] = []
  for (const line of shown) {
    const [call = ''] = line.split(/ #|\)$/)
    const words = /^tally((?: [a-z][a-z-]*(?= |$))+)/.exec(call)?.[1]?.trim().split(' ') ?? []
    let help = ''
    // An argument may look like a subcommand: try the longest command first.
    for (let length = words.length; length > 0 && help === ''; length--) {
      const command = words.slice(0, length)
      const text = await printed([...command, '--help'])
      if (!text.startsWith(`Usage: tally ${command.join(' ')} `)) continue
      const isOneOfIts = length < words.length && /^Usage: .* \[command\]$/m.test(text)
      help = isOneOfIts ? 'no such command' : text
    }
    const flags = [...call.matchAll(/(?<=\s)--[a-z][a-z0-9-]*/g)].map(([flag]) => flag)
    if (!help.startsWith('Usage') || !flags.every((flag) => help.includes(`${flag} `) || help.includes(`${flag}\n`)))
      missing.push(line)
  }
  expect(missing).toEqual([])
})

test('every path of the API that the README names is in the OpenAPI document', async () => {
  const { paths } = JSON.parse(await printed(['openapi']))
  const known = new Set(Object.keys(paths).map((path) => path.replaceAll(/\{\w+\}/g, '{}')))
  const roots = new Set([...known].map((path) => path.replace('/api/v1', '').split('/')[1]))
  const named = [...readme.matchAll(/(?:(?:GET|POST|PUT|PATCH|DELETE) |\/api\/v1|`)(\/[a-z0-9/{}._-]+)/g)]
  const unknown = named
    .map(([, path]) => path!.replaceAll(/\{\w+\}/g, '{}').replace(/[/.]$/, ''))
    .filter((path) => roots.has(path.split('/')[1]!) && !known.has(path) && !known.has(`/api/v1${path}`))
    // Exporters are configured with the address above their own.
    .filter((path) => ![...known].some((each) => each.startsWith(`/api/v1${path}/v1/`)))
  expect(unknown).toEqual([])
})

test('the table of options has every option, with its variable and default', () => {
  for (const { flag, variable, default: usual } of Object.values(OPTIONS)) {
    const row = readme.split('\n').find((line) => line.startsWith(`| \`${flag}\` |`))
    expect(row).toContain(`| \`${variable}\` |`)
    if (usual) expect(row).toContain(`| \`${usual}\` |`)
  }
})

test('every link within the README leads to a heading', () => {
  const headings = [...readme.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
  const links = [...readme.matchAll(/\]\(#([^)]+)\)/g)].map(([, link]) => link!)
  expect(links.filter((link) => !headings.includes(link))).toEqual([])
})

test('the README names the two commands of a checkout', () => {
  for (const command of ['./scripts/start', './scripts/test']) expect(readme).toContain(`\`${command}\``)
})

test('every bill that the README shows in a currency of its own has an exchange rate', () => {
  const bills = shellLines().filter((line) => /tally bills (preview|send)/.test(line))
  expect(bills.length).toBeGreaterThan(0)
  for (const line of bills) expect(line).toContain('--exchange-rate ')
})
