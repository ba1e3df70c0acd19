/** The README and the pages of the manual, with their examples. */
import { join } from 'node:path'
import { CHAPTERS } from '../../docs/.vitepress/chapters.ts'
import { referencePages } from '../../scripts/manual/reference.ts'

const ROOT = join(import.meta.dir, '../..')
const DOCS = join(ROOT, 'docs')

export interface Block {
  /** What follows the language: `json POST /api/v1/entries` has `POST /api/v1/entries`. */
  language: string
  note: string
  text: string
}

export interface ManualPage {
  /** Below `docs/`, without its extension. */
  path: string
  text: string
  isGenerated: boolean
  /**
   * What its examples run against: Tally with the demo's data, one that is set up and empty, one that was started for the
   * first time, or a folder without any.
   */
  server: 'demo' | 'empty' | 'new' | 'none'
  blocks: Block[]
}

const SERVER = /^---\n(?:.*\n)*?server: (demo|empty|new|none)\n(?:.*\n)*?---\n/

export function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^( *)```(\w+)(?: ([^\n]*))?\n(.*?)^\1```$/gms)].map(
    ([, indent, language, note, block]) => ({
      language: language!,
      note: note ?? '',
      text: block!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  )
}

export async function readmePage(): Promise<ManualPage> {
  const text = await Bun.file(join(ROOT, 'README.md')).text()
  return { path: 'README', text, isGenerated: false, server: 'new', blocks: blocksOf(text) }
}

export async function manualPages(): Promise<ManualPage[]> {
  const generated = await referencePages()
  const paths = ['index', ...CHAPTERS.flatMap(({ pages }) => pages)]
  return Promise.all(
    paths.map(async (path) => {
      const text = generated.get(path) ?? (await Bun.file(join(DOCS, `${path}.md`)).text())
      const server = (SERVER.exec(text)?.[1] ?? 'demo') as ManualPage['server']
      return { path, text, isGenerated: generated.has(path), server, blocks: blocksOf(text) }
    }),
  )
}
