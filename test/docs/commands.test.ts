/** What the README and the manual name exists: commands with their flags, and paths of the API. */
import { beforeAll, expect, spyOn, test } from 'bun:test'
import { run } from '../../src/cli/program.ts'
import { blocksOf, manualPages, readmePage } from './manual-pages.ts'

/** By path; the generated pages need no check. */
let documents: Map<string, string>
beforeAll(async () => {
  const pages = [await readmePage(), ...(await manualPages())].filter(({ isGenerated }) => !isGenerated)
  documents = new Map(pages.map(({ path, text }) => [path, text]))
})

/** Output of a command, run in this process: processes for all commands of the manual take minutes. */
const known = new Map<string, Promise<string>>()
function printed(args: string[]): Promise<string> {
  const name = args.join(' ')
  const text = known.get(name) ?? printedNow(args)
  known.set(name, text)
  return text
}

async function printedNow(args: string[]): Promise<string> {
  let text = ''
  const outputs = [process.stdout, process.stderr].map((stream) =>
    spyOn(stream, 'write').mockImplementation((chunk) => {
      text += String(chunk)
      return true
    }),
  )
  try {
    await run(args)
  } finally {
    for (const output of outputs) output.mockRestore()
  }
  return text
}

/** The lines of shell examples, with continued lines joined. */
const shellLines = (text: string) =>
  blocksOf(text)
    .filter(({ language }) => language === 'sh')
    .flatMap((block) => block.text.replaceAll('\\\n', ' ').split('\n'))

test('every command that is shown is there, with every flag that it is given', async () => {
  const missing: string[] = []
  let count = 0
  // The pages about design name processes that nobody calls.
  for (const [path, text] of [...documents].filter(([path]) => !path.startsWith('design/'))) {
    const inline = [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/`(tally [^`]+)`/g)].map(([, line]) => line!)
    const shown = [...shellLines(text), ...inline].flatMap(
      (line) => /(?:^|\$\(|sudo -u tally )\s*(tally [a-z].*)/.exec(line)?.[1] ?? [],
    )
    for (const line of shown) {
      count += 1
      const [call = ''] = line.split(/ #|\)$|[|;&>]/)
      const words = /^tally((?: [a-z][a-z-]*(?= |$))+)/.exec(call)?.[1]?.trim().split(' ') ?? []
      if (words[0] === 'help') continue
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
        missing.push(`${path}: ${line}`)
    }
  }
  expect(missing).toEqual([])
  expect(count).toBeGreaterThan(200)
})

test('every path of the API that is named is in the OpenAPI document', async () => {
  const { paths } = JSON.parse(await printed(['openapi']))
  const known = new Set(Object.keys(paths).map((path) => path.replaceAll(/\{\w+\}/g, '{}')))
  const roots = new Set([...known].map((path) => path.replace('/api/v1', '').split('/')[1]))
  const unknown = [...documents].flatMap(([document, text]) =>
    [...text.matchAll(/(?:(?:GET|POST|PUT|PATCH|DELETE) |\/api\/v1|`)(\/[a-z0-9/{}._-]+)/g)]
      .map(([, path]) => path!.replaceAll(/\{\w+\}/g, '{}').replace(/[/.]$/, ''))
      .filter((path) => roots.has(path.split('/')[1]!) && !known.has(path) && !known.has(`/api/v1${path}`))
      // Exporters are configured with the address above their own.
      .filter((path) => ![...known].some((each) => each.startsWith(`/api/v1${path}/v1/`)))
      .map((path) => `${document}: ${path}`),
  )
  expect(unknown).toEqual([])
})

test('the README names the two commands of a checkout, and is short', () => {
  const readme = documents.get('README')!
  for (const command of ['./scripts/start', './scripts/test']) expect(readme).toContain(`\`${command}\``)
  expect(readme.split('\n').length).toBeLessThan(161)
})
