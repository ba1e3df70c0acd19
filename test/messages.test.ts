/** What is true of every message that the sources contain. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')

const NOUNS =
  'accounts|backups|bills|budgets|bytes|calls|changes|columns|days|deliveries|differences|entries|errors|hours|issues|lines|links|matches|minutes|models|months|notices|objects|pages|parts|prices|projects|records|reports|requests|rows|rules|seconds|sessions|sheets|tickets|tokens|webhooks|weeks'

/** A number that may be 1 before a plural, in a template: `${count} entries`. A constant in capitals is more than 1. */
const FIXED_PLURAL = new RegExp(
  `\\$\\{(?!counted\\()(?=[^{}]*(count|length|number|size|toLocaleString|countText|entries|rows|days|months)\\b)(?![^{}]*[A-Z]{3})[^{}]*\\} (more )?(${NOUNS})\\b`,
)

/** Numbers that are never 1: those of internal errors, the whole of which a part is named, and what a condition before it says. */
const NEVER_ONE =
  /throw new Error\(|\} of \$\{|(length|count) (> 1|=== 1)|(rows|all) === 1|length \+ 1|[lL]imit|of the last|count\(rows\)|count \+ 1|from_tokens/

test('a number before a noun agrees with it: `counted` makes 1 day and 2 days', async () => {
  const found: string[] = []
  for await (const path of new Bun.Glob('src/**/*.{ts,tsx}').scan(ROOT)) {
    const lines = (await Bun.file(join(ROOT, path)).text()).split('\n')
    for (const [at, line] of lines.entries()) {
      const text = `${lines[at - 1] ?? ''} ${line}`
      if (FIXED_PLURAL.test(line) && !NEVER_ONE.test(text)) found.push(`${path}:${at + 1} ${line.trim()}`)
    }
  }
  expect(found).toEqual([])
})
