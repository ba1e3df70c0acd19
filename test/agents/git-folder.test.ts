import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nameAt, repositoryName } from '../../src/agents/git-folder.ts'
import { WorkTrees } from '../../src/agents/work-trees.ts'
import { readAgentsEnvironment } from '../../src/config.ts'

let folder: string

/** Real git, with clocks and people of its own. */
function git(where: string, at: string, ...args: string[]): void {
  const env = {
    PATH: process.env.PATH!,
    HOME: folder,
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
    GIT_COMMITTER_DATE: at,
    GIT_AUTHOR_DATE: at,
    GIT_ALLOW_PROTOCOL: 'file',
  }
  const { exitCode, stderr } = Bun.spawnSync(['git', '-C', where, ...args], { env })
  if (exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
}

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tally-git-')))
  const web = join(folder, 'web')
  const part = join(folder, 'part')
  for (const each of [web, part]) {
    mkdirSync(join(each, 'src/deep'), { recursive: true })
    git(each, '2026-11-01T10:00:00Z', 'init', '--initial-branch', 'main')
    git(each, '2026-11-01T10:00:00Z', 'commit', '--allow-empty', '-m', 'Begin')
  }
  git(web, '2026-11-01T10:00:00Z', 'remote', 'add', 'upstream', 'https://example.com/other/web')
  git(web, '2026-11-01T10:00:00Z', 'remote', 'add', 'origin', 'https://ada:secret@example.com/acme/web.git')
  git(web, '2026-11-02T10:00:00Z', 'checkout', '-b', 'feature/ACME-42')
  git(web, '2026-11-03T10:00:00Z', 'checkout', '--detach')
  git(web, '2026-11-04T10:00:00Z', 'checkout', 'main')
  git(web, '2026-11-04T10:00:00Z', 'worktree', 'add', '-b', 'hot-fix', join(folder, 'web-hotfix'))
  git(web, '2026-11-04T10:00:00Z', 'submodule', 'add', part, 'vendor/part')
  git(join(web, 'vendor/part'), '2026-11-04T10:00:00Z', 'remote', 'set-url', 'origin', 'git@example.com:acme/part.git')
})
afterAll(() => rmSync(folder, { recursive: true }))

const find = (path: string) => new WorkTrees(readAgentsEnvironment({ HOME: folder })).find(path)
const found = (path: string) => {
  const { repository, branch } = find(join(folder, path)) ?? {}
  return [repository?.now, branch?.now]
}

describe('of a folder git knows the repository and the branch', () => {
  test('of a work tree and any folder in it, also one that is gone', () => {
    for (const path of ['web', 'web/src/deep', 'web/src/gone/too']) expect(found(path)).toEqual(['acme/web', 'main'])
  })

  test('of a linked work tree', () => {
    expect(found('web-hotfix')).toEqual(['acme/web', 'hot-fix'])
  })

  test('of a submodule', () => {
    expect(found('web/vendor/part')).toEqual(['acme/part', 'main'])
  })

  test('but of no remote no repository, and of no work tree nothing', () => {
    expect(found('part')).toEqual([null, 'main'])
    expect(found('elsewhere')).toEqual([undefined, undefined])
    expect(find('relative')).toBeUndefined()
    expect(find('')).toBeUndefined()
  })
})

test('the branch of a moment is the one that was checked out then', () => {
  const web = find(join(folder, 'web'))!
  const at = (moment: string) => nameAt(web.branch, Date.parse(moment))
  expect(at('2026-11-01T12:00:00Z')).toBe('main')
  expect(at('2026-11-02T12:00:00Z')).toBe('feature/ACME-42')
  expect(at('2026-11-03T12:00:00Z')).toBeNull()
  expect(at('2026-11-20T12:00:00Z')).toBe('main')
})

test.each([
  ['https://github.com/acme/web.git', 'acme/web'],
  ['https://github.com/acme/web/', 'acme/web'],
  ['https://ada:secret@github.com/acme/web', 'acme/web'],
  ['git@github.com:acme/web.git', 'acme/web'],
  ['github.com:acme/web', 'acme/web'],
  ['ssh://git@git.example.com:2222/acme/web.git', 'acme/web'],
  ['https://GitLab.example.com/group/team/web.git', 'gitlab.example.com/group/team/web'],
  ['ssh://git@example.com/web.git', 'example.com/web'],
  ['/srv/git/web.git', null],
  ['../web', null],
  ['C:\\work\\web', null],
  ['file:///srv/git/web.git', null],
  ['', null],
])('a repository at %s is called %p', (url, name) => {
  expect(repositoryName(url)).toBe(name)
})
