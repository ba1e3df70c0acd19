/**
 * The home folder of a developer with ten agents: a corpus of Claude Code, and copies of the captures of the others, each
 * with ids, times and counts of its own. The same number of copies makes the same content.
 */
import { Database } from 'bun:sqlite'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Corpus, writeCorpus } from './agents-corpus.ts'

const FIXTURES = join(import.meta.dir, '../../test/fixtures')

/** Enough that no copy overlaps with the next one, and that all of them end within a year. */
const BETWEEN_COPIES_MS = 17 * 60_000

/** Captures are of late 2026: their copies start a year earlier. */
const YEAR_MS = 365 * 86_400_000

/** Of each agent with files: the folder of its captures, and where a copy of it goes. */
const FILES: [captures: string, place: (copy: number) => string][] = [
  ['agents/codex/transcripts', () => '.codex/sessions'],
  ['agents/gemini-cli/transcripts/acme-web', (copy) => `.gemini/tmp/project-${copy}`],
  ['cases/grok/%2Fhome%2Fdev%2Facme-web', (copy) => `.grok/sessions/%2Fhome%2Fdev%2Fproject-${copy}`],
  ['cases/kimi-code/wd_acme-web_2bd88ea5e093', (copy) => `.kimi-code/sessions/wd_project-${copy}_2bd88ea5e093`],
  ['cases/pi', (copy) => `.pi/agent/sessions/--home-dev-project-${copy}--`],
]

const QWEN_CHAT = 'cases/qwen-code/947158b7-b45d-419a-9d7d-25a1ee1e37f7.jsonl'

const read = (path: string) => readFileSync(join(FIXTURES, path), 'utf8')

/** A copy of a capture, or of the path of one. */
function copyOf(text: string, copy: number): string {
  const later = copy * BETWEEN_COPIES_MS
  return (
    text
      .replace(/[0-9a-f]{8}(?=(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/g, (first) =>
        ((Number.parseInt(first, 16) ^ copy) >>> 0).toString(16).padStart(8, '0'),
      )
      .replace(/\b(?:ses|msg|resp|call)_\w+/g, (id) => `${id}${copy}`)
      .replace(/\b20261128_(\d)\b/g, `20261128_${copy}$1`)
      .replace(/\b2026-11-\d\dT[\d:.]+Z/g, (time) => new Date(Date.parse(time) + later - YEAR_MS).toISOString())
      .replace(/\b2026-11-\d\d \d\d:\d\d:\d\d\b/g, (time) =>
        new Date(Date.parse(`${time}Z`) + later - YEAR_MS).toISOString().slice(0, 19).replace('T', ' '),
      )
      .replace(/\b179[5-9]\d{9}\b/g, (time) => String(Number(time) + later - YEAR_MS))
      .replace(/\b179[5-9]\d{6}\b/g, (time) => String(Number(time) + (later - YEAR_MS) / 1_000))
      // Multiples, so that sums remain those of their parts.
      .replace(/(?<=(?:token|input|output|cache|total|thought|reasoning)\w*\\?":)\d+\b(?!\.)/gi, (count) =>
        String(Number(count) * (1 + (copy % 7))),
      )
  )
}

type Row = Record<string, string | number | null | object>

/** Fills a database with copies of rows. Its columns are those of the rows. */
function writeDatabase(path: string, tables: Record<string, Row[]>, copies: number): void {
  mkdirSync(dirname(path), { recursive: true })
  using database = new Database(path)
  database.run('PRAGMA journal_mode = WAL')
  for (const [table, captured] of Object.entries(tables)) {
    const columns = [...new Set(captured.flatMap((row) => Object.keys(row)))]
    database.run(`CREATE TABLE ${table} (${columns.map((name) => `"${name}"`).join(', ')})`)
    const insert = database.query(`INSERT INTO ${table} VALUES (${columns.map(() => '?').join(', ')})`)
    const text = JSON.stringify(captured)
    database.transaction(() => {
      for (let copy = 0; copy < (table === 'schema_version' ? 1 : copies); copy++) {
        for (const row of JSON.parse(copyOf(text, copy)) as Row[]) {
          insert.run(...columns.map((name) => valueIn(row[name] ?? null, name === 'id' ? copy * 1_000 : 0)))
        }
      }
    })()
  }
}

/** Numbered rows continue those of the copy before. */
function valueIn(value: Row[string], more: number): string | number | null {
  if (typeof value === 'number') return value + more
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}

/** Returns the corpus with everything that was written. */
export async function writeHome(home: string, lines: number, copies: number): Promise<Corpus> {
  const corpus = await writeCorpus(join(home, '.claude/projects'), lines)
  const write = async (path: string, content: string) => {
    corpus.lines += content.split('\n').length - 1
    corpus.bytes += Buffer.byteLength(content)
    if (path.endsWith('.jsonl')) corpus.sessions += 1
    await Bun.write(join(home, path), content)
  }
  for (const [captures, place] of FILES) {
    const paths = (readdirSync(join(FIXTURES, captures), { recursive: true }) as string[]).filter((path) =>
      /\.jsonl?$/.test(path),
    )
    const texts = paths.map((path) => [path, read(join(captures, path))] as const)
    for (let copy = 0; copy < copies; copy++) {
      for (const [path, text] of texts) await write(join(place(copy), copyOf(path, copy)), copyOf(text, copy))
    }
  }
  const chat = read(QWEN_CHAT)
  for (let copy = 0; copy < copies; copy++) {
    await write(
      copyOf(`.qwen/projects/-home-dev-${copy}/chats/947158b7-b45d-419a-9d7d-25a1ee1e37f7.jsonl`, copy),
      copyOf(chat, copy),
    )
  }
  const opencode = {
    session: JSON.parse(read('cases/opencode/opencode-db-session-rows.json')),
    message: JSON.parse(read('cases/opencode/opencode-db-message-rows.json')),
  }
  const databases: [place: string, tables: Record<string, Row[]>][] = [
    ['opencode/opencode.db', opencode],
    ['kilo/kilo.db', JSON.parse(read('cases/kilo/rows.json'))],
    ['goose/sessions/sessions.db', JSON.parse(read('cases/goose/rows.json'))],
  ]
  for (const [place, tables] of databases) {
    const path = join(home, '.local/share', place)
    writeDatabase(path, tables, copies)
    corpus.bytes += Bun.file(path).size
    corpus.sessions += copies * (tables.session ?? tables.sessions)!.length
  }
  return corpus
}
