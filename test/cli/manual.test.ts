import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { markdownOf } from '../../scripts/manual/markdown.ts'
import { CommandLine } from '../support/command-line.ts'

let tally: CommandLine
beforeAll(async () => {
  tally = await CommandLine.make()
})
afterAll(() => tally.remove())

describe('tally help', () => {
  test('lists the pages of the manual, and prints one by its path or its name', async () => {
    // The executable contains the manual, which a run from source need not have.
    const { stdout: list } = await tally.done(['help', 'pages'], { asProcess: true })
    const pages = list.trimEnd().split('\n')
    expect(pages.length).toBeGreaterThan(40)
    const source = await Bun.file(join(import.meta.dir, '../../docs/design/storage.md')).text()
    const page = markdownOf('design/storage', source).trimEnd()
    expect(pages).toContainEqual(expect.stringMatching(/^design\/storage +Storage$/))
    for (const name of ['design/storage', 'storage']) {
      expect((await tally.done(['help', name], { asProcess: true })).stdout.trimEnd()).toBe(page)
    }
  })

  test('shows the help of a command, and says which names there are for another word', async () => {
    expect((await tally.done(['help', 'bills', 'send'])).stdout).toStartWith('Usage: tally bills send ')
    expect((await tally.done(['help'])).stdout).toStartWith('Usage: tally [options] [command]')
    const { code, stderr } = await tally.run(['help', 'nope'], { asProcess: true })
    expect([code, stderr]).toEqual([
      2,
      "tally: No command or page is named 'nope'. `tally help pages` lists the pages.\n",
    ])
  })
})

describe('tally completion', () => {
  const complete: Record<string, (script: string, line: string) => string[]> = {
    bash: (script, line) => {
      const words = `COMP_WORDS=(${line}''); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMP_WORDS[COMP_CWORD]=\${LAST}`
      return ['bash', '-c', `source ${script}; ${words}; _tally; printf '%s\\n' "\${COMPREPLY[@]}"`]
    },
    fish: (script, line) => ['fish', '-c', `source ${script}; complete -C "${line}$LAST" | cut -f1`],
  }

  for (const [shell, command] of Object.entries(complete)) {
    test.skipIf(!Bun.which(shell))(`completes commands and options in ${shell}`, async () => {
      const script = join(tally.folder, `completion.${shell}`)
      await Bun.write(script, (await tally.done(['completion', shell])).stdout)
      const offered = async (line: string, last: string) => {
        const env = { ...process.env, LAST: last }
        const { stdout } = await Bun.$`${command(script, line)}`.env(env).quiet()
        return stdout.toString().trim().split('\n')
      }
      expect(await offered('tally bills ', 'se')).toEqual(['send'])
      // The value of an option is not a command.
      expect(await offered('tally --data bills prices ', 'upd')).toEqual(['update'])
      expect(await offered('tally bills send ', '--cl')).toEqual(['--client'])
    })
  }

  test.skipIf(!Bun.which('zsh'))('is a script that zsh accepts', async () => {
    const script = join(tally.folder, '_tally')
    await Bun.write(script, (await tally.done(['completion', 'zsh'])).stdout)
    const { stderr, exitCode } = await Bun.$`zsh -n ${script}`.nothrow().quiet()
    expect([exitCode, stderr.toString()]).toEqual([0, ''])
  })
})
