/**
 * Compares what reads much of the executable of the work tree with that of a commit. In each round, both serve a new copy
 * of the same database, and each question goes to one right after the other, in changing order; the one that waits is
 * stopped.
 */
import { join } from 'node:path'
import { COST_BASES } from '../../../src/shared/cost-basis.ts'
import { builtExecutable } from '../../../test/support/binary.ts'
import { writeCorpus } from '../agents-corpus.ts'
import { cleanedUp, printProgress, UsageError } from '../clean-up.ts'
import { familyProcessorSeconds } from '../process-metrics.ts'
import { EXPORTS, MATCHING, MEMBERS_LISTS, REPORTS, SORTS, sorted, UNMATCHED } from '../queries.ts'
import { buildCommit, nameOfWorkTree } from '../reporting/commit-executable.ts'
import { runFirstScan } from '../scan-runs.ts'
import { seededDatabase } from '../seeded.ts'
import { median, ratiosOf, spreadOf, spreadText } from '../spread.ts'
import { billOf, sendBill } from './bills.ts'
import { takeRows } from './exports.ts'
import { fundEntries } from './funded.ts'
import type { ComparisonOptions } from './options.ts'
import { printTable } from './results.ts'
import { Subject } from './subject.ts'
import { settle } from './sums.ts'

const SIDES = ['old', 'new'] as const
type Side = (typeof SIDES)[number]

const SCANNED_LINES = 50_000

/** Longer than any export of a small database takes. */
const EXPORT_LIMIT_MS = 60_000

/** Reports on usage, each so often that their processor time can be measured. */
const USAGE = Object.values(REPORTS).filter((path) => path.startsWith('/api/v1/reports/usage'))
const REPORT_REPEATS = 20

interface Cost {
  seconds: number
  processorSeconds: number
}

async function costOf({ pid }: Subject, work: () => Promise<unknown>): Promise<Cost> {
  const processor = familyProcessorSeconds(pid)
  const startedAt = performance.now()
  await work()
  const seconds = (performance.now() - startedAt) / 1000
  return { seconds, processorSeconds: familyProcessorSeconds(pid) - processor }
}

/** The first page of each list, some as a member. */
const LISTS = {
  reading: [
    ...Object.values({ ...MATCHING, ...UNMATCHED }),
    ...SORTS.flatMap((sort) => [sorted(sort, 'desc', ''), sorted(sort, 'asc', '')]),
  ],
  membersReading: Object.values(MEMBERS_LISTS),
}

type Question = { path: string; token: keyof typeof LISTS }

const QUESTIONS: Question[] = (['reading', 'membersReading'] as const).flatMap((token) =>
  LISTS[token].map((path) => ({ path, token })),
)

async function isAnswered(subject: Subject, { path, token }: Question): Promise<boolean> {
  const answer = await subject.ask(path, { token: subject.tokens[token] })
  await answer.arrayBuffer()
  return answer.ok
}

const signal = ({ pid }: Subject, name: 'SIGSTOP' | 'SIGCONT') => process.kill(pid, name)

export interface ReadComparison {
  commits: Record<Side, string>
  rounds: Record<string, Record<Side, Cost>[]>
}

export async function compareReads(
  { against, rounds, entries, basis: isByBasis }: ComparisonOptions,
  folder: string,
  stack: AsyncDisposableStack,
): Promise<ReadComparison> {
  const commit = await buildCommit(against, folder, stack)
  printProgress('building the work tree')
  const executables: Record<Side, string> = { old: commit.path, new: await builtExecutable() }
  const data = await seededDatabase(entries, stack, commit.checkout)
  const home = join(folder, 'home')
  await writeCorpus(join(home, '.claude/projects'), SCANNED_LINES)

  const results: Record<string, Record<Side, Cost>[]> = {}
  /** Those that both versions answer, which one may not do with a parameter that the other has. */
  let questions: Question[] | undefined
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? SIDES : SIDES.toReversed()
    const both = async (name: string, cost: (side: Side) => Promise<Cost>) => {
      printProgress(`round ${round + 1} of ${rounds}: ${name}`)
      const costs: Partial<Record<Side, Cost>> = {}
      for (const side of order) costs[side] = await cost(side)
      results[name] = [...(results[name] ?? []), costs as Record<Side, Cost>]
    }
    await both(`first scan of ${SCANNED_LINES.toLocaleString('en')} lines`, (side) =>
      runFirstScan(executables[side], home),
    )
    await cleanedUp(stack, async (own) => {
      const subjects: Partial<Record<Side, Subject>> = {}
      await both('start and sums from nothing', async (side) => {
        const options = { data, databaseUrl: undefined, rounds: 1, executable: executables[side] }
        const subject = await Subject.prepare(options, folder, own)
        subjects[side] = subject
        if (isByBasis) fundEntries(subject)
        await subject.start(own)
        // A stopped process does not end by itself.
        own.defer(() => void signal(subject, 'SIGCONT'))
        const { tookMs, measured } = await settle(subject)
        if (tookMs === undefined) throw new UsageError(`The ${side} version computes no sums: ${measured}`)
        const processorSeconds = familyProcessorSeconds(subject.pid)
        signal(subject, 'SIGSTOP')
        return { seconds: tookMs / 1000, processorSeconds }
      })
      const ask = async <Result>(side: Side, task: (subject: Subject) => Promise<Result>) => {
        const subject = subjects[side]!
        signal(subject, 'SIGCONT')
        const result = await task(subject)
        signal(subject, 'SIGSTOP')
        return result
      }
      const cost = (name: string, work: (subject: Subject) => Promise<unknown>) =>
        both(name, (side) => ask(side, (subject) => costOf(subject, () => work(subject))))

      for (const basis of isByBasis ? COST_BASES : (['cost'] as const)) {
        await cost(`reports by ${basis}`, async (subject) => {
          // Earlier versions have one basis, with which the others are compared.
          const rest = basis === 'cost' || subject === subjects.old ? '' : `&basis=${basis}`
          for (let left = REPORT_REPEATS; left > 0; left -= 1) {
            for (const path of USAGE) {
              const answer = await subject.ask(path + rest)
              if (!answer.ok) throw new Error(`${path}${rest} was refused: ${await answer.text()}`)
              await answer.arrayBuffer()
            }
          }
        })
      }
      for (const [format, path] of Object.entries(EXPORTS)) {
        await cost(`export as ${format}`, (subject) => takeRows(subject, path, EXPORT_LIMIT_MS))
      }
      questions ??= await answeredBy((side, question) => ask(side, (subject) => isAnswered(subject, question)))
      await cost(`a page of each of ${questions.length} lists`, async (subject) => {
        for (const question of questions!) await isAnswered(subject, question)
      })
      const bill = await billOf(subjects.new!)
      await cost('sending a bill', async (subject) => {
        const { answer, bill: sent } = await sendBill(subject, bill!)
        if (!answer.ok) throw new Error(`The bill was refused: ${sent.detail}`)
      })
    })
  }
  return { commits: { old: commit.name, new: await nameOfWorkTree() }, rounds: results }
}

async function answeredBy(isAnsweredBy: (side: Side, question: Question) => Promise<boolean>): Promise<Question[]> {
  const answered: Question[] = []
  for (const question of QUESTIONS) {
    const all = []
    for (const side of SIDES) all.push(await isAnsweredBy(side, question))
    if (all.every(Boolean)) answered.push(question)
  }
  return answered
}

export function printReadComparison({ commits, rounds: results }: ReadComparison, options: ComparisonOptions): void {
  console.log(`old: ${commits.old}\nnew: ${commits.new}`)
  console.log(`${options.entries.toLocaleString('en')} entries with SQLite; medians of ${options.rounds} rounds`)
  const cells = (rounds: Record<Side, Cost>[], name: keyof Cost) => {
    const [old, now] = SIDES.map((side) => rounds.map((round) => round[side][name]))
    return [median(old!).toFixed(2), median(now!).toFixed(2), spreadText(spreadOf(ratiosOf(now!, old!)))]
  }
  printTable([
    ['', 'processor s: old', 'new', 'new ÷ old', 'seconds: old', 'new', 'new ÷ old'],
    ...Object.entries(results).map(([name, rounds]) => [
      name,
      ...cells(rounds, 'processorSeconds'),
      ...cells(rounds, 'seconds'),
    ]),
  ])
}
