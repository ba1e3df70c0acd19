import { describe, expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import { type CompiledCondition, compileCondition } from '../../../src/features/placement/condition.ts'
import { LiteralSearch } from '../../../src/features/placement/literal-search.ts'
import { explain, RuleSet } from '../../../src/features/placement/match.ts'
import { ruleOf, SUBJECT } from '../../support/rules.ts'
import { runs } from '../../support/tier.ts'

const rule = (id: number, conditions: CompiledCondition[], ticket: string | null = null) =>
  ruleOf(id, conditions, { ticket })

/** A pattern, and a text that it probably matches. */
interface Sample {
  pattern: string
  text: string
}

/** Among them characters that are equal to others if case is ignored, if composed, or that change length. */
const CHARACTERS = [...'abkKsSiI19-_ .', 'ſ', '\u212a', 'İ', 'ı', 'é', 'É', 'e\u0301', 'σ', 'ς', 'Σ', 'ß', 'ẞ', '😀']
const character = fc.constantFrom(...CHARACTERS)
const word = fc.oneof(
  fc.string({ unit: character, minLength: 1, maxLength: 4 }),
  fc.constantFrom('task', 'Kiss', 'sick'),
)

const literal = word.map((text) => ({ pattern: RegExp.escape(text), text }))

const symbol = fc.constantFrom<Sample>(
  { pattern: '[a-k]', text: 'b' },
  { pattern: '[^a-k]', text: 's' },
  { pattern: '[k]', text: 'k' },
  { pattern: '\\d', text: '1' },
  { pattern: '\\W', text: '-' },
  { pattern: '\\pL', text: 'é' },
  { pattern: '\\p{Lu}', text: 'K' },
  { pattern: '.', text: 'a' },
  { pattern: '\\b', text: '' },
  { pattern: '\\B', text: '' },
  { pattern: '^', text: '' },
  { pattern: '$', text: '' },
  { pattern: '(?i:Kiss)', text: 'kiSs' },
  { pattern: '(?-i:Task)', text: 'Task' },
  { pattern: '(?s).', text: ' ' },
  { pattern: '\\Qa.b\\E', text: 'a.b' },
  { pattern: '\\x{212a}', text: '\u212a' },
)

const { expression } = fc.letrec<{ expression: Sample; part: Sample }>((tie) => ({
  expression: fc.array(tie('part'), { minLength: 1, maxLength: 3 }).map((parts) => ({
    pattern: parts.map(({ pattern }) => pattern).join(''),
    text: parts.map(({ text }) => text).join(''),
  })),
  part: fc.oneof(
    { maxDepth: 3 },
    { weight: 4, arbitrary: literal },
    { weight: 2, arbitrary: symbol },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.array(tie('expression'), { minLength: 2, maxLength: 4 }), fc.nat(3))
        .map(([choices, chosen]) => ({
          pattern: `(?:${choices.map(({ pattern }) => pattern).join('|')})`,
          text: choices[chosen % choices.length]!.text,
        })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(tie('part'), fc.constantFrom(['*', 2], ['+', 2], ['?', 0], ['{2,3}', 2], ['{0,2}', 0], ['+?', 1]))
        .map(([{ pattern, text }, [repetition, times]]) => ({
          pattern: `(?:${pattern})${repetition}`,
          text: text.repeat(times as number),
        })),
    },
  ),
}))

const written = fc.oneof(
  fc
    .tuple(expression, fc.constantFrom('', 'i'))
    .map(([{ pattern, text }, flag]) => ({ pattern: `/${pattern}/${flag}`, text })),
  fc
    .tuple(expression, fc.constantFrom('', 'i'))
    .map(([{ pattern, text }, flag]) => ({ pattern: `/^(?<ticket>${pattern})$/${flag}`, text })),
  fc.array(fc.oneof(word, fc.constantFrom('*', '?')), { minLength: 1, maxLength: 5 }).map((parts) => ({
    pattern: parts.join('').trim() || '*',
    text: parts.join('').replaceAll('*', 'ab').replaceAll('?', 'é'),
  })),
)

const condition = fc.tuple(fc.constantFrom('summary', 'summary', 'labels.a', 'labels.b', 'agent_manager'), written)

/** Writes a text differently, in most ways of which some condition still matches. */
const change = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
  (text) => text.replaceAll('s', 'ſ').replaceAll('k', '\u212a'),
  (text) => text.normalize('NFD'),
  (text) => ` ${text} `,
  (text) => `Σ${text}ΑΣ`,
  (text) => text.slice(1),
  (text) => text.slice(0, -1),
)

describe('of more rules than are evaluated one by one', () => {
  test('the same rule matches as if every condition was evaluated', () => {
    const found = { matched: 0, unmatched: 0 }
    fc.assert(
      fc.property(
        fc.array(fc.array(condition, { minLength: 1, maxLength: 2 }), { minLength: 9, maxLength: 16 }),
        fc.array(fc.array(fc.tuple(fc.nat(40), change), { minLength: 5, maxLength: 5 }), {
          minLength: 80,
          maxLength: 80,
        }),
        (conditions, chosen) => {
          const samples = conditions.flat().map(([, { text }]) => text)
          const set = new RuleSet(
            conditions.map((each, id) => {
              const compiled = each.map(([field, { pattern }]) => compileCondition({ field, matches: pattern }))
              return rule(id, compiled, JSON.stringify(each).includes('<ticket>') ? '{ticket}' : null)
            }),
          )
          for (const picked of chosen) {
            const [summary, a, b, email, name] = picked.map(([index, written]) =>
              written(samples[index % samples.length]!),
            )
            const subject = {
              ...SUBJECT,
              summary: summary!,
              labels: { a: a!, b: b! },
              manager: { email: email!, name: name! },
            }
            const { taken } = explain(set, subject)
            found[taken ? 'matched' : 'unmatched'] += 1
            expect(set.findMatch(subject) ?? null).toEqual(taken)
          }
        },
      ),
      // Without shrinking, which would compile thousands of expressions.
      { numRuns: runs(400), endOnFailure: true },
    )
    expect(found.matched).toBeGreaterThan(runs(5_000))
    expect(found.unmatched).toBeGreaterThan(runs(1_000))
  })

  test.each([
    ['/login (?<ticket>[0-9]+) (fails|breaks) #$/', 'summary'],
    ['/LOGIN [0-9]+ (fails|breaks) #$/i', 'summary'],
    ['/^.*(?:FAILS|fails|[0-9]+ breaks) #$/', 'labels.note'],
  ])('only a few of five hundred are evaluated for a new text: %s', (matches, field) => {
    const conditions = Array.from({ length: 500 }, (_, number) =>
      compileCondition({ field, matches: matches.replace('#', `${number}`) }),
    )
    const evaluations = conditions.map(({ expression }) => spyOn(expression!, 'test'))
    const set = new RuleSet(conditions.map((each, id) => rule(id, [each])))
    for (let number = 0; number < 1_000; number++) {
      const text = `Keep the cart as login ${10_000 + number} fails ${number}`
      const subject = field === 'summary' ? { ...SUBJECT, summary: text } : { ...SUBJECT, labels: { note: text } }
      for (const evaluation of evaluations) evaluation.mockClear()
      expect(set.findMatch(subject)?.rule.id).toBe(number < 500 ? number : (undefined as never))
      expect(evaluations.reduce((sum, { mock }) => sum + mock.calls.length, 0)).toBeLessThanOrEqual(8)
    }
  })
})

describe('a search for literals', () => {
  test('finds each one that the text contains, once', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '😀', 'é'), minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(fc.uniqueArray(texts, { maxLength: 20 }), fc.array(texts, { maxLength: 8 }), (literals, parts) => {
        const text = parts.join('')
        const search = new LiteralSearch(new Map(literals.map((each) => [each, each])))
        expect(search.find(text).sort()).toEqual(literals.filter((each) => text.includes(each)).sort())
      }),
      { numRuns: runs(3_000) },
    )
  })
})
