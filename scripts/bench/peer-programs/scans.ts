/** The first scan of session files, compared with ccusage. */
import { join } from 'node:path'
import { builtExecutable } from '../../../test/support/binary.ts'
import { CCUSAGE_VERSION, Ccusage } from '../../../test/support/ccusage.ts'
import { writeCorpus } from '../agents-corpus.ts'
import { printProgress } from '../clean-up.ts'
import { type Run, readWith, runFirstScan, runProgram } from '../scan-runs.ts'
import { ratiosOf } from '../spread.ts'
import { alternate, type Context, LeftOut, type Measured, type Peer } from './peer.ts'

async function measureScans(context: Context): Promise<Measured> {
  const ccusage = await Ccusage.install()
  if (!ccusage) throw new LeftOut(`ccusage ${CCUSAGE_VERSION} from the npm registry`)
  context.stack.defer(() => ccusage.remove())
  const home = join(context.folder, 'home')
  printProgress('writing session files')
  await writeCorpus(join(home, '.claude/projects'), context.lines)
  const tally = await builtExecutable()
  const runs = await alternate<'tally' | 'ccusage', Run>(
    context,
    { tally: () => runFirstScan(tally, home), ccusage: () => runProgram(readWith(ccusage.program), home) },
    (side, round) => printProgress(`round ${round + 1}: scan with ${side}`),
  )
  const seconds = (side: keyof typeof runs) => runs[side].map((run) => run.seconds)
  const processor = (side: keyof typeof runs) => runs[side].map((run) => run.processorSeconds)
  const of = (program: string, what: string) => `${program}: ${what} of ${context.lines.toLocaleString('en-US')} lines`
  const theirs = `ccusage ${CCUSAGE_VERSION}`
  return {
    ratios: [ratiosOf(seconds('tally'), seconds('ccusage')), ratiosOf(processor('tally'), processor('ccusage'))],
    absolute: [
      { name: of(theirs, 'time'), rounds: seconds('ccusage'), unit: 's' },
      { name: of(theirs, 'processor time'), rounds: processor('ccusage'), unit: 's' },
      { name: of('Tally', 'time of the first scan'), rounds: seconds('tally'), unit: 's' },
      { name: of('Tally', 'processor time of the first scan'), rounds: processor('tally'), unit: 's' },
    ],
  }
}

export const scans: Peer = {
  goals: [
    { name: `time of the first scan of session files ÷ of ccusage ${CCUSAGE_VERSION}` },
    { name: 'processor time of the first scan ÷ of ccusage' },
  ],
  measure: measureScans,
}
