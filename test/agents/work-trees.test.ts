/** What git said of work trees stays, whatever becomes of them. */
import { afterEach, beforeEach, describe, expect, setSystemTime, test } from 'bun:test'
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { nameAt } from '../../src/agents/git-folder.ts'
import { WorkTrees } from '../../src/agents/work-trees.ts'
import { AgentHome } from '../support/agent-home.ts'
import { runs } from '../support/tier.ts'

const MINUTE_MS = 60_000
const START = Date.parse('2026-11-20T10:00:00Z')
const MEMORY = '.local/state/tally/work-trees.json'

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => {
  setSystemTime()
  home.remove()
})

const COMMIT = '97fd3a8b086a0dee91879f4e4cd742c7184b1c34'
const moment = (minute: number) => START + minute * MINUTE_MS

/** A work tree whose git files are written by hand. */
class Tree {
  branch: string | null = 'main'
  remote = 'https://example.com/acme/web'
  log: string[] = []

  constructor(readonly path: string) {
    this.write()
  }

  write(): void {
    home.write(`${this.path}/.git/config`, `[remote "origin"]\n\turl = ${this.remote}\n`)
    home.write(`${this.path}/.git/HEAD`, this.branch === null ? COMMIT : `ref: refs/heads/${this.branch}\n`)
    home.write(`${this.path}/.git/logs/HEAD`, this.log.map((line) => `${line}\n`).join(''))
  }

  #note(minute: number, what: string): void {
    this.log.push(`0 0 Ada <a@b> ${moment(minute) / 1_000} +0000\t${what}`)
  }

  checkOut(minute: number, to: string | null): void {
    this.#note(minute, `checkout: moving from ${this.branch ?? COMMIT} to ${to ?? 'v1.0'}`)
    this.branch = to
    this.write()
  }

  /** As `git branch -m`, which writes it twice. */
  rename(minute: number, to: string): void {
    if (this.branch === null) return
    for (let time = 0; time < 2; time += 1) {
      this.#note(minute, `Branch: renamed refs/heads/${this.branch} to refs/heads/${to}`)
    }
    this.branch = to
    this.write()
  }

  remove(): void {
    rmSync(join(home.folder, this.path), { recursive: true, force: true })
  }
}

/** What a scan at that minute finds of another one. */
function scanAt(minute: number, path: string): (of: number) => [string | null, string | null] | undefined {
  setSystemTime(moment(minute))
  const trees = new WorkTrees(home.environment)
  const found = trees.find(join(home.folder, path))
  trees.save()
  return (of) => found && [nameAt(found.repository, moment(of)), nameAt(found.branch, moment(of))]
}

describe('a work tree keeps the repository and the branches that it had', () => {
  test('when it is removed, also within another one', () => {
    new Tree('web')
    const fix = new Tree('web/.claude/worktrees/fix')
    fix.branch = 'fix'
    fix.write()
    expect(scanAt(5, 'web/.claude/worktrees/fix/src')(3)).toEqual(['acme/web', 'fix'])
    fix.remove()
    const found = scanAt(9, 'web/.claude/worktrees/fix/src')
    expect([found(3), found(7)]).toEqual([
      ['acme/web', 'fix'],
      ['acme/web', 'fix'],
    ])
  })

  test('when its reflog expires', () => {
    const tree = new Tree('web')
    tree.checkOut(10, 'feature/ACME-1')
    tree.checkOut(20, 'main')
    scanAt(30, 'web')
    tree.log = []
    tree.checkOut(40, 'feature/ACME-2')
    const found = scanAt(50, 'web')
    expect([5, 15, 25, 35, 45].map((minute) => found(minute)?.[1])).toEqual([
      ...['main', 'feature/ACME-1', 'main', 'main', 'feature/ACME-2'],
    ])
  })

  test('when another one is made in its place', () => {
    const tree = new Tree('web')
    tree.checkOut(10, 'fix')
    scanAt(20, 'web')
    tree.remove()
    new Tree('web').remote = 'https://example.com/acme/other'
    home.write('web/.git/config', '[remote "origin"]\n\turl = https://example.com/acme/other\n')
    const found = scanAt(30, 'web')
    expect([5, 15, 25].map(found)).toEqual([
      ['acme/web', 'main'],
      ['acme/web', 'fix'],
      ['acme/other', 'main'],
    ])
  })

  test('when its folder is no repository any more, which counts from then on', () => {
    const tree = new Tree('web')
    scanAt(10, 'web')
    tree.remove()
    mkdirSync(join(home.folder, 'web'))
    expect([5, 15].map(scanAt(20, 'web'))).toEqual([
      ['acme/web', 'main'],
      [null, null],
    ])
  })

  test('when a branch is renamed, and during a rebase', () => {
    const tree = new Tree('web')
    tree.rename(10, 'trunk')
    expect([5, 15].map((minute) => scanAt(20, 'web')(minute)?.[1])).toEqual(['main', 'trunk'])
    home.write('web/.git/HEAD', `${COMMIT}\n`)
    home.write('web/.git/rebase-merge/head-name', 'refs/heads/trunk\n')
    expect(scanAt(30, 'web')(25)?.[1]).toBe('trunk')
  })

  test('although a repository that had no remote gets one', () => {
    const tree = new Tree('web')
    tree.remote = ''
    tree.write()
    expect(scanAt(10, 'web')(5)).toEqual([null, 'main'])
    tree.remote = 'https://example.com/acme/web'
    tree.write()
    expect(scanAt(20, 'web')(5)).toEqual(['acme/web', 'main'])
  })
})

const aChange = fc.record({
  kind: fc.constantFrom('checkout', 'rename', 'detach', 'expire', 'remove', 'remote', 'scan', 'scan') as fc.Arbitrary<
    'checkout' | 'rename' | 'detach' | 'expire' | 'remove' | 'remote' | 'scan'
  >,
  name: fc.constantFrom('main', 'fix', 'feature/ACME-1', 'feature/ACME-2'),
  pause: fc.integer({ min: 1, max: 30 }),
})

test('whatever happens to a work tree, no scan finds something else of a moment than an earlier one', () => {
  fc.assert(
    fc.property(fc.array(aChange, { minLength: 2, maxLength: 20 }), (changes) => {
      rmSync(join(home.folder, MEMORY), { force: true })
      let tree = new Tree('web')
      let minute = 0
      const said = new Map<number, unknown>()
      for (const { kind, name, pause } of changes) {
        minute += pause
        if (kind === 'checkout') tree.checkOut(minute, name)
        else if (kind === 'detach') tree.checkOut(minute, null)
        else if (kind === 'rename') tree.rename(minute, name)
        else if (kind === 'expire') tree.log.splice(0, Math.ceil(tree.log.length / 2))
        else if (kind === 'remote') tree.remote = `https://example.com/acme/${name.slice(-1)}`
        else if (kind === 'remove') {
          tree.remove()
          if (pause % 2) tree = new Tree('web')
        } else {
          const found = scanAt(minute, 'web')
          for (const [at, names] of said) expect([at, found(at)]).toEqual([at, names as never])
          // Of one that was never seen, nothing is known.
          for (let at = 0; at < minute && found(at); at += 1) said.set(at, found(at))
        }
      }
      tree.remove()
    }),
    { numRuns: runs(500, 50) },
  )
})

describe('the memory of work trees', () => {
  test('is readable only by its owner, and names no more than paths, repositories and branches', () => {
    new Tree('web').checkOut(10, 'fix')
    scanAt(20, 'web')
    const path = join(home.folder, MEMORY)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      workTrees: { [join(home.folder, 'web')]: [moment(20), ['acme/web'], ['fix', [moment(10), 'main']]] },
    })
  })

  test.each(['', 'null', '{"workTrees":3}', '{"workTrees":{"/x":3,"/y":[1,[]]}}', '{"workTrees":{"/x":[1,["a"'])(
    'that is %p is as good as none',
    (content) => {
      new Tree('web')
      home.write(MEMORY, content)
      expect(scanAt(20, 'web')(10)).toEqual(['acme/web', 'main'])
    },
  )

  test('keeps what another scan found meanwhile', () => {
    new Tree('web')
    const api = new Tree('api')
    const trees = new WorkTrees(home.environment)
    trees.find(join(home.folder, 'web'))
    scanAt(10, 'api')
    trees.save()
    api.remove()
    expect(scanAt(20, 'api')(5)).toEqual(['acme/web', 'main'])
  })

  test('is bounded, and forgets first what was not seen for longest', () => {
    new Tree('web')
    const tree = (seenAt: number) => [seenAt, ['acme/old'], ['main', ...Array(1_000).fill([seenAt, 'x'.repeat(90)])]]
    const workTrees = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`/old/${index}`, tree(index)]))
    home.write(MEMORY, JSON.stringify({ workTrees }))
    scanAt(20, 'web')
    const { workTrees: kept } = JSON.parse(readFileSync(join(home.folder, MEMORY), 'utf8'))
    expect(statSync(join(home.folder, MEMORY)).size).toBeLessThan(2.1 * 1_048_576)
    expect(Object.keys(kept).slice(0, 3)).toEqual([join(home.folder, 'web'), '/old/29', '/old/28'])
  })
})
