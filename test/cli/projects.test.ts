/** The commands of clients, projects and tickets. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { TestApp } from '../support/app.ts'
import { CommandLine } from '../support/command-line.ts'
import { reportBody } from '../support/reports.ts'

let tally: CommandLine
let server: TestApp
let token: string

beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser()
  server = await tally.app()
  token = (await tally.createToken()).token
})
afterAll(() => tally.remove())

async function report(where: Record<string, unknown>, as = token): Promise<string> {
  const answer = await fetch(`${server.url}/api/v1/token-entries`, {
    method: 'POST',
    headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
    body: JSON.stringify(
      reportBody({
        model: 'gpt-5',
        tokens: { input: 1, output: 1 },
        reported_cost: 0.25,
        session_id: crypto.randomUUID(),
        ...where,
      }),
    ),
  })
  return ((await answer.json()) as { id: string }).id
}

test('clients are added, changed, listed, archived, restored and removed by their name', async () => {
  const { id } = await tally.json(['clients', 'add', 'Acme Ltd', '--email', 'bills@acme.example', '--markup', '12.5'])
  const changed = await tally.json(['clients', 'change', 'ACME ltd', '--email', 'none', '--currency', 'EUR'])
  expect(changed).toMatchObject({ id, name: 'Acme Ltd', email: null, currency: 'EUR', markup: 12.5 })
  const list = await tally.done(['clients', 'list'])
  expect(list.stdout).toMatch(/^NAME +E-MAIL +CURRENCY +MARKUP +STATE +ID\nAcme Ltd +– +EUR +12\.5% +active +cli_/)
  expect((await tally.done(['clients', 'archive', id])).stdout).toBe('Archived Acme Ltd.\n')
  expect((await tally.done(['clients', 'list'])).stderr).toContain('No active clients. Add one with')
  expect((await tally.done(['clients', 'list', '--search', 'other'])).stderr).toBe('No matching active clients.\n')
  expect((await tally.json(['clients', 'list', '--archived'])).data).toHaveLength(1)
  await tally.done(['clients', 'restore', 'Acme Ltd'])
  expect((await tally.done(['clients', 'show', 'Acme Ltd'])).stdout).toContain('markup       12.5%\n')
  await tally.done(['clients', 'remove', 'Acme Ltd', '--yes'])
  expect((await tally.run(['clients', 'show', 'Acme Ltd'])).stderr).toStartWith("tally: The client 'Acme Ltd'")
})

test('a project that a report made gets its key, client and leads, and the report’s name keeps arriving there', async () => {
  await report({ project: 'acme website' })
  await tally.json(['clients', 'add', 'Wile E. Ltd'])
  const { id } = await tally.json([
    ...['projects', 'change', 'Acme Website', '--key', 'ACME', '--name', 'Acme web'],
    ...['--client', 'wile e. ltd', '--budget', '2500.5', '--billable', 'no', '--markup', '7.25'],
  ])
  await tally.done(['projects', 'lead', 'add', 'ACME', 'ada@example.com'])
  const unknown = await tally.run(['projects', 'lead', 'add', 'ACME', 'nobody@example.com'])
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('tally: <person>: ')])
  const added = await tally.done(['projects', 'alias', 'add', 'ACME', 'acme/web', 'Acme-Site'])
  expect(added.stdout).toBe('ACME has the aliases acme website, Acme-Site, acme/web.\n')
  expect(await tally.json(['projects', 'show', 'acme/WEB'])).toMatchObject({
    id,
    key: 'ACME',
    name: 'Acme web',
    aliases: ['acme website', 'Acme-Site', 'acme/web'],
    client: { name: 'Wile E. Ltd' },
    billable: false,
    markup: 7.25,
    budget: 2500.5,
    leads: [{ name: 'ada' }],
  })
  await report({ project: 'ACME WEBSITE' })
  expect((await tally.json(['entries', 'list', '--project', 'ACME'])).data).toHaveLength(2)
  const removed = await tally.done(['projects', 'alias', 'remove', 'ACME', 'acme-site'])
  expect(removed.stdout).toBe('ACME has the aliases acme website, acme/web.\n')
  expect((await tally.done(['projects', 'list', '--client', 'Wile E. Ltd'])).stdout).toMatch(
    /ACME +Acme web +Wile E\. Ltd +no +7\.25% +2500\.5 +ada +active +prj_/,
  )
  expect((await tally.done(['projects', 'lead', 'remove', 'ACME', 'ada@example.com'])).stdout).toBe(
    'ACME has no leads.\n',
  )
})

test('a merge is previewed and then executed, and can be repeated', async () => {
  await tally.json(['projects', 'add', 'STAYS', '--name', 'The one that stays'])
  const entry = await report({ project: 'goes', ticket: 'GOES-1' })
  await report({ project: 'goes' })
  const planned = await tally.done(['projects', 'merge', 'goes', 'STAYS', '--dry-run'])
  expect(planned.stdout).toMatch(/^2 entries \(\$0\.5\) and 1 ticket of goes \(prj_\w+\) would move to STAYS\.\n/)
  expect(planned.stdout).toContain("Reports that name 'goes' would be assigned to STAYS.\n")
  expect((await tally.json(['entries', 'show', entry])).project.key).toBe('goes')

  const merged = await tally.json(['projects', 'merge', 'goes', 'STAYS', '--yes'])
  expect(merged).toMatchObject({ entries: 2, cost: 0.5, tickets: 1, billed_entries: 0, complete: true })
  expect((await tally.json(['entries', 'show', entry])).project.key).toBe('STAYS')
  expect((await tally.json(['tickets', 'show', 'goes-1'])).project.key).toBe('STAYS')
  expect((await tally.done(['projects', 'list', '--archived'])).stdout).toContain('merged into STAYS')
  expect(await tally.json(['projects', 'merge', 'goes', 'STAYS', '--yes'])).toMatchObject({ entries: 0, tickets: 0 })
  await report({ project: 'Goes' })
  expect((await tally.json(['entries', 'list', '--project', 'STAYS'])).data).toHaveLength(3)
})

test('tickets are added, moved with their entries, archived and removed', async () => {
  await tally.json(['projects', 'add', 'SHOP'])
  await tally.json(['projects', 'add', 'STORE'])
  await tally.json(['tickets', 'add', 'SHOP-7', '--project', 'SHOP', '--title', 'Basket'])
  const entry = await report({ ticket: 'shop-7' })
  expect((await tally.json(['entries', 'show', entry])).project.key).toBe('SHOP')
  expect((await tally.done(['tickets', 'change', 'SHOP-7', '--project', 'STORE'])).stdout).toBe(
    'Changed SHOP-7 in STORE.\n',
  )
  expect((await tally.json(['entries', 'show', entry])).project.key).toBe('STORE')
  expect((await tally.done(['tickets', 'list', '--project', 'STORE'])).stdout).toMatch(
    /SHOP-7 +Basket +STORE +yes +active/,
  )
  await tally.done(['tickets', 'archive', 'SHOP-7'])
  expect((await tally.json(['tickets', 'list', '--project', 'STORE'])).data).toEqual([])
  await tally.done(['tickets', 'restore', 'SHOP-7'])
  const used = await tally.run(['tickets', 'remove', 'SHOP-7', '--yes'])
  expect([used.code, used.stderr]).toEqual([1, 'tally: The ticket SHOP-7 has entries. Archive it instead.\n'])
})

test('tickets show whether their project is decided, and which ones people’s reports disagree about', async () => {
  await tally.json(['projects', 'add', 'HERE'])
  await tally.json(['projects', 'add', 'THERE', '--name', 'Over there'])
  await tally.addUser('bob@example.com', 'member')
  const { token: bobs } = await tally.createToken('svc', 'bob@example.com')
  await report({ ticket: 'AGREED-1', project: 'HERE' })
  const first = await report({ ticket: 'OPEN-1', project: 'HERE' })
  const second = await report({ ticket: 'OPEN-1', project: 'THERE' }, bobs)
  const show = async (ticket: string) => (await tally.done(['tickets', 'show', ticket])).stdout

  expect(await show('AGREED-1')).toContain(
    'project      HERE (HERE), assumed from reports\nassumed      HERE (HERE), in the reports of 1 person\n',
  )
  expect(await show('OPEN-1')).toContain(
    'project      not decided: reports name different projects\n' +
      'assumed      HERE (HERE), in the reports of 1 person\n' +
      'assumed      THERE (Over there), in the reports of 1 person\n',
  )
  expect((await tally.done(['tickets', 'list', '--project', 'HERE'])).stdout).toMatch(
    /^KEY +TITLE +PROJECT +DECIDED +STATE +ID\nAGREED-1 +– +HERE +no +active .*\nOPEN-1 +– +– +conflict +active /,
  )
  const conflicting = () => tally.json(['tickets', 'list', '--conflicting'])
  expect((await conflicting()).data.map(({ key }: { key: string }) => key)).toEqual(['OPEN-1'])

  expect((await tally.done(['tickets', 'change', 'OPEN-1', '--title', 'Login'])).stdout).toBe(
    'Changed OPEN-1 (project not decided).\n',
  )
  expect((await tally.done(['tickets', 'change', 'OPEN-1', '--project', 'there'])).stdout).toBe(
    'Changed OPEN-1 in THERE.\n',
  )
  expect(await show('OPEN-1')).toEndWith('project      THERE (Over there), decided\n')
  for (const entry of [first, second]) expect((await tally.json(['entries', 'show', entry])).project.key).toBe('THERE')
  const none = await tally.done(['tickets', 'list', '--conflicting'])
  expect([none.stdout.split('\n').length, none.stderr]).toEqual([2, 'No matching active tickets.\n'])
})

test('errors are in the terms of the command line', async () => {
  const refused = async (args: string[], code: number) => {
    const ran = await tally.run(args)
    expect([args, ran.code, ran.stdout]).toEqual([args, code, ''])
    return ran.stderr
  }
  await tally.json(['projects', 'add', 'TAKEN'])
  expect(await refused(['projects', 'add', 'taken'], 1)).toMatch(
    /^tally: 'taken' already refers to the project TAKEN \(prj_/,
  )
  expect(await refused(['projects', 'change', 'TAKEN'], 2)).toContain('Nothing to change. Use ')
  expect(await refused(['projects', 'change', 'TAKEN', '--markup', '1.23456'], 2)).toContain('at most 4 decimals')
  expect(await refused(['projects', 'change', 'TAKEN', '--budget', 'much'], 2)).toContain(
    '--budget: must be a number of US dollars from 0 to 1000000000, or none',
  )
  expect(await refused(['projects', 'change', 'TAKEN', '--client', 'nobody'], 1)).toBe(
    "tally: --client: is not an existing client; add 'nobody' first\n",
  )
  expect(await refused(['projects', 'merge', 'TAKEN', 'TAKEN', '--yes'], 2)).toContain('is the same project, TAKEN')
  expect(await refused(['projects', 'merge', 'TAKEN', 'nowhere', '--yes'], 1)).toContain(
    'is not the id or name of a project',
  )
  expect(await refused(['projects', 'alias', 'remove', 'TAKEN', 'other'], 1)).toContain('is not an alias of TAKEN')
  expect(await refused(['tickets', 'show', 'NONE-1'], 1)).toContain("The ticket 'NONE-1'")
})
