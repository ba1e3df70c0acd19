import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { compileCondition, holdsFor } from '../../../src/features/placement/condition.ts'
import { matchesGlob } from '../../../src/features/placement/glob.ts'
import { explain, type Rule, RuleSet } from '../../../src/features/placement/match.ts'
import { EXPRESSION_LIMIT, issuesOfRule } from '../../../src/features/placement/rule-issues.ts'
import type { Subject } from '../../../src/features/placement/subject.ts'
import { ruleOf, SUBJECT as UNLABELED } from '../../support/rules.ts'
import { runs } from '../../support/tier.ts'

const SUBJECT: Subject = { ...UNLABELED, labels: { branch: 'feature/ACME-42', empty: '' } }

const holds = (field: string, matches: string, subject = SUBJECT) =>
  holdsFor(compileCondition({ field, matches }), subject)

const rule = (id: number, conditions: [field: string, matches: string][], more: Partial<Rule> = {}) =>
  ruleOf(
    id,
    conditions.map(([field, matches]) => compileCondition({ field, matches })),
    more,
  )

const codes = (fields: Parameters<typeof issuesOfRule>[0]) =>
  issuesOfRule(fields).map(({ pointer, code }) => `${pointer} ${code}`)

describe('a glob', () => {
  test('matches what the same expression of JavaScript does', () => {
    const characters = fc.constantFrom('a', 'b', '*', '?', '.', '😀', '/')
    const texts = fc.string({ unit: characters, maxLength: 12 })
    fc.assert(
      fc.property(texts, texts, (glob, text) => {
        const source = [...glob].map((c) => (c === '*' ? '.*' : c === '?' ? '.' : RegExp.escape(c))).join('')
        expect(matchesGlob(glob, text)).toBe(new RegExp(`^${source}$`, 'su').test(text))
      }),
      { numRuns: runs(2_000) },
    )
  })

  test('of many stars does not take long', () => {
    expect(matchesGlob('*a'.repeat(100), 'a'.repeat(99).padEnd(1_000, 'b'))).toBe(false)
  })

  test('compares as names are compared: without regard to case and to how accents are written', () => {
    expect(holds('agent_harness', 'CLAUDE-*')).toBe(true)
    expect(holds('agent_name', 're\u0301viewer', { ...SUBJECT, agentName: 'R\u00e9viewer' })).toBe(true)
    expect(holds('agent_harness', 'claude')).toBe(false)
  })

  test('holds for no field that is not there, and for an empty label', () => {
    expect(['provider', 'summary', 'labels.none', 'labels.constructor'].map((field) => holds(field, '*'))).toEqual([
      false,
      false,
      false,
      false,
    ])
    expect(holds('labels.empty', '*')).toBe(true)
  })

  test('of a person is met by the e-mail address or the name', () => {
    expect(holds('agent_manager', '*@example.com')).toBe(true)
    expect(holds('agent_manager', 'ada love*')).toBe(true)
    expect(holds('agent_manager', 'bob*')).toBe(false)
  })
})

describe('an expression', () => {
  test('matches anywhere, and ignores case only with an i after it', () => {
    expect(holds('labels.branch', '/ACME-[0-9]+/')).toBe(true)
    expect(holds('labels.branch', '/acme/')).toBe(false)
    expect(holds('labels.branch', '/acme/i')).toBe(true)
    expect(holds('labels.branch', '/^ACME/')).toBe(false)
  })

  test('is refused with the reason if it is invalid, has other flags, or repeats too much', () => {
    const of = (matches: string) => codes({ conditions: [{ field: 'summary', matches }] })
    expect(of('/(a/')).toEqual(['/conditions/0/matches bad_expression'])
    expect(of('/(?=a)/')).toEqual(['/conditions/0/matches bad_expression'])
    expect(of('/(a)\\1/')).toEqual(['/conditions/0/matches bad_expression'])
    expect(of('/a/gi')).toEqual(['/conditions/0/matches unknown_flag'])
    expect(of('/a{1000}{1000}/')).toEqual(['/conditions/0/matches too_large'])
    expect(of(`/${'a{1000}'.repeat(70)}/`)).toEqual(['/conditions/0/matches too_large'])
    expect(of(`/${'\\pL{1000}'.repeat(50)}/i`)).toEqual(['/conditions/0/matches too_large'])
    expect(of(`/${'('.repeat(240)}a${')'.repeat(240)}/`)).toEqual([])
    expect(of('/srv/data')).toEqual([])
  })

  test('that takes other engines forever is evaluated at once', () => {
    const summary = `${'a'.repeat(999)}b`
    const worst = `(x?){${EXPRESSION_LIMIT / 6}}`
    for (const matches of ['/(a+)+$/', '/^(a|aa)*$/', '/(.*)*x/', `/${worst}x{200}$/`]) {
      expect(codes({ conditions: [{ field: 'summary', matches }] })).toEqual([])
      const compiled = compileCondition({ field: 'summary', matches })
      expect(holdsFor(compiled, { ...SUBJECT, summary })).toBe(false)
    }
  })
})

describe('an invalid rule', () => {
  test('is refused with every issue at once', () => {
    expect(
      codes({
        name: 'a\u0000b',
        conditions: [
          { field: 'label.branch', matches: 'x' },
          { field: 'summary', matches: ' ' },
          { field: 'labels.a', matches: '/(?<ticket>a)/' },
          { field: 'labels.b', matches: '/(?<ticket>b)/' },
          { field: 'labels.c', matches: 'x'.repeat(501) },
        ],
        ticket: '{ticket}-{number}',
      }),
    ).toEqual([
      '/name bad_format',
      '/conditions/0/field not_allowed',
      '/conditions/1/matches too_short',
      '/conditions/3/matches duplicate_group',
      '/conditions/4/matches too_long',
      '/ticket unknown_group',
    ])
    expect(codes({ conditions: [] })).toEqual(['/conditions too_few'])
    expect(codes({ ticket: 'ACME-{' })).toEqual(['/ticket bad_template'])
    expect(codes({ ticket: '{}' })).toEqual(['/ticket unknown_group'])
    expect(codes({ ticket: 'ACME-1' })).toEqual([])
  })
})

describe('the ticket of a rule', () => {
  const composed = (matches: string, ticket: string, branch: string) => {
    const taken = new RuleSet([rule(1, [['labels.branch', matches]], { ticket })]).findMatch({
      ...SUBJECT,
      labels: { branch },
    })
    return [taken?.ticketKey, taken?.note]
  }

  test('is made of what the groups matched', () => {
    expect(composed('/(?<ticket>[A-Z]+-[0-9]+)/', '{ticket}', 'feature/ACME-42')).toEqual(['ACME-42', null])
    expect(composed('/(?<n>[0-9]+)-(?<k>\\w+)/', '{k}#{n}', '7-web')).toEqual(['web#7', null])
  })

  test('is none, with a note, where it would be empty, too long, broken, or full of control characters', () => {
    const notes = [
      composed('/a|(?<ticket>b)/', '{ticket}', 'a'),
      composed('/(?<ticket>.*)/', '{ticket}', 'x'.repeat(10_000)),
      composed('/(?<ticket>.*)/s', 'x', 'a\u0007b'),
      composed('/(?<ticket>[^x]*)/', '{ticket}', 'a\u0007b'),
      composed('/(?<ticket>[^x]*)/', '{ticket}', '\ud800'),
    ]
    expect(notes.map(([key]) => key)).toEqual([null, null, undefined, null, null] as never)
    expect(notes[0]![1]).toBe("Rule 'rule 1' assigned no ticket: its group 'ticket' matched nothing.")
    expect(notes[1]![1]).toContain('longer than 200 characters')
    expect(notes[3]![1]).toContain('control characters')
    expect(notes[4]![1]).toContain('a malformed Unicode string')
  })
})

describe('of several rules', () => {
  const archived = { ...rule(0, []).project, archivedAt: 1 }
  const rules = [
    rule(1, [['agent_harness', '*']], { enabled: false }),
    rule(2, [['agent_harness', '*']], { project: archived }),
    rule(3, [
      ['agent_harness', 'claude-code'],
      ['provider', 'bedrock'],
      ['labels.branch', '/^main$/'],
    ]),
    rule(4, [['labels.branch', 'feature/*']]),
    rule(5, [['agent_harness', '*']]),
  ]

  test('the first that is enabled, has a project in use, and holds in all its conditions takes it', () => {
    expect(new RuleSet(rules).findMatch(SUBJECT)?.rule.id).toBe(4)
    expect(new RuleSet(rules).findMatch({ ...SUBJECT, labels: null })?.rule.id).toBe(5)
    expect(new RuleSet(rules.slice(0, 3)).findMatch(SUBJECT)).toBeUndefined()
    expect(new RuleSet([]).findMatch(SUBJECT)).toBeUndefined()
  })

  test('each earlier one says why it did not', () => {
    const { taken, steps } = explain({ rules }, SUBJECT)
    expect(taken?.rule.id).toBe(4)
    expect(steps.map(({ verdict }) => verdict)).toEqual(['disabled', 'project_archived', 'not_met', 'takes'])
    expect(steps[2]!.failed).toEqual([
      { field: 'provider', matches: 'bedrock', value: null },
      { field: 'labels.branch', matches: '/^main$/', value: 'feature/ACME-42' },
    ])
  })

  test('what is remembered and what is explained agree, whatever was asked before', () => {
    const word = fc.constantFrom('a', 'b', 'ab', 'ba', '')
    const subjects = fc.record({
      agentHarness: word,
      agentName: word,
      model: word,
      provider: fc.option(word),
      manager: fc.record({ email: word, name: word }),
      summary: fc.option(word),
      labels: fc.option(fc.dictionary(fc.constantFrom('x', 'y'), word)),
    })
    const fields = [
      'agent_harness',
      'agent_name',
      'model',
      'agent_manager',
      'provider',
      'summary',
      'labels.x',
      'labels.y',
    ]
    const condition = fc.tuple(fc.constantFrom(...fields), fc.constantFrom('a*', '?', '/b$/', '/A/i', 'ab'))
    const ruleSets = fc.array(fc.array(condition, { minLength: 1, maxLength: 3 }), { maxLength: 6 })
    fc.assert(
      fc.property(ruleSets, fc.array(subjects, { minLength: 1, maxLength: 8 }), (conditions, asked) => {
        const set = new RuleSet(conditions.map((each, index) => rule(index + 1, each)))
        for (const subject of [...asked, ...asked]) {
          expect(set.findMatch(subject)?.rule.id).toBe(explain(set, subject).taken?.rule.id as number)
        }
      }),
      { numRuns: runs(300, 100) },
    )
  })
})
