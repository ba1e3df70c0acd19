/** A home folder with session files of agents, and the results of scanning it. */
import { Database } from 'bun:sqlite'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { AgentName, Counts, Scan, SessionUse } from '../../src/agents/agent.ts'
import { type ScanOptions, scanAll } from '../../src/agents/scan.ts'
import { type AgentsEnvironment, readAgentsEnvironment } from '../../src/config.ts'

export const FIXTURES = join(import.meta.dir, '../fixtures')

export type Row = Record<string, string | number | object | null>

/** The usage of one model in one session. */
export interface Figures {
  agent_harness: string
  session_id: string
  model: string
  requests: number
  input: number
  output: number
  cache_read: number
  cache_write: number
  cache_write_1h: number
}

export class AgentHome {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'tally-home-')))
  readonly environment: AgentsEnvironment = readAgentsEnvironment({ HOME: this.folder })

  /** Writes a file in the home folder, and returns its path. */
  write(path: string, content: string | Uint8Array): string {
    const place = join(this.folder, path)
    mkdirSync(dirname(place), { recursive: true })
    writeFileSync(place, content)
    return place
  }

  /** One JSON object per line. */
  writeLines(path: string, records: readonly unknown[]): string {
    return this.write(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  }

  /** Copies a fixture, a file or a folder, to the home folder. */
  copy(fixture: string, path: string): void {
    const place = join(this.folder, path)
    mkdirSync(dirname(place), { recursive: true })
    cpSync(join(FIXTURES, fixture), place, { recursive: true })
  }

  /** Makes a database as agents do, which stays open. Without a schema, its columns are those of the rows. */
  writeDatabase(path: string, tables: Record<string, Row[]>, schema?: string): Database {
    const place = join(this.folder, path)
    mkdirSync(dirname(place), { recursive: true })
    const database = new Database(place)
    database.run('PRAGMA journal_mode = WAL')
    if (schema !== undefined) database.exec(schema)
    database.run('PRAGMA foreign_keys = OFF')
    for (const [table, rows] of Object.entries(tables)) {
      const columns = [...new Set(rows.length === 0 ? ['id'] : rows.flatMap((row) => Object.keys(row)))]
      if (schema === undefined) database.run(`CREATE TABLE ${table} (${columns.join(', ')})`)
      for (const row of rows) {
        const insert = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
        database.query(insert).run(...columns.map((column) => columnValue(row[column])))
      }
    }
    return database
  }

  scan(options: Omit<ScanOptions, 'environment'> = {}): Scan {
    return scanAll({ environment: this.environment, ...options })
  }

  /** The result of scanning one agent, which must find no damage. */
  uses(agent: AgentName): SessionUse[] {
    const { uses, damage } = this.scan({ agents: [agent] })
    if (damage.length > 0) throw new Error(`There is damage: ${JSON.stringify(damage)}`)
    return uses
  }

  remove(): void {
    rmSync(this.folder, { recursive: true })
  }
}

/** As a column has it: what agents keep as JSON is an object in fixtures. */
const columnValue = (value: Row[string] | undefined) =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? null)

/** The fields of a use that tests compare. */
export function figuresOf({ agentHarness, sessionId, model, requests, tokens }: SessionUse): Figures {
  return { agent_harness: agentHarness, session_id: sessionId, model, requests, ...tokens }
}

/** The uses with all their cells, to be compared. */
export function withCells(uses: readonly SessionUse[]): object[] {
  return uses.map((use) => ({ ...use, cells: use.cells() }))
}

/** The counts of the requests above a threshold; undefined if they are not in the use. */
export function countsAbove({ requestsAbove }: SessionUse, threshold: number): Counts | undefined {
  const found = requestsAbove.find((each) => each.threshold === threshold)
  if (!found) return undefined
  const { threshold: _, ...counts } = found
  return counts
}

export function byName(one: Figures, other: Figures): number {
  const name = ({ agent_harness, session_id, model }: Figures) => `${agent_harness} ${session_id} ${model}`
  return name(one) < name(other) ? -1 : 1
}
