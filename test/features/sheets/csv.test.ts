import { expect, test } from 'bun:test'
import { readRows } from '../../../src/features/sheets/csv.ts'

test('a column that is called as something every object has is not a column of the template', () => {
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    expect(() => readRows(`model,${name}\nm,x\n`)).toThrow('is not a column of the template')
  }
})

test('a label may be called so, and is one of the entry', () => {
  const [row] = readRows('model,label:__proto__,label:constructor\nm,a,b\n')
  expect(JSON.stringify(row!.body)).toBe('{"tokens":{},"model":"m","labels":{"__proto__":"a","constructor":"b"}}')
})

test('a service tier, a speed, a region and tools are columns too', () => {
  const [row] = readRows('model,service_tier,speed,region,tool:web_search\nm,batch,fast,us,3\n')
  expect(row).toMatchObject({
    body: { service_tier: 'batch', speed: 'fast', region: 'us', tools: { web_search: 3 } },
    issues: [],
  })
  expect(readRows('model,tool:web_search\nm,many\n')[0]!.issues).toMatchObject([
    { pointer: '/lines/2/tool:web_search' },
  ])
})
