import { beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { referencePages } from '../../scripts/manual/reference.ts'
import { PROBLEMS } from '../../src/errors.ts'
import { AGENTS, type AgentFacts, UNREAD_AGENTS, type Way } from '../../src/shared/agents.ts'

const ROOT = join(import.meta.dir, '../..')

/** Files that refer to the repository. Fixtures come from elsewhere. */
const SOURCES = '{src,test,scripts,migrations,packaging,docs}/**/*.{ts,tsx,json,css,sql,md,conf,service}'

/** By path from the root. */
const texts = new Map<string, string>()
let documents: [path: string, text: string][]
let paths: Set<string>

beforeAll(async () => {
  for (const pattern of [SOURCES, '*.{md,json,cjs}', 'Dockerfile']) {
    for await (const path of new Bun.Glob(pattern).scan({ cwd: ROOT, dot: true })) {
      if (!path.startsWith('test/fixtures/')) texts.set(path, await Bun.file(join(ROOT, path)).text())
    }
  }
  documents = [...texts].filter(([path]) => path.endsWith('.md'))
  for (const [page, text] of await referencePages()) texts.set(`docs/${page}.md`, text)
  paths = new Set(texts.keys())
})

/** The text of a file without line breaks and comment prefixes. */
const inOneLine = (text: string) => text.replaceAll(/\n[^\S\n]*(?:\*(?!\/)|\/\/|--|#)?[^\S\n]*/g, ' ')

const headingsOf = (text: string) => [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!)

const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

/** The document that a mention refers to, from the root or from the folder of the file that mentions it. */
const documentOf = (mention: string, from: string) =>
  [mention, join(dirname(from), mention)].find((path) => paths.has(path))

/** What scripts and pipelines write outside the repository. */
const WRITTEN = ['RELEASE_NOTES.md', 'receipt.md']

/** Documents that a text names, with the headings that it cites: `docs/design/pricing.md, "Units" and "Tiers"`. */
function* mentionsIn(text: string): Generator<{ document: string; cited: string[] }> {
  const mention = /(?<![\w./:@-])((?:[\w.-]+\/)*[\w-]+\.md)(?![\w/])((?:(?:,| and|, and) "[^"]+")*)/g
  for (const [, document, cited] of inOneLine(text).matchAll(mention)) {
    yield { document: document!, cited: [...cited!.matchAll(/"([^"]+)"/g)].map(([, heading]) => heading!) }
  }
}

test('every document that a comment or document names exists, and so does every heading cited with it', () => {
  const broken: string[] = []
  let cited = 0
  for (const [path, text] of texts) {
    for (const mention of mentionsIn(text)) {
      const document = documentOf(mention.document, path)
      if (!document && !WRITTEN.includes(mention.document)) broken.push(`${path}: ${mention.document}`)
      const headings = document ? headingsOf(texts.get(document)!) : []
      for (const heading of mention.cited) {
        cited += 1
        if (document && !headings.includes(heading)) broken.push(`${path}: ${mention.document}, "${heading}"`)
      }
    }
  }
  expect(broken).toEqual([])
  expect(cited).toBeGreaterThan(20)
})

test('every relative link of a document leads to a file and a heading', () => {
  const broken: string[] = []
  for (const [path, text] of documents) {
    for (const [, link] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link!)) continue
      const [file = '', anchor] = link!.split('#')
      const target = file === '' ? path : relative(ROOT, join(ROOT, dirname(path), file))
      const anchors = headingsOf(texts.get(target) ?? '').map(anchorOf)
      if (!(texts.has(target) || existsSync(join(ROOT, target))) || (anchor !== undefined && !anchors.includes(anchor)))
        broken.push(`${path}: ${link}`)
    }
  }
  expect(broken).toEqual([])
})

test('every source file that a document names exists', () => {
  const files = [...paths]
  const missing = documents.flatMap(([path, text]) =>
    [...text.matchAll(/`((?:[\w.-]+\/)*[\w.-]+\.(?:tsx?|cjs|sql))`/g)]
      .map(([, file]) => file!)
      .filter((file) => !files.some((known) => known === file || known.endsWith(`/${file}`)))
      .map((file) => `${path}: ${file}`),
  )
  expect(missing).toEqual([])
})

/** The sources of the server and the command line. */
const program = () => [...texts].filter(([path]) => path.startsWith('src/') && !path.startsWith('src/web/'))

test('every problem code is thrown somewhere', () => {
  const thrown = new Set(
    program().flatMap(([, text]) => [...text.matchAll(/new Problem\(\s*'(\w+)'/g)].map(([, code]) => code!)),
  )
  expect(Object.keys(PROBLEMS).filter((code) => !thrown.has(code))).toEqual([])
})

test('every prefix of ids is given to something', () => {
  const declared = /type IdPrefix =([^;]+?)\n\n/.exec(texts.get('src/lib/id.ts')!)![1]!
  const prefixes = [...declared.matchAll(/'(\w+)'/g)].map(([, prefix]) => prefix!)
  const given = new Set(
    // Random ones, and those that follow from what they are of.
    program().flatMap(([, text]) =>
      [...text.matchAll(/newId\('(\w+)'\)|`(\w+)_\$\{/g)].map(([, random, derived]) => (random ?? derived)!),
    ),
  )
  expect(prefixes.length).toBeGreaterThan(5)
  expect(prefixes.filter((prefix) => !given.has(prefix))).toEqual([])
})

test('the tables of agents say what each way counts, and which are not read, as the page Connect an agent does', () => {
  const plain = (text: string) => text.replaceAll(/[`“”]/g, '')
  const table = plain(texts.get('docs/connect/overview.md')!)
  const rows = Object.entries<AgentFacts>(AGENTS).map(([name, { title, fork, ways }]) => {
    const cells = (['telemetry', 'hook', 'files'] satisfies Way[]).map((way) => {
      const misses = ways[way]
      return misses === undefined ? '' : misses === '' ? ' all' : ` all but ${plain(misses)}`
    })
    return `| [${fork ? `${title}, ${fork}` : title}](${name}.md) |${cells.join(' |')} |`
  })
  const unread = Object.values(UNREAD_AGENTS).map(({ title, reason }) => `| ${title} | ${reason} |`)
  expect([...rows, ...unread].filter((row) => !table.includes(`${row}\n`))).toEqual([])
})
