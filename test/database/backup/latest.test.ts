import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backupsIn, type Content, originOf, othersText } from '../../../src/database/backup/contents.ts'
import { removeAbandoned } from '../../../src/database/backup/copy.ts'
import { AmbiguousBackups, latestOf } from '../../../src/database/backup/latest.ts'
import { BackedUpDatabase } from '../../support/backups.ts'

const NOW = Date.parse('2026-11-21T20:00:00Z')
const HOUR_MS = 3_600_000

describe('the latest backup', () => {
  /** As `A1 5`: the database A, its timeline 1, five hours ago. */
  const named = (text: string) => {
    const [whose = '', hours] = text.split(' ')
    const madeAt = NOW - Number(hours) * HOUR_MS
    const content: Content =
      whose === 'unlisted' || whose === 'earlier'
        ? { kind: whose === 'earlier' ? 'earlier version' : whose }
        : whose === 'unusable'
          ? { kind: whose, reason: 'it is empty' }
          : { kind: 'backup', database: whose[0]!, timeline: whose, madeAt }
    return { name: text, madeAt, content }
  }
  const latest = (names: string[], database?: string) => {
    try {
      return latestOf(names.map(named), { database, now: NOW })?.name
    } catch (error) {
      if (error instanceof AmbiguousBackups) return error.message
      throw error
    }
  }

  test.each([
    [[], undefined, undefined],
    [['A1 3', 'A1 1', 'A1 2'], undefined, 'A1 1'],
    // From the future.
    [['A1 3', 'A1 -1'], undefined, 'A1 3'],
    // Anybody could have put these there.
    [['A1 3', 'unlisted 1', 'earlier 2', 'unusable 0'], undefined, 'A1 3'],
    [['unlisted 1', 'earlier 2', 'unusable 0'], undefined, 'unlisted 1'],
    [['unusable 0'], undefined, undefined],
    [['A1 3', 'B1 1'], 'A', 'A1 3'],
    // Restored two hours ago, and once more.
    [['A1 5', 'A1 3', 'A2 2', 'A2 1', 'A3 0.5'], undefined, 'A3 0.5'],
  ])('of %j (%s) is %s', (names, database, expected) => {
    expect(latest(names, database)).toBe(expected)
  })

  test('has to be named if there are several databases, or a restored copy went on beside the original', () => {
    expect(latest(['A1 3', 'B1 1'])).toBe(
      'There are backups of 2 databases. Add --database with one of these: B (B1 1), A (A1 3)',
    )
    expect(latest(['A1 5', 'A2 4', 'A1 3', 'A2 2'])).toContain('Name one: A2 2, A1 3')
  })
})

test('a backup is what its content says: of which database, on which timeline, when, and whether all of it is there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tally-contents-'))
  try {
    const [mine, other] = [await BackedUpDatabase.in(join(folder, 'a')), await BackedUpDatabase.in(join(folder, 'b'))]
    const origins = () =>
      backupsIn(folder).map(({ name, content }) => [name, originOf(content, mine.identity)] as const)
    const own = mine.backUp(folder, NOW)
    const others = other.backUp(folder, NOW + 1_000)
    const damaged = mine.backUp(folder, NOW + 2_000)
    truncateSync(join(folder, damaged), 100_000)
    const empty = 'tally-20261121T200003Z.db'
    writeFileSync(join(folder, empty), '')
    expect(origins()).toEqual([
      [empty, 'unusable'],
      [damaged, 'unusable'],
      [others, 'another database'],
      [own, 'own'],
    ])
    expect(othersText(origins().map(([, origin]) => origin))).toBe('1 of another database, 2 unusable')
    mine.renewTimeline()
    expect(origins().at(-1)).toEqual([own, 'another timeline'])
    mine.run('DROP TABLE backup_timeline')
    const earlier = BackedUpDatabase.at(join(folder, 'tally-20261121T200004Z.db'))
    await Bun.write(earlier.file, Bun.file(mine.file))
    expect(backupsIn(folder)[0]).toMatchObject({ madeAt: NOW + 4_000, content: { kind: 'earlier version' } })
    // Reading leaves nothing next to them.
    expect(readdirSync(folder)).toHaveLength(7)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('copies that were interrupted are removed a day later, those of this database only', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tally-unfinished-'))
  try {
    const files = {
      'tally-20261121T200000Z-0123abcd.db.77.unfinished': 25,
      'tally-20261121T200000Z-0123abcd.db.77.unfinished-journal': 25,
      'tally-20261121T200000Z-0123abcd.db.78.unfinished': 23,
      'tally-20261121T200000Z-76543210.db.77.unfinished': 25,
      'tally-20261121T200000Z-0123abcd.db': 25,
      'notes.77.unfinished': 25,
    }
    for (const [name, hours] of Object.entries(files)) {
      writeFileSync(join(folder, name), '')
      const at = new Date(NOW - hours * HOUR_MS)
      utimesSync(join(folder, name), at, at)
    }
    removeAbandoned(folder, { timeline: '0123abcd' }, NOW)
    expect(readdirSync(folder).sort()).toEqual(Object.keys(files).slice(2).sort())
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
