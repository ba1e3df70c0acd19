/** CONTRIBUTING.md and the map of the code in docs/architecture.md, compared with the code. */
import { expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../..')
const textOf = (path: string) => Bun.file(join(ROOT, path)).text()

/** The names before the descriptions of the block of text that follows a heading; those that are indented are in `src/`. */
async function listedAfter(heading: string): Promise<string[]> {
  const [, block] = (await textOf('docs/architecture.md')).split(`## ${heading}\n`)[1]!.split(/```(?:text)?\n/)
  return block!
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^ {2}/, 'src/').split(' ')[0]!)
}

interface Rule {
  name: string
  to: { pathNot?: string[] }
}

const { forbidden: rules }: { forbidden: Rule[] } = createRequire(import.meta.url)(
  join(ROOT, '.dependency-cruiser.cjs'),
)

test('CONTRIBUTING.md is short', async () => {
  expect(Buffer.byteLength(await textOf('CONTRIBUTING.md'))).toBeLessThanOrEqual(12_000)
})

test('every script and folder that CONTRIBUTING.md and test/README.md name exists', async () => {
  const missing: string[] = []
  for (const [file, folder] of [
    ['CONTRIBUTING.md', '.'],
    ['test/README.md', 'test'],
  ] as const) {
    const named = (await textOf(file)).matchAll(
      /(?<![\w/.-])((?:(?:scripts|src|test|docs|migrations|support)\/)[\w./-]*\w\/?)/g,
    )
    for (const [, path] of named) {
      if (![join(ROOT, path!), join(ROOT, folder, path!)].some((each) => existsSync(each)))
        missing.push(`${file}: ${path}`)
    }
  }
  expect(missing).toEqual([])
})

test('the tree of folders in docs/architecture.md has all of src/, and nothing else', async () => {
  const tree = await listedAfter('What is in which folder?')
  expect(tree.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  const inSource = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
  const paths = inSource.map((entry) => `src/${entry.name}${entry.isDirectory() ? '/' : ''}`)
  expect(paths.filter((path) => !tree.includes(path))).toEqual([])
})

test('docs/architecture.md lists the features in the order in which they may import each other', async () => {
  const order = rules.flatMap(({ name }) => /^feature-order-(.+)$/.exec(name)?.[1] ?? [])
  expect(await listedAfter('The features, in order')).toEqual(order.map((feature) => `${feature}/`))
  expect(readdirSync(join(ROOT, 'src/features')).sort()).toEqual(order.toSorted())
})

test('docs/architecture.md names the interfaces at which features may meet', async () => {
  const { to } = rules.find(({ name }) => name === 'features-meet-at-interfaces')!
  const allowed = to.pathNot!.flatMap((path) => /\/\(([\w|]+)\)\\\.ts\$$/.exec(path)?.[1]?.split('|') ?? [])
  const [, sentence] = /and of these only\s+([^.]*(?:\.ts`[^.]*)+)\./.exec(await textOf('docs/architecture.md'))!
  const named = [...sentence!.matchAll(/`([\w-]+)\.ts`/g)].map(([, name]) => name!)
  expect(named.toSorted()).toEqual(allowed.toSorted())
})
