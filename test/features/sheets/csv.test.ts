import { expect, test } from 'bun:test'
import { readRows } from '../../../src/features/sheets/csv.ts'

test('a column that is called as something every object has is not a column of the template', () => {
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    expect(() => readRows(`model,${name}\nm,x\n`, 'UTC')).toThrow('is not a column of the template')
  }
})

test('a label may be called so, and is one of the entry', () => {
  const [row] = readRows('model,label:__proto__,label:constructor\nm,a,b\n', 'UTC')
  expect(JSON.stringify(row!.body)).toBe('{"tokens":{},"model":"m","labels":{"__proto__":"a","constructor":"b"}}')
})

test('a service tier, a speed, a region and tools are columns too', () => {
  const [row] = readRows('model,service_tier,speed,region,tool:web_search\nm,batch,fast,us,3\n', 'UTC')
  expect(row).toMatchObject({
    body: { service_tier: 'batch', speed: 'fast', region: 'us', tools: { web_search: 3 } },
    issues: [],
  })
  expect(readRows('model,tool:web_search\nm,many\n', 'UTC')[0]!.issues).toMatchObject([
    { pointer: '/lines/2/tool:web_search' },
  ])
})

test('a time without an offset is one of the organization’s time zone', () => {
  const startOf = (written: string) => {
    const [row] = readRows(`model,started_at\nm,${written}\n`, 'Europe/Berlin')
    return (row!.body as { started_at?: string }).started_at ?? row!.issues[0]!.message
  }
  expect(startOf('2026-11-03 10:00')).toBe('2026-11-03T09:00:00.000Z')
  expect(startOf('2026-07-03T10:00:30')).toBe('2026-07-03T08:00:30.000Z')
  expect(startOf('2026-11-03 10:00 +0000')).toBe('2026-11-03 10:00 +0000')
  expect(startOf('2026-03-29 02:30')).toContain('is not a time in Europe/Berlin')
  expect(startOf('2026-10-25 02:30')).toContain('add its UTC offset')
  expect(startOf('2026-02-30 10:00')).toContain('is not a time in Europe/Berlin')
})
