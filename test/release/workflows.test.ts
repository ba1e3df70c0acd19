/** The workflows of GitHub, which run nowhere else: what they call exists, is pinned, and gets no more rights than it needs. */
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../..')

interface Step {
  uses?: string
  with?: Record<string, unknown>
  run?: string
  env?: Record<string, string>
}

interface Job {
  uses?: string
  needs?: string
  environment?: string
  'timeout-minutes'?: number
  permissions?: Record<string, string>
  steps?: Step[]
}

interface Workflow {
  on: Record<string, { tags?: string[] } | null>
  permissions: object
  jobs: Record<string, Job>
}

const FILES = [...new Bun.Glob('.github/workflows/*').scanSync({ cwd: ROOT, dot: true })].sort()
const texts = await Promise.all(FILES.map((path) => Bun.file(join(ROOT, path)).text()))
const workflows = texts.map((text) => Bun.YAML.parse(text) as Workflow)
const jobs = workflows.flatMap((workflow) => Object.entries(workflow.jobs))
const steps = jobs.flatMap(([, job]) => job.steps ?? [])
const release = workflows[FILES.indexOf('.github/workflows/release.yml')]!

test('every action is pinned by its commit, and names the version that this is', () => {
  const used = texts.flatMap((text) => [...text.matchAll(/uses: (.+)$/gm)].map(([, use]) => use!))
  const local = used.filter((use) => use.startsWith('./'))
  expect(used.length - local.length).toBeGreaterThan(5)
  expect(used.filter((use) => !local.includes(use) && !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d/.test(use))).toEqual([])
  expect(local.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

test('every script that is called exists', () => {
  const called = steps.flatMap(({ run = '' }) => run.match(/(?:scripts|packaging|\.ci)\/[\w./-]+/g) ?? [])
  expect(called).toContain('scripts/release/publish.ts')
  expect(called.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

test('no text that others choose becomes part of a script, and no checkout leaves its token behind', () => {
  expect(steps.filter(({ run }) => run?.includes('${{'))).toEqual([])
  const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))
  expect(checkouts.map((step) => step.with?.['persist-credentials'])).toEqual(checkouts.map(() => false))
  // They would run the code of a pull request with the rights of the repository.
  const events = workflows.flatMap(({ on }) => Object.keys(on))
  expect(events.filter((event) => ['pull_request_target', 'workflow_run'].includes(event))).toEqual([])
})

test('every job has the rights that it needs, and ends', () => {
  expect(workflows.map(({ permissions }) => permissions)).toEqual(workflows.map(() => ({})))
  expect(Object.fromEntries(jobs.map(([name, { permissions }]) => [name, permissions]))).toEqual({
    checks: { contents: 'read' },
    build: { contents: 'read' },
    publish: { contents: 'write', packages: 'write', 'id-token': 'write', attestations: 'write' },
  })
  expect(jobs.filter(([, job]) => !job.uses && !job['timeout-minutes'])).toEqual([])
})

test('a release is checked, then built with the signing key, and then published without it', () => {
  expect(release.on).toEqual({ push: { tags: ['v*'] } })
  const { build, publish } = release.jobs
  expect([build!.needs, publish!.needs]).toEqual(['checks', 'build'])
  const secrets = (job: Job) => JSON.stringify(job).match(/secrets\.\w+/g)
  expect([secrets(build!), secrets(publish!)]).toEqual([['secrets.TALLY_SIGNING_KEY'], null])
  // A secret of an environment is given only to its jobs, and npm knows publishers by theirs.
  expect([build!.environment, publish!.environment]).toEqual(['release', 'publish'])
})
